/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_foreign_rings.c - rings whose owners stand in the file (Cassandra, Swift, Thanos, dskit):
 * what is no such ring is refused where it stands and for that reason; tokens, states and printed
 * shares of odd listings. What comes out of good files is in tests/corpus.
 */
#include "foreign.h"

#include <stdlib.h>

#define RING   "Address Rack Status State Load Owns Token\n"
#define STATUS "--  Address  Load  Tokens  Owns (effective)  Host ID  Rack\n"
#define RANGE(from, to, of)                                                                     \
    "TokenRange(start_token:" from ", end_token:" to ", endpoints:[" of "], rpc_endpoints:[" of \
    "], endpoint_details:[EndpointDetails(host:" of ", datacenter:d, rack:r)])\n"

#define SUMMARY(partitions, devices) \
    partitions " partitions, 3 replicas, 1 zones, " devices " devices, 0.00 balance\n"
#define BUILDER                                                                                   \
    "Devices: id region zone ip address:port replication ip:port name weight partitions balance " \
    "flags meta\n"
#define ROW(id) id " 1 1 h:1 h:1 d 1.00 8 0.00\n"

#define TOKENS "cassandra_tokens: 1\n"

static const struct refusal REFUSALS[] = {
    /* nodetool ring */
    {NULL, RING, 1, 1, "there is no node in it"},
    {NULL, RING "10.0.0.1 r1 Up Normal 1 GB 33% x1\n10.0.0.2 r1 Up Normal 1 GB 33% 5\n", 2, 32,
     "'x1' is no token: tokens are whole numbers"},
    {NULL, RING "10.0.0.1 r1 Up Normal 1 GB 33% 5\n10.0.0.2 r1 Up Normal 1 GB 33% 5\n", 3, 32,
     "token 5 belongs to '10.0.0.1' (line 2) and to '10.0.0.2'"},
    {NULL, RING "10.0.0.1 r1 Up Normal ? ? -5\n10.0.0.2 r1 Up Normal ? ? 9223372036854775808\n", 3,
     27, "too great for Murmur3Partitioner, and the one on line 2 is below 0"},
    {NULL, RING "10.0.0.1 r1 Up Normal ? ? -9223372036854775809\n", 2, 27, "is no token"},
    {NULL, RING "10.0.0.1 r1 Up Normal ? ? 170141183460469231731687303715884105729\n", 2, 27,
     "0 to 2^127 with RandomPartitioner"},
    {NULL, RING "10.0.0.1 r1 Up Normal 5\n", 2, 23, "a row ends with load, owns and token"},
    {NULL, RING "10.0.0.1 r1 Up Sleeping 1 GB 33% 5\n", 2, 1, "a row without its status"},
    {NULL, RING "10.0.0.1 r1 Up Normal ? ? 5\n10.0.0.1 r2 Up Normal ? ? 6\n", 3, 1,
     "stands in another datacenter or rack than on line 2"},
    {NULL, RING "10.0.0.1 r1 Up Normal ? ? Token(bytes[61])\n10.0.0.2 r1 Up Normal ? ? apple\n", 2,
     0, "its tokens are text"},
    {NULL, RING "10.0.0.1 r1 Up Normal ? ? 3a\n10.0.0.2 r1 Up Normal ? ? 40\n", 2, 0,
     "no hash places them"},
    /* nodetool status */
    {NULL, STATUS, 1, 1, "there is no node in it"},
    {NULL, STATUS "UN 10.0.0.1 5 KB many 3% id r1\n", 2, 18, "'many' stands where the number"},
    {NULL, STATUS "UN 10.0.0.1 5 KB\n", 2, 1, "fewer columns than the header"},
    {NULL, STATUS "UN\n", 2, 1, "a row without an address"},
    {NULL, STATUS "XN 10.0.0.1 5 KB 8 3% id r1\n", 2, 1, "unknown state 'XN'"},
    {NULL, STATUS "UN 10.0.0.1 ? 8 3% id r1\nDN 10.0.0.1 ? 8 3% id r1\n", 3, 4,
     "node '10.0.0.1' stands twice; first on line 2"},
    {NULL, STATUS "UN 10.0.0.1 ? 8 3% id r1\n", 2, 0, "nodetool ring prints them"},
    {NULL, "--  Address  Load  Owns  Host ID  Token  Rack\nUN a 1 KB ? i 1.5 r\n", 2, 15,
     "'1.5' is no token"},
    /* nodetool describering */
    {NULL, RANGE("1", "5", "a") RANGE("5", "9", "b"), 2, 24, "no range begins at '9'"},
    {NULL, RANGE("1", "5", "a") RANGE("5", "1", "b") RANGE("5", "1", "b"), 3, 24,
     "two ranges begin at '5'; the first on line 2"},
    {NULL, RANGE("1", "1", ""), 1, 1, "has no endpoints"},
    {NULL, "TokenRange(start_token:1, end_token:5\n", 1, 1, "has no end_token: cut off?"},
    {NULL, "TokenRange(start_token:1, end_token:5, endpoints:[a\n", 1, 1, "has no endpoints"},
    {NULL, RANGE("1", "1", ",a"), 1, 51, "endpoints are 1 to 64 addresses"},
    {NULL, RANGE("x", "x", "a"), 1, 37, "'x' is no token"},
    /* initial_token */
    {NULL, TOKENS "x: 1\nnodes: []\n", 2, 1, "unknown key 'x'"},
    {NULL, TOKENS "nodes: 1\n", 2, 8, "'nodes' must be a list"},
    {NULL, TOKENS "nodes: []\n", 2, 8, "there is no node in it"},
    {NULL, TOKENS "nodes: [{dc: a}]\n", 2, 9, "a node without its name"},
    {NULL, TOKENS "nodes: [a]\n", 2, 9, "a node must be a mapping"},
    {NULL, TOKENS "nodes: [{node: a, dcs: b}]\n", 2, 19, "did you mean 'dc'?"},
    {NULL, TOKENS "nodes: [{node: a, num_tokens: 2, initial_token: 5}]\n", 2, 31,
     "num_tokens is '2', but here are 1 tokens"},
    {NULL, TOKENS "nodes: [{node: a, weight: x}]\n", 2, 27, "the weight 'x' is no number"},
    {NULL, TOKENS "nodes: [{node: a}, {node: a}]\n", 2, 20, "stands twice"},
    {NULL, TOKENS "partitioner: Mumur3Partitioner\nnodes: [{node: a}]\n", 2, 14,
     "did you mean 'Murmur3Partitioner'?"},
    {NULL, "cassandra_tokens: 2\nnodes: [{node: a}]\n", 1, 19, "must be 1"},
    /* swift-ring-builder */
    {NULL, SUMMARY("1000", "1") BUILDER ROW("0"), 1, 1, "a power of two, up to 2^32"},
    {NULL, SUMMARY("x", "1") BUILDER ROW("0"), 1, 1, "'x' is no number of partitions"},
    {NULL, SUMMARY("8", "2") BUILDER ROW("0"), 1, 36, "says 2 devices and lists 1: cut off?"},
    {NULL, BUILDER ROW("0") ROW("0"), 3, 1, "device 0 stands twice; first on line 2"},
    {NULL, BUILDER "0 1 1 h:1 h:1 d 1.0 many 0.0\n", 2, 21, "has 'many' where its partitions"},
    {NULL, BUILDER "0 1 1 h h:1 d 1.0 1 0.0\n", 2, 7, "has 'h' where its ip:port belongs"},
    {NULL, BUILDER "0 1 1 h:1 h:99999 d 1.0 1 0.0\n", 2, 13, "has '99999' where its port"},
    {NULL, BUILDER "0 1 1 h:1 h:1 d -1 1 0.0\n", 2, 17, "has '-1' where its weight belongs"},
    {NULL, BUILDER "0 1 1 h:1 h:1 d 1.0 1\n", 2, 22, "ends before its balance"},
    {NULL, BUILDER, 1, 1, "there is no device in it"},
    {NULL, BUILDER ROW("0"), 2, 0, "the .ring.gz file says it"},
    /* Thanos */
    {NULL, "[{\"endpoints\": []}]", 1, 16, "a hashring has no endpoints"},
    {NULL, "[{\"endpoints\": {}}]", 1, 16, "endpoints must be a list"},
    {NULL, "[{\"endpoints\": [1]}]", 1, 17, "an endpoint must be an address"},
    {NULL, "[{\"endpoints\": [\"\"]}]", 1, 17, "endpoint address must be set"},
    {NULL, "[{\"endpoints\": [{\"az\": \"x\"}]}]", 1, 17, "endpoint address must be set"},
    {NULL, "[{\"endpoints\": [{\"address\": \"a\", \"az\": \"x\"}]}]", 1, 16,
     "hashmod does not support zones"},
    {NULL, "[{\"endpoints\": [\"a\"], \"algorithm\": 1}]", 1, 36, "algorithm must be a text"},
    {NULL, "[{\"endpoints\": [\"a\"], \"tenants\": \"a\"}]", 1, 34, "tenants must be a list"},
    {NULL, "[{\"endpoints\": [\"a\"], \"tenants\": [1]}]", 1, 35, "a tenant must be a text"},
    {NULL, "[{\"endpoints\": [\"a\"], \"tenant_matcher_type\": \"globe\"}]", 1, 46,
     "unknown tenant_matcher_type 'globe'; did you mean 'glob'?"},
    {NULL, "[{\"endpoints\": [\"a\"], \"shuffle_sharding_config\": {\"shard_size\": 1}}]", 1, 50,
     "hashmod does not support shuffle sharding"},
    {NULL,
     "[{\"endpoints\": [\"a\"], \"algorithm\": \"ketama\", \"shuffle_sharding_config\": "
     "{\"shard_size\": 2}}]",
     1, 88, "shard_size 2 is larger than the number of endpoints, 1"},
    {NULL, "[1, {\"endpoints\": [\"a\"]}]", 1, 2, "a hashring must be an object"},
    {"thanos", "[]", 1, 1, "must be a list of hashrings, and not empty"},
    /* dskit */
    {"cortex", "{}", 1, 1, "no ring: it is an object with a list `shards`"},
    {NULL, "{\"shards\": [], \"tokens\": 1}", 1, 12, "the ring has no instance"},
    {NULL, "{\"shards\": [{\"tokens\": [1]}]}", 1, 13, "an instance has no id"},
    {NULL, "{\"shards\": [{\"id\": \"a\", \"tokens\": [4294967296]}]}", 1, 36,
     "a token is a number of 0 to 4294967295"},
    {NULL, "{\"shards\": [{\"id\": \"a\", \"tokens\": 1}]}", 1, 35, "tokens must be a list"},
    {NULL, "{\"shards\": [{\"id\": \"a\", \"state\": \"ACTIV\", \"tokens\": [1]}]}", 1, 34,
     "unknown state 'ACTIV'; did you mean 'ACTIVE'?"},
    {NULL, "{\"shards\": [{\"id\": \"a\", \"zone\": 1, \"tokens\": [1]}]}", 1, 33,
     "zone must be a text"},
    {NULL, "{\"ingesters\": {\"a\": 1, \"b\": {\"tokens\": []}}}", 1, 21,
     "an instance must be an object"},
    {NULL, "{\"shards\": [{\"id\": \"a\", \"tokens\": null}]}", 1, 0, "no instance has tokens"},
    {NULL, "{\"shards\": [{\"id\": \"a\", \"tokens\": [1]}, {\"id\": \"a\", \"tokens\": [2]}]}", 1,
     41, "server 'a' stands twice"},
    {"swift-ring", "R2NG", 0, 0, "does not begin with R1NG"},
};

