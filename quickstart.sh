#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# quickstart.sh [OPTION...] - install what is missing, build Gyre, then show it at work on this machine.
# The show itself is tools/quickstart.py, which takes the options (try --help).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$here/tools/install.sh" build run
log=$(mktemp "${TMPDIR:-/tmp}/gyre-build.XXXXXX")
trap 'rm -f "$log"' EXIT
echo "quickstart: building Gyre in $here/build" >&2
if ! CC=${CC:-gcc} TARGETS="src/cli/gyre tests/tools/checker" "$here/tools/build.sh" build >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "quickstart: the build failed; its last lines are above" >&2
    exit 1
fi
rm -f "$log"
trap - EXIT
# Debian's interpreter, for which its python3-* packages are installed.
python=/usr/bin/python3
[ -x "$python" ] || python=python3
exec "$python" "$here/tools/quickstart.py" "$@"
