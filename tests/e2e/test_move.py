# SPDX-License-Identifier: Apache-2.0
"""Changes of the fleet, live: only what must move does, nothing is lost, nothing is left over."""
import json
import time

import pytest
import redis

import harness
from harness import LONG, end, wait_until

LOAD = ["--seconds", "300", "--clients", "8", "--write-ratio", "0.4", "--multi-ratio", "0.15", "--keys", "4000",
        "--rate", "0" if LONG else "5000", "--progress"]
KEYS = 50000 if LONG else 3000


def loaded(farm, cluster, *args):
    check = farm.checker(cluster.port, *LOAD, *args)
    wait_until(lambda: "loaded" in check.output(), 30)
    time.sleep(0.3)
    return check


def under_load(farm, cluster, act, after=0.5):
    """Untouched keys and the checker's load, `act`, then everything that must hold. The checker's report."""
    before = cluster.fill(KEYS)
    check = loaded(farm, cluster)
    act()
    time.sleep(after)
    report = end(check)
    assert report["errors_total"] == 0, report["errors"]
    assert cluster.snapshot("user:*") == before  # DUMP and expiry of every untouched key
    cluster.place()
    return report


def start(cluster, *args, **options):
    """`gyre move start --yes --json` to the end; its entry of the history."""
    done = cluster.move("start", "--yes", "--json", *args, **options)
    final = json.loads(done.stdout)
    assert final["state"] == "idle" and final["last_error"] is None, final
    last = history(cluster)[0]
    assert last["result"] == "moved" and last["to_version"] == final["version"], last
    assert final["last"] == last  # every field, whatever its kind
    return last


def history(cluster):
    return json.loads(cluster.move("history", "--json").stdout)["moves"]


def joins(farm, cluster, name="cache-4"):
    node = farm.redis(name)
    cluster.nodes[name] = node
    return f"{name}={node.address}"


def minimal(last):
    """What moved is the least possible: of the key space, and counted in keys."""
    assert last["ratio"] == pytest.approx(1, abs=1e-9) and 0 < last["moved"] < 1, last
    assert 0 < last["keys"] == last["keys_minimum"], last


def test_add(farm):
    c = farm.cluster(4)
    seen = {}
    report = under_load(farm, c, lambda: seen.update(start(c, "--add", joins(farm, c))))
    minimal(seen)
    # Every wait of this process was in this move. A worker tells its figures every now and then.
    wait_until(lambda: c.client().info()["gyre_longest_hold_ms"] == seen["longest_hold_ms"])
    assert report["ops"] > 3000
    moved = sum(node == "cache-4" for node in c.place().values())
    assert moved > KEYS * 0.1 and seen["keys"] > KEYS * 0.1
    assert "version: 2" in c.topology().read_text()


def test_remove(farm):
    c = farm.cluster(4)
    seen = {}
    under_load(farm, c, lambda: seen.update(start(c, "--remove", "cache-1")))
    minimal(seen)
    gone = c.nodes.pop("cache-1")
    assert gone.client().dbsize() == 0
    assert set(c.place().values()) == set(c.nodes)


@pytest.mark.parametrize("weight", ["2", "0.5"])
def test_weight(farm, weight):
    c = farm.cluster(4)
    seen = {}
    under_load(farm, c, lambda: seen.update(start(c, "--weight", f"cache-2={weight}")))
    minimal(seen)


def test_replace(farm):
    c = farm.cluster(3)
    old, new = c.nodes["cache-1"], farm.redis("cache-1b")

    def act():
        start(c, "--replace", f"cache-1={new.address}")
        c.nodes["cache-1"] = new
    under_load(farm, c, act)
    assert old.client().dbsize() == 0 and new.client().dbsize() > 0


