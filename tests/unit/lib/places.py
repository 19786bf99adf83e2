#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""places.py [--check FILE] - docs/placement.md again, as plainly as it can be written: prints where keys are.

A second writing of the rules, from the page and not from the library, slow and without a thought for memory. Its
output is kept in places.tsv, which the library is held against. Weighted scores are also decided by 60 digits of
decimal arithmetic: the order must be the same. With --check, complains if FILE is not what the rules give.
"""
import decimal
import functools
import math
import struct
import sys

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
SECRET = bytes.fromhex("b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
                       "b8084674f743248ee03590e6813a264c3c2852bb91c300cb")
decimal.getcontext().prec = 60


def read64(data, at):
    return struct.unpack_from("<Q", data, at)[0]


def read32(data, at):
    return struct.unpack_from("<I", data, at)[0]


def rotate(x, n):
    return (x << n | x >> (64 - n)) & MASK


def avalanche64(h):
    h = ((h ^ h >> 33) * 0xC2B2AE3D27D4EB4F) & MASK
    h = ((h ^ h >> 29) * 0x165667B19E3779F9) & MASK
    return h ^ h >> 32


@functools.lru_cache(None)
def xxh3(data):
    """Of up to 16 bytes, seed 0."""
    n = len(data)
    if n == 0:
        return avalanche64(read64(SECRET, 56) ^ read64(SECRET, 64))
    if n <= 3:
        word = data[0] << 16 | data[n >> 1] << 24 | data[-1] | n << 8
        return avalanche64(word ^ read32(SECRET, 0) ^ read32(SECRET, 4))
    if n <= 8:
        word = (read32(data, n - 4) + (read32(data, 0) << 32)) & MASK
        h = word ^ read64(SECRET, 8) ^ read64(SECRET, 16)
        h = ((h ^ rotate(h, 49) ^ rotate(h, 24)) * 0x9FB21C651E98DF25) & MASK
        h = ((h ^ ((h >> 35) + n)) * 0x9FB21C651E98DF25) & MASK
        return h ^ h >> 28
    assert n <= 16
    low = read64(data, 0) ^ read64(SECRET, 24) ^ read64(SECRET, 32)
    high = read64(data, n - 8) ^ read64(SECRET, 40) ^ read64(SECRET, 48)
    product = low * high
    swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
    h = (n + swapped + high + (product & MASK ^ product >> 64)) & MASK
    h = ((h ^ h >> 37) * 0x165667919E3779F9) & MASK
    return h ^ h >> 32


def mix(z):
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


def stream(seed, i):
    return mix((seed + (i + 1) * GOLDEN) & MASK)


# ---- the placements: each gives the nodes of a hash in order of preference, perhaps with repeats, without end ----

class Fleet:
    def __init__(self, settings, nodes, removed=()):
        self.settings = settings
        self.live = sorted((n for n in nodes if n[1] > 0), key=lambda n: n[0])  # (name, steps of weight, slot)
        self.removed = list(removed)


INVERSES = [round(512 / (1 + (i + 0.5) / 16)) for i in range(15)] + [256]
LN2 = decimal.Decimal(2).ln()
OFFSETS = [float(-(decimal.Decimal(k) / 512).ln() / LN2) for k in INVERSES]
TAYLOR = [float((-1) ** (k + 1) / (decimal.Decimal(k) * LN2)) for k in range(1, 10)]


def cost(z):
    x = z >> 20 | 1
    below = 44 - (x.bit_length() - 1)
    m = math.ldexp(x, below - 44)  # 1 <= m < 2
    i = int((m - 1) * 16)
    r = m * (INVERSES[i] / 512) - 1
    p = TAYLOR[8]
    for k in range(7, -1, -1):
        p = p * r + TAYLOR[k]
    return (below - OFFSETS[i]) - p * r


def exact_cost(z):
    return -(decimal.Decimal(z >> 20 | 1) / (1 << 44)).ln() / LN2


def rendezvous(fleet, h):
    def place(node):
        z = mix(h ^ xxh3(node[0]))
        return cost(z) * (1.0 / node[1]), -z, node[0]

    def check(node):
        return exact_cost(mix(h ^ xxh3(node[0]))) / node[1]
    order = sorted(fleet.live, key=place)
    assert order == sorted(fleet.live, key=check)
    yield from order


def table_walk(table, h):
    start = (h >> 32) * len(table) >> 32
    yield from table[start:] + table[:start]


TABLES = {}


def slots(fleet, h):
    size = int(fleet.settings["table"])
    if id(fleet) not in TABLES:
        TABLES[id(fleet)] = [next(rendezvous(fleet, stream(0, s))) for s in range(size)]
    yield from table_walk(TABLES[id(fleet)], h)
    yield from fleet.live


def maglev(fleet, h):
    size = int(fleet.settings["table"])
    if id(fleet) not in TABLES:
        permutations = []
        for name, _, _ in fleet.live:
            offset, skip = stream(xxh3(name), 0) % size, stream(xxh3(name), 1) % (size - 1) + 1
            permutations.append([(offset + j * skip) % size for j in range(size)])
        table, heaviest, turn = {}, max(n[1] for n in fleet.live), 0
        while len(table) < size:
            turn += 1
            for node, permutation in zip(fleet.live, permutations):
                due = -(-turn * node[1] // heaviest) - -(-(turn - 1) * node[1] // heaviest)
                if due and len(table) < size:
                    table[next(s for s in permutation if s not in table)] = node
        TABLES[id(fleet)] = [table[s] for s in range(size)]
    yield from table_walk(TABLES[id(fleet)], h)


def jump(key, n):
    b, j = -1, 0
    while j < n:
        b = j
        key = (key * 2862933555777941757 + 1) & MASK
        j = int((b + 1) * ((1 << 31) / ((key >> 33) + 1)))
    return b


def jumpback(h, n):
    words = (stream(h, i) for i in range(1 << 30))
    v = next(words)
    low, high = v & 0xFFFFFFFF, v >> 32
    u = (low ^ high) & ((1 << (n - 1).bit_length()) - 1)
    while u:
        q = 1 << (u.bit_length() - 1)
        r = q + ((high if bin(u).count("1") % 2 else low) & (q - 1))
        if r < n:
            return r
        halves = (half for w in words for half in (w & 0xFFFFFFFF, w >> 32))
        r = next(r for r in (half & (2 * q - 1) for half in halves) if r < n)
        if r >= q:
            return r
        u ^= q
    return 0


def memento_slot(removed, n, h):
    """Keys move as the slots leave, one after the other."""
    left = {slot: n - 1 - i for i, slot in enumerate(removed)}  # by slot from 0: how many worked then
    b = jumpback(h, n)
    while b in left:
        working = left[b]
        b = (stream(mix(~h & MASK), b) >> 32) * working >> 32
        while b in left and left[b] >= working:
            b = left[b]
    return b


def by_number(find):
    def walk(fleet, h):
        on = {node[2] - 1: node for node in fleet.live}
        n = max(list(on) + [s - 1 for s in fleet.removed]) + 1
        removed = [s - 1 for s in fleet.removed]
        yield on[find(removed, n, h)]
        for i in range(32 * len(on)):
            yield on[find(removed, n, stream(~h & MASK, i))]
    return walk


def dx(fleet, h):
    capacity, heaviest = int(fleet.settings["capacity"]), int(fleet.settings["heaviest"]) * 10**6
    bar = {node[2] - 1: (max(1, node[1] * 2**31 // heaviest), node) for node in fleet.live}
    for i in range(1 << 22):
        v = stream(h, i)
        if (v & (capacity - 1)) in bar and v >> 33 < bar[v & (capacity - 1)][0]:
            yield bar[v & (capacity - 1)][1]


def zoned(fleet, h):
    """By a zone of each name's first letter."""
    settings = {k: v for k, v in fleet.settings.items() if k != "level"}
    if id(fleet) not in TABLES:
        names = sorted({n[0][:1] for n in fleet.live})
        inner = {z: Fleet(settings, [n for n in fleet.live if n[0][:1] == z]) for z in names}
        TABLES[id(fleet)] = Fleet(settings, [(z, sum(n[1] for n in f.live), 0) for z, f in inner.items()]), inner
    outer, inner = TABLES[id(fleet)]
    walk = WALKS[settings["algorithm"]]
    order = list(dict.fromkeys(zone[0] for zone in walk(outer, h)))
    for zone in order:
        yield next(walk(inner[zone], stream(h, 0)))
    for zone in order:
        yield from walk(inner[zone], stream(h, 0))


