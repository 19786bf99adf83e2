# SPDX-License-Identifier: Apache-2.0
"""Swift's own ring: built by its builder, asked by its Ring, written by it and read as a file."""
import json
import logging
import subprocess

from swift.common import utils
from swift.common.ring import Ring, RingBuilder

import live
from harness import GYRE, LONG

FLEETS, KEYS = 8, 1000 if LONG else 200


def build_ring(rnd, file):
    """Saves a balanced ring of some devices."""
    power, devices = rnd.randrange(1, 8), live.size(rnd, 1, 20)
    builder = RingBuilder(power, min(devices, rnd.randrange(1, 4)), 0)
    for i in range(devices):
        builder.add_dev({"id": i, "region": rnd.randrange(1, 3), "zone": rnd.randrange(1, 4), "ip": f"10.0.0.{i % 7 + 1}", "port": 6200,
                         "device": f"sd{i}", "weight": rnd.choice([50, 100, 100, 200]), "meta": "",
                         "replication_ip": f"10.0.0.{i % 7 + 1}", "replication_port": 6200})
    builder.rebalance(seed=str(rnd.getrandbits(32)))
    builder.get_ring().save(str(file))
    return power


def name(device):
    return f"{device['ip']}:{device['port']}/{device['device']}"


def ranges(parts):
    """[0, 1, 2, 5] -> "0-2,5"."""
    found = []
    for p in parts:
        if found and found[-1][1] == p - 1:
            found[-1][1] = p
        else:
            found.append([p, p])
    return ",".join(f"{a}-{b}" if a != b else str(a) for a, b in found)


class File(live.Fleet):
    """The ring's own file, which has no secrets in it."""

    def __init__(self, fleet, file):
        super().__init__(fleet.nodes, **fleet.placement)
        self.file = file

    def locate(self, folder, keys):
        asked = folder / "keys"
        asked.write_text("\0".join(keys) + "\0")
        out = subprocess.run([GYRE, "locate", self.file, "-n", "1", "--keys0", asked, "--json"], capture_output=True, text=True, timeout=60)
        assert out.returncode == 0, out.stderr
        return [row["nodes"][0] for row in json.loads(out.stdout)["keys"]]


def answers(ring, keys, prefix, suffix):
    """Names of the first replicas' devices. The secrets are the module's, as swift.conf would set them."""
    utils.HASH_PATH_PREFIX, utils.HASH_PATH_SUFFIX = prefix.encode(), suffix.encode()
    return [name(ring.get_nodes(*key.split("/", 2))[1][0]) for key in keys]


def test_swift(farm):
    rnd, score = live.draw("swift"), live.Score()
    logging.disable(logging.CRITICAL)
    for turn in range(live.TIMES * FLEETS):
        file = farm.dir / f"r{turn}.ring.gz"
        power = build_ring(rnd, file)
        utils.HASH_PATH_SUFFIX = b"any"  # a Ring is opened only where there is a secret
        ring = Ring(str(file))
        parts = {}
        for part, device in enumerate(ring._replica2part2dev_id[0]):
            parts.setdefault(device, []).append(part)
        nodes = [(name(ring.devs[d]), 1, f"partitions={ranges(p)}") for d, p in sorted(parts.items())]
        keys = [f"{w.replace('/', '')}a/c/{w}" for w in live.words(rnd, KEYS)]
        prefix, suffix = rnd.choice(["", "changeme"]), f"s{rnd.getrandbits(20)}"
        fleet = live.Fleet(nodes, like="swift", part_power=power, hash_path_prefix=prefix or None, hash_path_suffix=suffix)
        score.compare(farm.dir, fleet, keys, answers(ring, keys, prefix, suffix), fleet.but(hash_path_suffix="other"))
        score.compare(farm.dir, File(fleet, file), keys, answers(ring, keys, "", ""), fleet)
    score.finish()
