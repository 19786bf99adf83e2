# SPDX-License-Identifier: Apache-2.0
"""Clients that mean harm, or do not know better. The proxy stays up, bounded and quick for the others."""
import os
import resource
import socket
import time

import pytest

import harness
from harness import HOST, Raw, wait_until

MB = 1 << 20
# A sanitizer's shadow and quarantine are not the proxy's memory.
SANITIZED = b"__asan_init" in open(harness.GYRE, "rb").read() if os.path.exists(harness.GYRE) else False


@pytest.fixture(scope="module")
def cluster(shared_farm):
    return shared_farm.cluster(2, ["limits: {max_client_unread: 4MB, client_stall: 2s, max_memory: 256MB}", "backend: {timeout: 5s}"])


@pytest.fixture(autouse=True)
def others_are_served(cluster):
    yield
    started = time.monotonic()
    assert cluster.raw(timeout=5).ask("PING") == b"+PONG\r\n"
    assert time.monotonic() - started < 2
    assert cluster.proxy.alive()


def bounded(cluster, limit):
    if not SANITIZED:
        assert cluster.proxy.rss() < limit, f"{cluster.proxy.rss() / MB:.0f} MB"


@pytest.mark.parametrize("data", [
    b"*1\r\n$1073741824\r\n", b"*2\r\n$3\r\nGET\r\n$1073741824\r\n", b"*1073741824\r\n",
    b"*1\r\n$-1\r\n", b"*1\r\n$99999999999999999999\r\n", b"*1\r\n:3\r\n", b"*x\r\n", b"*1\r\n$x\r\nGET\r\n",
    b"*1\r\n$4\r\nPINGxx", b"*2\r\n$3\r\nGET\r\n+k\r\n", b"*3000000\r\n$1\r\na\r\n", b"*1\n$4\nPING\n\r\n\r\n",
], ids=lambda d: d[:24].decode().strip().replace("\r\n", "_"))
def test_bad_protocol_is_said_then_closed(cluster, data):
    raw = cluster.raw()
    raw.send(Raw.pack("PING") + data)
    assert raw.reply() == b"+PONG\r\n"
    assert raw.reply().startswith(b"-ERR Protocol error")
    assert raw.closed()


def test_inline_commands(cluster):
    raw = cluster.raw()
    raw.send(b"PING\r\nSET inline 'a b'\r\nGET inline\nEXISTS inline none\r\n\r\n  \r\nPING\r\n")
    assert [raw.reply() for _ in range(5)] == [b"+PONG\r\n", b"+OK\r\n", b"$3\r\na b\r\n", b":1\r\n", b"+PONG\r\n"]


def test_unbalanced_quotes_inline(cluster):
    raw = cluster.raw()
    raw.send(b"GET 'open\r\n")
    assert raw.reply().startswith(b"-ERR Protocol error")
    assert raw.closed()


