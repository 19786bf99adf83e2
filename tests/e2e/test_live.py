# SPDX-License-Identifier: Apache-2.0
"""redis:// where a file could stand: one server, its replica, a cluster; and what cannot be asked."""
import json
import os
import subprocess

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


def test_a_cluster_of_one_with_slots_to_spare(farm):
    node = farm.redis("cluster", "--cluster-enabled", "yes")
    node.client().execute_command("CLUSTER ADDSLOTSRANGE", 0, 16000)
    got = shown(f"redis://{node.address}")
    pool = got["pools"][0]
    assert got["format"] == "redis-nodes"
    assert pool["facts"] == {"slots_covered": "16001", "slots_missing": "16001-16383"}
    assert [s["slots"] for s in pool["servers"]] == [16001]
    assert "slots-without-owner" in [n["code"] for n in pool["notes"]]


def test_what_cannot_be_asked():
    nobody = f"redis://127.0.0.1:{free_port()}"
    for command in ("show", "balance"):
        done = gyre(command, nobody)
        assert done.returncode == 3 and "cannot connect" in done.stderr, (command, done)
    assert gyre("show", "redis://127.0.0.1:x").returncode == 2
    done = gyre("show", "rediss://u:secret@127.0.0.1:1")
    assert done.returncode == 2 and "TLS" in done.stderr and "secret" not in done.stderr
