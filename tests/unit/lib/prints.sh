#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prints.sh FILE COMMAND... - the command succeeds and prints just what the file holds.
set -eu
expected=$1
shift
got=$(mktemp)
trap 'rm -f "$got"' EXIT
"$@" >"$got"
diff -u "$expected" "$got"