static void refusals(void **state)
{
    (void)state;
    refuse_all(REFUSALS, sizeof REFUSALS / sizeof REFUSALS[0]);
}

static struct gy_pools *read_text(const char *text)
{
    struct gy_source from = {.file = "f"};
    struct gy_pools *f;
    gyre_error_t e = {0};
    if (gy_pools_parse(gy_str(text), &from, &f, &e)) {
        fail_msg("%s\n%s", text, e.message);
    }
    return f;
}

static bool has_note(const struct gy_pool *p, const char *code)
{
    for (size_t i = 0; i < p->note_count; i++) {
        if (strcmp(p->notes[i].code, code) == 0) {
            return true;
        }
    }
    return false;
}

/* The oldest table, without place; a load of one word; an IPv6 node; CR LF. */
static void old_ring(void **state)
{
    (void)state;
    struct gy_pools *f = read_text("$ nodetool ring\r\n"
                                   "Address Status State Load Owns Token\r\n"
                                   "        85070591730234615865843651857942052864\r\n"
                                   "::1 ? Normal ? 50.00% 0\r\n"
                                   "10.0.0.2:7000 Down Leaving 12.5MB 50,00% "
                                   "85070591730234615865843651857942052864\r\n");
    const struct gy_pool *p = f->list[0];
    assert_string_equal(gyre_topology_get(p->config->topology, "partitioner"), "RandomPartitioner");
    assert_int_equal(p->server_count, 2);
    assert_int_equal(p->servers[0].states, GY_STATE_SUSPECT);
    assert_null(p->servers[0].address);
    assert_string_equal(p->servers[0].zone, "datacenter1");
    assert_int_equal(p->servers[1].states, GY_STATE_DOWN | GY_STATE_LEAVING);
    assert_string_equal(p->servers[1].address, "10.0.0.2:7000");
    assert_string_equal(p->servers[1].reported, "50,00%");
    assert_false(has_note(p, "owns-contradict-tokens"));
    gy_pools_free(f);
}

