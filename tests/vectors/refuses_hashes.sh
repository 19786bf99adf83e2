#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# refuses_hashes.sh VECTORS DIR - as refuses.sh, for files of plain hash values: DIR/SYSTEM/FILE changed in
# one place must fail, and say why.
set -eu
vectors=$1
from=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0

# refused NAME FILE SED-SCRIPT WORD: the changed file fails, and the output has WORD.
refused() {
    sed "$3" "$from/$2" > "$dir/changed.tsv"
    if "$vectors" "$dir/changed.tsv" > "$dir/out" || ! grep -q -- "$4" "$dir/out" ||
        ! tail -n 1 "$dir/out" | grep -q 'passed, [1-9][0-9]* failed$'; then
        echo "not refused: $1"
        cat "$dir/out"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}

one=libmemcached/hash.md5.tsv
many=clickhouse/int_hashes2.tsv
hex=guava/hashcodes.tsv
seeds=mcrouter/hashes.tsv
refused 'wrong value' $one '5s/$/1/' 'line 5: .*expected'
refused 'unknown hash' $one '1s/hash=md5/hash=md4/' 'no such hash function'
refused 'no hash' $one '1s/ hash=md5//' 'no such hash function'
refused 'another hash' $one '1s/hash=md5/hash=crc/' 'expected'
refused 'unknown mode' $one '1s/mode=hash/mode=hush/' "unknown mode 'hush'"
refused 'unknown field' $one '1s/ column2/ colour=red column2/' "unknown header field 'colour'"
refused 'unknown second column' $one '1s/column2=uint32/column2=int8/' "column 'node'"
refused 'malformed escape' $one '2s/^[^\t]*/%zz/' 'malformed key'
refused 'unknown function' $many '1s/hash@sipHash64:uint32/hash@sipHash63:uint32/' 'sipHash63'
refused 'unknown type' $many '1s/cityHash64:int64/cityHash64:int65/' 'int65'
refused 'another type' $many '1s/sipHash64:uint32/sipHash64:uint64/' 'expected'
refused 'unfoldable function' $many '1s/sipHash64:uint64:string/halfMD5:uint64:string/' 'halfMD5'
refused 'a type of bytes' clickhouse/hash_sip128.tsv '1s/sipHash128/sipHash128:uint32/' 'sipHash128:uint32'
refused 'unknown key type' $many '1s/key_type=uint64/key_type=float/' 'malformed key'
refused 'number that is none' $many '2s/^0/0x/' 'malformed key'
refused 'another key' $hex '1s/siphash_key=00/siphash_key=01/' 'sipHash24: expected'
refused 'short key' $hex '1s/siphash_key=00/siphash_key=/' 'sipHash24'
refused 'another seed' $hex '1s/ seed=0/ seed=1/' 'murmur3_128: expected'
refused 'malformed seed' $hex '1s/ seed=0/ seed=x/' 'murmur3_128'
refused 'another seed of one' $seeds '1s/SpookyHashV2_32:4/SpookyHashV2_32:3/' 'SpookyHashV2_32: expected'
refused 'capital hex' $hex '3s/e5f0/E5f0/' 'line 3: .*expected'
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