def test_http_is_not_spoken(cluster):
    raw = cluster.raw()
    raw.send(b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\nSET x y\r\n")
    assert raw.reply()[:1] == b"-" and raw.closed()
    assert cluster.client().get("x") is None


def test_endless_garbage(cluster):
    """Megabytes without an end of line: an error before they are all kept."""
    raw = cluster.raw()
    try:
        for _ in range(64):
            raw.send(b"\xff" * MB)
    except (BrokenPipeError, ConnectionResetError):
        pass
    assert raw.closed()
    bounded(cluster, 200 * MB)


def test_a_half_sent_request_is_not_held_for_ever(farm):
    """Large enough to matter, then silence: closed with the reason; a small half may stay as long as it likes."""
    c = farm.cluster(1, ["limits: {client_stall: 300ms}"])
    small, large = c.raw(), c.raw()
    small.send(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nval")
    large.send(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n" % (2 * MB) + b"x" * MB)
    assert large.closed()
    assert "half a request" in c.proxy.output()
    small.send(b"ue\r\n")
    assert small.reply() == b"+OK\r\n"


def test_half_sent_requests_wait_for_the_rest(cluster):
    halves = [cluster.raw() for _ in range(50)]
    for i, raw in enumerate(halves):
        raw.send(b"*3\r\n$3\r\nSET\r\n$5\r\nhalf%d" % (i % 10))
    assert cluster.client().ping()
    for raw in halves[:25]:
        raw.close()
    for raw in halves[25:]:
        raw.send(b"\r\n$1\r\n1\r\n")
        assert raw.reply() == b"+OK\r\n"


def test_announced_but_never_sent_costs_little(cluster):
    """A bulk announced at the limit takes memory as it comes, not as announced."""
    before = cluster.proxy.rss()
    socks = [cluster.raw() for _ in range(50)]
    for raw in socks:
        raw.send(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\nx" % (60 * MB))
    assert cluster.client().ping()
    bounded(cluster, before + 64 * MB)


def test_thousands_of_connections(cluster):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    want = 2000 if hard == resource.RLIM_INFINITY or hard > 2500 else hard - 500
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, want + 400), hard))
    socks = []
    try:
        for i in range(want):
            s = socket.create_connection((HOST, cluster.port), 10)
            s.sendall(b"*3\r\n$3\r\nSET\r\n$1\r\nc\r\n$1\r\n1\r\n")
            socks.append(s)
        for s in socks:
            assert s.recv(100) == b"+OK\r\n"
        bounded(cluster, 300 * MB)
    finally:
        for s in socks:
            s.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_more_clients_than_allowed_are_told(farm):
    c = farm.cluster(1, ["limits: {max_clients: 20}"])
    time.sleep(0.2)  # the one that asked whether it is ready has gone
    socks = [c.raw() for _ in range(30)]
    answers = []
    for raw in socks:
        try:
            answers.append(raw.ask("PING"))
        except (EOFError, ConnectionError):
            answers.append(raw.buf or b"closed")
    assert answers.count(b"+PONG\r\n") == 20
    assert all(a == b"+PONG\r\n" or a[:1] == b"-" or a == b"closed" for a in answers)
    assert b"-ERR max number of clients reached\r\n" in answers
    for raw in socks:
        raw.close()

    def served():
        try:
            return c.raw().ask("PING") == b"+PONG\r\n"
        except (EOFError, ConnectionError):
            return False
    wait_until(served)


def test_a_client_that_never_reads(cluster):
    """Its answers would be 2 GB; what is kept stays near the limit, and it is closed with a reason in the log."""
    cluster.client().set("large", b"x" * MB)
    before = cluster.proxy.rss()
    raw = cluster.raw()
    raw.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    raw.sock.setblocking(False)
    request = memoryview(Raw.pack("GET", "large") * 2000)
    at, peak, end = 0, 0, time.monotonic() + 1.5
    while time.monotonic() < end:
        try:
            at += raw.sock.send(request[at:]) if at < len(request) else 0
        except BlockingIOError:
            pass
        except (BrokenPipeError, ConnectionResetError):
            break
        peak = max(peak, cluster.proxy.rss())
        assert cluster.client().ping()
        time.sleep(0.02)
    if not SANITIZED:
        assert peak < before + 128 * MB, f"{(peak - before) / MB:.0f} MB for one client that does not read"
    wait_until(lambda: any(w in cluster.proxy.output() for w in ("does not read", "reads nothing", "unread", "stall")), 8)


def test_many_clients_that_never_read(cluster):
    """Each may cost its first requests' answers; the others are served meanwhile, and they are closed in the end."""
    cluster.client().set("large", b"x" * (256 << 10))
    socks = []
    for _ in range(60):
        raw = cluster.raw()
        raw.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.send(Raw.pack("GET", "large") * 20)
        socks.append(raw)
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        bounded(cluster, 500 * MB)
        time.sleep(0.05)
        assert cluster.raw(timeout=5).ask("PING") == b"+PONG\r\n"
    time.sleep(1)
    bounded(cluster, 200 * MB)


def calls(node, command):
    return node.client().info("commandstats").get(f"cmdstat_{command}", {"calls": 0})["calls"]


def neighbours(cluster):
    """Two keys of one node, and the node."""
    where = cluster.locate([b"n%d" % i for i in range(20)])
    a = b"n0"
    b = next(k for k in where if k != a and where[k] == where[a])
    return a, b, cluster.nodes[where[a]]


def test_a_new_client_feels_its_way(cluster):
    """How large its answers are is not known: few are asked for before the first ones are here and read."""
    large, _, node = neighbours(cluster)
    cluster.client().set(large, b"x" * MB)
    before = calls(node, "get")
    raw = cluster.raw()
    raw.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    raw.send(Raw.pack("GET", large) * 500)
    time.sleep(0.3)
    asked = calls(node, "get") - before
    assert 1 <= asked <= 24, f"{asked} answers of 1 MB asked for; 4 MB may be unread"


def test_windows_opened_by_small_answers_filled_with_large_ones(cluster):
    """Whoever does not take what it asked for is closed; until then memory is bounded, and others of that node wait, not fail."""
    large, small, _ = neighbours(cluster)
    cluster.client().mset({large: b"x" * MB, small: b"v"})
    before = cluster.proxy.rss()
    socks = []
    for _ in range(5):
        raw = cluster.raw()
        raw.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        raw.send(Raw.pack("GET", small) * 100)
        assert all(raw.reply() == b"$1\r\nv\r\n" for _ in range(100))
        socks.append(raw)
    for raw in socks:
        raw.send(Raw.pack("GET", large) * 1000)
    probe, end, peak = cluster.raw(timeout=30), time.monotonic() + 0.8, 0
    while time.monotonic() < end:
        assert probe.ask("GET", small) == b"$1\r\nv\r\n"
        peak = max(peak, cluster.proxy.rss())
        time.sleep(0.01)
    assert SANITIZED or peak < before + 256 * MB, f"{(peak - before) / MB:.0f} MB"
    assert "memory is short" in cluster.proxy.output()


def test_an_answer_too_large_to_be_gathered(cluster):
    """MGET over nodes is put together in memory: no more than there is room for."""
    cluster.client().mset({f"g{i}": b"x" * MB for i in range(8)})
    raw = cluster.raw(timeout=20)
    assert raw.ask("MGET", *[f"g{i % 8}" for i in range(300)]).startswith(b"-ERR no memory is left to gather")
    assert raw.ask("MGET", "g1", "g2", "none") == b"*3\r\n" + (b"$%d\r\n" % MB + b"x" * MB + b"\r\n") * 2 + b"$-1\r\n"
    bounded(cluster, 400 * MB)


def test_writes_to_a_node_that_takes_nothing(cluster):
    """What waits for it is bounded, nobody else waits, and all of it arrives once the node goes on."""
    key, _, node = neighbours(cluster)
    other = next(k for k, n in cluster.locate([b"n%d" % i for i in range(40)]).items() if cluster.nodes[n] is not node)
    before = cluster.proxy.rss()
    node.freeze()
    try:
        socks = []
        for _ in range(6):
            raw = cluster.raw(timeout=20)
            raw.sock.setblocking(False)
            socks.append([raw, memoryview(Raw.pack("SET", key, b"w" * MB) * 12)])
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            for s in socks:
                try:
                    s[1] = s[1][s[0].sock.send(s[1]):]
                except BlockingIOError:
                    pass
            assert cluster.client().set(other, 1)
        assert SANITIZED or cluster.proxy.rss() < before + 60 * MB
    finally:
        node.thaw()
    for raw, rest in socks:
        raw.sock.settimeout(20)
        raw.send(rest)
        assert all(raw.reply() == b"+OK\r\n" for _ in range(12))


def test_the_last_error_arrives(cluster):
    """Though the client is still sending when its connection is given up: otherwise it learns only of a broken pipe."""
    for data in (b"*1\r\n$1073741824\r\n", b"POST / HTTP/1.1\r\nHost: x\r\n\r\n"):
        raw = cluster.raw(timeout=10)
        raw.send(data + b"x" * (16 * MB))
        raw.sock.shutdown(socket.SHUT_WR)
        assert raw.reply()[:4] == b"-ERR"
        assert raw.closed()


def test_one_that_sends_on_is_not_listened_to_for_ever(cluster):
    raw = cluster.raw(timeout=10)
    raw.send(b"*1\r\n$1073741824\r\n")
    started = time.monotonic()
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        while time.monotonic() < started + 8:
            raw.send(b"x")
            time.sleep(0.05)


def test_a_slow_reader_gets_everything(cluster):
    cluster.client().set("large", b"y" * MB)
    raw = cluster.raw(timeout=20)
    raw.send(Raw.pack("GET", "large") * 30)
    for _ in range(30):
        time.sleep(0.02)
        assert raw.reply() == b"$%d\r\n" % MB + b"y" * MB + b"\r\n"


def test_large_values(cluster):
    """60 MB go through and come back; more than max_request is refused."""
    raw = cluster.raw(timeout=30)
    value = os.urandom(60 * MB)
    assert raw.ask("SET", "huge", value) == b"+OK\r\n"
    assert raw.ask("GET", "huge") == b"$%d\r\n" % len(value) + value + b"\r\n"
    assert raw.ask("DEL", "huge") == b":1\r\n"
    raw.send(Raw.pack("SET", "huge", b"x" * (70 * MB)))
    assert raw.reply().startswith(b"-ERR Protocol error")
    assert cluster.client().get("huge") is None


def test_a_value_of_64_mb_when_allowed(farm):
    c = farm.cluster(1, ["limits: {max_request: 80MB}"])
    raw, value = c.raw(timeout=30), b"z" * (64 * MB)
    assert raw.ask("SET", "k", value) == b"+OK\r\n"
    assert raw.ask("GET", "k") == b"$%d\r\n" % len(value) + value + b"\r\n"


def test_very_long_pipeline_of_errors(cluster):
    raw = cluster.raw(timeout=30)
    n = 20000
    raw.send(Raw.pack("NOSUCH") * n + Raw.pack("PING"))
    assert all(raw.reply()[:1] == b"-" for _ in range(n))
    assert raw.reply() == b"+PONG\r\n"


def test_many_arguments(cluster):
    c = cluster.client()
    assert c.mset({f"k{i}": "v" for i in range(100000)})
    assert c.exists(*(f"k{i}" for i in range(100000))) == 100000
    assert c.sadd("set", *range(200000)) == 200000


def test_closing_in_the_middle_of_answers(cluster):
    cluster.client().set("large", b"x" * MB)
    for _ in range(100):
        raw = cluster.raw()
        raw.send(Raw.pack("GET", "large") * 5 + Raw.pack("MGET", "large", "none", "large"))
        raw.sock.recv(100)
        raw.close()
    assert cluster.client().get("large") == b"x" * MB


def test_random_bytes(cluster):
    import random
    rng = random.Random(5)
    for _ in range(200):
        raw = cluster.raw()
        data = bytearray(Raw.pack("MSET", "a", "1", "b", "2") * 3 + Raw.pack("EVAL", "return 1", "1", "k"))
        for _ in range(rng.randrange(1, 6)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        raw.send(bytes(data))
        raw.close()
