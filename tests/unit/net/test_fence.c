/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fence.c - who is ours in what a server lists. Names that are nearly of our form are
 * nobody's: a mistake here would delete or kill somebody else's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/greet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gy_fence f;

static int up(void **state)
{
    (void)state;
    return gy_fence_init(&f, "a b", "0123abcd", 7, "app", NULL);
}

static int down(void **state)
{
    (void)state;
    gy_fence_fini(&f);
    return 0;
}

/* An answer to ACL LIST; the tree's texts are the caller's. */
static struct gy_reply list(struct gy_reply *items, const char *const *lines, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        items[i] = (struct gy_reply){.type = '$', .text = gy_str(lines[i])};
    }
    return (struct gy_reply){.type = '*', .count = n, .item = items};
}

static void commands_are(struct gy_buf *out, const char *want)
{
    struct gy_buf flat = {0};
    for (const char *p = gy_buf_cstr(out); *p; p = strchr(p, '\n') + 1) {
        if (*p == '*') {
            gy_buf_puts(&flat, gy_buf_size(&flat) ? "\n" : "");
        } else if (*p != '$') {
            gy_buf_add(&flat, p, strcspn(p, "\r"));
            gy_buf_putc(&flat, ' ');
        }
    }
    assert_string_equal(gy_buf_cstr(&flat), want);
    gy_buf_fini(&flat);
    gy_buf_fini(out);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(f.user, "gyre-a%20b-0123abcd-7");
    assert_int_equal(strlen(f.secret), 64);
    struct gy_fence other;
    assert_int_equal(gy_fence_init(&other, "a b", "0123abcd", 7, NULL, NULL), GYRE_OK);
    assert_string_not_equal(f.secret, other.secret);
    assert_string_equal(other.base, "default");
    assert_int_equal(gy_fence_renumber(&other, 9, NULL), GYRE_OK);
    assert_string_equal(other.user, "gyre-a%20b-0123abcd-9");
    gy_fence_fini(&other);
}

static const char *const users[] = {
    "user gyre-a%20b-0123abcd-6 on #12 ~* +@all",
    "user gyre-a%20b-0123abcd-7 on #12 ~* +@all",
    "user gyre-a%20b-0123abcd-10 on #12 ~* +@all",
    "user gyre-a%20b-0123abcd-5x on",
    "user gyre-a%20b-0123abcd- on",
    "user gyre-a%20b-0123abcd-1234567890123456789012345 on",
    "user gyre-a%20b-0123abcde-1 on",
    "user gyre-a%20b-0123ABCD-1 on",
    "user gyre-a%20b-4567cdef-1 on",
    "user gyre-a%20b-4567cdef-2 on",
    "user gyre-a%20bc-4567cdef-1 on",
    "gyre-a%20b-0123abcd-1 on",
    "user",
    "",
    "user app  on sanitize-payload #00ff ~app:* %R~ro:* resetchannels -@all +get (~x +set) ",
};
enum { USERS = sizeof users / sizeof *users };

static void test_look(void **state)
{
    (void)state;
    struct gy_reply items[USERS], acl = list(items, users, USERS);
    struct gy_fence_seen seen;
    gy_fence_look(&f, &acl, &seen);
    assert_true(seen.own && seen.older);
    assert_int_equal(seen.newest, 10);
    acl.count = 0;
    gy_fence_look(&f, &acl, &seen);
    assert_false(seen.own || seen.older);
    assert_int_equal(seen.newest, 0);
    struct gy_reply error = {.type = '-', .text = GY_LIT("ERR no")};
    gy_fence_look(&f, &error, &seen);
    assert_false(seen.own || seen.older);
}

static bool stale(const char *ours, const char *base)
{
    const char *lines[] = {ours, base};
    struct gy_reply items[2], acl = list(items, lines, base ? 2 : 1);
    struct gy_fence_seen seen;
    gy_fence_look(&f, &acl, &seen);
    return seen.stale;
}

