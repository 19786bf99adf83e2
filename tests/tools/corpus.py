#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""corpus.py GYRE DIR - what gyre says of other systems' files is what DIR/facts.tsv says.

facts.tsv: FILE<TAB>FACT<TAB>VALUE, # begins a comment. FACT is a name below, with an argument after a colon
where it takes one, and with @POOL behind it where the file has several pools. Any name that is not below is a
failure, and so is a file without facts, unless gyre does not read its kind yet (DIR/INDEX.tsv, second column):
such files are counted and named.
"""
import json
import os
import subprocess
import sys

# What INDEX.tsv calls a kind, and what gyre calls it.
KINDS = {
    "carbon-c-relay": "carbon-c-relay",
    "cassandra-describering": "cassandra-describering",
    "cassandra-ring": "cassandra-ring",
    "cassandra-status": "cassandra-status",
    "cassandra-tokens": "cassandra-tokens",
    "clickhouse-remote_servers": "clickhouse",
    "cortex-ring": "cortex",
    "envoy-cluster": "envoy",
    "haproxy-backend": "haproxy",
    "mcrouter-json": "mcrouter",
    "memcached-servers": "memcached",
    "nginx-upstream": "nginx",
    "redis-cluster-nodes": "redis-nodes",
    "redis-nodes-conf": "redis-nodes",
    "redis-cluster-shards": "redis-shards",
    "redis-cluster-slots": "redis-slots",
    "redis-info": "redis-info",
    "redis-plan": "redis-plan",
    "redis-keyslot": "redis-nodes",
    "swift-ring": "swift-ring",
    "swift-ring-builder": "swift-builder",
    "thanos-hashring": "thanos",
    "twemproxy": "twemproxy",
}
NOT_FILES = ("INDEX.tsv", "facts.tsv", "README.md")
NO_OWNER = "(no owner)"


class Wrong(Exception):
    """The fact cannot be asked of this file."""


class Corpus:
    """GYRE's answers about one folder, each asked once."""

    def __init__(self, gyre, folder):
        self.gyre, self.folder, self.kept = gyre, folder, {}

    def ask(self, *words):
        if words not in self.kept:
            done = subprocess.run([self.gyre, *words], cwd=self.folder, capture_output=True, timeout=60, check=False)
            self.kept[words] = (done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))
        return self.kept[words]

    def json(self, *words, fine=(0,)):
        status, out, err = self.ask(words[0], "--json", *words[1:])
        if status not in fine:
            raise Wrong(err.strip() or f"exit status {status}")
        return json.loads(out)

    def show(self, file):
        return self.json("show", file)

    def pool(self, file, name):
        pools = self.show(file)["pools"]
        if name is None:
            placed = [p for p in pools if p["placed"]]
            pools = placed if len(placed) == 1 else pools
            if len(pools) != 1:
                raise Wrong(f"{len(pools)} pools: the fact must name one")
            return pools[0]
        for pool in pools:
            if pool["name"] == name:
                return pool
        raise Wrong(f"no pool {name}")


def joined(items):
    return ",".join(str(i) for i in items)


def number(value):
    return f"{value:.10g}"


def nodes(pool):
    """The topology's nodes that are servers."""
    if not pool["topology"]:
        raise Wrong("the pool is not placed: " + pool["why"])
    return [n for n in pool["topology"]["nodes"] if n["name"] != NO_OWNER]


def server(pool, name):
    for s in pool["servers"]:
        if s["name"] == name:
            return s
    raise Wrong(f"no server {name}")


def percent(value, wanted):
    """To as many decimals as the fact has."""
    digits = len(wanted.split(".")[1]) if "." in wanted else 0
    return f"{100 * value:.{digits}f}"


def pool_words(name):
    return () if name is None else ("--pool", name)


# ---- facts of a whole file: (corpus, file, argument, wanted) ----

