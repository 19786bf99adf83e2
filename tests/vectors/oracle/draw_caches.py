# SPDX-License-Identifier: Apache-2.0
"""Draws of the caches and proxies. Random keys seldom tell near misses of a ring apart, so there are keys that are the text
of a point, up to the first that a node has no more, and keys forged to hash on a point."""
import ketama
import proxies
from draw import (address, free, gone, head, integer, ip_port, ipv4_port, key, keys, listed, names, near_points, rows, size, utf8,
                  weights)
from form import Head, quote, unquote
from hashes import LIBMEMCACHED, TWEMPROXY

TAKEN_OUT, MARKED_OUT = ["list", "remove", "remove_node", "ejected", "auto_eject"], ["down", "disabled", "dead"]


def down(rng, texts, words):
    some = gone(rng, texts) if rng.random() < 0.4 else []
    return {"down": ",".join(some), "removal": rng.choice(words)} if some else {}


def ketama_size(rng, most=200):
    """Often a size at which rounding makes a node of even weight lose a digest in one of them."""
    return min(most, rng.choice([7, 14, 25, 28, 47, 49, 50, 55, 56, 61, 71, 98, 122])) if rng.random() < 0.4 else size(rng, most)


def point_texts(rng, texts, w, unit=40, separator=b"-"):
    """NAME-0 and the texts about the last point of some nodes."""
    found = []
    for text, weight in rng.sample(list(zip(texts, w)), min(12, len(texts))):
        last = int(unit * len(texts) * weight / sum(w))
        found += [unquote(text) + separator + str(k).encode() for k in (0, max(0, last - 1), last, last + 1)]
    return rows(found)


def libmemcached(rng):
    mode = rng.choice(["hash", "modula", "consistent", "ketama_weighted", "ketama_spy", "ketama_spy_unweighted"])
    h = head("libmemcached", "1.1.4", mode=mode, hash=rng.choice(["md5", *LIBMEMCACHED]))
    if mode == "hash":
        return h | {"column2": "uint32"}, keys(rng)
    even = mode in ("consistent", "ketama_spy_unweighted")  # there a weight above 1 is another mode
    texts = names(rng, ketama_size(rng), lambda r: f"/run/m{r.randrange(10000)}.sock:0" if r.random() < 0.15 else address(r))
    w = [rng.choice([0, 1]) if even else x for x in weights(rng, len(texts))]
    h["nodes"] = listed(texts, w)
    if even and rng.random() < 0.2:
        h["point_hash"] = rng.choice(list(LIBMEMCACHED))
    if rng.random() < 0.2:
        h["sort_hosts"] = rng.choice("01")
    h |= down(rng, texts, TAKEN_OUT)
    if "down" in h:
        h["dead"] = h["down"].split(",")[0]
    elif mode == "modula" and rng.random() < 0.2:
        h |= {"dead": texts[0], "removal": "auto_eject"}
    return h, keys(rng) + point_texts(rng, texts, [1] * len(w) if even else [x or 1 for x in w], 100 if even else 40)


def twemproxy(rng):
    mode, name = rng.choice(["hash", "ketama", "ketama", "modula"]), rng.choice(["md5", "crc32a", *TWEMPROXY])
    h = head("twemproxy", "0.5.0", mode=mode, hash=name)
    if mode == "hash":
        return h | {"column2": "uint32"}, keys(rng)
    by = rng.choice(["name", "addr"])
    socket_or_address = (lambda r: f"/run/r{r.randrange(10000)}.sock" if r.random() < 0.2 else address(r))
    texts = names(rng, ketama_size(rng), rng.choice([free, address]) if by == "name" else socket_or_address)
    w = weights(rng, len(texts))
    h |= {"protocol": rng.choice(["redis", "memcached"]), "names": by, "nodes": listed(texts, w)}
    if rng.random() < 0.3:
        h["hash_tag"] = quote(rng.choice(["{}", "::", "<>", "%%", "ab", ",*", "##"]))
        return h | down(rng, texts, TAKEN_OUT), keys(rng)
    points = [p for t, x in zip(texts, w) for p in ketama.quarters(unquote(t), ketama.digests_twemproxy(x, sum(w), len(w)))]
    more = near_points(rng, points) if name == "crc32a" and by == "name" else point_texts(rng, texts, w)
    return h | down(rng, texts, TAKEN_OUT), keys(rng) + more


