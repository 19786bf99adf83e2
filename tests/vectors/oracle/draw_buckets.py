# SPDX-License-Identifier: Apache-2.0
"""Draws of the systems that number their buckets."""
from buckets import STRINGS
from draw import address, head, integer, key, keys, listed, names, utf8, weights
from draw_rings import columns
from form import quote

COUNTS = [1, 2, 3, 4, 5, 7, 8, 10, 16, 20, 33, 100, 257, 1000, 32768]
INTEGERS = ["int32", "int64", "uint64"]
GUAVA = ["murmur3_128", "sipHash24", "murmur3_32_fixed", "sha256", "crc32c"]
OF_NUMBERS = ["intHash32", "intHash64", "cityHash64", "sipHash64", "halfMD5", "murmurHash3_64", "murmurHash2_64", "murmurHash2_32"]


def at(rng, word, most=1 << 31, more=()):
    return [f"{word}@{n}" for n in [*rng.sample([n for n in COUNTS if n <= most], 5), *more]]


def jump(rng):
    kind = rng.choice(INTEGERS)
    h, given = head("jump", "2014", mode="jump", key_type=kind), keys(rng, integer(kind))
    if rng.random() < 0.5:
        return h | {"columns": ",".join(["key", *at(rng, "bucket", more=[(1 << 31) - 1])])}, given
    forms = rng.sample(["published", "clickhouse", "guava", "exact"], rng.randrange(1, 5))
    return (h | {"columns": ",".join(["key", "buckets", *(f"bucket@{form}" for form in forms)])},
            [row + [str(rng.choice([*COUNTS, (1 << 31) - 1]))] for row in given])


def guava(rng):
    kind, mode = rng.choice(["bytes", "bytes", "uint64", "int64"]), rng.choice(["hash", "consistentHash"])
    h = head("guava", "31.1", mode="consistentHash", key_type=kind)
    if kind != "bytes":
        return h | {"columns": ",".join(["key", *at(rng, "bucket")])}, keys(rng, integer(kind))
    h |= {"seed": 0, "siphash_key": bytes(range(16)).hex(), "mode": mode}
    if mode == "consistentHash":
        return h | {"columns": ",".join(["key", *(f"bucket@{rng.choice(COUNTS)}:{f}" for f in GUAVA)])}, keys(rng)
    if rng.random() < 0.5:
        h |= {"seed": rng.getrandbits(32), "siphash_key": rng.randbytes(16).hex()}
    return columns(rng, h, [f"hex@{f}" for f in GUAVA]), keys(rng)


def clickhouse_hash(rng):
    h = head("clickhouse", "18.16.1", mode="hash", key_type=rng.choice(["bytes", *INTEGERS]))
    if h["key_type"] == "bytes":
        every = [*(f"hash@{f}" for f in STRINGS), "hex@sipHash128", "hex@murmurHash3_128"]
        return h | {"columns": ",".join(["key", *rng.sample(every, 5)])}, keys(rng)
    types = ["", ":uint32", ":uint64", ":int64", ":string", ":uint64:string", ":uint32:uint64", ":uint64:string:uint32:int64"]
    every = [f"hash@{f}{t}" for f in ("cityHash64", "sipHash64") for t in types] + [f"hash@{f}" for f in OF_NUMBERS]
    return h | {"columns": ",".join(["key", *rng.sample(sorted(set(every)), 5)])}, keys(rng, integer(h["key_type"]))


def clickhouse(rng):
    mode = rng.choice(["distributed", "jumpConsistentHash", "yandexConsistentHash", "sumburConsistentHash", "hash"])
    if mode == "hash":
        return clickhouse_hash(rng)
    kind = rng.choice(["bytes", *INTEGERS])
    h = head("clickhouse", "18.16.1", mode=mode, key_type=kind)
    h["hash"] = rng.choice(list(STRINGS)) if kind == "bytes" else rng.choice(["none", "none", *OF_NUMBERS])
    given = keys(rng, key if kind == "bytes" else integer(kind))
    if mode == "distributed":
        w = rng.choice([[0, 1, 5], [1], [1000, 1, 999], weights(rng, rng.randrange(1, 100), 100)])
        return h | {"index_weights": ",".join(map(str, w)), "columns": "key,index"}, given
    sumbur = mode == "sumburConsistentHash"
    if sumbur:
        h["key_cast"] = "uint32"
    return h | {"columns": ",".join(["key", *at(rng, "bucket", 1000 if sumbur else 32768)])}, given


def mcrouter_unit(rng):
    given = []
    for row in keys(rng):
        function, n = rng.choice(["ch3", "crc32", "wch3"]), rng.choice(COUNTS)
        pool = f"{rng.choice(['1.0', '0.5', '0.0', '0.3'])} x {n}" if function == "wch3" else str(n)
        given.append([function, pool, *row])
    return given