def fact_error(c, file, arg, wanted):
    status, _, err = c.ask("show", file)
    return wanted if status == 2 and wanted in err else f"exit status {status}: {err.strip()}"


def fact_error_at(c, file, arg, wanted):
    err = c.ask("show", file)[2]
    return wanted if f"{file}:{wanted}:" in err or f"{file}':{wanted}:" in err else err.strip()


def fact_pools(c, file, arg, wanted):
    return joined(p["name"] for p in c.show(file)["pools"])


def fact_format(c, file, arg, wanted):
    return c.show(file)["format"]


def fact_slot(c, file, arg, wanted):
    """A table of keys and slots: every line as gyre hashes it; the value is how many."""
    fleet = "redis-nodes-healthy.txt"
    with open(os.path.join(c.folder, file), "rb") as f:
        rows = [line.rsplit(b"\t", 1) for line in f.read().split(b"\n") if line]
    keys = b"".join(key + b"\0" for key, _ in rows)
    done = subprocess.run([c.gyre, "locate", fleet, "--keys0", "-", "--hash", "--json"], cwd=c.folder, input=keys,
                          capture_output=True, check=True)
    got = [int(k["hash"], 16) % 16384 for k in json.loads(done.stdout)["keys"]]
    bad = [key for (key, slot), have in zip(rows, got) if int(slot) != have]
    return f"wrong for {bad}" if bad else str(len(got))


FILE_FACTS = {"error": fact_error, "error-at": fact_error_at, "pools": fact_pools, "format": fact_format, "keyslots": fact_slot}


# ---- facts of a pool: (corpus, file, pool name, pool, argument, wanted) ----

def fact_open(pool, side):
    return joined(sorted(o["slot"] for s in pool["servers"] for o in s["open_slots"] if side in o)) or "none"


def fact_share(c, file, name, pool, arg, wanted):
    balance = c.json("balance", file, *pool_words(name), fine=(0, 1))
    for n in balance["nodes"]:
        if n["name"] == arg:
            return percent(n["share"], wanted)
    raise Wrong(f"no node {arg}")


def fact_key(c, file, name, pool, arg, wanted):
    return c.json("locate", file, *pool_words(name), "--", arg)["keys"][0]["nodes"][0]


def fact_moved(c, file, name, pool, arg, wanted):
    return percent(c.json("diff", file, arg, *pool_words(name), fine=(0, 1))["moved"], wanted)


def fact_minimum(c, file, name, pool, arg, wanted):
    return percent(c.json("diff", file, arg, *pool_words(name), fine=(0, 1))["minimum"], wanted)


def fact_points(c, file, name, pool, arg, wanted):
    return str(c.json("balance", file, *pool_words(name), fine=(0, 1))["points"])


def names_where(pool, holds):
    return joined(s["name"] for s in pool["servers"] if holds(s)) or "none"


