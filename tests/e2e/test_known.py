# SPDX-License-Identifier: Apache-2.0
"""Keys known to be moved while their unit still is on the move: one command at the destination, and never a wrong answer."""
import json

import pytest

from harness import wait_until


@pytest.fixture
def moving(farm):
    """A move to cache-2, held in the middle; some keys that are there already, by a client's writes."""
    c = farm.cluster(2)
    with c.client() as client:
        client.mset({f"k{i}": i for i in range(400)})
    node = farm.redis("cache-2", keep=True)
    c.nodes["cache-2"] = node
    old = {"name": "cache-2", "address": node.address}
    wished = c.topology().read_text()
    last = [line for line in wished.splitlines() if "cache-1" in line][-1]
    to = wished.replace("version: 1", "version: 2").replace(
        last, last + "\n" + last.replace("cache-1", old["name"]).replace(c.nodes["cache-1"].address, old["address"]))
    status, text = c.http("POST", "/v1/move", json.dumps({"to": to, "keys_per_s": 1, "chunks": 2}), **{"X-Gyre": "1"})
    assert status == 202, text
    wait_until(lambda: json.loads(c.http("GET", "/v1/move")[1])["units"]["migrating"] > 0)
    with c.client() as client, client.pipeline(transaction=False) as p:
        for i in range(400):
            p.append(f"k{i}", "!")
        p.execute()
    with node.client() as d:
        known = [k for k in (b"k%d" % i for i in range(400)) if d.exists(k)]
    assert len(known) > 50
    return c, node, known


def calls(node):
    return {k[len("cmdstat_"):]: v["calls"] for k, v in node.client().info("commandstats").items()}


def asked(node, before):
    now = calls(node)
    return {k: now[k] - before.get(k, 0) for k in now if k in ("get", "append", "sismember", "hget", "fcall")
            and now[k] != before.get(k, 0)}


def test_keys_moved_on_access_are_counted(moving):
    # What is at the destination came by the mover or by a write, each counted once; a new key brings
    # nothing along.
    c, node, known = moving
    c.move("pause")
    with c.client() as client, client.pipeline(transaction=False) as p:
        for i in range(400):
            p.append(f"k{i}", "?").set(f"new{i}", i)
        p.execute()
    there = sum(node.client().exists(b"k%d" % i) for i in range(400))
    wait_until(lambda: c.status()["keys"]["moved"] == there, 5)
    keys = c.status()["keys"]
    assert 0 < keys["on_access"] <= there, keys
    assert keys["on_access"] == c.client().info("stats")["gyre_keys_moved_on_access"]


def test_known_keys(moving):
    c, node, known = moving
    # Each command is one command at the destination: nothing is asked about the key.
    before = calls(node)
    with c.client() as client, client.pipeline(transaction=False) as p:
        for _ in range(3):
            for k in known:
                p.get(k).append(k, "?")
        answers = p.execute()
    assert answers[0] == known[0][1:] + b"!" and answers[-1] == len(known[-1]) - 1 + 4
    assert asked(node, before) == {"get": 3 * len(known), "append": 3 * len(known)}
    assert c.client().info("stats")["gyre_commands_on_known_moved"] >= 6 * len(known)

    # A destination that began anew may have lost its marks: it is asked again.
    node.restart()
    want = known[0][1:] + b"!???"
    wait_until(lambda: c.raw().ask("GET", known[0]) == b"$%d\r\n%s\r\n" % (len(want), want))
    before = calls(node)
    assert c.client().append(known[1], "?") == len(known[1]) + 4
    assert asked(node, before)["sismember"] == 1

    # After an abort the source has them, and nothing of before counts.
    c.move("rate", "--keys-per-second", "0")
    c.move("abort")
    c.wait_idle()
    with c.client() as client:
        assert client.mget(known[2:]) == [k[1:] + b"!???" for k in known[2:]]
        client.mset({k: b"new" for k in known})
    assert node.client().dbsize() == 0
    c.nodes.pop("cache-2")
    c.place()
