#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""models_doc.py [ROOT] - the tables of docs/migration.md 5.1 and models/cases.txt list the same cases and figures, and
the READMEs say as many mutations as there are."""
import pathlib
import re
import sys

ROW = re.compile(r"^\| (\w+) \| ([A-Z0-9_= ]+) \| ([A-Z0-9, ]+) \|$", re.M)


def from_doc(text):
    cases = set()
    for model, options, last in ROW.findall(text):
        if last[0].isdigit():
            cases.add((model, tuple(options.split()), int(last.replace(" ", ""))))
            continue
        for mutation in last.split(","):
            name, figure = mutation.strip().split(" ", 1)
            cases.add((model, (*options.split(), name), int(figure.replace(" ", ""))))
    return cases


def from_table(text):
    rows = (line.split() for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return {(r[2], tuple(r[3:-1]), int(r[-1])) for r in rows}


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    doc = from_doc((root / "docs" / "migration.md").read_text(encoding="utf-8"))
    table = from_table((root / "models" / "cases.txt").read_text(encoding="utf-8"))
    for what, cases in (("only in docs/migration.md", doc - table), ("only in models/cases.txt", table - doc)):
        for model, options, states in sorted(cases):
            print(f"{what}: {model} {' '.join(options)} {states}")
    mutations = len(re.findall(r"^\w+ +(?:assert|deadlock) ", (root / "models" / "cases.txt").read_text(encoding="utf-8"), re.M))
    wrong = False
    for name, pattern in (("README.md", r"(\d+) mutations"), ("README.zh-CN.md", r"(\d+) 个变体")):
        said = re.findall(pattern, (root / name).read_text(encoding="utf-8"))
        if said != [str(mutations)]:
            wrong = True
            print(f"{name} says {said} mutations; models/cases.txt has {mutations}")
    print(f"models_doc: {len(doc & table)} cases alike")
    return 0 if doc == table and doc and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
