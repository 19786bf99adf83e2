# SPDX-License-Identifier: Apache-2.0
"""The hash functions of docs/compat, from their definitions there: bytes in, a number without sign out."""
import hashlib
import struct
import zlib

M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def rotl(x, r, bits=64):
    mask = (1 << bits) - 1
    x &= mask
    return ((x << r) | (x >> (bits - r))) & mask if r else x


def rotr(x, r):
    return rotl(x, (64 - r) % 64)


def signed(x, bits):
    return x - (1 << bits) if x >> (bits - 1) else x


def sx(b):
    return b - 256 if b > 127 else b


def le(data):
    return int.from_bytes(data, "little")


def be(data):
    return int.from_bytes(data, "big")


def crc32(data):
    return zlib.crc32(data)


def le32(data, i=0, name="md5"):
    """Bytes 4i to 4i+3 of a digest: the points and keys of ketama."""
    return le(hashlib.new(name, data).digest()[4 * i:4 * i + 4])


def crc32c(data):
    c = M32
    for b in data:
        c ^= b
        for _ in range(8):
            c = (c >> 1) ^ (0x82F63B78 if c & 1 else 0)
    return c ^ M32


def crc16(data):
    """CRC-16/XMODEM whose accumulator is 32 bits wide and never masked; the slot of Redis is of its low bits."""
    c = 0
    for b in data:
        t = (((c >> 8) ^ b) & 0xFF) << 8
        for _ in range(8):
            t = ((t << 1) ^ (0x1021 if t & 0x8000 else 0)) & 0xFFFF
        c = ((c << 8) & M32) ^ t
    return c


def one_at_a_time(data):
    v = 0
    for b in data:
        v = (v + sx(b)) & M32
        v = (v + (v << 10)) & M32
        v ^= v >> 6
    v = (v + (v << 3)) & M32
    v ^= v >> 11
    return (v + (v << 15)) & M32


def fnv(start, prime, mask, xor_first):
    def run(data):
        h = start
        for b in data:
            if xor_first:
                h = (h ^ sx(b)) & mask
            h = (h * prime) & mask
            if not xor_first:
                h = (h ^ sx(b)) & mask
        return h & M32
    return run


def hsieh(data):
    h, n = 0, len(data)
    for i in range(0, n - n % 4, 4):
        h = (h + le(data[i:i + 2])) & M32
        h = ((h << 16) ^ ((le(data[i + 2:i + 4]) << 11) ^ h)) & M32
        h = (h + (h >> 11)) & M32
    tail = data[n - n % 4:]
    if len(tail) == 3:
        h = (h + le(tail[:2])) & M32
        h ^= (h << 16) & M32
        h ^= (sx(tail[2]) << 18) & M32
        h = (h + (h >> 11)) & M32
    elif len(tail) == 2:
        h = (h + le(tail)) & M32
        h ^= (h << 11) & M32
        h = (h + (h >> 17)) & M32
    elif len(tail) == 1:
        h = (h + tail[0]) & M32
        h ^= (h << 10) & M32
        h = (h + (h >> 1)) & M32
    for left, right in ((3, 5), (4, 17), (25, 6)):
        h ^= (h << left) & M32
        h = (h + (h >> right)) & M32
    return h


def jenkins(data):
    """lookup3 hashlittle, initval 13. The roles of the three words go round, so two short loops are its mix and final."""
    a = b = c = (0xDEADBEEF + len(data) + 13) & M32
    if not data:
        return c
    while len(data) > 12:
        a, b, c = ((x + le(data[i:i + 4])) & M32 for x, i in ((a, 0), (b, 4), (c, 8)))
        for r in (4, 6, 8, 16, 19, 4):
            a, b, c = b, (c + b) & M32, ((a - c) & M32) ^ rotl(c, r, 32)
        data = data[12:]
    a, b, c = ((x + le(data[i:i + 4])) & M32 for x, i in ((a, 0), (b, 4), (c, 8)))
    for r in (14, 11, 25, 16, 4, 14, 24):
        c, a, b = a, b, ((c ^ b) - rotl(b, r, 32)) & M32
    return b


