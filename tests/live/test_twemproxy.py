# SPDX-License-Identifier: Apache-2.0
"""nutcracker, one process with a pool for each hash and distribution, before a listener that answers GET
with the address it was reached at."""
import selectors
import socket
import threading

import live
from harness import LONG, Process, Raw, free_port, wait_until

HASHES = ["one_at_a_time", "md5", "crc16", "crc32", "crc32a", "fnv1_64", "fnv1a_64", "fnv1_32", "fnv1a_32",
          "hsieh", "murmur", "jenkins"]
KEYS = 1000 if LONG else 150
BYTES = "".join(map(chr, range(1, 256))) + "{}::"  # as UTF-8: bytes above 127 too


class Listener:
    """One thread; a GET in RESP is answered with the address and port of our end."""

    def __init__(self):
        self.sock = socket.create_server(("0.0.0.0", 0), backlog=1024)
        self.port = self.sock.getsockname()[1]
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        sel = selectors.DefaultSelector()
        sel.register(self.sock, selectors.EVENT_READ)
        while True:
            for key, _ in sel.select():
                if key.fileobj is self.sock:
                    conn, _ = self.sock.accept()
                    host, port = conn.getsockname()
                    text = f"{host}:{port}".encode()
                    sel.register(conn, selectors.EVENT_READ, [b"", b"$%d\r\n%s\r\n" % (len(text), text)])
                elif not self.serve(key.fileobj, key.data):
                    sel.unregister(key.fileobj)
                    key.fileobj.close()

    @staticmethod
    def serve(conn, state):
        more = conn.recv(1 << 16)
        data, n = state[0] + more, 0
        while data.startswith(b"*2\r\n$3\r\nget\r\n$") or data.startswith(b"*2\r\n$3\r\nGET\r\n$"):
            head, mark, rest = data[14:].partition(b"\r\n")
            if not mark or len(rest) < int(head) + 2:
                break
            data, n = rest[int(head) + 2:], n + 1
        state[0] = data
        conn.sendall(state[1] * n)
        return bool(more)


def make_pool(rnd, kind, distribution, port):
    """(fleet, {address: name}, the pool's lines)"""
    n, named = live.size(rnd, 2, 40), rnd.random() < .5
    weighted, tag = rnd.random() < .5, rnd.choice([None, "{}", "::"])
    servers = live.addresses(rnd, n, port)
    names = live.words(rnd, n, "abcxyz019-_.", 1, 20) if named else servers
    weights = [live.size(rnd, 1, 200) if weighted else 1 for _ in servers]
    lines = [f"  hash: {kind}", f"  distribution: {distribution}", "  redis: true"]
    lines += [f'  hash_tag: "{tag}"'] if tag else []
    lines += ["  servers:"]
    lines += [f"  - {a}:{w} {name if named else ''}".rstrip() for a, w, name in zip(servers, weights, names)]
    fleet = live.Fleet(list(zip(names, weights)), like="twemproxy", hash=kind, distribution=distribution, hash_tag=tag,
                       names="name" if named else "addr")
    return fleet, dict(zip(servers, names)), lines


def start(farm, folder, pools):
    text = []
    for i, (_, _, lines) in enumerate(pools):
        text += [f"p{i}:", f"  listen: {folder}/{i}.sock", *lines]
    file = folder / "nutcracker.yml"
    file.write_text("\n".join(text) + "\n")
    program = farm.adopt(Process(["nutcracker", "-c", file, "-s", free_port(), "-a", "127.0.0.1", "-m", 512, "-v", 4],
                                 folder / "log"))
    last = folder / f"{len(pools) - 1}.sock"
    wait_until(lambda: last.exists() or not program.alive())
    assert program.alive(), program.output()[-2000:]
    return program


def ask(path, keys):
    """The address that answers for each key."""
    found = []
    with Raw(None, None, path=path) as raw:
        for i in range(0, len(keys), 50):
            part = keys[i:i + 50]
            raw.send(b"".join(raw.pack("get", k) for k in part))
            for _ in part:
                reply = raw.reply()
                assert reply.startswith(b"$"), reply
                found.append(reply.split(b"\r\n")[1].decode())
    return found


def test_twemproxy(farm):
    rnd, score, port = live.draw("twemproxy"), live.Score(), Listener().port
    for turn in range(live.TIMES):
        folder = farm.dir / f"turn-{turn}"
        folder.mkdir()
        pools = [make_pool(rnd, kind, distribution, port) for kind in HASHES for distribution in ("ketama", "modula")]
        program = start(farm, folder, pools)
        for i, (fleet, names, _) in enumerate(pools):
            keys = live.words(rnd, KEYS, BYTES) + [""]
            theirs = [names[a] for a in ask(folder / f"{i}.sock", keys)]
            wrong = HASHES[(HASHES.index(fleet.placement["hash"]) + 1) % len(HASHES)]
            score.compare(folder, fleet, keys, theirs, fleet.but(hash=wrong))
        program.stop()
    score.finish()