WALKS = {"rendezvous": rendezvous, "slots": slots, "maglev": maglev, "dx": dx, "memento": by_number(memento_slot),
         "jump": by_number(lambda removed, n, h: jump(h, n)), "jumpback": by_number(lambda removed, n, h: jumpback(h, n))}


def replicas(fleet, h, want):
    got = []
    for node in (zoned if "level" in fleet.settings else WALKS[fleet.settings["algorithm"]])(fleet, h):
        if node not in got:
            got.append(node)
        if len(got) == min(want, len(fleet.live)):
            return got
    return got


# ---- the fleets that are looked at ----

def even(n, holes=()):
    slot = [s for s in range(1, n + len(holes) + 1) if s not in holes]
    return [(b"node-%d" % (i * 7 % n), 10**6, slot[i]) for i in range(n)]


WEIGHTED = [(b"cache-0", 10**6, 1), (b"cache-1", 10**6, 2), (b"cache-2", 2 * 10**6, 3), (b"tiny", 50000, 5),
            (b"drained", 0, 0), (b"odd", 1234567, 4)]
FLEETS = [
    Fleet({"algorithm": "rendezvous"}, even(20)), Fleet({"algorithm": "rendezvous"}, WEIGHTED),
    Fleet({"algorithm": "maglev", "table": "251"}, even(20)), Fleet({"algorithm": "maglev", "table": "251"}, WEIGHTED),
    Fleet({"algorithm": "slots", "table": "256"}, even(20)), Fleet({"algorithm": "slots", "table": "100"}, WEIGHTED),
    Fleet({"algorithm": "jump"}, even(1)), Fleet({"algorithm": "jump"}, even(20)), Fleet({"algorithm": "jump"}, even(1000)),
    Fleet({"algorithm": "jumpback"}, even(1)), Fleet({"algorithm": "jumpback"}, even(20)),
    Fleet({"algorithm": "jumpback"}, even(1000)), Fleet({"algorithm": "memento"}, even(20)),
    Fleet({"algorithm": "memento"}, even(20, (3, 9, 24, 1, 22)), (9, 1, 24, 22, 3)),
    Fleet({"algorithm": "memento"}, even(4, range(1, 61)), range(60, 0, -1)),
    Fleet({"algorithm": "dx", "capacity": "32", "heaviest": "1"}, even(20, (4, 8))),
    Fleet({"algorithm": "dx", "capacity": "16", "heaviest": "2"}, WEIGHTED),
]
DOCUMENTED = [(b"cache-0", 10**6, 1), (b"cache-1", 10**6, 2), (b"cache-2", 2 * 10**6, 3)]
THREE = [(name, 10**6, slot) for name, _, slot in DOCUMENTED]
FLEETS += [
    Fleet({"algorithm": "rendezvous"}, DOCUMENTED), Fleet({"algorithm": "maglev", "table": "7"}, DOCUMENTED),
    Fleet({"algorithm": "slots", "table": "8"}, DOCUMENTED),
    Fleet({"algorithm": "dx", "capacity": "4", "heaviest": "2"}, DOCUMENTED), Fleet({"algorithm": "jump"}, THREE),
    Fleet({"algorithm": "jumpback"}, THREE), Fleet({"algorithm": "memento"}, [THREE[0], THREE[2]], (2,)),
]
FLEETS += [Fleet({"algorithm": a, "level": "zone", "table": "101"}, WEIGHTED) for a in ("rendezvous", "maglev", "slots")]
KEYS = [b"", b"a", b"user:0", b"user:1", b"user:3", b"user:7"] + [b"key:%d" % i for i in range(194)]