@pytest.mark.parametrize("how", ["failover", "death"])
def test_a_promoted_replica_takes_over(farm, how):
    """--same-data: the view changes, and nothing else."""
    c = farm.cluster(3)
    before = c.fill(1000)
    old, new = c.nodes["cache-1"], farm.redis("cache-1b")
    new.replicate(old)
    if how == "failover":
        old.client().execute_command("FAILOVER", "TO", harness.HOST, new.port)
        wait_until(lambda: new.client().info("replication")["role"] == "master")
        wait_until(lambda: old.client().info("replication").get("master_link_status") == "up", 20)
    else:
        old.kill()
        new.client().replicaof("NO", "ONE")
    last = start(c, "--same-data", "--replace", f"cache-1={new.address}")
    assert last["keys"] == last["keys_minimum"] == 0, last
    if how == "failover":
        assert old.client().acl_users() == ["default"]
    else:
        [left] = c.status()["leaving"]
        assert left["address"] == old.address and f"gyre move forget {old.address}" in c.proxy.output()
        c.move("forget", old.address)
    c.nodes["cache-1"] = new
    assert c.snapshot("user:*") == before
    assert c.client().exists(*(f"user:{i}" for i in range(1000))) == 1000
    assert c.client().mset({f"user:{i}": "written" for i in range(100)})
    c.place()


def test_several_at_once(farm):
    c = farm.cluster(3)
    seen = {}
    under_load(farm, c, lambda: seen.update(start(
        c, "--add", joins(farm, c, "cache-3"), "--add", joins(farm, c, "cache-4"), "--remove", "cache-0",
        "--weight", "cache-1=2")))
    assert seen["ratio"] >= 1 - 1e-9
    assert c.nodes.pop("cache-0").client().dbsize() == 0


def test_to_a_file(farm):
    c = farm.cluster(2)
    joins(farm, c, "cache-2")
    wish = c.dir / "wish.yaml"
    wish.write_text(harness.topology_text([(n.name, n.address) for n in c.nodes.values()], version=2))
    before = c.fill(500)
    start(c, "--to", wish)
    assert c.snapshot("user:*") == before
    c.place()


def test_a_full_destination(farm):
    """What Redis would carry out on a full server is carried out, moved or not; the move waits until there is room."""
    c = farm.cluster(1)
    new = farm.redis("new")
    with c.client() as cl, cl.pipeline(transaction=False) as p:
        for i in range(600):
            p.set(f"s{i}", i)
            p.rpush(f"l{i}", *range(5))
        p.mset({f"{{t{i}}}{side}": side for i in range(200) for side in "ab"})
        p.execute()
        before = c.snapshot("*")
        c.move("start", "--yes", "--detach", "--replace", f"cache-0={new.address}", "--chunks", "1",
               "--keys-per-second", "1")
        wait_until(lambda: c.status()["keys"]["moved"] > 200)  # the first slice; the next is long in coming
        left = [k for k in before if not new.client().exists(k)]
        strings, lists = ([k for k in left if k.startswith(w)] for w in (b"s", b"l"))
        half = next(k for k in left if k.startswith(b"{") and new.client().exists(k[:-1] + b"ab".replace(k[-1:], b"")))
        new.client().config_set("maxmemory", 1)
        with pytest.raises(redis.ResponseError, match="OOM|command not allowed"):
            cl.set(strings[0], "more")
        with pytest.raises(redis.ResponseError, match="OOM|command not allowed"):
            cl.set("another", 1)
        assert cl.get(strings[0]) == strings[0][1:]
        assert cl.delete(strings[1]) == 1 and cl.delete(strings[1], "nothing") == 0 and cl.unlink("nobody") == 0
        assert cl.getdel(strings[2]) == strings[2][1:] and cl.expire(strings[3], 1000) and cl.lpop(lists[0], 2) == [b"0", b"1"]
        assert cl.eval("return redis.call('DEL', KEYS[1])", 1, strings[4]) == 1
        tag = half[:-1].decode()
        assert cl.mget(tag + "a", tag + "b") == [b"a", b"b"]  # one of them was there, one was not
        assert [cl.get(k) for k in strings[1:5]] == [None, None, strings[3][1:], None] and cl.llen(lists[0]) == 3
        c.move("rate", "--keys-per-second", "0")
        wait_until(lambda: "OOM" in (c.status()["last_error"] or ""))
        new.client().config_set("maxmemory", 0)
    c.wait_idle()
    c.nodes["cache-0"] = new
    changed = {strings[i] for i in range(1, 5)} | {lists[0]}
    after = c.snapshot("*")
    assert {k: v for k, v in after.items() if k not in changed} == {k: v for k, v in before.items() if k not in changed}
    last = history(c)[0]
    assert last["keys"] == last["keys_minimum"] == len(before), last


