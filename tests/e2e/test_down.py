# SPDX-License-Identifier: Apache-2.0
"""Nodes that die, hang and come back: their keys fail at once and clearly, the others go on."""
import json
import statistics
import time

import pytest
import redis

import harness
from harness import end, wait_until


@pytest.fixture
def cluster(farm):
    return farm.cluster(3, ["backend: {timeout: 500ms}"])


def one_key_of_each(cluster):
    keys = [b"k%d" % i for i in range(200)]
    where = cluster.locate(keys)
    return {node: next(k for k in keys if where[k] == node) for node in cluster.nodes}


def fails_quickly(cluster, key, want="NODEDOWN"):
    """After the first detection every answer is an error, each within 50 ms."""
    c = cluster.client()
    times = []
    for _ in range(40):
        started = time.monotonic()
        with pytest.raises(redis.ResponseError, match=want):
            c.get(key)
        times.append(time.monotonic() - started)
        time.sleep(0.02)
    assert max(times[1:]) < 0.5 and statistics.quantiles(times, n=20)[-1] < 0.05, times


def detected(cluster, key):
    def down():
        try:
            cluster.client().get(key)
        except redis.ResponseError as e:
            return "NODEDOWN" in str(e)
        return False
    wait_until(down, 5)


def served(cluster, key):
    def up():
        try:
            return cluster.client().set(key, "back")
        except redis.ResponseError:
            return False
    return wait_until(up, 8)


def test_a_dead_node(cluster):
    key = one_key_of_each(cluster)
    node = cluster.nodes["cache-1"]
    c = cluster.client()
    c.mset({k: "v" for k in key.values()})
    node.kill()
    detected(cluster, key["cache-1"])
    fails_quickly(cluster, key["cache-1"])
    for name in ("cache-0", "cache-2"):
        assert c.get(key[name]) == b"v"
    node.start()
    assert served(cluster, key["cache-1"])
    assert "cache-1" in cluster.proxy.output()


def test_the_error_names_the_node(cluster):
    key = one_key_of_each(cluster)
    cluster.nodes["cache-2"].kill()
    detected(cluster, key["cache-2"])
    with pytest.raises(redis.ResponseError) as e:
        cluster.client().get(key["cache-2"])
    assert "cache-2" in str(e.value) and cluster.nodes["cache-2"].address in str(e.value)


def test_a_frozen_node(cluster):
    key = one_key_of_each(cluster)
    node = cluster.nodes["cache-0"]
    node.freeze()
    started = time.monotonic()
    with pytest.raises(redis.ResponseError, match="NODEDOWN"):
        cluster.client().set(key["cache-0"], "doubtful")
    assert time.monotonic() - started < 3
    detected(cluster, key["cache-0"])
    fails_quickly(cluster, key["cache-0"])
    assert cluster.client().set(key["cache-1"], "v")
    node.thaw()
    assert served(cluster, key["cache-0"])


def test_a_frozen_nodes_late_writes_do_not_land_later(cluster):
    """What was given up as doubtful may not run after a newer write was acknowledged."""
    key = one_key_of_each(cluster)["cache-0"]
    node = cluster.nodes["cache-0"]
    cluster.client().set(key, "old")
    node.freeze()
    with pytest.raises(redis.ResponseError):
        cluster.client().set(key, "doubtful")
    node.thaw()
    assert served(cluster, key)
    cluster.client().set(key, "new")
    time.sleep(0.5)
    assert cluster.client().get(key) == b"new"


def test_split_commands_say_which_part_failed(cluster):
    key = one_key_of_each(cluster)
    c = cluster.client()
    c.mset({k: "v" for k in key.values()})
    cluster.nodes["cache-1"].kill()
    detected(cluster, key["cache-1"])
    with pytest.raises(redis.ResponseError, match="cache-1"):
        c.delete(*key.values())
    with pytest.raises(redis.ResponseError, match="cache-1"):
        c.mset({k: "w" for k in key.values()})
    answers = cluster.raw().ask("MGET", *key.values())
    assert b"NODEDOWN" in answers
    assert c.get(key["cache-0"]) == b"w"


