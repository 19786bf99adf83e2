# SPDX-License-Identifier: Apache-2.0
"""What `gyre move` says around a move: before it, at the question, after it, and when nobody answers."""
import json
import os
import pty
import signal
import subprocess
import time

import pytest

import harness
from harness import GYRE, wait_until


@pytest.fixture(scope="module")
def cluster(shared_farm):
    return shared_farm.cluster(2)


def at_terminal(cluster, *args):
    """`gyre move ...` with a terminal for stdin; (process, the terminal's other end)."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "GYRE_ADMIN": f"unix:{cluster.admin}"}
    child = subprocess.Popen([GYRE, "move", *args], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=env, text=True)
    os.close(theirs)
    return child, ours


def asked(child):
    """Reads until the question stands there."""
    said = ""
    while "[y/N]" not in said:
        more = os.read(child.stderr.fileno(), 4096).decode()
        assert more, said
        said += more
    return said


def test_interrupt_at_the_question(cluster, shared_farm):
    child, terminal = at_terminal(cluster, "start", "--weight", "cache-0=2")
    asked(child)
    time.sleep(0.1)  # it is asked a moment before it is waited for
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=20)
    os.close(terminal)
    assert child.returncode == 130 and "nothing was moved" in err, (child.returncode, err)
    assert "version: 1\n" in cluster.topology().read_text()


def test_no_is_no(cluster):
    child, terminal = at_terminal(cluster, "start", "--add", "x=127.0.0.1:1,zone=eu/a")
    asked(child)
    os.write(terminal, b"n\n")
    out, err = child.communicate(timeout=20)
    os.close(terminal)
    assert child.returncode == 1 and "nothing was moved" in err
    assert "+ x  127.0.0.1:1  weight 1  zone eu/a\n" in out


@pytest.mark.parametrize("words", ["status", "history", "topology", "watch", "start --detach --yes --weight cache-0=2"])
def test_the_answer_does_not_fit(cluster, words):
    """Said like every command's: a script that reads a status of 0 must have been told."""
    env = {**os.environ, "GYRE_ADMIN": f"unix:{cluster.admin}"}
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([GYRE, "move", *words.split()], stdout=full, stderr=subprocess.PIPE, env=env, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, "gyre: cannot write the answer: No space left on device"), done.stderr
    assert "version: 1\n" in cluster.topology().read_text(), "the plan was not seen, so it is not carried out"


def test_nothing_to_do_asks_no_node(cluster):
    done = cluster.move("start", "--yes", "--weight", "cache-0=1", check=False)
    assert done.returncode == 1 and "nothing to do" in done.stderr and "checking" not in done.stderr


def test_two_nodes_of_one_address(cluster):
    taken = cluster.nodes["cache-0"].address
    done = cluster.move("start", "--yes", "--add", f"twin={taken}", check=False)
    assert done.returncode == 2 and f"'cache-0' and 'twin' have one address, {taken}" in done.stderr
    assert done.stdout == ""


def test_after_a_move_the_file_is_brought_up_to_date(cluster, shared_farm):
    cluster.fill(50)
    node = shared_farm.redis("cache-2")
    done = cluster.move("start", "--yes", "--add", f"cache-2={node.address}", "--config", cluster.file)
    said = f"version 2 serves. Write it to your file: gyre move topology --config {cluster.file} -o {cluster.file}\n"
    assert done.stdout.endswith(said), done.stdout
    cluster.nodes["cache-2"] = node
    old = cluster.file.read_text()

    stale = cluster.move("start", "--yes", "--to", cluster.file, "--detach", "--admin", "unix:/nonexistent", check=False)
    assert stale.returncode == 3
    child, terminal = at_terminal(cluster, "start", "--to", str(cluster.file))
    warned = asked(child)
    os.write(terminal, b"n\n")
    child.communicate(timeout=20)
    os.close(terminal)
    assert "warning" in warned and "says version 1, but version 2 serves" in warned, warned
    assert "it would drop node 'cache-2'" in warned and warned.index("drop") < warned.index("[y/N]")

    subprocess.run([GYRE, *said.split(": gyre ")[1].split()], check=True, capture_output=True)
    new = cluster.file.read_text()
    assert "version: 2\n" in new and node.address in new
    assert str(cluster.admin) in new and f":{cluster.port}" in new, "the proxy section is kept"
    subprocess.run([GYRE, "proxy", "--check", cluster.file], check=True, capture_output=True)
    alone = cluster.move("topology").stdout
    assert new.startswith(alone) and "proxy:" not in alone
    told = json.loads(cluster.move("topology", "--json").stdout)
    assert told["version"] == 2 and [n["name"] for n in told["nodes"]] == ["cache-0", "cache-1", "cache-2"]

    fresh = cluster.dir / "fresh.yaml"
    cluster.move("topology", "-o", fresh)
    assert fresh.read_text() == alone
    cluster.file.write_text(old)


