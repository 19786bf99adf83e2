# SPDX-License-Identifier: Apache-2.0
"""Real processes for the end-to-end tests: redis-servers, the proxy, the checker, on loopback.

Everything a test starts belongs to one Farm: a temporary directory and the processes in it, all
ended by Farm.close(), by the end of this program, however it ends, and by the kernel when it is killed. Ports are free ones the kernel gave; a server that loses the race for its
port gets another. Nothing here pretends to be a server.
"""
import atexit
import ctypes
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import redis

ROOT = pathlib.Path(__file__).resolve().parents[2]
GYRE = os.environ.get("GYRE_BIN", str(ROOT / "build/src/cli/gyre"))
CHECKER = os.environ.get("CHECKER_BIN", str(ROOT / "build/tests/tools/checker"))
PRELOADS = pathlib.Path(os.environ.get("PRELOAD_DIR", ROOT / "build/tests/tools"))
LONG = os.environ.get("GYRE_LONG") == "1"
HOST = "127.0.0.1"


def free_port():
    with socket.socket() as s:
        s.bind((HOST, 0))
        return s.getsockname()[1]


def wait_until(what, timeout=10.0, every=0.01):
    """Calls `what` until it is true; gives its value. Fails after `timeout` seconds."""
    end = time.monotonic() + timeout
    while True:
        value = what()
        if value:
            return value
        assert time.monotonic() < end, f"not within {timeout} s: {what}"
        time.sleep(every)


LIBC = ctypes.CDLL(None)


def die_with_parent():
    """In the child: it ends with this program even when that is killed hard (PR_SET_PDEATHSIG)."""
    LIBC.prctl(1, signal.SIGKILL)


class Process:
    """One child, its output in a file. Start it from the main thread: it ends with the thread that did."""

    def __init__(self, argv, log, env=None):
        self.argv, self.log = [str(a) for a in argv], pathlib.Path(log)
        with open(self.log, "ab") as out:
            self.child = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                          env={**os.environ, **(env or {})}, start_new_session=True,
                                          preexec_fn=die_with_parent)

    @property
    def pid(self):
        return self.child.pid

    def alive(self):
        return self.child.poll() is None

    def output(self):
        return self.log.read_text(errors="replace")

    def signal(self, number):
        if self.alive():
            self.child.send_signal(number)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.child.wait()

    def stop(self, timeout=10):
        """SIGTERM; gives the exit status."""
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            return self.child.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.argv[0]} did not end: {self.output()[-2000:]}")

    def freeze(self):
        self.signal(signal.SIGSTOP)

    def thaw(self):
        self.signal(signal.SIGCONT)

    def rss(self):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) * 1024


class Redis:
    """A redis-server. Its data survive a restart when `keep` is set (append only file).

    skew_ms: its wall clock is that far from ours."""

    def __init__(self, farm, name, *options, keep=False, port=None, skew_ms=0):
        self.farm, self.name, self.options, self.keep = farm, name, options, keep
        self.env = {"LD_PRELOAD": str(PRELOADS / "libskew.so"), "SKEW_MS": str(skew_ms)} if skew_ms else {}
        self.dir = farm.dir / f"redis-{name}"
        self.dir.mkdir(exist_ok=True)
        self.port = port or free_port()
        self.process = None
        self.password = None
        self.start()

    @property
    def address(self):
        return f"{HOST}:{self.port}"

    def start(self):
        for _ in range(5):
            self.process = self.farm.adopt(Process(
                ["redis-server", "--port", self.port, "--bind", HOST, "--dir", self.dir, "--save", "",
                 "--appendonly", "yes" if self.keep else "no", "--appendfsync", "always",
                 "--loglevel", "notice", "--enable-debug-command", "local", *self.options], self.dir / "log",
                self.env))
            if self.ready():
                return
            self.process.kill()
            self.port = free_port()
        raise AssertionError(f"redis-server does not start: {self.process.output()[-2000:]}")

    def ready(self):
        end = time.monotonic() + 10
        while time.monotonic() < end and self.process.alive():
            try:
                with self.client() as c:
                    c.execute_command("PING")
                return True
            except redis.AuthenticationError:
                return True
            except (redis.ConnectionError, redis.BusyLoadingError):
                time.sleep(0.01)
        return False

    def client(self, **options):
        options.setdefault("password", self.password)
        return redis.Redis(HOST, self.port, **options)

    def replicate(self, master):
        """Becomes its replica, and has all that it has."""
        master.client().config_set("repl-diskless-sync-delay", 0)
        self.client().replicaof(HOST, master.port)
        wait_until(lambda: self.client().info("replication")["master_link_status"] == "up", 20)
        wait_until(lambda: master.client().info("replication")["slave0"]["state"] == "online", 20)
        wait_until(lambda: len({n.client().info("replication")["master_repl_offset"] for n in (self, master)}) == 1)

    def kill(self):
        self.process.kill()

    def restart(self):
        self.kill()
        port = self.port
        self.start()
        assert self.port == port

    def freeze(self):
        self.process.freeze()

    def thaw(self):
        self.process.thaw()


