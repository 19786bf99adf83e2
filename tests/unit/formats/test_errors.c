/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_errors.c - every mistake in a topology file is told with its line, column, reason and, where
 * one is near, the right word; nothing hostile is taken, and nothing takes long.
 */
#include "formats/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define G           "gyre: 1\n"
#define NODES       "nodes:\n  - {name: a, address: \"h:1\"}\n"
#define NODE(rest)  G "nodes:\n  - {name: a, " rest "}\n"
#define PROXY(rest) G NODES "proxy: {listen: \"127.0.0.1:0\", state: s, " rest "}\n"

struct row {
    const char *text;
    unsigned line, column;
    const char *why;
};

static const struct row ROWS[] = {
    /* keys */
    {NODE("wieght: 2"), 3, 15, "unknown key 'wieght' in node; did you mean 'weight'?"},
    {G NODES "foo: 1\n", 4, 1,
     "unknown key 'foo'; known: gyre, version, placement, removed, nodes, proxy"},
    {G NODES "removed: 3 x\n", 1, 1, "removed must be slot numbers parted by blanks"},
    {G NODES "removed: 3,1\n", 1, 1, "removed must be slot numbers parted by blanks"},
    {G NODES "removed: 1 0\n", 1, 1, "slot 0 given up; slots are 1 to 1048576"},
    {G NODES "removed: 1048577\n", 1, 1, "slot 1048577 given up"},
    {G "placement: {ponits: 3}\n" NODES, 2, 13, "'ponits' in placement; did you mean 'points'?"},
    {PROXY("limits: {max_clints: 1}"), 4, 51, "in proxy.limits; did you mean 'max_clients'?"},
    {G "version: 1\nversion: 2\n" NODES, 3, 1, "key 'version' stands twice; first on line 2"},
    {G NODES NODES, 4, 1, "key 'nodes' stands twice; first on line 2"},
    {G "placement:\n  points: 3\n  points: 3\n" NODES, 4, 3, "'points' stands twice"},
    {G "? [a]\n: b\n", 2, 3, "a key must be a word, not a list"},
    /* the head */
    {NODES, 1, 1, "the line 'gyre: 1' is missing"},
    {"gyre: 2\n" NODES, 1, 7, "gyre is '2'; it must be 1"},
    {"gyre: one\n" NODES, 1, 7, "it must be 1"},
    {G "version: seven\n" NODES, 2, 10, "version is 'seven'; it must be a whole number"},
    {G "version: -1\n" NODES, 2, 10, "version is '-1'"},
    {G "version: 1.5\n" NODES, 2, 10, "version is '1.5'"},
    {G "version: 99999999999999999999\n" NODES, 2, 10, "0 to 9223372036854775807"},
    {"", 1, 1, "the file is empty"},
    {"# only a remark\n", 1, 1, "the file is empty"},
    {"hello", 1, 1, "must be a mapping of keys to values, not a single value"},
    {"- a\n", 1, 1, "must be a mapping of keys to values, not a list"},
    /* nodes */
    {G, 1, 1, "nodes is missing"},
    {G "nodes: []\n", 2, 1, "nodes is empty"},
    {G "nodes:\n", 2, 7, "nodes must be a list of mappings, not nothing"},
    {G "nodes: {a: b}\n", 2, 8, "nodes must be a list of mappings, not a mapping"},
    {G "nodes: [a, b]\n", 2, 9, "each of nodes must be a mapping"},
    {G "nodes:\n  - {address: \"h:1\"}\n", 3, 5, "a node without a name"},
    {G "nodes:\n  - name: a\n  - name: b\n  - name: a\n", 5, 5,
     "node 'a' stands twice; first on line 3"},
    {NODE("weight: -1"), 3, 23, "weight is '-1'; it must be a number: 0, or 0.000001 to 1000000"},
    {NODE("weight: NaN"), 3, 23, "weight is 'NaN'"},
    {NODE("weight: .inf"), 3, 23, "weight is '.inf'"},
    {NODE("weight: 1e9"), 3, 23, "weight is '1e9'"},
    {NODE("weight: 1000000.000001"), 3, 23, "weight is '1000000.000001'"},
    {NODE("weight: 0.0000001"), 3, 23, "weight is '0.0000001'"},
    {NODE("weight: abc"), 3, 23, "weight is 'abc'"},
    {NODE("weight: \"\""), 3, 23, "weight is ''"},
    {NODE("weight: ~"), 3, 23, "weight has no value"},
    {NODE("weight: [1]"), 3, 23, "weight must be a single value, not a list"},
    {NODE("zone: \"a\\x07\""), 3, 21, "zone holds the control character U+0007 at byte 2"},
    {NODE("address: \"::1:6379\""), 3, 24, "write \"[::1]:6379\""},
    {NODE("address: \"h:0\""), 3, 24, "address 'h:0' has a bad port '0'"},
    {G "nodes: [{name: \"\"}]\n", 2, 16, "name must not be empty"},
    {G "nodes: [{name: \"a\\tb\"}]\n", 2, 16, "control character U+0009 at byte 2"},
    {G "nodes: [{name: \"a\\0b\"}]\n", 2, 16, "control character U+0000 at byte 2"},
    {G "nodes: [{name: \"a\\u202eb\"}]\n", 2, 16, "control character U+202E at byte 2"},
    /* placement values are the library's to judge */
    {G "placement: {algorithm: rign}\n" NODES, 2, 24, "did you mean 'ring'?"},
    {G "placement: {points: -3}\n" NODES, 2, 21, "points"},
    {G "placement: {hash: [a]}\n" NODES, 2, 19, "hash must be a single value, not a list"},
    {G "placement: {hash: \"x\\0y\"}\n" NODES, 2, 19, "holds a NUL"},
    /* proxy */
    {G NODES "proxy:\n", 4, 7, "proxy must be a mapping of keys to values, not nothing"},
    {PROXY("limits: {max_request: 1}"), 4, 64,
     "max_request is '1'; it must be a size like 64MB, 1KB"},
    {PROXY("backend: {timeout: 1}"), 4, 61, "timeout is '1'; it must be a time like 500ms"},
    {PROXY("down: spil"), 4, 48, "down is 'spil'; it must be one of fail|replica|spill"},
    {PROXY("workers: 0"), 4, 51, "workers is '0'; it must be a whole number, 1 to 256"},
    {G NODES "proxy: {listen: [[a]]}\n", 4, 18, "listen must be a single value, not a list"},
    {G NODES "proxy: {listen: [\"h:1\", \"h\"]}\n", 4, 25, "listen 'h' has no port"},
    /* nothing is ignored */
    {G NODES "placement: {points: 5, algorithm: maglev}\n", 4, 13,
     "points is a setting of algorithm: ring, not of maglev"},
    {G NODES "placement: {table: 5}\n", 4, 13,
     "table is a setting of algorithm: maglev, slots, not of ring"},
    {G NODES "placement: {vnodes: 5}\n", 4, 13,
     "vnodes is a setting of like: sample, not of algorithm: ring"},
    {G NODES "placement: {level: none, algorithm: jump}\n", 4, 13,
     "level is a setting of algorithm: ring, rendezvous, maglev, slots, not of jump"},
    /* YAML */
    {G "nodes:\n  - &x {name: a}\n  - *x\n", 3, 5, "anchors and aliases are not accepted"},
    {G "nodes: *x\n", 2, 8, "anchors and aliases are not accepted"},
    {G "nodes:\n  - !!map {name: a}\n", 3, 5, "tags are not accepted"},
    {G NODES "---\n" G, 4, 1, "a second YAML document"},
    {G "nodes: [{name: \"a\n", 3, 1, "unexpected end of stream"},
    {G "nodes:\n\t- {name: a}\n", 3, 1, "a tab; YAML is indented with spaces"},
    {G NODES "}\n", 4, 1, "did not find expected key"},
    {G "nodes:\n  - {name: caf\xe9}\n", 3, 16, "not a text file: invalid trailing UTF-8 octet"},
    {"\x7f"
     "ELF\x02\x01\x01",
     1, 1, "not a text file: control characters"},
};

