# SPDX-License-Identifier: Apache-2.0
"""Draws of Envoy, gRPC, Cassandra, Swift, Riak and the sample programs."""
import gzip
import json
import struct

import rings
from draw import address, free, head, integer, ip_port, key, keys, listed, names, rows, size, utf8, weights
from form import Head, quote, unquote


def columns(rng, h, most, least=1):
    """Some of the columns after the key, in any order."""
    rest = rng.sample(most, rng.randrange(least, len(most) + 1)) if rng.random() < 0.3 else most
    return h | {"columns": ",".join(["key", *rest])}


def points_of(rng, texts):
    """Keys that are the text of a point."""
    return rows(unquote(rng.choice(texts)) + b"_%d" % rng.randrange(9) for _ in range(10))


def localities(rng, n):
    places = [rng.choice(["A", "B", "us-east-1a/z"]) for _ in range(n)]
    weighted = {place: rng.randrange(1 if place == places[0] else 0, 9) for place in rng.sample(sorted(set(places)), len(set(places)))}
    return {"localities": ",".join(places), "locality_weights": listed(weighted, weighted.values())}


def envoy(rng):
    mode, n = rng.choice(["ring_hash", "ring_hash", "maglev"]), rng.choice([1, 2, 3, 5, 20, 60])
    texts = names(rng, n, address)
    h = head("envoy", "2020", mode=mode, nodes=listed(texts, weights(rng, n, rng.choice([8, 50]))))
    if mode == "maglev":
        h["table_size"] = rng.choice([p for p in (2, 3, 5, 7, 17, 251, 1009) if p >= n])
    else:
        low = rng.choice([1, 7, 50, 256])
        h |= {"hash": rng.choice(["XX_HASH", "MURMUR_HASH_2"]), "minimum_ring_size": low,
              "maximum_ring_size": rng.choice([low, low + 13, 4096])}
    if rng.random() < 0.2:
        h["use_hostname_for_hashing"] = 1
    if rng.random() < 0.4:
        h |= localities(rng, n)
    if rng.random() < 0.3:
        return h | {"columns": "slot,node" if mode == "maglev" else "point,node"}, None
    if mode == "ring_hash":
        ring = rings.envoy_ring(Head({k: str(v) for k, v in h.items()}))
        counts = [sum(owner == text for _, owner in ring) for text in texts]
        if all(counts):  # it reports hosts that are in the ring
            h |= {"ring_size": len(ring), "min_points": min(counts), "max_points": max(counts)}
    h |= {"request_hash": "xxHash64", "hash_type": "uint64", "key_type": "bytes"}
    return columns(rng, h, ["node", "hash", "attempt1", "attempt2"]), keys(rng) + points_of(rng, texts)


def grpc(rng):
    client, n, low = rng.choice(["go", "java", "go,java"]), rng.choice([1, 2, 3, 5, 20, 60]), rng.choice([1, 4, 10, 30, 256])
    texts = names(rng, n, rng.choice([address, ip_port]))
    h = head("grpc", "2026", mode="ring_hash", implementation=client, min_ring_size=low, max_ring_size=rng.choice([low, low + 3, 4096]),
             nodes=listed(texts, weights(rng, n, rng.choice([8, 50]))), hash_type="uint64")
    if "java" in client:
        h["order"] = ",".join(rng.sample(texts, n))
    if client == "go,java":
        return h | {"columns": "hash,node@go,node@java"}, keys(rng, integer("uint64"))
    h |= {"request_hash": "xxHash64", "key_type": "bytes"}
    spelled = texts if client == "go" else [quote(rings.java_text(unquote(t))) for t in texts]
    return (columns(rng, h, ["node", "hash", "next"] if client == "go" else ["node@java", "hash", "ring_index"]),
            keys(rng) + points_of(rng, spelled))


def cassandra(rng):
    partitioner = rng.choice(["Murmur3Partitioner", "RandomPartitioner"])
    murmur, asked = partitioner[0] == "M", [key(rng) for _ in range(40)]
    h = head("cassandra", "3.11", mode=rng.choice(["token", "SimpleStrategy", "NetworkTopologyStrategy"]), partitioner=partitioner,
             key_type="bytes")
    if h["mode"] == "token":
        return h | {"columns": "key,token"}, rows(asked)
    low, high = (-(1 << 63), (1 << 63) - 1) if murmur else (0, (1 << 127) - 1)
    token_of = rings.murmur3_token if murmur else rings.random_token
    nodes = [(name, f"dc{rng.randrange(1, 3)}", f"r{rng.randrange(4)}") for name in names(rng, rng.choice([1, 2, 3, 6, 12, 40]), free)]
    near = [token_of(k) + rng.randrange(-1, 2) for k in asked] + [low, high]
    drawn = [rng.choice(near) if rng.random() < 0.3 else rng.randint(low, high) for _ in range(len(nodes) * rng.choice([1, 4, 16]))]
    ring = {token: rng.choice(nodes) for token in drawn if low <= token <= high} or {low: nodes[0]}
    centres = sorted({dc for _, dc, _ in ring.values()})
    simple = h["mode"] == "SimpleStrategy"
    chosen = {centres[0], *rng.sample([*centres, "dc9"], rng.randrange(1, len(centres) + 2))}
    rf = str(rng.choice([1, 1, 2, 3, 50])) if simple else ",".join(f"{dc}:{rng.randrange(1, 6)}" for dc in sorted(chosen))
    line = Head(head("cassandra", "3.11", mode="ring", partitioner=partitioner, columns="token,node,dc,rack")).line()
    name = f"ring_{rng.randrange(10 ** 9)}.tsv"
    text = line + "".join(f"{token}\t" + "\t".join(owner) + "\n" for token, owner in sorted(ring.items()))
    h |= {"rf": rf, "ring": name, "columns": "key,node" if rf == "1" else "key,replicas"}
    return h, rows(asked), {name: text.encode()}


