# SPDX-License-Identifier: Apache-2.0
"""The four sample programs and their experiment (SPEC-databases, section 10)."""
import hashlib
from collections import Counter

from form import Node, Ring, quote, unquote
from hashes import be


def place(head, nodes):
    """(hash, locate) of the articles' ring over these nodes."""
    name, bits, separator = head.raw("hash"), head.number("hash_bits"), head.bytes("point_separator")

    def value(data):
        digest = hashlib.new(name, data).digest()
        return be(digest) >> (8 * len(digest) - bits)
    pairs = {value(n.name + separator + str(i).encode()): n for n in nodes for i in range(head.number("vnodes"))}
    ring = Ring(pairs.items())
    find = ring.at_or_after if head.raw("lookup") == "ge" else ring.after
    return value, lambda key: find(value(key))


def seeds(head):
    if head.columns[0] == "quantity":
        return lambda _: experiment(head)
    locate = place(head, head.nodes)[1]
    return lambda inputs: [[cells[0], locate(unquote(cells[0])).text] for cells in inputs]


def experiment(head):
    old, new = head.nodes, [Node(item) for item in head.items("added")]
    count = head.number("key_count")
    keys = [head.bytes("key_prefix") + str(i).encode() for i in range(count)]
    value, first = place(head, old)
    second = place(head, old + new)[1]
    before, after = [first(k) for k in keys], [second(k) for k in keys]
    index = [value(k) % len(old) for k in keys], [value(k) % (len(old) + len(new)) for k in keys]
    moves = Counter((b.text, a.text) for b, a in zip(before, after) if b.text != a.text)
    shifted = sum(b != a for b, a in zip(*index))
    rows = [("keys", count), ("ring_moved", moves.total()), ("ring_moved_fraction", moves.total() / count),
            ("modulo_moved", shifted), ("modulo_moved_fraction", shifted / count)]
    rows += [(f"before:{n.text}", sum(b.text == n.text for b in before)) for n in old]
    rows += [(f"after:{n.text}", sum(a.text == n.text for a in after)) for n in old + new]
    rows += [(f"moved:{b}->{a}", n) for (b, a), n in sorted(moves.items())]
    for what, indices, n in (("before", index[0], len(old)), ("after", index[1], len(old) + len(new))):
        rows += [(f"modulo_{what}:{i}", indices.count(i)) for i in range(n)]
    for what, owners in (("before", before), ("after", after)):
        lines = b"".join(k + b"\t" + o.name + b"\n" for k, o in zip(keys, owners))
        rows.append((f"sha256_{what}", hashlib.sha256(lines).hexdigest()))
    return [[name, str(number)] for name, number in rows]


TABLES = {"seeds": seeds}
