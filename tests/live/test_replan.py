# SPDX-License-Identifier: Apache-2.0
"""A plan for a running Redis Cluster, carried out by the lines of docs/formats.md: then each master owns what the
plan says, and every key is still there."""
import binascii
import json
import pathlib
import re
import subprocess

from harness import GYRE, Redis, free_port, wait_until

OWNED = [(0, 8180), (8181, 16370), (16371, 16383)]  # the last one is to be drained: 13 slots
KEYS = [f"key:{i}" for i in range(60000) if i < 100 or binascii.crc_hqx(b"key:%d" % i, 0) % 16384 > 16370]


def start(farm):
    buses = [free_port() for _ in OWNED]
    servers = [Redis(farm, f"r{i}", "--cluster-enabled", "yes", "--cluster-port", str(bus), "--cluster-node-timeout", "5000")
               for i, bus in enumerate(buses)]
    for i, server in enumerate(servers):
        with server.client() as c:
            c.execute_command("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
            c.execute_command("CLUSTER", "ADDSLOTSRANGE", *OWNED[i])
            for other, bus in zip(servers[:i], buses):
                c.execute_command("CLUSTER", "MEET", "127.0.0.1", other.port, bus)
    wait_until(lambda: all(b"cluster_known_nodes:3" in info(s) and b"cluster_state:ok" in info(s) for s in servers), timeout=30, every=.05)
    return servers


def info(server):
    with server.client() as c:
        return c.execute_command("CLUSTER", "INFO")


def gyre(*words, status=0):
    done = subprocess.run([GYRE, *map(str, words)], capture_output=True, text=True, timeout=60)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def ask(server, lines):
    done = subprocess.run(["redis-cli", "-c", "-p", str(server.port)], input="".join(lines), capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def documented():
    text = (pathlib.Path(__file__).parents[2] / "docs" / "formats.md").read_text()
    return re.search(r"\*\*Carrying it out\.\*\*.*?```sh\n(.*?)```", text, re.S).group(1)


def test_plan_is_carried_out(farm):
    servers = start(farm)
    ask(servers[0], (f"SET {k} value:{k}\n" for k in KEYS))
    url, plan = f"redis://{servers[0].address}", farm.dir / "drain.plan"
    gyre("plan", url, "--weight", f"{servers[2].address}=0", "--sample", 5, "-o", plan)
    text = plan.read_text()
    assert "# 13 of 16384 slots move, with " in text and " 0 bytes" not in text, text
    done = subprocess.run(["bash", "-c", documented()], env={"plan": str(plan), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, 1), done.stderr  # 1: no replica had to move, so the last grep found nothing

    def arrived():
        return all(json.loads(gyre("diff", f"redis://{s.address}", plan, "--json"))["moved"] == 0 for s in servers)

    wait_until(arrived, timeout=30, every=.2)
    shown = json.loads(gyre("show", url, "--json"))["pools"][0]["servers"]
    assert sorted(s["slots"] for s in shown) == [0, 8192, 8192] and not any(s["open_slots"] for s in shown)
    assert re.findall(r"value:(\S+)", ask(servers[1], (f"GET {k}\n" for k in KEYS))) == KEYS
    assert json.loads(gyre("plan", url, "--even", "--json"))["moved"] == 0
    # the drained master makes itself a replica, and not all hear of it at once: that, too, is a disagreement
    wait_until(lambda: subprocess.run([GYRE, "doctor", url], capture_output=True, timeout=60).returncode == 0, timeout=30, every=.2)
    ids = [s.client().execute_command("CLUSTER", "MYID").decode() for s in servers]
    with servers[1].client() as c:  # what only this node knows, and what it no longer does
        c.execute_command("CLUSTER", "SETSLOT", 0, "IMPORTING", ids[0])
        c.execute_command("CLUSTER", "FORGET", ids[2])
    found = gyre("doctor", url, status=1)
    assert f"{servers[1].address} has 1 open slot: 0 from {servers[0].address}" in found, found
    assert f"error views-differ: {servers[1].address} does not know {servers[2].address}" in found, found