def murmur2_32(data, seed=0):
    m, n = 0x5BD1E995, len(data)
    h = (seed ^ n) & M32
    for i in range(0, n - n % 4, 4):
        k = (le(data[i:i + 4]) * m) & M32
        h = ((h * m) ^ (((k ^ (k >> 24)) * m) & M32)) & M32
    if n % 4:
        h = ((h ^ le(data[n - n % 4:])) * m) & M32
    h = ((h ^ (h >> 13)) * m) & M32
    return h ^ (h >> 15)


def murmur64a(data, seed=0):
    m, n = 0xC6A4A7935BD1E995, len(data)
    h = (seed ^ (n * m)) & M64
    for i in range(0, n - n % 8, 8):
        k = (le(data[i:i + 8]) * m) & M64
        h = ((h ^ (((k ^ (k >> 47)) * m) & M64)) * m) & M64
    if n % 8:
        h = ((h ^ le(data[n - n % 8:])) * m) & M64
    h = ((h ^ (h >> 47)) * m) & M64
    return h ^ (h >> 47)


def murmur3_32(data, seed=0):
    h, n = seed & M32, len(data)
    for i in range(0, n, 4):
        block = data[i:i + 4]
        h ^= (rotl(le(block) * 0xCC9E2D51, 15, 32) * 0x1B873593) & M32
        if len(block) == 4:
            h = (rotl(h, 13, 32) * 5 + 0xE6546B64) & M32
    h ^= n
    h = ((h ^ (h >> 16)) * 0x85EBCA6B) & M32
    h = ((h ^ (h >> 13)) * 0xC2B2AE35) & M32
    return h ^ (h >> 16)


def fmix64(k):
    k = ((k ^ (k >> 33)) * 0xFF51AFD7ED558CCD) & M64
    k = ((k ^ (k >> 33)) * 0xC4CEB9FE1A85EC53) & M64
    return k ^ (k >> 33)


def murmur3_128(data, seed=0, signed_tail=False):
    """(h1, h2); signed_tail is Cassandra's: a byte of the tail is extended by its sign before it is shifted."""
    c1, c2, n = 0x87C37B91114253D5, 0x4CF5AD432745937F, len(data)
    h1 = h2 = seed

    def first(k):
        return (rotl(k * c1, 31) * c2) & M64

    def second(k):
        return (rotl(k * c2, 33) * c1) & M64
    for i in range(0, n - n % 16, 16):
        h1 = ((rotl(h1 ^ first(le(data[i:i + 8])), 27) + h2) * 5 + 0x52DCE729) & M64
        h2 = ((rotl(h2 ^ second(le(data[i + 8:i + 16])), 31) + h1) * 5 + 0x38495AB5) & M64
    k = [0, 0]
    for i, b in enumerate(data[n - n % 16:]):
        k[i // 8] ^= ((sx(b) if signed_tail else b) << (8 * (i % 8))) & M64
    h1, h2 = h1 ^ first(k[0]) ^ n, h2 ^ second(k[1]) ^ n
    h1 = (h1 + h2) & M64
    h2 = (h2 + h1) & M64
    h1, h2 = fmix64(h1), fmix64(h2)
    h1 = (h1 + h2) & M64
    return h1, (h2 + h1) & M64


def siphash(data, k0=0, k1=0, wide=False):
    """SipHash-2-4; wide: ClickHouse's own sipHash128, as (v0^v1, v2^v3)."""
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rounds(count):
        for _ in range(count):
            for a, b, c, d, r, s, in ((0, 1, 2, 3, 13, 16), (2, 1, 0, 3, 17, 21)):
                v[a] = (v[a] + v[b]) & M64
                v[c] = (v[c] + v[d]) & M64
                v[b] = rotl(v[b], r) ^ v[a]
                v[d] = rotl(v[d], s) ^ v[c]
                v[a] = rotl(v[a], 32)
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 0xFF])
    for i in range(0, len(padded), 8):
        m = le(padded[i:i + 8])
        v[3] ^= m
        rounds(2)
        v[0] ^= m
    v[2] ^= 0xFF
    rounds(4)
    return (v[0] ^ v[1], v[2] ^ v[3]) if wide else v[0] ^ v[1] ^ v[2] ^ v[3]


