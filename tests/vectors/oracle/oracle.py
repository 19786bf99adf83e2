#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oracle.py VECTORS [DIR] - every imitated system once more, in Python, from docs/compat alone: random fleets, settings and
keys are placed by these models, written as vector files (into DIR, which stays, if it is given), and VECTORS must find each line right.
oracle.py --kept DIR - the models against the vector files of DIR, the real programs' answers.

Fixed seeds; GYRE_SEED=7 only that, GYRE_RUNS=100 more. A file's name is its seed.
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import buckets
import draw_buckets
import draw_caches
import draw_rings
import ketama
import proxies
import rings
import seeds
import swift
from form import Head

MODELS = ketama.TABLES | proxies.TABLES | rings.TABLES | buckets.TABLES | swift.TABLES | seeds.TABLES
DRAWS = draw_caches.DRAWS | draw_rings.DRAWS | draw_buckets.DRAWS
RUNS = 2


def write(folder, system, seed):
    """One file and its companions; how many rows the driver has to pass."""
    fields, inputs, *companions = DRAWS[system](random.Random(f"{system} {seed}"))
    folder = folder / system
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, content in companions[0].items() if companions else []:
        (folder / name).write_bytes(content)
        count += content.count(b"\n") - 1 if name.endswith(".tsv") else 0
    head = Head({key: str(value) for key, value in fields.items()}, folder)
    rows = MODELS[head.raw("system")](head)(inputs)
    text = head.line() + "".join("\t".join(row) + "\n" for row in rows)
    (folder / f"{seed}.tsv").write_text(text, encoding="utf-8", newline="\n")
    return count + len(rows)


def ask(vectors, folder):
    first = int(os.environ.get("GYRE_SEED", "1"))
    runs = int(os.environ.get("GYRE_RUNS", "1" if "GYRE_SEED" in os.environ else str(RUNS)))
    written = sum(write(folder, system, seed) for system in DRAWS for seed in range(first, first + runs))
    done = subprocess.run([vectors, folder], stdout=subprocess.PIPE, check=False)
    sys.stdout.buffer.write(done.stdout)
    if done.returncode == 0 and done.stdout.endswith(f"\n{written} passed, 0 failed\n".encode()):
        return 0
    print(f"{written} lines were written")
    return 1


def given(head):
    """How many columns of a row its model is told."""
    return 3 if head.raw("mode") == "unit" else 2 if head.columns[:2] == ["key", "buckets"] else 1


def against_kept(folder):
    right = wrong = 0
    for path in sorted(set(folder.rglob("*.tsv")) - set(folder.rglob("MANIFEST.tsv"))):
        line, *rows = path.read_text(encoding="utf-8").split("\n")[:-1]
        head = Head.parse(line, path.parent)
        if head.raw("mode") == "ring":  # Cassandra's: state, with nothing to be computed
            continue
        rows = [row.split("\t") for row in rows]
        answers = MODELS[head.raw("system")](head)([row[:given(head)] for row in rows])
        if len(answers) != len(rows):
            print(f"{path}: {len(answers)} rows, not {len(rows)}")
            wrong += 1
        for row, answer in zip(rows, answers):
            right += row == answer
            if row != answer:
                print(f"{path}: {row}, the model {answer}")
                wrong += 1
    print(f"{right} passed, {wrong} failed")
    return 0 if right and not wrong else 1


def main():
    if sys.argv[1] == "--kept":
        return against_kept(pathlib.Path(sys.argv[2]))
    if len(sys.argv) > 2:
        return ask(sys.argv[1], pathlib.Path(sys.argv[2]))
    with tempfile.TemporaryDirectory() as folder:
        return ask(sys.argv[1], pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
