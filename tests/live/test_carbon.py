# SPDX-License-Identifier: Apache-2.0
"""carbon-c-relay itself, asked where it would send metrics (its test mode, -t): the three clusters that hash."""
import re
import subprocess

import live
from harness import LONG

FLEETS, KEYS = 6, 1000 if LONG else 250
LETTERS = "abcdefghijklmnopqrstuvwxyzABCXYZ0123456789-_:#"


def draw_nodes(rnd):
    """[(host:port, 1, options)]: machines, some with several ports, and none or all with instances. The 0 is because
    the relay's own words, which have no digits, may not be instances."""
    n, instances = live.size(rnd, 2, 40), rnd.random() < .5
    names = {}
    for address in live.addresses(rnd, n, 0):
        for _ in range(rnd.choice([1, 1, 1, 3])):
            names[f"{address[:-2]}:{rnd.choice([2003, rnd.randrange(1024, 65536)])}"] = True
    letters = rnd.sample(live.words(rnd, len(names), LETTERS[:26], most=6), len(names))
    return [(name, 1, f"instance={letter}0" if instances else "") for name, letter in zip(names, letters)]


def metrics(rnd):
    """Words as the relay leaves them: of its letters, joined by single dots."""
    return sorted({".".join(live.words(rnd, rnd.randrange(1, 5), LETTERS, most=12)) for _ in range(KEYS)})


def ask(folder, fleet, keys):
    """The server of each metric."""
    file = folder / "relay.conf"
    servers = "\n".join(f"    {name}{'=' + options.partition('=')[2] if options else ''}" for name, _, options in fleet.nodes)
    file.write_text(f"cluster c\n    {fleet.placement['distribution']} replication 1\n{servers}\n    ;\nmatch * send to c stop;\n")
    out = subprocess.run(["carbon-c-relay", "-t", "-f", file], input="".join(f"{key}\n" for key in keys), capture_output=True,
                         text=True, check=False, timeout=60)
    assert out.returncode == 0, out.stdout + out.stderr
    found = re.findall(r"^    \* -> (\S+)\n    \w+\(c\)\n        (\S+)$", out.stdout, re.M)
    assert [key for key, _ in found] == keys
    return [server.partition("=")[0] for _, server in found]


def test_carbon(farm):
    rnd, score = live.draw("carbon"), live.Score()
    kinds = ["carbon_ch", "fnv1a_ch", "jump_fnv1a_ch"]
    for turn in range(live.TIMES * FLEETS):
        fleet = live.Fleet(draw_nodes(rnd), like="carbon-c-relay", distribution=kinds[turn % 3])
        keys = metrics(rnd)
        score.compare(farm.dir, fleet, keys, ask(farm.dir, fleet, keys), fleet.but(distribution=kinds[(turn + 1) % 3]))
    score.finish()
