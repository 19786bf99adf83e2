# SPDX-License-Identifier: Apache-2.0
"""Many writers on keys that are on the move: one carry a key, as much memory as is allowed, and every write once."""
import os
import pathlib
import re
import threading
import time

import pytest

import harness
from harness import LONG, topology_text, wait_until

MB = 1 << 20
# A sanitizer's shadow and quarantine are not the proxy's memory.
SANITIZED = b"__asan_init" in open(harness.GYRE, "rb").read() if os.path.exists(harness.GYRE) else False


class Moving:
    """A move from one node to a second one that stands still, every unit under way. What is put at the source
    now is as a key that the mover has not come to yet."""

    def __init__(self, farm, *proxy_lines, keep=False):
        self.cluster = c = farm.cluster(1, proxy_lines, keep=keep)
        self.source, self.target = c.nodes["cache-0"], farm.redis("cache-1")
        with c.client() as client, client.pipeline(transaction=False) as p:
            for i in range(2000):  # more than the mover copies before it looks at its rate
                p.set(f"f{i}", i)
            p.execute()
        new = c.dir / "new.yaml"
        new.write_text(topology_text([("cache-0", self.source.address), ("cache-1", self.target.address)], 2))
        names = [b"k%d" % i for i in range(200)]
        self.keys = [k for k, node in c.locate(names, new).items() if node == "cache-1"]
        c.move("start", "--yes", "--detach", "--keys-per-second", "1", "--chunks", "2", "--add",
               f"cache-1={self.target.address}")
        wait_until(lambda: (u := c.status()["units"])["migrating"] == u["total"])
        c.move("pause")
        self.dumped = self.calls(self.source, "fcall_ro")

    @staticmethod
    def calls(node, command):
        return node.client().info("commandstats").get(f"cmdstat_{command}", {"calls": 0})["calls"]

    def dumps(self):
        """How often the source has read out a key for a client's write."""
        return self.calls(self.source, "fcall_ro") - self.dumped

    def put(self, key, value):
        assert self.source.client().set(key, value)

    def send(self, *commands):
        """A client for each, all sent while the source is frozen; back when each has found its key unmoved."""
        asked = self.calls(self.target, "sismember")
        self.source.freeze()
        clients = [self.cluster.raw(timeout=60) for _ in commands]
        for client, command in zip(clients, commands):
            client.send(client.pack(*command))
        wait_until(lambda: self.calls(self.target, "sismember") >= asked + len(commands))
        return clients

    def finish(self):
        """The move to its end: each key on one node, the right one."""
        c = self.cluster
        c.move("rate", "--keys-per-second", "0")
        c.move("resume")
        c.wait_idle()
        c.nodes["cache-1"] = self.target
        c.place()


@pytest.fixture(scope="module")
def moving(shared_farm):
    return Moving(shared_farm, "workers: 1", "limits: {max_memory: 20MB}", "backend: {timeout: 5s}")


def test_one_carry_a_key(moving):
    m, key, big = moving, moving.keys[0], b"." * (4 * MB)
    m.put(key, big)
    letters = [b"%c" % (97 + i) for i in range(17)]
    before = m.dumps()
    clients = m.send(*(("APPEND", key, x) for x in letters))
    clients.pop().close()  # what was taken from it is carried out nevertheless, as by Redis
    m.source.thaw()
    lengths = {int(r.reply()[1:]) - len(big) for r in clients}
    assert len(lengths) == 16 and lengths <= set(range(1, 18))
    assert m.dumps() - before == 1, "the key was read out for more than one of the writers"
    wait_until(lambda: m.target.client().strlen(key) == len(big) + 17)
    tail = m.target.client().getrange(key, len(big), -1)
    assert sorted(tail) == sorted(b"".join(letters))
    wait_until(lambda: m.cluster.client().info("stats")["gyre_commands_behind_a_carry"] == 16)


def test_after_a_carry_that_is_refused_the_next_one_goes(moving):
    # The destination is full: writes that need memory fail, one that frees some carries the key itself.
    m, key = moving, moving.keys[1]
    m.put(key, b"." * MB)
    before = m.dumps()
    clients = m.send(*[("APPEND", key, "a")] * 6, ("DEL", key), *[("APPEND", key, "c")] * 6)
    m.target.client().config_set("maxmemory", "1mb")
    m.source.thaw()
    answers = [r.reply() for r in clients]
    assert answers.pop(6) == b":1\r\n" and all(a.startswith(b"-OOM") for a in answers), answers
    m.target.client().config_set("maxmemory", "0")
    assert m.cluster.client().exists(key) == 0
    assert m.dumps() - before == 7, "not by each in turn until one carried it"


