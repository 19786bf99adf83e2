#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quickstart.py - Gyre at work on this machine: four redis-servers behind one address, a fifth added live.

Loads real keys, lets clients read and write without pause while every answer is checked, adds
cache-4, and shows what moved and that nothing was lost. Everything stands in one temporary
directory and ends with this program, however it ends. Usually started by ./quickstart.sh.
"""
import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import sys
import time

sys.dont_write_bytecode = True  # nothing is left beside the sources

from quickstart_screen import WARN, Progress, Unread, bold, dim, good, paint, print_table, say  # noqa: E402
from quickstart_stage import GYRE, HOST, ROOT, Connection, Fleet, Problem, Stage, wait  # noqa: E402

CHECKER = os.environ.get("CHECKER_BIN", str(ROOT / "build/tests/tools/checker"))
WORDS = pathlib.Path("/usr/share/dict/words")
FIELD = 1000  # bytes of one field of the big hash


# ---------------------------------------------------------------- the data

def user_commands(n):
    for i in range(n):
        yield Connection.pack("SET", f"user:{i}", f'{{"id": {i}, "name": "user {i}"}}')


def word_commands(words):
    """Every word as a key; the types take turns, one in ten has a time to live."""
    pack = Connection.pack
    makers = [
        lambda w, i: pack("SET", w, len(w)),
        lambda w, i: pack("HSET", w, "length", len(w), "line", i),
        lambda w, i: pack("SET", w, i, "EX", 86400 + i),
        lambda w, i: pack("RPUSH", w, *w[:12]),
        lambda w, i: pack("SADD", w, *w[:12]),
        lambda w, i: pack("ZADD", w, *(x for p, ch in enumerate(w[:12]) for x in (p, ch))),
        lambda w, i: pack("XADD", w, f"{i + 1}-1", "word", w),
        lambda w, i: pack("PFADD", w, *w[:12]),
        lambda w, i: pack("SETBIT", w, i % 4096, 1),
        lambda w, i: pack("GEOADD", w, i % 180, i % 80, "here"),
    ]
    for i, w in enumerate(words):
        yield makers[i % len(makers)](w, i)


def big_commands(name, megabytes, words):
    """A hash of texts: fields of FIELD bytes, none like another."""
    rng = random.Random(name)
    for first in range(0, megabytes * 1000, 100):
        fields = []
        for i in range(first, first + 100):
            fields += [f"field:{i}", " ".join(rng.choices(words, k=FIELD // 6))[:FIELD].ljust(FIELD)]
        yield Connection.pack("HSET", name, *fields)


def send_all(port, commands, total, progress, unit, batch):
    done, pending = 0, []
    with contextlib.closing(Connection(port)) as c:
        for command in commands:
            pending.append(command)
            if len(pending) == batch:
                c.batch(pending)
                done, pending = done + len(pending), []
                progress.show(done / total, f"{done:,} of {total:,} {unit}")
        c.batch(pending)


def load(fleet, options, planned):
    """Fills the fleet by way of the proxy. Gives the name of the big hash."""
    try:
        words = list(dict.fromkeys(WORDS.read_text(encoding="utf-8").split()))
    except OSError as e:
        raise Problem(f"no word list ({e.strerror}: {WORDS}); install it: apt-get install wamerican") from e
    words = words[:options.words] if options.words else words
    progress = Progress("Loading keys")
    send_all(fleet.port, user_commands(options.users), options.users, progress, "users", 2000)
    send_all(fleet.port, word_commands(words), len(words), progress, "words", 2000)
    progress.done(f"{options.users:,} users, {len(words):,} words, of all types")
    names = [f"catalogue:{i}".encode() for i in range(200)]
    name = next(n for n, node in zip(names, fleet.locate(planned, names)) if node == "cache-4")
    progress = Progress("Loading one large hash")
    send_all(fleet.port, big_commands(name, options.big, words), options.big * 10, progress, "parts", 10)
    progress.done(f"{name.decode()}, {options.big} MB; it will move")
    return name


# ---------------------------------------------------------------- the move under load

class Load:
    """The checker in the background; its last progress line is what the clients see now."""

    def __init__(self, fleet, rate):
        self.stage = fleet.stage
        self.report = self.stage.dir / "checker.json"
        self.process = self.stage.start("checker", [
            CHECKER, "--port", fleet.port, "--clients", 8, "--write-ratio", 0.4, "--multi-ratio", 0.15, "--keys", 8000,
            "--seconds", 0, "--rate", rate, "--progress=100", "--json", self.report])
        if not wait(lambda: self.process.poll() is not None or self.now()["ops"] > 0, 30):
            raise Problem(f"the load does not begin:\n{self.stage.log('checker')}")
        if self.process.poll() is not None:
            self.stage.ended(self.process)

    def now(self):
        text = (self.stage.dir / "checker.log").read_bytes()[-2000:].decode(errors="replace")
        found = re.findall(r"(\d+) ops +(\d+)/s +lost (\d+) +stale (\d+) +wrong (\d+) +errors (\d+)\n", text)
        values = [int(x) for x in found[-1]] if found else [0] * 6
        return dict(zip(("ops", "rate", "lost", "stale", "wrong", "errors"), values))

    def end(self):
        self.process.terminate()
        self.process.wait(60)
        return json.loads(self.report.read_text())


def move(fleet, clients):
    """Adds cache-4 while the clients go on. Gives its entry of the history and the operations meanwhile."""
    progress = Progress("Adding cache-4, live")
    before = clients.now()["ops"]
    child = fleet.stage.start("move", [GYRE, "move", "start", "--yes", "--json", "--add",
                                       f"cache-4={HOST}:{fleet.nodes['cache-4']}"],
                              env={**os.environ, "GYRE_ADMIN": f"unix:{fleet.admin}"})
    status, most = {}, {}
    while child.poll() is None:
        with contextlib.suppress(OSError, ValueError):
            now = fleet.status()
            status = now if now.get("units") else status
        show_move(progress, status, clients.now(), most)
        if fleet.proxy.poll() is not None:
            fleet.stage.ended(fleet.proxy)
        time.sleep(0.1)
    if child.returncode != 0:
        fleet.stage.ended(child)
    time.sleep(0.15)  # the load's last line
    operations = clients.now()["ops"] - before
    last = json.loads(fleet.gyre("move", "history", "--json"))["moves"][0]
    progress.done(f"{last['keys']:,} keys, {last['bytes'] / 1e6:.0f} MB")
    return last, operations


def show_move(progress, status, clients, most):
    """most: the highest figures so far. Those of a status are counted in passing; none falls before the reader's eyes."""
    units, keys = status.get("units", {}), status.get("keys", {})
    arrived = sum(units.get(s, 0) for s in ("complete", "cleaning", "moved")) / (units.get("total") or 1)
    share = keys.get("moved", 0) / keys["total_estimate"] if keys.get("total_estimate") else arrived
    for name, value in (("share", min(1.0, max(share, arrived))), ("keys", keys.get("moved", 0)), ("bytes", status.get("bytes", 0))):
        most[name] = max(most.get(name, 0), value)
    wrong = clients["lost"] + clients["stale"] + clients["wrong"]
    progress.show(most["share"], f"{most['keys']:,} keys {most['bytes'] / 1e6:.0f} MB "
                  f"{good(wrong == 0, f'lost {wrong}')} {dim(format(clients['rate'], ',') + ' ops/s')}")


