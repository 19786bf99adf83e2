# SPDX-License-Identifier: Apache-2.0
"""The files that `gyre convert` writes, looked at by the programs they are for. What gyre refuses to write is
counted, and must be little."""
import json
import random
import subprocess

from harness import GYRE, LONG

FLEETS = 200 if LONG else 12
NAMES = ["cache-{}", "{}", "x.y_{}:1", "a b{}", "a;}}{}", "\"q{}\"", "it's{}", "a\\b{}", "#c{}", "${{x}}{}", "- a{}", "a: b{}",
         "é{}", "a,b{}", "[{}]", "yes{}"]


def address(rnd, i, sockets):
    kinds = ["10.0.{1}.{0}:{2}", "[2001:db8::{1}:{0}]:{2}"] + ["unix:/run/{1}-{0}.sock"] * sockets
    return rnd.choice(kinds).format(i % 250 + 1, i // 250, 1 + i * 7)


def fleet(rnd, placement, by_address, options=None, drained=False):
    """A topology in YAML (which JSON is), with the names that one system's programs are said to hash."""
    nodes, names = [], NAMES[:3] if rnd.random() < .6 else NAMES
    for i in range(rnd.randrange(1, 8)):
        at = address(rnd, i, not by_address)
        node = {"name": at if by_address else rnd.choice(names).format(i), "address": at, "weight": rnd.randrange(1, 9)}
        if options and rnd.random() < .5:
            node["options"] = options.format(i + 1)
        if drained and i and rnd.random() < .2:
            node["weight"] = 0
        nodes.append(node)
    lines = ["gyre: 1", "version: 1", "placement: " + json.dumps(placement), "nodes:"]
    return "\n".join(lines + ["  - " + json.dumps(n, ensure_ascii=False) for n in nodes]) + "\n"


def write(folder, text, to):
    """What gyre writes, or None where it says that the format cannot."""
    file = folder / "fleet.yaml"
    file.write_text(text)
    done = subprocess.run([GYRE, "convert", file, "--to", to], capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 2), done.stderr
    assert done.returncode == 0 or "node " in done.stderr, done.stderr
    return done.stdout if done.returncode == 0 else None


def written(farm, to, make):
    rnd = random.Random(to)
    texts = [write(farm.dir, make(rnd, i), to) for i in range(FLEETS)]
    good = [t for t in texts if t is not None]
    assert len(good) >= FLEETS // 4, f"only {len(good)} of {FLEETS} fleets could be written"
    return good


def judged(farm, name, text, *command, fine="", status=0):
    """The program's verdict on the file, and on one that it must refuse."""
    file = farm.dir / name
    for content, good in ((text, True), (text + "\nnonsense {\n", False)):
        file.write_text(content)
        done = subprocess.run([*command, file], capture_output=True, text=True, timeout=60)
        said = done.stdout + done.stderr
        assert (done.returncode == status and fine in said) == good, said[-2000:] + content


def test_nginx(farm):
    texts = written(farm, "nginx", lambda rnd, i: fleet(
        rnd, {"like": "nginx", "distribution": rnd.choice(["consistent", "plain"])}, True, "down"))
    named = [t.replace("upstream fleet ", f"upstream u{i} ") for i, t in enumerate(texts)]
    text = f"pid {farm.dir}/pid; error_log {farm.dir}/log; events {{}} http {{ access_log off;\n" + "".join(named) + "}\n"
    judged(farm, "nginx.conf", text, "nginx", "-t", "-p", farm.dir, "-e", farm.dir / "log", "-c", fine="test is successful")


def test_haproxy(farm):
    texts = written(farm, "haproxy", lambda rnd, i: fleet(
        rnd, {"like": "haproxy", "hash_type": rnd.choice(["consistent", "map-based"]),
              "hash": rnd.choice(["sdbm", "djb2", "wt6", "crc32"]), "avalanche": rnd.choice("01"),
              "balance": rnd.choice(["fhdr", "hdr", "uri", "uri_whole", "url_param"])}, False,
        "id={}", True))
    named = [t.replace("backend fleet", f"backend b{i}") for i, t in enumerate(texts)]
    head = f"defaults\n mode http\n timeout client 1s\n timeout connect 1s\n timeout server 1s\n" \
           f"frontend f\n bind {farm.dir}/f.sock\n default_backend b0\n"
    judged(farm, "haproxy.cfg", head + "".join(named), "haproxy", "-c", "-f")


def test_nutcracker(farm):
    texts = written(farm, "twemproxy", lambda rnd, i: fleet(
        rnd, {"like": "twemproxy", "distribution": rnd.choice(["ketama", "modula"]), "hash": rnd.choice(["md5", "crc32a"]),
              "hash_tag": rnd.choice(["", "{}"])}, False))
    named = [t.replace("fleet:", f"p{i}:", 1).replace(":22121", f":{22121 + i}") for i, t in enumerate(texts)]
    judged(farm, "nutcracker.yml", "".join(named), "nutcracker", "-t", "-c", fine="syntax is ok")
