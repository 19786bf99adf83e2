#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""model.py VECTORS - the sample programs once more, in Python, over settings the kept files do not have.

Random nodes, separators, widths down to 8 bits (where most points collide), both lookups, keys of any bytes, experiments
with any prefix. The files it writes are checked by the driver. The seed is fixed: set GYRE_SEED for others.
"""
import bisect
import hashlib
import os
import random
import subprocess
import sys
import tempfile

PLAIN = set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_-.")
MODES = {"md5": "md5_64be", "sha256": "sha256_32be"}
NAMES = ["n1", "n11", "n110", "n", "zz", "a b", "x,y", "*s", "caf\u00e9", "n2", "n#1", "Z", "100%"]


def quote(data):
    return "".join(chr(c) if c in PLAIN else f"%{c:02X}" for c in data)


class Ring:
    """The articles' ring: a dict, so of two equal points the newer node stays."""

    def __init__(self, setting, nodes):
        self.setting = setting
        self.owner = {}
        for node in nodes:
            for i in range(setting["vnodes"]):
                self.owner[self.hash((node + setting["sep"] + str(i)).encode())] = node
        self.points = sorted(self.owner)

    def hash(self, data):
        digest = hashlib.new(self.setting["hash"], data).digest()
        return int.from_bytes(digest, "big") >> (8 * len(digest) - self.setting["bits"])

    def locate(self, key):
        find = bisect.bisect_left if self.setting["lookup"] == "ge" else bisect.bisect_right
        return self.owner[self.points[find(self.points, self.hash(key)) % len(self.points)]]


def header(s, nodes, more):
    listed = ",".join(quote(n.encode()) + "*1" for n in nodes)
    return (f"# system=seeds version=unspecified mode={MODES[s['hash']]} hash={s['hash']} hash_bits={s['bits']} "
            f"point_separator={quote(s['sep'].encode())} lookup={s['lookup']} collision=newest vnodes={s['vnodes']} "
            f"nodes={listed} {more}\n")


def keys_file(rng, s, nodes):
    ring = Ring(s, nodes)
    keys = [rng.randbytes(rng.randrange(20)) for _ in range(150)]
    keys += [(rng.choice(nodes) + s["sep"] + str(rng.randrange(s["vnodes"]))).encode() for _ in range(150)]
    rows = [quote(k) + "\t" + quote(ring.locate(k).encode()) + "\n" for k in keys]
    return header(s, nodes, "key_type=bytes columns=key,node") + "".join(rows)


def experiment(rng, s, nodes):
    new = rng.randrange(1, len(nodes))
    old, count, prefix = nodes[:-new], 500, rng.choice(["user:", "", "\u00e9/", "a b="])
    keys = [(prefix + str(i)).encode() for i in range(count)]
    before, after = Ring(s, old), Ring(s, nodes)
    a, b = [before.locate(k) for k in keys], [after.locate(k) for k in keys]
    ma, mb = [before.hash(k) % len(old) for k in keys], [before.hash(k) % len(nodes) for k in keys]
    rows = {"keys": count, "ring_moved": sum(x != y for x, y in zip(a, b)),
            "modulo_moved": sum(x != y for x, y in zip(ma, mb))}
    for what in ("ring_moved", "modulo_moved"):
        rows[what + "_fraction"] = rows[what] / count
    for name in old:
        rows["before:" + quote(name.encode())] = a.count(name)
    for name in nodes:
        rows["after:" + quote(name.encode())] = b.count(name)
    for x, y in sorted({(x, y) for x, y in zip(a, b) if x != y}):
        rows[f"moved:{quote(x.encode())}->{quote(y.encode())}"] = list(zip(a, b)).count((x, y))
    for i in range(len(old)):
        rows[f"modulo_before:{i}"] = ma.count(i)
    for i in range(len(nodes)):
        rows[f"modulo_after:{i}"] = mb.count(i)
    for name, where in (("sha256_before", a), ("sha256_after", b)):
        lines = b"".join(k + b"\t" + w.encode() + b"\n" for k, w in zip(keys, where))
        rows[name] = hashlib.sha256(lines).hexdigest()
    added = ",".join(quote(n.encode()) + "*1" for n in nodes[-new:])
    more = f"added={added} key_prefix={quote(prefix.encode())} key_count={count} columns=quantity,value"
    return header(s, old, more) + "".join(f"{k}\t{v}\n" for k, v in rows.items())


def main():
    rng = random.Random(int(os.environ.get("GYRE_SEED", "1")))
    with tempfile.TemporaryDirectory() as folder:
        for n in range(60):
            s = {"hash": rng.choice(list(MODES)), "bits": rng.choice([8, 9, 12, 16, 32, 33, 63, 64, 65, 100, 128]),
                 "sep": rng.choice(["", "#", "-", ":\u00e9", "a b"]), "lookup": rng.choice(["ge", "gt"]),
                 "vnodes": rng.choice([1, 2, 11, 40])}
            nodes = rng.sample(NAMES, rng.randrange(2, len(NAMES)))
            text = experiment(rng, s, nodes) if n % 4 == 0 else keys_file(rng, s, nodes)
            with open(os.path.join(folder, f"{n:02}.tsv"), "w", encoding="utf-8") as out:
                out.write(text)
        sys.exit(subprocess.run([sys.argv[1], folder], check=False).returncode)


if __name__ == "__main__":
    main()
