# SPDX-License-Identifier: Apache-2.0
"""Systems that number their buckets: jump, Guava, ClickHouse, mcrouter and the partition maps (SPEC-databases)."""
import hashlib
import math
import struct

from blocks import city64, des_zero, spooky32
from form import by_column, unquote
from hashes import (M32, M64, be, crc32, crc32c, fmix64, le, mix128, murmur2_32, murmur3_128, murmur3_32, murmur64a,
                    rotr, signed, siphash, xxh64)


def jump(key, n, form="published"):
    b, j = -1, 0
    while j < n:
        b = j
        key = (key * 2862933555777941757 + 1) & M64
        x = (key >> 33) + 1
        if form == "guava":
            j = int((b + 1) / (x / 2147483648.0))
        elif form == "exact":
            j = ((b + 1) << 31) // x
        else:
            j = int((b + 1) * (2147483648.0 / x))
    return b


def per_row(head, cell):
    """The table of a file whose columns after the key are each cell(key bytes or number, name)."""
    number = "int" in head.raw("key_type", "bytes")

    def row(cells):
        key = int(cells[0]) if number else unquote(cells[0])
        return [cells[0]] + [str(cell(key, name)) for name in head.columns[1:]]
    return lambda inputs: [row(cells) for cells in inputs]


def jump_file(head):
    if head.columns[1] == "buckets":
        return lambda inputs: [cells[:2] + [str(jump(int(cells[0]), int(cells[1]), name.split("@")[1]))
                                            for name in head.columns[2:]] for cells in inputs]
    return per_row(head, lambda key, name: jump(key & M64, int(name.split("@")[1])))


def guava(head):
    seed, sip = head.number("seed", 0), bytes.fromhex(head.raw("siphash_key", "00" * 16))
    codes = {"murmur3_128": lambda k: b"".join(h.to_bytes(8, "little") for h in murmur3_128(k, seed)),
             "sipHash24": lambda k: siphash(k, le(sip[:8]), le(sip[8:])).to_bytes(8, "little"),
             "murmur3_32_fixed": lambda k: murmur3_32(k, seed).to_bytes(4, "little"),
             "sha256": lambda k: hashlib.sha256(k).digest(), "crc32c": lambda k: crc32c(k).to_bytes(4, "little")}

    def cell(key, name):
        kind, what = name.split("@")
        if kind == "hex":
            return codes[what](key).hex()
        n, _, function = what.partition(":")
        return jump(le(codes[function](key)[:8]) if function else key & M64, int(n), "guava")
    return per_row(head, cell)


def int_hash64(n):
    return fmix64((n & M64) ^ 0x4CF2D2BAAE6DA887)


def int_hash32(n):
    k = (n & M64) ^ 0x75D9543DE018BF45
    k = ((k ^ M64) + (k << 18)) & M64
    k = ((k ^ rotr(k, 31)) * 21) & M64
    k ^= rotr(k, 11)
    k = (k + (k << 6)) & M64
    return (k ^ rotr(k, 22)) & M32


def half_md5(key):
    return be(hashlib.md5(key).digest()[:8])


STRINGS = {"sipHash64": siphash, "cityHash64": city64, "halfMD5": half_md5, "murmurHash2_32": murmur2_32,
           "murmurHash2_64": murmur64a, "murmurHash3_32": murmur3_32, "xxHash64": xxh64,
           "murmurHash3_64": lambda k: murmur3_128(k)[0] ^ murmur3_128(k)[1]}
WIDE = {"sipHash128": lambda k: siphash(k, wide=True), "murmurHash3_128": murmur3_128}


def clickhouse_hash(name, key, types):
    """F of the key: as it is, converted, or of two arguments."""
    def one(kind):
        if kind == "string":
            return STRINGS[name](str(key).encode())
        size = 4 if kind.endswith("32") else 8
        value = key & ((1 << (8 * size)) - 1)
        return int_hash64(value) if name == "cityHash64" else STRINGS[name](value.to_bytes(size, "little"))
    if isinstance(key, bytes):
        return STRINGS[name](key)
    if name in ("intHash64", "intHash32"):
        return {"intHash64": int_hash64, "intHash32": int_hash32}[name](key)
    h = [one(kind) for kind in types]
    while len(h) > 1:
        pair = mix128(h[0], h[1]) if name == "cityHash64" else siphash(struct.pack("<QQ", h[0], h[1]))
        h = [pair] + h[2:]
    return h[0]