def fraction(rng):
    return rng.choice([0, 1, 0.5, 0.05, 0.001, 0.9999, round(rng.random(), 3), round(rng.random(), 6)])


def mcrouter(rng):
    mode = rng.choice(["Ch3", "Crc32", "WeightedCh3", "Rendezvous", "WeightedRendezvous", "hash", "unit"])
    h = head("mcrouter", "2026", mode=mode, key_type="bytes")
    if mode == "unit":
        return h | {"columns": "function,pool,key,index"}, mcrouter_unit(rng)
    if mode == "hash":
        h["seed"] = f"SpookyHashV2_32:{rng.getrandbits(32)},MurmurHash64A:{rng.getrandbits(64)}"
        return columns(rng, h, ["hash@MurmurHash64A", "hash@crc32", "hash@SpookyHashV2_32"]), keys(rng)
    if mode in ("Ch3", "Crc32"):
        return h | {"columns": ",".join(["key", *at(rng, "bucket", more=[1 << 23 if mode == "Ch3" else (1 << 31) - 1])])}, keys(rng)
    n = rng.choice([1, 2, 5, 20, 60])
    if mode == "WeightedCh3":
        return h | {"index_weights": ",".join(str(fraction(rng)) for _ in range(n)), "columns": "key,index"}, keys(rng)
    w = weights(rng, n)
    if mode == "Rendezvous":
        h |= {"failovers": rng.randrange(1, n + 3)}
    elif rng.random() < 0.5:
        w = [1] + [fraction(rng) for _ in range(n - 1)]
    h |= {"nodes": listed(names(rng, n, address), w), "columns": "key,index,failover" if mode == "Rendezvous" else "key,index"}
    return h, keys(rng)


def kafka(rng):
    h = head("kafka", "unspecified", mode="partition", hash="murmur2", hash_type="int32", key_type="bytes")
    return columns(rng, h, ["hash", *at(rng, "partition", more=[(1 << 31) - 1])]), keys(rng)


def elasticsearch(rng):
    shards = [(s, s * rng.choice([1, 2, 3, 64, 128])) for s in rng.sample([1, 2, 3, 4, 5, 6, 7, 11, 20, 31, 100, 1024], 5)]
    h = head("elasticsearch", "unspecified", mode="routing", hash="murmur3_x86_32", seed=0, hash_type="int32", routing_partition_size=1,
             key_type="utf8")
    return columns(rng, h, ["hash", *(f"shard@{s}:{r}" for s, r in shards)]), keys(rng, utf8)


def couchbase(rng):
    h = head("couchbase", "unspecified", mode="vbucket", hash="crc32", hash_type="uint32", key_type="bytes")
    return columns(rng, h, ["hash", *at(rng, "vbucket", more=[1024, 65536])]), keys(rng)


def vitess(rng):
    name, kind = rng.choice([("hash", "uint64"), ("hash", "int64"), ("xxhash", "bytes"), ("xxhash", "utf8")])
    shards = [f"shard@{1 << k}" for k in rng.sample(range(13), 4)]
    h = head("vitess", "unspecified", mode="vindex", hash=name, key_type=kind)
    return columns(rng, h, ["keyspace_id", *shards]), keys(rng, integer(kind) if name == "hash" else utf8 if kind == "utf8" else key)


def mongodb(rng):
    h = head("mongodb", "unspecified", mode="hashed", hash="md5", seed=0, hash_type="int64", key_type="type-value", columns="key,hash")
    number = (lambda: integer("int64")(rng).decode())
    values = {"str": lambda: quote(utf8(rng)), "int": number, "date": number,
              "bool": lambda: rng.choice(["true", "false"]), "oid": lambda: rng.randbytes(12).hex()}
    return h, [[f"{kind}:{values[kind]()}"] for kind in rng.choices(list(values), k=40)]


def aerospike(rng):
    h = head("aerospike", "unspecified", mode="partition", hash="ripemd160", partitions=4096, key_type="set-type-value")
    values = {"str": lambda: quote(utf8(rng)), "int": lambda: integer("int64")(rng).decode(), "blob": lambda: quote(key(rng))}
    sets = ["", "demo", "a%7Cb%25", quote(utf8(rng).replace(b"\0", b""))]
    return (columns(rng, h, ["digest", "partition"]),
            [[f"{rng.choice(sets)}|{kind}|{values[kind]()}"] for kind in rng.choices(list(values), k=12)])


DRAWS = {"jump": jump, "guava": guava, "clickhouse": clickhouse, "mcrouter": mcrouter, "kafka": kafka, "elasticsearch": elasticsearch,
         "couchbase": couchbase, "vitess": vitess, "mongodb": mongodb, "aerospike": aerospike}