def test_there_and_back_again(farm):
    """Add then remove: every key is where it was."""
    c = farm.cluster(3)
    c.fill(1000)
    was = c.place()
    start(c, "--add", joins(farm, c, "cache-3"))
    assert c.place() != was
    start(c, "--remove", "cache-3")
    assert c.place() == was
    assert c.nodes["cache-3"].client().dbsize() == 0
    assert [m["longest_hold_ms"] for m in history(c)] == [0, 0]  # units were held, but nobody wrote
    assert [(m["from_version"], m["to_version"], m["result"]) for m in history(c)] == [(2, 3, "moved"), (1, 2, "moved")]


@pytest.mark.parametrize("delay", [0.0, 0.4, 1.2] if not LONG else [i / 10 for i in range(30)])
def test_abort(farm, delay):
    """Taken back after some of the way: no acknowledged write is lost, and D is empty again."""
    c = farm.cluster(3)
    joined = joins(farm, c, "cache-3")

    def act():
        c.move("start", "--yes", "--detach", "--add", joined, "--keys-per-second", "1000", "--wave", "1")
        time.sleep(delay)
        seen.append(c.status()["keys"]["moved"])
        c.move("abort")
        c.wait_idle()
    seen = []
    under_load(farm, c, act)
    late = c.nodes.pop("cache-3")
    assert late.client().dbsize() == 0
    assert "version: 2" not in c.topology().read_text()
    aborted = history(c)[0]
    assert aborted["result"] == "aborted" and aborted["keys_minimum"] is None, aborted
    assert aborted["keys"] >= seen[0] and (aborted["bytes"] > 0) == (aborted["keys"] > 0), (seen, aborted)
    c.nodes["cache-3"] = late
    minimal(start(c, "--add", joined))  # and it can be tried again
    c.place()


def test_an_answered_abort_survives_a_kill(farm):
    """Once `abort` is answered it is on record, however the process ends in the next moment."""
    c = farm.cluster(2)
    c.fill(1500)
    joined = joins(farm, c, "cache-2")
    for _ in range(3):
        c.move("start", "--yes", "--detach", "--add", joined, "--keys-per-second", "100")
        wait_until(lambda: c.status()["keys"]["moved"] > 5)
        c.move("abort", "--detach")
        c.proxy.kill()
        c.start()
        assert c.status()["state"] in ("aborting", "idle")
        c.wait_idle()
        assert history(c)[0]["result"] == "aborted"


def test_an_abort_has_no_limit_but_its_own(farm):
    """The limit was for the way there; taking it back shall not last as long."""
    c = farm.cluster(2)
    before = c.fill(1500)
    c.move("start", "--yes", "--detach", "--add", joins(farm, c, "cache-2"), "--keys-per-second", "1")
    wait_until(lambda: c.status()["keys"]["moved"] > 0)
    assert c.status()["rate"]["keys_limit"] == 1
    answer = json.loads(c.move("abort", "--detach", "--json").stdout)
    assert answer["state"] == "aborting" and answer["rate"]["keys_limit"] == 0, answer
    c.wait_idle()
    assert c.nodes.pop("cache-2").client().dbsize() == 0 and c.snapshot("user:*") == before
    c.move("start", "--yes", "--detach", "--weight", "cache-0=3", "--keys-per-second", "1")
    said = c.move("abort")
    assert "without a limit; `gyre move rate` sets one" in said.stderr and "taken back" in said.stdout, said


