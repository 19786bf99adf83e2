# SPDX-License-Identifier: Apache-2.0
"""SIGKILL of the proxy at every durable step of a move, forward and back; starting it again is resuming.

The failpoints are the proxy's own list, so that a step added to the code is a test here.
"""
import json
import os
import subprocess
import time

import pytest

import harness
from harness import LONG, end, wait_until


def failpoints():
    if not os.path.exists(harness.GYRE):
        return []
    out = subprocess.run([harness.GYRE, "proxy", "--list-failpoints"], capture_output=True, text=True, timeout=10)
    return out.stdout.split()


BACKWARD = ("abort", "back", "freeze", "open", "unmove", "purg", "returned")
# Passed once a move, whatever its size.
ONCE = ("begin", "finish", "phase", "clean", "cas_moved", "drop")
# Passed only on the way after another failure (a server that restarted); test_move.py goes there.
RARE = ("rearm", "cas_stable", "abort_release")
POINTS = failpoints()
FORWARD = [p for p in POINTS if not any(w in p for w in BACKWARD + RARE)]
BACK = [p for p in POINTS if any(w in p for w in BACKWARD) and not any(w in p for w in RARE)]


def test_there_are_failpoints():
    assert len(FORWARD) > 20 and len(BACK) > 10


def killed(cluster, timeout=20):
    """Waits until the proxy has killed itself; False when it did not."""
    until = time.monotonic() + timeout
    while cluster.proxy.alive():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    assert cluster.proxy.child.returncode == -9, cluster.proxy.output()[-2000:]
    return True


def times(points):
    """(point, the how many'th time): the first, and the third where there is one."""
    return [(p, n) for p in points for n in ([1, 3] if LONG and not any(w in p for w in ONCE) else [1])]


# Units enough to pass a step that often.
SIZES = {1: ("--chunks", "4", "--wave", "2"), 3: ("--chunks", "16", "--wave", "2")}


def detached(cluster, *args):
    """A command whose proxy may die under it."""
    return cluster.move(*args, check=False, timeout=30)


@pytest.mark.parametrize("point, nth", times(FORWARD))
def test_killed_on_the_way(farm, point, nth):
    c = farm.cluster(2, env={"GYRE_FAIL": f"{point}:{nth}:kill"})
    before = c.fill(300)
    d = farm.redis("cache-2")
    c.nodes["cache-2"] = d
    detached(c, "start", "--yes", "--detach", "--add", f"cache-2={d.address}", *SIZES[nth])
    assert killed(c), f"{point} was not passed {nth} times"
    c.start()
    c.wait_idle()
    assert c.snapshot("user:*") == before
    c.place()
    moved = "version: 2" in c.topology().read_text()
    assert moved or point == "before_begin"  # nothing was durable yet
    assert (d.client().dbsize() > 0) == moved


@pytest.mark.parametrize("point", BACK)
def test_killed_on_the_way_back(farm, point):
    c = farm.cluster(2, env={"GYRE_FAIL": f"{point}:1:kill"})
    before = c.fill(300)
    d = farm.redis("cache-2")
    detached(c, "start", "--yes", "--detach", "--add", f"cache-2={d.address}", *SIZES[1], "--keys-per-second", "60")
    wait_until(lambda: c.status()["keys"]["moved"] > 5, 20)
    with c.client() as cl:  # some keys are at D for good, some were deleted there
        cl.set("user:0", "changed")
        cl.delete("user:1", "user:2", "user:3", "user:4", "user:5")
        cl.set("user:new", 1)
    detached(c, "abort", "--detach")
    assert killed(c), f"{point} was never passed"
    c.start()
    if c.status()["state"] != "idle":
        detached(c, "abort", "--detach")  # killed before the wish was durable
    c.wait_idle()
    for i in range(1, 6):
        before.pop(b"user:%d" % i, None)
    after = c.snapshot("user:*")
    assert c.client().get("user:0") == b"changed" and c.client().get("user:new") == b"1"
    for key in (b"user:0", b"user:new"):
        before.pop(key, None)
        after.pop(key)
    assert after == before
    if "version: 2" in c.topology().read_text():
        c.nodes["cache-2"] = d
    else:
        assert d.client().dbsize() == 0
    c.place()


@pytest.mark.parametrize("point", ["after_rec_flip", "before_cas_migrating", "after_install", "after_cas_completing",
                                   "after_rec_complete", "after_clean"] if not LONG else FORWARD)
def test_killed_under_load(farm, point):
    """The checker's clients see a proxy that is away for a moment, and no wrong answer."""
    nth = 1 if any(w in point for w in ONCE) else 2
    c = farm.cluster(2, env={"GYRE_FAIL": f"{point}:{nth}:kill"})
    before = c.fill(500)
    d = farm.redis("cache-2")
    c.nodes["cache-2"] = d
    check = farm.checker(c.port, "--seconds", "300", "--keys", "2000", "--rate", "4000", "--settle", "1500", "--progress")
    wait_until(lambda: "loaded" in check.output(), 30)
    detached(c, "start", "--yes", "--detach", "--add", f"cache-2={d.address}")
    assert killed(c), f"{point} was not passed {nth} times"
    time.sleep(0.2)
    c.start()
    c.wait_idle()
    time.sleep(0.3)
    end(check)
    assert c.snapshot("user:*") == before
    c.place()


def test_killed_again_and_again(farm):
    """At no point chosen: every 150 ms, until the move has ended all the same."""
    c = farm.cluster(2)
    before = c.fill(2000)
    d = farm.redis("cache-2")
    c.nodes["cache-2"] = d
    check = farm.checker(c.port, "--seconds", "300", "--keys", "2000", "--rate", "4000", "--settle", "1500", "--progress")
    wait_until(lambda: "loaded" in check.output(), 30)
    c.move("start", "--yes", "--detach", "--add", f"cache-2={d.address}", "--keys-per-second", "2500")
    for _ in range(30 if LONG else 6):
        time.sleep(0.15)
        c.proxy.kill()
        c.start()
    c.wait_idle()
    end(check)
    assert c.snapshot("user:*") == before
    c.place()


def test_the_store_is_in_no_state_of_its_own(farm):
    """After a move the state directory holds the version that serves and nothing under way."""
    c = farm.cluster(2)
    c.fill(100)
    c.nodes["cache-2"] = farm.redis("cache-2")
    c.move("start", "--yes", "--add", f"cache-2={c.nodes['cache-2'].address}")
    c.proxy.kill()
    c.start()
    s = json.loads(c.move("status", "--json").stdout)
    assert s["state"] == "idle" and c.nodes["cache-2"].client().dbsize() > 0
    c.place()
