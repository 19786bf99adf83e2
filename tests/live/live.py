# SPDX-License-Identifier: Apache-2.0
"""Random fleets placed by a real program and by `gyre locate`, key for key.

The seed is printed; GYRE_SEED=N repeats one. In the short tier it is the same in every run, so that a change
is judged by what it changed; the long tier draws a fresh one (GYRE_SEED=0 does so here too). Servers are
addresses all over 127.0.0.0/8 with one port, and answer with the address they were reached at, so a fleet of
any size and of any names needs one listener. Each fleet is also asked with one setting wrong: most must then
differ, or the comparison shows nothing.
"""
import json
import os
import random
import subprocess
import urllib.parse

from harness import GYRE, LONG

SEED = int(os.environ.get("GYRE_SEED", "0" if LONG else "1"), 0) or random.SystemRandom().randrange(1, 1 << 32)
TIMES = 10 if LONG else 1


def draw(salt):
    """The random numbers of one test: its own, whichever tests run beside it."""
    print(f"GYRE_SEED={SEED}")
    return random.Random(f"{SEED} {salt}")


def size(rnd, least, most):
    """Often small."""
    return least + int((most - least + 1) ** rnd.random()) - 1


def addresses(rnd, n, port):
    """Different servers, of names of many lengths."""
    found = set()
    while len(found) < n:
        found.add(f"127.{rnd.randrange(256)}.{rnd.choice([0, 7, rnd.randrange(256)])}.{rnd.randrange(1, 255)}:{port}")
    return rnd.sample(sorted(found), n)


def words(rnd, n, letters="abcdefghijklmnopqrstuvwxyzABCXYZ0123456789-_.:/%~", least=1, most=40):
    """Keys of the letters given, no two alike; half of them look like keys in use."""
    found = {}
    while len(found) < n:
        if rnd.random() < .5:
            key = f"{rnd.choice(['user', 'item', 'a'])}:{rnd.randrange(10 ** 6)}"
        else:
            key = "".join(rnd.choice(letters) for _ in range(size(rnd, least, most)))
        found[key] = True
    return list(found)


class Fleet:
    """nodes: [(name, weight)], or with a third item, its options, and a fourth, its zone; words of the placement section."""

    copies = 1  # how many nodes are asked for, of each key

    def __init__(self, nodes, **placement):
        self.nodes, self.placement = nodes, placement

    def but(self, **other):
        """The same fleet with other settings."""
        return type(self)(self.nodes, **{**self.placement, **other})

    def answer(self, nodes):
        """What is compared, of a key's nodes."""
        return nodes[0]

    def topology(self):
        quote = json.dumps  # JSON is YAML
        place = {k: v for k, v in self.placement.items() if v is not None}
        lines = ["gyre: 1", "version: 1", "placement:"] + [f"  {k}: {quote(str(v))}" for k, v in place.items()]
        lines.append("nodes:")
        for name, weight, *more in self.nodes:
            extra = "".join(f", {key}: {quote(value)}" for key, value in zip(("options", "zone"), more) if value)
            lines.append(f"  - {{name: {quote(name)}, weight: {weight}{extra}}}")
        return "\n".join(lines) + "\n"

    def locate(self, folder, keys):
        """Each key's answer."""
        file, asked = folder / "fleet.yaml", folder / "keys"
        file.write_text(self.topology())
        asked.write_text("\0".join(urllib.parse.quote(k, safe="") for k in keys) + "\0")
        out = subprocess.run([GYRE, "locate", file, "-n", str(self.copies), "--keys0", asked, "--encoded", "--json"],
                             capture_output=True, text=True, timeout=60)
        assert out.returncode == 0, out.stderr + file.read_text()
        rows = json.loads(out.stdout)["keys"]
        assert len(rows) == len(keys)
        return [self.answer(row["nodes"]) for row in rows]


class Score:
    """What a whole test has compared."""

    def __init__(self):
        self.fleets = self.keys = self.wrong = self.differed = 0

    def compare(self, folder, fleet, keys, theirs, wrong):
        """theirs: where the real program put the keys. `wrong`: a fleet that is not quite this one."""
        ours = fleet.locate(folder, keys)
        bad = [(k, t, o) for k, t, o in zip(keys, theirs, ours, strict=True) if t != o]
        assert not bad, f"GYRE_SEED={SEED}: {len(bad)} of {len(keys)} keys differ; (key, real, gyre): {bad[:3]}\n" \
                        f"{fleet.topology()}"
        self.fleets += 1
        self.keys += len(keys)
        if len(fleet.nodes) > 1:
            self.wrong += 1
            self.differed += wrong.locate(folder, keys) != ours

    def finish(self):
        print(f"{self.fleets} fleets, {self.keys} keys alike; with a wrong setting {self.differed} of {self.wrong} fleets differ")
        assert self.fleets and self.differed >= .5 * self.wrong > 0, "this comparison cannot fail"
