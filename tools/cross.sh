#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cross.sh [arm64|s390x]... - libgyre as other machines have it: vectors and property tests under qemu.
#
# arm64 has a plain char without sign, s390x keeps numbers with the big end first. Compiles the library with
# Debian's cross compilers, as the build does (no meson: the programs' libraries are not needed there), runs
# every vector file but Swift's (its rings need zlib and jansson of that machine) and GYRE_RUNS (default 15)
# seeds of each property. The last line is "N passed, N failed". Needs tools/install.sh cross.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ $# -gt 0 ] || set -- arm64 s390x
declare -A prefix=([arm64]=aarch64-linux-gnu [s390x]=s390x-linux-gnu)
declare -A emulator=([arm64]=qemu-aarch64-static [s390x]=qemu-s390x-static)
jobs=${JOBS:-$(nproc)}
export GYRE_RUNS=${GYRE_RUNS:-15}
flags=(-std=gnu11 -O2 -Wall -Wextra -Wconversion -Werror -Wno-unused-parameter -Wno-missing-field-initializers
       -ffp-contract=off -D_GNU_SOURCE '-DGYRE_VERSION="cross"' -DVECTORS_NO_SWIFT -Iinclude -Isrc -Itests)
passed=0 failed=0

# count NAME COMMAND...: one counted run; its last line is shown.
count() {
    local name=$1 out
    shift
    if out=$("$@" 2>&1); then
        passed=$((passed + 1))
        echo "$name: $(tail -n 1 <<<"$out")"
    else
        failed=$((failed + 1))
        printf '%s FAILED\n%s\n' "$name" "$(tail -n 20 <<<"$out")"
    fi
}

one() {
    local arch=$1 cc=${prefix[$1]}-gcc run=${emulator[$1]} dir=build-$1 source dirs=() test
    command -v "$cc" "$run" >/dev/null || { echo "cross: no $cc or no $run: tools/install.sh cross" >&2; exit 1; }
    rm -rf "$dir"
    mkdir -p "$dir/include" "$dir/lib" "$dir/tests"
    cp /usr/include/xxhash.h "$dir/include/" # a header alone; it looks at nothing of this machine's
    # shellcheck disable=SC2016 # expanded by the inner shell
    find src/lib -name '*.c' -print0 | xargs -0 -P "$jobs" -I{} \
        bash -c 'o=${2//\//_}; exec "${@:3}" -c "$2" -o "$1/lib/$o.o"' - "$dir" {} "$cc" "${flags[@]}" "-I$dir/include"
    "${prefix[$arch]}-ar" rcs "$dir/libgyre.a" "$dir"/lib/*.o
    for source in tests/vectors/*.c; do
        [ "$source" = tests/vectors/swift.c ] || dirs+=("$source")
    done
    "$cc" "${flags[@]}" -static "${dirs[@]}" "$dir/libgyre.a" -o "$dir/tests/vectors"
    dirs=()
    for source in tests/vectors/*/; do
        [ "$source" = tests/vectors/swift/ ] || ! compgen -G "$source*.tsv" >/dev/null || dirs+=("$source")
    done
    count "$arch vectors" "$run" "$dir/tests/vectors" "${dirs[@]}"
    for source in tests/property/lib/test_*.c; do
        test=$dir/tests/$(basename "$source" .c)
        "$cc" "${flags[@]}" -static "$source" "$dir/libgyre.a" -o "$test"
        count "$arch $(basename "$test")" "$run" "$test"
    done
}

for arch in "$@"; do
    [ -n "${prefix[$arch]-}" ] || { echo "cross: unknown machine '$arch'; there are: arm64 s390x" >&2; exit 2; }
    one "$arch"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
