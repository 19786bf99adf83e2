# SPDX-License-Identifier: Apache-2.0
"""HAProxy, one process with a section for each fleet; a frontend of its own answers with the address it was
reached at."""
import live
from harness import LONG, Process, free_port, wait_until
from pipe import ask

KEYS = 1000 if LONG else 250
FUNCTIONS = ["sdbm", "djb2", "wt6", "crc32"]
PATH = "abcdefghijklmnopqrstuvwxyzABC0123456789-_.~!$&'()*+,;=:@/"
HEADER = "".join(map(chr, range(33, 127))) + ",,,  "
# like's word for what is hashed: HAProxy's, the letters of keys, the request of a key
BALANCE = {
    "uri": ("uri", PATH + "???", lambda k: (k, {})),
    "uri_whole": ("uri whole", PATH + "???", lambda k: (k, {})),
    "hdr": ("hdr(X-Key)", HEADER, lambda k: ("/", {"X-Key": k})),
    "fhdr": ("hash req.fhdr(X-Key)", HEADER, lambda k: ("/", {"X-Key": k})),
    "url_param": ("url_param id", "abcdefgABC0123456789-_.~/:", lambda k: (f"/?x=1&id={k}&y=2", {})),
}
HEAD = """global
    maxconn 4000
    nbthread 1
defaults
    mode http
    timeout connect 10s
    timeout client 30s
    timeout server 30s
    http-reuse always
frontend answers
    bind 0.0.0.0:{port} backlog 1024
    http-request return status 200 content-type text/plain lf-string %[dst]:%[dst_port]
"""


def make_fleet(rnd, kind, function, balance, port):
    """(fleet, {address: name})"""
    servers = live.addresses(rnd, live.size(rnd, 2, 40), port)
    names, weighted, numbered = live.words(rnd, len(servers), "abcxyz019-_.", 1, 20), rnd.random() < .5, rnd.random() < .3
    ids = rnd.sample(range(1, 5000), len(servers)) if numbered else [None] * len(servers)
    nodes = []
    for name, number in zip(names, ids):
        words = [f"id={number}"] if number else []
        words += ["disabled"] if nodes and rnd.random() < .1 else []
        nodes.append((name, live.size(rnd, 1, 256) if weighted else 1, " ".join(words)))
    fleet = live.Fleet(nodes, like="haproxy", hash_type=kind, hash=function, avalanche=rnd.randrange(2), balance=balance)
    return fleet, dict(zip(servers, names))


def section(i, folder, fleet, servers):
    place = fleet.placement
    avalanche = " avalanche" if place["avalanche"] else ""
    lines = [f"listen p{i}", f"    bind unix@{folder}/{i}.sock", f"    balance {BALANCE[place['balance']][0]}",
             f"    hash-type {place['hash_type']} {place['hash']}{avalanche}"]
    for address, (name, weight, options) in zip(servers, fleet.nodes):
        lines.append(f"    server {name} {address} weight {weight} {options.replace('=', ' ')}")
    return "\n".join(lines) + "\n"


def make_keys(rnd, balance):
    keys = live.words(rnd, KEYS, BALANCE[balance][1])
    if balance.startswith("uri"):
        keys = ["/" + k for k in keys]
    if balance.endswith("hdr"):
        keys = [k.strip() for k in keys]  # HTTP drops the blanks around a value
    if balance == "hdr":
        keys = [k for k in keys if k.partition(",")[0].strip()]  # no first element: HAProxy takes turns
    return [k for k in dict.fromkeys(keys) if k]


def test_haproxy(farm):
    rnd, score = live.draw("haproxy"), live.Score()
    for turn in range(live.TIMES):
        folder, port = farm.dir / f"turn-{turn}", free_port()
        folder.mkdir()
        fleets = [make_fleet(rnd, kind, function, rnd.choice(list(BALANCE)), port)
                  for kind in ("map-based", "consistent") for function in FUNCTIONS for _ in range(2)]
        file = folder / "haproxy.cfg"
        file.write_text(HEAD.format(port=port) + "".join(section(i, folder, *f) for i, f in enumerate(fleets)))
        program = farm.adopt(Process(["haproxy", "-db", "-f", file], folder / "log"))
        last = folder / f"{len(fleets) - 1}.sock"
        wait_until(lambda: last.exists() or not program.alive())
        assert program.alive(), program.output()[-2000:]
        for i, (fleet, names) in enumerate(fleets):
            keys = make_keys(rnd, fleet.placement["balance"])
            request = BALANCE[fleet.placement["balance"]][2]
            theirs = [names[a] for a in ask(folder / f"{i}.sock", [request(k) for k in keys])]
            wrong = FUNCTIONS[(FUNCTIONS.index(fleet.placement["hash"]) + 1) % len(FUNCTIONS)]
            score.compare(folder, fleet, keys, theirs, fleet.but(hash=wrong))
        program.stop()
    score.finish()
