# SPDX-License-Identifier: Apache-2.0
"""Turns the completion scripts into C strings: gen_scripts.py OUTPUT SCRIPT..."""
import pathlib
import sys

SHELLS = {"gyre.bash": "bash", "_gyre": "zsh", "gyre.fish": "fish"}


def literal(line):
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?") + '\\n"'


def main(target, *sources):
    with open(target, "w", encoding="ascii") as f:
        f.write("/* Made from completions/ by gen_scripts.py. */\n")
        f.write('#include "cli/scripts.h"\n\n')
        f.write("const struct gy_script gy_scripts[] = {\n")
        for source in map(pathlib.Path, sources):
            lines = source.read_text(encoding="ascii").splitlines()
            f.write(f'    {{"{SHELLS[source.name]}",\n     ' + "\n     ".join(literal(line) for line in lines) + "},\n")
        f.write("    {0},\n};\n")


main(*sys.argv[1:])
