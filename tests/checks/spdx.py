#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""spdx.py [ROOT] - every source file says its licence in its first lines; C files also say what they are for.

A C file opens with the SPDX line and then a comment that names the file and its task: "name.c - ...".
"""
import re
import sys

import common

SUFFIXES = (".c", ".h", ".cc", ".py", ".sh", ".lua", ".build", ".pml", ".tsv", "run", "Makefile", ".sym")
TAG = "SPDX-License-Identifier: Apache-2.0"


def names_itself(name, content):
    lines = content.split("\n", 1)[1]
    return re.match(r"/\*\s*(\*\s*)?" + re.escape(name.name) + r" - \S", lines) is not None


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    # Kept inputs and vectors are what others wrote, byte for byte.
    names = [n for n in common.files(root, *SUFFIXES) if not common.kept(n)]
    problems = []
    for n in names:
        content = common.text(root, n)
        first = content.splitlines()[:3]
        if not any(TAG in line for line in first):
            problems.append(f"{n}:1: no '{TAG}' in its first three lines")
        elif n.suffix in (".c", ".h") and n.parts[0] in ("src", "include"):
            if TAG not in first[0]:
                problems.append(f"{n}:1: the SPDX line comes first")
            elif not names_itself(n, content):
                problems.append(f"{n}:2: no opening comment '{n.name} - its task'")
    common.report("spdx", problems, len(names))


if __name__ == "__main__":
    main()