def topology_text(nodes, version=1, proxy=None, points=150, **placement):
    """nodes: [(name, address[, weight])]; proxy: lines of the proxy section."""
    place = {"algorithm": "ring", "hash": "xxh3", "points": points, "hash_tag": '"{}"', **placement}
    text = ["gyre: 1", f"version: {version}", "placement:"]
    text += [f"  {k}: {v}" for k, v in place.items()]
    text += ["nodes:"]
    for name, address, *weight in nodes:
        text.append(f"  - {{name: {name}, address: \"{address}\", weight: {weight[0] if weight else 1}}}")
    if proxy is not None:
        text += ["proxy:"] + [f"  {line}" for line in proxy]
    return "\n".join(text) + "\n"


class Cluster:
    """Some nodes behind one proxy."""

    def __init__(self, farm, nodes, proxy_lines=(), name="proxy", points=150):
        self.farm, self.nodes, self.name = farm, {n.name: n for n in nodes}, name
        self.port = free_port()
        self.dir = farm.dir / name
        self.dir.mkdir(exist_ok=True)
        self.unix, self.admin = self.dir / "gyre.sock", self.dir / "admin.sock"
        self.file = self.dir / "gyre.yaml"
        self.proxy = None
        self.points = points
        self.proxy_lines = [f'listen: ["{HOST}:{self.port}", "unix:{self.unix}"]', f"state: {self.dir}/state",
                            f'admin: "unix:{self.admin}"', *proxy_lines]
        self.write([(n.name, n.address) for n in nodes])

    def write(self, nodes, version=1):
        self.file.write_text(topology_text(nodes, version, self.proxy_lines, self.points))

    def start(self, env=None, wait=True):
        log = self.dir / "log"
        self.log_from = log.stat().st_size if log.exists() else 0  # what an earlier proxy said is before
        self.proxy = self.farm.adopt(Process([GYRE, "proxy", self.file], log, env))
        if wait:
            self.wait_ready()
        return self

    def wait_ready(self, timeout=20):
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            assert self.proxy.alive(), f"the proxy ended: {self.proxy.output()[-3000:]}"
            try:
                with self.raw(timeout=2) as raw:
                    if raw.ask("PING") == b"+PONG\r\n" and b"ready listen=" in self.proxy.log.read_bytes()[self.log_from:]:
                        return  # clients are served a moment before the admin is
            except (OSError, EOFError):
                pass
            time.sleep(0.01)
        raise AssertionError(f"the proxy is not ready: {self.proxy.output()[-3000:]}")

    def client(self, **options):
        return redis.Redis(HOST, self.port, **options)

    def raw(self, **options):
        return Raw(HOST, self.port, **options)

    def gyre(self, *args, check=True, timeout=120, env=None):
        """Runs a gyre command with this cluster's admin; the finished process."""
        done = subprocess.run([GYRE, *map(str, args)], capture_output=True, text=True, timeout=timeout,
                              stdin=subprocess.DEVNULL,
                              env={**os.environ, "GYRE_ADMIN": f"unix:{self.admin}", **(env or {})})
        if check:
            assert done.returncode == 0, f"gyre {' '.join(map(str, args))}: {done.returncode}\n" \
                                         f"{done.stdout}{done.stderr}\n{self.proxy.output()[-3000:]}"
        return done

    def move(self, *args, **options):
        return self.gyre("move", *args, **options)

    def status(self):
        """What `gyre move status --json` prints (test_movecli.py holds them together), without a process."""
        status, text = self.http("GET", "/v1/move")
        assert status == 200, text
        return json.loads(text)

    def wait_idle(self, timeout=90):
        """Until no move is under way."""
        end = time.monotonic() + timeout
        while True:
            s = self.status()
            if s["state"] == "idle":
                return s
            assert time.monotonic() < end, f"the move does not end: {s}\n{self.proxy.output()[-3000:]}"
            time.sleep(0.05)

    def http(self, method, path, body=None, **headers):
        """(status, text) of one request to the admin."""
        conn = http.client.HTTPConnection("gyre", timeout=30)
        conn.sock = socket.socket(socket.AF_UNIX)
        conn.sock.connect(str(self.admin))
        conn.request(method, path, body, headers)
        answer = conn.getresponse()
        text = answer.read().decode()
        conn.close()
        return answer.status, text

    def topology(self):
        """A file with the topology that serves."""
        status, text = self.http("GET", "/v1/topology")
        assert status == 200, text
        path = self.dir / "now.yaml"
        path.write_text(text)
        return path

    def locate(self, keys, topology=None):
        """{key: node name} by `gyre locate`."""
        keys = list(keys)
        if not keys:
            return {}
        file = self.dir / "keys0"
        file.write_bytes(b"".join(k + b"\0" for k in keys))
        out = subprocess.run([GYRE, "locate", str(topology or self.topology()), "--keys0", str(file), "--json"],
                             capture_output=True, timeout=60)
        assert out.returncode == 0, out.stderr
        rows = json.loads(out.stdout)["keys"]
        assert len(rows) == len(keys)
        return {k: row["nodes"][0] for k, row in zip(keys, rows)}

    def snapshot(self, match):
        """{key: [digest of the value, type, expiry]} of the keys that match, straight from the nodes.

        The digest is the server's own; DUMP would show the order of a hash table, which is each server's."""
        found = {}
        for node in self.nodes.values():
            with node.client() as c:
                keys = list(c.scan_iter(match, count=2000))
                with c.pipeline(transaction=False) as p:
                    for key in keys:
                        p.execute_command("DEBUG", "DIGEST-VALUE", key).type(key).execute_command("PEXPIRETIME", key)
                    answers = p.execute()
            for key, *value in zip(keys, answers[::3], answers[1::3], answers[2::3]):
                assert key not in found, f"{key!r} is on two nodes"
                found[key] = value
        return found

    def fill(self, n=2000, prefix="user:"):
        """n keys of all types, some with an expiry far away, by the proxy."""
        makers = [
            lambda p, k, i: p.set(k, f"value {i}"),
            lambda p, k, i: p.set(k, i, ex=100000 + i),
            lambda p, k, i: p.hset(k, mapping={f"f{j}": i * j for j in range(i % 30 + 1)}),
            lambda p, k, i: p.rpush(k, *range(i % 200 + 1)),
            lambda p, k, i: p.sadd(k, *(f"m{j}" for j in range(i % 50 + 1))),
            lambda p, k, i: p.zadd(k, {f"m{j}": j / 3 for j in range(i % 50 + 1)}),
            lambda p, k, i: p.xadd(k, {"f": i}, id=f"{i + 1}-1"),
            lambda p, k, i: p.pfadd(k, *range(i % 100 + 1)),
            lambda p, k, i: p.setbit(k, i, 1),
            lambda p, k, i: p.geoadd(k, (13.3 + i / 1e4, 38.1, "here")),
        ]
        with self.client() as c, c.pipeline(transaction=False) as p:
            for i in range(n):
                makers[i % len(makers)](p, f"{prefix}{i}", i)
            p.execute()
        return self.snapshot(prefix + "*")

    def place(self):
        """Every key on exactly one node, and on the right one; no record left. Gives {key: node}."""
        where, twice = {}, []
        for name, node in self.nodes.items():
            if not node.process.alive():
                continue
            with node.client() as c:
                for key in c.scan_iter(count=2000):
                    assert not key.startswith(b"gyre:"), f"{key!r} is left on {name}"
                    if key in where:
                        twice.append((key, where[key], name))
                    where[key] = name
        assert not twice, f"{len(twice)} keys on two nodes: {twice[:5]}"
        right = self.locate(where)
        wrong = [(k, n, right[k]) for k, n in where.items() if right[k] != n]
        assert not wrong, f"{len(wrong)} keys on a wrong node (key, is, should): {wrong[:5]}"
        return where


