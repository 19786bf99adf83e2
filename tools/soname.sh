#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# soname.sh LIBRARY COMPILER... - what a program linked with -lLIBRARY asks for at run time ("libcurl.so.4").
set -euo pipefail
library=$1
shift
file=$("$@" -print-file-name="lib$library.so")
name=$(LC_ALL=C readelf -d "$file" | sed -n 's/.*(SONAME).*\[\(.*\)\]$/\1/p')
[ -n "$name" ] || { echo "soname.sh: $file has no SONAME" >&2; exit 1; }
printf '%s' "$name"
