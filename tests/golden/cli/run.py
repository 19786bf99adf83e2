# SPDX-License-Identifier: Apache-2.0
"""run.py GYRE ROOT [--update]: every command of cases.txt prints and returns what is kept in
expected/. Answers in JSON are parsed as well, and the experiment is held against the vectors."""
import concurrent.futures
import json
import os
import pty
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SEPARATOR = "--- stderr\n"


def cases():
    with open(os.path.join(HERE, "cases.txt"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                name, command = line.rstrip("\n").split(": ", 1)
                yield name, command


def run(command, path):
    env = {"PATH": path + ":/usr/bin:/bin", "LC_ALL": "C", "HOME": "/nonexistent"}
    done = subprocess.run(["sh", "-c", command], cwd=HERE, env=env, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=60, check=False)
    out, err = (s.decode("utf-8", "backslashreplace") for s in (done.stdout, done.stderr))
    return f"{out}{SEPARATOR}{err}--- exit {done.returncode}\n"


def json_complaint(command, text):
    if "--json" not in command:
        return None
    try:
        json.loads(text.split(SEPARATOR)[0])
    except ValueError as e:
        return f"not JSON: {e}"
    return None


def compare(name, command, got, update):
    kept = os.path.join(HERE, "expected", name + ".txt")
    if update:
        with open(kept, "w", encoding="utf-8") as f:
            f.write(got)
    if not os.path.exists(kept):
        return "nothing is kept for it; run with --update and read it"
    with open(kept, encoding="utf-8") as f:
        expected = f.read()
    if got != expected:
        return f"expected:\n{expected}\ngot:\n{got}"
    return json_complaint(command, got)


def experiment_complaint(path, root):
    """The published figures, quantity by quantity."""
    vectors = os.path.join(root, "tests/vectors/seeds/experiment_4_to_5.tsv")
    got = json.loads(run("gyre study experiment --json", path).split(SEPARATOR)[0])
    seen = 0
    with open(vectors, encoding="utf-8") as f:
        for line in f:
            if line.startswith("#"):
                continue
            quantity, value = line.rstrip("\n").split("\t")
            seen += 1
            if str(got.get(quantity)) != value:
                return f"{quantity}: {got.get(quantity)}, published {value}"
    return None if seen == 29 else f"{seen} quantities in the vectors, not 29"


def on_terminal(argv, **more):
    """What a person at a terminal would be sent."""
    leader, follower = pty.openpty()
    env = {"PATH": "/usr/bin:/bin", "TERM": "xterm", **more}
    subprocess.run(argv, cwd=HERE, env=env, stdout=follower, stdin=subprocess.DEVNULL, check=False)
    os.close(follower)
    got = b""
    try:
        while chunk := os.read(leader, 65536):
            got += chunk
    except OSError:  # Linux: the other end is closed and all is read
        pass
    os.close(leader)
    return got


def terminal_complaint(gyre):
    """Colour only on a terminal that wants it, and no key may steer one."""
    keys = on_terminal([gyre, "locate", "data/fleet.yaml", "\x1b[2J", "a\tb", "100%", "\u202e"])
    if keys != b"%1B[2J\tcache-2\r\na%09b\tcache-3\r\n100%\tcache-0\r\n%E2%80%AE\tcache-2\r\n":
        return f"keys on a terminal: {keys}"
    balance = [gyre, "balance", "data/fleet.yaml"]
    if b"\x1b[1mNODE\x1b[0m" not in on_terminal(balance):
        return "no colour on a terminal"
    for quiet in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        if b"\x1b" in on_terminal(balance, **quiet):
            return f"colour in spite of {quiet}"
    return None


def docs_complaint(path, root):
    """docs/topology.md names every key the program knows."""
    sample = run("gyre help topology", path).split(SEPARATOR)[0]
    keys = set(re.findall(r"^ *(?:# )?([a-z_]+):(?: \S+)?$", sample, re.M))
    with open(os.path.join(root, "docs/topology.md"), encoding="utf-8") as f:
        named = set(re.findall(r"`([a-z_]+)`", f.read()))
    if len(keys) < 35:
        return f"only {len(keys)} keys in the sample"
    return f"not in docs/topology.md: {sorted(keys - named)}" if keys - named else None


def doctor_complaint(path):
    """Every check of the doctor is met by a case: one that nothing triggers may be wrong or dead."""
    codes = {c["code"] for c in json.loads(run("gyre doctor --checks --json", path).split(SEPARATOR)[0])}
    with open(os.path.join(HERE, "../../../src/cli/checks.c"), encoding="utf-8") as f:
        lifted = f.read().split("LIFTED[] = {")[1].split("};")[0]
    codes |= set(re.findall(r'{"([a-z-]+)", GY_FOUND_', lifted))
    met = set()
    for name, _ in cases():
        if name.startswith("doctor-"):
            with open(os.path.join(HERE, "expected", name + ".txt"), encoding="utf-8") as f:
                met |= set(re.findall(r"^(?:error|warning|note) ([a-z-]+)[,:]", f.read(), re.M))
    if len(codes) < 30:
        return f"only {len(codes)} checks"
    return f"no case meets {sorted(codes - met)}" if codes - met else None


# A command line for each command that `gyre help` lists: STORE is a state directory with a topology.
ANSWERS = """
show data/fleet.yaml
show --formats
doctor data/fleet.yaml
doctor --checks
doctor ../../corpus/redis-slots-gaps.txt
locate data/fleet.yaml a
locate data/fleet.yaml --keys cases.txt --json
explain data/fleet.yaml a
balance data/fleet.yaml
balance data/few-points.yaml
ranges data/fleet.yaml
check data/fleet.yaml data/modulo.yaml
convert data/fleet.yaml
diff data/fleet.yaml data/replicated.yaml
plan data/fleet.yaml --remove cache-1
plan data/fleet.yaml --remove cache-1 -o -
move --help
view get --state STORE
view get --state STORE --json
view watch --state STORE
view --help
proxy --sample
proxy --list-failpoints
study
study hashes --help
completion bash
bench --help
help
help topology
version
"""


def full_complaint(path):
    """Whatever a command answers, on a device that is full it says so and ends with 2."""
    listed = set(re.findall(r"^  ([a-z]+)  +\S", run("gyre help", path), re.M))
    lines = ANSWERS.strip().splitlines()
    if listed != {line.split()[0] for line in lines}:
        return f"not tried: {listed ^ {line.split()[0] for line in lines}}"
    store = os.path.join(path, "store")
    run(f"gyre view put data/fleet.yaml --state {store} --expect 0", path)
    for line in lines:
        got = run(f"gyre {line.replace('STORE', store)} >/dev/full", path)
        if not got.endswith("gyre: cannot write the answer: No space left on device\n--- exit 2\n"):
            return f"{line}: {got}"
    return None


def leftovers(names):
    kept = {f[:-4] for f in os.listdir(os.path.join(HERE, "expected"))}
    return f"no case for {sorted(kept - names)}" if kept - names else None


def main():
    gyre, root = os.path.abspath(sys.argv[1]), sys.argv[2]
    update = "--update" in sys.argv[3:]
    failed = passed = 0
    os.makedirs(os.path.join(HERE, "expected"), exist_ok=True) if update else None
    with tempfile.TemporaryDirectory() as path:
        os.symlink(gyre, os.path.join(path, "gyre"))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda c: (c[0], compare(*c, run(c[1], path), update)), cases()))
        results.append(("vectors", experiment_complaint(path, root)))
        results.append(("docs", docs_complaint(path, root)))
        results.append(("terminal", terminal_complaint(gyre)))
        results.append(("doctor", doctor_complaint(path)))
        results.append(("full", full_complaint(path)))
    results.append(("leftovers", leftovers({n for n, _ in results})))
    for name, complaint in results:
        failed += complaint is not None
        passed += complaint is None
        if complaint:
            print(f"FAIL {name}: {complaint}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