def nginx_name(rng):
    n = rng.randrange(1000)
    unix = f"{rng.choice(['unix', 'UNIX', 'uNix'])}:/run/s{n % 4}.sock{rng.choice(['', ':80'])}"
    return rng.choice([unix, f"host{n % 4}{rng.choice(['', ':', ':a', ':08', ':8'])}", f"[::{n:x}]", address(rng), address(rng)])


def nginx(rng):
    texts = names(rng, size(rng, 60), nginx_name)
    h = head("nginx", "1.22.1", mode=rng.choice(["consistent", "plain"]), key=rng.choice(["header", "request_uri"]),
             nodes=listed(texts, weights(rng, len(texts), 20)), **down(rng, texts, MARKED_OUT))
    if rng.random() < 0.2:
        h["removed_from_config"] = quote(nginx_name(rng))
    more = near_points(rng, [p for node in Head(h).nodes for p in proxies.nginx_chain(node)])
    return h, [row for row in keys(rng) + more if row[0]]  # of an empty key nginx takes turns


def header_value(rng):
    parts = [rng.choice([b"user:1", b'"a,b"', b'"a\\",b"', b"x\\", b'a"b,c', b" lead", b"trail \t", b"caf\xc3\xa9", b'"open', key(rng)])
             for _ in range(rng.randrange(1, 4))]
    return rng.choice([b",", b", ", b" ,"]).join(parts)


def target(rng):
    return rng.choice([b"/a/%d", b"/a/%d?x=1", b"http://h/%d?y?z", b"/%d#f?q", b"/%d%%3Fa"]) % rng.randrange(10 ** 5)


def haproxy(rng):
    mode = rng.choice(["consistent", "consistent", "map-based"])
    kind = rng.choice(["id", "id", "full", "addr", "addr-port", "id32", "guid"]) if mode == "consistent" else "id"
    few = ["10.0.0.1", "10.0.0.2", "[::1]", "[2001:db8::1]"]  # servers of one address share all their points
    one = rng.choice([ip_port, lambda r: f"{r.choice(few)}:{r.randrange(1, 65536)}"]) if kind.startswith("addr") else free
    texts = names(rng, rng.choice([1, 2, 3, 4, 6, 12, 30]), one)
    w = [rng.choice([x, x, x, 0]) for x in weights(rng, len(texts), 256)]
    w[0] = w[0] or 1
    by, function, avalanche = rng.choice(list(proxies.EXTRACT)), rng.choice(["crc32", "sdbm", "djb2", "wt6"]), rng.choice("01")
    if rng.random() < 0.3:
        by, function, avalanche = "fhdr", "crc32", "0"  # of which keys can be forged
    h = head("haproxy", "3.4.0", mode=mode, hash=function, avalanche=avalanche, key=by, nodes=listed(texts, w),
             **down(rng, [t for t, x in zip(texts, w) if x], MARKED_OUT))
    if kind == "full":
        h["id_base"] = "full_hash"
    elif kind != "id" or rng.random() < 0.2:
        h["hash_key"] = kind
    if kind == "guid":
        h["guids"] = ",".join(quote(f"g{i}_{rng.choice(['a', 'Host:x', 'long' * 9])}") for i in range(len(texts)))
    if rng.random() < 0.4:
        h["ids"] = ",".join(map(str, rng.sample(range(1, rng.choice([300, 1 << 31])), len(texts))))
    given = keys(rng, {"hdr": header_value, "uri": target, "uri_whole": target}.get(by, key))
    if mode == "consistent" and (by, function, avalanche) == ("fhdr", "crc32", "0"):
        given += near_points(rng, proxies.haproxy_ring(Head(h)).points)
    return h, [row for row in given if proxies.EXTRACT[by](unquote(row[0]))]  # of an empty key HAProxy takes turns


