/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_config.c - what a good file gives: defaults, every key, writing and reading back, the
 * sample, what the proxy refuses, and files that are not files.
 */
#include "base/utf8.h"
#include "formats/config.h"
#include "formats/schema.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define G "gyre: 1\n"

static struct gy_config *parse(const char *text)
{
    struct gy_config *c;
    gyre_error_t e = {0};
    if (gy_config_parse(text, strlen(text), "f", &c, &e)) {
        fail_msg("%s:%u:%u: %s\n%s", e.file, e.line, e.column, e.message, text);
    }
    return c;
}

static void defaults(void **state)
{
    (void)state;
    struct gy_config *c = parse(G "nodes: [{name: a}]\n");
    const struct gyre_node *n = gyre_topology_node(c->topology, 0);
    assert_int_equal(gyre_topology_version(c->topology), 1);
    assert_true(n->weight == 1);
    assert_null(n->address);
    assert_null(n->zone);
    const struct gy_proxy_conf *p = &c->proxy;
    assert_false(p->present);
    assert_int_equal(p->listen_count, 0);
    assert_null(p->state);
    assert_null(p->admin);
    assert_string_equal(p->pool, "main");
    assert_string_equal(p->prefix, "gyre:");
    assert_int_equal(p->workers, 1);
    assert_int_equal(p->down, GY_DOWN_FAIL);
    assert_int_equal(p->connections, 1);
    assert_int_equal(p->timeout_ms, 1000);
    assert_int_equal(p->connect_ms, 500);
    assert_int_equal(p->max_request, 64 << 20);
    assert_int_equal(p->max_client_unread, 32 << 20);
    assert_int_equal(p->max_memory, 1 << 30);
    assert_int_equal(p->max_clients, 10000);
    assert_int_equal(p->client_stall_ms, 60000);
    assert_int_equal(p->bigkey_bytes, 256 << 10);
    assert_int_equal(p->move_keys, 0);
    assert_int_equal(p->move_bytes, 0);
    gy_config_free(c);
}

static const char EVERYTHING[] =
    "gyre: 1\n"
    "version: 7\n"
    "placement: {algorithm: ring, points: 160, replicas: 2, spread: zone, hash_tag: \"<>\"}\n"
    "nodes:\n"
    "  - {name: cache-0, address: \"127.0.0.1:6379\", weight: 1, zone: eu/a/r1}\n"
    "  - {name: \"a b\", address: \"[::1]:6380\", weight: 2.5, zone: \"eu/b/r 4\"}\n"
    "  - {name: \"cäche: #\\\"\\\\ 缓存\", address: \"unix:/run/x.sock\", weight: 0}\n"
    "  - {name: \"null\", weight: 0.000001}\n"
    "  - {name: \"-\", weight: 1234.654321}\n"
    "proxy:\n"
    "  listen: [\"127.0.0.1:0\", \"unix:/run/gyre/gyre.sock\"]\n"
    "  state: var/lib\n"
    "  admin: \"unix:/run/gyre/admin.sock\"\n"
    "  pool: \"my pool\"\n"
    "  prefix: \"g:\"\n"
    "  workers: 4\n"
    "  down: spill\n"
    "  backend: {user: \"gyre\", password_file: /etc/gyre/redis.pass, connections: 2, timeout: 2s,\n"
    "            connect_timeout: 100ms}\n"
    "  limits: {max_clients: 5, max_request: 1MB, max_client_unread: 2MB, max_memory: 16MB,\n"
    "           client_stall: 5s}\n"
    "  move: {keys_per_second: 1000, bytes_per_second: 10MB, bigkey_bytes: 1MB}\n";

static void check_everything(const struct gy_config *c)
{
    const struct gy_proxy_conf *p = &c->proxy;
    assert_int_equal(gyre_topology_version(c->topology), 7);
    assert_int_equal(gyre_topology_count(c->topology), 5);
    assert_string_equal(gyre_topology_get(c->topology, "points"), "160");
    assert_string_equal(gyre_topology_get(c->topology, "hash_tag"), "<>");
    const struct gyre_node *n = gyre_topology_find(c->topology, "cäche: #\"\\ 缓存");
    assert_non_null(n);
    assert_true(n->weight == 0);
    assert_true(gyre_topology_find(c->topology, "a b")->weight == 2.5);
    assert_true(gyre_topology_find(c->topology, "-")->weight == 1234.654321);
    assert_true(gyre_topology_find(c->topology, "null")->weight == 0.000001);
    assert_true(p->present);
    assert_int_equal(p->listen_count, 2);
    assert_string_equal(p->listen[1], "unix:/run/gyre/gyre.sock");
    assert_string_equal(p->state, "var/lib");
    assert_string_equal(p->pool, "my pool");
    assert_string_equal(p->prefix, "g:");
    assert_int_equal(p->workers, 4);
    assert_int_equal(p->down, GY_DOWN_SPILL);
    assert_string_equal(p->user, "gyre");
    assert_string_equal(p->password_file, "/etc/gyre/redis.pass");
    assert_int_equal(p->connections, 2);
    assert_int_equal(p->timeout_ms, 2000);
    assert_int_equal(p->connect_ms, 100);
    assert_int_equal(p->max_clients, 5);
    assert_int_equal(p->max_request, 1 << 20);
    assert_int_equal(p->max_client_unread, 2 << 20);
    assert_int_equal(p->max_memory, 16 << 20);
    assert_int_equal(p->client_stall_ms, 5000);
    assert_int_equal(p->move_keys, 1000);
    assert_int_equal(p->move_bytes, 10 << 20);
    assert_int_equal(p->bigkey_bytes, 1 << 20);
}