static void rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const struct row *r = &ROWS[i];
        struct gy_config *c = (struct gy_config *)0x1;
        gyre_error_t e = {0};
        int rc = gy_config_parse(r->text, strlen(r->text), "f.yaml", &c, &e);
        if (rc >= 0 || c || e.code != rc || e.line != r->line || e.column != r->column ||
            strcmp(e.file, "f.yaml") != 0 || !strstr(e.message, r->why)) {
            fail_msg("row %zu: %d, %s:%u:%u: %s\nfor: %s", i, rc, e.file, e.line, e.column,
                     e.message, r->text);
        }
        /* The detail is optional. */
        assert_int_equal(gy_config_parse(r->text, strlen(r->text), "f.yaml", &c, NULL), rc);
    }
}

static void refuse(const char *text, size_t len, const char *why)
{
    struct gy_config *c;
    gyre_error_t e = {0};
    int rc = gy_config_parse(text, len, "f", &c, &e);
    if (!rc || !strstr(e.message, why)) {
        fail_msg("%d: %s", rc, e.message);
    }
}

/* unit repeated until it is size bytes. */
static void refuse_endless(const char *head, const char *unit, size_t size)
{
    size_t h = strlen(head), u = strlen(unit);
    char *text = malloc(size);
    assert_non_null(text);
    memcpy(text, head, h);
    for (size_t i = h; i < size; i++) {
        text[i] = unit[(i - h) % u];
    }
    refuse(text, size, "");
    free(text);
}

static void garbage(void **state)
{
    (void)state;
    static const char *const units[] = {"a",  "a: ", "[",  "{",  "[a,", "? ",  "- ",
                                        "#",  "%",   "\"", "'",  "|\n", "&a ", "*a ",
                                        "! ", "\n",  " ",  "\t", ": "};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        refuse_endless("", units[i], 2 << 20);
        refuse_endless(G "nodes: ", units[i], 2 << 20);
        refuse_endless(G "nodes:\n  - name: ", units[i], 2 << 20);
    }
    size_t size = 2 << 20;
    char *text = malloc(size);
    assert_non_null(text);
    uint32_t x = 2463534242u;
    for (size_t i = 0; i < size; i++) {
        x = x * 1664525u + 1013904223u;
        text[i] = (char)(x >> 24);
    }
    refuse(text, size, "not a text file");
    for (size_t i = 0; i < size; i++) {
        text[i] = (char)(' ' + (uint8_t)text[i] % 95);
    }
    refuse(text, size, "");
    free(text);
}

static void long_names(void **state)
{
    (void)state;
    char text[5000], name[4098];
    struct gy_config *c;
    memset(name, 'n', sizeof name);
    name[4096] = 0;
    int n = snprintf(text, sizeof text, G "nodes: [{name: %s}]\n", name);
    assert_int_equal(gy_config_parse(text, (size_t)n, "f", &c, NULL), 0);
    assert_string_equal(gyre_topology_node(c->topology, 0)->name, name);
    gy_config_free(c);
    name[4096] = 'n';
    name[4097] = 0;
    n = snprintf(text, sizeof text, G "nodes: [{name: %s}]\n", name);
    refuse(text, (size_t)n, "name is 4097 bytes long; at most 4096");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),
        cmocka_unit_test(garbage),
        cmocka_unit_test(long_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