def test_the_others_are_not_slowed(cluster, farm):
    """A frozen node, and a client that goes on asking it: the other nodes' keys stay quick."""
    key = one_key_of_each(cluster)
    cluster.nodes["cache-0"].freeze()
    bad = cluster.raw()
    for _ in range(200):
        bad.send(harness.Raw.pack("GET", key["cache-0"]))
    times = []
    c = cluster.client()
    for _ in range(300):
        started = time.monotonic()
        c.set(key["cache-2"], "v")
        times.append(time.monotonic() - started)
    assert statistics.quantiles(times, n=100)[-2] < 0.1, max(times)
    assert all(bad.reply().startswith(b"-NODEDOWN") for _ in range(200))


def test_under_load_nothing_is_lost(cluster, farm):
    """Kill and restart (with its log), freeze and thaw, under the checker."""
    nodes = [farm.redis(f"kept-{i}", keep=True) for i in range(3)]
    c = harness.Cluster(farm, nodes, ["backend: {timeout: 500ms}"], name="kept").start()
    check = farm.checker(c.port, "--seconds", "60", "--keys", "3000", "--rate", "4000", "--settle", "4000", "--progress")
    wait_until(lambda: "loaded" in check.output(), 20)
    time.sleep(0.5)
    for act in (nodes[0].restart, lambda: (nodes[1].freeze(), time.sleep(1.2), nodes[1].thaw()), nodes[2].restart):
        act()
        time.sleep(0.8)
    report = end(check)
    assert report["errors_total"] > 0 and report["ops"] > 3000
    assert all("NODEDOWN" in e or "LOADING" in e for e in report["errors"]), report["errors"]
    c.place()


@pytest.mark.parametrize("change, why", [
    (("CONFIG", "SET", "requirepass", "changed"), "the node refuses the password: WRONGPASS"),
    (("ACL", "SETUSER", "default", "-client|setname"), "the node refuses the hand-shake: NOPERM this user has no permissions to run the 'client|setname'"),
    (("ACL", "SETUSER", "default", "-client"), "the node refuses the hand-shake: NOPERM"),
    (("ACL", "SETUSER", "default", "-info"), "INFO: NOPERM this user has no permissions to run the 'info' command"),
], ids=["password", "name", "client", "info"])
def test_a_failed_hand_shake_says_why(farm, change, why):
    """In the error that clients get, in the log, and once it is put right the node serves again."""
    node = farm.redis("cache-0", "--requirepass", "secret")
    node.password = "secret"
    (farm.dir / "pass").write_text("secret\n")
    c = harness.Cluster(farm, [node], [f"backend: {{password_file: {farm.dir}/pass}}"]).start()
    assert c.client().set("k", "v")
    operator = node.client()
    operator.execute_command("MULTI")
    operator.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    operator.execute_command(*change)
    operator.execute_command("EXEC")
    wait_until(lambda: f": {why}" in c.raw().ask("GET", "k").decode(), 5)
    assert why in c.proxy.output()
    operator.execute_command(*{"CONFIG": ("CONFIG", "SET", "requirepass", "secret")}.get(
        change[0], ("ACL", "SETUSER", "default", "+@all")))
    assert served(c, "k")


def test_a_destination_lost_for_good(farm):
    """The way back waits for it and says so; an empty server at its address ends the move."""
    c = farm.cluster(2)
    before = c.fill(400)
    d = farm.redis("cache-2")
    c.move("start", "--yes", "--detach", "--keys-per-second", "60", "--add", f"cache-2={d.address}")
    wait_until(lambda: c.status()["keys"]["moved"] > 0)
    d.kill()
    c.move("abort", "--detach")
    wait_until(lambda: "empty Redis at its address" in (c.status()["last_error"] or ""))
    assert "cache-2" in c.status()["last_error"]
    d.restart()
    c.wait_idle()
    assert json.loads(c.move("history", "--json").stdout)["moves"][0]["result"] == "aborted"
    assert c.snapshot("user:*") == before
