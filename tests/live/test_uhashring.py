# SPDX-License-Identifier: Apache-2.0
"""Python's uhashring, both of its modes."""
import uhashring

import live
from harness import LONG

FLEETS, KEYS = 12, 1000 if LONG else 250


def make_ring(rnd, mode):
    """(fleet, the real ring)"""
    n, weighted, vnodes = live.size(rnd, 2, 12), rnd.random() < .5, rnd.choice([None, live.size(rnd, 1, 60)])
    names = live.words(rnd, n)
    nodes = [(name, live.size(rnd, 1, 6) if weighted else 1) for name in names]
    options = {"vnodes": vnodes} if vnodes else {}
    if mode == "ketama":
        options["hash_fn"] = "ketama"
    ring = uhashring.HashRing({name: {"weight": weight} for name, weight in nodes}, **options)
    return live.Fleet(nodes, like="uhashring", mode=mode, vnodes=vnodes), ring


def test_uhashring(farm):
    rnd, score = live.draw("uhashring"), live.Score()
    for _ in range(live.TIMES):
        for mode in ("default", "ketama"):
            for _ in range(FLEETS // 2):
                fleet, ring = make_ring(rnd, mode)
                keys = live.words(rnd, KEYS)
                theirs = [ring.get_node(k) for k in keys]
                score.compare(farm.dir, fleet, keys, theirs, fleet.but(mode="default" if mode == "ketama" else "ketama"))
    score.finish()
