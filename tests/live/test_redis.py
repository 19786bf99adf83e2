# SPDX-License-Identifier: Apache-2.0
"""Redis Cluster: real servers that own random slots; where a key is, is what they redirect to."""
import live
from harness import LONG, Raw, Redis, free_port, wait_until

KEYS = 3000 if LONG else 1000


def cut_slots(rnd, n):
    """All 16384 slots in random stretches, each to one of n."""
    ends = sorted(rnd.sample(range(1, 16384), n * 6)) + [16384]
    owned, first = [[] for _ in range(n)], 0
    for i, end in enumerate(ends):
        owned[i if i < n else rnd.randrange(n)].append((first, end - 1))
        first = end
    return owned


def start(farm, rnd, n, turn):
    """(servers, what each owns) once all of them agree."""
    buses, owned = [free_port() for _ in range(n)], cut_slots(rnd, n)
    servers = [Redis(farm, f"{turn}-{i}", "--cluster-enabled", "yes", "--cluster-port", str(bus))
               for i, bus in enumerate(buses)]
    for i, server in enumerate(servers):
        with server.client() as c:
            c.execute_command("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
            c.execute_command("CLUSTER", "ADDSLOTSRANGE", *(x for r in owned[i] for x in r))
            for other, bus in zip(servers[:i], buses):
                c.execute_command("CLUSTER", "MEET", "127.0.0.1", other.port, bus)

    def knows_all(server):
        with server.client() as c:
            info = c.execute_command("CLUSTER", "INFO").decode()
        return "cluster_slots_ok:16384" in info and f"cluster_size:{n}" in info and "cluster_state:ok" in info

    wait_until(lambda: all(map(knows_all, servers)), timeout=30, every=.05)
    return servers, owned


def holders(server, keys):
    """What one server says of each key: an answer of its own, or the address it redirects to."""
    found = []
    with Raw("127.0.0.1", server.port) as raw:
        raw.send(b"".join(raw.pack("GET", k) for k in keys))
        for _ in keys:
            reply = raw.reply()
            assert reply == b"$-1\r\n" or reply.startswith(b"-MOVED "), reply
            found.append(reply.split()[2].decode() if reply.startswith(b"-") else server.address)
    return found


def test_redis_cluster(farm):
    rnd, score = live.draw("redis"), live.Score()
    for turn in range(max(1, live.TIMES // 3)):
        servers, owned = start(farm, rnd, rnd.randrange(2, 5), turn)
        nodes = [(s.address, 1, "slots=" + ",".join(f"{a}-{b}" for a, b in o)) for s, o in zip(servers, owned)]
        fleet, keys = live.Fleet(nodes, like="redis-cluster"), live.words(rnd, KEYS, "".join(map(chr, range(1, 256))) + "{}" * 40)
        theirs = holders(servers[0], keys)
        first, second, *others = fleet.nodes
        swapped = live.Fleet([(first[0], 1, second[2]), (second[0], 1, first[2]), *others], like="redis-cluster")
        score.compare(farm.dir, fleet, keys, theirs, swapped)
        for s in servers:
            s.kill()
    score.finish()