def test_pause_resume_rate(farm):
    c = farm.cluster(3)
    before = c.fill(3000)
    c.move("start", "--yes", "--detach", "--add", joins(farm, c, "cache-3"), "--keys-per-second", "150")
    wait_until(lambda: c.status()["keys"]["moved"] > 20)
    assert c.status()["rate"]["keys_limit"] == 150
    c.move("pause")
    wait_until(lambda: c.status()["state"] == "paused")
    time.sleep(0.3)
    held = c.status()["keys"]["moved"]
    time.sleep(0.7)
    assert c.status()["keys"]["moved"] == held
    assert all(c.client().get(f"user:{i}") for i in range(0, 3000, 10))  # reads go on
    assert c.client().set("while:paused", 1)
    started, at = time.monotonic(), c.status()["keys"]["moved"]
    c.move("resume")
    time.sleep(1.5)
    pace = (c.status()["keys"]["moved"] - at) / (time.monotonic() - started)
    assert 30 < pace < 300, f"{pace:.0f} keys/s, the limit is 150"
    c.move("rate", "--keys-per-second", "0")
    c.wait_idle()
    assert c.snapshot("user:*") == before
    c.place()


def test_what_went_wrong_is_told_until_it_went_well(farm):
    c = farm.cluster(1)
    before = c.fill(1500)
    c.nodes["cache-1"] = d = farm.redis("cache-1")
    c.move("start", "--yes", "--detach", "--add", f"cache-1={d.address}", "--keys-per-second", "100")
    wait_until(lambda: c.status()["keys"]["moved"] > 20)
    d.client().execute_command("CLIENT", "KILL", "TYPE", "normal")
    wait_until(lambda: "closed the connection" in (c.status()["last_error"] or ""))
    s = wait_until(lambda: s if not (s := c.status())["last_error"] else None)
    assert s["state"] == "moving", s
    c.move("rate", "--keys-per-second", "0")
    c.wait_idle()
    assert c.snapshot("user:*") == before


def test_bytes_limit(farm):
    c = farm.cluster(1)
    with c.client() as cl:
        for i in range(100):
            cl.set(f"b{i}", harness.os.urandom(10000))
    started = time.monotonic()
    start(c, "--replace", f"cache-0={farm.redis('other').address}", "--bytes-per-second", "500KB")
    assert 1 < time.monotonic() - started < 8  # a megabyte: two seconds, less the bucket's first fill


def test_expiry_goes_on_during_a_move(farm):
    c = farm.cluster(2)
    with c.client() as cl:
        for i in range(300):
            cl.set(f"t{i}", i, px=1500 + i)
    started = time.monotonic()
    c.move("start", "--yes", "--detach", "--add", joins(farm, c, "cache-2"), "--keys-per-second", "30")
    time.sleep(max(0, 3 - (time.monotonic() - started)))
    assert c.client().exists(*(f"t{i}" for i in range(300))) == 0
    c.wait_idle()
    assert c.place() == {}


