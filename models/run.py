#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run the Spin models of the live move: every base must pass, every mutation must fail.

    models/run.py [--tier short|long] [--only MODEL]... [--list] [DIR]

DIR (default: this folder) holds the models and their cases.txt, which says in its head what a line means. A
base passes if the search was exhaustive (no limit hit), found no error, and was not suspiciously small. A mutation passes
the test if Spin finds an error of the kind expected; one that cannot be generated or compiled fails it. Ends
with "N passed, N failed"; exit status 0 only if none failed and some ran.
"""
import argparse
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

DEPTH = 500_000  # longest path followed; a search that reaches it is reported as truncated
MEMORY_MB = 2000
# A verifier takes 0.6 s to compile with -O0 and 2.8 s with -O2: each level is worth its time from here on.
# So is packing the states (COLLAPSE), which takes a third longer and changes nothing but the memory.
O1_FROM, O2_FROM = 500_000, 3_000_000
# Options that are the verifier's: the search takes each process's steps from the last to the first. A mutation
# whose error lies there is found sooner; which error it is, and that the base has none, does not depend on it.
OF_VERIFIER = {"-DT_REVERSE"}


@dataclass
class Case:
    line: int
    tier: str
    model: str
    kind: str
    options: list
    states: int

    @property
    def name(self):
        return " ".join([self.model, *self.options])


class BadCases(Exception):
    """cases.txt does not follow its own rules."""


def read_cases(path):
    cases = []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = text.split("#")[0].split()
        if not words:
            continue
        if len(words) < 4 or not words[-1].isdigit():
            raise BadCases(f"{path}:{number}: want: TIER KIND MODEL OPTION... STATES")
        tier, kind, model, *options, states = words
        if tier not in ("short", "long") or kind not in ("base", "assert", "deadlock"):
            raise BadCases(f"{path}:{number}: unknown tier or kind: {tier} {kind}")
        cases.append(Case(number, tier, model, kind, ["-D" + o for o in options], int(states)))
    return cases


def build(case, source, folder):
    """Generate and compile the verifier; returns None, or what went wrong."""
    optimise = "-O0" if case.states < O1_FROM else "-O1" if case.states < O2_FROM else "-O2"
    # Unoptimised, clang takes half of gcc's time for the same C; a model may call a variable exp.
    compiler = "clang-16" if optimise == "-O0" and shutil.which("clang-16") else "gcc"
    how = [o for o in case.options if o in OF_VERIFIER] + ["-DCOLLAPSE"] * (case.states >= O2_FROM)
    commands = (
        ["spin", "-a", *(o for o in case.options if o not in OF_VERIFIER), str(source)],
        [compiler, optimise, "-fno-builtin", "-w", "-DSAFETY", *how, f"-DMEMLIM={MEMORY_MB}", "-o", "pan", "pan.c"],
    )
    for command in commands:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0 or (command[0] == "spin" and "Error" in done.stdout + done.stderr):
            return f"{shlex.join(command)}: {(done.stdout + done.stderr).strip()[:300]}"
    return None


def judge(case, out):
    """What the verifier said -> (ok, reason, states)."""
    errors = re.search(r"errors: (\d+)", out)
    stored = re.search(r"(\d+) states, stored", out)
    if not errors or not stored:
        return False, "no result: " + out.strip()[-300:], 0
    states = int(stored.group(1))
    cut = re.search(r"max search depth too small|reached -DMEMLIM|out of memory|search not completed", out, re.I)
    if case.kind == "base":
        if cut:
            return False, f"not exhaustive: {cut.group(0)}", states
        if errors.group(1) != "0":
            return False, "an error in a base: " + first_error(out), states
        if states < case.states * 0.9:
            return False, f"only {states} states, {case.states} expected: is the model still whole?", states
        return True, "0 errors", states
    if errors.group(1) == "0":
        return False, "the mutation was not caught" + (f" ({cut.group(0)})" if cut else ""), states
    found = first_error(out)
    wanted = "invalid end state" if case.kind == "deadlock" else "assertion violated"
    return wanted in found, found, states


def first_error(out):
    found = re.search(r"^pan:1: (.*)$", out, re.M)
    return found.group(1) if found else "error of unknown kind"


def run(case, models):
    source = (models / f"{case.model}.pml").resolve()
    if not source.is_file():
        return False, f"no such model: {source}", 0
    with tempfile.TemporaryDirectory(prefix="gyre-model-") as folder:
        wrong = build(case, source, folder)
        if wrong:
            return False, wrong, 0
        command = ["./pan", f"-m{DEPTH}"]
        if case.kind == "assert":
            command.append("-E")  # only assertions count: mutations may deadlock as well
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        return judge(case, done.stdout + done.stderr)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("dir", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parent, metavar="DIR")
    ap.add_argument("--tier", choices=("short", "long"), default="short", help="long is everything")
    ap.add_argument("--only", action="append", metavar="MODEL", help="only this model (may be repeated)")
    ap.add_argument("--list", action="store_true", help="print the cases instead of running them")
    a = ap.parse_args()
    try:
        cases = read_cases(a.dir / "cases.txt")
    except (OSError, BadCases) as e:
        sys.exit(f"models: {e}")
    cases = [c for c in cases if (a.tier == "long" or c.tier == "short") and (not a.only or c.model in a.only)]
    if a.list:
        for c in cases:
            print(c.kind, c.name)
        return 0
    passed = 0
    for c in cases:
        begun = time.monotonic()
        ok, why, states = run(c, a.dir)
        passed += ok
        verdict = "ok  " if ok else "FAIL"
        print(f"{verdict} {c.kind:8} {c.name}: {why} ({states} states, {time.monotonic() - begun:.1f} s)", flush=True)
    print(f"{passed} passed, {len(cases) - passed} failed")
    return 0 if cases and passed == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
