#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# refuses_fleets.sh VECTORS DIR - the files of imitated systems must fail when a field, a setting, a
# node or an answer is changed. One changed copy of a good file of DIR at a time.
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
    if cmp -s "$from/$2" "$dir/changed.tsv" || "$vectors" "$dir/changed.tsv" > "$dir/out" ||
        ! grep -q -- "$4" "$dir/out" || ! tail -n 1 "$dir/out" | grep -q 'passed, [1-9][0-9]* failed$'; then
        echo "not refused: $1"
        cat "$dir/out"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}

mc=libmemcached/ketama_weighted.w5.md5.removed-heavy.tsv
tw=twemproxy/ketama.set4.fnv1a_64.tsv
ng=nginx/consistent.w5.down-heavy.tsv
ha=haproxy/consistent.set4.crc32-avalanche.ids.tsv
rc=redis-cluster/cluster-create.n5.tsv
refused 'another mode' $tw '1s/mode=ketama/mode=modula/' 'expected'
refused 'unknown mode' $tw '1s/mode=ketama/mode=random/' "unknown mode 'random'"
refused 'no mode' $tw '1s/ mode=ketama//' "unknown mode ''"
refused 'unknown hash' $tw '1s/hash=fnv1a_64/hash=fnv1b_64/' 'fnv1a_64'
refused 'unknown field' $tw '1s/ nodes/ colour=red nodes/' "unknown header field 'colour'"
refused 'field of another system' $tw '1s/ nodes/ avalanche=1 nodes/' "unknown header field 'avalanche'"
refused 'unknown names' $tw '1s/names=name/names=nome/' "did you mean 'name'"
refused 'unknown protocol' $tw '1s/protocol=redis/protocol=http/' "unknown protocol 'http'"
refused 'key type' $tw '1s/ nodes/ key_type=int32 nodes/' "unknown key_type 'int32'"
refused 'columns' $tw '1s/ nodes/ columns=key,shard nodes/' 'columns'
refused 'no nodes' $tw '1s/ nodes=[^ ]*//' 'no nodes'
refused 'malformed weight' $tw '1s/\*1/*1x/' 'malformed node'
refused 'fraction' $tw '1s/\*1/*1.5/' 'whole number'
refused 'another weight' $tw '1s/\*1/*2/' 'expected'
refused 'wrong node' $tw '9s/\t.*/\tnobody/' 'line 9: .*expected nobody'
refused 'nobody down' $mc '1s/ down=/ down=x/' 'no node is called'
refused 'nobody gone' $mc '1s/ down=[^ ]*//' 'expected'
refused 'unknown removal' $mc '1s/removal=list/removal=rapture/' "unknown removal 'rapture'"
refused 'dead who' $mc '1s/ down=/ dead=x down=/' 'no node is called'
refused 'another key hash' $mc '1s/hash=md5/hash=crc/' 'expected'
refused 'all up' $ng '1s/ down=[^ ]* removal=down//' 'expected'
refused 'plain' $ng '1s/mode=consistent/mode=plain/' 'expected'
refused 'ids missing' $ha '1s/ ids=[^ ]*//' 'expected'
refused 'an id missing' $ha '1s/ids=101,/ids=/' 'too short a list'
refused 'an id too many' $ha '1s/ids=101,/ids=102,101,/' 'too long a list'
refused 'avalanche' $ha '1s/avalanche=1/avalanche=0/' 'expected'
refused 'avalanche word' $ha '1s/avalanche=1/avalanche=2/' 'avalanche: unknown value'
refused 'another base' $ha '1s/ ids/ id_base=full_hash ids/' 'expected'
refused 'unknown key' $ha '1s/key=hdr/key=cookie/' 'balance: unknown value'
refused 'slots of nodes' $rc '1s/ nodes/ column2=slot nodes/' 'keyslot goes with'
refused 'wrong slot' redis-cluster/keyslot.tsv '5s/$/1/' 'line 5: .*expected'
refused 'other vnodes' uhashring/default.w5.vnodes20.tsv '1s/vnodes=20/vnodes=21/' 'expected'
refused 'other digest points' npm-hashring/md5.set4.hash_ring-compat.tsv '1s/replicas=3/replicas=4/' 'expected'
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
