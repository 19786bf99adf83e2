# SPDX-License-Identifier: Apache-2.0
"""The proxy as clients see it: the same answers as a server, byte for byte, from four servers."""
import csv
import random
import time

import pytest
import redis

import commands
import harness
from harness import Raw, wait_until


@pytest.fixture(scope="module")
def cluster(shared_farm):
    return shared_farm.cluster(4)


@pytest.fixture(scope="module")
def direct(shared_farm):
    return shared_farm.redis("direct")


@pytest.fixture(autouse=True)
def empty(cluster, direct):
    for node in [*cluster.nodes.values(), direct]:
        node.client().flushall()


def pair(cluster, direct):
    return cluster.raw(), Raw(harness.HOST, direct.port)


def test_ready_line_names_the_addresses(cluster):
    log = cluster.proxy.output()
    assert "ready" in log and str(cluster.port) in log and str(cluster.unix) in log


def test_every_answer_is_the_servers_own(cluster, direct):
    proxy, server = pair(cluster, direct)
    different = []
    for how, argv in commands.lines():
        got, want = proxy.ask(*argv), server.ask(*argv)
        same = got == want
        if how == "~":
            same = got[:1] == want[:1]
        if not same:
            different.append((argv, got[:200], want[:200]))
    assert not different, "\n".join(f"{a}\n  proxy  {g}\n  server {w}" for a, g, w in different)


def test_the_conversation_tries_every_command_that_is_carried():
    table = harness.ROOT / "src/wire/commands.tsv"
    rows = csv.reader((line for line in table.open() if not line.startswith("#")), delimiter="\t")
    carried = {r[0] for r in rows if r[2] in ("keyed", "split")}
    tried = set()
    for _, argv in commands.lines():
        name = argv[0].decode().lower()
        tried |= {name, f"{name}|{argv[1].decode('latin-1').lower()}" if len(argv) > 1 else name}
    assert carried - tried == set()


