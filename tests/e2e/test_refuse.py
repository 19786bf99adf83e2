# SPDX-License-Identifier: Apache-2.0
"""What a move refuses before anything has moved: each time with a reason, and nothing has changed."""
import json
import time

import pytest

import harness
from harness import wait_until


@pytest.fixture
def cluster(farm):
    c = farm.cluster(2)
    c.before = c.fill(200)
    return c


def refused(cluster, *args, words=()):
    done = cluster.move("start", "--yes", *args, check=False)
    said = done.stderr + done.stdout
    assert done.returncode in (1, 2), (done.returncode, said)
    for word in words:
        assert word in said, f"{word!r} is not in {said!r}"
    s = cluster.status()
    assert s["state"] == "idle", s
    assert cluster.snapshot("user:*") == cluster.before
    assert "version: 1\n" in cluster.topology().read_text()
    for node in cluster.nodes.values():
        if node.process.alive():
            assert not node.client().keys("gyre:*")
    return said


def test_leftovers_at_the_destination(cluster, farm):
    d = farm.redis("cache-2")
    d.client().mset({f"stranger{i}": i for i in range(12)})
    said = refused(cluster, "--add", f"cache-2={d.address}", words=["12", "stranger", "--purge-destination"])
    assert sum(f"stranger{i}" in said for i in range(12)) >= 5
    assert d.client().dbsize() == 12
    cluster.move("start", "--yes", "--purge-destination", "--add", f"cache-2={d.address}")
    cluster.nodes["cache-2"] = d
    assert not d.client().keys("stranger*")
    cluster.place()


def test_a_replica_as_destination(cluster, farm):
    d = farm.redis("cache-2")
    d.replicate(cluster.nodes["cache-0"])
    refused(cluster, "--add", f"cache-2={d.address}", words=["cache-2", "repl"])


@pytest.mark.parametrize("policy", ["allkeys-lru", "allkeys-lfu", "allkeys-random"])
def test_a_destination_that_evicts(cluster, farm, policy):
    d = farm.redis("cache-2", "--maxmemory", "100mb", "--maxmemory-policy", policy)
    refused(cluster, "--add", f"cache-2={d.address}", words=["cache-2", policy])


@pytest.mark.parametrize("ms", [2500, -130])
def test_clocks_apart(cluster, farm, ms):
    d = farm.redis("cache-2", skew_ms=ms)
    said = refused(cluster, "--add", f"cache-2={d.address}", words=["cache-2", "clock", "set the clocks first"])
    apart = float(said.split("its clock is ")[1].split(" s away")[0])
    assert abs(apart - abs(ms) / 1000) < 0.03, said


def test_no_replica_of_the_old_one(cluster, farm):
    """--same-data believes nobody: neither another's replica, nor one that was promoted too early."""
    s, other = (cluster.nodes[f"cache-{i}"] for i in range(2))
    stranger, early = farm.redis("stranger"), farm.redis("early")
    stranger.replicate(other)
    early.replicate(s)
    replace = ["--same-data", "--replace", f"cache-0={stranger.address}"]
    refused(cluster, *replace, words=["cache-0", "it is a replica"])
    stranger.client().replicaof("NO", "ONE")
    refused(cluster, *replace, words=["cache-0", "was no replica of the old one", "leave --same-data out"])

    early.client().replicaof("NO", "ONE")
    with cluster.client() as cl:
        cl.mset({f"late{i}": i for i in range(20)})
    refused(cluster, "--same-data", "--replace", f"cache-0={early.address}",
            words=["cache-0", "has taken writes since", "FAILOVER TO"])

    cluster.nodes.pop("cache-0")
    cluster.before = cluster.snapshot("user:*")
    s.kill()  # it can be asked nothing, but the keys of another node are those of another node
    refused(cluster, *replace, words=["cache-0", "was no replica of the old one", "belong on other nodes"])
    stranger.client().flushall()
    refused(cluster, *replace, words=["cache-0", "holds no keys"])