/* One copy is printed, and tokens that do not give it. */
static void contradiction(void **state)
{
    (void)state;
    struct gy_pools *f = read_text(RING "a.x r1 Up Normal 1 KB 50.00% -9223372036854775808\n"
                                        "b.x r1 Up Normal 1 KB 50.00% 1\n");
    assert_false(has_note(f->list[0], "owns-contradict-tokens"));
    gy_pools_free(f);
    f = read_text(RING "a.x r1 Up Normal 1 KB 50.00% -9223372036854775808\n"
                       "b.x r1 Up Normal 1 KB 50.00% 4611686018427387904\n");
    assert_true(has_note(f->list[0], "owns-contradict-tokens"));
    gy_pools_free(f);
    f = read_text(RING "a.x r1 Up Normal 1 KB 50.00% -9223372036854775808\n"
                       "b.x r1 Up Normal 1 KB 30.00% 4611686018427387904\n");
    assert_true(has_note(f->list[0], "owns-incomplete"));
    gy_pools_free(f);
}

/* ---- .ring.gz ---- */

static const char DEVS[] = "[{\"id\": 0, \"zone\": 1, \"ip\": \"h\", \"port\": 1, "
                           "\"device\": \"d\", \"weight\": 1}]";

/* "R1NG", version, and the JSON with its length plus `more`; returns the size. */
static size_t ring_v1(uint8_t *out, const char *json, uint32_t more, const void *table, size_t n)
{
    uint32_t len = (uint32_t)strlen(json) + more;
    const uint8_t head[] = {'R',
                            '1',
                            'N',
                            'G',
                            0,
                            1,
                            (uint8_t)(len >> 24),
                            (uint8_t)(len >> 16),
                            (uint8_t)(len >> 8),
                            (uint8_t)len};
    memcpy(out, head, sizeof head);
    memcpy(out + sizeof head, json, strlen(json));
    memcpy(out + sizeof head + strlen(json), table, n);
    return sizeof head + strlen(json) + n;
}

