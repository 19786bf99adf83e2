# SPDX-License-Identifier: Apache-2.0
"""nginx, one process with an upstream for each fleet; its own servers answer with the address they were
reached at."""
import socket

import live
from harness import LONG, Process, free_port, wait_until
from pipe import ask

FLEETS, KEYS = 16, 1000 if LONG else 250
HEAD = """daemon off; master_process off; worker_processes 1; pid {dir}/pid; error_log {dir}/error.log;
events {{ worker_connections 4096; }}
http {{
    access_log off; keepalive_requests 100000;
    client_body_temp_path {dir}/t1; proxy_temp_path {dir}/t2; fastcgi_temp_path {dir}/t3;
    uwsgi_temp_path {dir}/t4; scgi_temp_path {dir}/t5;
    proxy_http_version 1.1; proxy_set_header Connection "";
    server {{ listen 0.0.0.0:{port} backlog=1024; location / {{ return 200 "$server_addr:$server_port"; }} }}
"""


def make_fleet(rnd, mode, port):
    """Servers that are down have a quarter of the weight at most. nginx gives a key up to round robin after 21
    misses, and what that answers depends on what it answered before: with 13 of 15 parts down it is 5 % of the
    keys, with a quarter down one of 4e12."""
    names = live.addresses(rnd, live.size(rnd, 2, 40), port)
    nodes = [[name, live.size(rnd, 1, 20) if rnd.random() < .5 else 1, ""] for name in names]
    spare = sum(weight for _, weight, _ in nodes) / 4
    for node in nodes:
        if node[1] <= spare and rnd.random() < .15:
            node[2] = "down"
            spare -= node[1]
    return live.Fleet([tuple(node) for node in nodes], like="nginx", distribution=mode)


def config(folder, fleets, port):
    text = HEAD.format(dir=folder, port=port)
    for i, fleet in enumerate(fleets):
        mode = " consistent" if fleet.placement["distribution"] == "consistent" else ""
        servers = "".join(f"server {n} weight={w} max_fails=0 {o}; " for n, w, o in fleet.nodes)
        text += f"    upstream u{i} {{ hash $http_x_key{mode}; {servers} keepalive 64; }}\n"
        text += f"    server {{ listen unix:{folder}/{i}.sock; location / {{ proxy_pass http://u{i}; }} }}\n"
    return text + "}\n"


def test_nginx(farm):
    rnd, score, letters = live.draw("nginx"), live.Score(), "".join(map(chr, range(33, 127)))
    for turn in range(live.TIMES):
        folder, port = farm.dir / f"turn-{turn}", free_port()
        folder.mkdir()
        fleets = [make_fleet(rnd, mode, port) for mode in ("consistent", "plain") for _ in range(FLEETS // 2)]
        file = folder / "nginx.conf"
        file.write_text(config(folder, fleets, port))
        program = farm.adopt(Process(["nginx", "-p", folder, "-e", folder / "error.log", "-c", file], folder / "log"))
        wait_until(lambda: answers(port) or not program.alive())
        assert program.alive(), program.output()[-2000:]
        for i, fleet in enumerate(fleets):
            keys = live.words(rnd, KEYS, letters)
            theirs = ask(folder / f"{i}.sock", [("/", {"X-Key": k}) for k in keys])
            other = "plain" if fleet.placement["distribution"] == "consistent" else "consistent"
            score.compare(folder, fleet, keys, theirs, fleet.but(distribution=other))
        program.stop()
    score.finish()


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False
