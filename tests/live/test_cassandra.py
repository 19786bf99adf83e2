# SPDX-License-Identifier: Apache-2.0
"""Cassandra's Python driver: tokens of keys, and the replicas of both strategies as it works them out for its own routing.

Where racks are fewer than replicas, driver 3.25 may name a host twice, once for each of its tokens that it had
passed over; servers do not. Such answers are left out, and are few.
"""
import cassandra.metadata as driver
from cassandra.policies import SimpleConvictionPolicy
from cassandra.pool import Host

import live
from harness import LONG

FLEETS, KEYS = 12, 1000 if LONG else 200
SPAN = {"Murmur3Partitioner": (-(1 << 63) + 1, 1 << 63), "RandomPartitioner": (0, 1 << 127)}


class Replicas(live.Fleet):
    """A key's nodes; of NetworkTopologyStrategy without their order, which the driver takes datacenter by datacenter."""

    def __init__(self, nodes, copies, **placement):
        super().__init__(nodes, **placement)
        self.copies = copies

    def but(self, **other):
        return Replicas(self.nodes, self.copies, **{**self.placement, **other})

    def answer(self, nodes):
        return tuple(sorted(nodes) if self.placement["distribution"] == "NetworkTopologyStrategy" else nodes)


def draw_nodes(rnd, partitioner):
    """[(host, tokens, datacenter, rack)]: every datacenter has a node or more, racks may be few or many."""
    n = live.size(rnd, 2, 24)
    centers, racks, vnodes = rnd.randrange(1, min(n, 3) + 1), rnd.randrange(1, 5), live.size(rnd, 1, 16)
    tokens = iter(rnd.sample(range(1 << 40), n * vnodes))
    low, high = SPAN[partitioner]
    spread = lambda: low + next(tokens) * ((high - low) >> 40) + rnd.randrange(1 << 20)  # all different
    return [(Host(f"10.0.{i // 250}.{i % 250 + 1}", SimpleConvictionPolicy), [spread() for _ in range(vnodes)],
             f"dc{i % centers + 1}", f"r{rnd.randrange(racks)}") for i in range(n)]


def draw_strategy(rnd, name, nodes):
    """(the driver's options, our settings, replicas in all)"""
    if name == "SimpleStrategy":
        rf = rnd.randrange(1, min(len(nodes), 5) + 1)
        return {"replication_factor": str(rf)}, {}, rf
    sizes = {dc: sum(node[2] == dc for node in nodes) for dc in sorted({node[2] for node in nodes})}
    rf = {dc: rnd.randrange(1, min(size, 4) + 1) for dc, size in sizes.items()}
    return {dc: str(n) for dc, n in rf.items()}, {"rf": ",".join(f"{dc}:{n}" for dc, n in rf.items())}, sum(rf.values())


def ask(nodes, partitioner, strategy, options, keys):
    """{key: replicas}, from the metadata the driver keeps of a cluster."""
    metadata = driver.Metadata()
    for host, _, dc, rack in nodes:
        host.set_location_info(dc, rack)
        metadata.add_or_return_host(host)
    metadata.rebuild_token_map(f"org.apache.cassandra.dht.{partitioner}", {host: list(map(str, tokens)) for host, tokens, _, _ in nodes})
    metadata.keyspaces["k"] = driver.KeyspaceMetadata("k", True, f"org.apache.cassandra.locator.{strategy}", options)
    found = {key: [host.address for host in metadata.get_replicas("k", key.encode())] for key in keys}
    return {key: names for key, names in found.items() if len(set(names)) == len(names)}


def test_cassandra(farm):
    rnd, score = live.draw("cassandra"), live.Score()
    asked = 0
    for turn in range(live.TIMES * FLEETS):
        partitioner, other = rnd.sample(sorted(SPAN), 2)
        strategy = ("SimpleStrategy", "NetworkTopologyStrategy")[turn % 2]
        nodes, keys = draw_nodes(rnd, partitioner), live.words(rnd, KEYS)
        options, settings, copies = draw_strategy(rnd, strategy, nodes)
        fleet = Replicas([(host.address, 1, "tokens=" + ",".join(map(str, tokens)), f"{dc}/{rack}") for host, tokens, dc, rack in nodes],
                         copies, like="cassandra", partitioner=partitioner, distribution=strategy, **settings)
        asked += len(keys)
        answers = ask(nodes, partitioner, strategy, options, keys)
        wrong = Replicas([(name, 1, "", zone) for name, _, _, zone in fleet.nodes], copies, **{**fleet.placement, "partitioner": other})
        score.compare(farm.dir, fleet, list(answers), [fleet.answer(names) for names in answers.values()], wrong)
    score.finish()
    assert score.keys > .8 * asked
