# SPDX-License-Identifier: Apache-2.0
"""hostile.py GYRE: files that mean harm, to each format and to the keys, end in one error, soon and in bounded memory.

A program that is to be stopped by its own limits gets an address space of 600 MB; what kills it, or takes a minute, fails.
"""
import concurrent.futures
import json
import os
import resource
import subprocess
import sys
import tempfile
import zlib

GYRE = os.path.abspath(sys.argv[1])
GB = 1 << 30
TOPOLOGY = "gyre: 1\nversion: 1\nnodes:\n  - {name: a}\n"


def entities():
    bomb = "".join(f'<!ENTITY l{i} "{(f"&l{i - 1};" if i else "lol") * 10}">' for i in range(12))
    return f'<?xml version="1.0"?>\n<!DOCTYPE x [{bomb}]>\n<clickhouse><remote_servers>&l11;</remote_servers></clickhouse>'


def aliases():
    lines = ["a: &a [" + ",".join("x" * 9) + "]"]
    lines += [f"{chr(98 + i)}: &{chr(98 + i)} [" + ",".join(["*" + chr(97 + i)] * 9) + "]" for i in range(12)]
    return "\n".join(lines) + "\n"


# Each is nonsense to every format: 2 is the answer, whichever limit is met first.
FILES = {
    "nul": b"upstream a {\n server \0 1;\n}\n" + b"\0" * 5000,
    "aliases": aliases().encode(),
    "entities": entities().encode(),
    "deep.json": b'{"pools":' + b"[" * 200000,
    "deep.xml": b"<clickhouse><remote_servers>" + b"<a>" * 200000,
    "deep.yaml": b"static_resources: " + b"[" * 200000,
    "indented.yaml": b"".join(b" " * i + b"a:\n" for i in range(2000)),
    "line": b"server " * 300000,
    "braces": b"http {" * 100000,
}


def limit():
    """Of this process, for those it starts."""
    resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(*argv):
    return subprocess.run([GYRE, *argv], capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False)


def complaint(argv):
    try:
        done = run(*argv)
    except subprocess.TimeoutExpired:
        return f"{argv}: takes more than a minute"
    said = done.stderr
    if done.returncode != 2 or not said.startswith(b"gyre: ") or len(said) > 2000 or done.stdout:
        return f"{argv}: status {done.returncode}, {said[:300]!r}"
    return None


def lay():
    for name, content in FILES.items():
        with open(name, "wb") as f:
            f.write(content)
    with open("t.yaml", "w", encoding="ascii") as f:
        f.write(TOPOLOGY)
    # 300 MB of the same byte, more than any topology may unpack to: the megabyte is deflated once, and repeated.
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = deflate.compress(b"a" * (1 << 20)) + deflate.flush(zlib.Z_FULL_FLUSH)
    with open("bomb.gz", "wb") as f:
        f.write(b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + piece * 300)
    with open("sparse", "wb") as f:  # one line of 2 GB, of which no byte is on the disk
        f.truncate(2 * GB)
    os.symlink("loop-a", "loop-b")
    os.symlink("loop-b", "loop-a")
    with open("include.conf", "w", encoding="ascii") as f:
        f.write("http { include include.conf; }\n")
    os.mkdir("folder")


def cases():
    formats = list(json.loads(run("show", "--formats", "--json").stdout))
    assert len(formats) >= 15, formats
    for name in FILES:
        yield ("show", name)
        for form in formats:
            yield ("show", "--format", form, name)
    yield ("show", "bomb.gz")
    for name in ("sparse", "loop-a", "folder", "/dev/zero", "/dev/null", "/proc/self/mem", "none"):
        yield ("show", name)
        yield ("locate", name, "key")
    yield ("show", "--format", "nginx", "include.conf")
    for name in ("loop-a", "folder", "/dev/zero", "/proc/self/mem"):
        yield ("balance", "t.yaml", "--keys", name)


def view(me):
    """CLUSTER NODES of 40,000 servers, half of them replicas, as the one numbered me has it."""
    n = 20000
    lines = []
    for i in range(n):
        owned = f" {i}" if i < 16384 else ""
        flags = "myself,master" if i == me else "master"
        lines.append(f"{i * 7919 % 104729:040x} 10.0.{i >> 8}.{i & 255}:1@2 {flags} - 0 0 {i} connected{owned}\n")
        lines.append(f"f{i:039x} 10.1.{i >> 8}.{i & 255}:1@2 slave {i * 7919 % 104729:040x} 0 0 {i} connected\n")
    return "".join(lines[me:] + lines[:me])


def compares():
    """Two views of a large cluster take a second, not the minutes of a look at every pair."""
    for name, me in (("v1", 0), ("v2", 11)):
        with open(name, "w", encoding="ascii") as f:
            f.write(view(me))
    done = subprocess.run([GYRE, "doctor", "v1", "v2"], capture_output=True, text=True, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (10, 10)))
    good = done.returncode == 0 and "no view of 39998 of 40000 servers" in done.stdout
    return [] if good else [f"doctor v1 v2: status {done.returncode}, {done.stdout[:300]} {done.stderr[:300]}"]


def main():
    with tempfile.TemporaryDirectory() as d:
        os.chdir(d)
        lay()
        limit()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            all_cases = list(cases())
            problems = [p for p in pool.map(complaint, all_cases) if p]
        problems += compares()
    for p in problems:
        print(p)
    print(f"{len(all_cases)} cases, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
