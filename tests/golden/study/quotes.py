# SPDX-License-Identifier: Apache-2.0
"""quotes.py GYRE ROOT PAGE: a page of docs (articles.md, questions.md) quotes what the program prints.

Each command of a console block is run in the source folder, and every line quoted under it must be in its output, in
order ("..." at the end: the line goes on). Every number set in bold in a section must be in what the section's commands
print. Each section has a command, and there are as many as there must be; articles.md uses each study.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"```console\n(.*?)```", re.S)
BOLD = re.compile(r"\*\*(.+?)\*\*", re.S)
NUMBER = re.compile(r"\d+\.\d+|\d{3,}")


PAGES = {"articles.md": ("### ", 40), "questions.md": ("## ", 10)}  # a section begins so; the least there are


def sections(text, mark):
    """(title, text) of each claim or question."""
    for part in re.split(rf"^{mark}", text, flags=re.M)[1:]:
        title, _, body = part.partition("\n")
        yield title, re.split(r"^## ", body, flags=re.M)[0]


def quoted(block):
    """(command, lines) of a console block."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
        else:
            sys.exit(f"a line before any command: {line}")
    return found


def run(command, path, root):
    env = {"PATH": path + ":/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}
    done = subprocess.run(["sh", "-c", command], cwd=root, env=env, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60, check=False)
    return done.stdout + done.stderr


def fits(quote, line):
    return line.startswith(quote[:-4]) if quote.endswith(" ...") else line == quote


def missing(quotes, output):
    """The first quoted line that does not follow in the output, or None."""
    lines = iter(output.splitlines())
    for quote in quotes:
        if not any(fits(quote, line) for line in lines):
            return quote
    return None


def complaints(title, body, output_of):
    commands = [c for block in FENCE.findall(body) for c in quoted(block)]
    if not commands:
        yield f"{title}: no command"
    outputs = ""
    for command, lines in commands:
        output = output_of[command]
        outputs += output
        quote = missing(lines, output)
        if not lines:
            yield f"{title}: nothing quoted of: {command}"
        if quote is not None:
            near = [line for line in output.splitlines() if line.split()[:2] == quote.split()[:2]]
            yield f"{title}: not in the output of '{command}': {quote}" + "".join(f"\n    there is: {n}" for n in near)
    for bold in BOLD.findall(FENCE.sub("", body)):
        for number in NUMBER.findall(bold):
            if not re.search(rf"(?<![\d.]){re.escape(number)}(?![\d])", outputs) and not re.match(r"19\d\d$", number):
                yield f"{title}: {number} is in no output"


def main():
    gyre, root, page = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
    mark, least = PAGES[page]
    with open(os.path.join(root, "docs", page), encoding="utf-8") as f:
        claims = list(sections(f.read(), mark))
    commands = sorted({c for _, body in claims for block in FENCE.findall(body) for c, _ in quoted(block)})
    with tempfile.TemporaryDirectory() as path, concurrent.futures.ThreadPoolExecutor(2) as pool:
        os.symlink(gyre, os.path.join(path, "gyre"))
        output_of = dict(zip(commands, pool.map(lambda c: run(c, path, root), commands)))
    problems = [p for title, body in claims for p in complaints(title, body, output_of)]
    listed = json.loads(subprocess.run([gyre, "study", "--json"], capture_output=True, text=True, check=True).stdout)
    for study in listed if page == "articles.md" else []:
        if not any(re.search(rf"gyre study {study['study']}\b", c) for c in commands):
            problems.append(f"study {study['study']} is not used")
    if len(claims) < least:
        problems.append(f"only {len(claims)} sections")
    print("\n".join(problems))
    print(f"{len(claims)} sections, {len(commands)} commands, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
