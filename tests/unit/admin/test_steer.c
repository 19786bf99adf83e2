/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_steer.c - the admin before a real mover with a real store: what it reports while nothing
 * moves, and that a move which cannot be is refused and leaves everything as it was. No server
 * listens at the nodes' addresses; moves that succeed are the end-to-end tests'.
 */
#include "admin/admin.h"
#include "cli/move_status.h"
#include "move/mover.h"
#include "talk.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/gyre-steer-XXXXXX";
static struct gy_config *config;
static struct gy_store *store;
static struct gy_mover *mover;
static struct gy_view *current;
static struct gy_admin *admin;
static char address[64];

/* Port 1 of loopback (tcpmux) has no server on any sane machine. */
static const char file[] =
    "gyre: 1\nversion: 7\nplacement: {algorithm: ring, points: 100}\nnodes:\n"
    "  - {name: a, address: '127.0.0.1:1'}\n"
    "  - {name: b, address: 'localhost:1'}\n"
    "proxy: {listen: ['127.0.0.1:2'], state: /nowhere}\n";

static void info(void *ctx, struct gy_buf *json)
{
    gy_buf_puts(json, "{}");
}

static void publish(void *ctx, struct gy_view *v)
{
    gy_view_unref(current);
    current = v;
}

static bool barrier(void *ctx, uint64_t seq, int timeout_ms)
{
    return true;
}

static void on_access(void *ctx, uint64_t *keys, uint64_t *bytes)
{
    *keys = *bytes = 0;
}

static const struct gy_move_host host = {
    .publish = publish, .barrier = barrier, .on_access = on_access};

static int start(void **state)
{
    gyre_error_t e = {0};
    char *note = NULL;
    if (!mkdtemp(dir) || gy_config_parse(file, strlen(file), "file", &config, &e) ||
        gy_store_open(dir, GY_STORE_EXCLUSIVE, &store, &e) ||
        gy_mover_create(config, store, &mover, &current, &note, &e) ||
        gy_mover_start(mover, &host, &e)) {
        print_error("%s\n", e.message);
        return -1;
    }
    free(note);
    struct gy_admin_ops ops = {.mover = mover, .info = info};
    if (gy_admin_start("127.0.0.1:0", &ops, &admin, &e)) {
        print_error("%s\n", e.message);
        return -1;
    }
    snprintf(address, sizeof address, "%s", gy_admin_address(admin));
    return 0;
}

static int stop(void **state)
{
    char command[64];
    gy_admin_stop(admin);
    gy_mover_stop(mover);
    gy_mover_destroy(mover);
    gy_view_unref(current);
    gy_store_close(store);
    gy_config_free(config);
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

static void assert_code(struct gy_buf *body, const char *code)
{
    json_t *root = json_loads(gy_buf_cstr(body), 0, NULL);
    const char *got = "";
    json_unpack(root, "{s:{s:s}}", "error", "code", &got);
    assert_string_equal(got, code);
    json_decref(root);
}

static void assert_at_rest(void)
{
    struct gy_buf body = {0};
    struct gy_move_status st;
    struct gy_config *now;
    assert_int_equal(talk_http(address, "GET", "/v1/move", NULL, &body), 200);
    assert_int_equal(gy_move_status_parse(gy_buf_cstr(&body), gy_buf_size(&body), &st, NULL),
                     GYRE_OK);
    assert_true(gy_move_idle(&st));
    gy_move_status_fini(&st);
    assert_int_equal(talk_http(address, "GET", "/v1/topology", NULL, &body), 200);
    assert_int_equal(gy_config_parse(gy_buf_cstr(&body), gy_buf_size(&body), "now", &now, NULL),
                     GYRE_OK);
    assert_int_equal(gyre_topology_version(now->topology), 7);
    assert_int_equal(gyre_topology_count(now->topology), 2);
    gy_config_free(now);
    assert_int_equal(talk_http(address, "GET", "/v1/move/history", NULL, &body), 200);
    json_t *root = json_loads(gy_buf_cstr(&body), 0, NULL);
    assert_int_equal(json_array_size(json_object_get(root, "moves")), 0);
    json_decref(root);
    gy_buf_fini(&body);
}

static void nothing_moves(void **state)
{
    assert_at_rest();
}

static void what_is_not_under_way_cannot_be_steered(void **state)
{
    static const char *const paths[] = {"/v1/move/pause", "/v1/move/resume", "/v1/move/abort"};
    struct gy_buf body = {0};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        assert_int_equal(talk_http(address, "POST", paths[i], "", &body), 409);
        assert_code(&body, "REFUSED");
    }
    gy_buf_fini(&body);
    assert_at_rest();
}

#define TO(version, nodes)                                                                  \
    "{\"to\": \"gyre: 1\\nversion: " version "\\nplacement: {algorithm: ring, points: 100}" \
    "\\nnodes: [" nodes "]\\n\"}"
#define A "{name: a, address: '127.0.0.1:1'}"
#define B "{name: b, address: 'localhost:1'}"
#define C "{name: c, address: '[::1]:1'}"

static void a_move_that_cannot_be_changes_nothing(void **state)
{
    static const struct {
        const char *body;
        int status; /* 0: any error */
    } cases[] = {
        {"", 400},
        {"{\"to\": \"\"}", 400},
        {TO("7", A ", " B ", " C), 409},                         /* not the next version */
        {TO("9", A ", " B ", " C), 409},                         /* nor this one */
        {TO("8", A ", " A), 400},                                /* a name twice */
        {TO("8", A ", {name: d, address: '127.0.0.1:1'}"), 409}, /* a's own address */
        {TO("8", A ", " B ", " C), 0},                           /* no server answers */
    };
    struct gy_buf body = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int got = talk_http(address, "POST", "/v1/move", cases[i].body, &body);
        if (cases[i].status ? got != cases[i].status : got < 400) {
            fail_msg("%s: %d %s", cases[i].body, got, gy_buf_cstr(&body));
        }
        assert_non_null(strstr(gy_buf_cstr(&body), "\"error\""));
    }
    gy_buf_fini(&body);
    assert_at_rest();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_moves),
        cmocka_unit_test(what_is_not_under_way_cannot_be_steered),
        cmocka_unit_test(a_move_that_cannot_be_changes_nothing),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
