#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quickstart.py - Gyre at work on this machine: four redis-servers behind one address, a fifth added live.

Loads real keys, lets clients read and write without pause while every answer is checked, adds
cache-4, and shows what moved and that nothing was lost. Everything stands in one temporary
directory and ends with this program, however it ends. Usually started by ./quickstart.sh.
"""
import argparse
import contextlib
import ctypes
import fcntl
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
GYRE = os.environ.get("GYRE_BIN", str(ROOT / "build/src/cli/gyre"))
CHECKER = os.environ.get("CHECKER_BIN", str(ROOT / "build/tests/tools/checker"))
WORDS = pathlib.Path("/usr/share/dict/words")
HOST = "127.0.0.1"
PREFIX = "gyre-quickstart."
FIELD = 1000  # bytes of one field of the big hash


class Problem(Exception):
    """Something the reader can do something about."""


# ---------------------------------------------------------------- the screen

TERMINAL = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
COLOUR = TERMINAL and "NO_COLOR" not in os.environ
FINE = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def paint(code, text):
    return f"\x1b[{code}m{text}\x1b[0m" if COLOUR else text


def bold(text):
    return paint("1", text)


def dim(text):
    return paint("2", text)


def good(ok, text):
    return paint("32" if ok else "1;31", text)


def say(text=""):
    print(text, flush=True)


def bar(share, width=24):
    filled = int(max(0.0, min(1.0, share)) * width + 0.5)
    full, empty = ("█", "░") if FINE else ("#", ".")
    return paint("36", full * filled) + dim(empty * (width - filled))


class Progress:
    """One line that is redrawn on a terminal; elsewhere a line every few seconds."""

    def __init__(self, title):
        self.title, self.started, self.drawn = title, time.monotonic(), 0.0
        if not TERMINAL:
            say(f"  {title} ...")

    def show(self, share, text):
        now = time.monotonic()
        if now - self.drawn < (0.08 if TERMINAL else 3):
            return
        first, self.drawn = self.drawn == 0.0, now
        if TERMINAL:
            line = f"  {self.title:<28}{bar(share)} {share * 100:3.0f} %  {text}"
            width = shutil.get_terminal_size().columns
            visible = len(re.sub(r"\x1b\[[\d;]*m", "", line))
            print("\r" + (line if visible < width else line[:len(line) - (visible - width) - 1]) + "\x1b[0m\x1b[K",
                  end="", flush=True)
        elif not first:
            say(f"    {share * 100:3.0f} %  {text}")

    def done(self, text):
        took = time.monotonic() - self.started
        print("\r\x1b[K" if TERMINAL else "", end="")
        say(f"  {good(True, '✓' if FINE else '+')} {self.title:<26}{text}  {dim(f'{took:.1f} s')}")


# ---------------------------------------------------------------- processes and the directory

def die_with_parent():
    """In the child: even a SIGKILL of this program leaves no server behind (PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Stage:
    """The temporary directory and the processes in it."""

    def __init__(self):
        self.processes = []
        base = pathlib.Path(os.environ.get("TMPDIR") or "/tmp")
        if len(str(base)) > 70:  # a socket's path has 107 bytes at most
            base = pathlib.Path("/tmp")
        self.sweep(base)
        try:
            self.dir = pathlib.Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
        except OSError as e:
            raise Problem(f"no temporary directory in {base} ({e.strerror}); set TMPDIR to one that can be written") from e
        self.lock = open(self.dir / "lock", "w", encoding="ascii")
        fcntl.flock(self.lock, fcntl.LOCK_EX)

    @staticmethod
    def sweep(base):
        """Removes what a run that was killed left: its lock is free."""
        for old in base.glob(PREFIX + "*"):
            try:
                with open(old / "lock", encoding="ascii") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(old, ignore_errors=True)
                say(dim(f"  (removed {old}, left by an interrupted run)"))
            except OSError:
                pass  # in use by another show, just being made, or not ours

    def start(self, name, argv, **more):
        with open(self.dir / f"{name}.log", "ab") as log:
            p = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                 start_new_session=True, preexec_fn=die_with_parent, cwd=self.dir, **more)
        p.name = name
        self.processes.append(p)
        return p

    def log(self, name, lines=15):
        text = (self.dir / f"{name}.log").read_text(errors="replace").splitlines()
        return "\n".join("    " + line for line in text[-lines:])

    def ended(self, process):
        raise Problem(f"{process.name} ended ({process.returncode}); its last words:\n{self.log(process.name)}")

    def close(self):
        for p in reversed(self.processes):
            if p.poll() is None:
                p.terminate()
        until = time.monotonic() + 5
        for p in self.processes:
            try:
                p.wait(max(0.05, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


def port_is_free(port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind((HOST, port))
            return True
        except OSError:
            return False


class Ports:
    """Hands out the port one hopes for, or a free one, and says which was taken.

    A port is claimed among shows by an abstract socket of its name, which dies with this process:
    between looking and listening nobody else may take it, and two proxies may even share one.
    """

    def __init__(self):
        self.claims = {}

    def claim(self, port):
        s = socket.socket(socket.AF_UNIX)
        try:
            s.bind(f"\0{PREFIX}{port}")
        except OSError:
            s.close()
            return False
        self.claims[port] = s
        if port_is_free(port):
            return True
        self.claims.pop(port).close()
        return False

    def take(self, wish, whose):
        if self.claim(wish):
            return wish
        port = self.other()
        say(dim(f"  port {wish} is in use; {whose} takes {port}"))
        return port

    def other(self):
        while True:
            with socket.socket() as s:
                s.bind((HOST, 0))
                port = s.getsockname()[1]
            if self.claim(port):
                return port


# ---------------------------------------------------------------- the Redis protocol, as much as is needed

class Connection:
    def __init__(self, port):
        self.sock = socket.create_connection((HOST, port), 30)
        self.file = self.sock.makefile("rb", 1 << 16)

    def close(self):
        self.file.close()
        self.sock.close()

    @staticmethod
    def pack(*args):
        out = [b"*%d\r\n" % len(args)]
        for a in args:
            a = a if isinstance(a, bytes) else str(a).encode()
            out.append(b"$%d\r\n%b\r\n" % (len(a), a))
        return b"".join(out)

    def reply(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise Problem(f"the server says: {rest.decode(errors='replace')}")
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        if not line:
            raise Problem("the server closed the connection")
        return int(rest) if kind == b":" else rest

    def ask(self, *args):
        self.sock.sendall(self.pack(*args))
        return self.reply()

    def batch(self, commands):
        self.sock.sendall(b"".join(commands))
        for _ in commands:
            self.reply()

    def keys(self):
        cursor = b"0"
        while True:
            cursor, keys = self.ask("SCAN", cursor, "COUNT", 5000)
            yield from keys
            if cursor == b"0":
                return


# ---------------------------------------------------------------- the fleet

class Fleet:
    def __init__(self, stage):
        self.stage, self.ports = stage, Ports()
        self.nodes = {}
        self.port = self.ports.take(6380, "the proxy")
        self.admin = stage.dir / "admin.sock"
        self.file = stage.dir / "gyre.yaml"
        self.proxy = None

    def add_node(self, name):
        """A redis-server of its own, nothing saved."""
        port = self.ports.take(7101 + int(name.split("-")[1]), name)
        for _ in range(4):
            (self.stage.dir / name).mkdir(exist_ok=True)
            p = self.stage.start(name, ["redis-server", "--port", port, "--bind", HOST, "--save", "", "--appendonly", "no",
                                        "--dir", self.stage.dir / name])
            if wait(lambda: p.poll() is not None or answers(port), 15) and p.poll() is None:
                self.nodes[name] = port
                return port
            if "Address already in use" not in self.stage.log(name):
                self.stage.ended(p)
            port = self.ports.other()  # somebody was quicker
        raise Problem(f"no port for {name}")

    def write(self):
        nodes = "".join(f'  - {{name: {n}, address: "{HOST}:{p}"}}\n' for n, p in self.nodes.items())
        self.file.write_text(
            "# Written by the quickstart; `gyre help topology` explains every setting.\n"
            "gyre: 1\nversion: 1\nplacement:\n  algorithm: ring\n  hash: xxh3\n  hash_tag: \"{}\"\n"
            f"nodes:\n{nodes}"
            f"proxy:\n  listen: [\"{HOST}:{self.port}\", \"unix:{self.stage.dir}/gyre.sock\"]\n"
            f"  state: {self.stage.dir}/state\n  admin: \"unix:{self.admin}\"\n"
            "  backend: {timeout: 10s}  # a large value keeps a server busy for a moment\n", encoding="utf-8")

    def start_proxy(self):
        self.write()
        self.proxy = self.stage.start("proxy", [GYRE, "proxy", self.file])
        if not wait(lambda: self.proxy.poll() is not None or answers(self.port), 20):
            raise Problem(f"the proxy does not answer; its log:\n{self.stage.log('proxy')}")
        if self.proxy.poll() is not None:
            self.stage.ended(self.proxy)

    def gyre(self, *args, data=None):
        """The output of a gyre command."""
        done = subprocess.run([GYRE, *map(str, args)], input=data, capture_output=True, check=False,
                              env={**os.environ, "GYRE_ADMIN": f"unix:{self.admin}"})
        if done.returncode not in (0, 1):
            raise Problem(f"gyre {args[0]} failed: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout

    def status(self):
        conn = http.client.HTTPConnection("gyre", timeout=10)
        conn.sock = socket.socket(socket.AF_UNIX)
        conn.sock.settimeout(10)
        conn.sock.connect(str(self.admin))
        with contextlib.closing(conn):
            conn.request("GET", "/v1/move")
            return json.load(conn.getresponse())

    def scan(self):
        """{key: [nodes that hold it]}, asked of every node itself."""
        where = {}
        for name, port in self.nodes.items():
            with contextlib.closing(Connection(port)) as c:
                for key in c.keys():
                    where.setdefault(key, set()).add(name)
        return where

    def locate(self, topology, keys):
        file = self.stage.dir / "keys0"
        file.write_bytes(b"".join(k + b"\0" for k in keys))
        rows = json.loads(self.gyre("locate", topology, "--keys0", file, "--json"))["keys"]
        return [row["nodes"][0] for row in rows]


def answers(port):
    try:
        with contextlib.closing(Connection(port)) as c:
            return c.ask("PING") == b"PONG"
    except (OSError, Problem):
        return False


def wait(condition, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.02)
    return False


# ---------------------------------------------------------------- the data

def user_commands(n):
    for i in range(n):
        yield Connection.pack("SET", f"user:{i}", f'{{"id": {i}, "name": "user {i}"}}')


def word_commands(words):
    """Every word as a key; the types take turns, one in ten has a time to live."""
    pack = Connection.pack
    makers = [
        lambda w, i: pack("SET", w, len(w)),
        lambda w, i: pack("HSET", w, "length", len(w), "line", i),
        lambda w, i: pack("SET", w, i, "EX", 86400 + i),
        lambda w, i: pack("RPUSH", w, *w[:12]),
        lambda w, i: pack("SADD", w, *w[:12]),
        lambda w, i: pack("ZADD", w, *(x for p, ch in enumerate(w[:12]) for x in (p, ch))),
        lambda w, i: pack("XADD", w, f"{i + 1}-1", "word", w),
        lambda w, i: pack("PFADD", w, *w[:12]),
        lambda w, i: pack("SETBIT", w, i % 4096, 1),
        lambda w, i: pack("GEOADD", w, i % 180, i % 80, "here"),
    ]
    for i, w in enumerate(words):
        yield makers[i % len(makers)](w, i)


def big_commands(name, megabytes, words):
    """A hash of texts: fields of FIELD bytes, none like another."""
    rng = random.Random(name)
    for first in range(0, megabytes * 1000, 100):
        fields = []
        for i in range(first, first + 100):
            fields += [f"field:{i}", " ".join(rng.choices(words, k=FIELD // 6))[:FIELD].ljust(FIELD)]
        yield Connection.pack("HSET", name, *fields)


def send_all(port, commands, total, progress, unit, batch):
    done, pending = 0, []
    with contextlib.closing(Connection(port)) as c:
        for command in commands:
            pending.append(command)
            if len(pending) == batch:
                c.batch(pending)
                done, pending = done + len(pending), []
                progress.show(done / total, f"{done:,} of {total:,} {unit}")
        c.batch(pending)


def load(fleet, options, planned):
    """Fills the fleet by way of the proxy. Gives the name of the big hash."""
    try:
        words = list(dict.fromkeys(WORDS.read_text(encoding="utf-8").split()))
    except OSError as e:
        raise Problem(f"no word list ({e.strerror}: {WORDS}); install it: apt-get install wamerican") from e
    words = words[:options.words] if options.words else words
    progress = Progress("Loading keys")
    send_all(fleet.port, user_commands(options.users), options.users, progress, "users", 2000)
    send_all(fleet.port, word_commands(words), len(words), progress, "words", 2000)
    progress.done(f"{options.users:,} users, {len(words):,} words, all types, {len(words) // 10:,} with a time to live")
    names = [f"catalogue:{i}".encode() for i in range(200)]
    name = next(n for n, node in zip(names, fleet.locate(planned, names)) if node == "cache-4")
    progress = Progress("Loading one large hash")
    send_all(fleet.port, big_commands(name, options.big, words), options.big * 10, progress, "parts", 10)
    progress.done(f"{name.decode()}, {options.big * 1000:,} fields, {options.big} MB; it will move")
    return name


# ---------------------------------------------------------------- the move under load

class Load:
    """The checker in the background; its last progress line is what the clients see now."""

    def __init__(self, fleet, rate):
        self.stage = fleet.stage
        self.report = self.stage.dir / "checker.json"
        self.process = self.stage.start("checker", [
            CHECKER, "--port", fleet.port, "--clients", 8, "--write-ratio", 0.4, "--multi-ratio", 0.15, "--keys", 8000,
            "--seconds", 0, "--rate", rate, "--progress=100", "--json", self.report])
        if not wait(lambda: self.process.poll() is not None or self.now()["ops"] > 0, 30):
            raise Problem(f"the load does not begin:\n{self.stage.log('checker')}")
        if self.process.poll() is not None:
            self.stage.ended(self.process)

    def now(self):
        text = (self.stage.dir / "checker.log").read_bytes()[-2000:].decode(errors="replace")
        found = re.findall(r"(\d+) ops +(\d+)/s +lost (\d+) +stale (\d+) +wrong (\d+) +errors (\d+)\n", text)
        values = [int(x) for x in found[-1]] if found else [0] * 6
        return dict(zip(("ops", "rate", "lost", "stale", "wrong", "errors"), values))

    def end(self):
        self.process.terminate()
        self.process.wait(60)
        return json.loads(self.report.read_text())


def move(fleet, clients):
    """Adds cache-4 while the clients go on. Gives its entry of the history and the operations meanwhile."""
    progress = Progress("Adding cache-4, live")
    before = clients.now()["ops"]
    child = fleet.stage.start("move", [GYRE, "move", "start", "--yes", "--json", "--add",
                                       f"cache-4={HOST}:{fleet.nodes['cache-4']}"],
                              env={**os.environ, "GYRE_ADMIN": f"unix:{fleet.admin}"})
    status = {}
    while child.poll() is None:
        with contextlib.suppress(OSError, ValueError):
            now = fleet.status()
            status = now if now.get("units") else status
        show_move(progress, status, clients.now())
        if fleet.proxy.poll() is not None:
            fleet.stage.ended(fleet.proxy)
        time.sleep(0.1)
    if child.returncode != 0:
        fleet.stage.ended(child)
    time.sleep(0.15)  # the load's last line
    operations = clients.now()["ops"] - before
    last = json.loads(fleet.gyre("move", "history", "--json"))["moves"][0]
    progress.done(f"{last['keys']:,} keys, {last['bytes'] / 1e6:.0f} MB; a write waited {last['longest_hold_ms']} ms at most")
    return last, operations


def show_move(progress, status, clients):
    units = status.get("units", {})
    total = units.get("total") or 1
    arrived = sum(units.get(s, 0) for s in ("complete", "cleaning", "moved"))
    keys = status.get("keys", {})
    share = keys.get("moved", 0) / keys["total_estimate"] if keys.get("total_estimate") else arrived / total
    wrong = clients["lost"] + clients["stale"] + clients["wrong"]
    progress.show(min(1.0, max(share, arrived / total)),
                  f"{keys.get('moved', 0):,} keys  {status.get('bytes', 0) / 1e6:.0f} MB"
                  f"  {dim('clients')} {clients['rate']:,}/s {good(wrong == 0, f'lost or stale {wrong}')}")


# ---------------------------------------------------------------- the proof

def variation(where, nodes):
    counts = dict.fromkeys(nodes, 0)
    for node in where.values():
        counts[node] += 1
    return statistics.pstdev(counts.values()) / statistics.mean(counts.values())


def verify(fleet, before, planned):
    """Where every key is now, against where it was and where it should be."""
    progress = Progress("Looking at every key")
    found = fleet.scan()
    data = {k: next(iter(v)) for k, v in found.items()}
    keys = list(data)
    right = fleet.locate(planned, keys)
    result = {
        "keys": len(keys),
        "twice": sum(len(v) > 1 for v in found.values()),
        "misplaced": sum(data[k] != r for k, r in zip(keys, right)),
        "missing": sum(k not in found for k in before),
        "records": sum(k.startswith(b"gyre:") for k in keys),
        "moved": sum(data.get(k, n) != n for k, n in before.items()),
        "needless": sum(data.get(k, n) not in (n, "cache-4") for k, n in before.items()),
        "cv": variation({k: data[k] for k in before if k in data}, fleet.nodes),
    }
    progress.done(f"{result['keys']:,} keys on {len(fleet.nodes)} nodes")
    return result


def table(plan, last, operations, report, proof, before):
    """The rows of the end: label, value, note, and whether it is as promised (None: just a figure)."""
    total = len(before)
    wait_ms = report["longest_wait_ms"]
    stale = report["stale"] + report["resurrected"]
    placed = not (proof["twice"] or proof["misplaced"] or proof["missing"] or proof["records"])
    where = "exactly one node, and the right one" if placed else \
        f"{proof['twice']} on two nodes, {proof['misplaced']} misplaced, {proof['missing']} missing, {proof['records']} records left"
    ratio = last["keys"] / last["keys_minimum"] if last["keys_minimum"] else 0
    return [
        ("keys on the nodes", f"{proof['keys']:,}", "", None),
        ("moved", f"{proof['moved']:,}", f"{proof['moved'] / total * 100:.2f} % of what was loaded, {proof['needless']} without need",
         proof["needless"] == 0),
        ("minimum", f"{plan['minimum'] * total:,.0f}", f"{plan['minimum'] * 100:.2f} %, what any placement must move", None),
        ("ratio moved / minimum", f"{ratio:.3f}", f"{last['keys']:,} keys, the clients' among them; by the plan {plan['ratio']:.3f}",
         abs(ratio - 1) < 0.0005 and abs(plan["ratio"] - 1) < 0.0005),
        ("modulo would have moved", f"{plan['modulo'] * total:,.0f}", f"{plan['modulo'] * 100:.2f} %", None),
        ("operations during the move", f"{operations:,}", f"{report['ops']:,} in all, every answer checked", operations > 0),
        ("lost", f"{report['lost']}", "", report["lost"] == 0),
        ("stale", f"{stale}", "", stale + report["wrong"] == 0),
        ("errors", f"{report['errors_total']}", ", ".join(report["errors"])[:60], report["errors_total"] == 0),
        ("longest wait", f"{wait_ms:.0f} ms", f"{report['longest_wait_op']}; p99 {report['p99_ms']:.1f} ms", None),
        ("CV before", f"{variation(before, set(before.values())):.4f}", "spread of the keys over four nodes", None),
        ("CV after", f"{proof['cv']:.4f}", "over five; an alert is due above 0.20", proof["cv"] < 0.2),
        ("each key is on", "", where, placed),
    ]


def print_table(rows):
    line = ("─" if FINE else "-") * 74
    say()
    say(f"  {dim(line)}")
    for label, value, note, ok in rows:
        value = f"{value:>10}"
        shown = value if ok is None else good(ok, bold(value) if COLOUR else value)
        note = note if value.strip() else good(ok, note)
        say(f"  {label:<28}{shown}   {dim(note) if value.strip() else note}".rstrip())
    say(f"  {dim(line)}")


# ---------------------------------------------------------------- the show

def preflight():
    for program in ("redis-server", "redis-cli"):
        if not shutil.which(program):
            raise Problem(f"{program} is not here; install it: apt-get install redis-server redis-tools\n"
                          "(./quickstart.sh does that by itself)")
    for path, target in ((GYRE, "src/cli/gyre"), (CHECKER, "tests/tools/checker")):
        if not os.access(path, os.X_OK):
            raise Problem(f"{path} is not built; run ./quickstart.sh, or: meson setup build && ninja -C build {target}")


def planned_topology(fleet, port):
    """The topology with cache-4, and what the change costs."""
    plan = json.loads(fleet.gyre("plan", fleet.file, "--add", f"cache-4={HOST}:{port}", "--json"))
    text = fleet.file.read_text(encoding="utf-8").replace(
        "proxy:\n", f'  - {{name: cache-4, address: "{HOST}:{port}"}}\nproxy:\n')
    planned = fleet.stage.dir / "planned.yaml"
    planned.write_text(text, encoding="utf-8")
    return planned, plan


def show(stage, options):
    """Everything up to the table; True when all is as promised."""
    say(f"\n{bold('Gyre')}: one address over real Redis servers, and a node added live")
    say(dim(f"  everything stands in {stage.dir}") + "\n")
    fleet = Fleet(stage)
    progress = Progress("Starting the servers")
    for i in range(5):
        fleet.add_node(f"cache-{i}")
    fifth = fleet.nodes.pop("cache-4")
    fleet.start_proxy()
    ports = ", ".join(str(p) for p in fleet.nodes.values())
    progress.done(f"redis-servers on {ports}; the proxy on {fleet.port}")
    planned, plan = planned_topology(fleet, fifth)
    load(fleet, options, planned)
    before = {k: next(iter(v)) for k, v in fleet.scan().items()}
    clients = Load(fleet, options.load)
    say(f"  {dim('$')} gyre move start --add cache-4={HOST}:{fifth}")
    time.sleep(1)
    fleet.nodes["cache-4"] = fifth
    last, operations = move(fleet, clients)
    time.sleep(0.5)
    report = clients.end()
    proof = verify(fleet, before, planned)
    rows = table(plan, last, operations, report, proof, before)
    print_table(rows)
    for violation in report["violations"][:5]:
        say(good(False, f"  {violation}"))
    return fleet, all(ok is not False for *_, ok in rows)


def stay(fleet):
    gyre = os.path.relpath(GYRE)
    gyre = gyre if not gyre.startswith("../..") else GYRE
    say(f"\n  It goes on running. {bold('Try, in another terminal:')}\n")
    for text in (f"redis-cli -p {fleet.port} get user:1",
                 f"{gyre} balance {fleet.stage.dir}/planned.yaml",
                 f"{gyre} explain {fleet.stage.dir}/planned.yaml user:1",
                 f"export GYRE_ADMIN=unix:{fleet.admin}",
                 f"{gyre} move history",
                 f"{gyre} move start --remove cache-1",
                 f"{gyre} move start --weight cache-2=2"):
        say(f"    {paint('36', text)}")
    say(f"\n  {bold('Ctrl-C')} ends everything and leaves nothing behind.")
    while all(p.poll() is None for p in fleet.stage.processes if p.name not in ("checker", "move")):
        time.sleep(0.3)
    fleet.stage.ended(next(p for p in fleet.stage.processes if p.name not in ("checker", "move") and p.poll() is not None))


def interrupted(*_):
    raise KeyboardInterrupt


def options_of(argv):
    p = argparse.ArgumentParser(prog="quickstart.sh", description="Shows Gyre at work on this machine: a node added to "
                                "real Redis servers while clients read and write. Nothing outside a temporary directory is touched.")
    p.add_argument("--once", action="store_true", help="end after the table; exit 0 only if nothing was lost and nothing moved without need")
    p.add_argument("--users", type=int, default=20000, metavar="N", help="keys user:0 ... (20000)")
    p.add_argument("--words", type=int, default=0, metavar="N", help="words of the word list as keys (0: all)")
    p.add_argument("--big", type=int, default=50, metavar="MB", help="size of the hash that will move (50)")
    p.add_argument("--load", type=int, default=10000, metavar="N", help="operations per second of the checking clients (10000; 0: as many as go)")
    o = p.parse_args(argv)
    if o.users < 1 or o.big < 1 or o.words < 0 or o.load < 0:
        p.error("numbers must be positive")
    return o


def main(argv):
    options = options_of(argv)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    stage, up, status = None, False, 1
    try:
        preflight()
        stage = Stage()
        fleet, fine = show(stage, options)
        status = 0 if fine else 1
        if not options.once:
            up = True
            stay(fleet)
    except Problem as e:
        print(f"\nquickstart: {e}", file=sys.stderr)
        status = 1
    except OSError as e:
        print(f"\nquickstart: {e}", file=sys.stderr)
        for p in stage.processes if stage else []:
            if p.poll() is not None:
                print(f"{p.name} ended ({p.returncode}); its last words:\n{stage.log(p.name)}", file=sys.stderr)
        status = 1
    except KeyboardInterrupt:
        status = status if up else 130
        say("\n  ending")
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if stage:
            stage.close()
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
