# SPDX-License-Identifier: Apache-2.0
"""shells.py GYRE COMPLETIONS: bash, zsh and fish themselves, with the scripts as they are installed, asked what they offer
for a line that is typed so far. bash and zsh are typed at on a terminal; fish says it by `complete -C`.

A name in a topology file is not the user's: each shell must take it as a word, whatever it looks like.
"""
import os
import pty
import select
import subprocess
import sys
import tempfile
import time

GYRE, COMPLETIONS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
TOPOLOGY = """gyre: 1
version: 1
nodes:
  - {name: cache-0, address: "10.0.0.1:6379"}
  - {name: cache-1, address: "10.0.0.2:6379"}
  - {name: "10.0.0.9:1", address: "10.0.0.9:1"}
  - {name: "e v;$(touch pwn)`touch pwn`", address: "10.0.0.3:6379"}
"""
POOLS = "".join(f"{name}:\n  listen: 127.0.0.1:{port}\n  servers:\n   - 127.0.0.1:9:1\n" for name, port in (("alpha", 1), ("beta", 2)))

# What is typed, and the words that come to stand at its end; ... stands for others.
OFFERS = [
    ("gyre lo", ["locate"]),
    ("gyre move re", ["resume"]),
    ("gyre move ", ["start", "status", "watch", "pause", "resume", "rate", "abort", "history", "topology",
                    "forget"]),
    ("gyre move start --we", ["--weight", "--weak-fencing"]),
    ("gyre help move a", ["abort"]),
    ("gyre view p", ["put"]),
    ("gyre locate fl", ["fleet.yaml"]),
    ("gyre locate fleet.yaml --ke", ["--key", "--keys", "--keys0"]),
    ("gyre locate --keys fl", ["fleet.yaml"]),
    ("gyre locate --keys=fl", ["--keys=fleet.yaml"]),
    ("gyre show --format=redis-n", ["--format=redis-nodes"]),
    ("gyre show --format twem", ["twemproxy"]),
    ("gyre balance pools.yml --pool ", ["alpha", "beta"]),
    ("gyre ranges fleet.yaml cache", ["cache-0", "cache-1"]),
    ("gyre ranges fleet.yaml 10.0.0.9:", ["10.0.0.9:1"]),
    ("gyre plan ./fleet.yaml --remove cache-", ["cache-0", "cache-1"]),
    ("gyre plan fleet.yaml --weight cache-1", ["cache-1="]),
    ("gyre move start --config fleet.yaml --remove e", ["e v;$(touch pwn)`touch pwn`"]),
    ("gyre proxy --log-level ", ["error", "warn", "info", "debug"]),
    ("gyre completion f", ["fish"]),
    ("gyre nonsense ", []),
    ("gyre locate nowhere.yaml --pool ", []),
]


class Terminal:
    """A shell that was started on a terminal of its own."""

    def __init__(self, argv, env):
        pid, self.fd = pty.fork()
        if pid == 0:
            os.execve(argv[0], argv, env)
        self.pid, self.got = pid, b""

    def until(self, what, seconds=20):
        end = time.monotonic() + seconds
        while what not in self.got:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                raise TimeoutError(f"{what!r} did not come: {self.got!r}")
            self.got += os.read(self.fd, 65536)
        before, self.got = self.got.split(what, 1)
        return before

    def send(self, text):
        os.write(self.fd, text.encode())

    def line_after(self, typed, keys):
        """The line as it stands after `keys`; it is wiped then."""
        self.send(typed + keys + "\x18l")
        self.until(b"<<")
        line = self.until(b">>").decode()
        self.send("\x15")
        return line

    def end(self):
        self.send("\x15exit\r")
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def words(shell, line):
    """The words of a line, as that shell splits and unquotes them."""
    done = subprocess.run([shell, "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True, check=True)
    return [w for w in done.stdout.split("\n") if w]


def typed_word(line):
    return line.rsplit(" ", 1)[1]


def at_terminal(name, terminal, all_matches):
    terminal.until(b"ready>")
    found = {}
    for line, _ in OFFERS:
        whole = terminal.line_after(line, all_matches)
        head = line[:len(line) - len(typed_word(line))]
        assert whole.startswith(head), f"{name}: {line!r} became {whole!r}"
        got = words(name, whole[len(head):])
        found[line] = [] if got == [typed_word(line)] else got
    found["Tab"] = terminal.line_after("gyre lo", "\t")
    terminal.end()
    return found


def bash(env):
    t = Terminal(["/bin/bash", "--norc", "--noprofile", "-i"], env | {"PS1": "$ "})
    t.send(f"source '{COMPLETIONS}/gyre.bash'; bind 'set enable-bracketed-paste off'; bind 'set bell-style none'\r")
    t.send("bind -x '\"\\C-xl\": printf \"<%s%s>%s\" \"<\" \"$READLINE_LINE\" \">\"'; bind '\"\\C-xa\": insert-completions'\r")
    t.send("printf 'rea%s' 'dy>'\r")
    return at_terminal("bash", t, "\x18a")


def zsh(env):
    t = Terminal(["/usr/bin/zsh", "-f", "-i"], env | {"PS1": "% "})
    for line in (f"fpath=('{COMPLETIONS}' $fpath); autoload -Uz compinit; compinit -D -u; unsetopt beep zle_bracketed_paste",
                 "bindkey -e; show() { print -rn -- '<''<'\"$BUFFER\"'>''>' }; zle -N show; bindkey '^Xl' show; bindkey '^U' kill-whole-line",
                 "zle -C all complete-word _generic; bindkey '^Xa' all; zstyle ':completion:all::::' completer _all_matches _complete",
                 "zstyle ':completion:all:*' insert yes; print -n 'rea''dy>'"):
        t.send(line + "\r")
    return at_terminal("zsh", t, "\x18a")


def fish(env):
    found = {}
    script = f"source '{COMPLETIONS}/gyre.fish'\n" + "".join(
        "echo '<<<'\ncomplete -C '" + line.replace("'", "\\'") + "'\n" for line, _ in OFFERS)
    done = subprocess.run(["fish", "--no-config", "-c", script], env=env, capture_output=True, text=True, check=True)
    for (line, _), block in zip(OFFERS, done.stdout.split("<<<\n")[1:], strict=True):
        found[line] = [answer.split("\t")[0] for answer in block.splitlines()]
    return found


def complaints(name, found):
    for line, expected in OFFERS:
        got = found[line]
        if sorted(got) != sorted(expected):
            yield f"{name}: {line!r} offers {got}, not {expected}"
    if found.get("Tab", "gyre locate ") != "gyre locate ":
        yield f"{name}: Tab makes {found['Tab']!r} of 'gyre lo'"


def main():
    problems = []
    with tempfile.TemporaryDirectory() as d:
        os.chdir(d)
        os.mkdir("bin")
        os.symlink(GYRE, "bin/gyre")
        for name, text in (("fleet.yaml", TOPOLOGY), ("pools.yml", POOLS)):
            with open(name, "w", encoding="utf-8") as f:
                f.write(text)
        env = {"PATH": d + "/bin:/usr/bin:/bin", "HOME": d, "TERM": "xterm", "LC_ALL": "C.UTF-8", "COLUMNS": "400"}
        for shell in (bash, zsh, fish):
            problems += complaints(shell.__name__, shell(env))
        if os.path.exists("pwn"):
            problems.append("a name in a topology file was carried out")
    for p in problems:
        print(p)
    print(f"{len(OFFERS)} lines in three shells, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