static void everything_and_back(void **state)
{
    (void)state;
    struct gy_config *c = parse(EVERYTHING);
    check_everything(c);
    struct gy_buf once = {0}, twice = {0};
    gy_config_dump(c->topology, &c->proxy, &once);
    assert_false(gy_buf_failed(&once));
    struct gy_config *again = parse(gy_buf_cstr(&once));
    check_everything(again);
    gy_config_dump(again->topology, &again->proxy, &twice);
    assert_string_equal(gy_buf_cstr(&once), gy_buf_cstr(&twice));
    gyre_map_t *a, *b;
    assert_int_equal(gyre_map_build(c->topology, &a, NULL), 0);
    assert_int_equal(gyre_map_build(again->topology, &b, NULL), 0);
    assert_true(gyre_map_same(a, b));
    gyre_map_unref(a);
    gyre_map_unref(b);
    gy_buf_fini(&once);
    gy_buf_fini(&twice);
    gy_config_free(c);
    gy_config_free(again);
}

/* With `like` the tag has another default; both ways of writing it must survive. */
static void dependent_default(void **state)
{
    (void)state;
    static const char *const files[] = {
        G "placement: {like: sample}\nnodes: [{name: a}]\n",
        G "placement: {like: sample, hash_tag: \"{}\"}\nnodes: [{name: a}]\n",
        G "placement: {hash_tag: \"\"}\nnodes: [{name: a}]\n",
    };
    static const char *const tags[] = {"", "{}", ""};
    for (size_t i = 0; i < 3; i++) {
        struct gy_buf out = {0};
        struct gy_config *c = parse(files[i]);
        gy_config_dump(c->topology, NULL, &out);
        struct gy_config *again = parse(gy_buf_cstr(&out));
        assert_string_equal(gyre_topology_get(c->topology, "hash_tag"), tags[i]);
        assert_string_equal(gyre_topology_get(again->topology, "hash_tag"), tags[i]);
        gy_config_free(c);
        gy_config_free(again);
        gy_buf_fini(&out);
    }
}

static void ways_of_writing(void **state)
{
    (void)state;
    static const char *const files[] = {
        "\xef\xbb\xbfgyre: 1\nnodes: [{name: a}]\n",
        "gyre: 1\r\nnodes:\r\n  - {name: a}\r\n",
        "gyre:\t1\t# one\nnodes:\n  - name:\ta\n    weight:\t1\n",
        "%YAML 1.1\n---\ngyre: 1\nnodes: [{name: a}]\n...\n",
        "{gyre: 1, nodes: [{name: a}]}",
        "\"gyre\": \"1\"\n'nodes': [{'name': 'a'}]\n",
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct gy_config *c = parse(files[i]);
        assert_string_equal(gyre_topology_node(c->topology, 0)->name, "a");
        gy_config_free(c);
    }
}

static void sample(void **state)
{
    (void)state;
    struct gy_buf out = {0};
    gy_config_sample(&out);
    const char *text = gy_buf_cstr(&out);
    struct gy_config *c = parse(text);
    assert_int_equal(gy_config_check_proxy(c, NULL), 0);
    size_t n;
    const struct gy_key *keys = gy_schema(&n);
    for (size_t i = 0; i < n; i++) {
        assert_non_null(strstr(text, keys[i].name));
    }
    const struct gyre_setting *settings = gyre_settings(&n);
    for (size_t i = 0; i < n; i++) {
        assert_non_null(strstr(text, settings[i].key));
    }
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        assert_true(strcspn(line, "\n") <= 100);
    }
    gy_config_free(c);
    gy_buf_fini(&out);
}

/* Every default is within the key's own limits, and no section has more keys than the parser can
 * remember. */
static void schema_is_sound(void **state)
{
    (void)state;
    size_t n;
    const struct gy_key *keys = gy_schema(&n);
    for (size_t i = 0; i < n; i++) {
        const char *names[GY_SECTION_KEYS];
        assert_true(gy_schema_names(keys[i].section, names) < GY_SECTION_KEYS);
        assert_ptr_equal(gy_schema_find(keys[i].section, gy_str(keys[i].name)), &keys[i]);
        assert_true(*keys[i].help && strlen(keys[i].help) < 100);
    }
    gyre_settings(&n);
    assert_true(n <= GY_SECTION_KEYS);
}

#define SERVED(proxy) G "nodes: [{name: a, address: \"h:1\"}, {name: b, address: \"h:2\"}]\n" proxy