/* Passwords and whether it is on are no rights; one word more or fewer on either side is. */
static void test_stale(void **state)
{
    (void)state;
    static const char ours[] = "user gyre-a%20b-0123abcd-7 on sanitize-payload #12 ~* +@all";
    assert_false(stale(ours, "user app off sanitize-payload #34 #56  ~* +@all "));
    assert_false(stale(ours, "user app on sanitize-payload nopass ~* +@all"));
    assert_true(stale(ours, "user app on sanitize-payload #34 ~* +@all -get"));
    assert_true(stale(ours, "user app on sanitize-payload #34 ~*"));
    assert_true(stale(ours, "user app on sanitize-payload #34 ~a +@all"));
    assert_true(stale(ours, "user app"));
    assert_false(stale(ours, NULL)); /* not listed: told as that */
    assert_false(stale("user gyre-a%20b-0123abcd-6 on ~*", "user app on +@all")); /* not ours */
}

static void test_rules(void **state)
{
    (void)state;
    struct gy_reply items[USERS], acl = list(items, users, USERS);
    struct gy_buf rules = {0}, out = {0};
    assert_true(gy_fence_rules(&f, &acl, &rules));
    assert_string_equal(gy_buf_cstr(&rules), "sanitize-payload ~app:* %R~ro:* resetchannels -@all "
                                             "+get (~x +set) ");
    assert_true(
        gy_fence_make(&f, (struct gy_slice){gy_buf_head(&rules), gy_buf_size(&rules)}, &out));
    char want[400];
    snprintf(want, sizeof want,
             "ACL SETUSER gyre-a%%20b-0123abcd-7 reset on >%s sanitize-payload ~app:* %%R~ro:* "
             "resetchannels -@all +get (~x +set) ",
             f.secret);
    commands_are(&out, want);
    gy_buf_reset(&rules);
    acl.count--;
    assert_false(gy_fence_rules(&f, &acl, &rules));
    gy_buf_fini(&rules);
}

static void test_delete(void **state)
{
    (void)state;
    struct gy_reply items[USERS], acl = list(items, users, USERS);
    struct gy_slice clients = GY_LIT("id=3 addr=1 name= user=default resp=2\n"
                                     "id=4 addr=1 name=x user=gyre-a%20b-4567cdef-2 resp=2\n");
    struct gy_buf out = {0};
    gy_fence_delete(&f, &acl, clients, &out);
    commands_are(&out, "ACL DELUSER gyre-a%20b-0123abcd-0 gyre-a%20b-0123abcd-6 "
                       "gyre-a%20b-4567cdef-1 ");
    gy_fence_delete(&f, NULL, clients, &out);
    commands_are(&out, "ACL DELUSER gyre-a%20b-0123abcd-0 ");
}

/* Where we leave for good: ours up to this process, of no other id, and of none that came later. */
static void test_unmake(void **state)
{
    (void)state;
    struct gy_reply items[USERS], acl = list(items, users, USERS);
    size_t argc;
    struct gy_slice *argv = gy_fence_unmake(&f, &acl, &argc);
    struct gy_buf out = {0};
    assert_non_null(argv);
    gy_resp_command(&out, argc, argv);
    free(argv);
    commands_are(&out, "ACL DELUSER gyre-a%20b-0123abcd-6 gyre-a%20b-0123abcd-7 ");
    acl.count = 0;
    assert_null(gy_fence_unmake(&f, &acl, &argc));
}

static void test_kill(void **state)
{
    (void)state;
    struct gy_slice clients = GY_LIT("id=3 addr=1 name=gyre-a%20b-0123abcd-6-w0 user=default\n"
                                     "id=4 addr=1 name=gyre-a%20b-0123abcd-7-w0 user=x\n"
                                     "id=5 addr=1 name=gyre-a%20b-0123abcd-8-w0 user=x\n"
                                     "id=6 addr=1 name=gyre-a%20b-0123abcd-6 user=x\n"
                                     "id=7 addr=1 name=gyre-a%20b-4567cdef-6-w0 user=x\n"
                                     "id=x addr=1 name=gyre-a%20b-0123abcd-6-w0 user=x\n"
                                     "name=gyre-a%20b-0123abcd-6-w0 id=8\n"
                                     "\n"
                                     "id=9 addr=1 name=gyre-a%20b-0123abcd-2-mover");
    struct gy_buf out = {0};
    assert_int_equal(gy_fence_kill(&f, clients, &out), 2);
    commands_are(&out, "CLIENT KILL ID 3 \nCLIENT KILL ID 9 ");
    assert_int_equal(gy_fence_kill(&f, (struct gy_slice){NULL, 0}, &out), 0);
    assert_int_equal(gy_fence_count(&f, GY_LIT("id=1 user=gyre-a%20b-0123abcd-7\n"
                                               "id=2 user=gyre-a%20b-0123abcd-70 x=1\n")),
                     1);
    gy_buf_fini(&out);
}

