#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sizes.py [ROOT] - files and functions stay small enough to be read.

A file has at most 600 lines; a function at most 120 and a cyclomatic complexity (pmccabe's) of at most 20; the
90th percentile of the functions' lengths is at most 50. sizes_exceptions.txt lists what is let off, each with its reason;
an exception that is no longer needed is a problem too.
"""
import pathlib
import subprocess
import sys

import common

FILE_LINES, FN_LINES, FN_COMPLEXITY, P90_LINES = 600, 120, 20, 50
SCOPE = ("src", "include", "tests", "bench", "models", "tools", "examples")


def exceptions(root):
    """{"path" or "path:function": reason}"""
    found = {}
    path = pathlib.Path(root) / "tests" / "checks" / "sizes_exceptions.txt"
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        if line.strip() and not line.startswith("#"):
            what, _, reason = line.partition(" ")
            if not reason.strip():
                sys.exit(f"{path}: no reason given for {what}")
            found[what] = reason.strip()
    return found


def functions(root, names):
    """(path, function, complexity, lines) of every function, by pmccabe."""
    out = subprocess.run(["pmccabe", *map(str, names)], cwd=root, capture_output=True, text=True, check=True).stdout
    rows = []
    for line in out.splitlines():
        cols = line.split("\t")
        path = cols[5].split("(")[0]
        rows.append((path, cols[5].split(": ")[1], int(cols[1]), int(cols[4])))
    return rows


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    names = [n for n in common.files(root, ".c", ".h", ".py", ".sh", ".cc") if n.parts[0] in SCOPE]
    excused, used, problems = exceptions(root), set(), []

    def too_much(what, why):
        if what in excused:
            used.add(what)
        else:
            problems.append(f"{what}: {why}")

    for n in names:
        lines = common.text(root, n).count("\n")
        if lines > FILE_LINES:
            too_much(str(n), f"{lines} lines, at most {FILE_LINES}")
    sources = [n for n in names if n.suffix in (".c", ".h")]
    rows = functions(root, sources) if sources else []
    for path, function, complexity, lines in rows:
        if lines > FN_LINES or complexity > FN_COMPLEXITY:
            too_much(f"{path}:{function}", f"{lines} lines (at most {FN_LINES}), complexity {complexity} "
                                           f"(at most {FN_COMPLEXITY})")
    lengths = sorted(r[3] for r in rows)
    p90 = lengths[len(lengths) * 9 // 10] if lengths else 0
    if p90 > P90_LINES:
        problems.append(f"functions: the 90th percentile is {p90} lines, at most {P90_LINES}")
    problems += [f"{what}: in sizes_exceptions.txt, but no exception is needed" for what in sorted(set(excused) - used)]
    print(f"sizes: {len(rows)} functions, 90th percentile {p90} lines, longest {lengths[-1] if lengths else 0}")
    common.report("sizes", problems, len(names))


if __name__ == "__main__":
    main()
