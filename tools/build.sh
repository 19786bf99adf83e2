#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh DIR [MESON OPTION...] - configure DIR if that is not done (or was cut short), then build it.
#
# Runs started side by side wait for each other: the build folder itself is the lock. CC chooses the compiler
# when DIR is first configured. JOBS (default: all cores) bounds the compilers run at once; TARGETS, if set,
# is what to build instead of everything.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ $# -gt 0 ] || { echo "usage: tools/build.sh DIR [MESON OPTION...]" >&2; exit 2; }
dir=$1
shift
mkdir -p "$dir"
exec 9<"$dir"
if ! flock -n 9; then
    echo "build: waiting for another build of $dir" >&2
    flock 9
fi
if [ ! -e "$dir/build.ninja" ]; then
    # No build.ninja: nothing there yet, or an earlier configuration was cut short.
    find "$dir" -mindepth 1 -delete
    meson setup "$dir" "$@"
elif [ $# -gt 0 ]; then
    meson configure "$dir" "$@"
fi
# meson-test-prereq: what only a test needs is not part of "all".
read -ra targets <<<"${TARGETS-all meson-test-prereq}"
# -k 0: one broken file must not hide what the rest would say.
ninja -C "$dir" -k 0 -j "${JOBS:-$(nproc)}" "${targets[@]}" 9<&-
