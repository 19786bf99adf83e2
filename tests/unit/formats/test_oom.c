/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_oom.c - reading and writing with the Nth allocation failing, for every N: a clean error, no
 * leak, no half-made config. libyaml's own allocations are in its shared object and not wrapped.
 */
#include "formats/format.h"
#include "formats/slot_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
char *__real_strndup(const char *s, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
char *__wrap_strndup(const char *s, size_t n);

static long left = -1; /* allocations until one fails; -1: none does */

static bool fails(void)
{
    return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return fails() ? NULL : __real_realloc(p, n);
}

char *__wrap_strndup(const char *s, size_t n)
{
    return fails() ? NULL : __real_strndup(s, n);
}

static const char TEXT[] =
    "gyre: 1\nplacement: {like: sample, hash_tag: \"{}\"}\n"
    "nodes: [{name: a, address: \"h:1\", zone: z}, {name: b, address: \"h:2\"}]\n"
    "proxy: {listen: [\"x:0\", \"x:1\"], state: s, admin: \"x:2\", backend: {password_file: p}}\n";

static void parse(void **state)
{
    (void)state;
    int rc = GYRE_NOMEM;
    long n = 0;
    for (; rc; n++) {
        struct gy_config *c;
        gyre_error_t e = {0};
        left = n;
        rc = gy_config_parse(TEXT, sizeof TEXT - 1, "f", &c, &e);
        left = -1;
        assert_true(rc == GYRE_OK || (rc == GYRE_NOMEM && !c && *e.message));
        gy_config_free(c);
    }
    assert_true(n > 20); /* that many allocations were there to fail */
}

/* Each of these is read with every allocation failing in turn, its library's own ones aside. */
static const char *const FOREIGN[] = {
    "a:\n  listen: h:1\n  hash_tag: \"{}\"\n  hash: crc32\n  servers:\n  - h:1:1 x\n  - h:1:1 y\n"
    "b:\n  listen: h:2\n  distribution: random\n  servers:\n  - h:1:1\n",
    "0123456789abcdef0123456789abcdef01234567 h:1@2 master,fail - 0 0 1 connected 0-5 "
    "[9-<-1123456789abcdef0123456789abcdef01234567]\n"
    "1123456789abcdef0123456789abcdef01234567 h:1@2 master - 0 0 1 connected 7-9\n"
    "2123456789abcdef0123456789abcdef01234567 :0@0 slave,noaddr "
    "1123456789abcdef0123456789abcdef01234567 0 0 1 connected\n",
    "1) 1) (integer) 0\n   2) (integer) 5\n   3) 1) \"h\"\n      2) (integer) 1\n"
    "   4) 1) \"g\"\n      2) (integer) 1\n",
    "1) 1# \"slots\" =>\n      1) (integer) 0\n      2) (integer) 5\n   2# \"nodes\" =>\n"
    "      1) 1# \"id\" => \"a\"\n         2# \"port\" => (integer) 1\n         3# \"role\" => "
    "\"master\"\n",
    "*1\r\n%2\r\n$5\r\nslots\r\n*2\r\n:0\r\n:1\r\n$5\r\nnodes\r\n*1\r\n*6\r\n$2\r\nid\r\n"
    "$1\r\na\r\n$4\r\nport\r\n:1\r\n$4\r\nrole\r\n$6\r\nmaster\r\n",
    "0\n5\nh\n1\n0123456789abcdef0123456789abcdef01234567\nhostname\nx\n",
    "a:1,b:2 3\n",
    "tcp_port:7\nrole:slave\nmaster_host:h\nmaster_port:6\nslave0:ip=h,port=8,state=online\n",
    "{\"h:1\": {\"vnodes\": 5}}",
    "[[\"h\", 1, 2], [\"g\", 3]]",
    "{\"pools\": {\"A\": {\"servers\": [\"h:1\", \"h:1\"]}}, \"route\": [\"PoolRoute|A\",\n"
    "{\"type\": \"PoolRoute\", \"pool\": \"A\", \"hash\": {\"salt\": \"x\"}}]}",
    "10.0.0.1:1\t6\n10.0.0.2:1\t5\n",
    "Datacenter: d\nAddress Rack Status State Load Owns Token\na r1 Up Normal ? 100% 01\n"
    "b r2 Down Normal ? 100% 9\nDatacenter: e\nc r1 Up Normal ? ? 7\nc r1 Up Joining ? ? 8\n",
    "--  Address  Load  Tokens  Owns  Host ID  Rack\nUN a ? 8 60% i r\nDN b ? 8 40% i r\n",
    "b.builder, build version 1\n8 partitions, 1.0 replicas, 1 zones, 2 devices, 0 balance\n"
    "Devices: id zone ip address port name weight partitions balance meta\n"
    "0 1 ::1 1 d 1 8 0.0\n1 2 ::1 1 e 1 0 0.0\n",
    "[{\"hashring\": \"h\", \"tenants\": [\"t\"], \"algorithm\": \"ketama\", \"endpoints\": [\"a:1\", "
    "{\"address\": \"b:1\", \"az\": \"z\"}]}, {\"endpoints\": [\"a\", \"b\"], \"algorithm\": \"ketama\", "
    "\"shuffle_sharding_config\": {\"shard_size\": 1, \"overrides\": [{\"shard_size\": 2}]}}]",
    "{\"shards\": [{\"id\": \"a\", \"address\": \"h:1\", \"zone\": \"y\", \"tokens\": [1, 2]}, "
    "{\"id\": \"b\", \"zone\": \"z\", \"state\": \"UNHEALTHY\", \"tokens\": [2]}]}",
    "TokenRange(start_token:1, end_token:1, endpoints:[a, b], endpoint_details:["
    "EndpointDetails(host:a, datacenter:d, rack:r), EndpointDetails(host:b, datacenter:e)])\n",
    "--SERVER=a:1/?2 --SERVER=b --DISTRIBUTION=consistent,MD5\n",
    "redis-plan 1\nmaster a id=x slots=0-16382\nmaster b%20 address=h:1 zone=z slots=16383 leaves\n"
    "replica c of=a\nmove 16383 b%20 a bytes=7\nreplicate c b%20\nend\n",
    "cassandra_tokens: 1\nnodes: [{node: a, dc: d, rack: r, initial_token: \"1,2\"}, {node: b}]\n",
    "http { upstream a { server a:1; server a:1 down; hash \"$a\" consistent; } }\n"
    "stream { upstream b { server a:1; server b:1 backup; } }\n",
    "<c><remote_servers><a><shard><replica><host>h</host></replica><weight>2</weight></shard>"
    "<node><host>::1</host><secure>1</secure></node><node><host>g</host></node></a>"
    "<b><shard><replica><host>h</host></replica><replica><host>g</host></replica></shard></b>"
    "</remote_servers></c>\n",
    "clusters:\n- name: a\n  lb_policy: RING_HASH\n  common_lb_config: {locality_weighted_lb_config: {}}\n"
    "  load_assignment: {endpoints: [{locality: {zone: z}, load_balancing_weight: 1, lb_endpoints: [\n"
    "  {endpoint: {address: {socket_address: {address: \"::1\", port_value: 1}}}},\n"
    "  {endpoint: {address: {pipe: {path: /x}}}}]}]}\n",
    "defaults d\n mode http\n balance hdr(x)\n hash-type consistent\nbackend a from d\n"
    " server-template s 1-2 1.1.1.1:80\n server t 1.1.1.2:80 backup disabled guid x\n"
    "listen a\n balance first\n server u /x hash-key addr\n",
};

static void parse_foreign(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof FOREIGN / sizeof FOREIGN[0]; i++) {
        struct gy_source from = {.file = "f"};
        int rc = GYRE_NOMEM;
        long n = 0;
        for (; rc; n++) {
            struct gy_pools *f;
            gyre_error_t e = {0};
            left = n;
            rc = gy_pools_parse(gy_str(FOREIGN[i]), &from, &f, &e);
            left = -1;
            if (rc != GYRE_OK && (rc != GYRE_NOMEM || f || !*e.message)) {
                fail_msg("text %zu, allocation %ld: %d %s", i, n, rc, e.message);
            }
            gy_pools_free(f);
        }
        if (n <= 20) {
            fail_msg("text %zu: only %ld allocations; was a failure swallowed?", i, n);
        }
    }
}

