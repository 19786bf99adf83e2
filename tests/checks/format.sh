#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# format.sh [--fix] [ROOT] - every C file as clang-format-16 leaves it (the version is pinned: others differ).
set -eu
mode='--dry-run -Werror'
[ "${1-}" != --fix ] || { mode=-i; shift; }
cd "${1:-.}"
list=$(mktemp)
trap 'rm -f "$list"' EXIT
find src include tests bench examples \( -name '*.c' -o -name '*.h' -o -name '*.cc' \) -type f 2>/dev/null >"$list" || true
[ -s "$list" ] || { echo "format: no C files here" >&2; exit 1; }
# shellcheck disable=SC2086 # the mode is two words
tr '\n' '\0' <"$list" | xargs -0 clang-format-16 --style=file $mode
echo "format: $(wc -l <"$list") files"