def libketama(rng):
    texts = names(rng, rng.choice([61, ketama_size(rng, 117)]), ipv4_port)  # more than 117 crash it
    w = weights(rng, len(texts), rng.choice([8, 1000, 1000000]))
    h = head("libketama", "RJ/ketama-18cf9a7", mode="ketama", weights="memory", nodes=listed(texts, w), **down(rng, texts, TAKEN_OUT))
    return h, keys(rng) + point_texts(rng, texts, w)


def uhashring(rng):
    texts = names(rng, size(rng, 60), rng.choice([address, free]))
    w, mode, vnodes = weights(rng, len(texts), 8), rng.choice(["default", "ketama"]), rng.choice([None, None, 1, 7, 20, 60])
    h = head("uhashring", "2.1", mode=mode, hash="md5", nodes=listed(texts, w), vnodes=vnodes, **down(rng, texts, TAKEN_OUT))
    if mode == "ketama" and rng.random() < 0.4:
        h["replicas"] = rng.randrange(1, 5)
    return h, keys(rng, utf8) + point_texts(rng, texts, w, vnodes or 40)


def npm(rng, system, version, function):
    texts = names(rng, ketama_size(rng, 100), address)
    w, count = weights(rng, len(texts)), rng.choice([None, None, 2, 10, 60, 160])  # of 1 rounding may leave nobody a point
    h = head(system, version, mode="ketama", hash=function, nodes=listed(texts, w), vnode_count=count, **down(rng, texts, TAKEN_OUT))
    if rng.random() < 0.6:
        h["default_port"] = rng.choice(["11211", "11211", "6379"])
    if rng.random() < 0.2:
        h["replicas"] = rng.randrange(1, 5)
    if rng.random() < 0.3:
        own = rng.sample(texts, rng.randrange(1, len(texts) + 1))
        h["vnodes"] = listed(own, [rng.choice([1, 10, 40, 100]) for _ in own])
    return h, keys(rng, utf8) + point_texts(rng, texts, w, count or 40)


def npm_hashring(rng):
    return npm(rng, "npm-hashring", "3.2.0", rng.choice(["md5", "sha1", "sha256"]))


def npm_memcached(rng):
    return npm(rng, "npm-memcached", "2.2.2", "md5")


def npm_ketama(rng):
    texts = names(rng, size(rng, 30), address)
    w = weights(rng, len(texts), 8)
    if rng.random() < 0.6:
        w = [1] + [rng.choice([0.5, 0.01, 0.009, 0.02, 0.03, 1.25, 2.01, 0.29, 1.49, round(rng.random() * 4, 3)]) for _ in w[1:]]
    h = head("npm-ketama", "1.0.0", mode="ketama", hash=rng.choice(["sha1", "md5", "sha256"]), nodes=listed(texts, w),
             **down(rng, texts[1:], TAKEN_OUT))  # some of the others may have no point
    ends = [unquote(t) + b"\0%d" % max(0, k) for t, x in zip(texts, w) for k in (round(50 * x), round(50 * x) + 1)]
    return h, keys(rng, utf8) + rows(ends[:40])


def redis_cluster(rng):
    if rng.random() < 0.5:
        return head("redis-cluster", "7.0.15", mode="keyslot", column2="slot"), keys(rng)
    nodes = listed([f"127.0.0.1:{7000 + i}" for i in range(rng.randrange(3, 200))])
    return head("redis-cluster", "7.0.15", mode="cluster-create", nodes=nodes), keys(rng) + keys(rng, integer("uint64"))


DRAWS = {"libmemcached": libmemcached, "twemproxy": twemproxy, "nginx": nginx, "haproxy": haproxy, "libketama": libketama,
         "redis-cluster": redis_cluster, "uhashring": uhashring, "npm-hashring": npm_hashring, "npm-memcached": npm_memcached,
         "npm-ketama": npm_ketama}