# ---------------------------------------------------------------- the proof

def variation(where, nodes):
    counts = dict.fromkeys(nodes, 0)
    for node in where.values():
        counts[node] += 1
    return statistics.pstdev(counts.values()) / statistics.mean(counts.values())


def verify(fleet, before, planned):
    """Where every key is now, against where it was and where it should be."""
    progress = Progress("Looking at every key")
    found = fleet.scan()
    data = {k: next(iter(v)) for k, v in found.items()}
    keys = list(data)
    right = fleet.locate(planned, keys)
    result = {
        "keys": len(keys),
        "twice": sum(len(v) > 1 for v in found.values()),
        "misplaced": sum(data[k] != r for k, r in zip(keys, right)),
        "missing": sum(k not in found for k in before),
        "records": sum(k.startswith(b"gyre:") for k in keys),
        "moved": sum(data.get(k, n) != n for k, n in before.items()),
        "due": sum(r != before[k] for k, r in zip(keys, right) if k in before),
        "needless": sum(data.get(k, n) not in (n, "cache-4") for k, n in before.items()),
        "cv": variation({k: data[k] for k in before if k in data}, fleet.nodes),
    }
    progress.done(f"{result['keys']:,} keys on {len(fleet.nodes)} nodes")
    return result


def table(plan, last, operations, report, proof, before, big):
    """The rows of the end: label, value, note, and whether it is as promised (see print_table)."""
    total = len(before)
    lost, stale = report["lost"] + proof["missing"], report["stale"] + report["resurrected"] + report["wrong"]
    placed = not (proof["twice"] or proof["misplaced"] or proof["missing"] or proof["records"])
    where = "exactly one node, the right one" if placed else \
        f"{proof['twice']} on two nodes, {proof['misplaced']} misplaced, {proof['missing']} missing, {proof['records']} records left"
    ratio = last["keys"] / last["keys_minimum"] if last["keys_minimum"] else 0
    return [
        ("keys on the nodes", f"{proof['keys']:,}", "", None),
        ("moved", f"{proof['moved']:,}", f"{proof['moved'] / total * 100:.2f} % of the loaded; {proof['needless']} without need",
         proof["needless"] == 0),
        ("minimum", f"{proof['due']:,}", f"had to move; {plan['minimum'] * 100:.2f} % of the key space", proof["moved"] == proof["due"]),
        ("ratio moved / minimum", f"{ratio:.3f}", f"{last['keys']:,} with the clients' keys; plan {plan['ratio']:.3f}",
         abs(ratio - 1) < 0.0005 and abs(plan["ratio"] - 1) < 0.0005),
        ("modulo would have moved", f"{plan['modulo'] * total:,.0f}", f"{plan['modulo'] * 100:.2f} %", None),
        ("operations during the move", f"{operations:,}", "of the 8 clients, from its start to end",
         None if operations else WARN),
        ("lost", f"{lost}", "acknowledged writes that are gone", lost == 0),
        ("stale", f"{stale}", "reads older than an acknowledged write", stale == 0),
        ("errors", f"{report['errors_total']}", ", ".join(report["errors"])[:60], WARN if report["errors_total"] else None),
        ("longest answer", f"{report['longest_wait_ms']:.0f} ms",
         f"to {report['longest_wait_op'].split()[0]}, while the {big} MB hash was dumped and restored whole; p99 {report['p99_ms']:.1f} ms", None),
        ("longest hold of a write", f"{last['longest_hold_ms']} ms", "for the move; reads are never held", None),
        ("CV before", f"{variation(before, set(before.values())):.4f}", "spread of the keys over four nodes", None),
        ("CV after", f"{proof['cv']:.4f}", "over five; should be below 0.20", None if proof["cv"] < 0.2 else WARN),
        ("each key is on", "", where, placed),
    ]


