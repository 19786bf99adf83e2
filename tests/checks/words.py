#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""words.py [ROOT] - words that have no place in the tree.

Notes of unfinished work, paths that exist on one machine only, trailing blanks, tabs in C, and text that is not
UTF-8. words_exceptions.txt: "PATH WORD" for files that need one (kept inputs are not text and are left out).
"""
import pathlib
import re
import sys

import common

TEXT = (".c", ".h", ".cc", ".py", ".sh", ".lua", ".build", ".pml", ".md", ".txt", ".yaml", ".yml", ".tsv", "run",
        "Makefile", ".sym", ".toml")
# Spelled so that this file does not find itself.
RULES = [
    (re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) + r")\b"),
     "unfinished by its own words"),
    (re.compile(r"(?<![\w.$}])/(" + "|".join(["wo" + "rk", "ho" + "me", "ro" + "ot", "Us" + "ers"]) + r")/[\w.]"),
     "a path of one machine"),
    (re.compile(r"[ \t]+$"), "trailing blanks"),
]
TABS = re.compile(r"\t")


def exceptions(root):
    path = pathlib.Path(root) / "tests" / "checks" / "words_exceptions.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {tuple(line.split(maxsplit=1)) for line in lines if line.strip() and not line.startswith("#")}


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    names = [n for n in common.files(root, *TEXT) if not common.kept(n)]
    excused, problems = exceptions(root), []
    for n in names:
        try:
            content = (pathlib.Path(root) / n).read_bytes().decode("utf-8")
        except UnicodeDecodeError as e:
            problems.append(f"{n}: not UTF-8 at byte {e.start}")
            continue
        rules = RULES + ([(TABS, "a tab")] if n.suffix in (".c", ".h", ".py") else [])
        for number, line in enumerate(content.split("\n"), 1):
            for rule, why in rules:
                m = rule.search(line)
                if m and (str(n), m.group(0).strip()) not in excused:
                    problems.append(f"{n}:{number}: {why}: {m.group(0).strip() or 'blanks'}")
    common.report("words", problems, len(names))


if __name__ == "__main__":
    main()
