/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_foreign.c - other systems' files: what the real system refuses is refused where it stands
 * and for that reason; recognition, pools and gzip. What comes out of good files is in
 * tests/corpus.
 */
#include "foreign.h"

#include "formats/slot_plan.h"
#include "formats/zone_list.h"

#include <zlib.h>

#define A "0123456789abcdef0123456789abcdef01234567"
#define B "1123456789abcdef0123456789abcdef01234567"

#define P "redis-plan 1\nmaster a slots=0-16383\n"

static const struct refusal REFUSALS[] = {
    /* a plan for a Redis Cluster */
    {"redis-plan", "", 1, 1, "there is no plan in it"},
    {"redis-plan", "# x\nmaster a\n", 2, 1, "begins with the line 'redis-plan 1'"},
    {NULL, "redis-plan 2\n", 1, 1, "begins with the line 'redis-plan 1'"},
    {NULL, P "mater b\n", 3, 1, "unknown word 'mater'; did you mean 'master'?"},
    {NULL, P "master\n", 3, 1, "such a line is: master NAME"},
    {NULL, P "replica\n", 3, 1, "such a line is: replica NAME of=MASTER"},
    {NULL, P "master a\n", 3, 8, "'a' stands twice; first on line 2"},
    {NULL, P "master b slots=16384\n", 3, 16, "'16384' is no slot, 0 to 16383"},
    {NULL, P "master b slots=5\n", 3, 16, "slot 5 belongs to 'a' (line 2) and to 'b'"},
    {NULL, P "master b weight=x\n", 3, 17, "the weight 'x' is no number"},
    {NULL, P "master b adress=h:1\n", 3, 10, "did you mean 'address'?"},
    {NULL, P "master b address=h\n", 3, 18, "the address 'h' has no port"},
    {NULL, P "master b of=a\n", 3, 10, "unknown word 'of'"},
    {NULL, P "master b%2\n", 3, 8, "behind a '%' stand two digits"},
    {NULL, P "replica b of=c\n", 3, 14, "no line 'replica' or 'master' above for the primary 'c'"},
    {NULL, P "move 5 a\n", 3, 1, "such a line is: move SLOT[-SLOT] FROM TO"},
    {NULL, P "move 5 a b\n", 3, 10, "above for the primary 'b'"},
    {NULL, P "master b\nmove 5 b a\n", 4, 6, "slot 5 does not belong to 'b' then"},
    {NULL, P "master b\nmove 7-5 a b\n", 4, 6, "'7-5' is no slot"},
    {NULL, P "master b\nmove 5 a b bytes=x\n", 4, 1, "such a line is: move"},
    {NULL, P "master b\nmove 5 a b\nmove 5 a b\n", 5, 6, "slot 5 does not belong to 'a' then"},
    {NULL, P "master b\nmove 5 a b\nmove 5 b a\n", 5, 6, "slot 5 moves twice"},
    {NULL, P "master b\nreplica c of=a\nreplicate c b\nreplicate c a\n", 6, 11, "told twice"},
    {NULL, P "replicate a a\n", 3, 11, "above for the replica 'a'"},
    {NULL, P "replicate a\n", 3, 1, "such a line is: replicate REPLICA MASTER"},
    {NULL, P "master b weight=0\nmove 5 a b\n", 3, 1, "'b' has weight 0, but 1 slots stay with it"},
    {NULL, P "master b leaves\nmove 5 a b\n", 3, 1, "'b' leaves, but 1 slots stay with it"},
    {NULL, "redis-plan 1\nmaster a slots=1-16383\n", 2, 1, "slot 0 belongs to no master"},
    {NULL, P "master b\nmove 5 a b\n", 4, 1, "the line 'end' is missing: the plan was cut short"},
    {NULL, P "end of it\n", 3, 1, "such a line is: end"},
    {NULL, P "end\n# fine\nmaster b\n", 5, 1, "nothing may stand behind the line 'end'"},
    /* twemproxy */
    {NULL, "p:\n  listen: h:1\n  hash: md5x\n  servers:\n  - h:1:1\n", 3, 9,
     "unknown hash 'md5x'; did you mean 'md5'?"},
    {NULL, "p:\n  listen: h:1\n  distribution: ring\n  servers:\n  - h:1:1\n", 3, 17,
     "unknown distribution 'ring'"},
    {NULL, "p:\n  listen: h:1\n  hash_tag: \"{\"\n  servers:\n  - h:1:1\n", 3, 13,
     "must be two characters"},
    {NULL, "p:\n  listen: h:1\n  server_retry_timeout: -1\n  servers:\n  - h:1:1\n", 3, 25,
     "must be a number"},
    {NULL, "p:\n  listen: h:1\n  auto_eject_hosts: yes\n  servers:\n  - h:1:1\n", 3, 21,
     "must be true or false"},
    {NULL, "p:\n  listen: h:1\n  server_connection: 1\n  servers:\n  - h:1:1\n", 3, 3,
     "did you mean 'server_connections'?"},
    {NULL, "p:\n  listen: h:1\n  listen: h:2\n  servers:\n  - h:1:1\n", 3, 3,
     "stands twice; first on line 2"},
    {NULL, "p:\n  listen: h\n  redis: true\n  servers:\n  - h:1:1\n", 2, 11, "must be host:port"},
    {NULL, "p:\n  listen: h:70000\n  redis: true\n  servers:\n  - h:1:1\n", 2, 11,
     "a port of 1 to 65535"},
    {NULL, "p:\n  redis: true\n  servers:\n  - h:1:1\n", 1, 1, "has no 'listen'"},
    {"twemproxy", "p:\n  listen: h:1\n  redis: true\n", 1, 1, "has no 'servers'"},
    {"twemproxy", "p:\n  listen: h:1\n  servers:\n", 3, 3, "has no servers"},
    {NULL, "p:\n  listen: h:1\n  servers: h:1:1\n", 3, 12, "must be a list, not a single value"},
    {NULL, "p:\n  listen: h:1\n  servers:\n  -\n    a: b\n", 5, 5, "must be one line"},
    {NULL, "p:\n  listen: h:1\n  servers:\n  - /s:1:1\n", 4, 5, "nor /path:weight [name]"},
    {NULL, "p:\n  listen: h:1\n  servers:\n  - h:1\n", 4, 5, "is not host:port:weight [name]"},
    {NULL, "p:\n  listen: h:1\n  servers:\n  - h:1:0\n", 4, 5, "nutcracker refuses it"},
    {NULL, "p:\n  listen: h:1\n  servers:\n  - h:1:x\n", 4, 5,
     "the weight 'x', which is no number"},
    {NULL, "p:\n  listen: h:1\n  servers:\n  - h:0:1\n", 4, 5, "ports are 1 to 65535"},
    {NULL, "p:\n  listen: h:1\n  servers:\n  - h:1:1 a\n  - h:2:1 a\n", 5, 5,
     "server 'a' stands twice; first on line 4"},
    {NULL, "p:\n  listen: h:1\n  servers:\n  - h:1:1\n  - h:1:2\n", 5, 5,
     "server 'h:1' stands twice; first on line 4"},
    {NULL, "p:\n  listen: h:1\n  redis_auth: x\n  servers:\n  - h:1:1\n", 3, 3, "redis: true"},
    {NULL, "p:\n  listen: h:1\n  server_connections: 0\n  servers:\n  - h:1:1\n", 3, 23,
     "cannot be 0"},
    {NULL, "p:\n  listen: h:1\n  servers:\n  - h:1:1\nq:\n  listen: h:1\n  servers:\n  - h:1:1\n",
     6, 11, "two pools listen at one address; the first on line 2"},
    {NULL, "p:\n  listen: h:1\n  servers:\n  - &x h:1:1\n", 4, 5, "anchors"},
    {NULL, "p:\n  listen: h:1\n  servers: [\"h:1:1\"]\n", 3, 12,
     "no lists or mappings in brackets"},
    {NULL, "---\np:\n  listen: h:1\n  servers:\n  - h:1:1\n", 1, 1, "no marks of YAML documents"},
    {NULL, "p:\n  listen: \"[::1]:1\"\n  servers:\n  - h:1:1\n", 2, 11, "IPv6 without brackets"},
    {NULL, "p:\n  listen: \":1\"\n  servers:\n  - h:1:1\n", 2, 11, "wants a host"},
    {NULL, "\"\":\n  listen: h:1\n  servers:\n  - h:1:1\n", 1, 1, "a pool without a name"},
    {NULL, "p:\n  listen: h:1\n  reuseport: true\n  servers:\n  - h:1:1\n", 3, 3, "unknown key"},
    {NULL, "p:\n  listen: h:1\n  servers:\n  - h:1:1000001\n", 4, 0, "weights up to 1000000"},
    {"twemproxy", "- a\n", 1, 1, "must be a mapping of pool names to pools"},
    {NULL, "listen: h:1\nservers:\n  - h:1:1\n", 1, 1, "stands where a pool's name belongs"},
    {NULL, "p:\n  listen: h:1\n  distribution: random\n  servers:\n  - h:1:1\n", 3, 0,
     "its keys have no place"},
    /* CLUSTER NODES */
    {NULL, A " h:1@2 master - 0 0 1\n", 1, 1, "has 8 fields and its slots"},
    {NULL, A " h:1@2 master - 0 0 1 connected 0-16384\n", 1, 73, "slots are 0 to 16383"},
    {NULL, A " h:1@2 master - 0 0 1 connected 5-3\n", 1, 73, "'5-3' is no slot"},
    {NULL, A " h:1@2 master - 0 0 1 connected [1->-x]\n", 1, 73, "is no slot"},
    {NULL, A " h:1@2 master - 0 0 1 connected 0 0\n", 1, 75, "slot 0 belongs to 'h:1' (line 1)"},
    {NULL, A " h:1@2 master - 0 0 1 up 0\n", 1, 63, "connected or disconnected, not 'up'"},
    {NULL, A " h:1@2 master - 0 x 1 connected\n", 1, 59, "pong time is 'x'"},
    {NULL, A " h:1@2 mastr - 0 0 1 connected\n", 1, 48, "unknown flag 'mastr'; did you mean"},
    {NULL, A " h:99999@2 master - 0 0 1 connected\n", 1, 44, "ports are 0 to 65535"},
    {NULL, A " h:1@2 slave b 0 0 1 connected\n", 1, 54, "a replica's primary is an id"},
    {NULL, A " h:1@2 slave " B " 0 0 1 connected 7\n", 1, 111, "only a master has slots"},
    {NULL, A " h:1@2 master - 0 0 1 connected\n" A " h:2@2 master - 0 0 1 connected\n", 2, 1,
     "stands twice; first on line 1"},
    {NULL, A " h:1@2 master - 0 0 1 connected\nx h:2@2 master - 0 0 1 connected\n", 2, 1,
     "a node's id is 40 hex digits, not 'x'"},
    {"redis-nodes", "vars currentEpoch 1 lastVoteEpoch 0\n", 1, 1, "there is no node in it"},
    /* any */
    {NULL, "", 1, 1, "the file is empty"},
    {NULL, " \n\t\n", 1, 1, "the file is empty"},
    {NULL, "hello\n", 0, 0, "not recognised as a topology of any kind"},
    {"nutcracker", "p:\n", 0, 0, "unknown format 'nutcracker'"},
    {NULL, "\x1f\x8b\x08", 0, 0, "the gzip ends in the middle"},
    {NULL, "\x1f\x8bxxxxxxxxxxxxxxxxxxxx", 0, 0, "broken gzip"},
};