def peak(process):
    """The most that the process has had in memory since the last call."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    pathlib.Path(f"/proc/{process.pid}/clear_refs").write_text("5")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) * 1024


def test_values_on_their_way_are_bounded(moving):
    # 30 MB of values, and their destination takes nothing for a while: a quarter of max_memory may be in memory.
    m, size = moving, 3 * MB // 2
    keys = m.keys[2:22]
    m.source.client().config_set("rdbcompression", "no")
    for key in keys:
        m.put(key, b"." * size)

    def held():
        return m.cluster.client().info("memory")["gyre_client_buffers"]
    peak(m.cluster.proxy)
    before = peak(m.cluster.proxy)
    clients = m.send(*(("APPEND", key, "a") for key in keys))
    m.target.freeze()
    m.source.thaw()
    wait_until(lambda: held() > 3 * size)
    most = max((held(), time.sleep(0.02)) for _ in range(15))[0]
    m.target.thaw()
    assert [r.reply() for r in clients] == [b":%d\r\n" % (size + 1)] * len(keys)
    grown = peak(m.cluster.proxy) - before
    assert most < 5.1 * MB
    assert SANITIZED or grown < 15 * MB, f"{grown / MB:.1f} MB"


def test_who_comes_when_memory_is_short_is_told_so(moving):
    m, key = moving, moving.keys[23]
    m.put(key, b".")
    m.source.freeze()
    herd = [m.cluster.raw() for _ in range(110)]  # 22 MB of requests that wait: more than max_memory
    for client in herd:
        client.send(client.pack("APPEND", key, b"." * 200000))

    def farewell():
        with m.cluster.raw(timeout=0.1) as r:
            try:
                return r.line()
            except TimeoutError:
                return None
    assert wait_until(farewell) == b"-ERR the proxy has no memory left for another client; try again\r\n"
    m.source.thaw()
    assert sorted(int(r.reply()[1:]) for r in herd) == [1 + 200000 * i for i in range(1, 111)]
    wait_until(lambda: not farewell())
    assert m.cluster.client().delete(key) == 1


def test_idle_clients_keep_nobody_out(moving):
    c, value = moving.cluster, b"." * 200000
    pool = [c.raw() for _ in range(130)]
    for client in pool:  # each had 200 KB each way once, and begins another request
        wait_until(lambda: client.ask("SET", "idle", value) == b"+OK\r\n")
        assert len(client.ask("GET", "idle")) > len(value)
        client.send(b"*1\r\n")
    wait_until(lambda: c.client().info("memory")["gyre_client_buffers"] < MB)
    assert c.raw().ask("PING") == b"+PONG\r\n"
    for client in pool:
        client.send(b"$4\r\nPING\r\n")
        assert client.reply() == b"+PONG\r\n"
    assert c.client().delete("idle") == 1


def test_more_moving_keys_in_one_command_than_memory_has_room_for(moving):
    c, many = moving.cluster, [b"m%d" % i for i in range(60000)]
    peak(c.proxy)
    before = peak(c.proxy)
    one = c.raw()
    for command in ("MGET", "DEL"):
        assert re.match(rb"-TRYAGAIN more of its keys .* not executed", one.ask(command, *many))
    assert SANITIZED or peak(c.proxy) - before < 20 * MB
    assert one.ask("MGET", *many[:2000]) == b"*2000\r\n" + b"$-1\r\n" * 2000


def test_a_value_for_which_there_can_be_no_room(moving):
    m, key = moving, moving.keys[22]
    m.put(key, b"." * (6 * MB))
    answer = m.cluster.raw().ask("APPEND", key, "a")
    assert re.match(rb"-TRYAGAIN .* its value takes 629\d{4} bytes, more than the 5242880 that", answer), answer
    m.finish()
    assert m.cluster.client().append(key, "a") == 6 * MB + 1


def test_a_carry_whose_source_dies(farm):
    m = Moving(farm, "workers: 2", keep=True)
    key, other = m.keys[:2]
    m.put(key, b"." * MB)
    clients = m.send(*(("APPEND", key, "a") for _ in range(8)))
    m.source.kill()
    answers = [r.reply() for r in clients]
    assert all(a.startswith(b"-NODEDOWN node 'cache-0'") for a in answers), answers
    m.source.start()
    one = m.cluster.raw()
    wait_until(lambda: not (a := one.ask("APPEND", key, "b")).startswith(b"-NODEDOWN") and a == b":%d\r\n" % (MB + 1))
    assert m.target.client().getrange(key, MB - 1, -1) == b".b"
    # The end of the process finds some that wait.
    m.put(other, b"." * MB)
    m.send(*(("APPEND", other, "a") for _ in range(4)))
    threading.Timer(0.05, m.source.thaw).start()
    assert m.cluster.proxy.stop() == 0, m.cluster.proxy.output()


@pytest.mark.skipif(not LONG, reason="a node is given 10 s for a key, however large")
def test_a_frozen_source_is_noticed_though_writes_keep_coming(farm):
    m = Moving(farm, "workers: 1")
    for key in m.keys[:60]:
        m.put(key, b"v")
    m.source.freeze()
    begun = time.monotonic()
    clients = []
    for key in m.keys[:60]:
        clients.append(m.cluster.raw(timeout=30))
        clients[-1].send(clients[-1].pack("APPEND", key, "a"))
        if m.cluster.client().execute_command("INFO", "nodes")["node0"]["state"] == "down":
            break
        time.sleep(0.3)
    assert time.monotonic() - begun > 10 and len(clients) < 60
    assert all(c.reply().startswith(b"-NODEDOWN node 'cache-0'") for c in clients)
    m.source.thaw()
    m.finish()
