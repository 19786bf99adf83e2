#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""includes.py [ROOT] - the layering of the house: includes point down only.

Each room of src/ may include itself and the rooms listed for it, by "room/file.h", and gyre.h. What is outside
the tree is given by <> and is limited for the rooms whose promise is what they do not touch: lib knows libc without I/O
or threads, and only net knows libuv.
"""
import re
import sys

import common

# A room may include the rooms before it in this order, less the exceptions below.
ORDER = ["lib", "base", "formats", "wire", "net", "control", "move", "proxy", "admin", "study", "cli"]
NEVER = {("wire", "formats")}  # neighbours: both know bytes, neither the other
# The experiments are computation: they know the library and the small helpers.
NEVER |= {("study", room) for room in ORDER[2:] if room not in ("study", "cli")}
# How a gyre_error_t is filled, one way for the whole house; which setting counts, for who reads and writes them;
# which characters no terminal is to see.
LIB_SHARED = {"lib/error.h", "lib/readers.h", "lib/utf8.h"}
LIBC_PURE = {
    "assert.h", "errno.h", "float.h", "inttypes.h", "limits.h", "stdalign.h", "stdarg.h", "stdatomic.h", "stdbool.h",
    "stddef.h", "stdint.h", "stdlib.h", "string.h", "stdio.h", "endian.h", "math.h", "xxhash.h",
    "emmintrin.h", "immintrin.h", "arm_neon.h",
}
# Of a room -> the only outside headers it may use; of a header -> the only rooms that may use it.
ONLY_HEADERS = {"lib": LIBC_PURE, "wire": LIBC_PURE | {"strings.h", "ctype.h"}}
ONLY_ROOMS = {
    "uv.h": {"net"},
    "yaml.h": {"formats"},
    "sqlite3.h": {"control"},
    "microhttpd.h": {"admin"},
    "curl/curl.h": {"control", "cli"},
    "math.h": {"lib", "base", "formats", "wire", "control", "move", "proxy", "admin", "study", "cli"},
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>|(\S+))', re.M)


def own(room, target):
    """Why room may not include "target", or None."""
    if target == "gyre.h":
        return None
    head = target.split("/")[0]
    if head not in ORDER:
        return "not gyre.h and not ROOM/FILE.h of a known room"
    if ORDER.index(head) > ORDER.index(room):
        return f"points up: {room} is below {head}"
    if head == "lib" and room != "lib" and target not in LIB_SHARED:
        return "the library is used through gyre.h (and " + ", ".join(sorted(LIB_SHARED)) + ")"
    if (room, head) in NEVER:
        return f"{room} knows nothing of {head}"
    return None


def outside(room, target):
    """Why room may not include <target>, or None."""
    if room in ONLY_HEADERS and target not in ONLY_HEADERS[room]:
        return f"{room} may not touch it"
    if target in ONLY_ROOMS and room not in ONLY_ROOMS[target]:
        return "only for " + ", ".join(sorted(ONLY_ROOMS[target]))
    return None


def check_file(name, content):
    parts = name.parts
    room = parts[1] if parts[0] == "src" and len(parts) > 2 else None
    if parts[0] == "src" and room not in ORDER:
        return [f"{name}: not in a room (rooms: {' '.join(ORDER)})"]
    problems = []
    for m in INCLUDE.finditer(content):
        quoted, angled, computed = m.groups()
        line = content.count("\n", 0, m.start()) + 1
        if parts[0] == "include":
            why = None if angled in LIBC_PURE else "the public header includes libc's freestanding headers only"
        elif computed:
            why = "a computed include cannot be checked"
        else:
            why = own(room, quoted) if quoted else outside(room, angled)
        if why:
            problems.append(f"{name}:{line}: {quoted or angled or computed}: {why}")
    return problems


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    names = [n for n in common.files(root, ".c", ".h", ".inc") if n.parts[0] in ("src", "include")]
    problems = [p for n in names for p in check_file(n, common.text(root, n))]
    common.report("includes", problems, len(names))


if __name__ == "__main__":
    main()
