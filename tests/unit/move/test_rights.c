/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rights.c - a user who may do all but one thing of what a move does is refused before
 * anything has moved, with the line that would grant it; one who may do nothing but that carries a
 * move there and back. So the table has all that is needed, and nothing else. Its argument is the
 * page of the documentation that lists the rights.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "move/precheck.h"
#include "ride.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define KEYS 120

static const char *page;

struct here {
    struct fleet fleet;
    struct ride ride;
    struct model model;
    gyre_topology_t *one, *two; /* without cache-1, with it */
    char password[96];
};

/* "client|kill" of "CLIENT KILL ID 1". */
static void right_of(const struct gy_right *r, char out[48])
{
    static const char *const containers[] = {"CLIENT ", "ACL ", "MEMORY ", "FUNCTION "};
    size_t words = 1, n = 0;
    for (size_t i = 0; i < sizeof containers / sizeof *containers; i++) {
        words += strncmp(r->command, containers[i], strlen(containers[i])) == 0;
    }
    for (const char *p = r->command; *p && n < 47; p++) {
        if (*p == ' ' && --words == 0) {
            break;
        }
        out[n++] = (char)(*p == ' ' ? '|' : tolower((unsigned char)*p));
    }
    out[n] = '\0';
}

/* The rules one after another, after what a new user has. */
static void set_app(struct fleet_node *n, ...)
{
    struct gy_slice argv[80] = {GY_LIT("ACL"),   GY_LIT("SETUSER"), GY_LIT("app"),
                                GY_LIT("reset"), GY_LIT("on"),      GY_LIT(">pw")};
    size_t argc = 6;
    const char *rule;
    struct gy_reply *r;
    va_list ap;
    va_start(ap, n);
    while ((rule = va_arg(ap, const char *)) != NULL) {
        argv[argc++] = gy_str(rule);
    }
    va_end(ap);
    gy_sync_add(n->c, argc, argv);
    assert_int_equal(gy_sync_read(n->c, &r, NULL), GYRE_OK);
    assert_true(gy_reply_is(r, "OK"));
    gy_reply_free(r);
}

static void up(struct here *h)
{
    memset(h, 0, sizeof *h);
    fleet_up(&h->fleet, 2, false);
    for (int i = 0; i < 2; i++) {
        set_app(&h->fleet.node[i], "~*", "&*", "+@all", NULL);
        fleet_do(h->fleet.node[i].c, "CONFIG", "SET", "save", "3600 1", NULL);
    }
    h->one = fleet_topology(&h->fleet, 0, 1, 1);
    h->two = fleet_topology(&h->fleet, 0, 2, 2);
    model_fill(&h->model, &h->fleet, h->one, KEYS);
    snprintf(h->password, sizeof h->password, "%s/pw", h->fleet.dir);
    FILE *f = fopen(h->password, "w");
    assert_non_null(f);
    fputs("pw\n", f);
    fclose(f);
    static char user[] = "app";
    h->ride.conf.proxy.user = user;
    h->ride.conf.proxy.password_file = h->password;
    ride_open(&h->ride, h->fleet.dir, h->one);
    ride_start(&h->ride);
}

static void down(struct here *h)
{
    ride_close(&h->ride);
    model_fini(&h->model);
    gyre_topology_free(h->one);
    gyre_topology_free(h->two);
    fleet_down(&h->fleet);
}

static int64_t length(struct gy_sync *c, const char *a, const char *b, const char *d)
{
    gyre_error_t e;
    struct gy_reply *r;
    if (gy_sync_call(c, &r, &e, a, b, d, NULL) != GYRE_OK) {
        fail_msg("%s", e.message);
    }
    int64_t n = (int64_t)r->count;
    gy_reply_free(r);
    return n;
}

/* The newcomer has nothing of ours, the node only its own keys. */
static void untouched(struct here *h)
{
    ride_wait(&h->ride, "idle");
    assert_int_equal(length(h->fleet.node[1].c, "FUNCTION", "LIST", NULL), 0);
    assert_int_equal(length(h->fleet.node[1].c, "ACL", "USERS", NULL), 2); /* default, app */
    model_verify(&h->model, &h->fleet, h->one);
}

static void refused(struct here *h, unsigned node, const char *const *words)
{
    gyre_error_t e = {0};
    if (gy_mover_begin(h->ride.mover, gyre_topology_clone(h->two), NULL, &e) != GYRE_REFUSED) {
        fail_msg("begun without '%s': %s", words[0], e.message);
    }
    assert_true(strncmp(e.message, "'cache-", 7) == 0 || strncmp(e.message, "cache-", 6) == 0);
    assert_non_null(strstr(e.message, h->fleet.node[node].name));
    for (; *words; words++) {
        if (!strstr(e.message, *words)) {
            fail_msg("'%s' does not say '%s'", e.message, *words);
        }
    }
    untouched(h);
}

