/* SPDX-License-Identifier: Apache-2.0 */
/* test_foreign_lb.c - load balancers and relays: what they refuse is refused where it stands. */
#include "foreign.h"

#define N(servers) "upstream u {\n  hash $uri consistent;\n  " servers "\n}\n"
#define IP         "socket_address: {address: 1.1.1.1, port_value: 1}"
#define E(line, address)                                                                   \
    "clusters:\n- name: a\n  " line "\n  load_assignment: {endpoints: [{lb_endpoints: [\n" \
    "     {endpoint: {hostname: x, address: {" address "}}},\n"                            \
    "     {endpoint: {address: {socket_address: {address: 1.1.1.2, port_value: 1}}}}]}]}\n"

#define C(inner) "<remote_servers><c>\n" inner "</c></remote_servers>"

#define B(line) \
    "backend b\n mode http\n balance uri\n " line "\n hash-type consistent\n server z 1.1.1.1:80\n"

static const struct refusal REFUSALS[] = {
    /* nginx */
    {NULL, N("server a weight=0;"), 3, 12, "invalid parameter 'weight=0'"},
    {NULL, N("server a max_fails=x;"), 3, 12, "invalid parameter"},
    {NULL, N("server a fail_timeout=1s1m;"), 3, 12, "invalid parameter"},
    {NULL, N("server a backup;"), 3, 12, "does not support parameter \"backup\""},
    {NULL, N("server a slow_start=3s;"), 3, 12, "does not support parameter \"slow_start\""},
    {NULL, N("server a:0;"), 3, 10, "invalid port in upstream 'a:0'"},
    {NULL, N("server ::1;"), 3, 10, "invalid port"},
    {NULL, N("server [::1;"), 3, 10, "invalid host"},
    {NULL, N("server [::g]:80;"), 3, 10, "invalid IPv6 address"},
    {NULL, N("server :80;"), 3, 10, "no host"},
    {NULL, N("server unix:;"), 3, 10, "no path in the unix domain socket"},
    {NULL, N("server http://a/;"), 3, 10, "invalid host"},
    {NULL, N("server $a;"), 3, 10, "variables have no place here"},
    {NULL, N("server a b;"), 3, 12, "invalid parameter 'b'"},
    {NULL, N("server;"), 3, 3, "invalid number of arguments in \"server\""},
    {NULL, N("servr a;"), 3, 3, "did you mean 'server'?"},
    {NULL, N("server a;;"), 3, 12, "unexpected \";\""},
    {NULL, N("server \"a\"b;"), 3, 13, "unexpected \"b\""},
    {NULL, N("server {}"), 3, 10, "not terminated by \";\""},
    {NULL, N("random three; server a;"), 3, 10, "invalid parameter 'three'"},
    {NULL, N("keepalive 0; server a;"), 3, 13, "invalid value '0'"},
    {NULL, N("include x;"), 3, 11, "servers are included from"},
    {NULL, N("upstream v {}"), 3, 3, "\"upstream\" directive is not allowed here"},
    {NULL, N(""), 1, 1, "no servers are inside upstream 'u'"},
    {NULL, "upstream u {\n  server a backup;\n}\n", 1, 1, "only backup servers"},
    {NULL, "upstream u {\n  hash $uri fast;\n", 2, 13, "only 'consistent' may stand"},
    {NULL, "upstream u {\n  hash $ fast;\n", 2, 8, "invalid variable name"},
    {NULL, "upstream u {\n  hash ${a fast;\n", 2, 8, "closing bracket in \"a\""},
    {NULL, "upstream u {\n  hash a b c;\n", 2, 3, "invalid number of arguments in \"hash\""},
    {NULL, "upstream u {\n  server a;\n", 3, 1, "unexpected end of file, expecting \"}\""},
    {NULL, "upstream u {\n  server a }\n", 2, 12, "unexpected \"}\""},
    {NULL, "upstream u {\n  server 'a;\n}", 3, 2, "unexpected end of file"},
    {NULL, "upstream u { server a; }\nupstream u { server a; }\n", 2, 10, "first is on line 1"},
    {NULL, "upstream u { server a; }\n}\n", 2, 1, "unexpected \"}\""},
    {NULL, "upstream u { server a; }\nhttp { }\n", 1, 1, "belongs into http or stream"},
    {"nginx", "upstream;\n", 1, 1, "invalid number of arguments"},
    {"nginx", "upstream u;\n", 1, 1, "has no opening \"{\""},
    {"nginx", "http {\n  include x y;\n}\n", 2, 3, "invalid number of arguments in \"include\""},
    {NULL, "http {\n  include x;\n}\n", 2, 11, "there is no upstream here, and 'x'"},
    {NULL, "stream {\n  upstream u { server a; }\n}\n", 2, 23, "no port in upstream 'a'"},
    {NULL, "upstream u { server a; }\n", 1, 0, "servers take turns"},
    {NULL, "upstream u { server a; ip_hash; }\n", 1, 0, "ip_hash goes by"},
    {NULL, "upstream u { hash $a; server a weight=1000001; }\n", 1, 0, "gyre takes at most"},
    /* HAProxy */
    {NULL, B("server s 1.1.1.1:80 weight 257"), 4, 29, "not within 0 and 256 (257)"},
    {NULL, B("server s 1.1.1.1:80 weight \"$W\""), 4, 29, "variable of the environment"},
    {NULL, B("server s 1.1.1.1:80 id 0"), 4, 25, "custom id has to be > 0"},
    {NULL, B("server s 1.1.1.1:80 id"), 4, 22, "'id' expects an integer argument"},
    {NULL, B("server s 1.1.1.1:80 chek"), 4, 22, "did you mean 'check'?"},
    {NULL, B("server s 1.1.1.1:80 fall"), 4, 22, "'fall' expects an argument"},
    {NULL, B("server s 1.1.1.1:80 hash-key x"), 4, 31, "unknown hash-key 'x'"},
    {NULL, B("server s 1.1.1.1:80 guid"), 4, 22, "expects a word"},
    {NULL, B("server s 1.1.1.1:80 hash-key addr\n server t 1.1.1.1:80"), 5, 2, "beside another"},
    {NULL, B("server s 1.1.1.1:a"), 4, 2, "invalid port"},
    {NULL, B("server s/t 1.1.1.1:80"), 4, 9, "character '/' is not permitted in a server's name"},
    {NULL, B("server s"), 4, 2, "expects <name> and <addr>"},
    {NULL, B("server s 1.1.1.1:80\n server s 1.1.1.1:80"), 5, 2, "already defined at line 4"},
    {NULL, B("server s 1.1.1.1:80 id 2\n server t 1.1.1.1:80 id 2"), 5, 2,
     "already used at line 4"},
    {NULL, B("server-template s 0 1.1.1.1:80"), 4, 20, "wrong server-template number"},
    {NULL, B("server-template s 1-9999999 1.1.1.1:80"), 4, 20, "more than 1048576 servers"},
    {NULL, B("default-server id 3"), 4, 17, "not accepted in default-server"},
    {NULL, B("balance url"), 4, 10, "unknown balance 'url'; did you mean 'uri'?"},
    {NULL, B("balance uri foo"), 4, 14, "only accepts parameters 'len'"},
    {NULL, B("balance uri len x"), 4, 18, "'len' expects a positive integer"},
    {NULL, B("balance url_param"), 4, 10, "requires an URL parameter name"},
    {NULL, B("balance hdr()"), 4, 10, "requires an http header field name"},
    {NULL, B("balance random(x)"), 4, 10, "unexpected character"},
    {NULL, B("balance rdp-cookie()"), 4, 10, "missing cookie name"},
    {NULL, B("balance hash"), 4, 10, "requires a sample expression"},
    {NULL, B("hash-type consistant"), 4, 12, "did you mean 'consistent'?"},
    {NULL, B("hash-type consistent avalanche"), 4, 23, "unknown hash function"},
    {NULL, B("hash-type consistent sdbm x"), 4, 28, "only supports 'avalanche'"},
    {NULL, B("hash-balance-factor 99"), 4, 22, "must be 0 or greater than 100"},
    {NULL, B("hash-typ consistent"), 4, 2, "did you mean 'hash-type'?"},
    {NULL, B("mode htp"), 4, 7, "unknown proxy mode 'htp'; did you mean 'http'?"},
    {NULL, B("server s 'x"), 4, 11, "unmatched quote"},
    {NULL, B(".if defined(X)"), 4, 2, "take the conditions out"},
    {NULL, "backend b\n server s 1.1.1.1:80", 2, 21, "missing LF on last line"},
    {NULL, "backend b!\n server s 1.1.1.1:80\n", 1, 9, "character '!' is not permitted"},
    {NULL, "backend b from x\n server s 1.1.1.1:80\n", 1, 16, "defaults section 'x' not found"},
    {"haproxy", "backend b c\n", 1, 11, "only 'from NAME' may stand"},
    {"haproxy", "backend\n", 1, 1, "expects an <id> argument"},
    {"haproxy", "backend b\nbackend b\n", 2, 1, "declared at line 1"},
    {"haproxy", "server s 1.1.1.1:80\n", 1, 1, "out of section"},
    {"haproxy", "defaults\n server s 1.1.1.1:80\n", 2, 2, "not allowed in 'defaults'"},
    {"haproxy", "frontend f\n server s 1.1.1.1:80\n", 2, 2, "no backend capability"},
    {NULL, B("balance random"), 4, 0, "does not depend on a key"},
    {NULL, "backend b\n mode tcp\n balance uri\n server s 1.1.1.1:80\n", 3, 0, "Layer 7 hash"},
    /* Envoy */
    {NULL, E("", "socket_address: {address: h, port_value: 1}"), 5, 67,
     "malformed IP address: 'h'"},
    {NULL, E("", "socket_address: {address: 1.1.1.1}"), 5, 57, "port_value is required"},
    {NULL, E("", "socket_address: {address: 1.1.1.1, port_value: 65536}"), 5, 88, "less than"},
    {NULL, E("", "socket_address: {adress: h}"), 5, 58, "did you mean 'address'?"},
    {NULL, E("", "socket_address: 1.1.1.1"), 5, 57, "must be a mapping"},
    {NULL, E("", "pipe: {}"), 5, 40, "a pipe with its path, is required"},
    {NULL, E("lb_polcy: MAGLEV", IP), 3, 3, "did you mean 'lb_policy'?"},
    {NULL, E("type: STATTIC", IP), 3, 9, "did you mean 'STATIC'?"},
    {NULL, E("type: LOGICAL_DNS", IP), 2, 3, "must have a single endpoint, and here are 2"},
    {NULL, E("ring_hash_lb_config: {minimum_ring_size: 9, maximum_ring_size: 8}", IP), 3, 3,
     "minimum_ring_size (9) > maximum_ring_size (8)"},
    {NULL, E("ring_hash_lb_config: {maximum_ring_size: 8}", IP), 3, 3, "(1024) > maximum"},
    {NULL, E("ring_hash_lb_config: {minimum_ring_size: 9000000}", IP), 3, 44, "8388608"},
    {NULL, E("ring_hash_lb_config: {hash_function: MD5}", IP), 3, 40, "unknown hash_function"},
    {NULL, E("ring_hash_lb_config: {ring_size: 5}", IP), 3, 25, "no such field: 'ring_size'"},
    {NULL, E("maglev_lb_config: {table_size: 65536}", IP), 3, 34, "must be a prime number"},
    {NULL, E("common_lb_config: {consistent_hashing_lb_config: {hash_balance_factor: 99}}", IP), 3,
     74, "greater than or equal to 100"},
    {NULL, E("load_balancing_policy: {policies: []}", IP), 3, 3, "no policy in it that gyre knows"},
    {NULL, E("", IP "}}, load_balancing_weight: 0}, {endpoint: {address: {" IP), 5, 117,
     "load_balancing_weight: value must be greater than or equal to 1"},
    {NULL, "clusters:\n- lb_policy: MAGLEV\n", 2, 3, "a cluster without a name"},
    {NULL, "clusters:\n- {name: a, lb_policy: 1}\n- {name: a}\n", 3, 10, "duplicate cluster 'a'"},
    {NULL, "clusters:\n- {name: a, lb_policy: RING_HASH, type: EDS}\n", 2, 0, "(EDS)"},
    {NULL, "clusters:\n- {name: a, lb_policy: LEAST_REQUEST}\n", 2, 0, "does not go by a key"},
    {"envoy", "{\"admin\": {}}", 1, 1, "there is no cluster in it"},
    /* ClickHouse */
    {NULL, C("<shard/>"), 2, 1, "no replica in this shard"},
    {NULL, C("<shard><wait>1</wait></shard>"), 2, 8, "unknown element 'wait' of a shard"},
    {NULL, C("<shards><replica/></shards>"), 2, 9, "a replica without a host"},
    {NULL, C("<node><host>h</host><port>x</port></node>"), 2, 21, "port is 'x', not a whole"},
    {NULL, C("<node><host>h</host><port>70000</port></node>"), 2, 21, "at most 65535"},
    {NULL, C("<node><host>h</host><port>0</port></node>"), 2, 7, "are no address"},
    {NULL, C("<node><host>h</host><secure>maybe</secure></node>"), 2, 21, "boolean"},
    {NULL, C("<node><host from_env=\"H\"/></node>"), 2, 7, "stands elsewhere ('H')"},
    {NULL, C("<shard><weight>-1</weight></shard>"), 2, 8, "weight is '-1', not a whole number"},
    {NULL, C("<shart/>"), 2, 1, "unknown element 'shart' of a cluster"},
    {NULL, C(""), 1, 17, "no cluster elements (shard, node) in cluster 'c'"},
    {NULL, C("<discovery><path>/x</path></discovery>"), 1, 0, "in Keeper"},
    {NULL, C("<node><host>h</host><weight>1000001</weight></node>"), 1, 0, "scale them down"},
    {NULL, "<remote_servers><a.b/></remote_servers>", 1, 17, "dots are not supported: 'a.b'"},
    {NULL, "<yandex><remote_servers incl=\"x\"/></yandex>", 1, 9, "stand in another file"},
    {NULL, "<yandex><remote_servers></yandex>", 1, 27, "not XML"},
    {"clickhouse", "<yandex/>", 1, 1, "there is no remote_servers"},
    /* carbon-c-relay */
    {NULL, "cluster a\n  fnv1a_chh h;\n", 2, 3, "did you mean 'fnv1a_ch'?"},
    {NULL, "cluster a\n  fnv1a_ch h:x;\n", 2, 12, "invalid port number"},
    {NULL, "cluster a\n  fnv1a_ch [::1:5;\n", 2, 12, "expected ']'"},
    {NULL, "cluster a\n  fnv1a_ch replication 0 h;\n", 2, 24, "between 1 and 255"},
    {NULL, "cluster a\n  fnv1a_ch ;\n", 2, 12, "unexpected ';', expecting a server"},
    {NULL, "cluster a\n  fnv1a_ch h\n", 3, 1, "unexpected end of file"},
    {NULL, "cluster a\n  any_of h;\n", 1, 0, "does not go by a hash ring"},
};

