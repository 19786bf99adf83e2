# SPDX-License-Identifier: Apache-2.0
"""The show of tools/quickstart.py, as a newcomer runs it."""
import os
import pathlib
import re
import signal
import socket
import subprocess
import time

import pytest

import harness
from harness import ROOT, wait_until

SMALL = ["--words", "3000", "--users", "3000", "--big", "2", "--load", "6000"]


def command(*args):
    """./quickstart.sh where its own build is under test; else the show with this build's programs."""
    if pathlib.Path(harness.GYRE).resolve().is_relative_to(ROOT / "build"):
        return [ROOT / "quickstart.sh", *args]
    return ["/usr/bin/python3", ROOT / "tools/quickstart.py", *args]


def environment(tmp_path):
    return {**os.environ, "TMPDIR": str(tmp_path), "GYRE_BIN": harness.GYRE, "CHECKER_BIN": harness.CHECKER, "NO_COLOR": "1"}


def leftovers(tmp_path):
    """Directories and processes that belong to shows in tmp_path."""
    ps = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True).stdout
    return sorted(p.name for p in tmp_path.iterdir()) + [line for line in ps.splitlines() if str(tmp_path) in line]


def run(tmp_path, *args, timeout=300):
    return subprocess.run(list(map(str, command(*args))), capture_output=True, text=True, timeout=timeout,
                          env=environment(tmp_path), stdin=subprocess.DEVNULL)


def begin(tmp_path, *args):
    return subprocess.Popen(list(map(str, command(*args))), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env=environment(tmp_path), stdin=subprocess.DEVNULL, start_new_session=True)


def number(text, label):
    line = next(x for x in text.splitlines() if x.strip().lower().startswith(label))
    return float(re.search(r"([\d][\d\u202f,]*\.?\d*)", line[len(label):]).group(1).replace(",", ""))


def holds(text):
    for label in ("lost", "stale", "errors"):
        assert number(text, label) == 0, text
    assert number(text, "ratio") == 1
    assert number(text, "operations during the move") > 0
    assert number(text, "cv after") < 0.2
    assert "exactly one node" in text


def test_the_whole_show_once(tmp_path):
    started = time.monotonic()
    done = run(tmp_path, "--once")
    assert done.returncode == 0, done.stdout + done.stderr
    holds(done.stdout)
    assert "\x1b" not in done.stdout  # not a terminal
    assert number(done.stdout, "keys on the nodes") > 100000
    assert leftovers(tmp_path) == []
    print(f"the show took {time.monotonic() - started:.0f} s")


def test_two_at_once(tmp_path):
    """The second finds other ports and says so."""
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    first = begin(one, "--once", *SMALL)
    second = begin(two, "--once", *SMALL)
    texts = [p.communicate(timeout=200)[0] for p in (first, second)]
    for p, text, at in ((first, texts[0], one), (second, texts[1], two)):
        assert p.returncode == 0, text
        holds(text)
        assert leftovers(at) == []


def test_ports_in_use(tmp_path):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind((harness.HOST, 6380))
            s.listen()
        except OSError:
            pass  # taken by somebody else: as good
        done = run(tmp_path, "--once", *SMALL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"6380 is (taken|in use)", done.stdout)
    holds(done.stdout)


@pytest.mark.parametrize("number_, after", [(signal.SIGINT, "Loading"), (signal.SIGTERM, "Adding"), (signal.SIGINT, "Starting")])
def test_interrupted_it_leaves_nothing(tmp_path, number_, after):
    p = begin(tmp_path, "--once", *SMALL)
    lines = []
    for line in p.stdout:
        lines.append(line)
        if after.lower() in line.lower():
            break
    os.killpg(p.pid, number_)  # as a terminal does
    p.communicate(timeout=30)
    assert p.returncode != 0, lines
    wait_until(lambda: not leftovers(tmp_path), 5)


def test_killed_hard_the_next_run_says_and_works(tmp_path):
    p = begin(tmp_path, *SMALL)
    for line in p.stdout:
        if "redis-cli" in line:  # it is up and says what to try
            break
    os.killpg(p.pid, signal.SIGKILL)
    p.wait()
    wait_until(lambda: not [x for x in leftovers(tmp_path) if "redis-server" in x or "proxy" in x], 10)
    done = run(tmp_path, "--once", *SMALL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert leftovers(tmp_path) == []


def test_it_stays_until_ctrl_c(tmp_path):
    p = begin(tmp_path, *SMALL)
    shown = []
    for line in p.stdout:
        shown.append(line)
        if "Ctrl-C" in line:
            break
    text = "".join(shown)
    port = re.search(r"redis-cli -p (\d+)", text).group(1)
    assert subprocess.run(["redis-cli", "-p", port, "get", "user:1"], capture_output=True, text=True).stdout.strip()
    assert "gyre" in text and " balance " in text and " move " in text
    os.killpg(p.pid, signal.SIGINT)
    p.communicate(timeout=30)
    assert p.returncode == 0
    assert leftovers(tmp_path) == []


def test_help_and_usage(tmp_path):
    env = environment(tmp_path)
    show = ["/usr/bin/python3", str(ROOT / "tools/quickstart.py")]
    assert "--once" in subprocess.run([*show, "--help"], capture_output=True, text=True, env=env).stdout
    assert subprocess.run([*show, "--nonsense"], capture_output=True, env=env).returncode == 2


def test_no_redis_server_is_said(tmp_path):
    env = {**environment(tmp_path), "PATH": str(tmp_path)}
    done = subprocess.run(["/usr/bin/python3", str(ROOT / "tools/quickstart.py"), "--once"], capture_output=True, text=True, env=env)
    assert done.returncode != 0 and "redis-server" in done.stderr and "install" in done.stderr
