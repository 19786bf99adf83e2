# SPDX-License-Identifier: Apache-2.0
"""Envoy, gRPC and Cassandra (SPEC-databases, sections 1, 4 and 5)."""
import bisect
import hashlib
import math

from form import PLAIN, Head, by_column, by_key, quote, unquote
from hashes import M64, be, murmur3_128, murmur64a, signed, xxh64
from ketama import split_port


def shares(head):
    """[(node, its share of all weight)] in the order in which envoy deals: locality by locality, if they have weights."""
    nodes = head.nodes
    if not head.items("locality_weights"):
        total = sum(node.w for node in nodes)
        return [(node, node.w * 1.0 / total) for node in nodes]
    weights = [(item.rpartition("*")[0], int(item.rpartition("*")[2])) for item in head.items("locality_weights")]
    whole, dealt = sum(w for _, w in weights), []
    for place, w in weights:
        here = [node for node, its in zip(nodes, head.items("localities")) if its == place]
        if w:
            dealt += [(node, node.w * (w / whole) / sum(n.w for n in here)) for node in here]
    return dealt


def deal(named, minimum, maximum, point):
    """[(point, owner)] in dealing order; named: (text, owner, share) in that order."""
    least = min(share for _, _, share in named)
    scale = min(math.ceil(least * minimum) / least, float(maximum))
    current = target = 0.0
    ring = []
    for text, owner, share in named:
        target += scale * share
        i = 0
        while current < target:
            ring.append((point(text + b"_" + str(i).encode()), owner))
            current, i = current + 1, i + 1
    return ring


def envoy_ring(head):
    point = xxh64 if head.raw("hash", "XX_HASH") == "XX_HASH" else lambda s: murmur64a(s, 0xC70F6907)
    named = [(node.name, node.text, share) for node, share in shares(head)]
    return sorted(deal(named, head.number("minimum_ring_size", 1024), head.number("maximum_ring_size", 8388608), point))


def envoy(head):
    if head.raw("mode") == "maglev":
        return maglev(head)
    ring = envoy_ring(head)
    if head.columns[0] == "point":
        return lambda _: [[str(p), owner] for p, owner in ring]
    points = [p for p, _ in ring]

    def found(key):
        h = xxh64(unquote(key))
        at = bisect.bisect_left(points, h) % len(ring)
        return {"hash": h, "node": ring[at][1], **{f"attempt{a}": ring[(at + a) % len(ring)][1] for a in (1, 2)}}
    return by_column(head, found)


def maglev(head):
    m = head.number("table_size", 65537)
    hosts = sorted(shares(head), key=lambda pair: pair[0].name)
    most = max(share for _, share in hosts)
    offset = [xxh64(n.name) % m for n, _ in hosts]
    skip = [xxh64(n.name, 1) % (m - 1) + 1 for n, _ in hosts]
    target, following, table, left, turn = [0.0] * len(hosts), [0] * len(hosts), [None] * m, m, 0
    while left:
        turn += 1
        for i, (node, share) in enumerate(hosts):
            if not left:
                break
            if turn * share < target[i]:
                continue
            target[i] += most
            while table[c := (offset[i] + skip[i] * following[i]) % m] is not None:
                following[i] += 1
            table[c] = node.text
            following[i] += 1
            left -= 1
    if head.columns[0] == "slot":
        return lambda _: [[str(i), owner] for i, owner in enumerate(table)]

    def found(key):
        h = xxh64(unquote(key))
        return {"hash": h, "node": table[h % m], **{f"attempt{a}": table[(h ^ (M64 + 1 - a)) % m] for a in (1, 2)}}
    return by_column(head, found)


JAVA_PLAIN = PLAIN | set(b"/<>[]")


def java_text(name):
    """InetSocketAddress.toString(): of an address, or of a host name that was not looked up."""
    host, port = split_port(name)
    if host[:1] == b"[" or host.replace(b".", b"").isdigit():
        return b"/" + name
    return host + b"/<unresolved>:" + port


def grpc(head):
    nodes = head.nodes
    share = {node.text: share for node, share in shares(head)}
    limits = head.number("min_ring_size", 1024), head.number("max_ring_size", 4096)
    by_name = {n.text: n.name for n in nodes}
    go = sorted(nodes, key=lambda n: n.name)
    ring = sorted(deal([(n.name, n.text, share[n.text]) for n in go], *limits, xxh64), key=lambda p: p[0])
    order = [java_text(by_name[t]) for t in head.items("order")] or [java_text(n.name) for n in nodes]
    java = [(name, quote(name, JAVA_PLAIN), share[t]) for name, t in zip(order, head.items("order") or share)]
    java = sorted(deal(java, *limits, lambda s: signed(xxh64(s), 64)), key=lambda p: p[0])
    points, java_points = [p for p, _ in ring], [p for p, _ in java]

    def found(cell):
        h = int(cell) if head.columns[0] == "hash" else xxh64(unquote(cell))
        at = bisect.bisect_left(points, h) % len(ring)
        j = min(bisect.bisect_left(java_points, signed(h, 64)), len(java) - 1)
        return {"hash": h, "node": ring[at][1], "node@go": ring[at][1], "next": ring[(at + 1) % len(ring)][1],
                "node@java": java[j][1], "ring_index": j}
    return by_column(head, found)


def murmur3_token(key):
    if not key:
        return -1 << 63
    token = signed(murmur3_128(key, 0, signed_tail=True)[0], 64)
    return (1 << 63) - 1 if token == -1 << 63 else token


def random_token(key):
    return abs(signed(be(hashlib.md5(key).digest()), 128)) if key else -1


def simple(walk, rf):
    taken = []
    for node, _, _ in walk:
        if node not in taken and len(taken) < rf:
            taken.append(node)
    return taken


def topology(walk, factors):
    """NetworkTopologyStrategy: one walk, in which each datacenter keeps its own account."""
    nodes = set(walk)
    left, repeats, racks, taken = {}, {}, set(), []
    for dc, rf in factors.items():
        here = [n for n in nodes if n[1] == dc]
        if rf > 0 and here:
            left[dc] = min(rf, len(here))
            repeats[dc] = rf - len({rack for _, _, rack in here})
    for node, dc, rack in walk:
        if not left.get(dc):
            continue
        if (dc, rack) in racks:
            if repeats[dc] <= 0 or node in taken:
                continue
            repeats[dc] -= 1
        racks.add((dc, rack))
        taken.append(node)
        left[dc] -= 1
    return taken


def cassandra(head):
    mode = head.raw("mode")
    token = murmur3_token if head.raw("partitioner") == "Murmur3Partitioner" else random_token
    if mode == "token":
        return by_key(token)
    lines = (head.folder / head.text("ring")).read_text(encoding="utf-8").splitlines()
    assert Head.parse(lines[0]).columns == ["token", "node", "dc", "rack"]
    ring = sorted((int(t), (node, dc, rack)) for t, node, dc, rack in (line.split("\t") for line in lines[1:]))
    tokens, owners = [t for t, _ in ring], [owner for _, owner in ring]

    def replicas(key):
        at = bisect.bisect_left(tokens, token(key)) % len(tokens)
        walk = owners[at:] + owners[:at]
        if mode == "SimpleStrategy":
            return simple(walk, head.number("rf"))
        return topology(walk, {dc: int(rf) for dc, rf in (item.split(":") for item in head.items("rf"))})
    return by_key(lambda key: ",".join(replicas(key)))


TABLES = {"envoy": envoy, "grpc": grpc, "cassandra": cassandra}