static void refusals(void **state)
{
    (void)state;
    refuse_all(REFUSALS, sizeof REFUSALS / sizeof REFUSALS[0]);
}

/* ---- nginx: a whole nginx.conf ---- */

static const char NGINX[] = "events {}\n"
                            "http {\n"
                            "  include nowhere;\n"
                            "  init_by_lua_block { -- }\n"
                            "    x = '}' .. [=[ ]] } ]=] .. \"\\\"}\" }\n"
                            "  map $a $b { \"~^/(.{3})\" $1; } # }\n"
                            "  upstream rr { server a; }\n"
                            "  upstream h { server a:1; hash \"${b}x\" consistent;\n"
                            "    include more; server a:1 weight=3; }\n"
                            "}\n"
                            "stream { upstream s { hash $a; server a:1; server a:1 down; } }\n";

static int include(void *self, const char *from, const char *pattern, gy_included_fn *each,
                   void *arg, gyre_error_t *e)
{
    (void)self, (void)from;
    if (strcmp(pattern, "more") != 0) {
        e->code = GYRE_IO;
        return GYRE_IO;
    }
    return each(arg, "more.conf", GY_LIT("server [::1] ; # here\nserver 'unix:/a b' weight=2;"));
}

static struct gy_pool *pick(struct gy_pools *f, const char *name)
{
    struct gy_pool *p = NULL;
    gyre_error_t e = {0};
    if (gy_pools_pick(f, name, "f", &p, &e)) {
        fail_msg("%s: %s", name, e.message);
    }
    return p;
}