@pytest.mark.parametrize("killed", [False, True])
def test_expiring_keys_are_counted_once(farm, killed):
    """In all counts or in none, whoever meets a key first: a client or the mover, before or after it expired."""
    c = farm.cluster(1)
    with c.client() as cl, cl.pipeline(transaction=False) as p:
        for i in range(600):
            p.set(f"k{i}", i, px=1200 if i % 2 else None)
        p.execute()
        c.move("start", "--yes", "--detach", "--replace", f"cache-0={farm.redis('new').address}", "--chunks", "1",
               "--keys-per-second", "20")
        wait_until(lambda: c.status()["keys"]["moved"] > 200)  # the first slice; the next is due in 12 s
        for i in range(0, 600, 3):
            p.append(f"k{i}", "w")
        p.execute()
        wait_until(lambda: cl.exists(*(f"k{i}" for i in range(1, 600, 6))) == 0)
        assert c.status()["keys"]["settled"] == 0
        for i in range(0, 600, 5):
            p.append(f"k{i}", "w")
        p.execute()
    if killed:
        c.proxy.kill()
        c.start()
    c.move("rate", "--keys-per-second", "0", check=False)  # after a start nothing is owed: it may be over
    c.wait_idle()
    last = history(c)[0]
    assert 300 <= last["keys"] == last["keys_minimum"] < 600, last  # 300: all had expired before the freeze


def test_a_big_key_is_named(farm):
    c = farm.cluster(1)
    with c.client() as cl, cl.pipeline(transaction=False) as p:
        for i in range(2000):
            p.hset("big hash", f"field{i}", harness.os.urandom(500).hex())
        p.execute()
    before = c.snapshot("big*")
    new = farm.redis("new")
    c.move("start", "--yes", "--detach", "--replace", f"cache-0={new.address}", "--bytes-per-second", "1MB")
    named = wait_until(lambda: c.status().get("bigkeys"))
    c.wait_idle()
    c.nodes["cache-0"] = new
    assert [b["name"] for b in named] == ["big hash"] and named[0]["size"] > 256 << 10
    assert c.snapshot("big*") == before


def test_every_kind_of_key_name(farm):
    c = farm.cluster(2)
    names = [b"", b"\0", b"\r\n", b"a b", b"{}", b"{", b"{tag}x", bytes(range(256)), b"x" * 5000, b"*?[a]\\", "schlüssel".encode()]
    with c.client() as cl:
        for n in names:
            cl.rpush(n, n, "v")
    new = farm.redis("new")
    start(c, "--replace", f"cache-0={new.address}", "--add", joins(farm, c, "cache-2"))
    c.nodes["cache-0"] = new
    assert all(c.client().lrange(n, 0, -1) == [n, b"v"] for n in names)


def test_a_new_name_for_a_server(farm):
    """What stays on the server under its new name is not copied; the rest moves as the names say."""
    c = farm.cluster(2)
    before = c.fill(500)
    start(c, "--remove", "cache-0", "--add", f"cache-9={c.nodes['cache-0'].address}")
    assert c.snapshot("user:*") == before
    assert c.client().exists(*(f"user:{i}" for i in range(500))) == 500


def test_watch_shows_progress_and_ends(farm):
    c = farm.cluster(2)
    c.fill(1000)
    c.move("start", "--yes", "--detach", "--add", joins(farm, c, "cache-2"), "--keys-per-second", "500")
    done = c.move("watch", "--json")
    assert json.loads(done.stdout)["state"] == "idle" and "gyre move topology" in done.stderr
    table = c.move("status").stdout
    assert "idle" in table


def test_it_asks_first(farm):
    """Without a terminal and without --yes nothing starts."""
    c = farm.cluster(2)
    done = c.move("start", "--add", joins(farm, c, "cache-2"), check=False)
    assert done.returncode != 0 and "--yes" in done.stderr
    assert c.status()["state"] == "idle"


def test_an_old_file_moves_nothing(farm):
    """The store's view wins over the file, and the proxy says so."""
    c = farm.cluster(3)
    before = c.fill(1000)
    start(c, "--add", joins(farm, c, "cache-3"))
    where = c.place()
    c.proxy.stop()
    c.start()  # the file still says version 1 and three nodes
    log = c.proxy.output()
    assert "version" in log and ("gyre move start" in log or "--to" in log), log[-1500:]
    assert c.place() == where and c.snapshot("user:*") == before
    assert c.client().mget([f"user:{i}" for i in range(0, 1000, 10)]).count(None) == 0
    time.sleep(0.5)
    assert c.place() == where and c.status()["state"] == "idle"


