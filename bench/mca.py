#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mca.py [BUILD]: how many cycles the loops of libgyre's kernels take, as llvm-mca predicts it.

Takes the machine code of the library in BUILD (default: build, of `make`), so it says what the compiler made
of the kernels, and prints the table of docs/speed.md. A prediction knows a processor's ports and latencies;
it knows no cache misses, no wrongly foretold branch, and no clock slowed by wide vectors. For processors
that are not at hand it is what there is. Needs llvm-16 (tools/install.sh dev).
"""
import pathlib
import re
import subprocess
import sys
import tempfile

TURNS = 200
# Zen 3 is what docs/speed.md measured on; it has no AVX-512.
PROCESSORS = {"Zen 3": "znver3", "Zen 4": "znver4", "Ice Lake": "icelake-server"}

# What is done; the object; and by level a function, how often a turn of its loop does it, and the registers
# that loop has most of. None: the whole function, which has no loop.
KERNELS = (
    ("jump, a step of a key", "place_jump.c.o",
     {"plain": ("jump_locate", 1, "xmm"), "AVX2": ("jumps_avx2", 16, "ymm"), "AVX-512": ("jumps_avx512", 32, "zmm")}),
    ("jumpback, a further word of a key", "place_jumpback.c.o",
     {"AVX2": ("jumpbacks_avx2", 8, "ymm"), "AVX-512": ("jumpbacks_avx512", 16, "zmm")}),
    ("weighted rendezvous, a node for a key", "place_rendezvous.c.o",
     {"AVX2": ("each_avx2", 8, "ymm"), "AVX-512": ("each_avx512", 16, "zmm")}),
    ("dx, a draw of a key", "place_dx.c.o",
     {"AVX2": ("draws_avx2", 4, "ymm"), "AVX-512": ("draws_avx512", 8, "zmm")}),
    ("MD5, a block of a key", "hash_md5_batch.c.o",
     {"AVX2": ("md5_avx2", 24, None), "AVX-512": ("md5_avx512", 32, None)}),
)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"mca: {' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def functions(build, member):
    """{name: [(address, instruction)]} of an object: the static library's, or its twin's that is linked to both."""
    paths = sorted((build / "src" / "lib").glob(f"libgyre*.p/{member}"))
    found, rows = {}, None
    for line in run("objdump", "-d", "--no-show-raw-insn", paths[0]).splitlines() if paths else ():
        if head := re.match(r"[0-9a-f]+ <(.+)>:$", line):
            rows = found.setdefault(head.group(1), [])
        elif row := re.match(r" *([0-9a-f]+):\t(.+)", line):
            rows.append((int(row.group(1), 16), row.group(2)))
    return found


def loop(code, register):
    """Of the loops without a loop in them that with the most of such registers: blocks that the compiler put
    out of their order look like loops too."""
    found = []
    for at, text in code:
        jump = re.match(r"(?:notrack )?j\w+ +([0-9a-f]+) <", text)
        if jump and code[0][0] <= int(jump.group(1), 16) <= at:
            found.append((int(jump.group(1), 16), at))
    inner = [a for a in found if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in found)]
    bodies = [[row for row in code if first <= row[0] <= last] for first, last in inner]
    return max(bodies, key=lambda body: sum(register in text for _, text in body))


def assembly(code):
    """As llvm-mca reads it: jumps to a label, and nothing that fills, calls or returns."""
    lines = [re.sub(r"\b(j\w+) +[0-9a-f]+ <.*", r"\1 turn", text).split("#")[0] for _, text in code]
    return [line for line in lines if not re.match(r"(data16 |cs |nop|xchg +%ax,%ax|ret|call)", line)]


def cycles(lines, processor):
    with tempfile.NamedTemporaryFile("w", suffix=".s") as source:
        source.write("\n".join(["turn:", *lines, ""]))
        source.flush()
        said = run("llvm-mca-16", "-mtriple=x86_64", f"-mcpu={processor}", f"-iterations={TURNS}", source.name)
    return int(re.search(r"Total Cycles: +(\d+)", said).group(1)) / TURNS


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build")
    print(f"| | level | instructions | cycles: {' | '.join(PROCESSORS)} |")
    print("|---|---|---" + "|---" * len(PROCESSORS) + "|")
    for title, member, levels in KERNELS:
        code = functions(build, member)
        for level, (name, units, register) in levels.items():
            if name not in code:
                sys.exit(f"mca: no {name} in {member} of {build}: run make")
            lines = assembly(loop(code[name], register) if register else code[name])
            row = [title, level, f"{len(lines) / units:.1f}"]
            for processor in PROCESSORS.values():
                there = (level, processor) != ("AVX-512", "znver3")
                row.append(f"{cycles(lines, processor) / units:.1f}" if there else "")
            print(f"| {' | '.join(row)} |")


main()
