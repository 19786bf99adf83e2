# SPDX-License-Identifier: Apache-2.0
"""counts.py TABLE PROGRAM|--counted FILE [--write]: has callgrind count the instructions of the work
that PROGRAM (work.c) does, and holds them against TABLE: `name<TAB>instructions a unit of work`.
With --counted they were counted elsewhere, where there is AVX-512 (tools/avx512.sh), and FILE has them.

Fails when a count is more than 5 % above its row, and when it is as far below: a gain is kept by
writing it down. --write does that. Of those counted elsewhere 12 %: the interrupts of an emulated
machine are counted too, more of them where the emulator is slow. Where there is no valgrind, or a
level of vector instructions is not there, it says so and skips."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOLERANCE, TOLERANCE_ELSEWHERE = .05, .12
SKIP = 77


def count(program):
    """[(name, instructions a unit)], and what was skipped."""
    # meson has malloc fill what it gives, which would be counted.
    env = {k: v for k, v in os.environ.items() if k != "MALLOC_PERTURB_"}
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=counted",
             "--dump-after=counted", f"--callgrind-out-file={out}", program],
            capture_output=True, text=True, check=False, env=env)
        if run.returncode:
            sys.exit(f"counts: {run.stdout}{run.stderr}")
        totals = []
        for part in sorted(pathlib.Path(folder).glob("out.*"), key=lambda p: int(p.suffix[1:])):
            text = part.read_text()
            if "Trigger: --dump-after=counted" in text:
                totals.append(int(re.search(r"^(?:totals|summary): (\d+)", text, re.M).group(1)))
    rows = [line.split("\t") for line in run.stdout.splitlines()]
    skipped = [row for row in rows if len(row) == 2]
    done = [row for row in rows if len(row) == 3]
    if len(done) != len(totals):
        sys.exit(f"counts: {len(done)} pieces of work, {len(totals)} counts")
    return [(row[0], total / int(row[1])) for row, total in zip(done, totals)], skipped


def read(path):
    """What was counted elsewhere; the rows of other levels are callgrind's."""
    rows = [line.split("\t") for line in pathlib.Path(path).read_text().splitlines()]
    found = [(row[0], float(row[1])) for row in rows if len(row) == 2 and row[0].endswith("avx512")]
    return found or sys.exit(f"counts: {path} counts nothing")


def flaws(table, counts, tolerance):
    found = []
    for name, now in counts:
        if name not in table:
            found.append(f"{name}: {now:.1f}, and no row")
        elif abs(now / table[name] - 1) > tolerance:
            better = "fewer: keep that, with --write" if now < table[name] else "more"
            found.append(f"{name}: {now:.1f} instructions, {table[name]:.1f} before: {better}")
    return found


def main():
    path, elsewhere = pathlib.Path(sys.argv[1]), sys.argv[2] == "--counted"
    tolerance = TOLERANCE_ELSEWHERE if elsewhere else TOLERANCE
    lines = path.read_text().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    table = {name: float(number) for name, number in rows}
    if elsewhere:
        counts = read(sys.argv[3])
        others = {name for name in table if not name.endswith("avx512")}
    elif shutil.which("valgrind"):
        counts, skipped = count(sys.argv[2])
        for row in skipped:
            print(f"counts: {row[0]}: {row[1]}")
        others = {row[0] for row in skipped}
    else:
        print("counts: no valgrind here (tools/install.sh test): skipped")
        sys.exit(SKIP)
    if "--write" in sys.argv:
        kept = {name: now for name, now in table.items() if name in others | {name for name, _ in counts}}
        head = [line for line in lines if line.startswith("#")]
        path.write_text("\n".join(head + [f"{name}\t{now:.1f}" for name, now in {**kept, **dict(counts)}.items()]) + "\n")
        return
    # A check that cannot fail is none: each count, higher by twice what is allowed, must be seen.
    for name, now in counts:
        if len(flaws(table, [(name, max(now, table.get(name, now)) * (1 + 2 * tolerance))], tolerance)) != 1:
            sys.exit(f"counts: {2 * tolerance:.0%} more of '{name}' goes unseen")
    missing = set(table) - {name for name, _ in counts} - others
    found = flaws(table, counts, tolerance) + [f"{name}: a row, and no work" for name in sorted(missing)]
    for name, now in counts:
        print(f"{name:28} {now:9.1f}")
    if found:
        sys.exit("\n".join(["counts:"] + found))


main()