static void proxy_refuses(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {SERVED(""), "no proxy section"},
        {SERVED("proxy: {}\n"), "proxy.listen is missing"},
        {SERVED("proxy: {listen: []}\n"), "proxy.listen is missing"},
        {SERVED("proxy: {listen: \"x:0\"}\n"), "proxy.state is missing"},
        {SERVED("placement: {replicas: 2}\nproxy: {listen: \"x:0\", state: s}\n"),
         "placement.replicas is 2"},
        {SERVED("proxy: {listen: \"x:0\", state: s, down: replica}\n"), "proxy.down is 'replica'"},
        {SERVED("proxy: {listen: \"x:0\", state: s, backend: {connections: 2}}\n"),
         "connections is 2"},
        {SERVED("proxy: {listen: \"x:0\", state: s, backend: {user: u}}\n"), "no password_file"},
        {SERVED("proxy: {listen: \"h:2\", state: s}\n"), "which the proxy itself listens on"},
        {G "nodes: [{name: a}]\nproxy: {listen: \"x:0\", state: s}\n", "node 'a' has no address"},
        {G "nodes: [{name: a, address: \"h:1\"}, {name: b, address: \"h:1\"}]\n"
           "proxy: {listen: \"x:0\", state: s}\n",
         "nodes 'a' and 'b' have one address, h:1"},
        {G "nodes: [{name: a, address: \"h:1\", weight: 0}]\nproxy: {listen: \"x:0\", state: s}\n",
         "every node has weight 0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct gy_config *c = parse(rows[i][0]);
        gyre_error_t e = {0};
        int rc = gy_config_check_proxy(c, &e);
        if (!rc || !*e.message || !strstr(e.message, rows[i][1])) {
            fail_msg("row %zu: %d %s", i, rc, e.message);
        }
        gy_config_free(c);
    }
    struct gy_config *c = parse(SERVED("proxy: {listen: \"x:0\", state: s}\n"));
    assert_int_equal(gy_config_check_proxy(c, NULL), 0);
    gy_config_free(c);
}

static void load_refuses(const char *path, int code, const char *why)
{
    struct gy_config *c = (struct gy_config *)0x1;
    gyre_error_t e = {0};
    assert_int_equal(gy_config_load(path, &c, &e), code);
    assert_null(c);
    assert_non_null(strstr(e.message, why));
    assert_string_equal(e.file, path);
}

static void files(void **state)
{
    (void)state;
    char path[] = "/tmp/gyre-config-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    load_refuses(path, GYRE_SYNTAX, "the file is empty");
    assert_int_equal(write(fd, EVERYTHING, sizeof EVERYTHING - 1), sizeof EVERYTHING - 1);
    close(fd);
    struct gy_config *c;
    assert_int_equal(gy_config_load(path, &c, NULL), 0);
    check_everything(c);
    gy_config_free(c);
    load_refuses("/nonexistent/x", GYRE_IO, "cannot be opened: No such file");
    load_refuses("/tmp", GYRE_IO, "is a directory");
    load_refuses("/dev/zero", GYRE_RANGE, "larger than 64 MB");
    load_refuses("/dev/null", GYRE_SYNTAX, "the file is empty");
    assert_int_equal(chmod(path, 0), 0);
    bool root = geteuid() == 0; /* who may read everything; so be nobody for a moment */
    assert_true(!root || seteuid(65534) == 0);
    load_refuses(path, GYRE_IO, "cannot be opened: Permission denied");
    assert_true(!root || seteuid(0) == 0);
    unlink(path);
}

/* Views of earlier versions hold what their placement does not read: they load, and what is written
 * of them holds it no more. */
static void stored_by_earlier(void **state)
{
    (void)state;
    static const char text[] = "gyre: 1\nversion: 3\nplacement:\n  algorithm: maglev\n  points: 5\n"
                               "  capacity: 8\n  vnodes: 3\n  table: 101\n"
                               "nodes: [{name: a}, {name: b}]\n";
    struct gy_config *c = NULL;
    struct gy_buf out = {0};
    assert_int_equal(gy_config_parse(text, strlen(text), "f", &c, NULL), GYRE_UNKNOWN);
    assert_int_equal(gy_config_parse_own(text, strlen(text), "f", &c, NULL), GYRE_OK);
    gy_config_dump(c->topology, NULL, &out);
    assert_non_null(strstr(gy_buf_cstr(&out), "table: 101"));
    assert_null(strstr(gy_buf_cstr(&out), "points"));
    gy_config_free(c);
    assert_int_equal(gy_config_parse(gy_buf_cstr(&out), gy_buf_size(&out), "f", &c, NULL), GYRE_OK);
    gy_config_free(c);
    gy_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_by_earlier),
        cmocka_unit_test(defaults),
        cmocka_unit_test(everything_and_back),
        cmocka_unit_test(dependent_default),
        cmocka_unit_test(ways_of_writing),
        cmocka_unit_test(sample),
        cmocka_unit_test(schema_is_sound),
        cmocka_unit_test(proxy_refuses),
        cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
