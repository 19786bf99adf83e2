# SPDX-License-Identifier: Apache-2.0
"""Fencing: each process has a user of its own on every node; a later one takes the earlier ones' away."""
import json
import re
import shutil
import socket
import time

import pytest
import redis

import harness
from harness import wait_until

OURS = re.compile(r"gyre-main-[0-9a-f]{8}-(\d+)")


def users(node):
    """Generations that have a user there."""
    found = [OURS.fullmatch(u) for u in node.client().acl_users()]
    return [int(m.group(1)) for m in found if m]


def logged_in(node):
    """Of the workers' connections, the generation of the user; or another user's name."""
    users = [x["user"] for x in node.client().client_list() if re.search(r"^gyre-main-.*-w\d+$", x["name"])]
    return [OURS.sub(r"\1", u) for u in users]


def successor(farm, cluster, state):
    """Another proxy for the same nodes with this state directory."""
    c = harness.Cluster(farm, list(cluster.nodes.values()), name="successor")
    c.proxy_lines[1] = f"state: {state}"
    c.write([(n.name, n.address) for n in cluster.nodes.values()])
    return c


def served(cluster, key, value):
    def done():
        try:
            return cluster.client().set(key, value)
        except (redis.ResponseError, redis.ConnectionError):
            return False
    wait_until(done)


def test_one_user_a_process_and_none_behind_it(farm):
    c = farm.cluster(2, ["workers: 2"])
    nodes = list(c.nodes.values())
    served(c, "k", 1)
    for generation in (1, 2):
        for n in nodes:
            wait_until(lambda: users(n) == [generation])
            wait_until(lambda: logged_in(n) == [f"{generation}"] * 2)
        if generation == 1:
            c.proxy.kill()
            c.start()
            served(c, "k", 2)
    d = farm.redis("cache-2")
    c.move("start", "--yes", "--add", f"cache-2={d.address}")
    assert users(d) == [2]
    c.move("start", "--yes", "--remove", "cache-2")
    wait_until(lambda: users(d) == [])
    assert c.proxy.stop() == 0
    assert all(users(n) == [] for n in [*nodes, d])


def gone_for_good(c, node):
    """No user and no connection of the proxy's, and none comes back; the others keep theirs. Nor is it shown as a node."""
    wait_until(lambda: len(json.loads(c.http("GET", "/v1/status")[1])["nodes"]) == len(c.nodes))
    assert node.address.encode() not in c.raw().ask("INFO", "nodes")
    wait_until(lambda: users(node) == [])
    served(c, "k", 1)
    time.sleep(0.2)
    assert users(node) == [] and logged_in(node) == []
    assert all(users(n) != [] for n in c.nodes.values())


def test_no_user_stays_at_a_server_that_does_not_serve(farm):
    """Nobody stops the proxy: a move that was taken back, a node removed, a machine replaced."""
    c = farm.cluster(2, ["workers: 2"])
    c.fill(300)
    d, e = farm.redis("cache-2"), farm.redis("cache-1")
    slow = ("start", "--yes", "--detach", "--keys-per-second", "20", "--add", f"cache-2={d.address}")
    c.move(*slow)
    wait_until(lambda: users(d) == [1])
    c.proxy.kill()
    c.start()
    wait_until(lambda: 2 in users(d))
    c.move("abort")
    c.wait_idle()
    gone_for_good(c, d)
    c.move("start", "--yes", "--add", f"cache-2={d.address}")
    assert users(d) == [2] and c.client().set("k", 2)
    c.move("start", "--yes", "--remove", "cache-2")
    gone_for_good(c, d)
    old = c.nodes["cache-1"]
    c.move("start", "--yes", "--replace", f"cache-1={e.address}")
    c.nodes["cache-1"] = e
    gone_for_good(c, old)


