#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh EXE CORPUS RUNS - replay a kept corpus, then fuzz for RUNS inputs, leaving the tree as it was:
# libFuzzer writes what it finds into the first folder, so that one is a scratch folder.
set -eu
exe=$(realpath "$1") corpus=$(realpath "$2") runs=$3
[ -n "$(ls -A "$corpus" 2>/dev/null)" ] || { echo "run.sh: no corpus in $corpus" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" && mkdir new
"$exe" "-runs=${GYRE_FUZZ_RUNS:-$runs}" "-seed=${GYRE_SEED:-1}" -timeout=10 new "$corpus"
