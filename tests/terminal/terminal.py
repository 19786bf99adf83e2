# SPDX-License-Identifier: Apache-2.0
"""terminal.py GYRE: what a person at a terminal gets, and what a pipe gets in its place.

Every command is run on a terminal with keys, arguments and files that try to steer it: nothing but our own colours may arrive.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

GYRE = os.path.abspath(sys.argv[1])
ENV = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "xterm"}
# Clears a screen, sets a title, rings, turns the writing round, and is not UTF-8.
NASTY = b"a\x1b[2J\x1b]0;t\x07\xe2\x80\xae\xc2\x9b31m\xff"
NODES = ["one", "two", "three", "four", "缓存"]
KEYS = b"".join(b"key:%d\n" % i for i in range(2000)) + NASTY + b"\n"
OURS = re.compile(rb"\x1b\[(?:0|1|2|32|1;31)m")

problems = []


def expect(good, what, shown=b""):
    if not good:
        problems.append(f"{what}: {shown!r}")


def fleet(name, extra="", zone="eu/frankfurt-am-main"):
    with open(name, "w", encoding="utf-8") as f:
        f.write("gyre: 1\nversion: 1\nnodes:\n")
        for i, node in enumerate(NODES):
            f.write(f'  - {{name: "{node}", address: "10.0.0.{i + 1}:6379", zone: "{zone}/r{i % 2}"}}\n')
        f.write(extra)


def screen(columns=0):
    """Both ends of a terminal."""
    leader, follower = pty.openpty()
    if columns:
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    return leader, follower


def drain(leader, until=None, seconds=20):
    """All that was sent to a terminal; or what there is as soon as `until` is in it."""
    got, end = b"", time.monotonic() + seconds
    while (until is None or until not in got) and time.monotonic() < end:
        if select.select([leader], [], [], 0.2)[0]:
            try:
                got += os.read(leader, 65536)
            except OSError:  # the other end is closed and all is read
                break
    return got


def at_terminal(argv, columns=0, **more):
    leader, follower = screen(columns)
    p = subprocess.Popen([GYRE, *argv], env=ENV | more, stdin=subprocess.DEVNULL, stdout=follower, stderr=follower)
    os.close(follower)
    got = drain(leader)
    os.close(leader)
    p.wait(20)
    return got.replace(b"\r\n", b"\n")


def piped(argv, stdin=subprocess.DEVNULL, **more):
    return subprocess.run([GYRE, *argv], env=ENV | more, stdin=stdin, capture_output=True, timeout=60, check=False)


def nothing_steers():
    """No byte of a key or a name reaches a terminal as an order to it."""
    for argv in (["show", "f.yaml"], ["doctor", "f.yaml"], ["locate", "f.yaml", "--keys", "keys"], ["locate", "f.yaml", "-n", "2", NASTY],
                 ["explain", "f.yaml", NASTY], ["balance", "f.yaml", "--keys", "keys"], ["ranges", "f.yaml"], ["ranges", "f.yaml", "--list"],
                 ["show", "bad.yaml"], ["show", "worse.json"], ["diff", "f.yaml", "g.yaml", "--keys", "keys"], ["check", "f.yaml", "g.yaml", "--keys", "keys"],
                 ["plan", "f.yaml", "--add", b"n\x1b[2J=10.0.0.9:1", "--remove", "one"], ["convert", "f.yaml"], ["locate", NASTY, "k"],
                 ["ranges", "f.yaml", NASTY], ["plan", "f.yaml", "--remove", NASTY], [NASTY], ["show", b"--" + NASTY], ["help", NASTY]):
        got = at_terminal(argv)
        bare = OURS.sub(b"", got)
        expect(got and not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]", bare), f"{argv} steers the terminal", bare)
        try:
            bare.decode("utf-8")
        except UnicodeDecodeError as e:
            expect(False, f"{argv} sends what is not UTF-8, {e}", bare)


def widths():
    """Tables keep within the terminal as far as names can give way, and are whole elsewhere."""
    wide, narrow = at_terminal(["balance", "f.yaml"], 200, NO_COLOR="1"), at_terminal(["balance", "f.yaml"], 66, NO_COLOR="1")
    expect(b"eu/frankfurt-am-main/r1" in wide, "a table on a wide terminal", wide)
    expect(b"eu/frankfurt-am-main/r1" not in narrow and b".." in narrow, "a table on a narrow terminal", narrow)
    table = narrow.decode().split("\n\n")[0].splitlines()
    expect(len(table) == 6 and all(len(line) + line.count("缓") + line.count("存") <= 66 for line in table), "lines within 66 columns", table)
    expect(piped(["balance", "f.yaml"], COLUMNS="40").stdout == wide, "a table in a pipe")


def colours():
    expect(b"\x1b[1m" in at_terminal(["balance", "f.yaml"]), "colour on a terminal")
    for more in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        expect(b"\x1b" not in at_terminal(["balance", "f.yaml"], **more), f"no colour with {more}")
    expect(b"\x1b" not in piped(["balance", "f.yaml"]).stdout, "no colour in a pipe")
    expect(b"\x1b[1m" in at_terminal(["balance", "f.yaml"], NO_COLOR=""), "an empty NO_COLOR is none (no-color.org)")


def fed_slowly(**more):
    """A command that waits for keys for longer than a second, its stderr on a terminal."""
    leader, follower = screen(80)
    p = subprocess.Popen([GYRE, "balance", "f.yaml", "-"], env=ENV | more, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=follower)
    os.close(follower)
    return p, leader


def progress():
    """One line after a second, gone at the end; none where it could not be rewritten or nobody looks."""
    shown, dumb = fed_slowly(), fed_slowly(TERM="dumb")
    leader, follower = screen(80)
    long = subprocess.Popen([GYRE, "check", "f.yaml", "j.yaml", "--samples", "1000000000"], env=ENV, stdout=subprocess.PIPE, stderr=follower)
    os.close(follower)
    got = drain(leader, b"to go")
    expect(re.search(rb"^\r(?:\x1b\[K)?comparing keys: \d+ %, [\d a-z]+ to go\x1b\[K", got), "progress with the time to go", got)
    os.kill(long.pid, signal.SIGINT)
    expect(long.wait(20) == -signal.SIGINT, "Ctrl-C ends it")
    os.close(leader)
    got = drain(shown[1], b"so far")
    for p, _ in (shown, dumb):
        p.stdin.write(b"a\nb\n")
        p.stdin.close()
        expect(p.wait(20) == 0 and b"2 keys" in p.stdout.read(), "the answer after progress")
    got += drain(shown[1])
    expect(re.fullmatch(rb"(?:\rreading stdin: \d+ s so far\x1b\[K)+\r\x1b\[K", got), "progress, then a clean line", got)
    expect(drain(dumb[1]) == b"", "no progress on a dumb terminal")
    os.close(shown[1])
    os.close(dumb[1])
    long.stdout.close()


def pipes():
    """A reader that goes away ends it, without a word; streams that are closed are errors, and no file takes their place."""
    p = subprocess.Popen([GYRE, "locate", "f.yaml", "--keys", "/dev/zero", "--keys0", "/dev/zero"], env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    expect(p.wait(20) == 2 and p.stderr.read(), "two sources of keys")
    p.stdout.close()
    p.stderr.close()
    p = subprocess.Popen([GYRE, "locate", "f.yaml", "--keys0", "/dev/zero"], env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdout.read(10)
    p.stdout.close()
    expect((p.wait(20), p.stderr.read()) == (2, b""), "a reader that went away")
    p.stderr.close()
    for command, status, told in (
            (f"'{GYRE}' locate f.yaml k >&-", 2, b"cannot write the answer"), (f"'{GYRE}' locate f.yaml k >/dev/full", 2, b"No space left"),
            (f"'{GYRE}' locate f.yaml <&-", 2, b"stdin: cannot be read"), (f"'{GYRE}' convert f.yaml -o out.yaml >&- 2>&-", 0, b""),
            (f"'{GYRE}' nonsense <&- >&- 2>&-", 2, b""), (f"'{GYRE}' locate f.yaml k 2>&-", 0, b"")):
        done = subprocess.run(["sh", "-c", command], env=ENV, capture_output=True, timeout=60, check=False)
        expect(done.returncode == status and told in done.stderr, f"{command}: status {done.returncode}", done.stderr)
    with open("out.yaml", "rb") as f:
        expect(f.read() == piped(["convert", "f.yaml"]).stdout, "a file written while stdout is closed")


def main():
    with tempfile.TemporaryDirectory() as d:
        os.chdir(d)
        fleet("f.yaml")
        fleet("j.yaml", "placement: {algorithm: jump}\n")
        fleet("g.yaml", '  - {name: "six", address: "10.0.0.9:6379"}\n')
        fleet("bad.yaml", zone="eu/\\e[2J")
        with open("worse.json", "w", encoding="utf-8") as f:
            f.write('{"th\\u001b[2J\u009b31m:11211": 1, "\u202efo": 2}')
        with open("keys", "wb") as f:
            f.write(KEYS)
        for test in (nothing_steers, widths, colours, progress, pipes):
            test()
    for p in problems:
        print(p)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
