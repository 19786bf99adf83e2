# SPDX-License-Identifier: Apache-2.0
"""quickstart_screen.py - what the quickstart prints: colours on a terminal only, progress, the table."""
import os
import re
import shutil
import sys
import time

TERMINAL = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
COLOUR = TERMINAL and "NO_COLOR" not in os.environ
FINE = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def paint(code, text):
    return f"\x1b[{code}m{text}\x1b[0m" if COLOUR else text


def bold(text):
    return paint("1", text)


def dim(text):
    return paint("2", text)


def good(ok, text):
    return paint("32" if ok else "1;31", text)


def say(text=""):
    print(text, flush=True)


def bar(share, width=24):
    filled = int(max(0.0, min(1.0, share)) * width + 0.5)
    full, empty = ("█", "░") if FINE else ("#", ".")
    return paint("36", full * filled) + dim(empty * (width - filled))


class Progress:
    """One line that is redrawn on a terminal; elsewhere a line every few seconds."""

    def __init__(self, title):
        self.title, self.started, self.drawn = title, time.monotonic(), 0.0
        if not TERMINAL:
            say(f"  {title} ...")

    def show(self, share, text):
        now = time.monotonic()
        if now - self.drawn < (0.08 if TERMINAL else 3):
            return
        first, self.drawn = self.drawn == 0.0, now
        if TERMINAL:
            line = f"  {self.title:<28}{bar(share)} {share * 100:3.0f} %  {text}"
            width = shutil.get_terminal_size().columns
            visible = len(re.sub(r"\x1b\[[\d;]*m", "", line))
            print("\r" + (line if visible < width else line[:len(line) - (visible - width) - 1]) + "\x1b[0m\x1b[K",
                  end="", flush=True)
        elif not first:
            say(f"    {share * 100:3.0f} %  {text}")

    def done(self, text):
        took = time.monotonic() - self.started
        print("\r\x1b[K" if TERMINAL else "", end="")
        say(f"  {good(True, '✓' if FINE else '+')} {self.title:<26}{text}  {dim(f'{took:.1f} s')}")


def print_table(rows):
    line = ("─" if FINE else "-") * 74
    say()
    say(f"  {dim(line)}")
    for label, value, note, ok in rows:
        value = f"{value:>10}"
        shown = value if ok is None else good(ok, bold(value) if COLOUR else value)
        note = note if value.strip() else good(ok, note)
        say(f"  {label:<28}{shown}   {dim(note) if value.strip() else note}".rstrip())
    say(f"  {dim(line)}")
