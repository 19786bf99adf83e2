#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""man3.py gyre.h gyre.1 > gyre.3 - the library's manual page, made of its header.

The header is the manual: its opening comment becomes DESCRIPTION, each `---- title ----` a section, and each declaration
is shown with the comment above it. So the page cannot say anything else than the header. The date is that of gyre.1.
"""
import re
import sys


def escape(text):
    text = text.replace("\\", "\\e")
    return "\\&" + text if text[:1] in (".", "'") else text


def literal(lines):
    return [".Bd -literal", *(escape(line) for line in lines), ".Ed"]


def comment_lines(block):
    """The text of a comment, without its frame: lines of one indent."""
    lines = block.strip().removeprefix("/*").removesuffix("*/").split("\n")
    return [re.sub(r"^ ?\* ?", "", line).rstrip() for line in lines]


def paragraphs(lines):
    """Running text as it is; what is indented, code and lists, as it stands."""
    out, shown = [], []
    for line in [*lines, ""]:
        indent = len(line) - len(line.lstrip())
        if line and indent >= 2:
            shown.append(line)
            continue
        if shown and not line:
            out += literal(shown)
            shown = []
            continue
        if shown:
            out += literal(shown)
            shown = []
        if line:
            out.append(escape(line.strip()))
        elif out and out[-1] not in (".Pp", ".Ed"):
            out.append(".Pp")
    while out and out[-1] == ".Pp":
        out.pop()
    return out


def bare(code):
    """A declaration as a reader wants it: without what is for the compiler, arguments one below the other."""
    lines, moved = [], 0
    for line in code.strip("\n").split("\n"):
        short = re.sub(r"\bGYRE_(API|NODISCARD) ?", "", line)
        if short != line:
            moved = len(line) - len(short)
        elif moved and line.startswith(" " * moved):
            short = line[moved:]
        if ";" in line:
            moved = 0
        lines.append(short)
    return lines


def blocks(text):
    """(comment or None, code) in the order of the header; a comment without code has "". """
    pattern = re.compile(r"^/\*.*?\*/[ \t]*$", re.M | re.S)
    at, comment = 0, None
    for match in pattern.finditer(text):
        code = text[at:match.start()]
        if comment is not None or code.strip():
            yield comment, code.strip("\n")
        comment, at = match.group(), match.end()
    yield comment, text[at:].strip("\n")


def body(text):
    out = []
    for comment, code in blocks(text):
        lines = comment_lines(comment) if comment else []
        while lines and not lines[0]:
            lines.pop(0)
        title = re.fullmatch(r" *---- (.*) ----", lines[0]) if lines else None
        if title:
            out.append(f".Sh {title.group(1).upper()}")
            lines = lines[1:]
        elif code:
            out.append(".Pp")
        if code:
            out += literal(bare(code))
        out += paragraphs(lines)
    return out


def main():
    header, page1 = (open(name, encoding="utf-8").read() for name in sys.argv[1:3])
    head = re.search(r"^/\*\n \* gyre\.h - (.*?)\*/", header, re.M | re.S)
    start = header.index("/* ---- errors ---- */")
    text = header[start:header.rindex("#ifdef __cplusplus")]
    what, _, about = head.group(1).partition("\n")
    out = ['.\\" SPDX-License-Identifier: Apache-2.0', '.\\" Made of include/gyre.h by tools/man3.py.',
           re.search(r"^\.Dd .*", page1, re.M).group(), ".Dt GYRE 3", ".Os", ".Sh NAME", ".Nm gyre", f".Nd {what.rstrip('.')}",
           ".Sh LIBRARY", "libgyre, found by", ".Ql pkg-config --cflags --libs gyre", ".Sh SYNOPSIS", ".In gyre.h",
           ".Sh DESCRIPTION", *paragraphs(comment_lines(about)), *body(text), ".Sh SEE ALSO", ".Xr gyre 1"]
    print("\n".join(line for i, line in enumerate(out) if not (line == ".Pp" and out[i - 1][:3] in (".Sh", ".Pp"))))


main()
