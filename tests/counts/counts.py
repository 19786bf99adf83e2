# SPDX-License-Identifier: Apache-2.0
"""counts.py TABLE PROGRAM [--write]: has callgrind count the instructions of the work that PROGRAM
(work.c) does, and holds them against TABLE: `name<TAB>instructions a unit of work`.

Fails when a count is more than 5 % above its row, and when it is as far below: a gain is kept by
writing it down. --write does that. Where there is no valgrind, or a level of vector instructions
is not there, it says so and skips."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOLERANCE = 0.05
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


def flaws(table, counts):
    found = []
    for name, now in counts:
        if name not in table:
            found.append(f"{name}: {now:.1f}, and no row")
        elif abs(now / table[name] - 1) > TOLERANCE:
            better = "fewer: keep that, with --write" if now < table[name] else "more"
            found.append(f"{name}: {now:.1f} instructions, {table[name]:.1f} before: {better}")
    return found


def main():
    path, program = pathlib.Path(sys.argv[1]), sys.argv[2]
    if not shutil.which("valgrind"):
        print("counts: no valgrind here (tools/install.sh test): skipped")
        sys.exit(SKIP)
    counts, skipped = count(program)
    for row in skipped:
        print(f"counts: {row[0]}: {row[1]}")
    head = [line for line in path.read_text().splitlines() if line.startswith("#")]
    if "--write" in sys.argv:
        path.write_text("\n".join(head + [f"{name}\t{now:.1f}" for name, now in counts]) + "\n")
        return
    rows = [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]
    table = {name: float(number) for name, number in rows}
    # A check that cannot fail is none: each count, a tenth higher, must be seen.
    for name, now in counts:
        if len(flaws(table, [(name, max(now, table.get(name, now)) * 1.1)])) != 1:
            sys.exit(f"counts: a tenth more of '{name}' goes unseen")
    missing = set(table) - {name for name, _ in counts} - {row[0] for row in skipped}
    found = flaws(table, counts) + [f"{name}: a row, and no work" for name in sorted(missing)]
    for name, now in counts:
        print(f"{name:28} {now:9.1f}")
    if found:
        sys.exit("\n".join(["counts:"] + found))


main()
