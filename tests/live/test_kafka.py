# SPDX-License-Identifier: Apache-2.0
"""Kafka's default partitioner, as two clients have it: librdkafka's murmur2 (murmur2_random without a null key), and Python's kafka."""
import ctypes

from kafka.partitioner import DefaultPartitioner

import live
from harness import LONG

FLEETS, KEYS = 12, 1000 if LONG else 250


def librdkafka():
    """(key, partitions) -> partition; the topic is looked at for keys that are null only."""
    call = ctypes.CDLL("librdkafka.so.1").rd_kafka_msg_partitioner_murmur2
    call.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p]
    call.restype = ctypes.c_int32
    return lambda key, partitions: call(None, key, len(key), partitions, None, None)


def test_kafka(farm):
    rnd, score, ask = live.draw("kafka"), live.Score(), librdkafka()
    for _ in range(live.TIMES * FLEETS):
        n, partitions = live.size(rnd, 2, 20), live.size(rnd, 2, 600)
        leader = [f"broker-{i}" for i in range(n)]
        owns = [rnd.randrange(n) for _ in range(partitions)]
        nodes = [(name, 1, "partitions=" + ",".join(str(p) for p in range(partitions) if owns[p] == i))
                 for i, name in enumerate(leader) if i in owns]
        keys = live.words(rnd, KEYS, "".join(map(chr, range(1, 256))))
        theirs = [ask(key.encode(), partitions) for key in keys]
        assert theirs == [DefaultPartitioner()(key.encode(), list(range(partitions)), None) for key in keys]
        fleet = live.Fleet(nodes, like="kafka", partitions=partitions)
        score.compare(farm.dir, fleet, keys, [leader[owns[p]] for p in theirs], fleet.but(partitions=partitions + 1))
    score.finish()