P32 = 2654435761, 2246822519, 3266489917, 668265263, 374761393


def xxh32(data, seed=0):
    p1, p2, p3, p4, p5 = P32
    n, at = len(data), 0
    if n >= 16:
        v = [(seed + p1 + p2) & M32, (seed + p2) & M32, seed, (seed - p1) & M32]
        while at + 16 <= n:
            v = [(rotl(x + le(data[at + 4 * i:at + 4 * i + 4]) * p2, 13, 32) * p1) & M32 for i, x in enumerate(v)]
            at += 16
        h = sum(rotl(x, r, 32) for x, r in zip(v, (1, 7, 12, 18)))
    else:
        h = seed + p5
    h = (h + n) & M32
    while at + 4 <= n:
        h = (rotl(h + le(data[at:at + 4]) * p3, 17, 32) * p4) & M32
        at += 4
    for b in data[at:]:
        h = (rotl(h + b * p5, 11, 32) * p1) & M32
    h = ((h ^ (h >> 15)) * p2) & M32
    h = ((h ^ (h >> 13)) * p3) & M32
    return h ^ (h >> 16)


P64 = 11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261


def xxh64(data, seed=0):
    p1, p2, p3, p4, p5 = P64

    def turn(x, word):
        return (rotl(x + word * p2, 31) * p1) & M64
    n, at = len(data), 0
    if n >= 32:
        v = [(seed + p1 + p2) & M64, (seed + p2) & M64, seed, (seed - p1) & M64]
        while at + 32 <= n:
            v = [turn(x, le(data[at + 8 * i:at + 8 * i + 8])) for i, x in enumerate(v)]
            at += 32
        h = sum(rotl(x, r) for x, r in zip(v, (1, 7, 12, 18))) & M64
        for x in v:
            h = ((h ^ turn(0, x)) * p1 + p4) & M64
    else:
        h = seed + p5
    h = (h + n) & M64
    while at + 8 <= n:
        h = (rotl(h ^ turn(0, le(data[at:at + 8])), 27) * p1 + p4) & M64
        at += 8
    if at + 4 <= n:
        h = (rotl(h ^ ((le(data[at:at + 4]) * p1) & M64), 23) * p2 + p3) & M64
        at += 4
    for b in data[at:]:
        h = (rotl(h ^ ((b * p5) & M64), 11) * p1) & M64
    h = ((h ^ (h >> 33)) * p2) & M64
    h = ((h ^ (h >> 29)) * p3) & M64
    return h ^ (h >> 32)


def mix128(u, v):
    """Hash128to64."""
    m = 0x9DDFEA08EB382D69
    a = ((u ^ v) * m) & M64
    a ^= a >> 47
    b = ((v ^ a) * m) & M64
    return ((b ^ (b >> 47)) * m) & M64


FNV1_64 = fnv(0xCBF29CE484222325, 0x100000001B3, M64, False)
FNV1A_64 = fnv(0x84222325, 0x1B3, M32, True)
FNV1_32 = fnv(2166136261, 16777619, M32, False)
FNV1A_32 = fnv(2166136261, 16777619, M32, True)


def murmur_beef(data):
    return murmur2_32(data, 0xDEADBEEF * len(data))


# libmemcached's and twemproxy's words (section 0.1).
SHARED = {"md5": le32, "fnv1_64": FNV1_64, "fnv1a_64": FNV1A_64, "fnv1_32": FNV1_32, "fnv1a_32": FNV1A_32,
          "hsieh": hsieh, "murmur": murmur_beef, "jenkins": jenkins}
LIBMEMCACHED = {**SHARED, "default": one_at_a_time, "crc": lambda d: (crc32(d) >> 16) & 0x7FFF,
                "murmur3": lambda d: murmur3_32(d, 0xDEADBEEF * len(d))}
TWEMPROXY = {**SHARED, "one_at_a_time": one_at_a_time, "crc16": crc16, "crc32": lambda d: (crc32(d) >> 16) & 0x7FFF,
             "crc32a": crc32}
