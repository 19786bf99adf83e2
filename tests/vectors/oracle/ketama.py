# SPDX-License-Identifier: Apache-2.0
"""libmemcached, twemproxy, libketama, uhashring and the npm packages (SPEC-servers, sections 0 to 2 and 6 to 9)."""
import hashlib
import math

from form import Node, Ring, by_key, f32
from hashes import LIBMEMCACHED, TWEMPROXY, be, le, le32, signed


def text(*parts):
    return b"".join(part if isinstance(part, bytes) else str(part).encode() for part in parts)


def quarters(name, digests, algorithm="md5", points=4):
    """The points of section 0.2 of one node: `points` of each digest of name-0, name-1, ..."""
    for k in range(digests):
        digest = hashlib.new(algorithm, text(name, "-", k)).digest()
        for i in range(points):
            yield le(digest[4 * i:4 * i + 4])


def singles(w, total, n):
    """The digests of libmemcached: a chain of single precision."""
    t = f32(f32(f32(f32(w) / f32(total)) * 160) / 4)
    return f32(t * f32(n))


def digests_libmemcached(w, total, n):
    return math.floor(f32(singles(w, total, n) + f32(1e-10)))


def digests_twemproxy(w, total, n):
    return math.floor(f32(singles(w, total, n) + 1e-10))


def digests_libketama(w, total, n):
    return math.floor(f32(f32(f32(w) / f32(total)) * 40.0 * f32(n)))


def split_port(name):
    host, colon, port = name.rpartition(b":")
    return (host, port) if colon and port.isdigit() else (name, b"")


def without_port(name, default):
    """host of host:default, any other name whole."""
    return name[:-len(default) - 1] if default and name.endswith(b":" + default) else name


def libmemcached(head):
    key = LIBMEMCACHED[head.raw("hash")]
    mode = head.raw("mode")
    if mode == "hash":
        return by_key(key)
    nodes = head.live()
    if head.raw("sort_hosts") == "1":
        nodes.sort(key=lambda n: (split_port(n.name)[0], int(split_port(n.name)[1])))
    if len(nodes) == 1:
        return by_key(lambda _: nodes[0].text)
    if mode == "modula":
        return by_key(lambda k: nodes[key(k) % len(nodes)].text)
    point = LIBMEMCACHED[head.raw("point_hash", head.raw("hash"))]
    weights = [node.w or 1 for node in nodes]
    pairs = []
    for node, w in zip(nodes, weights):
        name = b"/" + node.name if mode.startswith("ketama_spy") else without_port(node.name, b"11211")
        if mode in ("ketama_weighted", "ketama_spy"):
            points = quarters(name, digests_libmemcached(w, sum(weights), len(nodes)))
        else:
            points = (point(text(name, "-", i)) for i in range(100))
        pairs += [(p, node.text) for p in points]
    ring = Ring(pairs)
    return by_key(lambda k: ring.at_or_after(key(k)))


def tagged(key, tag):
    """What lies between the two characters of a hash tag, if anything does."""
    if tag:
        start = key.find(tag[:1])
        end = key.find(tag[1:], start + 1) if start >= 0 else -1
        if end > start + 1:
            return key[start + 1:end]
    return key


def twemproxy(head):
    function = TWEMPROXY[head.raw("hash")]
    if head.raw("mode") == "hash":
        return by_key(function)

    def name(node):
        if head.raw("names") == "name":
            return node.name
        return node.name + b":" if node.name.startswith(b"/") else without_port(node.name, b"11211")
    nodes = sorted(head.live(), key=lambda n: (len(name(n)), name(n)))
    if len(nodes) == 1:
        return by_key(lambda _: nodes[0].text)

    def key_hash(key):
        return function(tagged(key, head.bytes("hash_tag"))) if key else 0
    total = sum(node.w for node in nodes)
    if head.raw("mode") == "modula":
        turns = [node.text for node in nodes for _ in range(node.w)]
        return by_key(lambda k: turns[key_hash(k) % total])
    ring = Ring((p, node.text) for node in nodes
                for p in quarters(name(node), digests_twemproxy(node.w, total, len(nodes))))
    return by_key(lambda k: ring.at_or_after(key_hash(k)))


def libketama(head):
    nodes = head.live()
    total = sum(node.w for node in nodes)
    ring = Ring((p, node.text) for node in nodes
                for p in quarters(node.name, digests_libketama(node.w, total, len(nodes))))
    return by_key(lambda k: ring.at_or_after(le32(k.split(b"\0")[0])))


def uhashring(head):
    nodes = head.live()
    total = sum(node.w for node in nodes)
    if head.raw("mode") == "default":
        vnodes = head.number("vnodes", 160)
        pairs = [(be(hashlib.md5(text(node.name, "-", i)).digest()), node.text)
                 for node in nodes for i in range(vnodes * node.w)]
        def key(k):
            return be(hashlib.md5(k).digest())
    else:
        vnodes, points = head.number("vnodes", 40), head.number("replicas", 4)
        pairs = [(p, node.text) for node in nodes
                 for p in quarters(node.name, vnodes * len(nodes) * node.w // total, points=points)]
        key = le32
    ring = Ring(dict(pairs).items())
    return by_key(lambda k: ring.after(key(k)))


def npm(head):
    """hashring, and memcached, which brings it along with a default port."""
    nodes, function = head.live(), head.raw("hash")
    if head.raw("system") == "npm-memcached" and len(nodes) == 1:
        return by_key(lambda _: nodes[0].text)
    total, count, points = sum(node.w for node in nodes), head.number("vnode_count", 40), head.number("replicas", 4)
    own = {node.text: node.w for node in map(Node, head.items("vnodes"))}
    pairs = []
    for node in nodes:
        digests = math.floor(node.w / total * count * len(nodes))
        if own.get(node.text, count) != count:
            digests = own[node.text]
        name = without_port(node.name, head.bytes("default_port"))
        pairs += [(p, node.text) for p in quarters(name, digests, function, points)]
    ring = Ring(pairs)
    return by_key(lambda k: ring.at_or_after(le32(k, 0, function)))


def npm_ketama(head):
    def place(data):
        return signed(be(hashlib.new(head.raw("hash"), data).digest()[:4]), 32)
    ring = Ring((place(text(node.name, b"\0", i)), node.text) for node in head.live()
                for i in range(math.floor(50 * float(node.weight) + 0.5), 0, -1))
    return by_key(lambda k: ring.at_or_after(place(k)))


TABLES = {"libmemcached": libmemcached, "twemproxy": twemproxy, "libketama": libketama, "uhashring": uhashring,
          "npm-hashring": npm, "npm-memcached": npm, "npm-ketama": npm_ketama}
