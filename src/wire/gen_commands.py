#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes commands_table.c from commands.tsv: gen_commands.py TSV OUT.

Rows are sorted by name ("object|encoding" stands right behind "object"). Names without a bar are
found by an open-addressing table over gy_command_hash (command_table.h); the multiplier with the
shortest longest probe is chosen here, among the same few every time. Bad rows stop the build.
"""
import re
import sys

CLASSES = "keyed split local pinned fanout refused".split()
MERGES = "- array sum ok".split()
FLAGS = "write numkeys streams blocking store container script patterns db grows".split()
SLOTS = 1024
COLUMNS = 11


def fail(line, text):
    sys.exit(f"commands.tsv:{line}: {text}")


def check(line, row):
    if len(row) != COLUMNS:
        fail(line, f"{len(row)} columns, not {COLUMNS}")
    name, arity, klass, merge, flags, first, last, step, numkeys, since, why = row
    words = [] if flags == "-" else flags.split(",")
    if not re.fullmatch(r"[a-z_-]+(\|[a-z-]+)?", name):
        fail(line, f"bad name {name!r}")
    for number in (arity, first, last, step, numkeys):
        if not re.fullmatch(r"-?\d{1,3}", number):
            fail(line, f"bad number {number!r}")
    if klass not in CLASSES or merge not in MERGES or not set(words) <= set(FLAGS):
        fail(line, "unknown class, merge or flag")
    if (klass == "split") != (merge != "-"):
        fail(line, "a merge rule belongs to split commands, and they need one")
    if (klass in ("pinned", "fanout", "refused")) != (why != "-"):
        fail(line, "a reason belongs to pinned, fanout and refused commands, and they need one")
    if ("numkeys" in words) != (int(numkeys) > 0) or (int(first) > 0 and int(step) < 1):
        fail(line, "numkeys or step does not fit")
    if klass in ("keyed", "split") and first == "0" and not {"numkeys", "streams"} & set(words):
        fail(line, "a keyed command without keys")
    if not re.fullmatch(r"\d+\.\d+\.\d+", since) or '"' in why or "\\" in why:
        fail(line, "bad since or why")


def read(path):
    rows = []
    with open(path, encoding="ascii") as f:
        for number, text in enumerate(f, 1):
            if text.startswith("#") or not text.strip():
                continue
            row = text.rstrip("\n").split("\t")
            check(number, row)
            rows.append(row)
    rows.sort()
    names = [r[0] for r in rows]
    if len(set(names)) != len(names):
        sys.exit("commands.tsv: a name stands there twice")
    for row in rows:
        if "|" in row[0]:
            parent = rows[names.index(row[0].split("|")[0])]
            if "container" not in parent[4]:
                sys.exit(f"commands.tsv: {parent[0]} has subcommands and is no container")
    return rows


def hash_of(name, mul):
    """gy_command_hash: keep the two alike; gy_command_find would find nothing otherwise."""
    n, b = len(name), name.encode()
    mixed = b[0] | b[n // 2] << 8 | b[n - 1] << 16 | n << 24
    return (mixed ^ b[n // 3] << 12) * mul % 2**32 >> 22


def place(names, mul):
    slots, longest = [0] * SLOTS, 0
    for index, name in names:
        at, probes = hash_of(name, mul), 1
        while slots[at]:
            at, probes = (at + 1) % SLOTS, probes + 1
        slots[at] = index + 1
        longest = max(longest, probes)
    return longest, mul, slots


def main(source, target):
    rows = read(source)
    names = [(i, r[0]) for i, r in enumerate(rows) if "|" not in r[0]]
    longest, mul, slots = min(place(names, 0x9E3779B1 + 2 * i) for i in range(200))
    out = ["/* Made by gen_commands.py from commands.tsv: change that. */",
           '#include "wire/command_table.h"', "",
           f"const uint32_t gy_command_mul = {mul}u; /* longest probe: {longest} */",
           f"const size_t gy_command_rows = {len(rows)};",
           "const struct gy_command gy_command_table[] = {"]
    for name, arity, klass, merge, flags, first, last, step, numkeys, since, why in rows:
        words = ["0"] if flags == "-" else [f"GY_CMDF_{w.upper()}" for w in flags.split(",")]
        reason = "NULL" if why == "-" else f'"{why}"'
        out.append(f'    {{"{name}", {arity}, GY_CMD_{klass.upper()}, '
                   f'GY_MERGE_{"NONE" if merge == "-" else merge.upper()}, {" | ".join(words)}, '
                   f'{first}, {last}, {step}, {numkeys}, {reason}, "{since}"}},')
    out += ["};", f"const uint16_t gy_command_slots[{SLOTS}] = {{"]
    for at in range(0, SLOTS, 16):
        out.append("    " + " ".join(f"{v}," for v in slots[at:at + 16]))
    out.append("};")
    with open(target, "w", encoding="ascii") as f:
        f.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:3])