static bool other(struct gy_slice clients, const char *want)
{
    char id[GY_FENCE_ID + 1] = "";
    struct gy_slice from = {NULL, 0};
    bool found = gy_fence_other(&f, clients, id, &from);
    assert_string_equal(id, want);
    assert_true(gy_slice_eq(from, found ? GY_LIT("h:2") : (struct gy_slice){NULL, 0}));
    return found;
}

static void test_other(void **state)
{
    (void)state;
    assert_true(other(GY_LIT("id=1 addr=h:1 name=x user=default\n"
                             "id=2 addr=h:2 name= user=gyre-a%20b-4567cdef-2 resp=2\n"),
                      "4567cdef"));
    assert_true(
        other(GY_LIT("id=2 addr=h:2 name=gyre-a%20b-4567cdef-2-w0 user=default"), "4567cdef"));
    assert_false(
        other(GY_LIT("id=1 addr=h:1 name=gyre-a%20b-0123abcd-6-w0 user=default\n"
                     "id=2 addr=h:1 name=gyre-a%20b-0123abcd-8-w0 user=gyre-a%20b-0123abcd-8\n"
                     "id=3 addr=h:1 name=gyre-a%20b-4567cdef-2 user=gyre-a%20b-4567cdef-2-w0\n"
                     "id=4 addr=h:1 name=gyre-a%20b-4567CDEF-2-w0 user=gyre-a%20b-4567cde-2\n"
                     "id=5 addr=h:1 name=gyre-b-4567cdef-2-w0 user=gyre-b-4567cdef-2\n"
                     "id=6 name=gyre-a%20b-4567cdef user=gyre-a%20b-4567cdef-x\n\n"),
              ""));
    assert_false(other((struct gy_slice){NULL, 0}, ""));
}

/* The hand-shake read the rights, then somebody took one away: what it makes would put it back. */
static void test_right_taken_meanwhile(void **state)
{
    (void)state;
    static const char *const then = "user app on #00 ~* &* +@all",
                             *const now = "user app on #00 ~* &* +@all -set";
    for (int taken = 0; taken < 2; taken++) {
        struct gy_greet g = {.user = "app", .password = "x", .fence = &f};
        struct gy_buf out = {0};
        enum gy_greeting state_now = GY_GREETING_MORE;
        unsigned lists = 0;
        gy_greet_begin(&g, &out);
        while (state_now == GY_GREETING_MORE) {
            enum gy_greet_ask what = g.ask[g.at];
            bool list = what == GY_ASK_ACL || what == GY_ASK_ACL_AGAIN;
            struct gy_reply line = {.type = '$', .text = gy_str(taken && lists ? now : then)};
            struct gy_reply r = {.type = what == GY_ASK_ID     ? ':'
                                         : what == GY_ASK_INFO ? '$'
                                         : list                ? '*'
                                                               : '+',
                                 .text = GY_LIT("OK")};
            if (what == GY_ASK_INFO) {
                r.text = GY_LIT("run_id:0123456789012345678901234567890123456789\r\n");
            }
            if (what == GY_ASK_CLIENTS) {
                r.type = '$';
                r.text = GY_LIT("\n");
            }
            if (list) {
                r.count = 1;
                r.item = &line;
                lists++;
            }
            state_now = gy_greet_take(&g, &r, &out);
        }
        assert_int_equal(lists, 2);
        assert_int_equal(state_now, taken ? GY_GREETING_FAILED : GY_GREETING_DONE);
        assert_int_equal(g.fenced, !taken);
        assert_true(!taken || strstr(g.why, "changed meanwhile"));
        gy_greet_fini(&g);
        gy_buf_fini(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_look),
        cmocka_unit_test(test_unmake),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_delete),
        cmocka_unit_test(test_kill),
        cmocka_unit_test(test_other),
        cmocka_unit_test(test_stale),
        cmocka_unit_test(test_right_taken_meanwhile),
    };
    return cmocka_run_group_tests(tests, up, down);
}