def conclude(rows, violations):
    """The last line: that it held, or why not. True when it held."""
    failed = [f"{label} {value}".strip() for label, value, _, ok in rows if ok is False]
    for violation in violations[:5]:
        say(good(False, f"  {violation}"))
    say(good(False, f"  FAILED: {', '.join(failed)}") if failed else
        good(True, "  It held: nothing lost, nothing stale, and only what had to move moved."))
    return not failed


# ---------------------------------------------------------------- the show

def preflight():
    for program in ("redis-server", "redis-cli"):
        if not shutil.which(program):
            raise Problem(f"{program} is not here; install it: apt-get install redis-server redis-tools\n"
                          "(./quickstart.sh does that by itself)")
    for path, target in ((GYRE, "src/cli/gyre"), (CHECKER, "tests/tools/checker")):
        if not os.access(path, os.X_OK):
            raise Problem(f"{path} is not built; run ./quickstart.sh, or: meson setup build && ninja -C build {target}")


def planned_topology(fleet, port):
    """The topology with cache-4, and what the change costs."""
    plan = json.loads(fleet.gyre("plan", fleet.file, "--add", f"cache-4={HOST}:{port}", "--json"))
    text = fleet.file.read_text(encoding="utf-8").replace(
        "proxy:\n", f'  - {{name: cache-4, address: "{HOST}:{port}"}}\nproxy:\n')
    planned = fleet.stage.dir / "planned.yaml"
    planned.write_text(text, encoding="utf-8")
    return planned, plan


