# SPDX-License-Identifier: Apache-2.0
"""quickstart_stage.py - what the quickstart stands on: a temporary directory, processes that end with
this one, ports, enough of the Redis protocol, and the fleet of servers with its proxy.
"""
import contextlib
import ctypes
import fcntl
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from quickstart_screen import dim, say

ROOT = pathlib.Path(__file__).resolve().parents[1]
GYRE = os.environ.get("GYRE_BIN", str(ROOT / "build/src/cli/gyre"))
HOST = "127.0.0.1"
PREFIX = "gyre-quickstart."


class Problem(Exception):
    """Something the reader can do something about."""


# ---------------------------------------------------------------- processes and the directory

def die_with_parent():
    """In the child: even a SIGKILL of this program leaves no server behind (PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Stage:
    """The temporary directory and the processes in it."""

    def __init__(self):
        self.processes = []
        base = pathlib.Path(os.environ.get("TMPDIR") or "/tmp").absolute()
        if not (base.is_dir() and os.access(base, os.W_OK | os.X_OK)):
            raise Problem(f"TMPDIR is {base}, which is no directory that can be written; set it to one, or unset it")
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
