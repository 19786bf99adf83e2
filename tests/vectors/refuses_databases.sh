#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# refuses_databases.sh VECTORS DIR - as refuses_fleets.sh, for databases and RPC systems: one changed copy
# of a good file of DIR at a time, beside the files that it names.
set -eu
vectors=$1
from=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0
for system in cassandra swift; do
    cp "$from/$system"/ring_* "$from/$system"/*.ring.gz "$dir" 2>/dev/null || true
done

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

ring=envoy/ring_xx_hash_w5.tsv
dump=envoy/ringdump_w5_50_50.tsv
table=envoy/maglevtable_w5_251.tsv
near=envoy/unit_ring_locality.tsv
java=grpc/java_w5_10_13.tsv
nts=cassandra/n20_nts_3_2.tsv
refused 'another ring hash' $ring '1s/XX_HASH/MURMUR_HASH_2/' 'expected'
refused 'unknown ring hash' $ring '1s/XX_HASH/MD5/' 'XX_HASH'
refused 'another request hash' $ring '1s/request_hash=xxHash64/request_hash=md5/' "unknown request_hash 'md5'"
refused 'other points' $ring '1s/min_points=69/min_points=70/' 'min_points'
refused 'another size' $ring '1s/ ring_size=1035/ ring_size=1000/' 'ring_size'
refused 'wrong retry' $ring '5s/[^\t]*$/nobody/' 'attempt2: expected nobody'
refused 'unknown column' $ring '1s/attempt2/attempt/' "unknown column 'attempt'"
refused 'unknown field' $ring '1s/ nodes/ colour=red nodes/' "unknown header field 'colour'"
refused 'a point less' $dump '9d' 'unknown column'
refused 'wrong point' $dump '4s/^./9/' 'point: expected 9'
refused 'wrong slot' $table '9s/\t.*/\tnobody/' 'node: expected nobody'
refused 'no prime' $table '1s/table_size=251/table_size=250/' 'no prime number'
refused 'other localities' $near '1s/localities=A,A,B,B/localities=A,B,B,B/' 'expected'
refused 'a locality less' $near '1s/localities=A,A,B,B/localities=A,A,B/' 'localities'
refused 'a stranger' $near '1s/localities=A,A,B,B/localities=A,A,B,C/' 'locality must be in it'
refused 'the other client' $java '1s/implementation=java/implementation=go/' 'unknown column'
refused 'unknown client' $java '1s/implementation=java/implementation=rust/' "unknown implementation 'rust'"
refused 'another order' $java '1s/ order=[^ ]*//' 'expected'
refused 'half an order' $java '1s/ order=\([^,]*\),[^ ]*/ order=\1/' 'order is not of all nodes'
refused 'wrong index' $java '3s/$/0/' 'ring_index: expected'
refused 'another partitioner' $nts '1s/Murmur3Partitioner/RandomPartitioner/' "another partitioner's"
refused 'another rf' $nts '1s/rf=dc1:3,dc2:2/rf=dc1:2,dc2:3/' 'expected'
refused 'unknown rf' $nts '1s/rf=dc1:3,dc2:2/rf=dc1/' "unknown rf"
refused 'a simple strategy' $nts '1s/NetworkTopologyStrategy/SimpleStrategy/' "unknown rf"
refused 'no ring' $nts '1s/ring=ring_n20.tsv/ring=ring_n21.tsv/' 'ring: cannot read'
refused 'wrong token' cassandra/unit_random.tsv '2s/8$/9/' 'token: expected'
refused 'two racks' cassandra/ring_w5.tsv '2s/r2$/r1/' 'stands elsewhere'
refused 'wrong bucket' jump/jump.tsv '5s/[0-9]*$/7777/' 'bucket@1000: expected 7777'
refused 'no number' jump/jump.tsv '3s/^[0-9]*/x/' 'malformed key x'
refused 'no int32' clickhouse/distributed_w5_Int32.tsv '3s/^[^\t]*/2147483648/' 'malformed key 2147483648'
refused 'form of jump' jump/jump_rounding.tsv '1s/bucket@exact/bucket@exacter/' "unknown column 'bucket@exacter'"
refused 'jump has no hash' jump/jump.tsv '1s/ mode/ hash=md5 mode/' "unknown hash 'md5'"
refused 'hash of Guava' guava/hashcode_b10.tsv '1s/bucket@10:sha256/bucket@10:sha512/' 'sha256'
refused 'seed of Guava' guava/hashcode_b10.tsv '1s/seed=0/seed=1/' "unknown seed '1'"
refused 'another number' kafka/murmur2.tsv '1s/partition@12/partition@13/' 'partition@13: expected'
refused 'number of none' kafka/murmur2.tsv '1s/partition@12/partition@0/' "unknown column 'partition@0'"
refused 'no multiple' elasticsearch/routing.tsv '1s/shard@5:640/shard@5:641/' 'no multiple'
refused 'routing' elasticsearch/routing.tsv '1s/routing_partition_size=1/routing_partition_size=2/' 'routing_partition_size'
refused 'another vindex' vitess/hash.tsv '1s/hash=hash/hash=xxhash/' "unknown key_type 'uint64'"
refused 'another digest' aerospike/partition.tsv '3s/demo|str/demo|blob/' 'expected'
refused 'unknown type' aerospike/partition.tsv '3s/demo|str/demo|set/' 'malformed key'
refused 'unknown kind' mongodb/hashed.tsv '3s/int:/integer:/' 'key_type'
refused 'other weights' clickhouse/distributed_w5_UInt64.tsv '1s/1,1,2,3,8/1,1,2,3,9/' 'expected'
refused 'malformed weights' clickhouse/distributed_w5_UInt64.tsv '1s/1,1,2,3,8/1,1,2,3,x/' 'malformed'
refused 'width' clickhouse/distributed_w5_Int32.tsv '1s/key_type=int32/key_type=int16/' "unknown key_type 'int16'"
refused 'unknown cast' clickhouse/sumburConsistentHash.tsv '1s/key_cast=uint32/key_cast=uint16/' 'key_cast'
refused 'another function' clickhouse/yandexConsistentHash.tsv '1s/mode=yandex/mode=sumbur/' 'expected'
refused 'other weights of Ch3' mcrouter/wch3.tsv '1s/0.125,0.125/0.25,0.125/' 'expected'
refused 'failover' mcrouter/rendezvous_eq4.tsv '4s/,[0-9]$/,9/' 'failover: expected'
refused 'unknown function' mcrouter/unit_ch3.tsv '2s/ch3/ch4/' 'unknown column'
refused 'another claim' riak/chash_eq4_64.tsv '1s/round-robin/random/' "unknown claim 'random'"
refused 'another bucket' riak/chash_eq4_64.tsv '1s/bucket_name=users/bucket_name=user/' 'expected'
refused 'no power of two' riak/chash_eq4_64.tsv '1s/ring_creation_size=64/ring_creation_size=63/' 'no power of two'
refused 'another secret' swift/w5_objects.tsv '1s/suffix=changeme/suffix=changed/' 'expected'
refused 'another power' swift/w5_objects.tsv '1s/part_power=9/part_power=8/' 'part_power'
refused 'fewer handoffs' swift/n20_objects.tsv '1s/handoffs=4/handoffs=3/' 'handoff: expected'
refused 'another ring' swift/w5_objects.tsv '1s/w5.ring/eq4.ring/' 'part_power'
refused 'other zones' swift/w5_partitions.tsv '1s/zones=1,1/zones=1,2/' 'the devices are others'
refused 'other replicas' swift/frac_partitions.tsv '1s/replica_count=2.5/replica_count=3/' 'replica_count'
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