static void refusals(void **state)
{
    (void)state;
    refuse_all(REFUSALS, sizeof REFUSALS / sizeof REFUSALS[0]);
}

static const char TWO[] = "a:\n  listen: h:1\n  redis: true\n  servers:\n  - h:1:1\n"
                          "b:\n  listen: h:2\n  distribution: random\n  servers:\n  - h:1:1\n"
                          "c:\n  listen: h:3\n  servers:\n  - h:1:1 x\n  - /s:1\n  - ::1:5:1\n";

static void pools(void **state)
{
    (void)state;
    struct gy_source from = {.file = "f"};
    struct gy_pools *f;
    struct gy_pool *p;
    gyre_error_t e = {0};
    assert_int_equal(gy_pools_parse(gy_str(TWO), &from, &f, &e), 0);
    assert_string_equal(f->format->name, "twemproxy");
    assert_int_equal(gy_pools_pick(f, NULL, "f", &p, &e), GYRE_UNKNOWN);
    assert_string_equal(e.message, "holds 3 pools; choose one with --pool: 'a', 'b', 'c'");
    assert_int_equal(gy_pools_pick(f, "b", "f", &p, &e), GYRE_UNSUPPORTED);
    assert_non_null(strstr(e.message, "distribution: random"));
    assert_int_equal(gy_pools_pick(f, "zzzz", "f", &p, &e), GYRE_UNKNOWN);
    assert_int_equal(gy_pools_pick(f, "c", "f", &p, &e), 0);
    assert_string_equal(gy_pool_find(p, "/s:")->address, "unix:/s");
    assert_string_equal(gy_pool_find(p, "::1:5")->address, "[::1]:5");
    assert_null(gy_pool_find(p, "y"));
    assert_null(gy_pool_find_id(p, "y"));
    assert_string_equal(gy_pool_fact_of(p, "listen"), "h:3");
    gy_pools_free(f);
}

