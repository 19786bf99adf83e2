# SPDX-License-Identifier: Apache-2.0
"""Turns gyre.lua into a C string: gen_lua.py INPUT OUTPUT."""
import sys


def literal(line):
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'


def main(source, target):
    with open(source, encoding="ascii") as f:
        lines = f.read().splitlines()
    with open(target, "w", encoding="ascii") as f:
        f.write("/* Made from gyre.lua by gen_lua.py. */\n")
        f.write('#include "move/lua.h"\n\n')
        f.write("const char gy_lua_source[] =\n    ")
        f.write("\n    ".join(literal(line) for line in lines))
        f.write(";\n")


main(*sys.argv[1:])
