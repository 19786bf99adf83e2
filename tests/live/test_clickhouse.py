# SPDX-License-Identifier: Apache-2.0
"""ClickHouse: its consistent hash functions over each hash that is imitated, and rows that a Distributed table
really spreads. The shards of a table are databases of the one server that is started, which takes them for others."""
import pathlib
import shutil
import urllib.request

import live
from harness import LONG, Process, free_port, wait_until

SERVER = shutil.which("clickhouse-server", path="/usr/sbin:/usr/bin")
KEYS = 1000 if LONG else 200
CONSISTENT = ["jumpConsistentHash", "yandexConsistentHash", "sumburConsistentHash"]
OF_BYTES = ["cityHash64", "sipHash64", "halfMD5", "murmurHash2_32", "murmurHash2_64", "murmurHash3_32", "murmurHash3_64"]
OF_NUMBERS = ["cityHash64", "sipHash64", "intHash64", "intHash32", "none"]
SHARD = """<shard><weight>{weight}</weight><replica><host>127.0.0.1</host><port>{port}</port>
<default_database>shard{i}</default_database></replica></shard>"""
CONFIG = """<yandex><logger><level>error</level><console>1</console></logger>
<listen_host>127.0.0.1</listen_host><http_port>{http}</http_port><tcp_port>{tcp}</tcp_port>
<path>{folder}/</path><tmp_path>{folder}/tmp/</tmp_path><mark_cache_size>1048576</mark_cache_size>
<users_config>users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
<remote_servers>{clusters}</remote_servers></yandex>
"""
USERS = """<yandex><profiles><default></default></profiles><quotas><default></default></quotas><users><default>
<password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>
</default></users></yandex>
"""


def draw_case(rnd, distribution):
    """(fleet, keys)"""
    numbers, weighted = rnd.random() < .4, distribution == "distributed" and rnd.random() < .6
    hash_name = rnd.choice(OF_NUMBERS if numbers else OF_BYTES)
    n = live.size(rnd, 2, 8 if distribution == "distributed" else 60)
    nodes = [(name, live.size(rnd, 1, 9) if weighted else 1) for name in live.words(rnd, n)]
    kind = rnd.choice(["uint64", "int64", "uint32", "int32"]) if numbers else None
    if kind and kind.endswith("64") and distribution == "sumburConsistentHash" and hash_name == "none":
        kind = kind.replace("64", "32")  # it takes no more
    fleet = live.Fleet(nodes, like="clickhouse", distribution=distribution, hash=hash_name, key_type=kind)
    if numbers:
        bits = int(kind[-2:])
        least = 0 if kind[0] == "u" else 1 << (bits - 1)
        return fleet, sorted({str(rnd.getrandbits(rnd.choice([8, bits - 1, bits])) - least) for _ in range(KEYS)})
    return fleet, live.words(rnd, KEYS)


def hashed(fleet, of):
    return of if fleet.placement["hash"] == "none" else f"{fleet.placement['hash']}({of})"


def column(fleet):
    return {None: "String", "uint64": "UInt64", "int64": "Int64", "uint32": "UInt32", "int32": "Int32"}[fleet.placement["key_type"]]


def literals(fleet, keys):
    if fleet.placement["key_type"]:
        return [f"to{column(fleet)}({k})" for k in keys]
    return [f"'{k}'" for k in keys]  # live.words has no quotes or backslashes


class Server:
    def __init__(self, farm, weights):
        """weights: of the shards of each cluster."""
        folder, port, self.http = pathlib.Path(farm.dir), free_port(), free_port()
        clusters = "".join(f"<c{c}>" + "".join(SHARD.format(weight=w, port=port, i=i) for i, w in enumerate(shards)) + f"</c{c}>"
                           for c, shards in enumerate(weights))
        (folder / "config.xml").write_text(CONFIG.format(http=self.http, tcp=port, folder=folder, clusters=clusters))
        (folder / "users.xml").write_text(USERS)
        farm.adopt(Process([SERVER, f"--config-file={folder}/config.xml"], folder / "clickhouse.log"))
        wait_until(self.up, timeout=60)

    def up(self):
        try:
            return self.ask("SELECT 1") == ["1"]
        except OSError:
            return False

    def ask(self, query, **settings):
        words = "&".join(f"{k}={v}" for k, v in settings.items())
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/?{words}", query.encode(), timeout=60) as reply:
            return reply.read().decode().splitlines()

    def buckets(self, fleet, keys):
        """Of a consistent hash function; sumbur's takes 32 bits."""
        of = hashed(fleet, "k")
        of = f"toUInt32({of})" if fleet.placement["distribution"] == "sumburConsistentHash" else of
        return [int(x) for x in self.ask(
            f"SELECT {fleet.placement['distribution']}({of}, {len(fleet.nodes)}) "
            f"FROM (SELECT arrayJoin([{', '.join(literals(fleet, keys))}]) AS k)")]

    def spread(self, c, fleet, keys):
        """The shards that the rows of a Distributed table were sent to."""
        kind = column(fleet)
        for i in range(len(fleet.nodes)):
            self.ask(f"CREATE DATABASE IF NOT EXISTS shard{i}")
            self.ask(f"CREATE TABLE shard{i}.t{c} (i UInt32, k {kind}) ENGINE = Memory")
        self.ask(f"CREATE TABLE d{c} (i UInt32, k {kind}) ENGINE = Distributed(c{c}, '', t{c}, {hashed(fleet, 'k')})")
        rows = ", ".join(f"({i}, {k})" for i, k in enumerate(literals(fleet, keys)))
        self.ask(f"INSERT INTO d{c} VALUES {rows}", insert_distributed_sync=1)
        found = {int(row): i for i in range(len(fleet.nodes)) for row in self.ask(f"SELECT i FROM shard{i}.t{c}")}
        assert len(found) == len(keys)
        return [found[i] for i in range(len(keys))]


def test_clickhouse(farm):
    rnd, score = live.draw("clickhouse"), live.Score()
    cases = [draw_case(rnd, d) for _ in range(live.TIMES) for d in CONSISTENT for _ in range(3)]
    tables = [draw_case(rnd, "distributed") for _ in range(live.TIMES) for _ in range(4)]
    server = Server(farm, [[weight for _, weight in fleet.nodes] for fleet, _ in tables])
    asked = [(fleet, keys, server.buckets(fleet, keys)) for fleet, keys in cases]
    asked += [(fleet, keys, server.spread(c, fleet, keys)) for c, (fleet, keys) in enumerate(tables)]
    for fleet, keys, theirs in asked:
        other = "sipHash64" if fleet.placement["hash"] != "sipHash64" else "cityHash64"
        score.compare(farm.dir, fleet, keys, [fleet.nodes[i][0] for i in theirs], fleet.but(hash=other))
    score.finish()