class Raw:
    """A socket that shows the very bytes of a reply."""

    def __init__(self, host, port, timeout=10, path=None):
        if path is not None:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(timeout)
            self.sock.connect(str(path))
        else:
            self.sock = socket.create_connection((host, port), timeout)
        self.buf = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.sock.close()

    @staticmethod
    def pack(*args):
        out = [b"*%d\r\n" % len(args)]
        for a in args:
            a = a if isinstance(a, bytes) else str(a).encode()
            out.append(b"$%d\r\n%s\r\n" % (len(a), a))
        return b"".join(out)

    def send(self, data):
        self.sock.sendall(data)

    def fill(self):
        more = self.sock.recv(1 << 16)
        if not more:
            raise EOFError("closed by the other side")
        self.buf += more

    def line(self):
        while (end := self.buf.find(b"\r\n")) < 0:
            self.fill()
        line, self.buf = self.buf[:end + 2], self.buf[end + 2:]
        return line

    def exactly(self, n):
        parts, have = [self.buf], len(self.buf)
        while have < n:
            more = self.sock.recv(1 << 20)
            if not more:
                raise EOFError("closed by the other side")
            parts.append(more)
            have += len(more)
        whole = b"".join(parts)
        self.buf = whole[n:]
        return whole[:n]

    def reply(self):
        """One whole reply, as bytes."""
        head = self.line()
        if head[:1] == b"$" and head != b"$-1\r\n":
            return head + self.exactly(int(head[1:]) + 2)
        if head[:1] in b"*%~" and head != b"*-1\r\n":
            n = int(head[1:]) * (2 if head[:1] == b"%" else 1)
            return head + b"".join(self.reply() for _ in range(n))
        return head

    def ask(self, *args):
        self.send(self.pack(*args))
        return self.reply()

    def closed(self, timeout=5):
        """True when the other side closes within `timeout`; what it says before is kept in buf."""
        self.sock.settimeout(timeout)
        try:
            while True:
                self.fill()
        except EOFError:
            return True
        except ConnectionResetError:
            return True
        except socket.timeout:
            return False