static void whole_nginx(void **state)
{
    (void)state;
    struct gy_source from = {.file = "f", .include = include};
    struct gy_pools *f;
    struct gy_pool *p;
    gyre_error_t e = {0};
    if (gy_pools_parse(gy_str(NGINX), &from, &f, &e)) {
        fail_msg("%u:%u: %s", e.line, e.column, e.message);
    }
    assert_string_equal(f->format->name, "nginx");
    assert_int_equal(f->count, 3);
    assert_int_equal(gy_pools_pick(f, "rr", "f", &p, &e), GYRE_UNSUPPORTED);
    p = pick(f, "h");
    assert_int_equal(p->server_count, 3); /* a:1 is one, of the greater weight */
    assert_int_equal((int)gy_pool_find(p, "a:1")->weight, 3);
    assert_string_equal(gy_pool_find(p, "[::1]")->address, "[::1]:80");
    assert_string_equal(gy_pool_fact_of(p, "key"), "${b}x");
    assert_string_equal(p->notes[0].code, "same-server");
    assert_string_equal(p->notes[1].code, "not-included");
    p = pick(f, "s");
    assert_int_equal(p->server_count, 2); /* without consistent each has a place of its own */
    assert_true(gy_pool_find(p, "a:1@11")->states & GY_STATE_DOWN);
    gy_pools_free(f);
}