def test_pipelines_keep_order_across_nodes(cluster):
    raw = cluster.raw(timeout=30)
    n = 10000
    out = [Raw.pack("SET", f"k{i % 997}", i) + Raw.pack("GET", f"k{i % 997}") for i in range(n // 2)]
    raw.send(b"".join(out))
    for i in range(n // 2):
        assert raw.reply() == b"+OK\r\n"
        assert raw.reply() == b"$%d\r\n%d\r\n" % (len(str(i)), i)


def test_pipelines_mix_everything_in_order(cluster, direct):
    rng = random.Random(1)
    proxy, server = pair(cluster, direct)
    batch = []
    for i in range(2000):
        keys = [f"k{rng.randrange(50)}" for _ in range(rng.randrange(1, 6))]
        batch.append(rng.choice([
            ["MSET", *(x for k in keys for x in (k, i))], ["MGET", *keys], ["DEL", *keys], ["EXISTS", *keys],
            ["SET", keys[0], i], ["GET", keys[0]], ["APPEND", keys[0], "x"], ["PING"], ["ECHO", i],
            ["NOSUCH", i], ["BLPOP", keys[0]], ["GET"], ["INCR", "{c}"]]))
    data = b"".join(Raw.pack(*a) for a in batch)
    proxy.send(data)
    server.send(data)
    for argv in batch:
        got, want = proxy.reply(), server.reply()
        if argv[0] == "BLPOP":
            assert got[:1] == b"-"
        else:
            assert got == want, argv


def test_bytes_may_come_one_at_a_time(cluster):
    raw = cluster.raw()
    data = Raw.pack("SET", "slow", "x" * 50) + Raw.pack("MGET", "slow", "none") + Raw.pack("DEL", "slow", "other")
    for i in range(len(data)):
        raw.send(data[i:i + 1])
    assert raw.reply() == b"+OK\r\n"
    assert raw.reply() == b"*2\r\n$50\r\n" + b"x" * 50 + b"\r\n$-1\r\n"
    assert raw.reply() == b":1\r\n"


def test_keys_stand_where_locate_says(cluster):
    c = cluster.client()
    with c.pipeline(transaction=False) as p:
        for i in range(2000):
            p.set(f"user:{i}", i)
        p.execute()
    where = cluster.place()
    assert len(where) == 2000 and set(where.values()) == set(cluster.nodes)


def test_split_commands_merge_in_order(cluster):
    c = cluster.client()
    keys = [f"m{i}" for i in range(3000)]
    assert c.mset({k: k.upper() for k in keys})
    random.Random(2).shuffle(keys)
    assert c.mget(keys) == [k.upper().encode() for k in keys]
    assert c.mget([*keys[:5], *keys[:5], "none", *keys[2:4]]) == \
        [k.upper().encode() for k in keys[:5] * 2] + [None] + [k.upper().encode() for k in keys[2:4]]
    assert c.exists(*keys, *keys[:10], "none") == 3010
    assert c.touch(*keys[:100], "none") == 100
    assert c.unlink(*keys[:1500], "none") == 1500
    assert c.delete(*keys) == 1500
    assert cluster.place() == {}


def test_a_wrong_type_among_many_is_nil(cluster):
    c = cluster.client()
    c.rpush("list", 1)
    c.mset({f"m{i}": i for i in range(20)})
    assert c.mget("m0", "list", "m19") == [b"0", None, b"19"]


@pytest.mark.parametrize("argv", [
    ["SINTERSTORE", "{x}d", "{y}a", "{z}b"], ["RENAME", "{x}a", "{y}b"], ["SUNION", "a", "b", "c", "d", "e", "f"],
    ["EVAL", "return 1", "2", "{x}a", "{y}b"], ["LMOVE", "{x}a", "{y}b", "LEFT", "RIGHT"],
    ["MSETNX", "{x}a", "1", "{y}b", "2"], ["ZUNIONSTORE", "{x}d", "2", "{y}a", "{z}b"],
    ["XREAD", "STREAMS", "{x}a", "{y}b", "0", "0"], ["PFCOUNT", "{x}a", "{y}b"], ["SORT", "{x}a", "STORE", "{y}b"],
    ["GEORADIUS", "{x}a", "15", "37", "200", "km", "STORE", "{y}b"], ["COPY", "{x}a", "{y}b"]], ids=lambda a: a[0])
def test_keys_of_several_tags_are_refused(cluster, argv):
    raw = cluster.raw()
    answer = raw.ask(*argv)
    assert answer.startswith(b"-CROSSSLOT") and b"tag" in answer
    assert raw.ask("PING") == b"+PONG\r\n"


@pytest.mark.parametrize("argv", [
    ["BLPOP", "a", "0"], ["SUBSCRIBE", "c"], ["MULTI"], ["WATCH", "a"], ["SHUTDOWN"], ["FLUSHALL"], ["CONFIG", "GET", "*"],
    ["KEYS", "*"], ["SCAN", "0"], ["DBSIZE"], ["RANDOMKEY"], ["MIGRATE", "h", "1", "k", "0", "1"], ["MOVE", "a", "1"],
    ["SWAPDB", "0", "1"], ["DEBUG", "SLEEP", "1"], ["MONITOR"], ["REPLICAOF", "NO", "ONE"], ["CLIENT", "KILL", "ID", "1"],
    ["CLUSTER", "SLOTS"], ["ACL", "LIST"], ["SCRIPT", "FLUSH"], ["FUNCTION", "LIST"], ["XREAD", "BLOCK", "0", "STREAMS", "a", "0"],
    ["SORT", "a", "BY", "w_*"], ["COPY", "a", "a", "DB", "1"], ["NOSUCH"], ["OBJECT", "NOSUCH", "a"], ["EVAL", "return 1", "0"],
    ["EVAL", "return 1", "x"], ["ZUNION", "9", "a"], ["SELECT", "1"], ["SELECT", "-1"], ["SELECT", "x"],
    ["AUTH", "secret"], ["HELLO", "3"], ["HELLO", "x"]], ids=" ".join)
def test_what_is_not_carried_is_answered_with_an_error(cluster, argv):
    raw = cluster.raw()
    answer = raw.ask(*argv)
    assert answer[:1] == b"-" and len(answer) > 15, answer
    assert raw.ask("PING") == b"+PONG\r\n"


def test_what_the_proxy_answers_itself(cluster):
    raw = cluster.raw()
    hello = raw.ask("HELLO", "2")
    assert hello.startswith(b"*14\r\n$6\r\nserver\r\n$5\r\nredis\r\n") and b"$5\r\nproto\r\n:2\r\n" in hello
    assert raw.ask("HELLO", "2", "SETNAME", "via-hello").startswith(b"*14\r\n")
    assert raw.ask("CLIENT", "GETNAME") == b"$9\r\nvia-hello\r\n"
    assert raw.ask("CLIENT", "SETNAME", "me") == b"+OK\r\n"
    assert raw.ask("CLIENT", "GETNAME") == b"$2\r\nme\r\n"
    assert raw.ask("CLIENT", "SETNAME", "not good")[:1] == b"-"
    assert raw.ask("CLIENT", "SETINFO", "LIB-NAME", "lib") == b"+OK\r\n"
    assert raw.ask("CLIENT", "SETINFO", "LIB-VER", "1.0") == b"+OK\r\n"
    one = raw.ask("CLIENT", "ID")
    assert one[:1] == b":" and raw.ask("CLIENT", "ID") == one != cluster.raw().ask("CLIENT", "ID")
    assert b"gyre" in raw.ask("INFO") and raw.ask("INFO", "server")[:1] == b"$"
    assert raw.ask("SELECT", "0") == b"+OK\r\n"
    assert raw.ask("ECHO", "x") == b"$1\r\nx\r\n"
    assert int(raw.ask("COMMAND", "COUNT")[1:-2]) > 150


def test_command_tells_what_clients_need(cluster, direct):
    """Flags and key positions as the server's, for what is carried."""
    ours, theirs = cluster.client().command(), direct.client().command()
    assert set(ours) <= set(theirs) | {"client|setinfo"}
    for name in ("get", "mset", "eval", "zunionstore", "xread", "sort"):
        for field in ("arity", "first_key_pos", "last_key_pos", "step_count"):
            assert ours[name][field] == theirs[name][field], (name, field)


def test_quit(cluster):
    raw = cluster.raw()
    raw.send(Raw.pack("SET", "q", "1") + Raw.pack("QUIT") + Raw.pack("SET", "q", "2"))
    assert raw.reply() == b"+OK\r\n" and raw.reply() == b"+OK\r\n"
    assert raw.closed() and raw.buf == b""
    assert cluster.client().get("q") == b"1"


def test_unix_socket(cluster):
    raw = Raw(None, None, path=cluster.unix)
    assert raw.ask("SET", "u", "1") == b"+OK\r\n"
    assert cluster.client().get("u") == b"1"


@pytest.mark.parametrize("key", [b"gyre:x", b"gyre:", b"gyre:{main.0}:rec"])
def test_reserved_keys_are_refused(cluster, key):
    raw = cluster.raw()
    for argv in (["SET", key, "v"], ["GET", key], ["MGET", "a", key], ["DEL", key], ["MSET", "a", "1", key, "2"],
                 ["EVAL", "return 1", "1", key], ["RENAME", key, key]):
        assert raw.ask(*argv)[:1] == b"-", argv
    assert raw.ask("SET", b"gyr", "v") == b"+OK\r\n" == raw.ask("SET", b"Gyre:x", "v")
    assert raw.ask("EXISTS", "a") == b":0\r\n"


def test_clients_of_python(cluster):
    """redis-py's own ways: pools, pipelines, scripts, locks by Lua."""
    c = cluster.client(client_name="py", decode_responses=True)
    assert c.ping() and c.client_getname() == "py"
    with c.pipeline(transaction=False) as p:
        p.set("a", 1).incr("a").get("a").hset("h", mapping={"x": 1}).hgetall("h").expire("a", 100).ttl("a")
        assert p.execute() == [True, 2, "2", 1, {"x": "1"}, True, 100]
    assert c.eval("return redis.call('INCRBY', KEYS[1], ARGV[1])", 1, "a", 5) == 7
    script = c.register_script("return KEYS[1]")
    with pytest.raises(redis.ResponseError):
        script(keys=["a"])  # SCRIPT LOAD is not carried
    assert c.ping()


def test_the_checker_finds_nothing(cluster, shared_farm):
    report = harness.finish(shared_farm.checker(cluster.port, "--seconds", "3", "--pipeline", "4", "--multi-ratio", "0.3"))
    assert report["errors_total"] == 0 and report["ops"] > 1000
    cluster.place()


def test_password_and_user(farm):
    secret = farm.dir / "secret"
    secret.write_text("s3cret word\n")
    nodes = [farm.redis("cache-0"), farm.redis("cache-1")]
    for n in nodes:
        n.client().acl_setuser("gyre", enabled=True, passwords=["+s3cret word"], keys=["*"], categories=["+@all"])
        n.client().acl_setuser("default", enabled=False)
    c = harness.Cluster(farm, nodes, [f"backend: {{user: gyre, password_file: {secret}}}"]).start()
    assert all(c.client().set(f"k{i}", i) for i in range(50))


def test_requirepass(farm):
    secret = farm.dir / "secret"
    secret.write_text("pw")
    nodes = [farm.redis(f"cache-{i}", "--requirepass", "pw") for i in range(2)]
    c = harness.Cluster(farm, nodes, [f"backend: {{password_file: {secret}}}"]).start()
    assert all(c.client().set(f"k{i}", i) for i in range(50))


def test_a_wrong_password_is_said(farm):
    secret = farm.dir / "secret"
    secret.write_text("wrong")
    nodes = [farm.redis("cache-0", "--requirepass", "pw")]
    c = harness.Cluster(farm, nodes, [f"backend: {{password_file: {secret}}}"]).start()

    def said():
        with pytest.raises(redis.ResponseError, match="NODEDOWN") as e:
            c.client().get("k")
        return "WRONGPASS" in str(e.value) or "password" in str(e.value)
    wait_until(said)
    assert "wrong" not in c.proxy.output().replace("WRONGPASS", "").replace("wrong password", "")


def test_sigterm_ends_it_and_unlinks_its_sockets(farm):
    c = farm.cluster(1)
    assert c.proxy.stop() == 0
    assert not c.unix.exists() and not c.admin.exists()
    c.start()
    assert c.client().ping()


def test_a_second_proxy_on_one_state_is_refused(farm):
    c = farm.cluster(1)
    second = harness.Cluster(farm, list(c.nodes.values()), name="second")
    second.proxy_lines[1] = c.proxy_lines[1]
    second.write([(n.name, n.address) for n in c.nodes.values()])
    second.start(wait=False)
    assert wait_until(lambda: not second.proxy.alive()) and second.proxy.child.returncode != 0
    assert str(c.proxy.pid) in second.proxy.output()


def test_it_starts_without_its_nodes(farm):
    c = farm.cluster(2, start=False)
    for n in c.nodes.values():
        n.kill()
    c.start()
    with pytest.raises(redis.ResponseError, match="NODEDOWN"):
        c.client().get("k")
    for n in c.nodes.values():
        n.start()

    def served():
        try:
            return all(c.client().set(f"k{i}", 1) for i in range(20))
        except redis.ResponseError:
            time.sleep(0.05)
            return False
    wait_until(served)