def test_a_second_move_waits_for_the_first(farm):
    c = farm.cluster(2)
    c.fill(1000)
    c.move("start", "--yes", "--detach", "--add", joins(farm, c, "cache-2"), "--keys-per-second", "100")
    done = c.move("start", "--yes", "--weight", "cache-0=2", check=False)
    assert done.returncode == 1 and "under way" in done.stderr + done.stdout
    c.move("rate", "--keys-per-second", "0")
    c.wait_idle()
    start(c, "--weight", "cache-0=2")
    c.place()


def test_the_source_dies_and_comes_back(farm):
    c = farm.cluster(3, keep=True, proxy_lines=["backend: {timeout: 500ms}"])
    before = c.fill(2000)
    check = loaded(farm, c, "--settle", "4000")
    c.nodes["cache-3"] = farm.redis("cache-3", keep=True)
    c.move("start", "--yes", "--detach", "--add", f"cache-3={c.nodes['cache-3'].address}", "--keys-per-second", "1500")
    time.sleep(0.5)
    c.nodes["cache-0"].kill()
    time.sleep(1)
    c.nodes["cache-0"].start()
    c.wait_idle()
    report = end(check)
    assert report["ops"] > 1000
    assert c.snapshot("user:*") == before
    c.place()


def test_the_destination_has_saved_before_the_source_is_cleaned(farm):
    """Save points alone: a snapshot that failed or is not finished lets nothing be removed."""
    c = farm.cluster(1)
    before = c.fill(300)
    s, d = c.nodes["cache-0"], farm.redis("new", "--save", "3600 1")
    in_the_way = d.dir / "dump.rdb"
    in_the_way.mkdir()  # a file cannot be renamed over it
    d.client().config_set("stop-writes-on-bgsave-error", "no")
    c.move("start", "--yes", "--detach", "--replace", f"cache-0={d.address}")
    said = wait_until(lambda: c.status()["last_error"])
    assert "cache-0: BGSAVE failed" in said

    def untouched():
        units = c.status()["units"]
        assert units["complete"] == units["total"] and s.client().dbsize() >= 300, units
    untouched()
    d.client().config_set("rdb-key-save-delay", 5000)  # microseconds a key: 1.5 s for all
    in_the_way.rmdir()
    saves = d.client().info("persistence")
    wait_until(lambda: d.client().info("persistence")["rdb_bgsave_in_progress"])
    untouched()
    wait_until(lambda: not d.client().info("persistence")["rdb_bgsave_in_progress"])
    c.wait_idle()
    assert d.client().info("persistence")["rdb_last_save_time"] > saves["rdb_last_save_time"]
    assert s.client().dbsize() == 0
    c.nodes["cache-0"] = d
    assert c.snapshot("user:*") == before
    d.restart()  # what is in the snapshot is all
    assert c.snapshot("user:*") == before


@pytest.mark.parametrize("how", ["kill", "freeze"])
def test_the_destination_goes_away_and_comes_back(farm, how):
    c = farm.cluster(3, keep=True, proxy_lines=["backend: {timeout: 500ms}"])
    before = c.fill(2000)
    check = loaded(farm, c, "--settle", "4000")
    node = c.nodes["cache-3"] = farm.redis("cache-3", keep=True)
    c.move("start", "--yes", "--detach", "--add", f"cache-3={node.address}", "--keys-per-second", "1500")
    time.sleep(0.5)
    if how == "kill":
        node.kill()
        time.sleep(1)
        node.start()
        wait_until(lambda: "warning       cache-3" in c.move("status").stdout)
    else:
        node.freeze()
        time.sleep(2)
        node.thaw()
    done = c.move("watch")
    assert done.stdout.endswith("Write it to your file: gyre move topology -o FILE\n")
    end(check)
    assert c.snapshot("user:*") == before
    c.place()
