# SPDX-License-Identifier: Apache-2.0
"""`gyre view`: the topology in a store, for programs that embed libgyre; and such a program, examples/follow."""
import concurrent.futures
import json
import os
import re
import signal
import sqlite3
import subprocess
import time

import pytest
import yaml

from harness import GYRE, wait_until

FOLLOW = os.environ["FOLLOW_BIN"]


def topology(path, version, nodes=3, extra=""):
    lines = [f"  - {{name: cache-{i}, address: '10.0.0.{i + 1}:6379', weight: {1 + i % 2}, zone: eu/{i % 2}}}\n" for i in range(nodes)]
    path.write_text(f"gyre: 1\nversion: {version}\nplacement: {{algorithm: ring, points: 100, hash_tag: '[]'}}\nnodes:\n{''.join(lines)}{extra}")
    return path


def view(*args):
    return subprocess.run([GYRE, "view", *map(str, args)], capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def store(tmp_path):
    """A state directory with version 1, and a function that replaces it."""
    def put(version, expect, nodes=3, extra="", options=()):
        return view("put", topology(tmp_path / f"v{version}.yaml", version, nodes, extra), "--state", tmp_path / "s", "--expect", expect, *options)
    put.dir = tmp_path / "s"
    done = put(1, 0)
    assert (done.returncode, done.stdout) == (0, "version 1 serves\n"), done.stderr
    return put


class Watch:
    """A watcher and its lines as they come."""

    def __init__(self, directory, *options):
        self.p = subprocess.Popen([GYRE, "view", "watch", "--state", str(directory), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def version(self):
        return json.loads(self.p.stdout.readline())["version"]

    def end(self, number):
        self.p.send_signal(number)
        status = self.p.wait(20)
        rest, said = self.p.stdout.read(), self.p.stderr.read()
        self.p.stdout.close()
        self.p.stderr.close()
        return status, rest, said


def test_get_says_what_was_put(store):
    got = view("get", "--state", store.dir)
    assert got.returncode == 0
    want = yaml.safe_load((store.dir.parent / "v1.yaml").read_text())
    assert yaml.safe_load(got.stdout)["nodes"] == want["nodes"] and yaml.safe_load(got.stdout)["version"] == 1
    answer = json.loads(view("get", "--state", store.dir, "--json").stdout)
    assert answer["version"] == 1 and [n["name"] for n in answer["nodes"]] == ["cache-0", "cache-1", "cache-2"]
    # The text is a topology file like any other, and places keys alike.
    (store.dir / "copy.yaml").write_text(got.stdout)
    keys = [f"k{i}" for i in range(50)]
    places = [subprocess.run([GYRE, "locate", f, *keys], capture_output=True, check=True).stdout for f in (store.dir / "copy.yaml", store.dir.parent / "v1.yaml")]
    assert places[0] == places[1]


def test_nothing_there(tmp_path):
    for command in ("get", "watch"):
        done = view(command, "--state", tmp_path / "none")
        assert done.returncode == 3 and "no store is there" in done.stderr
    assert not (tmp_path / "none").exists(), "a look makes nothing"
    assert view("get").returncode == 2
    bad = topology(tmp_path / "bad.yaml", 1, extra="  - {name: cache-0, address: 'x'}\n")
    done = view("put", bad, "--state", tmp_path / "none", "--expect", 0)
    assert done.returncode == 2 and re.search(r"bad\.yaml:8:\d+: ", done.stderr), done.stderr
    assert not (tmp_path / "none").exists(), "a file with errors makes nothing"
    for version, expect, word in ((1, 3, "expect 0"), (0, 0, "raise it")):
        done = view("put", topology(tmp_path / "t.yaml", version), "--state", tmp_path / "none", "--expect", expect)
        assert done.returncode == 1 and word in done.stderr, done.stderr
        assert not (tmp_path / "none").exists(), "nor does one that is refused"
    (tmp_path / "empty").mkdir()
    assert view("put", topology(tmp_path / "t.yaml", 0), "--state", tmp_path / "empty", "--expect", 0).returncode == 1
    assert not list((tmp_path / "empty").iterdir())


def test_compare_and_set(store):
    before = view("get", "--state", store.dir).stdout
    for version, expect, word in ((1, 1, "raise its version"), (5, 0, "version 1 serves, not 0"), (5, 2, "version 1 serves, not 2"), (0, 1, "raise its version")):
        done = store(version, expect)
        assert done.returncode == 1 and word in done.stderr, (version, expect, done.stderr)
    assert view("put", store.dir.parent / "v1.yaml", "--state", store.dir).returncode == 2, "without --expect"
    assert view("put", store.dir.parent / "v1.yaml", "--state", store.dir, "--expect", "one").returncode == 2
    foreign = store.dir.parent / "nutcracker.yml"
    foreign.write_text("a:\n  listen: 127.0.0.1:1\n  servers:\n   - 127.0.0.1:2:1\n")
    done = view("put", foreign, "--state", store.dir, "--expect", 1)
    assert done.returncode == 2 and "gyre convert" in done.stderr
    assert view("get", "--state", store.dir).stdout == before, "nothing changed"
    assert store(7, 1, nodes=4).returncode == 0
    assert json.loads(view("get", "--state", store.dir, "--json").stdout)["version"] == 7


def test_one_of_many_wins(store):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda i: store(10 + i, 1, nodes=2 + i), range(8)))
    assert sorted(d.returncode for d in done) == [0] + 7 * [1], [d.stderr for d in done]
    winner = next(i for i, d in enumerate(done) if d.returncode == 0)
    answer = json.loads(view("get", "--state", store.dir, "--json").stdout)
    assert (answer["version"], len(answer["nodes"])) == (10 + winner, 2 + winner)


def test_a_move_under_way(store):
    with sqlite3.connect(store.dir / "gyre.db") as db:
        db.execute("INSERT INTO kv VALUES('move', x'7b7d', 1)")
    done = store(2, 1)
    assert done.returncode == 1 and "a move is under way" in done.stderr
    assert store(2, 1, options=["--keys-moved"]).returncode == 1
    assert json.loads(view("get", "--state", store.dir, "--json").stdout)["version"] == 1


def test_watch_prints_each_version_at_once(store):
    w = Watch(store.dir, "--json")
    assert w.version() == 1
    slowest = 0
    for version in range(2, 8):
        assert store(version, version - 1, nodes=2 + version % 3).returncode == 0
        put = time.monotonic()
        assert w.version() == version
        slowest = max(slowest, time.monotonic() - put)
    assert slowest < 5, "it is 50 ms on a machine with nothing else to do"
    assert w.end(signal.SIGINT) == (0, "", "")
    later = Watch(store.dir, "--json", "--after", "4")
    assert [later.version() for _ in range(3)] == [5, 6, 7]
    assert later.end(signal.SIGTERM) == (0, "", "")


def test_watch_ends_with_its_reader_and_with_its_store(store, tmp_path):
    w = Watch(store.dir, "--json")
    assert w.version() == 1
    w.p.stdout.close()  # nothing more is written: the broken pipe itself must be seen
    assert w.p.wait(10) == 0
    assert w.p.stderr.read() == ""
    w.p.stderr.close()
    w = Watch(store.dir)
    assert w.p.stdout.readline() == "---\n"
    store.dir.rename(tmp_path / "away")
    assert w.p.wait(10) == 3
    assert "removed or replaced" in w.p.stderr.read()
    w.p.stdout.close()
    w.p.stderr.close()


def test_a_program_follows(store):
    """Its threads look keys up while the fleet changes below them; where it places a key is where gyre does."""
    watch = subprocess.Popen([GYRE, "view", "watch", "--state", str(store.dir), "--json"], stdout=subprocess.PIPE)
    follow = subprocess.Popen([FOLLOW, "2"], stdin=watch.stdout, stdout=subprocess.PIPE, text=True)
    watch.stdout.close()
    for version in range(1, 7):
        if version > 1:
            assert store(version, version - 1, nodes=2 + version % 4).returncode == 0
        place = subprocess.run([GYRE, "locate", str(store.dir.parent / f"v{version}.yaml"), "user:1"], capture_output=True, text=True, check=True)
        node = place.stdout.split("\t")[1].strip()
        nodes = 3 if version == 1 else 2 + version % 4
        assert follow.stdout.readline() == f"version {version}: {nodes} nodes, user:1 on {node}\n"
    watch.send_signal(signal.SIGTERM)
    assert watch.wait(10) == 0
    last = follow.stdout.readline()
    assert re.fullmatch(r"[1-9]\d* lookups by 2 threads\n", last), last
    assert follow.wait(10) == 0
    follow.stdout.close()


def test_a_program_keeps_what_it_has():
    """Lines that are no topology, empty fleets and old versions do not take the map away."""
    good = {"gyre": 1, "version": 5, "placement": {"algorithm": "jump"}, "nodes": [{"name": "a", "weight": 1}]}
    lines = [good, good | {"version": 6, "placement": {"algorithm": "jumb"}}, good | {"version": 4}, good | {"version": 7, "nodes": [{"name": 3, "weight": 1}]},
             good | {"version": 8}]
    text = "not json\n" + "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([FOLLOW], input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0
    assert [line.split(":")[0] for line in done.stdout.splitlines()][:-1] == ["version 5", "version 8"], done.stdout
    assert len(done.stderr.splitlines()) == 4, done.stderr


def test_beside_a_proxy(farm):
    """Programs see what the proxy serves, and each move; the topology of a proxy's store is the proxy's to change."""
    c = farm.cluster(2)
    c.fill(50)
    state = c.dir / "state"
    w = Watch(state, "--json")
    assert w.version() == 1
    nodes = json.loads(view("get", "--state", state, "--json").stdout)["nodes"]
    assert [n["name"] for n in nodes] == sorted(c.nodes)
    wished = c.dir / "wished.yaml"
    topology(wished, 9)
    done = view("put", wished, "--config", c.file, "--expect", 1)
    assert done.returncode == 1 and "gyre move start" in done.stderr
    d = farm.redis("cache-2")
    c.move("start", "--yes", "--add", f"cache-2={d.address}")
    assert w.version() == 2
    assert w.end(signal.SIGINT) == (0, "", "")
    c.proxy.stop()
    wait_until(lambda: not c.proxy.alive())
    done = view("put", wished, "--state", state, "--expect", 2)
    assert done.returncode == 1 and "store of a proxy" in done.stderr
    assert json.loads(view("get", "--config", c.file, "--json").stdout)["version"] == 2
    assert view("put", wished, "--state", state, "--expect", 2, "--keys-moved").returncode == 0