def yandex(x, n):
    a, b, c, d = (x >> s & 0xFFFF for s in (0, 16, 32, 48))

    def power(k):
        cb = c & (k - 1)
        if cb < 2:
            return cb
        top = 1 << (cb.bit_length() - 1)
        return top + ((a if cb.bit_count() % 2 == 0 else b) & (top - 1))
    if n == 1:
        return 0
    k = (n - 1).bit_length()
    low = power(1 << k)
    if low < n:
        return low
    t = (d << (16 - k)) | (c >> k)
    t = (t << (17 - k)) | (b >> (k - 1))
    t = ((t << (17 - k)) | (a >> (k - 1))) & M64
    m = (t % (low * (low + 1))) // (1 << k) + (1 << (k - 1))
    return m if m < n else power(1 << (k - 1))


def sumbur(h, n):
    t = M32
    part = t // n
    if t - h < part:
        return 0
    s = 1
    if h >= t // 2:
        h -= t // 2
    else:
        s = 2
        if t // 2 - h < part:
            return 1
    if n == 2:
        return 1
    for i in range(3, n + 1):
        c = t // (i * (i - 1))
        if c <= h:
            h -= c
        else:
            h = (h + c * (i - s - 1)) & M32
            s = i
            if ((t // i - h) & M32) < part:
                return s - 1
    return s - 1


def clickhouse(head):
    mode, hashed, kind = head.raw("mode"), head.raw("hash", "none"), head.raw("key_type", "bytes")
    if mode == "hash":
        def cell(key, name):
            form, _, what = name.partition("@")
            function, *types = what.split(":")
            if form == "hex":
                return b"".join(h.to_bytes(8, "little") for h in WIDE[function](key)).hex().upper()
            return clickhouse_hash(function, key, types or [kind])
        return per_row(head, cell)

    def value(key):
        return key if hashed == "none" else clickhouse_hash(hashed, key, [kind])
    if mode == "distributed":
        slots = [i for i, w in enumerate(head.items("index_weights")) for _ in range(int(w))]
        width = M32 if hashed == "none" and kind in ("int32", "uint32") else M64
        return per_row(head, lambda key, _: slots[(value(key) & width) % len(slots)])
    place = {"jumpConsistentHash": jump, "yandexConsistentHash": yandex, "sumburConsistentHash": sumbur}[mode]
    cast = M32 if head.raw("key_cast") == "uint32" else M64
    return per_row(head, lambda key, name: place(value(key) & cast, int(name.split("@")[1])))


FURC = 4193360111


def furc(key, n):
    if n <= 1:
        return 0
    words = [murmur64a(key, FURC)]

    def bit(i):
        while len(words) <= i // 64:
            words.append(murmur64a(struct.pack("<Q", words[-1]), FURC))
        return words[i // 64] >> (i % 64) & 1
    a = d = (n - 1).bit_length()
    for _ in range(32):
        while not bit(a):
            d -= 1
            if d == 0:
                return 0
            a = d
        a += 23
        num = 1
        for _ in range(d - 1):
            num = 2 * num + bit(a)
            a += 23
        if num < n:
            return num
    return 0


def weighted_ch3(key, weights):
    k = key
    for attempt in range(32):
        i = furc(k, len(weights))
        if spooky32(k, 0xFACE2014) < int(weights[i] * 4294967295.0):
            return i
        k = key + str(attempt)[::-1].encode()
    return i


def mcrouter(head):
    mode = head.raw("mode")
    if mode == "hash":
        seeds = dict(item.split(":") for item in head.items("seed"))
        codes = {"MurmurHash64A": lambda k: murmur64a(k, int(seeds["MurmurHash64A"])), "crc32": crc32,
                 "SpookyHashV2_32": lambda k: spooky32(k, int(seeds["SpookyHashV2_32"]))}
        return per_row(head, lambda key, name: codes[name.split("@")[1]](key))
    if mode == "unit":
        return lambda inputs: [cells + [str(unit(*cells))] for cells in inputs]
    if mode in ("Ch3", "Crc32"):
        return per_row(head, lambda key, name: unit_bucket(mode.lower(), key, int(name.split("@")[1])))
    if mode == "WeightedCh3":
        weights = [float(w) for w in head.items("index_weights")]
        return per_row(head, lambda key, _: weighted_ch3(key, weights))
    nodes = head.nodes
    ends = [murmur64a(node.name, FURC) for node in nodes]

    def scores(key):
        kh = murmur64a(key, 2718281828)
        return [mix128(kh, e) for e in ends]
    if mode == "Rendezvous":
        def cell(key, name):
            ranked = sorted(((float(s), i) for i, s in enumerate(scores(key))), reverse=True)
            if name == "index":
                return ranked[0][1]
            return ",".join(str(i) for _, i in ranked[:head.number("failovers")])
        return per_row(head, cell)

    def weighted(key, _):
        best, chosen = -1.0, 0
        for i, s in enumerate(scores(key)):
            u = (s & ((1 << 53) - 1)) / (1 << 53)
            score = float(nodes[i].weight) * (1.0 / -math.log(u))
            if score > best:
                best, chosen = score, i
        return chosen
    return per_row(head, weighted)


def unit_bucket(function, key, n):
    return furc(key, n) if function == "ch3" else (crc32(key) & 0x7FFFFFFF) % n


def unit(function, pool, key):
    if function == "wch3":
        weight, n = pool.split(" x ") if " x " in pool else pool.split("%20x%20")
        return weighted_ch3(unquote(key), [float(weight)] * int(n))
    return unit_bucket(function, unquote(key), int(pool))


def kafka(head):
    def cell(key, name):
        h = murmur2_32(key, 0x9747B28C)
        return signed(h, 32) if name == "hash" else (h & 0x7FFFFFFF) % int(name.split("@")[1])
    return per_row(head, cell)


def elasticsearch(head):
    def cell(key, name):
        h = signed(murmur3_32(key.decode().encode("utf-16-le")), 32)
        if name == "hash":
            return h
        shards, routing = (int(x) for x in name.split("@")[1].split(":"))
        return h % routing // (routing // shards)
    return per_row(head, cell)


def couchbase(head):
    def cell(key, name):
        h = crc32(key) >> 16 & 0x7FFF
        return h if name == "hash" else h % int(name.split("@")[1])
    return per_row(head, cell)


def vitess(head):
    def cell(key, name):
        if head.raw("hash") == "hash":
            ksid = des_zero(key & M64).to_bytes(8, "big")
        else:
            ksid = xxh64(key).to_bytes(8, "little")
        return ksid.hex() if name == "keyspace_id" else be(ksid) * int(name.split("@")[1]) >> 64
    return per_row(head, cell)


def mongodb(head):
    def found(cell):
        kind, value = cell.split(":", 1)
        if kind == "str":
            data = unquote(value)
            tag, body = 15, struct.pack("<i", len(data) + 1) + data + b"\0"
        elif kind == "bool":
            tag, body = 40, bytes([value == "true"])
        elif kind == "oid":
            tag, body = 35, bytes.fromhex(value)
        else:
            tag, body = (10 if kind == "int" else 45), struct.pack("<q", int(value))
        return {"hash": signed(le(hashlib.md5(struct.pack("<ii", 0, tag) + body).digest()[:8]), 64)}
    return by_column(head, found)


def aerospike(head):
    def found(cell):
        group, kind, value = cell.split("|", 2)
        number = {"int": 1, "str": 3, "blob": 4}[kind]
        body = struct.pack(">q", int(value)) if kind == "int" else unquote(value)
        digest = hashlib.new("ripemd160", unquote(group) + bytes([number]) + body).digest()
        return {"digest": digest.hex(), "partition": le(digest[:2]) & 4095}
    return by_column(head, found)


def riak(head):
    nodes, size, bucket = head.nodes, head.number("ring_creation_size", 64), head.bytes("bucket_name")

    def binary(data):
        return b"\x6d" + struct.pack(">I", len(data)) + data

    def found(key):
        digest = hashlib.sha1(b"\x83\x68\x02" + binary(bucket) + binary(unquote(key))).digest()
        first = be(digest) // ((1 << 160) // size) + 1
        parts = [(first + i) % size for i in range(head.number("n_val"))]
        return {"digest": digest.hex(), "preflist": ",".join(f"{p}:{nodes[p % len(nodes)].text}" for p in parts)}
    return by_column(head, found)


TABLES = {"jump": jump_file, "guava": guava, "clickhouse": clickhouse, "mcrouter": mcrouter, "kafka": kafka,
          "elasticsearch": elasticsearch, "couchbase": couchbase, "vitess": vitess, "mongodb": mongodb,
          "aerospike": aerospike, "riak": riak}
