# SPDX-License-Identifier: Apache-2.0
"""A source that comes back from an older snapshot after its keys had moved away: what it brings is swept."""
import json
import sqlite3

from harness import wait_until


def notes(cluster):
    """What the store still holds against such a server."""
    with sqlite3.connect(f"file:{cluster.dir}/state/gyre.db?mode=ro", uri=True) as db:
        return {k: json.loads(v) for k, v in db.execute("SELECT key, value FROM kv WHERE key LIKE 'strays/%'")}


def homeless(cluster, node):
    """Keys that this node has nothing to do with, whatever moves."""
    names = [f"stranger:{i}".encode() for i in range(200)]
    return [k for k, n in cluster.locate(names).items() if n not in (node, "cache-2")][:7]


def go_back(node, how):
    node.kill()
    (node.dir / "dump.rdb").write_bytes(how)
    node.start()


def moved(farm, when):
    """cache-2 has joined; gives (cluster, cache-0's dump of before or during the move, what was gone by then)."""
    c = farm.cluster(2)
    before = c.fill(400)
    s, d = c.nodes["cache-0"], farm.redis("cache-2")
    theirs = homeless(c, "cache-0")
    s.client().mset({k: "mine" for k in theirs})
    if when == "before":
        s.client().save()
        c.move("start", "--yes", "--add", f"cache-2={d.address}")
    else:
        c.move("start", "--yes", "--detach", "--keys-per-second", "100", "--add", f"cache-2={d.address}")
        wait_until(lambda: d.client().dbsize() > 20)
        s.client().save()
        c.move("rate", "--keys-per-second", "0", "--bytes-per-second", "0")
        c.wait_idle()
    c.nodes["cache-2"] = d
    went = [k for k, n in c.locate(before).items() if n == "cache-2"]
    assert any(c.locate(went, c.file)[k] == "cache-0" for k in went)
    return c, before, (s.dir / "dump.rdb").read_bytes(), theirs


def write_on(cluster, before, theirs):
    """Life goes on where the keys are now; what cache-0's old copy has is older, or was deleted."""
    went = [k for k, n in cluster.locate(before).items() if n == "cache-2"]
    gone, renewed = went[0::3], went[1::3]
    with cluster.client() as c:
        assert c.delete(*gone) == len(gone)
        for k in renewed:
            c.set(k, "renewed")
    cluster.nodes["cache-0"].client().delete(*theirs)
    now = cluster.snapshot("user:*")
    assert not set(gone) & set(now)
    cluster.nodes["cache-0"].client().mset({k: "mine" for k in theirs})
    return now


def is_clean(cluster, now, theirs):
    node = cluster.nodes["cache-0"].client()
    assert cluster.snapshot("user:*") == now
    assert not node.keys("gyre:*")
    assert node.mget(theirs) == [b"mine"] * len(theirs)
    assert sorted(node.keys("stranger:*")) == sorted(theirs)


def test_swept_while_the_proxy_runs(farm):
    c, before, dump, theirs = moved(farm, "before")
    now = write_on(c, before, theirs)
    go_back(c.nodes["cache-0"], dump)
    text = wait_until(lambda: c.status()["warning"])
    assert "cache-0" in text and "move 1" in text and "keys that had moved away were removed" in text
    assert f"{len(theirs)} keys there are not its own and stay" in text and "stranger:" in text
    assert text in c.proxy.output()
    is_clean(c, now, theirs)
    # Once the server has saved what it is now, there is nothing to fear any more.
    assert len(notes(c)) == 2
    wait_until(lambda: c.nodes["cache-0"].client().save() and len(notes(c)) == 1, every=0.5)


def test_swept_by_the_next_process_and_before_the_next_move(farm):
    """The keys come home to cache-0 again: none that was deleted meanwhile comes with them, nor records."""
    c, before, dump, theirs = moved(farm, "during")
    now = write_on(c, before, theirs)
    c.proxy.stop()
    go_back(c.nodes["cache-0"], dump)
    c.start()
    c.nodes["cache-0"].client().delete(*theirs)
    c.move("start", "--yes", "--remove", "cache-2")
    assert c.snapshot("user:*") == now
    c.place()


def test_a_restart_that_loses_nothing_sweeps_nothing(farm):
    """Its own data say that the move had ended: a key put there since is not ours, whatever its name."""
    c = farm.cluster(2)
    before = c.fill(100)
    d = farm.redis("cache-2")
    c.move("start", "--yes", "--add", f"cache-2={d.address}")
    s = c.nodes["cache-0"]
    old = c.locate(before, c.file)
    name = next(k for k, n in c.locate(before).items() if n == "cache-2" and old[k] == "cache-0")
    c.proxy.stop()
    assert s.client().set(name, "a stranger's")
    s.client().save()
    s.restart()
    c.start()
    run_id = s.client().info("server")["run_id"]
    wait_until(lambda: any(n["run_id"] == run_id for n in notes(c).values()))
    assert s.client().get(name) == b"a stranger's" and c.status()["warning"] is None
