# SPDX-License-Identifier: Apache-2.0
"""The show of tools/quickstart.py, as a newcomer runs it."""
import os
import pathlib
import pty
import re
import signal
import socket
import subprocess
import termios
import time

import pytest

import harness
from harness import ROOT, wait_until

PYTHON = "/usr/bin/python3"
SHOW = [PYTHON, str(ROOT / "tools/quickstart.py")]
SMALL = ["--words", "3000", "--users", "3000", "--big", "2", "--load", "6000"]


def command(*args):
    """./quickstart.sh where its own build is under test; else the show with this build's programs."""
    if pathlib.Path(harness.GYRE).resolve().is_relative_to(ROOT / "build"):
        return [ROOT / "quickstart.sh", *args]
    return [*SHOW, *args]


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
                            env=environment(tmp_path), stdin=subprocess.DEVNULL, start_new_session=True,
                            preexec_fn=harness.die_with_parent)


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


@pytest.mark.parametrize("argv", [SHOW, [str(ROOT / "quickstart.sh")]])
def test_help_and_usage_come_before_any_work(tmp_path, argv):
    """Also of the script: it neither installs nor builds first."""
    def ask(*args):
        return subprocess.run([*argv, *args], capture_output=True, text=True, env=environment(tmp_path), timeout=20)
    assert "--once" in ask("--help").stdout and ask("--once", "-h").returncode == 0
    for wrong in (["--nonsense"], ["--users", "x"], ["--users", "0"], ["--on"]):
        done = ask(*wrong)
        assert done.returncode == 2 and "error" in done.stderr and "building" not in done.stderr, done.stderr


@pytest.mark.parametrize("argv", [SHOW, [str(ROOT / "quickstart.sh")]])
def test_a_bad_tmpdir_is_said(tmp_path, argv):
    done = subprocess.run([*argv, "--once"], capture_output=True, text=True, timeout=20,
                          env={**environment(tmp_path), "TMPDIR": str(tmp_path / "none")})
    assert done.returncode == 1 and "TMPDIR is" in done.stderr and "Traceback" not in done.stderr


def test_a_reader_that_goes_is_no_trouble(tmp_path):
    """quickstart.py | head -1: no traceback, nothing left."""
    p = subprocess.Popen([*SHOW, "--once", *SMALL], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         env=environment(tmp_path), stdin=subprocess.DEVNULL, preexec_fn=harness.die_with_parent)
    p.stdout.readline()
    p.stdout.close()
    assert p.wait(60) == 128 + signal.SIGPIPE
    assert p.stderr.read() == ""
    assert leftovers(tmp_path) == []


SCREEN = """
import quickstart_screen as s
assert s.COLOUR and s.columns() == s.shutil.get_terminal_size().columns - 1
p = s.Progress("Adding cache-4, live")
for i in range(101):
    p.drawn = 0.0
    p.show(i / 100, f"{i * 123:,} keys {i} MB " + s.good(True, "lost 0") + " " + s.dim("8,000 ops/s") + s.paint("36", " and more" * (i % 9)))
p.done("9,999,999 keys, 12345 MB and a text that says far more than there can ever be room for on a line of the screen")
s.print_table([("operations during the move", "1,234,567", "words of a note " * 9, None), ("lost", "3", "gone " * 20, False),
               ("stale", "0", "fine", True), ("errors", "2", "LOADING", s.WARN), ("each key is on", "", "one node, the right one", True)])
"""


