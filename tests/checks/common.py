# SPDX-License-Identifier: Apache-2.0
"""What the checks share: which files are the project's own, and how a check reports."""
import pathlib
import subprocess
import sys

SKIP = ("build", ".git", ".cache", "__pycache__", "node_modules")


def files(root, *suffixes):
    """The project's files below root: git's list (tracked or new, not ignored) where there is one, else a walk."""
    root = pathlib.Path(root)
    try:
        out = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "-co", "--exclude-standard", "--deduplicate"],
                             capture_output=True, check=True).stdout
        names = [pathlib.Path(n.decode("utf-8", "surrogateescape")) for n in out.split(b"\0") if n]
    except (OSError, subprocess.CalledProcessError):
        names = [p.relative_to(root) for p in root.rglob("*")
                 if not any(part.startswith(SKIP) for part in p.relative_to(root).parts)]
    names = (n for n in names if not suffixes or n.suffix in suffixes or n.name in suffixes)
    return sorted(n for n in names if (root / n).is_file())


def kept(name):
    """What others wrote, byte for byte: kept inputs and vector files."""
    vectors = name.parts[:2] == ("tests", "vectors") and name.suffix == ".tsv"
    return vectors or any(part.startswith("corpus") or part == "seeds" for part in name.parts[:-1])


def text(root, name):
    return (pathlib.Path(root) / name).read_text(encoding="utf-8", errors="replace")


def report(check, problems, looked_at):
    """Prints the problems; a check that looked at nothing has failed."""
    for p in problems:
        print(p)
    print(f"{check}: {len(problems)} problems in {looked_at} files")
    sys.exit(1 if problems or not looked_at else 0)
