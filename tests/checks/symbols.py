#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""symbols.py LIBGYRE.so LIBGYRE.a - what the library asks of the world, and what it shows of itself.

Undefined symbols may only be those of libc that neither do I/O nor keep state nor depend on the locale or on libm; so
the promise "pure computation" is checked on what was compiled. The shared library exports gyre_* and nothing else.
"""
import subprocess
import sys

# Formatting is for error texts (snprintf of integers and strings); allocation goes through the caller's allocator
# or these. __*_chk are the fortified forms of what they check; the rest of the __ names are the compiler's.
MAY_USE = {
    "malloc", "calloc", "realloc", "free", "qsort", "bsearch", "memcpy", "memmove", "memset", "memcmp", "memchr", "memrchr",
    "memmem", "strlen", "strnlen", "strcmp", "strncmp", "strchr", "strrchr", "strstr", "strspn", "strcspn",
    "snprintf", "sprintf", "vsnprintf", "strtoull", "strtoul", "posix_memalign", "aligned_alloc",
    "__snprintf_chk", "__sprintf_chk", "__vsnprintf_chk", "__memcpy_chk", "__memmove_chk", "__memset_chk", "__strcpy_chk",
    "__strncpy_chk", "__strcat_chk", "__stack_chk_fail", "__chk_fail",
    "_GLOBAL_OFFSET_TABLE_", "__cxa_finalize", "__gmon_start__", "_ITM_deregisterTMCloneTable",
    "_ITM_registerTMCloneTable", "__cpu_model", "__cpu_indicator_init",
}


def nm(*args):
    out = subprocess.run(["nm", "-P", *args], capture_output=True, text=True, check=True).stdout
    return [line.split() for line in out.splitlines() if line and not line.endswith(":")]


def writable(archive):
    out = subprocess.run(["nm", "-f", "sysv", "--defined-only", archive], capture_output=True, text=True, check=True)
    for line in out.stdout.splitlines():
        cols = [c.strip() for c in line.split("|")]
        if len(cols) == 7 and cols[6].startswith((".data", ".bss", "*COM*")) and not cols[6].startswith(".data.rel.ro"):
            yield cols[0]


def bare(symbol):
    return symbol.split("@")[0]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    shared, static = sys.argv[1:]
    problems = []
    asked = {bare(r[0]) for r in nm("-D", "-u", shared)} - MAY_USE
    problems += [f"{shared}: uses {s}" for s in sorted(asked)]
    exported = {bare(r[0]) for r in nm("-D", "--defined-only", shared) if r[1] != "A"}
    problems += [f"{shared}: exports {s}" for s in sorted(exported) if not s.startswith("gyre_")]
    if not exported:
        problems.append(f"{shared}: exports nothing")
    # In the static library, names across files have a prefix, so that no program's names are taken.
    across = {bare(r[0]) for r in nm("-g", "--defined-only", static) if len(r) > 1}
    problems += [f"{static}: defines {s}" for s in sorted(across) if not s.startswith(("gyre_", "gy_"))]
    # Kept state: no writable data. (Tables of pointers are relocated once, then read-only: .data.rel.ro.)
    state = sorted(set(writable(static)))
    problems += [f"{static}: writable data {s}" for s in state]
    for p in problems:
        print(p)
    print(f"symbols: {len(problems)} problems, {len(exported)} exported, {len(across)} across files")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
