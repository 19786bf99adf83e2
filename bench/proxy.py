#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The proxy beside twemproxy (nutcracker): CPU of each for the same load, over the same servers, in one run.

redis-benchmark GETs with 50 connections at several pipeline depths, in turns (gyre, nutcracker, gyre, ...), the least
of the rounds counts. What is shown is the proxy's own CPU (user + system) per million requests, which load on the
machine disturbs much less than requests a second. Every --gyre is one contestant, so two builds can be compared.

  bench/proxy.py                                    # build/src/cli/gyre and nutcracker -m 512 -v 4, its best form
  bench/proxy.py --gyre old/gyre --gyre build/src/cli/gyre --depths 64 --rounds 5
"""
import argparse
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
HOST = "127.0.0.1"
TICK = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as s:
        s.bind((HOST, 0))
        return s.getsockname()[1]


def wait_for(port, what):
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            with socket.create_connection((HOST, port), 1) as s:
                s.sendall(b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n")
                if s.recv(16).startswith(b"$"):
                    return
        except OSError:
            pass
        time.sleep(0.02)
    sys.exit(f"{what} does not answer on port {port}")


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


class Fleet:
    """The servers and the proxies before them; everything ends with this program."""

    def __init__(self, servers):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="gyre-bench."))
        self.children = []
        self.ports = [free_port() for _ in range(servers)]
        for port in self.ports:
            self.run(["redis-server", "--port", port, "--bind", HOST, "--save", "", "--appendonly", "no"], port, "redis-server")

    def run(self, argv, port, name):
        with open(self.dir / f"{name}-{port}.log", "wb") as log:
            child = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.children.append(child)
        wait_for(port, name)
        return child.pid

    def gyre(self, binary):
        port = free_port()
        file = self.dir / f"{port}.yaml"
        nodes = "\n".join(f'  - {{name: cache-{i}, address: "{HOST}:{p}"}}' for i, p in enumerate(self.ports))
        file.write_text(f"gyre: 1\nversion: 1\nplacement: {{algorithm: ring, hash: xxh3, points: 160}}\nnodes:\n{nodes}\n"
                        f'proxy:\n  listen: ["{HOST}:{port}"]\n  state: {self.dir}/state-{port}\n  pool: p{port}\n')
        return port, self.run([binary, "proxy", file], port, "gyre")

    def nutcracker(self):
        port = free_port()
        file = self.dir / f"{port}.yml"
        servers = "\n".join(f"   - {HOST}:{p}:1 cache-{i}" for i, p in enumerate(self.ports))
        file.write_text(f"pool:\n  listen: {HOST}:{port}\n  hash: fnv1a_64\n  distribution: ketama\n  redis: true\n"
                        f"  servers:\n{servers}\n")
        return port, self.run(["nutcracker", "-m", "512", "-v", "4", "-c", file, "-s", free_port()], port, "nutcracker")

    def close(self):
        for child in reversed(self.children):
            child.kill()
            child.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


def load(port, test, n, depth, connections):
    """Requests a second, as redis-benchmark says."""
    out = subprocess.run(["redis-benchmark", "-h", HOST, "-p", str(port), "-t", test, "-n", str(n), "-P", str(depth),
                          "-c", str(connections), "-r", "100000", "--csv"], capture_output=True, text=True, check=True)
    return float(re.search(r'^"(?:GET|SET)","([0-9.]+)"', out.stdout, re.M).group(1))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--gyre", action="append", help="a gyre to run (more than once: each is run)")
    ap.add_argument("--depths", default="1,16,64", help="pipeline depths")
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--connections", type=int, default=50)
    ap.add_argument("--servers", type=int, default=4)
    ap.add_argument("--no-peer", action="store_true", help="without nutcracker")
    args = ap.parse_args()
    for tool in ["redis-server", "redis-benchmark"] + ([] if args.no_peer else ["nutcracker"]):
        if not shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin"):
            sys.exit(f"{tool} is missing: apt install redis-server redis-tools nutcracker")
    os.environ["PATH"] += ":/usr/sbin"
    fleet = Fleet(args.servers)
    try:
        runners = [(str(g), *fleet.gyre(g)) for g in args.gyre or [ROOT / "build/src/cli/gyre"]]
        if not args.no_peer:
            runners.append(("nutcracker", *fleet.nutcracker()))
        load(fleet.ports[0], "get", 1000, 1, 1)  # redis-benchmark itself works
        load(runners[0][1], "set", 300000, 64, 50)
        width = max(len(r[0]) for r in runners)
        print(f"CPU seconds per million GETs, {args.connections} connections, {args.servers} servers, least of {args.rounds} rounds")
        print(f"{'':{width}}  {'depth':>5}  {'cpu s/M':>8}  {'requests/s':>10}")
        for depth in map(int, args.depths.split(",")):
            n = 200000 if depth == 1 else 1000000
            best = {}
            for _ in range(args.rounds):
                for name, port, pid in runners:
                    before = cpu_seconds(pid)
                    rate = load(port, "get", n, depth, args.connections)
                    cost = (cpu_seconds(pid) - before) * 1e6 / n
                    best[name] = min(best.get(name, (cost, rate)), (cost, rate))
            for name, (cost, rate) in best.items():
                print(f"{name:{width}}  {depth:5}  {cost:8.2f}  {rate:10.0f}", flush=True)
    finally:
        fleet.close()


if __name__ == "__main__":
    main()
