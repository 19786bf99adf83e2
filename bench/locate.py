#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`gyre locate` on a file of keys beside two programs that do the same: one over npm's hashring, one over libmemcached.

Whole processes: starting, reading the topology, reading keys, writing "key<TAB>node". The contestants take turns in one run;
what counts is each one's least CPU (user + system), which other work on the machine disturbs least. gyre places by its own
ring, and once as each peer does: then the answers are compared. Needs node, npm, cc and libmemcached-dev.

  bench/locate.py [--gyre build/src/cli/gyre] [--keys 10000000] [--nodes 20] [--rounds 3]
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def cpu(argv, stdin, stdout):
    """CPU seconds of one process, from start to end."""
    with open(stdin, "rb") as keys, open(stdout, "wb") as answers:
        pid = subprocess.Popen([str(a) for a in argv], stdin=keys, stdout=answers).pid
    _, status, used = os.wait4(pid, 0)
    if status:
        sys.exit(f"{argv[0]} ended with {status}")
    return used.ru_utime + used.ru_stime


def same(a, b):
    return subprocess.run(["cmp", "-s", str(a), str(b)], check=False).returncode == 0


def topology(path, servers, **placement):
    settings = ", ".join(f"{k}: {v}" for k, v in placement.items())
    nodes = "".join(f'  - {{name: "{s}", address: "{s}"}}\n' for s in servers)
    path.write_text(f"gyre: 1\nversion: 1\nplacement: {{{settings}}}\nnodes:\n{nodes}", encoding="utf-8")
    return path


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--gyre", default=HERE.parent / "build" / "src" / "cli" / "gyre")
    a.add_argument("--keys", type=int, default=10_000_000)
    a.add_argument("--nodes", type=int, default=20)
    a.add_argument("--rounds", type=int, default=3)
    o = a.parse_args()
    servers = [f"10.0.0.{i + 1}:11211" for i in range(o.nodes)]
    with tempfile.TemporaryDirectory(prefix="gyre-bench.") as name:
        d = pathlib.Path(name)
        keys = d / "keys"
        with open(keys, "w", encoding="ascii") as f:
            for start in range(0, o.keys, 100_000):
                f.write("".join(f"user:{i * 2654435761 % 2**32}:profile\n" for i in range(start, min(start + 100_000, o.keys))))
        subprocess.run(["cc", "-O2", "-o", d / "peer", HERE / "locate_peer.c", "-lmemcached"], check=True)
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", d, "hashring@3.2.0"], check=True, stdout=subprocess.DEVNULL)
        runs = {
            "gyre, ring": [o.gyre, "locate", topology(d / "own.yaml", servers, algorithm="ring")],
            "gyre, like libmemcached": [o.gyre, "locate", topology(d / "mc.yaml", servers, like="libmemcached", distribution="ketama_weighted")],
            "gyre, like npm-hashring": [o.gyre, "locate", topology(d / "npm.yaml", servers, like="npm-hashring")],
            "libmemcached": [d / "peer", *servers],
            "npm hashring": ["node", HERE / "locate_peer.js", d, *servers],
        }
        least = {}
        for r in range(o.rounds):
            for name, argv in runs.items():
                if r and name == "npm hashring":
                    continue  # a minute each: once is enough, and favours it by nothing
                used = cpu(argv, keys, d / name)
                least[name] = min(used, least.get(name, used))
        for mine, peer in (("gyre, like libmemcached", "libmemcached"), ("gyre, like npm-hashring", "npm hashring")):
            print(f"{mine} answers as {peer}: {'yes' if same(d / mine, d / peer) else 'NO'}")
        print(f"{o.keys} keys, {o.nodes} nodes; CPU seconds, and how many times the ring's")
        for name, used in least.items():
            print(f"{name:<26}{used:8.2f} {used / least['gyre, ring']:7.2f}")


main()