/* Two gzip members, as gzip files may be appended. */
static size_t zip(const char *text, uint8_t *out, size_t room)
{
    size_t n = strlen(text), half = n / 2, w = 0;
    for (int part = 0; part < 2; part++) {
        z_stream z = {0};
        assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
        z.next_in = (uint8_t *)(uintptr_t)(text + (part ? half : 0));
        z.avail_in = (unsigned)(part ? n - half : half);
        z.next_out = out + w;
        z.avail_out = (unsigned)(room - w);
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        w = room - z.avail_out;
        deflateEnd(&z);
    }
    return w;
}

static void gzip(void **state)
{
    (void)state;
    uint8_t zipped[1024];
    struct gy_source from = {.file = "f"};
    struct gy_pools *f;
    size_t n = zip(TWO, zipped, sizeof zipped);
    assert_int_equal(gy_pools_parse((struct gy_slice){zipped, n}, &from, &f, NULL), 0);
    assert_int_equal(f->count, 3);
    gy_pools_free(f);
    for (size_t cut = 2; cut < n; cut++) { /* where the first member ends, half the text is there */
        if (!gy_pools_parse((struct gy_slice){zipped, cut}, &from, &f, NULL)) {
            gy_pools_free(f);
        }
    }
}

/* ---- what is told beside a Redis Cluster's file ---- */

