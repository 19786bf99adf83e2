# SPDX-License-Identifier: Apache-2.0
"""nginx, HAProxy and Redis Cluster (SPEC-servers, sections 3 to 5)."""
import bisect
import ipaddress
import math
import struct

from form import Ring, by_key, unquote
from hashes import M32, crc16, crc32, le, rotl, xxh32
from ketama import split_port, tagged


def nginx_chain(node):
    """The points of one server, each made of the one before."""
    if node.name[:5].lower() == b"unix:":
        host, port = node.name[5:], b""
    else:
        host, port = split_port(node.name)
    point = 0
    for _ in range(160 * node.w):
        point = crc32(host + b"\0" + port + struct.pack("<I", point))
        yield point


def nginx(head):
    nodes, down = head.nodes, set(head.items("down"))
    usable = [node for node in nodes if node.text not in down]

    def fresh(_):
        # A round robin that has served nobody: the first of the heaviest.
        return max(usable, key=lambda n: n.w).text if usable else None
    if head.raw("mode") == "plain":
        total = sum(node.w for node in nodes)
        turns = [node for node in nodes for _ in range(node.w)] if total < 1 << 20 else None

        def plain(key):
            h = 0
            for r in range(21):
                h = (h + ((crc32((str(r).encode() if r else b"") + key) >> 16) & 0x7FFF)) & M32
                node = turns[h % total]
                if node.text not in down:
                    return node.text
            return fresh(key)
        return by_key(plain)
    seen = {}
    for node in nodes:
        for point in nginx_chain(node):
            seen.setdefault(point, node.text)
    points = sorted(seen)

    def consistent(key):
        at = bisect.bisect_left(points, crc32(key))
        for i in range(21):
            owner = seen[points[(at + i) % len(points)]]
            if owner not in down:
                return owner
        return fresh(key)
    return by_key(consistent)


def avalanche(a):
    a = (a + 0x7ED55D16 + (a << 12)) & M32
    a = (a ^ 0xC761C23C ^ (a >> 19)) & M32
    a = (a + 0x165667B1 + (a << 5)) & M32
    a = ((a + 0xD3A2646C) ^ (a << 9)) & M32
    a = (a + 0xFD7046C5 + (a << 3)) & M32
    a = (a ^ 0xB55A4F09 ^ (a >> 16)) & M32
    return (a * 3221225473) & M32


def sdbm(data):
    h = 0
    for b in data:
        h = (b + (h << 6) + (h << 16) - h) & M32
    return h


def djb2(data):
    h = 5381
    for b in data:
        h = (h * 33 + b) & M32
    return h


def wt6(data):
    h0, h1, s0, s1 = 0xA53C965A, 0x5CA6953A, 6, 18
    for b in data:
        h0, h1 = ~(h0 ^ b) & M32, ~(h1 + b) & M32
        h0, h1 = rotl(h1, s0, 32), rotl(h0, s1, 32)
        t = ((h0 >> 16) ^ h1) & 0xFFFF
        s0, s1 = t & 31, t >> 11
    return h0 ^ h1


def header_element(value):
    """hdr(X): the first element of a list; a comma in double quotes is none of its ends."""
    value = value.lstrip(b" \t")
    quoted, i = False, 0
    while i < len(value):
        if quoted and value[i] == 0x5C:
            i += 1
        elif value[i] == 0x22:
            quoted = not quoted
        elif value[i] == 0x2C and not quoted:
            break
        i += 1
    return value[:i].rstrip(b" \t")


EXTRACT = {"hdr": header_element, "fhdr": lambda v: v, "uri": lambda v: v.split(b"?")[0], "uri_whole": lambda v: v,
           "url_param": lambda v: v.split(b"&")[0]}


def haproxy_base(head, node, server, guid):
    """What the number of each of a server's points is added to."""
    kind = head.raw("hash_key", "id")
    if kind == "id":
        return avalanche(server) if head.raw("id_base") == "full_hash" else server * 4096
    if kind == "id32":
        return avalanche(le(struct.pack(">I", server)))
    if kind == "guid":
        return xxh32(unquote(guid))
    host, port = split_port(node.name)
    address = ipaddress.ip_address(host.strip(b"[]").decode()).packed
    seed = avalanche(int(port)) if kind == "addr-port" else 0
    return xxh32(address, seed) if len(address) == 16 else avalanche((seed + le(address)) & M32)


def haproxy_servers(head):
    """[(node, id, guid)] of the usable servers."""
    nodes = head.nodes
    ids = [int(i) for i in head.items("ids")] or range(1, len(nodes) + 1)
    servers = zip(nodes, ids, head.items("guids") or [None] * len(nodes))
    down = set(head.items("down"))
    return [s for s in servers if s[0].text not in down and s[0].w]


def haproxy_ring(head):
    pairs = []
    for server in haproxy_servers(head):
        base = haproxy_base(head, *server)
        pairs += [(avalanche((base + j) & M32), server[0].text) for j in range(16 * server[0].w)]
    return Ring(pairs)


def haproxy(head):
    function = {"sdbm": sdbm, "djb2": djb2, "wt6": wt6, "crc32": crc32}[head.raw("hash")]
    usable = [server[0] for server in haproxy_servers(head)]
    if len(usable) == 1:
        return by_key(lambda _: usable[0].text)

    def key_hash(value):
        h = function(EXTRACT[head.raw("key")](value))
        return avalanche(h) if head.raw("avalanche") == "1" else h
    if head.raw("mode") == "map-based":
        slots = haproxy_map(head.nodes, usable)
        return by_key(lambda k: slots[key_hash(k) % len(slots)].text)
    ring = haproxy_ring(head)

    def place(key):
        h, n = key_hash(key), len(ring.points)
        at = bisect.bisect_left(ring.points, h)
        after, before = at % n, (at - 1) % n
        near = ((h - ring.points[before]) & M32) <= ((ring.points[after] - h) & M32)
        return ring.pairs[before if near else after][1]
    return by_key(place)


def haproxy_map(nodes, usable):
    unit = math.gcd(*(node.w for node in nodes))
    total = sum(node.w // unit for node in usable)
    scores, slots = [0] * len(usable), []
    if total == 1:
        return usable
    for _ in range(total):
        best, chosen = 0, None
        for i, node in enumerate(usable):
            scores[i] += node.w // unit
            v = int((scores[i] + total) / total)
            if chosen is None or v > best:
                best, chosen = v, i
        scores[chosen] -= total
        slots.append(usable[chosen])
    return slots


def redis_cluster(head):
    def slot(key):
        return crc16(tagged(key, b"{}")) & 16383
    if head.raw("mode") == "keyslot":
        return by_key(slot)
    nodes = head.nodes
    share, c, first, owners = 16384 / len(nodes), 0.0, 0, {}
    for i, node in enumerate(nodes):
        last = math.floor(c + share - 1 + 0.5)
        if last > 16383 or i == len(nodes) - 1:
            last = 16383
        for s in range(first, last + 1):
            owners[s] = node.text
        first, c = last + 1, c + share
    return by_key(lambda k: owners[slot(k)])


TABLES = {"nginx": nginx, "haproxy": haproxy, "redis-cluster": redis_cluster}
