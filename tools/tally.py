#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tally.py BUILD [--no-suite S]... [--suite S]... - count what `meson test` just did there.

Prints "PASSED FAILED SKIPPED". The count of tests that should have run comes from the build's own list, so a
log that is missing, cut short or unreadable makes failures, never silence. Names of failed and skipped tests
go to standard error.
"""
import argparse
import json
import pathlib
import sys

PASS = {"OK", "EXPECTEDFAIL"}


def suites(test):
    return {s.split(":", 1)[-1] for s in test.get("suite", [])}


def expected(build, only, without):
    tests = json.loads((build / "meson-info" / "intro-tests.json").read_text(encoding="utf-8"))
    kept = (suites(t) for t in tests)
    return sum(1 for s in kept if (not only or s & only) and not s & without)


def read_log(build):
    """The log is one JSON object a line; a line cut short by a crash is simply not counted."""
    rows = []
    try:
        text = (build / "meson-logs" / "testlog.json").read_text(encoding="utf-8", errors="replace")
    except OSError as e:
        print(f"tally: {e}", file=sys.stderr)
        return rows
    for line in text.splitlines():
        try:
            row = json.loads(line)
            rows.append((row["name"], row["result"]))
        except (ValueError, KeyError, TypeError):
            print(f"tally: unreadable line in the test log: {line[:80]}", file=sys.stderr)
    return rows


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("build", type=pathlib.Path)
    ap.add_argument("--suite", action="append", default=[])
    ap.add_argument("--no-suite", action="append", default=[])
    a = ap.parse_args()
    try:
        want = expected(a.build, set(a.suite), set(a.no_suite))
    except (OSError, ValueError) as e:
        print(f"tally: the list of tests cannot be read: {e}", file=sys.stderr)
        want = 1
    rows = read_log(a.build)
    passed = sum(1 for _, r in rows if r in PASS)
    skipped = sum(1 for _, r in rows if r == "SKIP")
    failed = len(rows) - passed - skipped
    for name, result in rows:
        if result not in PASS:
            print(f"tally: {a.build}: {result}: {name}", file=sys.stderr)
    if len(rows) < want:
        print(f"tally: {a.build}: {want - len(rows)} of {want} tests never finished", file=sys.stderr)
        failed += want - len(rows)
    print(passed, failed, skipped)


if __name__ == "__main__":
    main()
