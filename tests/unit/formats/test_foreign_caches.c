/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_foreign_caches.c - files of memcached clients, mcrouter, and the replies of a Redis Cluster:
 * what is refused, where and why; forms that no file of tests/corpus has.
 */
#include "foreign.h"

#define ID "0123456789abcdef0123456789abcdef01234567"

static const struct refusal REFUSALS[] = {
    /* memcached */
    {NULL, "{\"h:1\": 1, \"h:0\": 1}", 1, 12, "server 'h:0' is not host:port"},
    {NULL, "{\"h:1\": \"1\"}", 1, 9, "a weight must be a number, not text"},
    {NULL, "{\"h:1\": 1.5}", 1, 9, "the weight '1.5' is no whole number"},
    {NULL, "{\"h:1\": {\"weigth\": 1}}", 1, 10, "unknown key 'weigth'; did you mean 'weight'?"},
    {NULL, "{\"h:1\": {\"vnodes\": \"x\"}}", 1, 20, "vnodes must be a whole number"},
    {NULL, "{\"h:1\": 1,\n \"h:1\": 2}", 2, 6, "duplicate"},
    {NULL, "[\"h:1\", 5]", 1, 9, "server '5' is not host:port"},
    {NULL, "[[\"h\", 1], [\"h\"]]", 1, 12, "[\"host\", port, weight]"},
    {NULL, "{\"h:1\": 1,", 1, 10, "not JSON"},
    {NULL, "10.0.0.1:11211\t600\n10.0.0.2:11211\n", 2, 1, "has no memory number behind it"},
    {NULL, "10.0.0.1:11211\t600\n10.0.0.2:11211\t0\n", 2, 16, "the memory 0 is invalid"},
    {NULL, "10.0.0.1:11211\t600\n10.0.0.2:11211\tx\n", 2, 16, "is no whole number"},
    {NULL, "10.0.0.1:11211\t600\n10.0.0.1:11211\t5\n", 2, 1, "stands twice; first on line 1"},
    {NULL, "a:1,b:2 3 4\n", 1, 11, "'4' stands behind the weight"},
    {NULL, "a:1,b:x\n", 1, 5, "server 'b:x' is not host:port"},
    {NULL, "--SERVER=a:1 --HASHH=MD5\n", 1, 14, "unknown option 'HASHH'; did you mean 'HASH'?"},
    {NULL, "--SERVER=a:1 --HASH=SHA1\n", 1, 14, "'HASH' is 'SHA1', which has no placement here"},
    {NULL, "--SERVER=a:1 b\n", 1, 14, "'b' is no option"},
    {"memcached", "# nothing\n", 1, 1, "there is no server in it"},
    /* mcrouter */
    {NULL, "{\"pools\": {\"A\": {\"servers\": [\"h:1\"]}}}", 1, 1, "no route/routes in config"},
    {NULL, "{\"pools\": {\"A\": {}}, \"route\": \"PoolRoute|A\"}", 1, 17,
     "pool 'A': servers not found"},
    {NULL, "{\"pools\": {\"A\": {\"servers\": 1}}, \"route\": \"PoolRoute|A\"}", 1, 29,
     "pool 'A': servers is not an array"},
    {NULL, "{\"pools\": {\"A\": {\"servers\": [\"h\"]}}, \"route\": \"PoolRoute|A\"}", 1, 30,
     "pool 'A': invalid server 'h'"},
    {NULL, "{\"pools\": {\"A\": {\"servers\": [\"%h%:1\"]}}, \"route\": \"PoolRoute|A\"}", 1, 30,
     "macros are not expanded here"},
    {NULL, "{\"pools\": {\"Ab\": {\"servers\": [\"h:1\"]}},\n \"route\": \"PoolRoute|Ac\"}", 2, 11,
     "unknown pool 'Ac'; known: Ab"},
    {NULL, "{\"pools\": {\"A\": {\"inherit\": \"x\"}}, \"route\": \"PoolRoute|A\"}", 1, 18,
     "takes its servers from elsewhere"},
    {NULL, "{\"macros\": {}, \"pools\": {}, \"route\": \"NullRoute\"}", 1, 2,
     "macros are not expanded"},
    {NULL, "{\"pools\": {}, \"route\": {\"type\": \"PoolRoute\"}}", 1, 24,
     "PoolRoute without a pool"},
    {NULL,
     "{\"pools\": {\"A\": {\"servers\": [\"h:1\"]}}, \"route\": {\"type\": \"PoolRoute\", \"pool\": "
     "\"A\",\n\"hash\": \"Crc3\"}}",
     2, 9, "unknown hash function 'Crc3'; did you mean 'Crc32'?"},
    {NULL,
     "{\"pools\": {\"A\": {\"servers\": [\"h:1\"]}}, \"route\": {\"type\": \"PoolRoute\", \"pool\": "
     "\"A\",\n\"hash\": \"ConstShard\"}}",
     1, 0, "takes the server's number from the key itself"},
    {NULL, "{ /* \"pools\": {}, \"route\": 1 }", 1, 3, "a comment without its end"},
    {NULL, "{\"pools\": {}, \"route\": 1, \"routes\": 2}", 1, 27, "both 'route' and 'routes'"},
    /* INFO */
    {NULL, "# Replication\nrole:master\n", 1, 1, "INFO must have role and tcp_port"},
    {NULL, "tcp_port:7\nrole:master\nslave0:ip=h,port=x,state=online\n", 3, 1, "port is 'x'"},
    /* CLUSTER SLOTS and SHARDS */
    {NULL, "1) 1) (integer) 0\n   2) (integer) 5\n", 1, 4, "a range needs its first slot"},
    {NULL, "1) 1) (integer) 9\n   2) (integer) 5\n   3) 1) \"h\"\n      2) (integer) 1\n", 1, 7,
     "runs backwards"},
    {NULL, "1) 1) (integer) 0\n   2) (integer) 16384\n   3) 1) \"h\"\n      2) (integer) 1\n", 2, 7,
     "the last slot of a range is '16384'"},
    {NULL, "1) 1) (integer) 0\n   2) (integer) 5\n   3) 1) \"h\"\n", 3, 7,
     "needs a host and a port"},
    {NULL, "1) 1) (integer) 0\n  2) (integer) 5\n", 2, 3, "a line was lost or changed"},
    {NULL, "1) 1) (integer) 0\n   2) (integer) 5\n   3) 1) \"h\n      2) (integer) 1\n", 3, 10,
     "a line was lost or changed"},
    {NULL, "[[0,5,[\"h\",1]],[5,6,[\"g\",1]]]", 1, 17, "slot 5 belongs to 'h:1'"},
    {NULL, "[[0,5,[\"h\",1],[\"g\",1]],[6,7,[\"g\",1]]]", 1, 29,
     "'g:1' is a primary of some slots and a replica of others"},
    {NULL, "*1\r\n*3\r\n:0\r\n:5\r\n*2\r\n$9\r\nh\r\n", 7, 1, "broken or cut off"},
    {"redis-slots", "(error) ERR This instance has cluster support disabled\n", 1, 1,
     "the server answered with an error: 'ERR This instance has cluster support disabled'"},
    {"redis-slots", "-ERR This instance has cluster support disabled\r\n", 1, 1,
     "the server answered with an error"},
    {NULL, "1) 1) \"slots\"\n   2) 1) (integer) 0\n   3) \"nodes\"\n   4) (empty array)\n", 2, 7,
     "slots are pairs"},
    {NULL, "[{\"slots\":[0,1],\"nodes\":[]}]", 1, 2, "a shard with slots has no master"},
    {NULL, "[{\"slots\":[0,1],\"nodes\":[{\"id\":\"a\",\"port\":1,\"role\":\"boss\"}]}]", 1, 52,
     "a node's role is master or replica, not 'boss'"},
    {NULL,
     "[{\"slots\":[0,1],\"nodes\":[{\"id\":\"a\",\"ip\":\"h\",\"port\":1,\"role\":\"master\","
     "\"health\":\"ill\"}]}]",
     1, 79, "unknown health 'ill'"},
    {NULL, "[{\"slots\":[0,1]}]", 1, 2, "a shard needs its slots and its nodes"},
};