/* ---- HAProxy: defaults, ids, templates ---- */

static const char HAPROXY[] = "global\n"
                              "defaults base\n"
                              " mode http\n"
                              " balance hdr(x-key)\n"
                              " hash-type consistent # with avalanche, for no function stands\n"
                              " default-server check weight 10 \n"
                              "frontend f\n bind :80\n"
                              "backend a\n"
                              " hash-balance-factor 150\n"
                              " server a1 10.0.0.1:80\n"
                              " server a2 ipv4@10.0.0.2:80 id 3 weight 20#x\n"
                              " server 'b1' \"/b\\\\1\" backup\n"
                              " server a3 [::1]:80 disabled guid x\\#\n"
                              "defaults\n mode http\n"
                              "backend t from base\n"
                              " balance hash path\n hash-type map-based crc32 avalanche\n"
                              " server-template w 2-3 w.example.com:8080 enabled id 9\n"
                              "listen t\n balance uri len 5\n server x 1.1.1.1\n";

static void whole_haproxy(void **state)
{
    (void)state;
    struct gy_source from = {.file = "f"};
    struct gy_pools *f;
    gyre_error_t e = {0};
    if (gy_pools_parse(gy_str(HAPROXY), &from, &f, &e)) {
        fail_msg("%u:%u: %s", e.line, e.column, e.message);
    }
    assert_string_equal(f->format->name, "haproxy");
    assert_int_equal(f->count, 3);
    struct gy_pool *p = pick(f, "a");
    assert_int_equal(p->server_count, 4);
    assert_int_equal(gyre_topology_count(p->config->topology), 3);
    assert_string_equal(gy_pool_find(p, "a1")->id, "1");
    assert_string_equal(gy_pool_find(p, "a2")->address, "10.0.0.2:80");
    assert_string_equal(gy_pool_find(p, "b1")->id, "2");
    assert_string_equal(gy_pool_find(p, "b1")->address, "unix:/b\\1");
    assert_string_equal(gy_pool_find(p, "a3")->id, "4");
    assert_string_equal(gyre_topology_node(p->config->topology, 2)->options,
                        "id=4 guid=x# disabled");
    assert_string_equal(gyre_topology_get(p->config->topology, "avalanche"), "1");
    assert_string_equal(gyre_topology_get(p->config->topology, "balance"), "hdr");
    p = pick(f, "t");
    assert_string_equal(gy_pool_find(p, "w2")->id, "9");
    assert_string_equal(gy_pool_find(p, "w3")->id, "1");
    assert_int_equal((int)gy_pool_find(p, "w3")->weight, 10);
    assert_string_equal(gyre_topology_get(p->config->topology, "balance"), "fhdr");
    p = pick(f, "t@21");
    assert_string_equal(p->notes[0].code, "key-part");
    assert_null(gy_pool_find(p, "x")->address);
    gy_pools_free(f);
}