def test_the_documented_rights_are_enough(farm):
    """A user with what docs/topology.md grants and what its clients use, and nothing else; writes meet the move."""
    page = (harness.ROOT / "docs/topology.md").read_text()
    [grant] = re.findall(r"```\nACL SETUSER gyre (.*?)\n```", page, re.S)
    rules = ["on", ">pw", *grant.replace("\\\n", " ").split(), "~user:*", "+set", "+get", "+append"]
    secret = farm.dir / "secret"
    secret.write_text("pw\n")
    nodes = [farm.redis(f"cache-{i}") for i in range(3)]
    for n in nodes:
        n.client().execute_command("ACL", "SETUSER", "gyre", *rules)
    c = harness.Cluster(farm, nodes[:2], [f"backend: {{user: gyre, password_file: {secret}}}", "workers: 2"]).start()
    with c.client() as cl:
        for i in range(300):
            cl.set(f"user:{i}", i)
        c.move("start", "--yes", "--detach", "--keys-per-second", "10", "--add", f"cache-2={nodes[2].address}")
        wait_until(lambda: c.status()["keys"]["moved"] > 0)
        rounds, status = 0, c.status()
        while status["keys"]["on_access"] == 0 and status["state"] != "idle":  # not all keys move at once
            rounds += 1
            for i in range(300):
                cl.append(f"user:{i}", "+")
                assert cl.get(f"user:{i}") == b"%d" % i + b"+" * rounds
            status = c.status()
        assert status["keys"]["on_access"] > 0 and not status["last_error"], status
        c.move("rate", "--keys-per-second", "0")
        c.wait_idle()
        c.nodes["cache-2"] = nodes[2]
        c.place()
        assert all(cl.get(f"user:{i}") == b"%d" % i + b"+" * rounds for i in range(300))
    assert "NOPERM" not in c.proxy.output() and "no permissions" not in c.proxy.output()


@pytest.mark.parametrize("point", ["after_finish", "before_begin"])
def test_killed_before_it_took_leave(farm, point):
    """At the end of a move and in its pre-checks: what the process could not do any more, the next one does."""
    c = farm.cluster(2, ["workers: 1"])
    c.fill(100)
    d = farm.redis("cache-2")
    add = ("start", "--yes", "--add", f"cache-2={d.address}")
    if point == "after_finish":
        c.move(*add)
    assert c.status()["leaving"] == []
    c.proxy.stop()
    c.start({"GYRE_FAIL": f"{point}:1:kill"})
    served(c, "k", 1)
    change = add if point == "before_begin" else ("start", "--yes", "--remove", "cache-2")
    c.move(*change, "--detach", check=False)
    wait_until(lambda: not c.proxy.alive())
    assert users(d) == [2]
    if point == "before_begin":
        c.start()
        return gone_for_good(c, d)
    d.freeze()  # it is not reached at first; that is shown
    c.start()
    wait_until(lambda: c.status()["leaving"] and c.status()["leaving"][0]["tries"] > 0)
    [left] = c.status()["leaving"]
    assert left["address"] == d.address and OURS.match(left["users"].replace("*", "1")) and left["error"]
    shown = c.move("status").stdout
    for word in ("leaving", f"cache-2 at {d.address}", left["users"], f"gyre move forget {d.address}"):
        assert word in shown, (word, shown)
    d.thaw()
    gone_for_good(c, d)
    wait_until(lambda: c.status()["leaving"] == [])
    assert "the proxy's users are gone there" in c.proxy.output()
    return None


def test_a_server_that_is_gone_for_good(farm):
    """Tried until the operator says so, also by the next process; only those that wait can be forgotten."""
    c = farm.cluster(2, ["workers: 1"], env={"GYRE_FAIL": "after_finish:2:kill"})
    d = farm.redis("cache-2")
    c.move("start", "--yes", "--add", f"cache-2={d.address}")
    c.move("start", "--yes", "--detach", "--remove", "cache-2", check=False)
    wait_until(lambda: not c.proxy.alive())
    d.kill()
    for _ in range(2):
        c.start()
        wait_until(lambda: c.status()["leaving"] and c.status()["leaving"][0]["tries"] > 0)
        c.proxy.kill()
    c.start()
    for address in ("127.0.0.1:1", c.nodes["cache-0"].address):
        done = c.move("forget", address, check=False)
        assert done.returncode == 1 and "waits to be cleaned up" in done.stderr, done
    assert "idle" in c.move("forget", d.address).stdout
    assert c.status()["leaving"] == []
    c.proxy.kill()
    c.start()
    assert c.status()["leaving"] == []