def test_keys_in_other_databases_of_a_leaving_node(cluster):
    cluster.nodes["cache-1"].client(db=1).set("elsewhere", 1)
    refused(cluster, "--remove", "cache-1", words=["cache-1", "databases"])


def test_a_destination_that_is_down(cluster, farm):
    refused(cluster, "--add", f"cache-2={harness.HOST}:{harness.free_port()}", words=["cache-2"])


def test_a_source_that_is_down(cluster, farm):
    d = farm.redis("cache-2")
    gone = cluster.nodes.pop("cache-1")
    cluster.before = cluster.snapshot("user:*")
    gone.kill()
    refused(cluster, "--add", f"cache-2={d.address}", words=["cache-1"])
    assert d.client().dbsize() == 0


def test_a_destination_too_small(cluster, farm):
    c = cluster
    with c.client() as cl:
        for i in range(40):
            cl.set(f"user:large{i}", harness.os.urandom(200000))
    c.before = c.snapshot("user:*")
    d = farm.redis("cache-2", "--maxmemory", "2mb")
    refused(c, "--add", f"cache-2={d.address}", words=["cache-2", "memory"])


def test_no_change(cluster):
    refused(cluster, "--weight", "cache-0=1")


def test_unknown_node(cluster):
    refused(cluster, "--remove", "cache-9", words=["cache-9"])


def test_a_name_that_is_there(cluster, farm):
    refused(cluster, "--add", f"cache-0={farm.redis('other').address}", words=["cache-0"])


@pytest.mark.parametrize("purge", [[], ["--purge-destination"]])
def test_the_server_of_another_node(cluster, purge):
    """Whatever it is called: a purge would take the other node's keys for strays."""
    a, b = (cluster.nodes[f"cache-{i}"] for i in range(2))
    already = "cache-1 of this fleet already"
    # The same text is seen by the command itself; another text for the same server only by the proxy.
    for address, words in ((b.address, ["have one address", b.address]), (f"localhost:{b.port}", [already, "localhost"])):
        refused(cluster, *purge, "--replace", f"cache-0={address}", words=words)
        refused(cluster, *purge, "--add", f"cache-2={address}", words=words)
    refused(cluster, *purge, "--same-data", "--replace", f"cache-0=localhost:{b.port}", words=[already])
    # A swap is two moves; so is taking over from a node that leaves.
    refused(cluster, *purge, "--replace", f"cache-0={b.address}", "--replace", f"cache-1={a.address}",
            words=["of this fleet already"])
    refused(cluster, *purge, "--remove", "cache-1", "--replace", f"cache-0=localhost:{b.port}", words=[already])


def test_two_new_nodes_on_one_server(cluster, farm):
    d = farm.redis("cache-2")
    refused(cluster, "--add", f"cache-2={d.address}", "--add", f"cache-3={d.address}",
            words=["'cache-2' and 'cache-3' have one address"])
    refused(cluster, "--add", f"cache-2={d.address}", "--add", f"cache-3=localhost:{d.port}",
            words=["cache-2", "cache-3", "are one server"])


def test_purging_while_a_node_is_down(farm):
    """The keys of a node that does not answer cannot be told from strays."""
    c = farm.cluster(3)
    c.before = c.fill(100)
    d = farm.redis("new")
    d.client().set("stranger", 1)
    gone = c.nodes.pop("cache-2")
    gone.kill()
    c.before = c.snapshot("user:*")
    refused(c, "--purge-destination", "--replace", f"cache-0={d.address}", words=["cache-2", "purged"])
    assert d.client().dbsize() == 1


def test_records_of_a_move_this_state_does_not_know(cluster, farm):
    d = farm.redis("cache-2")
    d.client().hset("gyre:{main.0123456789abcdef.3}:rec", mapping={"epoch": 9, "st": "M"})
    for purge in ([], ["--purge-destination"]):
        refused(cluster, *purge, "--add", f"cache-2={d.address}", words=["cache-2", "move 9", "restore it"])
    assert d.client().dbsize() == 1