class Farm:
    """A temporary directory and all processes of a test."""

    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="gyre-e2e."))
        self.processes = []
        atexit.register(self.close)  # a test that is interrupted between making a farm and closing it

    def adopt(self, process):
        self.processes.append(process)
        return process

    def redis(self, name, *options, **more):
        return Redis(self, name, *options, **more)

    def cluster(self, n=4, proxy_lines=(), options=(), name="proxy", keep=False, start=True, env=None, points=150):
        nodes = [self.redis(f"cache-{i}", *options, keep=keep) for i in range(n)]
        c = Cluster(self, nodes, proxy_lines, name, points)
        return c.start(env) if start else c

    def checker(self, port, *args, json_file=None):
        """Starts the checker; the process, with .report the file of its report."""
        report = self.dir / (json_file or f"check-{len(self.processes)}.json")
        p = self.adopt(Process([CHECKER, "--port", port, "--json", report, *args],
                               report.with_suffix(".log")))
        p.report = report
        return p

    def close(self, keep=False):
        atexit.unregister(self.close)
        for p in reversed(self.processes):
            p.thaw()
            p.signal(signal.SIGKILL)
        for p in self.processes:
            p.child.wait()
        if not keep:
            shutil.rmtree(self.dir, ignore_errors=True)


def finish(checker, timeout=60, clean=True):
    """Waits for the checker; its report. clean: nothing lost, stale, wrong or unreadable."""
    checker.child.wait(timeout)
    assert checker.report.exists(), checker.output()
    report = json.loads(checker.report.read_text())
    if clean:
        assert checker.child.returncode == 0 and sum(report[k] for k in FAULTS) == 0, \
            json.dumps(report, indent=1)
    return report


def end(checker, **options):
    """Ends the checker's run now; its report."""
    checker.signal(signal.SIGTERM)
    return finish(checker, **options)


FAULTS = ("lost", "stale", "resurrected", "wrong", "unreadable")
