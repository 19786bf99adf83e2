# SPDX-License-Identifier: Apache-2.0
"""The form of a vector file (tests/vectors/README.md).

A model is a function of a Head that returns the file's table: a function that takes rows cut down to what is given (the
key) and returns them whole; a file of a whole ring gives it nothing.
"""
import bisect
import struct

PLAIN = set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_-.")


def quote(data, plain=PLAIN):
    data = data.encode() if isinstance(data, str) else data
    return "".join(chr(c) if c in plain else f"%{c:02X}" for c in data)


def unquote(text):
    head, *rest = text.encode().split(b"%")
    return head + b"".join(bytes([int(part[:2], 16)]) + part[2:] for part in rest)


def f32(x):
    """To the nearest single. Of two singles a double's + - * / rounded again is the single's own."""
    return struct.unpack("f", struct.pack("f", x))[0]


class Node:
    """A node of nodes=: its text there, its name in bytes, its weight as written."""

    def __init__(self, item):
        self.text, _, self.weight = item.rpartition("*")
        self.name = unquote(self.text)

    @property
    def w(self):
        return int(self.weight)


class Head:
    """Line 1: fields by name, still percent-encoded; folder: where the companion files are."""

    def __init__(self, fields, folder=None):
        self.fields, self.folder = fields, folder
        self.columns = fields.get("columns", "key,node").split(",")

    @classmethod
    def parse(cls, line, folder=None):
        return cls(dict(field.split("=", 1) for field in line[2:].split(" ")), folder)

    def raw(self, name, default=None):
        return self.fields.get(name, default)

    def bytes(self, name):
        return unquote(self.fields.get(name, ""))

    def text(self, name):
        return self.bytes(name).decode()

    def number(self, name, default=None):
        return int(self.fields.get(name, default))

    def items(self, name):
        value = self.fields.get(name, "")
        return value.split(",") if value else []

    @property
    def nodes(self):
        return [Node(item) for item in self.items("nodes")]

    def live(self):
        down = set(self.items("down"))
        return [node for node in self.nodes if node.text not in down]

    def line(self):
        return "# " + " ".join(f"{k}={v}" for k, v in self.fields.items()) + "\n"


class Ring:
    """Points and owners, sorted by point alone: of equal ones the first given stays first."""

    def __init__(self, pairs):
        self.pairs = sorted(pairs, key=lambda pair: pair[0])
        self.points = [point for point, _ in self.pairs]

    def at_or_after(self, h):
        return self.pairs[bisect.bisect_left(self.points, h) % len(self.pairs)][1]

    def after(self, h):
        return self.pairs[bisect.bisect_right(self.points, h) % len(self.pairs)][1]


def by_key(place):
    """The table of a file of two columns: place(key bytes) -> the second one."""
    return lambda inputs: [[row[0], str(place(unquote(row[0])))] for row in inputs]


def by_column(head, found):
    """The table of a file of the header's columns: found(first cell) -> what stands in each that it may have."""
    def row(cells):
        line = {head.columns[0]: cells[0], **found(cells[0])}
        return [str(line[name]) for name in head.columns]
    return lambda inputs: [row(cells) for cells in inputs]