def lines():
    assert xxh3(b"cache-0") == 0x4B41A4EF40DED2D8 and xxh3(b"") == 0x2D06800538D394C2
    assert xxh3(b"a{user:1}b"[2:8]) == 0x3B577AFD7FED9501
    yield "# SPDX-License-Identifier: Apache-2.0"
    yield "# Made by places.py. fleet, settings, nodes as NAME,MILLIONTHS,SLOT,ZONE, slots given up; then key and replicas."
    for fleet in FLEETS:
        nodes = " ".join(f"{name.decode()},{steps},{slot},{chr(name[0])}" for name, steps, slot in
                         sorted(fleet.live + [n for n in WEIGHTED if n[1] == 0], key=lambda n: -xxh3(n[0])))
        yield "\t".join(["fleet", " ".join(f"{k} {v}" for k, v in fleet.settings.items()), nodes,
                         " ".join(map(str, fleet.removed)) or "-"])
        for key in KEYS:
            yield key.decode() + "\t" + " ".join(n[0].decode() for n in replicas(fleet, xxh3(key), 3))


def main():
    text = "\n".join(lines()) + "\n"
    if sys.argv[1:2] != ["--check"]:
        sys.stdout.write(text)
        return
    with open(sys.argv[2], encoding="utf-8") as f:
        if f.read() != text:
            sys.exit(f"{sys.argv[2]} is not what the rules give")
    print(f"{text.count(chr(10))} lines as the rules give them")


if __name__ == "__main__":
    main()