def test_what_is_no_topology_is_not_written_over(cluster):
    notes = cluster.dir / "notes.txt"
    notes.write_text("buy milk\n")
    done = cluster.move("topology", "-o", notes, check=False)
    assert done.returncode == 2 and "no topology file" in done.stderr and notes.read_text() == "buy milk\n"
    done = cluster.move("topology", "--json", "-o", notes, check=False)
    assert done.returncode == 2 and "--json" in done.stderr and notes.read_text() == "buy milk\n"


@pytest.mark.parametrize("looks", [1, 2])
def test_a_file_that_vanishes_while_it_is_written(cluster, looks):
    """Before its proxy section was read: nothing is written. After that: it is whole again."""
    file = cluster.dir / "vanishing.yaml"
    file.write_text(cluster.file.read_text())
    done = cluster.move("topology", "-o", file, check=False,
                        env={"LD_PRELOAD": str(harness.PRELOADS / "libvanish.so"), "VANISH": f"{looks}:{file}"})
    if looks == 1:
        assert done.returncode == 2 and "removed while it was read; nothing was written" in done.stderr, done
        assert "no topology file" not in done.stderr and not file.exists()
    else:
        assert done.returncode == 0 and "its proxy section is as it was" in done.stdout, done
        assert str(cluster.admin) in file.read_text()
    assert not list(cluster.dir.glob("vanishing.yaml.*"))


def test_under_way_is_said_at_once(cluster, shared_farm):
    cluster.fill(2000, "more:")
    version = json.loads(cluster.move("topology", "--json").stdout)["version"]
    cluster.move("start", "--yes", "--detach", "--keys-per-second", "1", "--weight", "cache-0=3")
    done = cluster.move("start", "--yes", "--weight", "cache-1=3", check=False)
    assert done.returncode == 1 and f"a move to version {version + 1} is under way" in done.stderr
    assert done.stdout == "", "no plan is shown for what cannot begin"
    table = cluster.move("status").stdout
    assert " done: " in table and table.count("limit") == 1, table
    cluster.move("pause")
    told = json.loads(cluster.move("status", "--json").stdout)  # of a move that stands still: the same twice
    assert told["state"] == "paused" and told == cluster.status()
    cluster.move("abort", timeout=30)


def silent(cluster, address, prefix=()):
    done = subprocess.run([*prefix, GYRE, "move", "status", "--admin", address], capture_output=True, text=True,
                          timeout=20)
    assert done.returncode == 3 and "curl" not in done.stderr.lower(), done
    return done.stderr


def test_why_nobody_answers(cluster):
    """Each reason has its own words."""
    gone = cluster.dir / "gone.sock"
    assert "no such socket file" in silent(cluster, f"unix:{gone}")
    assert "connection refused" in silent(cluster, f"{harness.HOST}:{harness.free_port()}")
    assert "not gyre's admin" in silent(cluster, cluster.nodes["cache-0"].address) \
        or "closed before an answer" in silent(cluster, cluster.nodes["cache-0"].address)
    # Root may open everything, unless that right of its is taken.
    less = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    for closed, word in (cluster.admin, "the socket belongs"), (cluster.dir, f"the folder {cluster.dir} belongs"):
        mode = closed.stat().st_mode
        closed.chmod(0)
        try:
            said = silent(cluster, f"unix:{cluster.admin}", less)
        finally:
            closed.chmod(mode)
        assert "permission denied" in said and "mode 0000" in said and word in said, said
    cluster.proxy.kill()
    wait_until(lambda: not cluster.proxy.alive())
    assert "nobody listens" in silent(cluster, f"unix:{cluster.admin}")