def test_a_refused_newcomer(farm):
    """Nothing of ours stays there, had it been a node before or not; one never reached is not waited for."""
    c = farm.cluster(2, ["workers: 1"])
    d = farm.redis("cache-2")
    add = ("start", "--yes", "--add", f"cache-2={d.address}")
    for been in (False, True):
        d.client().set("stranger", 1)
        assert c.move(*add, check=False).returncode == 1
        assert users(d) == [] and c.status()["leaving"] == []
        d.client().delete("stranger")
        if not been:
            c.move(*add)
            c.move("start", "--yes", "--remove", "cache-2")
            assert users(d) == []
    nowhere = f"cache-9={harness.HOST}:{harness.free_port()}"
    assert c.move("start", "--yes", "--add", nowhere, check=False).returncode == 1
    assert c.status()["leaving"] == []


@pytest.mark.parametrize("how", ["lock removed", "state copied"])
def test_an_older_process_cannot_write(farm, how):
    """Not what it had sent before, which the server holds already, and not afterwards."""
    c = farm.cluster(1)
    node = c.nodes["cache-0"]
    served(c, "k", "before")
    admin = node.client()
    admin.execute_command("CLIENT", "PAUSE", 60000, "WRITE")
    late = socket.create_connection((harness.HOST, c.port))
    late.sendall(harness.Raw.pack("SET", "k", "late"))
    wait_until(lambda: any("b" in x["flags"] for x in admin.client_list()))
    c.proxy.freeze()
    state = c.dir / "state"
    if how == "lock removed":
        (state / "lock").unlink()
    else:
        state = shutil.copytree(state, farm.dir / "copy")
    new = successor(farm, c, state).start()
    wait_until(lambda: users(node) == [2])
    admin.execute_command("CLIENT", "UNPAUSE")
    assert new.client().get("k") == b"before"
    assert new.client().set("k", "after")
    c.proxy.thaw()
    for _ in range(20):
        with pytest.raises(redis.ResponseError, match="NODEDOWN"):
            c.client().set("k", "late")
    wait_until(lambda: "is fenced" in c.proxy.output())
    assert new.client().get("k") == b"after" and users(node) == [2]
    late.close()
    # The later one ends. Where it shows that the state is another's, the earlier one stays away.
    assert new.proxy.stop() == 0
    if how == "lock removed":
        wait_until(lambda: "state directory of this process was removed" in c.proxy.output())
        assert users(node) == []


def test_the_user_is_made_again(farm):
    """After a restart of the server, and after ACL LOAD; the file stays the admin's."""
    file = farm.dir / "users.acl"
    file.write_text("user default on nopass ~* &* +@all\n")
    c = farm.cluster(1, options=["--aclfile", file])
    node = c.nodes["cache-0"]
    served(c, "k", 1)
    node.client().execute_command("ACL", "LOAD")
    served(c, "k", 2)
    assert users(node) == [1]
    node.restart()
    served(c, "k", 3)
    assert users(node) == [1] and "gyre" not in file.read_text()
    node.client().execute_command("ACL", "SAVE")  # now the file has it: the next process takes it away
    c.proxy.kill()
    node.restart()
    assert users(node) == [1]
    c.start()
    served(c, "k", 4)
    assert users(node) == [2]


def set_app(node, *rules):
    node.client().execute_command("ACL", "SETUSER", "app", "reset", "on", ">pw", *rules)


def test_rights_taken_and_given_back(farm):
    """What is taken from the configured user is refused through the proxy too, from its next log-in on."""
    secret = farm.dir / "secret"
    secret.write_text("pw\n")
    node = farm.redis("cache-0")
    everything = ("~*", "&*", "+@all")
    set_app(node, *everything)
    c = harness.Cluster(farm, [node], [f"backend: {{user: app, password_file: {secret}}}", "workers: 2"]).start()
    served(c, "k", 1)

    def with_rights(*rules):
        set_app(node, *rules)
        node.client().execute_command("CLIENT", "KILL", "TYPE", "normal")  # whoever asks, last
        wait_until(lambda: logged_in(node) == ["1"] * 2)

    def refused(*command):
        with pytest.raises(redis.ResponseError, match="no permissions"):
            c.client().execute_command(*command)

    for _ in range(2):
        with_rights("~ok:*", "&*", "+@all", "-get")
        refused("GET", "ok:1")
        refused("SET", "k", 1)
        served(c, "ok:1", 1)
        with_rights(*everything)
        assert c.client().get("ok:1") == b"1" and c.client().set("k", 2)
    node.client().acl_deluser("app")
    node.client().execute_command("CLIENT", "KILL", "TYPE", "normal")
    wait_until(lambda: "refuses the password" in c.proxy.output())
    with pytest.raises(redis.ResponseError, match="NODEDOWN"):
        c.client().get("k")


