#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shell.sh [ROOT] - shellcheck on every script of the tree, known by its first line.
set -eu
cd "${1:-.}"
list=$(mktemp)
trap 'rm -f "$list"' EXIT
find . \( -name 'build*' -o -name .git \) -prune -o -type f -size -200k -print |
    while read -r f; do
        head -c 64 "$f" | head -n 1 | grep -aqE '^#!.*\b(ba)?sh\b' && printf '%s\n' "$f"
    done >"$list" || true
[ -s "$list" ] || { echo "shell: no scripts here" >&2; exit 1; }
xargs shellcheck <"$list"
echo "shell: $(wc -l <"$list") scripts"
