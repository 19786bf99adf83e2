#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""man.py ROOT [GYRE PAGE...] - the manual pages, made ones too, are clean mdoc; gyre(1) names each command of GYRE and their options, and
gyre(3), which is made of the header, each of its functions and sections."""
import json
import pathlib
import re
import subprocess
import sys

import common


def flaws(path):
    done = subprocess.run(["groff", "-mdoc", "-Tutf8", "-ww", "-rLL=78n", str(path)], capture_output=True, text=True, check=False)
    found = [f"{path.name}: {line}" for line in done.stderr.splitlines()]
    return found + ([] if done.stdout.strip() else [f"{path.name}: shows nothing"])


def help_of(gyre, *words):
    return subprocess.run([gyre, *words, "--help"], capture_output=True, text=True, check=True).stdout


def names(text):
    """The commands that a help text lists: a name, then blanks, then what it is for."""
    return re.findall(r"^  ([a-z]+)  +\S", text, re.M)


def missing(gyre, page):
    overview = subprocess.run([gyre, "help"], capture_output=True, text=True, check=True).stdout
    commands = [(c,) for c in names(overview)]
    for command in [c for c in commands if c[0] not in ("help", "version")]:
        text = help_of(gyre, *command)
        if command == ("move",):
            commands += [("move", c) for c in names(text)]
        if command == ("study",):
            listed = subprocess.run([gyre, "study", "--json"], capture_output=True, text=True, check=True).stdout
            commands += [("study", s["study"]) for s in json.loads(listed)]
    page = page.replace("\\-", "-")
    for command in commands:
        if not re.search(rf"^\.(It )?Cm .*\b{command[-1]}\b", page, re.M):
            yield f"{' '.join(command)} is not in the manual"
        text = help_of(gyre, *command)
        for status in re.findall(r"\b(\d+) ", text.lower().split("exit status:")[1].split("\n\n")[0]):
            if not re.search(rf"^\.It {status}$", page, re.M):
                yield f"{' '.join(command)} may end with status {status}, which is not in the manual"
        if "--format NAME" in text and not re.search(r"\b3 ", text.split("exit status:")[1].split("\n\n")[0]):
            yield f"{' '.join(command)} takes redis://, and its help says nothing of status 3"
        if command[0] not in ("help", "version"):
            for option in re.findall(r"^ +(?:-\w, +)?--([a-z0-9-]+)", help_of(gyre, *command), re.M):
                if not re.search(rf"Fl (\w , )?(-[a-z-]+ , )*-{option}\b", page):
                    yield f"{' '.join(command)} --{option} is not in the manual"


def unmade(root, page):
    """What of the header did not get into gyre(3): a declaration, or a section."""
    header = (root / "include" / "gyre.h").read_text(encoding="utf-8")
    shown = subprocess.run(["groff", "-mdoc", "-Tascii", "-P-cbou", "-rLL=120n", str(page)], capture_output=True, text=True,
                           check=True).stdout
    bare = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    names = set(re.findall(r"\bGYRE_API\b[^;]*?\b(gyre_\w+)\s*\(", bare))
    if not names:
        yield "the header declares nothing"
    for name in sorted(names):
        if not re.search(rf"^ +\S.*\b{name}\(", shown, re.M):
            yield f"{name} is not in gyre(3)"
    for title in re.findall(r"^(?:/| )\* ---- (.*?) ----", header, re.M):
        if title.upper() not in shown:
            yield f"section '{title}' is not in gyre(3)"


def main():
    root = pathlib.Path(sys.argv[1])
    pages = [root / name for name in common.files(root, ".1")]
    made = [pathlib.Path(name) for name in sys.argv[3:]]
    problems = [flaw for page in pages + made for flaw in flaws(page)]
    for page in made:
        problems += unmade(root, page) if page.suffix == ".3" else []
    if len(sys.argv) > 2:
        problems += missing(sys.argv[2], "".join(page.read_text(encoding="utf-8") for page in pages))
    common.report("man", problems, len(pages) + len(made))


main()
