#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""install.py ROOT BUILD - what `make install` does after `make`: all it copies is built by the alias 'programs', and a program
made against the installed header and library alone compiles without a warning and runs, the one in the header's head too, whose
documents are there.

`make` builds only that alias and `make install` rebuilds nothing, so an installed file outside it is missing in a fresh clone.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import common


def unbuilt(build):
    """Installed files that are made, but not by what `make` builds."""
    told = subprocess.run(["ninja", "-C", str(build), "-t", "query", "programs"], capture_output=True, text=True,
                          check=True).stdout
    built = {build / name for name in re.findall(r"^    (?:\|+ )?(\S.*)$", told.split("  outputs:")[0], re.M)}
    targets = json.loads((build / "meson-info" / "intro-targets.json").read_text(encoding="utf-8"))
    made = {pathlib.Path(name): target["name"] for target in targets for name in target["filename"]}
    installed = json.loads((build / "meson-info" / "intro-installed.json").read_text(encoding="utf-8"))
    for name in sorted(installed):
        if pathlib.Path(name) in made and pathlib.Path(name) not in built:
            yield f"{name} is installed, but target '{made[pathlib.Path(name)]}' is not in alias_target('programs', ...)"


def first_sample(header):
    """The code in the header's opening comment: the first of its indented blocks."""
    return re.sub(r"^ \*", "", re.search(r"(?:^ \*     .*\n)+", header, re.M).group(), flags=re.M)


def unusable(root, build, into):
    """Installs below `into` and uses what is there, and nothing else, as a user's program would."""
    done = subprocess.run(["meson", "install", "-C", str(build), "--no-rebuild", "--quiet", "--destdir", into],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        yield f"meson install: {done.stdout[-500:]}{done.stderr[-500:]}"
        return
    found = {p.name: p for p in pathlib.Path(into).rglob("*") if p.is_file()}
    absent = {"gyre", "gyre.h", "gyre.pc", "gyre.1", "gyre.3", "gyre-locate.1", "libgyre.so", "libgyre.so.0", "libgyre.a", "_gyre", "gyre.fish"} - set(found)
    if absent:
        yield f"not installed: {', '.join(sorted(absent))}"
        return
    header = found["gyre.h"].read_text(encoding="utf-8")
    for name in sorted(set(re.findall(r"\b[a-z]+\.md\b", header)) - set(found)):
        yield f"not installed: {name}, which gyre.h names"
    env = os.environ | {"PKG_CONFIG_SYSROOT_DIR": into, "PKG_CONFIG_PATH": str(found["gyre.pc"].parent),
                        "LD_LIBRARY_PATH": str(found["libgyre.so"].parent)}
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "gyre"], env=env, capture_output=True, text=True, check=True)
    sample = pathlib.Path(into) / "sample.c"
    sample.write_text("#include <gyre.h>\n#include <stdio.h>\nint main(void)\n{\n" + first_sample(header) + "return 0;\n}\n",
                      encoding="utf-8")
    for source in [sample, *sorted((root / "examples").glob("*.c"))]:
        program = pathlib.Path(into) / source.stem
        command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", str(program), str(source), *flags.stdout.split()]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not done.returncode:
            done = subprocess.run([program], env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            yield f"{'gyre.h' if source == sample else 'examples'}: {source.name}: {done.stderr[:500]}"


def heavy(program):
    """Libraries that bring dozens of others with them, and so make each run slow to start: base/late.h is for these."""
    told = subprocess.run(["readelf", "-d", str(program)], capture_output=True, text=True, check=True).stdout
    for name in re.findall(r"\(NEEDED\).*\[(lib(?:curl|microhttpd|gnutls|ssl)[^]]*)\]", told):
        yield f"{program.name} is linked with {name}: find it when it is needed (src/base/late.h)"


def main():
    root, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as into:
        problems = list(heavy(build / "src" / "cli" / "gyre")) + list(unbuilt(build)) + list(unusable(root, build, into))
    common.report("install", problems, len(list((root / "examples").glob("*.c"))))


main()