@pytest.mark.parametrize("columns", [80, 110])
def test_nothing_wraps_on_a_terminal(tmp_path, columns):
    """What is drawn is never wider than the screen, is redrawn in place, and leaves no colour on."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    env = {k: v for k, v in environment(tmp_path).items() if k not in ("NO_COLOR", "COLUMNS")}
    p = subprocess.Popen([PYTHON, "-c", SCREEN], stdin=theirs, stdout=theirs, stderr=theirs, cwd=ROOT / "tools",
                         env={**env, "TERM": "xterm", "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"})
    os.close(theirs)
    raw = b""
    try:
        while part := os.read(ours, 1 << 16):
            raw += part
    except OSError:
        pass  # the other end is closed
    os.close(ours)
    text = raw.decode()
    assert p.wait(20) == 0, text
    drawn = re.split(r"\r\n|\r", text)
    bare = [re.sub(r"\x1b\[[\d;]*[mK]", "", x) for x in drawn]
    assert max(map(len, bare)) == columns - 1 and "\x1b" not in "".join(bare), max(bare, key=len)
    assert sum("%" in x for x in bare) == 101 and text.count("\n") < 30
    for line in drawn:
        codes = re.findall(r"\x1b\[([\d;]*)m", line)
        assert not codes or codes[-1] == "0", repr(line)
    assert "FAILED: gone" in text and "WARNING: LOADING" in text


def test_what_fails_is_said(monkeypatch, capsys):
    """A failed row is marked without colours, the last line says why, and only what is promised counts."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import quickstart
    last = {"keys": 100, "keys_minimum": 100, "longest_hold_ms": 3}
    plan = {"minimum": 0.2, "ratio": 1.0, "modulo": 0.8}
    report = {"lost": 0, "stale": 0, "resurrected": 0, "wrong": 0, "errors_total": 1, "errors": {"LOADING": 1}, "ops": 9,
              "longest_wait_ms": 40, "longest_wait_op": "GET", "p99_ms": 1.0}
    proof = dict.fromkeys(("keys", "twice", "misplaced", "missing", "records", "needless"), 0) | {"moved": 1, "due": 1, "cv": 0.3}
    before = {b"a": "cache-0", b"b": "cache-1"}

    def concludes():
        rows = quickstart.table(plan, last, 5, report, proof, before, 50)
        quickstart.print_table(rows)
        held = quickstart.conclude(rows, [])
        return held, capsys.readouterr().out

    held, text = concludes()
    assert held and "FAILED" not in text and text.count("WARNING") == 2 and "longest hold of a write" in text
    report["stale"] = 2
    held, text = concludes()
    assert not held and text.splitlines()[-1].strip() == "FAILED: stale 2"
    report["stale"], last["keys"] = 0, 101
    held, text = concludes()
    assert not held and "FAILED: ratio moved / minimum 1.010" in text


def test_figures_never_fall(monkeypatch):
    """The status is counted in passing and may say less than before; the reader does not see that."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import quickstart
    shown, most = [], {}

    class Recorder:
        def show(self, share, text):
            shown.append((share, text.split()[0]))
    clients = {"lost": 0, "stale": 0, "wrong": 0, "rate": 1}
    for moved in (10, 50, 40, 60):
        quickstart.show_move(Recorder(), {"units": {"total": 4}, "keys": {"moved": moved, "total_estimate": 100}}, clients, most)
    assert shown == [(0.1, "10"), (0.5, "50"), (0.5, "50"), (0.6, "60")]


def test_interrupted_tests_leave_nothing(tmp_path):
    """A test ended by SIGTERM, as meson ends one that takes too long, takes its servers and its directory along."""
    (tmp_path / "conftest.py").write_text((pathlib.Path(__file__).parent / "conftest.py").read_text())
    (tmp_path / "test_slow.py").write_text(
        "import time\ndef test_slow(farm):\n    farm.redis('a')\n    print('up', farm.dir, flush=True)\n    time.sleep(60)\n")
    for number, left in ((signal.SIGTERM, False), (signal.SIGKILL, True)):
        p = subprocess.Popen([PYTHON, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "test_slow.py"], cwd=tmp_path, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "TMPDIR": str(tmp_path),
                             "PYTHONPATH": str(pathlib.Path(__file__).parent), "PYTHONDONTWRITEBYTECODE": "1"})
        at = pathlib.Path(next(line for line in p.stdout if "up " in line).split()[-1])
        p.send_signal(number)
        p.communicate(timeout=30)
        assert at.exists() == left  # after SIGKILL nobody is there to remove it
        wait_until(lambda: not [x for x in leftovers(tmp_path) if "redis-server" in x and at.name in x], 10)


def test_the_tour_of_the_readme(tmp_path):
    """Its blocks, pasted one after the other: each command works, with ports of this test's own."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    tour = text[text.index("## A tour"):text.index("**Library.**")]
    blocks = re.findall(r"```sh\n(.*?)```", tour, re.S)
    assert "build/src/cli" in blocks.pop(0)
    script = "set -eu\n" + "".join(blocks)
    ports = {port: str(harness.free_port()) for port in ("7000", "7001", "7002", "7003", "7004")}
    script = re.sub(r"\b700[0-4]\b", lambda m: ports[m[0]], script)
    env = {**os.environ, "PATH": f"{pathlib.Path(harness.GYRE).parent}:{os.environ['PATH']}", "NO_COLOR": "1"}
    try:
        done = subprocess.run(["bash", "-m", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, env=env,
                              stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "user:1\tcache-" in done.stdout and "moved: version 2 serves" in done.stdout + done.stderr
    finally:
        for at in pathlib.Path("/proc").glob("[0-9]*"):  # what a failed tour left
            try:
                if (at / "cwd").resolve() == tmp_path / "tour":
                    os.kill(int(at.name), signal.SIGKILL)
            except OSError:
                pass


def test_no_redis_server_is_said(tmp_path):
    env = {**environment(tmp_path), "PATH": str(tmp_path)}
    done = subprocess.run(["/usr/bin/python3", str(ROOT / "tools/quickstart.py"), "--once"], capture_output=True, text=True, env=env)
    assert done.returncode != 0 and "redis-server" in done.stderr and "install" in done.stderr