static void refuse_ring(const char *json, uint32_t more, const void *table, size_t n,
                        const char *says)
{
    uint8_t out[1024];
    struct gy_pools *f = NULL;
    gyre_error_t e = {0};
    struct gy_slice bytes = {out, ring_v1(out, json, more, table, n)};
    int rc = refuse_one(bytes, NULL, &f, &e);
    gy_pools_free(f);
    if (!strstr(e.message, says) || (!rc && *says)) {
        fail_msg("%s\ngives %d %s\nnot %s", json, rc, e.message, says);
    }
}

/* What a length says is looked at before it is believed. */
static void ring_files(void **state)
{
    (void)state;
    char json[600];
    snprintf(json, sizeof json, "{\"devs\": %s, \"part_shift\": 31, \"replica_count\": 1}", DEVS);
    refuse_ring(json, 0, "\0\0\0\0", 4, "");
    refuse_ring(json, 0, "\0\0\377\377", 4, "");
    refuse_ring(json, 0, "\0\0\0", 3, "the table has 3 bytes");
    refuse_ring(json, 0, "", 0, "the table has 0 bytes");
    refuse_ring(json, 0, "\0\0\0\0\0\0", 6, "the table has 6 bytes");
    refuse_ring(json, 0, "\0\0\1\0", 4, "partition 1 of replica 0 is on device 1");
    refuse_ring(json, 0x7fffff00u, "\0\0\0\0", 4, "the ring's JSON has");
    refuse_ring("{\"part_shift\": 33}", 0, "", 0, "part_shift must be 0 to 32");
    refuse_ring("{\"part_shift\": 31}", 0, "", 0, "replica_count must be 1 to 1024");
    refuse_ring("{\"part_shift\": 31, \"replica_count\": 1}", 0, "", 0, "devs is no list");
    refuse_ring("{\"part_shift\": 0, \"replica_count\": 1, \"devs\": []}", 0, "", 0,
                "the table has 0 bytes");
    refuse_ring("{\"part_shift\": 31, \"replica_count\": 1, \"byteorder\": \"pdp\"}", 0, "", 0,
                "byteorder is little or big");
    refuse_ring("{\"part_shift\": 31, \"replica_count\": 1, \"devs\": [{\"id\": 1}]}", 0, "", 0,
                "a device's id must be its place");
    refuse_ring("[", 0, "", 0, "not JSON");
    refuse_ring("[]", 0, "", 0, "part_shift must be");
}

