# SPDX-License-Identifier: Apache-2.0
"""OpenStack Swift (SPEC-databases, section 8): its ring file, primaries and handoffs."""
import gzip
import hashlib
import json
import struct

from form import by_column, unquote
from hashes import be


class Rows:
    """A ring file: devices (None where one was removed), and which of them has each partition, row by row."""

    def __init__(self, devs, rows, shift):
        self.devs, self.rows, self.shift = devs, rows, shift
        self.parts = len(rows[0])

    @classmethod
    def read(cls, path):
        data = gzip.decompress(path.read_bytes())
        assert data[:6] == b"R1NG\x00\x01"
        size = be(data[6:10])
        about = json.loads(data[10:10 + size])
        order = "<" if about["byteorder"] == "little" else ">"
        ids = [i for i, in struct.iter_unpack(order + "H", data[10 + size:])]
        parts = 1 << (32 - about["part_shift"])
        return cls(about["devs"], [ids[i:i + parts] for i in range(0, len(ids), parts)], about["part_shift"])

    def of(self, part):
        return [row[part] for row in self.rows if part < len(row)]

    def primaries(self, part):
        return list(dict.fromkeys(self.of(part)))

    def handoffs(self, part, most):
        start = be(hashlib.md5(str(part).encode()).digest()[:4]) >> self.shift
        inc = max(1, self.parts // 65536)
        visits = [*range(start, self.parts, inc), *range(inc - (self.parts - start) % inc, start, inc)]
        used, out = set(self.primaries(part)), []
        levels = (lambda d: d["region"], lambda d: (d["region"], d["zone"]),
                  lambda d: (d["region"], d["zone"], d["ip"]), lambda d: d["id"])
        for level in levels:
            everywhere = {level(d) for d in self.devs if d}
            seen = {level(self.devs[i]) for i in used}
            for visit in visits:
                for i in self.of(visit):
                    if seen == everywhere or len(out) == most:
                        break
                    if i not in used and level(self.devs[i]) not in seen:
                        seen.add(level(self.devs[i]))
                        used.add(i)
                        out.append(i)
        return out


def swift(head):
    ring = Rows.read(head.folder / head.text("ring"))

    def listed(ids):
        return ",".join(map(str, ids))
    if head.raw("mode") == "partitions":
        return lambda _: [[str(p), listed(ring.primaries(p))] for p in range(ring.parts)]

    def found(key):
        path = b"/" + b"/".join(unquote(part) for part in key.split("/", 2))
        digest = hashlib.md5(head.bytes("hash_path_prefix") + path + head.bytes("hash_path_suffix")).digest()
        part = be(digest[:4]) >> (32 - head.number("part_power"))
        return {"partition": part, "primaries": listed(ring.primaries(part)),
                "handoff": listed(ring.handoffs(part, head.number("handoffs", 0)))}
    return by_column(head, found)


TABLES = {"swift": swift}