static void refusals(void **state)
{
    (void)state;
    refuse_all(REFUSALS, sizeof REFUSALS / sizeof REFUSALS[0]);
}

struct accepted {
    const char *text, *format, *like, *name, *address;
    double weight;
};

static const struct accepted ACCEPTED[] = {
    {"[\"h:1\",\"g:2\"]", "memcached", "npm-memcached", "g:2", "g:2", 1},
    {"[[\"h\",1],[\"g\",2,3]]", "memcached", "libmemcached", "g:2", "g:2", 3},
    {"{\"h:1\":{\"vnodes\":50,\"weight\":2}}", "memcached", "npm-memcached", "h:1", "h:1", 2},
    {"{\"cache1\": 2, \"cache2\": 3}", "memcached", "npm-memcached", "cache2", "cache2:11211", 3},
    {"a:1,b:2 3", "memcached", "libmemcached", "b:2", "b:2", 3},
    {"a:1\nb:2\n", "memcached", "libmemcached", "b:2", "b:2", 1},
    {"a:1:5\n", "memcached", "libmemcached", "a:1", "a:1", 5},
    {"# x\n10.0.0.1:11211 600", "memcached", "libketama", "10.0.0.1:11211", "10.0.0.1:11211", 600},
    {"--SERVER=a:1/?2 --SERVER=b --DISTRIBUTION=consistent,MD5 --SOCKET=\"/s/?4\"", "memcached",
     "libmemcached", "/s", "unix:/s", 4},
    {"{\"pools\":{\"A\":{\"servers\":[\"[::1]:5:ascii:plain\",{\"hostname\":\"h:2\"},],"
     "\"weights\":[0.5,2]},},\"route\":{\"type\":\"PoolRoute\",\"pool\":\"A\"},}",
     "mcrouter", "mcrouter", "h:2", "h:2", 1},
    {"{\"route\":{\"type\":\"PoolRoute\",\"pool\":{\"name\":\"in\",\"servers\":[\"h:1\",\"h:1\"]},"
     "\"hash\":{\"hash_func\":\"Crc32\",\"salt\":\"s\"}}}",
     "mcrouter", "mcrouter", "h:1#2", "h:1", 1},
    {"[[0,16383,[\"\",7,\"" ID "\",[\"hostname\",\"h\"]]]]", "redis-slots", "redis-cluster", "h:7",
     "h:7", 1},
    {"[[0,16383,[null,7,\"" ID "\"]]]", "redis-slots", "redis-cluster", ":7", NULL, 1},
    {"\"" ID " h:1@2 master - 0 0 1 connected 0-16383\\n\"\n", "redis-nodes", "redis-cluster",
     "h:1", "h:1", 1},
};

static void accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ACCEPTED / sizeof ACCEPTED[0]; i++) {
        const struct accepted *a = &ACCEPTED[i];
        struct gy_source from = {.file = "f"};
        struct gy_pools *f = NULL;
        struct gy_pool *p = NULL;
        gyre_error_t e = {0};
        if (gy_pools_parse(gy_str(a->text), &from, &f, &e) || gy_pools_pick(f, NULL, "f", &p, &e)) {
            fail_msg("%s\nis refused: %u:%u: %s", a->text, e.line, e.column, e.message);
        }
        const struct gy_server *s = gy_pool_find(p, a->name);
        assert_string_equal(f->format->name, a->format);
        assert_string_equal(gyre_topology_get(p->config->topology, "like"), a->like);
        assert_non_null(s);
        assert_true(s->address ? a->address && strcmp(s->address, a->address) == 0 : !a->address);
        assert_true(s->weight == a->weight);
        gy_pools_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals),
        cmocka_unit_test(accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
