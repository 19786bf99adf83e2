#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# refuses.sh VECTORS SEEDS - the driver must fail on what it does not understand and on each wrong
# answer; a driver that cannot fail proves nothing. One changed copy of a good file at a time.
set -eu
vectors=$1
seeds=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0

# refused NAME FILE SED-SCRIPT WORD: the changed file fails, and the output has WORD.
refused() {
    rm -rf "$dir/v"
    mkdir "$dir/v"
    sed "$3" "$seeds/$2" > "$dir/v/$2"
    if "$vectors" "$dir/v" > "$dir/out" || ! grep -q -- "$4" "$dir/out" ||
        ! tail -n 1 "$dir/out" | grep -q 'passed, [1-9][0-9]* failed$'; then
        echo "not refused: $1"
        cat "$dir/out"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}

keys=md5_128_eq4_v10.tsv
runs=experiment_4_to_5.tsv
refused 'unknown field' $keys '1s/ vnodes/ colour=red vnodes/' "unknown header field 'colour'"
refused 'field twice' $keys '1s/ vnodes/ lookup=ge vnodes/' "given twice 'lookup'"
refused 'unknown key type' $keys '1s/key_type=bytes/key_type=int32/' "unknown key_type 'int32'"
refused 'unknown column' $keys '1s/columns=key,node/columns=key,rack/' "unknown column 'rack'"
refused 'unknown system' $keys '1s/system=seeds/system=weeds/' "unknown system 'weeds'"
refused 'no system' $keys '1s/system=seeds //' "unknown system ''"
refused 'unknown mode' $keys '1s/mode=md5_128/mode=md5_127/' "unknown mode 'md5_127'"
refused 'unknown hash' $keys '1s/hash=md5 /hash=md4 /' "unknown hash 'md4'"
refused 'hash too wide' $keys '1s/hash_bits=128/hash_bits=129/' 'hash_bits'
refused 'unknown lookup' $keys '1s/lookup=gt/lookup=lt/' "unknown lookup 'lt'"
refused 'unknown collision' $keys '1s/collision=newest/collision=oldest/' 'collision'
refused 'malformed escape' $keys '2s/^[^\t]*/%zz/' 'malformed key'
refused 'other lookup' $keys '1s/lookup=gt/lookup=ge/' 'expected'
refused 'other separator' $keys '1s/point_separator=%23/point_separator=-/' 'expected'
refused 'other bits' $keys '1s/hash_bits=128/hash_bits=8/' 'expected'
refused 'wrong node' $keys '7s/\t.*/\tcache-9/' 'line 7: .*expected cache-9'
refused 'column missing' $keys '7s/\t.*//' 'columns'
refused 'no rows' $keys '1q' 'no vectors'
refused 'CR LF' $keys 's/$/\r/' 'lines end in CR LF'
refused 'no header' $keys '1d' 'no header'
refused 'wrong count' $runs 's/^ring_moved\t4260$/ring_moved\t4261/' 'expected 4261, got 4260'
refused 'wrong sum' $runs 's/^\(sha256_after\t\)6/\17/' 'sha256_after'
refused 'unknown quantity' $runs 's/^keys\t/locks\t/' 'unknown quantity locks'
refused 'other prefix' $runs '1s/key_prefix=user:/key_prefix=item:/' 'expected'
refused 'no key count' $runs '1s/ key_count=20000//' 'key_count'

mkdir "$dir/empty"
if "$vectors" "$dir/empty" > "$dir/out"; then
    echo 'not refused: an empty directory'
    failed=$((failed + 1))
else
    passed=$((passed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