def test_a_new_state_directory_says_so(cluster):
    new = "state directory is new"
    assert new in cluster.proxy.output() and "restore the state directory" in cluster.proxy.output()
    cluster.proxy.stop()
    cluster.start()
    assert cluster.proxy.output().count(new) == 1


def test_removing_everything(cluster):
    refused(cluster, "--remove", "cache-0", "--remove", "cache-1")


def test_a_plan_against_another_version(cluster, farm):
    """Two operators at once: the second one's plan was made against what no longer serves."""
    d = farm.redis("cache-2")
    nodes = [(n.name, n.address) for n in cluster.nodes.values()] + [("cache-2", d.address)]
    body = json.dumps({"to": harness.topology_text(nodes, version=9)})
    status, text = cluster.http("POST", "/v1/move", body, **{"X-Gyre": "1"})
    assert status == 409 and "version" in text, text
    assert cluster.http("POST", "/v1/move", body)[0] == 403  # as a web page would
    assert cluster.status()["state"] == "idle" and d.client().dbsize() == 0


def test_a_second_move(cluster, farm):
    """Before anything of it is looked at; the first goes on."""
    d = farm.redis("cache-2")
    nodes = [(n.name, n.address) for n in cluster.nodes.values()] + [("cache-2", d.address)]
    body = json.dumps({"to": harness.topology_text(nodes, version=2), "keys_per_s": 1})
    assert cluster.http("POST", "/v1/move", body, **{"X-Gyre": "1"})[0] == 202
    for second in ("no move at all", body):
        status, text = cluster.http("POST", "/v1/move", second, **{"X-Gyre": "1"})
        assert status == 409 and "a move is under way" in text, text
    cluster.move("abort", check=False)
    assert cluster.wait_idle()["version"] == 1 and cluster.snapshot("user:*") == cluster.before
    assert "move 1: abort" in cluster.proxy.output()


def test_another_secret(farm):
    """Keys hashed under a secret move with it, and neither a move nor a restart takes another one."""
    a, b, c = (farm.redis(f"cache-{i}") for i in range(3))
    cluster = harness.Cluster(farm, [a, b])
    secret, other, text = cluster.dir / "secret", cluster.dir / "other", cluster.file.read_text()
    secret.write_text("000102030405060708090a0b0c0d0e0f\n")
    other.write_text("000102030405060708090a0b0c0d0e10\n")
    text = text.replace("hash: xxh3", f"hash: siphash\n  secret_file: {secret}")
    cluster.file.write_text(text)
    cluster.start()
    cluster.before = cluster.fill(200)
    wish = cluster.dir / "wish.yaml"
    wish.write_text(text.replace(str(secret), str(other)))
    refused(cluster, "--to", wish, words=["secret cannot be changed by a move"])
    cluster.nodes[c.name] = c
    cluster.move("start", "--yes", "--add", f"{c.name}={c.address}")
    assert cluster.wait_idle()["version"] == 2 and cluster.snapshot("user:*") == cluster.before
    cluster.place()
    assert c.client().dbsize() > 0
    cluster.proxy.stop()
    secret.write_text(other.read_text())
    cluster.start(wait=False)
    wait_until(lambda: not cluster.proxy.alive())
    said = cluster.proxy.output()
    assert "another secret than the topology was made with" in said and "00010203" not in said, said


def test_nothing_to_pause_abort_resume(cluster):
    for sub in ("pause", "abort", "resume"):
        assert cluster.move(sub, check=False).returncode == 1
    time.sleep(0.1)
    assert cluster.status()["state"] == "idle"


def test_no_proxy_there(cluster):
    done = cluster.move("status", "--admin", f"unix:{cluster.dir}/nobody.sock", check=False)
    assert done.returncode == 3 and "nobody.sock" in done.stderr