static const struct {
    const char *text;
    unsigned line, column; /* 0: fine */
    const char *says;
} SIZES[] = {
    {"5 7\n\n# x\n8-9 3 # y\n", 0, 0, ""},
    {"5 7\n x 7\n", 2, 2, "'x' is no slot, 0 to 16383"},
    {"16384 7\n", 1, 1, "is no slot"},
    {"5\n", 1, 1, "how many bytes"},
    {"5 -7\n", 1, 3, "how many bytes"},
    {"5 99999999999999999\n", 1, 3, "are more than a slot can have"},
    {"5 99999999999999999999\n", 1, 3, "are more than a slot can have"},
    {"5 7 8\n", 1, 5, "'8' stands behind the bytes"},
    {"4-6 7\n5 7\n", 2, 1, "the size of slot 5 stands in it twice"},
    {"# none\n", 1, 1, "there is no slot's size in it"},
    {"", 1, 1, "there is no slot's size in it"},
};

static void slot_sizes(void **state)
{
    (void)state;
    static uint64_t sizes[GY_REDIS_SLOTS];
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        gyre_error_t e = {0};
        int rc = gy_slot_sizes_parse(gy_str(SIZES[i].text), "f", sizes, &e);
        assert_true(!rc == !SIZES[i].line && e.line == SIZES[i].line);
        assert_true(e.column == SIZES[i].column && strstr(e.message, SIZES[i].says));
        if (!rc) {
            assert_true(sizes[5] == 7 && sizes[6] == 0 && sizes[8] == 3 && sizes[9] == 3);
        }
    }
}

static void zones(void **state)
{
    (void)state;
    struct gy_source from = {.file = "f"};
    struct gy_pools *f;
    gyre_error_t e = {0};
    assert_int_equal(gy_pools_parse(gy_str(P "replica [::1]:7 of=a\nreplica [::1]:8 of=a\nend\n"),
                                    &from, &f, NULL),
                     0);
    struct gy_pool *p = f->list[0];
    assert_int_equal(gy_zone_list_apply(gy_str("[::1]:8 b # no\n"), "z", p, &e), GYRE_SYNTAX);
    assert_int_equal(gy_zone_list_apply(gy_str("# x\n[::1]:8 b\n::1 c\n"), "z", p, &e), 0);
    assert_string_equal(p->servers[1].zone, "c");
    assert_string_equal(p->servers[2].zone, "b");
    assert_int_equal(gy_zone_list_apply(gy_str("::1 c\n::2 d\n"), "z", p, &e), GYRE_UNKNOWN);
    assert_true(e.line == 2 && e.column == 1 && strstr(e.message, "no server is at '::2'"));
    assert_int_equal(gy_zone_list_apply(gy_str("::1\n"), "z", p, &e), GYRE_SYNTAX);
    static const char *const NONE[] = {"", "\n", "# none\n  # at all"};
    for (size_t i = 0; i < sizeof NONE / sizeof NONE[0]; i++) {
        assert_int_equal(gy_zone_list_apply(gy_str(NONE[i]), "z", p, &e), GYRE_EMPTY);
        assert_true(e.line == 1 && strstr(e.message, "there is no server's zone in it"));
    }
    gy_pools_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slot_sizes), cmocka_unit_test(zones), cmocka_unit_test(refusals),
        cmocka_unit_test(pools),      cmocka_unit_test(gzip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