/* Each is written as what it is. */
static const char *const WRITTEN[][2] = {
    {"twemproxy", "a:\n  listen: h:1\n  servers:\n  - h:1:1 x\n  - \"::1:2:3\"\n"},
    {"nginx",
     "upstream u { hash $a consistent; server a:1 weight=2; server \"unix:/a b\" down; }\n"},
    {"haproxy", "backend b\n mode http\n balance uri\n hash-type consistent\n"
                " server a h:1 id 3\n server b h:2 weight 0 disabled\n"},
    {"envoy",
     "clusters:\n- name: c\n  lb_policy: MAGLEV\n  load_assignment: {endpoints: [{locality: "
     "{zone: z}, lb_endpoints: [{endpoint: {address: {socket_address: {address: 1.1.1.1, "
     "port_value: 1}}}}, {endpoint: {address: {pipe: {path: /p}}}}]}]}\n"},
    {"memcached", "--SERVER=a:1/?2 --SOCKET=\"/a\" --DISTRIBUTION=consistent,MD5\n"},
    {"memcached", "{\"h:1\": {\"vnodes\": 5, \"weight\": 2}, \"h:2\": 1}"},
    {"memcached", "10.0.0.1:1\t6\n10.0.0.2:1\t5\n"},
    {"cassandra-tokens",
     "cassandra_tokens: 1\nnodes: [{node: a, dc: d, rack: r}, {node: b, weight: "
     "0}, {node: c}]\n"},
};