def swift(rng):
    power, n, replicas = rng.choice([1, 2, 4, 6, 8]), rng.choice([1, 2, 3, 5, 12, 40]), rng.choice([1, 2, 3, 2.5, 1.25, 3.75])
    devs = [{"id": i, "region": rng.randrange(1, 3), "zone": rng.randrange(1, 4), "ip": f"10.{rng.randrange(3)}.0.{rng.randrange(1, 1 + n)}"}
            for i in range(n)]
    if n > 2 and rng.random() < 0.3:
        devs[rng.randrange(n)] = None
    live, parts = [d["id"] for d in devs if d], 1 << power
    ids = [rng.choice(live) for _ in range(int(parts * replicas))]
    order = rng.choice(["little", "big"])
    about = json.dumps({"devs": devs, "part_shift": 32 - power, "replica_count": -(-len(ids) // parts), "byteorder": order}).encode()
    name = f"{rng.randrange(10 ** 9)}.ring.gz"
    packed = gzip.compress(b"R1NG" + struct.pack(">HI", 1, len(about)) + about + struct.pack("<>"[order == "big"] + f"{len(ids)}H", *ids))
    h = head("swift", "2.30.1", part_power=power, replica_count=replicas, ring=name)
    if rng.random() < 0.3:
        lists = {field + "s": ",".join(str(devs[i][field]) for i in live) for field in ("region", "zone", "ip")}
        h |= {"mode": "partitions", "nodes": listed(live, [100] * len(live)), **lists, "columns": "partition,primaries"}
        return h, None, {name: packed}
    h |= {"mode": "objects", "hash": "md5", "hash_path_prefix": quote(rng.choice(["", "pre fix", "\u00e9"])),
          "hash_path_suffix": quote(rng.choice(["", "changeme", "s%"])), "handoffs": rng.choice([0, 1, 4, n]), "key_type": "path",
          "columns": "key,partition,primaries,handoff"}
    paths = ["/".join(quote(key(rng) or b"a") for _ in range(rng.randrange(1, 5))) for _ in range(40)]
    return h, [[path] for path in paths], {name: packed}


def riak(rng):
    texts = names(rng, size(rng, 90), free)
    bucket = rng.choice(["users", "", "\u00e9", utf8(rng).replace(b"\0", b"")])
    h = head("riak", "2023", mode="chash", hash="sha1", ring_creation_size=1 << rng.randrange(1, 11), n_val=rng.randrange(1, 8),
             bucket_name=quote(bucket), claim="round-robin", nodes=listed(texts), key_type="bytes")
    return columns(rng, h, ["digest", "preflist"]), keys(rng)


SAMPLES = [("md5_128", "md5", 128, "#", "gt"), ("md5_64be", "md5", 64, "#", "ge"), ("java_md5_32be", "md5", 32, "", "ge"),
           ("sha256_32be", "sha256", 32, "#", "ge")]


def seeds(rng):
    mode, function, bits, separator, lookup = rng.choice(SAMPLES)
    if rng.random() < 0.5:  # where most points collide, and where a text is two points
        bits, separator, lookup = rng.choice([1, 8, 33, 65, 128]), rng.choice(["", "#", "-", ":\u00e9", "a b"]), rng.choice(["ge", "gt"])
    texts = names(rng, rng.choice([2, 4, 7, 20]), lambda r: r.choice([free(r), f"n{r.randrange(120)}"]))
    h = head("seeds", "unspecified", mode=mode, hash=function, hash_bits=bits, point_separator=quote(separator), lookup=lookup,
             collision="newest", vnodes=rng.choice([1, 3, 10, 40, 150]))
    if rng.random() < 0.3:
        cut = rng.randrange(1, len(texts))
        return h | {"nodes": listed(texts[:cut]), "added": listed(texts[cut:]), "key_prefix": quote(rng.choice(["user:", "", "\u00e9/"])),
                    "key_count": rng.choice([1, 500, 1234]), "columns": "quantity,value"}, None
    points = [unquote(t) + separator.encode() + str(rng.randrange(h["vnodes"])).encode() for t in texts]
    return h | {"nodes": listed(texts), "key_type": "bytes", "columns": "key,node"}, keys(rng) + rows(points)


DRAWS = {"envoy": envoy, "grpc": grpc, "cassandra": cassandra, "swift": swift, "riak": riak, "seeds": seeds}