def test_an_older_copy_of_the_state_comes_after_all(farm):
    """What a server knows of later processes counts: the one that starts is the last."""
    c = farm.cluster(1)
    served(c, "k", 1)
    c.proxy.stop()
    old = shutil.copytree(c.dir / "state", farm.dir / "old")
    for _ in range(2):
        c.start()
        served(c, "k", 2)
        c.proxy.kill()
    shutil.rmtree(c.dir / "state")
    shutil.copytree(old, c.dir / "state")
    c.start()
    served(c, "k", 3)
    assert users(c.nodes["cache-0"]) == [4] and "becomes 4" in c.proxy.output()


def without_acl(farm, how):
    if how == "renamed":
        return farm.cluster(2, options=["--rename-command", "ACL", "NOACL"])
    secret = farm.dir / "secret"
    secret.write_text("pw\n")
    nodes = [farm.redis(f"cache-{i}") for i in range(2)]
    for n in nodes:
        n.client().acl_setuser("app", enabled=True, passwords=["+pw"], keys=["*"], channels=["*"],
                               commands=["+@all", "-acl"])
    return harness.Cluster(farm, nodes, [f"backend: {{user: app, password_file: {secret}}}"]).start()


@pytest.mark.parametrize("how", ["renamed", "not allowed"])
def test_a_node_without_acl(farm, how):
    """It is served; a move there is refused, unless the weak form is wished, and a resumed one remembers."""
    c = without_acl(farm, how)
    before = c.fill(200)
    assert "no fencing by ACL" in c.proxy.output()
    d = farm.redis("cache-2")
    if how == "not allowed":
        d.client().acl_setuser("app", enabled=True, passwords=["+pw"], keys=["*"], channels=["*"],
                               commands=["+@all"])
    done = c.move("start", "--yes", "--add", f"cache-2={d.address}", check=False)
    reason = "unknown command" if how == "renamed" else "NOPERM"
    assert done.returncode == 1
    for word in ("cache-0", reason, "+acl|setuser", "--weak-fencing", "stopped just before it connects"):
        assert word in done.stderr, (word, done.stderr)
    assert c.status()["state"] == "idle" and c.snapshot("user:*") == before
    assert users(d) == [] and d.client().dbsize() == 0
    if how == "renamed":
        return
    c.proxy.stop()
    c.start({"GYRE_FAIL": "before_cas_complete:1:kill"})
    c.move("start", "--yes", "--weak-fencing", "--detach", "--add", f"cache-2={d.address}", check=False)
    wait_until(lambda: not c.proxy.alive(), 20)
    c.start()
    assert c.status().get("weak_fencing") is not False
    c.wait_idle()
    c.nodes["cache-2"] = d
    assert c.snapshot("user:*") == before
    c.place()
    last = json.loads(c.move("history", "--json").stdout)["moves"][0]
    assert last["result"] == "moved" and last["weak_fencing"] is True
    c.proxy.stop()
    assert users(d) == []


def test_another_proxy_on_the_fleet(farm):
    """It would not learn of a move: refused while it lives. What it leaves behind when it dies is no reason."""
    c = farm.cluster(2)
    node = c.nodes["cache-0"]
    before = c.fill(200)
    ours = set(node.client().acl_users())
    other = successor(farm, c, farm.dir / "other-state").start()
    wait_until(lambda: set(node.client().acl_users()) > ours)
    [user] = set(node.client().acl_users()) - ours
    d = farm.redis("cache-2")
    done = c.move("start", "--yes", "--add", f"cache-2={d.address}", check=False)
    for word in ("cache-0: another proxy of pool main", f"id {user.split('-')[2]}", "127.0.0.1:", "Stop it"):
        assert word in done.stderr, (word, done.stderr)
    assert done.returncode == 1 and c.status()["state"] == "idle" and c.snapshot("user:*") == before
    assert users(d) == [] and d.client().dbsize() == 0
    other.proxy.kill()
    assert user in node.client().acl_users()
    c.move("start", "--yes", "--add", f"cache-2={d.address}")
    c.nodes["cache-2"] = d
    assert c.snapshot("user:*") == before