POOL_FACTS = {
    "servers": lambda p, a: len(p["servers"]),
    "names": lambda p, a: joined(s["name"] for s in p["servers"]),
    "addresses": lambda p, a: joined(s["address"] or "-" for s in p["servers"]),
    "ids": lambda p, a: joined(s["id"] or "-" for s in p["servers"]),
    "weights": lambda p, a: joined(number(s["weight"]) for s in p["servers"]),
    "weight": lambda p, a: number(server(p, a)["weight"]),
    "zones": lambda p, a: joined(sorted({s["zone"] for s in p["servers"] if s["zone"]})),
    "zone": lambda p, a: server(p, a)["zone"],
    "nodes": lambda p, a: len(nodes(p)),
    "placed": lambda p, a: "yes" if p["placed"] else "no",
    "why": lambda p, a: p["why"],
    "set": lambda p, a: p["topology"]["placement"].get(a, "-"),
    "options": lambda p, a: next((n.get("options") or "-" for n in nodes(p) if n["name"] == a), "no such node"),
    "fact": lambda p, a: p["facts"].get(a, "-"),
    "primaries": lambda p, a: sum(s["role"] == "primary" for s in p["servers"]),
    "replicas": lambda p, a: sum(s["role"] == "replica" for s in p["servers"]),
    "replica-of": lambda p, a: server(p, a)["replica_of"],
    "state": lambda p, a: names_where(p, lambda s: a in s["states"]),
    "slots": lambda p, a: server(p, a)["slots"],
    "tokens": lambda p, a: server(p, a)["tokens"],
    "token-counts": lambda p, a: joined(s["tokens"] for s in p["servers"]),
    "slot-counts": lambda p, a: joined(sorted({s["slots"] for s in p["servers"] if s["role"] == "primary"})),
    "owned": lambda p, a: server(p, a)["owned"] or "-",
    "reported": lambda p, a: server(p, a)["reported"] or "-",
    "migrating": lambda p, a: fact_open(p, "migrating_to"),
    "importing": lambda p, a: fact_open(p, "importing_from"),
    "notes": lambda p, a: joined(n["code"] for n in p["notes"]) or "none",
}
ASKED_FACTS = {"share": fact_share, "key": fact_key, "moved": fact_moved, "minimum": fact_minimum, "points": fact_points}


def answer(c, file, fact, wanted):
    name, _, rest = fact.partition(":")
    if name in FILE_FACTS:
        return FILE_FACTS[name](c, file, rest, wanted)
    body, at, pool_name = fact.partition("@")
    pool_name = pool_name if at else None
    name, _, arg = body.partition(":")
    if name in POOL_FACTS:
        return str(POOL_FACTS[name](c.pool(file, pool_name), arg))
    if name in ASKED_FACTS:
        return ASKED_FACTS[name](c, file, pool_name, None, arg, wanted)
    raise Wrong("no such fact; see tests/tools/corpus.py")


def rows(path):
    with open(path, encoding="utf-8") as f:
        return [line.rstrip("\n").split("\t") for line in f if line.strip() and not line.startswith("#")]


def check(c, file, facts):
    problems = []
    for fact, wanted in facts:
        try:
            got = answer(c, file, fact, wanted)
        except (Wrong, KeyError, TypeError, ValueError, StopIteration) as e:
            got = f"{type(e).__name__}: {e}"
        if got != wanted:
            problems.append(f"{file}: {fact}: wanted {wanted!r}, got {got!r}")
    return problems


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    c = Corpus(os.path.abspath(sys.argv[1]), sys.argv[2])
    known = set(json.loads(c.ask("show", "--formats", "--json")[1]))
    kinds = {row[0]: row[1] for row in rows(os.path.join(c.folder, "INDEX.tsv"))[1:]}
    facts = {}
    for row in rows(os.path.join(c.folder, "facts.tsv")):
        if len(row) != 3:
            sys.exit(f"facts.tsv: not FILE, FACT and VALUE parted by tabs: {row}")
        facts.setdefault(row[0], []).append((row[1], row[2]))
    files = sorted(set(os.listdir(c.folder)) - set(NOT_FILES))
    problems = [f"facts.tsv: there is no file {file}" for file in facts if file not in files]
    later, checked = [], 0
    for file in files:
        kind = kinds.get(file)
        if kind not in KINDS:
            problems.append(f"{file}: INDEX.tsv has no kind for it, or an unknown one: {kind}")
        elif KINDS[kind] not in known:
            later.append(file)
        elif file not in facts:
            problems.append(f"{file}: facts.tsv has nothing about it")
        else:
            checked += len(facts[file])
            problems += check(c, file, facts[file])
    for p in problems:
        print(p)
    if later:
        print(f"not read yet: {len(later)} files: {' '.join(later)}")
    print(f"corpus: {checked} facts of {len(files) - len(later)} files, {len(problems)} problems")
    sys.exit(1 if problems or not checked else 0)


main()
