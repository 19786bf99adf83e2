#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# short.sh EXE CORPUS SECONDS - libFuzzer from a kept corpus for a while; new inputs go to a scratch folder.
set -eu
exe=$(realpath "$1") corpus=$(realpath "$2") seconds=$3
[ -n "$(ls -A "$corpus" 2>/dev/null)" ] || { echo "short.sh: no corpus in $corpus" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" && mkdir new
# What is found in $scratch is gone with it, so the input is printed (-artifact_prefix is a folder only).
"$exe" "-max_total_time=$seconds" -max_len=1024 -timeout=10 -print_final_stats=1 new "$corpus" >log 2>&1 || {
    cat log
    for f in crash-* oom-* timeout-* leak-*; do
        [ ! -e "$f" ] || { echo "$f:"; od -An -c "$f"; }
    done
    exit 1
}
grep -E '^(stat::number_of_executed_units|Done)' log
