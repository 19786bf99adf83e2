#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""exports.py HEADER LIBGYRE.so - the shared library exports what the header declares: no more, no less."""
import re
import subprocess
import sys


def declared(header):
    text = re.sub(r"/\*.*?\*/", "", open(header, encoding="utf-8").read(), flags=re.S)
    return set(re.findall(r"\bGYRE_API\b[^;]*?\b(gyre_\w+)\s*\(", text))


def exported(library):
    out = subprocess.run(["nm", "-D", "--defined-only", "-P", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[0].split("@")[0] for line in out.splitlines() if line.split()[1] != "A"}


def main():
    want, have = declared(sys.argv[1]), exported(sys.argv[2])
    for name in sorted(want - have):
        print(f"declared, not exported: {name}")
    for name in sorted(have - want):
        print(f"exported, not declared: {name}")
    print(f"exports: {len(want & have)} of {len(want)} declared")
    sys.exit(want != have or not want)


if __name__ == "__main__":
    main()