static void test_each_right(void **state)
{
    (void)state;
    struct here h;
    up(&h);
    for (size_t i = 0; i < gy_rights_count; i++) {
        char right[48], without[50], grant[80];
        right_of(&gy_rights[i], right);
        snprintf(without, sizeof without, "-%s", right);
        snprintf(grant, sizeof grant, "+%s", right);
        bool fence = gy_rights[i].when == GY_RIGHT_FENCE;
        const char *words[] = {right, "NOPERM", "ACL SETUSER app ", grant, NULL};
        words[1] = fence || strncmp(right, "client", 6) == 0 || strcmp(right, "info") == 0
                       ? "app"
                       : gy_rights[i].why;
        for (unsigned node = 0; node < 2; node++) {
            if (node == 0 && gy_rights[i].when == GY_RIGHT_SNAPSHOT) {
                continue; /* only where keys go */
            }
            set_app(&h.fleet.node[node], "~*", "&*", "+@all", without, NULL);
            refused(&h, node, words);
            set_app(&h.fleet.node[node], "~*", "&*", "+@all", NULL);
        }
    }
    down(&h);
}

static void test_many_at_once(void **state)
{
    (void)state;
    struct here h;
    up(&h);
    set_app(&h.fleet.node[1], "~*", "+@all", "-@scripting", "-time", NULL);
    refused(&h, 1,
            (const char *const[]){"time", "and 6 more", "+time", "+function|list", "+fcall_ro",
                                  "+eval", NULL});
    down(&h);
}

/* Records and keys in one rule, to read and to write. */
static void test_keys(void **state)
{
    (void)state;
    struct here h;
    up(&h);
    static const struct {
        const char *rules[4], *words[4];
    } lacking[] = {
        {{"~user:*", "~{tag}:*", "~brace{*"}, {"gyre:{main.", "ACL SETUSER app ~gyre:*"}},
        {{"~user:*", "~{tag}:*", "~brace{*", "%R~gyre:*"}, {"gyre:{main.", "~gyre:*"}},
        {{"~gyre:*"}, {"may not use the key", "~gyre:* ~PATTERN"}},
        {{"~gyre:*", "%R~*"}, {"may not use the key", "~PATTERN"}},
        {{"~gyre:*", "(~* +@all)"}, {NULL}}, /* one rule has both */
        {{"~gyre:*", "(~user:* ~{tag}:* ~brace{* +@all)"},
         {"may not use the key", "together with records", "one rule"}},
    };
    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++) {
        const char *const *r = lacking[i].rules;
        for (unsigned node = 0; node < 2 && lacking[i].words[0]; node++) {
            set_app(&h.fleet.node[node], "+@all", r[0], r[1], r[2], r[3], NULL);
            refused(&h, node, lacking[i].words);
            set_app(&h.fleet.node[node], "~*", "+@all", NULL);
        }
    }
    down(&h);
}

/* With the rights of the table and no others: there, and back. Nothing it tells lacks. */
static void test_no_more_is_needed(void **state)
{
    (void)state;
    struct here h;
    gyre_error_t e = {0};
    char text[2][sizeof gy_rights[0] * 3] = {""};
    (void)text;
    up(&h);
    for (unsigned node = 0; node < 2; node++) {
        set_app(&h.fleet.node[node], "~*", "-@all", NULL);
        for (size_t i = 0; i < gy_rights_count; i++) {
            char right[48], grant[50];
            right_of(&gy_rights[i], right);
            snprintf(grant, sizeof grant, "+%s", right);
            fleet_do(h.fleet.node[node].c, "ACL", "SETUSER", "app", grant, NULL);
        }
        fleet_do(h.fleet.node[node].c, "ACL", "SETUSER", "app", "+config|get", NULL);
    }
    for (int round = 0; round < 2; round++) {
        struct gy_move_options slow = {.keys_per_s = round ? 0 : 100};
        if (gy_mover_begin(h.ride.mover, gyre_topology_clone(h.two), &slow, &e) != GYRE_OK) {
            fail_msg("%s", e.message);
        }
        if (round == 0) {
            while (ride_number(&h.ride, "keys.moved") < 10) {
            }
            assert_int_equal(gy_mover_abort(h.ride.mover, &e), GYRE_OK);
        }
        char *status;
        do {
            status = ride_status(&h.ride);
            if (strstr(status, "NOPERM") || strstr(status, "permissions")) {
                fail_msg("%s", status);
            }
        } while (!strstr(status, "\"state\":\"idle\"") && (free(status), true));
        free(status);
        model_verify(&h.model, &h.fleet, round ? h.two : h.one);
    }
    down(&h);
}

/* The documented grant is the table. */
static void test_page(void **state)
{
    (void)state;
    static char text[1 << 16];
    FILE *f = fopen(page, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    char *from = strstr(text, "```\nACL SETUSER gyre "), *end = from ? strstr(from, "\n```") : NULL;
    assert_non_null(end);
    *end = '\0';
    for (size_t i = 0; i < gy_rights_count; i++) {
        char right[48], grant[52];
        right_of(&gy_rights[i], right);
        snprintf(grant, sizeof grant, " +%s", right);
        const char *at = strstr(from, grant);
        if (!at || !strchr(" \n\\", at[strlen(grant)])) {
            fail_msg("%s does not list%s", page, grant);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_right), cmocka_unit_test(test_many_at_once),
        cmocka_unit_test(test_keys),       cmocka_unit_test(test_no_more_is_needed),
        cmocka_unit_test(test_page),
    };
    page = argc > 1 ? argv[1] : "docs/topology.md";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
