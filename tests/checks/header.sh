#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# header.sh [ROOT] - the public header stands alone, twice in a file, as C99 and as C++ (98 and 11), without a warning.
set -eu
cd "${1:-.}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
printf '#include "gyre.h"\n#include "gyre.h"\n' >"$scratch/t.c"
cp "$scratch/t.c" "$scratch/t.cc"
gcc -std=c99 -pedantic -Wall -Wextra -Wstrict-prototypes -Wundef -Werror -Iinclude -fsyntax-only "$scratch/t.c"
for std in 98 11; do
    g++ -std=c++$std -pedantic -Wall -Wextra -Wundef -Werror -Iinclude -fsyntax-only "$scratch/t.cc"
done
clang-16 -std=c99 -Weverything -Wno-padded -Wno-unsafe-buffer-usage -Wno-documentation-unknown-command \
    -Wno-reserved-macro-identifier -Werror -Iinclude -fsyntax-only "$scratch/t.c"
echo "header: include/gyre.h as C99, C++98 and C++11"