/* ---- Envoy: JSON in camelCase, localities, what is hashed ---- */

static const char ENVOY[] =
    "{\"configs\": [{\"@type\": \"ClustersConfigDump\", \"static_clusters\": [{\"cluster\":\n"
    "{\"name\": \"a\", \"type\": \"STRICT_DNS\", \"loadBalancingPolicy\": {\"policies\": [\n"
    "{\"typedExtensionConfig\": {\"typedConfig\": {\"@type\": \"x.Unknown\"}}},\n"
    "{\"typedExtensionConfig\": {\"typedConfig\": {\"@type\": \"x.v3.RingHash\",\n"
    "\"minimumRingSize\": \"2048\", \"hashFunction\": \"MURMUR_HASH_2\", \"localityWeightedLbConfig\":\n"
    "{}, \"consistentHashingLbConfig\": {\"useHostnameForHashing\": true, \"hashBalanceFactor\": 120}}\n"
    "}}]}, \"loadAssignment\": {\"endpoints\": [{\"locality\": {\"region\": \"eu\", \"zone\": \"a b\"},\n"
    "\"loadBalancingWeight\": 3, \"lbEndpoints\": [{\"endpoint\": {\"address\": {\"socketAddress\":\n"
    "{\"address\": \"h1\", \"portValue\": 80}}}}, {\"healthStatus\": \"DRAINING\", \"endpoint\":\n"
    "{\"hostname\": \"n2\", \"address\": {\"socketAddress\": {\"address\": \"::0001\", \"portValue\": 8}}}}]},\n"
    "{\"loadBalancingWeight\": 1, \"lbEndpoints\": [{\"metadata\": {\"filterMetadata\":\n"
    "{\"envoy.lb\": {\"hash_key\": \"zz\"}}}, \"endpoint\": {\"address\": {\"pipe\": {\"path\": \"/x\"}}}}]},\n"
    "{\"priority\": 1, \"lbEndpoints\": [{\"endpoint\": {\"address\": {\"socketAddress\":\n"
    "{\"address\": \"h4\", \"portValue\": 80}}}}]}]}}}]}]}\n";

