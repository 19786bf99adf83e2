# SPDX-License-Identifier: Apache-2.0
"""redis:// where a file could stand: one server, its replica, a cluster; and what cannot be asked."""
import json
import os
import re
import socket
import subprocess
import threading

import pytest

from harness import free_port, wait_until

GYRE = os.environ["GYRE_BIN"]


def gyre(*args, env=None):
    return subprocess.run([GYRE, *args], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, **(env or {})})


def shown(url, **options):
    done = gyre("show", url, "--json", **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_one_server_and_its_replica(farm):
    primary, replica = farm.redis("primary"), farm.redis("replica")
    replica.replicate(primary)
    wait_until(lambda: replica.client().info("replication")["master_link_status"] == "up")
    for asked in (primary, replica):
        got = shown(f"redis://{asked.address}")
        assert got["format"] == "redis-info"
        servers = {s["name"]: s for s in got["pools"][0]["servers"]}
        assert servers[primary.address]["role"] == "primary" and servers[primary.address]["is_node"]
        assert servers[replica.address]["role"] == "replica"
        assert servers[replica.address]["replica_of"] == primary.address
        assert gyre("locate", f"redis://{asked.address}", "k").stdout == f"k\t{primary.address}\n"


def test_a_password_is_needed_and_never_shown(farm):
    node = farm.redis("guarded", "--requirepass", "p@ss w")
    assert shown(f"redis://:p%40ss%20w@{node.address}")["pools"][0]["placed"]
    assert shown(f"redis://{node.address}", env={"REDISCLI_AUTH": "p@ss w"})["pools"][0]["placed"]
    for url in (f"redis://:wr%21ong@{node.address}", f"redis://default:wr%21ong@{node.address}"):
        done = gyre("show", url)
        assert done.returncode in (2, 3) and node.address in done.stderr
        assert "wr%21ong" not in done.stderr and "wr!ong" not in done.stderr
    for cut in ("default%00er:p%40ss%20w", "default:p%40ss%20w%00", ":p%40ss%20w%00x", "p%40ss%20w%00"):  # never what stands before it
        done = gyre("show", f"redis://{cut}@{node.address}")
        assert done.returncode == 2 and "not by 00" in done.stderr and "ss" not in done.stderr.replace("password", ""), done


def test_a_cluster_of_one_with_slots_to_spare(farm):
    node = farm.redis("cluster", "--cluster-enabled", "yes")
    node.client().execute_command("CLUSTER ADDSLOTSRANGE", 0, 16000)
    got = shown(f"redis://{node.address}")
    pool = got["pools"][0]
    assert got["format"] == "redis-nodes"
    assert pool["facts"] == {"slots_covered": "16001", "slots_missing": "16001-16383"}
    assert [s["slots"] for s in pool["servers"]] == [16001]
    assert "slots-without-owner" in [n["code"] for n in pool["notes"]]


def test_the_status_is_that_of_the_source_that_failed(farm):
    node = farm.redis("cluster-of-two-sources", "--cluster-enabled", "yes")
    there, nobody = f"redis://{node.address}", f"redis://127.0.0.1:{free_port()}"
    assert gyre("doctor", there, "no-such-file").returncode == 2
    assert gyre("doctor", there, nobody).returncode == 3
    for command in ("check", "diff"):
        assert gyre(command, there, "no-such-file").returncode == 2
        assert gyre(command, os.devnull, nobody).returncode == 2
        assert gyre(command, there, nobody).returncode == 3


def test_what_cannot_be_asked():
    nobody = f"redis://127.0.0.1:{free_port()}"
    for command in ("show", "balance"):
        done = gyre(command, nobody)
        assert done.returncode == 3 and "cannot connect" in done.stderr, (command, done)
    assert gyre("show", "redis://127.0.0.1:x").returncode == 2
    done = gyre("show", "rediss://u:secret@127.0.0.1:1")
    assert done.returncode == 2 and "TLS" in done.stderr and "secret" not in done.stderr


def bulk(text):
    return b"$%d\r\n%s\r\n" % (len(text), text)


HELLO = [b":7\r\n", bulk(b"# Server\r\nrun_id:" + b"a" * 40 + b"\r\n")]


class Stranger:
    """Answers the commands of each connection, one by one, with what it was given; then it hangs up."""

    def __init__(self, answers, together=0):
        self.answers, self.barrier = answers, threading.Barrier(together) if together else None
        self.listener = socket.create_server(("0.0.0.0", 0) if together else ("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(client,), daemon=True).start()

    def talk(self, client):
        with client:
            left = list(self.answers)
            try:
                while left:
                    for _ in range(client.recv(65536).count(b"*")):
                        if self.barrier and len(left) == 1:
                            self.barrier.wait(30)
                        client.sendall(left.pop(0))
            except (OSError, IndexError, threading.BrokenBarrierError):
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


@pytest.mark.parametrize("answers, says", [
    ([b"HTTP/1.1 400 Bad Request\r\n\r\n"], "not RESP: 'HTTP/1.1 400 Bad Request"),
    ([b"\x15\x03\x01\0\2\2\x16"], "is this a TLS port?"),
    ([b"-NOAUTH Authentication required.\r\n"] * 2, "REDISCLI_AUTH"),
    ([b"-ERR unknown command 'client'\r\n"] * 2, "is it a proxy?"),
    (HELLO[:1], "closed the connection"),
    (HELLO + [b"-LOADING Redis is loading the dataset in memory\r\n"], "ask again when it is up"),
    (HELLO + [b"-MOVED 1 10.0.0.1:1\r\n"], "MOVED 1 10.0.0.1:1 (the cluster changes just now"),
    (HELLO + [b"-NOPERM no permissions to run 'cluster|nodes'\r\n"], "+cluster|nodes"),
    (HELLO + [b"-ERR \x1b[2J\r\n"], "ERR \\x1b[2J"),
    (HELLO + [b"$1073741824\r\n"], "more than 16 MB"),
    (HELLO + [b"*2\r\n:1\r\n:2\r\n"], "with no text"),
    (HELLO + [b"$-1\r\n"], "with no text"),
    (HELLO + [b"-ERR This instance has cluster support disabled\r\n", b"-NOPERM no\r\n"], "+info"),
])
def test_strangers(answers, says):
    """Whatever answers there: one line with its address and what to do, and the status of one that could not be asked."""
    with Stranger(answers) as s:
        for command in ("show", "doctor"):
            done = gyre(command, f"redis://127.0.0.1:{s.port}")
            assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1), done
            assert f"127.0.0.1:{s.port}: " in done.stderr and says in done.stderr, done.stderr


def test_a_view_that_is_none():
    with Stranger(HELLO + [bulk(b"hello world")]) as s:
        done = gyre("show", f"redis://127.0.0.1:{s.port}")
        assert done.returncode == 2 and f"redis://127.0.0.1:{s.port}:1:1: " in done.stderr


def test_nodes_are_asked_together():
    """Forty nodes, of which some answer only when sixteen are asked at once, some not, some nonsense: each is told of, none is waited for alone."""
    with Stranger(HELLO + [bulk(b"no view")], together=16) as slow:
        dead = free_port()
        text = f"{0:040x} 127.0.0.1:1@2 myself,master - 0 0 1 connected 0-16383\n"
        for i in range(1, 41):
            where = f"127.0.0.{i}:{slow.port}" if i <= 32 else f"127.0.0.1:{dead}"
            where = where if i < 40 else "no-such-host.invalid:1"
            text += f"{i:040x} {where}@1 slave {0:040x} 0 0 1 connected\n"
        with Stranger(HELLO + [bulk(text.encode())]) as first:
            done = gyre("doctor", f"redis://127.0.0.1:{first.port}", "--json")
        notes = [f["text"] for f in json.loads(done.stdout)["pools"][0]["findings"] if f["code"] == "not-asked"]
        assert len(notes) == 40, done
        assert sum("here are 2" in n for n in notes) == 32 and sum("Connection refused" in n for n in notes) == 7, notes
        assert sum("cannot resolve" in n for n in notes) == 1


def node(i, where, flags="master", slots=""):
    return f"{i:040x} {where}@1 {flags} - 0 0 1 connected {slots}\n"


def listing(*lines):
    return HELLO + [bulk("".join(lines).encode())]


def test_a_node_of_another_cluster_silences_nobody():
    """One node was reset: that is found, and so is what another one knows."""
    with Stranger(listing(node(9, "127.0.0.1:9", "myself,master"))) as strange:
        one = {asked: node(1, "127.0.0.1:1", asked + "master", "0-8191") for asked in ("", "myself,")}
        two = node(2, f"127.0.0.1:{strange.port}", slots="8192-16383")
        with Stranger(listing(one[""], two, node(3, "127.0.0.1:3", "myself,master", f"[5->-{1:040x}]"))) as third:
            with Stranger(listing(one["myself,"], two, node(3, f"127.0.0.1:{third.port}"))) as first:
                done = gyre("doctor", f"redis://127.0.0.1:{first.port}")
    assert done.returncode == 1 and not done.stderr, done
    assert f"error views-differ: 127.0.0.1:{strange.port}'s view is of another cluster: " in done.stdout
    assert f"127.0.0.1:{third.port} has 1 open slot" in done.stdout
    assert done.stdout.count("views-differ") == 1


def test_no_server_chooses_a_socket_of_this_machine(farm):
    """A server that names unix:/path as a node's address gets nobody to dial it, nor the password there."""
    path = farm.dir / "x.sock:6379"
    with socket.socket(socket.AF_UNIX) as trap:
        trap.bind(str(path))
        trap.listen()
        trap.setblocking(False)
        lines = node(1, "127.0.0.1:1", "myself,master"), node(2, f"unix:{path}", slots="0-16383")
        with Stranger([b"+OK\r\n"] + listing(*lines)) as s:
            url = f"redis://:secret@127.0.0.1:{s.port}"
            found = gyre("doctor", url)
            plan = gyre("plan", url, "--even", "--sample", "5")
        with pytest.raises(BlockingIOError):
            trap.accept()
    assert found.returncode == 0 and "not-asked" in found.stdout and "names a socket" in found.stdout, found
    assert plan.returncode == 3 and "names a socket" in plan.stderr, plan


COUNT, NAMES, USAGE = b":5\r\n", b"*2\r\n$1\r\na\r\n$1\r\nb\r\n", b":9\r\n"
MOST = b":9223372036854775807\r\n"


@pytest.mark.parametrize("count, names, usage, says", [
    (MOST, NAMES, USAGE, "more bytes than a slot can have"),
    (COUNT, NAMES, MOST, "more bytes than a slot can have"),
    (COUNT, NAMES, b":4611686018427387904\r\n", "more bytes than a slot can have"),
    (b":1000000\r\n", NAMES, b":1000000000000\r\n", "more bytes than a slot can have"),
    (b"+abc\r\n", NAMES, USAGE, "COUNTKEYSINSLOT with no number"),
    (b":-1\r\n", NAMES, USAGE, "COUNTKEYSINSLOT with no number"),
    (COUNT, b"$3\r\nabc\r\n", USAGE, "GETKEYSINSLOT with no list of keys"),
    (COUNT, b"*-1\r\n", USAGE, "GETKEYSINSLOT with no list of keys"),
    (COUNT, b"*2\r\n:1\r\n$-1\r\n", USAGE, "something that is no key"),
    (COUNT, b"*6\r\n" + b"$1\r\na\r\n" * 6, USAGE, "6 keys, asked for 5"),
    (b":1\r\n", NAMES, USAGE, "2 keys, asked for 1"),
    (COUNT, NAMES, b"$1\r\n9\r\n", "MEMORY USAGE with no number"),
    (COUNT, NAMES, b":-5\r\n", "MEMORY USAGE with no number"),
    (COUNT, NAMES, b"-NOPERM no\r\n", "the server says: NOPERM no"),
])
def test_sizes_that_cannot_be(count, names, usage, says):
    """What a server says of its keys is refused where it cannot be true, with its address, once."""
    with Stranger(HELLO + [count] * 128 + [names] * 128 + [usage] * 256) as keeper:
        with Stranger(listing(node(1, f"127.0.0.1:{keeper.port}", "myself,master", "0-16383"))) as first:
            done = gyre("plan", f"redis://127.0.0.1:{first.port}", "--even-bytes", "--sample", "5")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1), done
    assert done.stderr.count(f"127.0.0.1:{keeper.port}: ") == 1 and says in done.stderr, done.stderr


def test_keys_with_long_names_are_weighed(farm):
    """More names than one answer of another kind may have, and than come in one piece: each key is weighed by its own name."""
    plain = farm.redis("long-names")
    with plain.client() as c, c.pipeline(transaction=False) as p:
        for i in range(950):  # two slots, 15495 and 15522: both are asked of together
            p.execute_command("SET", ("{a}" if i < 850 else "{423}") + f"{i}" + "x" * 20000, "v")
        for i in range(100):
            p.execute_command("SET", f"{i}:" + "y" * 3000, "v" * i)
        p.execute_command("SAVE")
        p.execute()
    # of what it loads it takes the slots, and answers reads at once
    server = farm.redis("of-them", "--dir", plain.dir, "--cluster-enabled", "yes", "--cluster-allow-reads-when-down", "yes")
    with server.client() as c:
        names = c.execute_command("KEYS", "*")
        with c.pipeline(transaction=False) as p:
            for name in names:
                p.execute_command("MEMORY", "USAGE", name)
            total = sum(p.execute())
    assert len(names) == 1050 and total > 17_000_000
    lines = node(1, server.address, "myself,master", "0-16383"), node(2, "127.0.0.1:1")
    with Stranger(listing(*lines)) as first:
        plan = gyre("plan", f"redis://127.0.0.1:{first.port}", "--weight", f"{server.address}=0", "--weight", "127.0.0.1:1=1",
                    "--sample", "1000")
    assert plan.returncode == 0, plan.stderr
    told = int(re.search(r"with (\d+) bytes", plan.stdout).group(1))
    assert total - 16384 <= told <= total, (told, total)  # each slot's rounded down
