# SPDX-License-Identifier: Apache-2.0
"""What a file is drawn from: names, weights and keys, the ordinary ones and the odd ones.

A draw is a function of a random.Random that returns header fields, rows cut down to what is given, and, where
the file names others beside it, those: {name: bytes}.
"""
import zlib

from form import quote

WORDS = ["cache", "node", "web", "db-east", "r", "store.example.net", "CACHE", "x"]
ODD_KEYS = [b"", b"\0", b"a\0b", b"\xff" * 3, b"\x80", b"%41", b"%", b"+", b" ", b"a b", b"\t", b"\n", b"\r\n", b"#", b"{", b"{}",
            b"{}{a}", b"{{a}}", b"foo{bar}{zap}", b"}{", b"::", b":a:b", "caf\u00e9".encode(), "\U0001F600".encode(), b"=",
            b",*|/", b"9" * 20, b"x" * 250, b"\xc3\xa9" * 500]
LENGTHS = [1, 2, 3, 4, 7, 8, 9, 12, 13, 15, 16, 17, 31, 32, 33, 63, 64, 65, 191, 192, 193, 1024]


def head(system, version, **fields):
    """Fields of line 1; those of None are left out."""
    return {"system": system, "version": version, **{k: v for k, v in fields.items() if v is not None}}


# ---- fleets ----

def size(rng, most=200):
    return min(most, rng.choice([1, 2, 2, 3, 4, 5, 7, 10, 16, 25, 50, rng.randrange(1, 201)]))


def ipv4(rng):
    return f"{rng.randrange(1, 255)}.{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(256)}"


def port(rng):
    return rng.choice([11211, 6379, 80, 1, 65535, rng.randrange(1, 65536)])


def ipv6(rng):
    a, b = rng.randrange(1, 65536), rng.randrange(256)
    return rng.choice([f"[2001:db8::{a:x}]", f"[2001:DB8:0:0:0:0:{a:X}:1]", f"[::ffff:10.0.{b}.{b}]", f"[{a:x}::]"])


def ip_port(rng):
    return f"{ipv6(rng) if rng.random() < 0.3 else ipv4(rng)}:{port(rng)}"


def ipv4_port(rng):
    return f"{ipv4(rng)}:{port(rng)}"


def address(rng):
    """host:port of one of the usual forms."""
    host = f"{rng.choice(WORDS)}-{rng.randrange(1000)}"
    return rng.choice([ip_port(rng), ip_port(rng), f"{host}:{port(rng)}", f"{host}.{'very-' * rng.randrange(40)}long.net:{port(rng)}"])


def free(rng):
    """A name of any form that a configuration could give."""
    n = rng.randrange(1000)
    return rng.choice([f"/run/{n}.sock", f"caf\u00e9-{n}\u4e16", f"a,b*{n}%41= z", f"n{n}" + "long" * rng.randrange(60), f"x{n}",
                       b"raw\xff\x80%d" % n, f"h{n}:", f"h{n}:a", f"h{n}:-1", f"h{n}:080", f"h{n}:112110", address(rng)])


def names(rng, n, one):
    """n different names, encoded, in no order."""
    found = {}
    while len(found) < n:
        found[quote(one(rng))] = None
    return list(found)


def weights(rng, n, most=1000):
    """Equal, small, one heavy, steep, equal and large, any."""
    heavy = [1] * n
    heavy[rng.randrange(n)] = most
    return rng.choice([[1] * n, [rng.randrange(1, min(most, 8) + 1) for _ in range(n)], heavy,
                       [min(most, 2 ** rng.randrange(11)) for _ in range(n)], [rng.randrange(1, most + 1)] * n,
                       [rng.randrange(1, most + 1) for _ in range(n)]])


def listed(texts, weighted=None):
    return ",".join(f"{t}*{w}" for t, w in zip(texts, weighted or [1] * len(texts)))


def gone(rng, texts):
    """Some of the nodes, now and then all but one."""
    if len(texts) < 2:
        return []
    return texts[1:] if rng.random() < 0.1 else rng.sample(texts, rng.randrange(1, len(texts) // 2 + 1))


# ---- keys ----

def key(rng):
    kind = rng.randrange(6)
    if kind == 0:
        return rng.choice(ODD_KEYS)
    if kind == 1:
        return rng.randbytes(rng.choice(LENGTHS))
    if kind == 2:
        return bytes(rng.randrange(128, 256) for _ in range(rng.randrange(1, 40)))
    if kind == 3:
        return f"user:{{{rng.randrange(10000)}}}:{rng.randrange(100)}".encode()
    return f"{rng.choice(['user', 'session', 'item/'])}:{rng.randrange(10 ** 6)}".encode()


def utf8(rng):
    return "".join(chr(rng.choice([rng.randrange(0, 127), rng.randrange(0x80, 0x800), rng.randrange(0x800, 0xD800),
                                   rng.randrange(0x10000, 0x110000)])) for _ in range(rng.randrange(0, 30))).encode()


def integer(kind):
    """A draw of decimal numbers of int32, int64, uint32 or uint64: its ends, small ones, sparse ones, any."""
    bits = int(kind[-2:])
    low = -(1 << (bits - 1)) if kind[0] == "i" else 0
    high = low + (1 << bits) - 1

    def draw(rng):
        sparse = rng.getrandbits(64) & rng.getrandbits(64) & rng.getrandbits(64) & rng.choice([-1, 0xFFFF, 0xFFFF0000FFFF])
        chosen = rng.choice([low, high, 0, low + 1, high - 1, rng.randrange(-1000, 1000), sparse, rng.randint(low, high)])
        return str(max(low, min(high, chosen))).encode()
    return draw


def rows(texts):
    return [[quote(text)] for text in texts]


def keys(rng, some=key, count=40):
    return rows(some(rng) for _ in range(count))


STEPS = [zlib.crc32(bytes([i ^ 0xFF])) ^ 0xFF000000 for i in range(256)]  # the table of the CRC, from what it gives of a byte
BY_TOP = {step >> 24: i for i, step in enumerate(STEPS)}


def forged(prefix, target):
    """prefix and four bytes more, so that the CRC-32 of all is target."""
    state, indices = target ^ 0xFFFFFFFF, []
    for _ in range(4):
        indices.insert(0, BY_TOP[state >> 24])
        state = ((state ^ STEPS[indices[0]]) << 8) & 0xFFFFFFFF
    state = zlib.crc32(prefix) ^ 0xFFFFFFFF
    for index in indices:
        prefix += bytes([(state & 0xFF) ^ index])
        state = (state >> 8) ^ STEPS[index]
    return prefix


def near_points(rng, points, count=40):
    """Keys whose CRC-32 is a point, is next to it, or stands half way to the next; and the ends of the ring."""
    points, targets = sorted(points), [0, 0xFFFFFFFF]
    for _ in range(count):
        i = rng.randrange(len(points))
        half = ((points[(i + 1) % len(points)] - points[i]) & 0xFFFFFFFF) // 2
        targets.append(points[i] + rng.choice([-1, 0, 0, 1, half, half, half + 1]))
    return rows(forged(rng.randbytes(2), target & 0xFFFFFFFF) for target in targets)
