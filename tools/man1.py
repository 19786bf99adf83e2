#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""man1.py GYRE DIRECTORY PAGE... - gyre-COMMAND(1) for each command, made of its --help, which is made of its option table.

The pages asked for must be those of the commands there are, no more and no fewer.
"""
import pathlib
import re
import subprocess
import sys

PAGE = """.\\" SPDX-License-Identifier: Apache-2.0
.Dd November 30, 2026
.Dt {title} 1
.Os
.Sh NAME
.Nm {name}
.Nd {what}
{body}.Sh SEE ALSO
.Xr gyre 1
"""
OPTION = re.compile(r"^  (?:(-\w), |    )(--[a-z0-9-]+)(?: (\S+))?(?:  +(.*))?$")


def help_of(gyre, words=()):
    return subprocess.run([gyre, *words, "--help"], capture_output=True, text=True, check=True).stdout


def listed(text):
    """The commands a help lists, and what each is for."""
    return re.findall(r"^  ([a-z]+)  +(\S.*)$", text.split("\nexit status:")[0].split("\noptions:")[0], re.M)


def commands(gyre):
    """(words, what for) of each command with a page."""
    for name, what in listed(help_of(gyre)):
        if name not in ("help", "version"):
            yield (name,), what
            if name in ("move", "view"):
                yield from (((name, sub), said) for sub, said in listed(help_of(gyre, (name,))))


def plain(line):
    """Text that roff takes for nothing but text."""
    line = line.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + line if line[:1] in (".", "'") else line


def literal(lines):
    return "".join(f"{line}\n" for line in [".Bd -literal", *map(plain, lines), ".Ed"])


def options(lines):
    out = ".Bl -tag -width Ds\n"
    for line in lines:
        found = OPTION.match(line)
        if found:
            short, long, value, said = found.groups()
            flags = (f"Fl {short[1:]} , " if short else "") + f"Fl {plain(long[1:])}"
            out += f".It {flags}" + (f" Ar {plain(value)}" if value else "") + "\n" + (plain(said) + "\n" if said else "")
        else:
            out += plain(line.strip()) + "\n"
    return out + ".El\n"


def prose(block):
    """A paragraph; a list of commands as it stands."""
    if block[0].endswith(":") and len(block) > 1 and block[1].startswith("  "):
        return plain(block[0]) + "\n" + literal(line[2:] for line in block[1:])
    return "".join(plain(line.strip()) + "\n" for line in block)


def page(gyre, words, what):
    blocks = [b.split("\n") for b in re.split(r"\n\n+", help_of(gyre, words).strip("\n"))]
    usage, told, body = blocks[0], [], ""
    for block in blocks[1:]:
        if block[0] == "options:":
            body += ".Sh OPTIONS\n" + options(block[1:])
        elif block[0].startswith("exit status:"):
            block[0] = block[0][len("exit status: "):]
            body += ".Sh EXIT STATUS\n" + prose(block)
        elif block[0] == "examples:":
            body += ".Sh EXAMPLES\n" + literal(line[2:] for line in block[1:])
        else:
            told.append(prose(block))
    head = ".Sh SYNOPSIS\n" + literal(line[len("usage: "):] for line in usage)
    head += ".Sh DESCRIPTION\n" + ".Pp\n".join(told)
    name = "-".join(("gyre", *words))
    return PAGE.format(title=name.upper(), name=plain(name), what=plain(what.rstrip("?")), body=head + body)


def main():
    gyre, into, asked = sys.argv[1], pathlib.Path(sys.argv[2]), set(sys.argv[3:])
    made = {"-".join(("gyre", *words)) + ".1": (words, what) for words, what in commands(gyre)}
    if set(made) != asked:
        sys.exit(f"man1.py: the pages in meson.build are not those of the commands: {' '.join(sorted(set(made) ^ asked))}")
    for name, (words, what) in made.items():
        (into / name).write_text(page(gyre, words, what), encoding="utf-8")


main()
