#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shell.sh [ROOT] - shellcheck on every script of the tree, known by its first line.
set -eu
cd "${1:-.}"
list=$(mktemp)
trap 'rm -f "$list"' EXIT
find . \( -name 'build*' -o -name .git \) -prune -o -type f -size -200k -exec awk '
    FNR == 1 && substr($0, 1, 64) ~ /^#!.*[^[:alnum:]_](ba)?sh([^[:alnum:]_]|$)/ { print FILENAME }
    { nextfile }' {} + >"$list" || true
[ -s "$list" ] || { echo "shell: no scripts here" >&2; exit 1; }
xargs shellcheck <"$list"
echo "shell: $(wc -l <"$list") scripts"