/* One ring of version 2 whose every byte is changed in turn, and which is cut off everywhere. */
static void ring_v2(void **state)
{
    (void)state;
    static const char meta[] = "{\"dev_id_bytes\":2,\"part_shift\":31}";
    uint8_t out[1200] = "R1NG\0\2", saved;
    char index[600];
    size_t n = 6, at[3], len[3] = {sizeof meta - 1, sizeof DEVS - 1, 4};
    const void *data[3] = {meta, DEVS, "\0\0\0\0"};
    for (size_t i = 0; i < 3; i++) {
        at[i] = n;
        out[n + 7] = (uint8_t)len[i];
        memcpy(out + n + 8, data[i], len[i]);
        n += 8 + len[i];
    }
    snprintf(index, sizeof index,
             "{\"swift/ring/metadata\":[0,%zu,0,0,\"crc\",\"\"],\"swift/ring/devices\":[0,%zu,0,0,"
             "\"crc\",\"\"],\"swift/ring/assignments\":[0,%zu,0,0,\"crc\",\"\"]}",
             at[0], at[1], at[2]);
    size_t start = n;
    out[n + 7] = (uint8_t)strlen(index);
    memcpy(out + n + 8, index, strlen(index));
    n += 8 + strlen(index);
    out[n + 6] = (uint8_t)(start >> 8);
    out[n + 7] = (uint8_t)start;
    n += 16;
    struct gy_source from = {.file = "f", .format = "swift-ring"};
    struct gy_pools *f;
    gyre_error_t e = {0};
    if (gy_pools_parse((struct gy_slice){out, n}, &from, &f, &e)) {
        fail_msg("%s", e.message);
    }
    assert_int_equal(f->list[0]->servers[0].slots, 2);
    gy_pools_free(f);
    for (size_t i = 0; i < n; i++) {
        uint8_t *cut = malloc(i + 1);
        assert_non_null(cut);
        memcpy(cut, out, i);
        if (!gy_pools_parse((struct gy_slice){cut, i}, &from, &f, NULL)) {
            gy_pools_free(f);
        }
        free(cut);
        saved = out[i];
        out[i] ^= 0x81;
        if (!gy_pools_parse((struct gy_slice){out, n}, &from, &f, NULL)) {
            gy_pools_free(f);
        }
        out[i] = saved;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals),   cmocka_unit_test(old_ring), cmocka_unit_test(contradiction),
        cmocka_unit_test(ring_files), cmocka_unit_test(ring_v2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
