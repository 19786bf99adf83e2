#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# quickstart.sh [OPTION...] - install what is missing, build Gyre, then show it at work on this machine.
# The show itself is tools/quickstart.py, which takes the options (try --help). They are looked at first: help
# and mistakes are answered before anything is installed or built.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

die() { echo "quickstart: $1" >&2; exit "${2:-1}"; }

# Debian's interpreter, for which its python3-* packages are installed.
find_python() {
    python=/usr/bin/python3
    [ -x "$python" ] || python=$(command -v python3)
}

# Where there is no python3 yet, at least the words are checked.
check_words() {
    local word
    for word in "$@"; do
        case $word in
            -h | --help)
                echo "usage: quickstart.sh [--once] [--users N] [--words N] [--big MB] [--load N]; see docs/quickstart.md"
                exit 0 ;;
            --once | --users | --words | --big | --load | --users=* | --words=* | --big=* | --load=* | [0-9]*) ;;
            *) die "unknown option $word (try --help)" 2 ;;
        esac
    done
}

check_options() {
    local word
    find_python || { check_words "$@"; return 0; }
    for word in "$@"; do
        case $word in
            -h | --help) exec "$python" "$here/tools/quickstart.py" --help ;;
        esac
    done
    "$python" "$here/tools/quickstart.py" --only-options "$@" || exit
}

# Shows the build's output as one line that is rewritten, on a terminal; elsewhere only what build.sh itself says.
show_build() {
    local line width=0
    if [ -t 2 ]; then
        width=$(($(tput cols 2>/dev/null || echo 80) - 4))
    fi
    while IFS= read -r line; do
        if [[ $line == build:* ]]; then
            echo "$line" >&2
        elif [ "$width" -gt 0 ] && [[ $line == \[*/*\]* ]]; then
            printf '\r  %s\033[K' "${line:0:width}" >&2
        fi
    done
    [ "$width" -eq 0 ] || printf '\r\033[K' >&2
}

check_options "$@"
tmp=${TMPDIR:-/tmp}
[[ -d $tmp && -w $tmp ]] || die "TMPDIR is $tmp, which is no directory that can be written; set it to one, or unset it"

"$here/tools/install.sh" build run
log=$(mktemp "$tmp/gyre-build.XXXXXX")
trap 'rm -f "$log"' EXIT
echo "quickstart: building Gyre in $here/build" >&2
if ! CC=${CC:-gcc} TARGETS="src/cli/gyre tests/tools/checker" "$here/tools/build.sh" build 2>&1 | tee "$log" | show_build; then
    tail -n 40 "$log" >&2
    die "the build failed; its last lines are above"
fi
rm -f "$log"
trap - EXIT
find_python || die "no python3"
exec "$python" "$here/tools/quickstart.py" "$@"
