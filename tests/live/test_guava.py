# SPDX-License-Identifier: Apache-2.0
"""Guava's Hashing.consistentHash, of numbers and of each hash function that is imitated."""
import pathlib
import subprocess

import live
from harness import LONG

HASHES = ("murmur3_128", "none", "sipHash24", "murmur3_32_fixed", "sha256", "crc32c")
KEYS, JAR = 1000 if LONG else 200, "/usr/share/java/guava.jar"


def draw_case(rnd, hash_name):
    """(fleet, keys): nodes are numbers, so any names will do; keys of hash none are numbers."""
    names = live.words(rnd, live.size(rnd, 1, 300))
    fleet = live.Fleet([(name, 1) for name in names], like="guava", hash=hash_name)
    if hash_name == "none":
        return fleet, sorted({str(rnd.getrandbits(rnd.choice([8, 31, 32, 63, 64]))) for _ in range(KEYS)})
    return fleet, live.words(rnd, KEYS)


def ask(cases):
    """The buckets that Guava gives; one start of Java for all, for that is what costs."""
    lines = [f"{f.placement['hash']} {len(f.nodes)} {k if f.placement['hash'] == 'none' else k.encode().hex()}"
             for f, keys in cases for k in keys]
    done = subprocess.run(["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", JAR,
                           pathlib.Path(__file__).with_name("Guava.java")],
                          input="\n".join(lines) + "\n", capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    answers = [int(line) for line in done.stdout.split()]
    assert len(answers) == len(lines)
    return answers


def test_guava(farm):
    rnd, score = live.draw("guava"), live.Score()
    cases = [draw_case(rnd, h) for _ in range(live.TIMES) for h in HASHES for _ in range(2)]
    answers = ask(cases)
    for fleet, keys in cases:
        theirs = [fleet.nodes[answers.pop(0)][0] for _ in keys]
        other = "crc32c" if fleet.placement["hash"] != "crc32c" else "sha256"
        score.compare(farm.dir, fleet, keys, theirs, fleet.but(hash=other))
    score.finish()