def show(stage, options):
    """Everything up to the table. Gives the fleet, and whether it held."""
    say(f"\n{bold('Gyre')}: one address over real Redis servers, and a node added live")
    say(dim(f"  everything stands in {stage.dir}") + "\n")
    fleet = Fleet(stage)
    progress = Progress("Starting the servers")
    for i in range(5):
        fleet.add_node(f"cache-{i}")
    fifth = fleet.nodes.pop("cache-4")
    fleet.start_proxy()
    ports = ", ".join(str(p) for p in fleet.nodes.values())
    progress.done(f"on {ports}; proxy {fleet.port}")
    planned, plan = planned_topology(fleet, fifth)
    load(fleet, options, planned)
    before = {k: next(iter(v)) for k, v in fleet.scan().items()}
    clients = Load(fleet, options.load)
    say(f"  {dim('$')} gyre move start --add cache-4={HOST}:{fifth}")
    time.sleep(1)
    fleet.nodes["cache-4"] = fifth
    last, operations = move(fleet, clients)
    time.sleep(0.5)
    report = clients.end()
    proof = verify(fleet, before, planned)
    rows = table(plan, last, operations, report, proof, before, options.big)
    print_table(rows)
    return fleet, conclude(rows, report["violations"])


def stay(fleet):
    gyre = os.path.relpath(GYRE)
    gyre = gyre if not gyre.startswith("../..") else GYRE
    say(f"\n  It goes on running. {bold('Try, in another terminal:')}\n")
    for text in (f"redis-cli -p {fleet.port} get user:1",
                 f"{gyre} balance {fleet.stage.dir}/planned.yaml",
                 f"{gyre} explain {fleet.stage.dir}/planned.yaml user:1",
                 f"export GYRE_ADMIN=unix:{fleet.admin}",
                 f"{gyre} move history",
                 f"{gyre} move start --remove cache-1",
                 f"{gyre} move start --weight cache-2=2",
                 f"{gyre} move topology"):
        say(f"    {paint('36', text)}")
    say(f"\n  {bold('Ctrl-C')} ends everything and leaves nothing behind.")
    while all(p.poll() is None for p in fleet.stage.processes if p.name not in ("checker", "move")):
        time.sleep(0.3)
    fleet.stage.ended(next(p for p in fleet.stage.processes if p.name not in ("checker", "move") and p.poll() is not None))


def interrupted(*_):
    raise KeyboardInterrupt


def options_of(argv):
    p = argparse.ArgumentParser(prog="quickstart.sh", allow_abbrev=False, description="Shows Gyre at work on this machine: a node added to "
                                "real Redis servers while clients read and write. Nothing outside a temporary directory is touched.")
    p.add_argument("--once", action="store_true", help="end after the table; exit status 0 if nothing was lost or stale and moved / minimum is 1.000, else 1")
    p.add_argument("--users", type=int, default=20000, metavar="N", help="keys user:0 ... (20000)")
    p.add_argument("--words", type=int, default=0, metavar="N", help="words of the word list as keys (0: all)")
    p.add_argument("--big", type=int, default=50, metavar="MB", help="size of the hash that will move (50)")
    p.add_argument("--load", type=int, default=10000, metavar="N", help="operations per second of the checking clients (10000; 0: as many as go)")
    o = p.parse_args(argv)
    if o.users < 1 or o.big < 1 or o.words < 0 or o.load < 0:
        p.error("numbers must be positive")
    return o


def main(argv):
    only_options = argv[:1] == ["--only-options"]  # ./quickstart.sh asks first, before it installs or builds
    options = options_of(argv[only_options:])
    if only_options:
        return 0
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    stage, up, status = None, False, 1
    try:
        preflight()
        stage = Stage()
        fleet, fine = show(stage, options)
        status = 0 if fine else 1
        if not options.once:
            up = True
            stay(fleet)
    except Problem as e:
        print(f"\nquickstart: {e}", file=sys.stderr)
        status = 1
    except Unread:
        status = 128 + signal.SIGPIPE
    except OSError as e:
        print(f"\nquickstart: {e}", file=sys.stderr)
        for p in stage.processes if stage else []:
            if p.poll() is not None:
                print(f"{p.name} ended ({p.returncode}); its last words:\n{stage.log(p.name)}", file=sys.stderr)
        status = 1
    except KeyboardInterrupt:
        status = status if up else 130
        with contextlib.suppress(Unread):
            say("\n  ending")
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if stage:
            stage.close()
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
