# SPDX-License-Identifier: Apache-2.0
"""The checker finds what it is there to find. Each fault is made behind its back on a plain redis-server."""
import random
import re
import time

import pytest

import harness
from harness import FAULTS, end, finish, wait_until


@pytest.fixture(scope="module")
def server(shared_farm):
    return shared_farm.redis("plain")


def started(farm, server, *args):
    """A checker at work, past its load phase."""
    server.client().flushall()
    check = farm.checker(server.port, "--clients", "4", "--keys", "640", "--multi-ratio", "0.2",
                         "--progress", "--seconds", "60", *args)
    wait_until(lambda: "loaded" in check.output(), 20)
    time.sleep(0.5)
    return check


def test_nothing_wrong_on_a_sound_server(farm, server):
    server.client().flushall()
    report = finish(farm.checker(server.port, "--seconds", "2", "--keys", "640", "--multi-ratio", "0.3"))
    assert report["ops"] > 1000 and report["errors_total"] == 0 and report["ttl_checked"] > 0
    assert report["reads"] > report["writes"] > report["ops"] * 0.3
    assert 0 < report["p50_ms"] <= report["p99_ms"] <= report["p999_ms"] <= report["longest_wait_ms"] * 1.04


def test_nothing_wrong_with_pipelines(farm, server):
    server.client().flushall()
    report = finish(farm.checker(server.port, "--ops", "50000", "--pipeline", "16", "--keys", "640"))
    assert report["ops"] >= 50000 and report["errors_total"] == 0


def test_fill_leaves_every_key(farm, server):
    c = server.client()
    c.flushall()
    report = finish(farm.checker(server.port, "--fill", "--keys", "800", "--clients", "4"))
    assert report["ops"] == 0 and report["keys"] == 800
    assert c.dbsize() == 700 + 3 * 100  # a group is three keys


def put_back_old(c, key):
    old = c.dump(key)
    time.sleep(0.2)
    if old is not None:
        c.restore(key, 0, old, replace=True)


def remove(c, key):
    c.delete(key)


def bring_back(c, key):
    old = c.dump(key)
    end_at = time.monotonic() + 2
    while old is not None and time.monotonic() < end_at:
        if not c.exists(key):
            c.restore(key, 0, old, replace=True)
            return
        time.sleep(0.001)


def garble(c, key):
    kind = c.type(key)
    if kind == b"string":
        c.append(key, "?")
    elif kind == b"hash":
        c.hset(key, "f0", "not ours")
    elif kind == b"list":
        c.lpush(key, "not ours")


def swap(c, key):
    """Another key's value."""
    other = c.dump(next(k for k in c.keys("chk:str:*") if k != key))
    if other is not None:
        c.restore(key, 0, other, replace=True)


@pytest.mark.parametrize("meddle, kind, fault", [
    (put_back_old, "str", "stale"),
    (put_back_old, "list", "stale"),
    (remove, "zset", "lost"),
    (remove, "set", "lost"),
    (bring_back, "str", "resurrected"),
    (garble, "str", "wrong"),
    (garble, "hash", "wrong"),
    (swap, "str", "wrong"),
], ids=lambda v: getattr(v, "__name__", v))
def test_meddling_is_found(farm, server, meddle, kind, fault):
    check = started(farm, server, "--rate", "5000")
    c, rng, deadline = server.client(), random.Random(7), time.monotonic() + 20
    told = "stale" if fault == "resurrected" else fault  # the progress line counts both as stale
    while not re.search(rf"{told} [1-9]", check.output()) and time.monotonic() < deadline:
        meddle(c, rng.choice(sorted(c.keys(f"chk:{kind}:*"))))
        time.sleep(0.05)
    report = end(check, clean=False)
    assert check.child.returncode == 1
    # An old value put back over a deletion is resurrected as well as stale.
    found = report[fault] + (report["resurrected"] if fault == "stale" else 0)
    assert found > 0 and report["violations"], report


def test_a_lost_write_nobody_read_is_found_at_the_end(farm, server):
    """No reads during the run: only the last pass can see it."""
    check = started(farm, server, "--write-ratio", "1", "--multi-ratio", "0", "--ops", "200000", "--rate", "1")
    c = server.client()
    c.delete(*c.keys("chk:set:*"))
    report = end(check, clean=False)
    assert report["lost"] > 0 and check.child.returncode == 1


def test_a_group_is_seen_whole_or_not_at_all(farm, server):
    """One member of a tag goes back alone: no instant had this pair."""
    check = started(farm, server, "--multi-ratio", "0.8", "--rate", "5000")
    c = server.client()
    for key in c.keys("{chk:grp:*}b")[:20]:
        old = c.get(key)
        time.sleep(0.1)
        if old is not None:
            c.set(key, old)
    report = end(check, clean=False)
    assert any("grp" in v for v in report["violations"]), report


def test_ttl_taken_away_is_found(farm, server):
    check = started(farm, server)
    c, forced = server.client(), 0
    for key in c.keys("chk:ttl:*"):
        forced += c.persist(key)
    assert forced > 0
    report = end(check, clean=False)
    assert report["wrong"] + report["lost"] + report["stale"] + report["resurrected"] > 0, report
    assert any("time to live" in v or "ttl" in v for v in report["violations"]), report


def test_a_counter_set_back_is_found(farm, server):
    check = started(farm, server)
    c = server.client()
    for i in range(16):
        c.set(f"chk:shared:{i}", 1)
    report = end(check, clean=False)
    assert report["lost"] > 0, report


def test_an_earlier_runs_values_are_wrong(farm, server):
    server.client().flushall()
    finish(farm.checker(server.port, "--fill", "--keys", "640", "--clients", "4"))
    c = server.client()
    old = {k: c.dump(k) for k in c.keys("chk:hash:*")}
    check = started(farm, server)
    for key, value in old.items():
        c.restore(key, 0, value, replace=True)
    report = end(check, clean=False)
    assert report["wrong"] > 0, report


def test_a_frozen_server_is_doubt_not_loss(farm):
    server = farm.redis("frozen")
    check = started(farm, server, "--timeout", "300", "--settle", "1500")
    for _ in range(2):
        server.freeze()
        time.sleep(0.8)
        server.thaw()
        time.sleep(0.5)
    report = end(check)
    assert report["ambiguous"] > 0 and report["errors_total"] > 0
    assert report["longest_wait_ms"] > 250


def test_a_server_that_forgets_is_loss(farm):
    server = farm.redis("forgets")
    check = started(farm, server)
    server.restart()
    time.sleep(0.5)
    report = end(check, clean=False)
    assert report["lost"] > 100, report


def test_a_server_that_keeps_everything_is_not(farm):
    server = farm.redis("keeps", keep=True)
    check = started(farm, server)
    server.restart()
    time.sleep(1)
    report = end(check)
    assert report["errors_total"] > 0


def test_usage(farm):
    for args in (["--keys", "x"], ["--write-ratio", "2"], ["nonsense"], ["--port", "0"]):
        p = farm.adopt(harness.Process([harness.CHECKER, *args], farm.dir / "usage"))
        assert p.child.wait(10) == 2, args