static void write_foreign(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof WRITTEN / sizeof WRITTEN[0]; i++) {
        struct gy_source from = {.file = "f", .format = WRITTEN[i][0]};
        struct gy_pools *f;
        int rc = gy_pools_parse(gy_str(WRITTEN[i][1]), &from, &f, NULL);
        assert_int_equal(rc, 0);
        struct gy_to_write what = {
            .topology = f->list[0]->config->topology, .from = f->list[0], .from_format = f->format};
        long n = 0;
        for (rc = GYRE_NOMEM; rc; n++) {
            struct gy_written w = {0};
            gyre_error_t e = {0};
            left = n;
            rc = gy_format_write(f->format, &what, &w, &e);
            left = -1;
            if (rc && (rc != GYRE_NOMEM || !*e.message)) {
                fail_msg("%s, allocation %ld: %d %s\n%s", WRITTEN[i][0], n, rc, e.message,
                         gy_buf_cstr(&w.text));
            }
            gy_written_fini(&w);
        }
        assert_true(n > 10);
        gy_pools_free(f);
    }
}

/* Slots dealt anew, by counts and by bytes. */
static void plan_slots(void **state)
{
    (void)state;
    static uint64_t sizes[GY_REDIS_SLOTS];
    struct gy_source from = {.file = "f"};
    struct gy_pools *f;
    assert_int_equal(gy_pools_parse(gy_str("redis-plan 1\nmaster a slots=0-9999\n"
                                           "master b slots=10000-16383\nend\n"),
                                    &from, &f, NULL),
                     0);
    const gyre_topology_t *t = f->list[0]->config->topology;
    sizes[1] = sizes[2] = 5;
    for (int bytes = 0; bytes < 2; bytes++) {
        const uint64_t weights[] = {1000000, 1000000};
        struct gy_slot_plan p = {.old = t, .next = t, .weights = weights};
        p.size = bytes ? sizes : NULL;
        p.by_bytes = bytes;
        long n = 0;
        for (int rc = GYRE_NOMEM; rc; n++) {
            gyre_topology_t *out;
            gyre_error_t e = {0};
            left = n;
            rc = gy_slot_plan(&p, &out, &e);
            left = -1;
            assert_true(rc == GYRE_OK || (rc == GYRE_NOMEM && !out && *e.message));
            gyre_topology_free(out);
        }
        assert_true(n > 5);
    }
    gy_pools_free(f);
}

static void check_and_dump(void **state)
{
    (void)state;
    struct gy_config *c;
    assert_int_equal(gy_config_parse(TEXT, sizeof TEXT - 1, "f", &c, NULL), 0);
    int rc = GYRE_NOMEM;
    for (long n = 0; rc; n++) {
        left = n;
        rc = gy_config_check_proxy(c, NULL);
        left = -1;
        assert_true(rc == GYRE_OK || rc == GYRE_NOMEM);
    }
    bool failed = true;
    long n = 0;
    for (; failed; n++) {
        struct gy_buf out = {0};
        left = n;
        gy_config_dump(c->topology, &c->proxy, &out);
        left = -1;
        failed = gy_buf_failed(&out);
        struct gy_config *again = NULL;
        if (!failed) {
            assert_int_equal(
                gy_config_parse(gy_buf_cstr(&out), gy_buf_size(&out), "f", &again, NULL), 0);
        }
        gy_config_free(again);
        gy_buf_fini(&out);
    }
    assert_true(n > 5);
    gy_config_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse),          cmocka_unit_test(parse_foreign),
        cmocka_unit_test(write_foreign),  cmocka_unit_test(plan_slots),
        cmocka_unit_test(check_and_dump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