static void whole_envoy(void **state)
{
    (void)state;
    struct gy_source from = {.file = "f"};
    struct gy_pools *f;
    gyre_error_t e = {0};
    if (gy_pools_parse(gy_str(ENVOY), &from, &f, &e)) {
        fail_msg("%u:%u: %s", e.line, e.column, e.message);
    }
    struct gy_pool *p = pick(f, "a");
    assert_int_equal(p->server_count, 4);
    assert_int_equal(gyre_topology_count(p->config->topology), 3);
    assert_string_equal(gyre_topology_get(p->config->topology, "locality_weights"),
                        "1-eu/a_b:3,2:1");
    assert_string_equal(gyre_topology_get(p->config->topology, "hash"), "MURMUR_HASH_2");
    assert_string_equal(gyre_topology_node(p->config->topology, 0)->options, "locality=1-eu/a_b");
    assert_string_equal(gy_pool_find(p, "h1")->address, "h1:80");
    assert_string_equal(gy_pool_find(p, "n2")->address, "[::1]:8");
    assert_true(gy_pool_find(p, "n2")->states & GY_STATE_DRAINING);
    assert_true(gyre_topology_node(p->config->topology, 1)->weight == 0);
    assert_string_equal(gy_pool_find(p, "zz")->address, "unix:/x");
    assert_true(gy_pool_find(p, "h4")->states & GY_STATE_BACKUP);
    assert_string_equal(gy_pool_fact_of(p, "hash_balance_factor"), "120");
    gy_pools_free(f);
}

/* ---- ClickHouse: roots, node, several clusters ---- */

static const char CLICKHOUSE[] =
    "<?xml version=\"1.0\"?><clickhouse><logger/><remote_servers replace=\"1\">\n"
    "<a><secret>x</secret><shard01><internal_replication>true</internal_replication>\n"
    "<weight> 3\n</weight><replica1><host>h1</host></replica1><replica2><host>h2</host>\n"
    "<secure>true</secure></replica2></shard01><node><host>::1</host><port>9</port></node></a>\n"
    "<b><node><host>h1</host></node></b></remote_servers></clickhouse>\n";

static void whole_clickhouse(void **state)
{
    (void)state;
    struct gy_source from = {.file = "f"};
    struct gy_pools *f;
    gyre_error_t e = {0};
    if (gy_pools_parse(gy_str(CLICKHOUSE), &from, &f, &e)) {
        fail_msg("%u:%u: %s", e.line, e.column, e.message);
    }
    assert_int_equal(f->count, 2);
    struct gy_pool *p = pick(f, "a");
    assert_int_equal(p->server_count, 5);
    assert_int_equal((int)gy_pool_find(p, "shard1")->weight, 3);
    assert_null(gy_pool_find(p, "shard1")->address);
    assert_string_equal(gy_pool_find(p, "shard2")->address, "[::1]:9");
    assert_string_equal(gy_pool_find(p, "h1:9000")->replica_of, "shard1");
    assert_non_null(gy_pool_find(p, "h2:9440"));
    assert_string_equal(gy_pool_fact_of(p, "internal_replication"), "1");
    gy_pools_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals),         cmocka_unit_test(whole_nginx),
        cmocka_unit_test(whole_haproxy),    cmocka_unit_test(whole_envoy),
        cmocka_unit_test(whole_clickhouse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
