#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test.sh [--quick] [--werror] [--no-install] [--suite NAME]... - install, build, and run the short tiers.
#
#   --quick       the gcc build only: no clang, no sanitizers
#   --werror      warnings are errors in both builds (what .ci/run asks for)
#   --no-install  leave the machine's packages alone
#   --suite NAME  only this tier: checks unit property counts vectors golden fuzz models e2e live (may be repeated)
#
# Two builds: build/ (gcc, optimised) runs every tier; build-asan/ (clang, AddressSanitizer and UBSan,
# libFuzzer) runs unit, property, vectors, golden, fuzz and e2e again. Each build counts as one test, each meson
# test as one. The last line is "N passed, N failed, N skipped"; the exit status is 0 only if some test
# ran and none failed. JOBS bounds the work done at once (default: all cores).
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
passed=0 failed=0 skipped=0
quick=false install=true werror=false suites=()
export JOBS="${JOBS:-$(nproc)}"
# Sanitizers stop at the first finding; a leak is a finding.
export ASAN_OPTIONS="${ASAN_OPTIONS:-abort_on_error=1:detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-halt_on_error=1:abort_on_error=1:print_stacktrace=1}"
# Nothing may depend on the user's language or on a terminal.
export LC_ALL=C.UTF-8 NO_COLOR=1
unset GYRE_ADMIN

while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=true ;;
    --werror) werror=true ;;
    --no-install) install=false ;;
    --suite)
        [ $# -gt 1 ] || { echo "test.sh: --suite needs a name" >&2; exit 2; }
        suites+=("$2")
        shift
        ;;
    -h | --help)
        sed -n '3,/^set /{/^set /d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
        exit 0
        ;;
    *)
        echo "test.sh: unknown option $1 (see --help)" >&2
        exit 2
        ;;
    esac
    shift
done

# shellcheck disable=SC2317 # called by the trap
finish() {
    local status=$?
    printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [ "$status" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ] && exit 0
    exit 1
}
trap finish EXIT

started=$SECONDS
say() { printf -- '--- %s (%d s)\n' "$*" $((SECONDS - started)); }

# step NAME COMMAND...: one counted test that is not a meson test.
step() {
    local name=$1
    shift
    say "$name"
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $name" >&2
    fi
}

# tiers BUILD [meson test option...]: run them, then count from the log.
tiers() {
    local build=$1 p f s filter=() suite
    shift
    for suite in ${suites[@]+"${suites[@]}"}; do
        filter+=(--suite "$suite")
    done
    filter+=(--no-suite long "$@")
    say "tests of $build"
    rm -f "$build/meson-logs/testlog.json"
    meson test -C "$build" --no-rebuild --print-errorlogs --num-processes "$((JOBS + 2))" "${filter[@]}"
    read -r p f s < <(python3 tools/tally.py "$build" "${filter[@]}") || f=1
    passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1})) skipped=$((skipped + ${s:-0}))
}

if $install; then
    say "packages"
    tools/install.sh build run test || { failed=1; exit 1; }
fi

step "build/ with gcc" env CC=gcc tools/build.sh build "-Dwerror=$werror"
tiers build
if ! $quick; then
    step "build-asan/ with clang-16, ASan and UBSan" env CC=clang-16 tools/build.sh build-asan \
        -Dbuildtype=debugoptimized -Doptimization=1 -Ddebug=false -Dc_args=-gline-tables-only -Dc_link_args=-fuse-ld=lld -Db_sanitize=address,undefined -Db_lundef=false -Dlibfuzzer=true "-Dwerror=$werror"
    tiers build-asan --no-suite checks --no-suite models
fi
say "done"
exit 0
