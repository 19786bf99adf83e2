# SPDX-License-Identifier: Apache-2.0
"""The state directory's disk is full. A small file system of its own (root mounts it) is the real thing."""
import os
import re
import subprocess

import pytest
import redis

import harness
from harness import wait_until
from test_fence import gone_for_good, served, users


class SmallDisk:
    def __init__(self, farm):
        self.at, self.filler = farm.dir / "small", farm.dir / "small/filler"
        self.at.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", self.at]
        done = subprocess.run(mount, capture_output=True, text=True) if os.geteuid() == 0 else None
        if not done or done.returncode != 0:
            pytest.skip(f"a small disk cannot be mounted: {done.stderr if done else 'root is needed'}")

    def fill(self):
        with open(self.filler, "ab", buffering=0) as f:
            for size in (65536, 4096, 1):
                try:
                    while True:
                        f.write(b"x" * size)
                except OSError:
                    pass
        assert os.statvfs(self.at).f_bavail == 0

    def free(self):
        self.filler.unlink()

    def away(self):
        subprocess.run(["umount", "-l", self.at], check=True)


@pytest.fixture
def disk(farm):
    d = SmallDisk(farm)
    yield d
    d.away()


def cluster(farm, disk, start=True):
    c = harness.Cluster(farm, [farm.redis(f"cache-{i}") for i in range(2)], ["workers: 2"])
    c.proxy_lines[1] = f"state: {disk.at}/state"
    c.write([(n.name, n.address) for n in c.nodes.values()])
    return c.start() if start else c


def generation(c):
    return harness.json.loads(c.http("GET", "/v1/status")[1])["generation"]


def says_full(c):
    return "disk is full" in (c.status()["last_error"] or "")


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_a_start_without_room(farm, disk, end):
    """It serves as before, says what it cannot do, and does it when there is room."""
    c = cluster(farm, disk)
    before = c.fill(200)
    d = farm.redis("cache-2")
    add = ("start", "--yes", "--add", f"cache-2={d.address}")
    numbers = [generation(c)]
    for _ in range(2):
        disk.fill()
        getattr(c.proxy, end)()
        c.start()
        served(c, "k", len(numbers))
        assert c.snapshot("user:*") == before and says_full(c)
        numbers.append(generation(c))
        for n in c.nodes.values():  # each comes after the one before, though none could be written down
            wait_until(lambda: users(n) == [numbers[-1]])
    assert sorted(set(numbers)) == numbers, numbers
    assert "version 1 serves as stored, and no move can begin" in c.proxy.output()
    done = c.move(*add, check=False)
    assert done.returncode != 0 and "disk is full" in done.stderr, done
    assert users(d) == [] and d.client().dbsize() == 0
    disk.free()
    wait_until(lambda: c.status()["last_error"] is None)
    assert "there is room in the state directory again" in c.proxy.output()
    c.move(*add)
    c.nodes["cache-2"] = d
    assert c.snapshot("user:*") == before
    c.place()
    c.proxy.kill()
    c.start()
    assert generation(c) == numbers[-1] + 1


@pytest.mark.parametrize("back", [False, True])
def test_in_the_middle_of_a_move(farm, disk, back):
    """What is there already is served and forwarded, the move stands still, and goes on by itself."""
    c = cluster(farm, disk)
    before = c.fill(600)
    d = farm.redis("cache-2")
    c.move("start", "--yes", "--detach", "--keys-per-second", "150", "--add", f"cache-2={d.address}")
    wait_until(lambda: c.status()["keys"]["moved"] > 10)
    c.move("abort" if back else "pause", *(["--detach"] if back else []))
    if not back:  # between two steps, so that no unit is just changing hands
        wait_until(lambda: not any(c.status()["units"][s] for s in ("prepare", "flipping", "completing")))
    disk.fill()
    c.proxy.kill()
    c.start()
    wait_until(lambda: c.status()["state"] in ("paused", "aborting", "idle"))
    c.nodes["cache-2"] = d
    if not back:
        assert says_full(c)
        assert c.status()["units"]["migrating"] > 0
        with c.client() as cl:
            for i in range(0, 600, 10):  # strings: many of them in units that are under way
                cl.append(f"user:{i}", "+")
                assert cl.get(f"user:{i}") == b"value %d+" % i
                cl.set(f"user:{i}", f"value {i}")
        done = c.move("resume", check=False)
        assert done.returncode != 0 and "disk is full" in done.stderr, done
    disk.free()
    wait_until(lambda: not says_full(c))
    if not back:
        c.move("resume")
        c.move("rate", "--keys-per-second", "0")
    c.wait_idle()
    if back:
        del c.nodes["cache-2"]
        assert d.client().dbsize() == 0
        gone_for_good(c, d)
    assert c.snapshot("user:*") == before
    c.place()


def test_a_new_directory_without_room(farm, disk):
    """There is nothing to serve by: it says so."""
    c = cluster(farm, disk, start=False)
    disk.fill()
    c.start(wait=False)
    wait_until(lambda: not c.proxy.alive())
    assert c.proxy.child.returncode == 2
    assert re.search(r"disk is full|No space left", c.proxy.output()), c.proxy.output()
    with pytest.raises(redis.ConnectionError):
        c.client().ping()
