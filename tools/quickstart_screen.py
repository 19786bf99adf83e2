# SPDX-License-Identifier: Apache-2.0
"""quickstart_screen.py - what the quickstart prints: colours on a terminal only, progress, the table.

On a terminal no line is wider than it: a line that wraps can't be redrawn in place.
"""
import atexit
import os
import re
import shutil
import sys
import time

TERMINAL = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
COLOUR = TERMINAL and "NO_COLOR" not in os.environ
FINE = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
CODE = re.compile(r"(\x1b\[[\d;]*m)")
LABEL, VALUE = 27, 9  # columns of the table
WARN = "warn"


def paint(code, text):
    return f"\x1b[{code}m{text}\x1b[0m" if COLOUR else text


def bold(text):
    return paint("1", text)


def dim(text):
    return paint("2", text)


def good(ok, text):
    return paint("32" if ok else "1;31", text)


class Unread(Exception):
    """Nobody reads the output any more: its pipe is closed."""


def say(text="", end="\n"):
    try:
        print(text, end=end, flush=True)
    except BrokenPipeError as e:
        hush()
        raise Unread from e


def hush():
    """Nothing more goes to a closed pipe, nor does Python complain of it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@atexit.register
def last_flush():
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        hush()


def visible(text):
    return len(CODE.sub("", text))


def clip(text, width):
    """The first `width` columns of text: colours take no room, and end with it."""
    if visible(text) <= width:
        return text
    more, left, out = "…" if FINE else "~", width - 1, []
    for i, part in enumerate(CODE.split(text)):
        if i % 2:  # a colour
            out.append(part)
        elif left > 0:
            out.append(part[:left])
            left -= len(part[:left])
    end = "\x1b[0m" if len(out) > 1 else ""
    return "".join(out) + end + more if width > 0 else ""


def columns():
    """What fits a line: all but the last column, after which some terminals wrap at once. Elsewhere: anything."""
    return max(20, shutil.get_terminal_size().columns - 1) if TERMINAL else 10000


def fold(text, width):
    """text in lines of `width` columns at most, broken between words (a longer word stands alone)."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


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

    def line(self, share, text, width):
        """Room for 40 columns of text, then for the bar; what is still too long is cut."""
        return clip(f"  {self.title:<22} {bar(share, max(6, min(24, width - 73)))} {share * 100:3.0f} %  {text}", width)

    def show(self, share, text):
        now = time.monotonic()
        if now - self.drawn < (0.08 if TERMINAL else 3):
            return
        first, self.drawn = self.drawn == 0.0, now
        if TERMINAL:
            say(f"\r{self.line(share, text, columns())}\x1b[K", end="")
        elif not first:
            say(f"    {share * 100:3.0f} %  {text}")

    def done(self, text):
        took = f"{time.monotonic() - self.started:.1f} s"
        say("\r\x1b[K" if TERMINAL else "", end="")
        mark = good(True, "✓" if FINE else "+")
        say(f"{clip(f'  {mark} {self.title:<22} {text}', columns() - len(took) - 2)}  {dim(took)}")


def verdict(ok, note):
    """A note that says in plain words what the colour says."""
    mark = {False: "FAILED", WARN: "WARNING"}.get(ok)
    return f"{mark}: {note}" if mark and note else mark or note


def print_table(rows):
    """Rows of label, value, note, and whether it is as promised (None: just a figure; WARN: not, but no failure)."""
    width = columns()
    line = dim(("─" if FINE else "-") * min(width - 2, 76))
    room = max(16, min(width, 200) - LABEL - VALUE - 4)
    say(f"\n  {line}")
    for label, value, note, ok in rows:
        shown = f"{value:>{VALUE}}"
        if ok is not None:
            shown = paint("33", shown) if ok == WARN else good(ok, bold(shown) if COLOUR else shown)
        first, *rest = fold(verdict(ok, note), room)
        say(f"  {label:<{LABEL}}{shown}  {dim(first) if first and ok in (None, True) else first}".rstrip())
        for part in rest:
            say(f"  {'':<{LABEL + VALUE}}  {dim(part)}")
    say(f"  {line}")
