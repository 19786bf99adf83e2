/* SPDX-License-Identifier: Apache-2.0 */
/* test_lua.c - every rule of the function library on a real redis-server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fleet.h"
#include "move/lua.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct fleet fleet;
static struct gy_sync *s, *d; /* source, destination */

static int up(void **state)
{
    (void)state;
    fleet_up(&fleet, 2, false);
    s = fleet.node[0].c;
    d = fleet.node[1].c;
    fleet_do(s, "FUNCTION", "LOAD", "REPLACE", gy_lua_source, NULL);
    fleet_do(d, "FUNCTION", "LOAD", "REPLACE", gy_lua_source, NULL);
    return 0;
}

static int down(void **state)
{
    (void)state;
    fleet_down(&fleet);
    return 0;
}

static int clear(void **state)
{
    (void)state;
    fleet_flush(&fleet);
    return 0;
}

static struct gy_reply *ask(struct gy_sync *c, size_t n, const struct gy_slice *argv)
{
    struct gy_reply *r;
    gy_sync_add(c, n, argv);
    assert_int_equal(gy_sync_read(c, &r, NULL), GYRE_OK);
    return r;
}

/* The answer begins with these words. */
static void says(struct gy_reply *r, const char *text)
{
    size_t n = strlen(text);
    assert_true(n || r->type != '-');
    if (r->text.n < n || memcmp(r->text.p, text, n) != 0) {
        fail_msg("'%.*s', not '%s'", (int)r->text.n, (const char *)r->text.p, text);
    }
    gy_reply_free(r);
}

#define ASK(c, ...)                                                              \
    ask((c), sizeof((struct gy_slice[]){__VA_ARGS__}) / sizeof(struct gy_slice), \
        (struct gy_slice[]){__VA_ARGS__})
#define S(x) gy_str(x)

static void rec(struct gy_sync *c, const char *epoch, const char *from, const char *to,
                const char *answer)
{
    says(ASK(c, S("FCALL"), S("gyre_rec"), S("2"), S("rec"), S("m"), S(epoch), S(from), S(to),
             S(gy_sync_run_id(c))),
         answer);
}

static struct gy_reply *install(const char *epoch, struct gy_slice key, const char *expire,
                                const char *kind, struct gy_slice payload)
{
    return ASK(d, S("FCALL"), S("gyre_install"), S("3"), S("rec"), S("m"), key, S(epoch), S(expire),
               S(kind), payload);
}

static struct gy_reply *install_full(const char *epoch, struct gy_slice key, const char *kind,
                                     struct gy_slice payload)
{
    return ASK(d, S("FCALL"), S("gyre_install_full"), S("3"), S("rec"), S("m"), key, S(epoch),
               S("0"), S(kind), payload);
}

static struct gy_reply *unmove(const char *epoch, struct gy_slice key, const char *moved,
                               const char *expire, struct gy_slice payload)
{
    return ASK(s, S("FCALL"), S("gyre_unmove"), S("3"), S("rec"), S("b"), key, S(epoch), S(moved),
               S(expire), payload);
}

static struct gy_buf dump_of(struct gy_sync *c, struct gy_slice key, int64_t *expire)
{
    struct gy_buf b = {0};
    struct gy_reply *r = ASK(c, S("FCALL_RO"), S("gyre_dump"), S("1"), key);
    assert_int_equal(r->count, 2);
    gy_buf_add(&b, r->item[0].text.p, r->item[0].text.n);
    if (expire) {
        *expire = r->item[1].integer;
    }
    gy_reply_free(r);
    return b;
}

static struct gy_slice slice(struct gy_buf *b)
{
    return (struct gy_slice){gy_buf_head(b), gy_buf_size(b)};
}

static void test_records(void **state)
{
    (void)state;
    rec(d, "5", "M", "C", "GYREFENCED"); /* nothing there */
    rec(d, "5", "-", "M", "OK");
    rec(d, "5", "-", "M", "ALREADY");
    rec(d, "5", "-", "C", "GYREFENCED");  /* '-' is not M */
    rec(d, "4", "-M", "M", "GYREFENCED"); /* an older coordinator */
    rec(d, "6", "M", "C", "GYREFENCED");  /* another epoch's */
    rec(d, "5", "M", "C", "OK");
    rec(d, "5", "M", "C", "ALREADY");
    rec(d, "5", "P", "A", "GYREFENCED");
    rec(d, "5", "MC", "A", "OK");
    rec(d, "5", "M", "C", "GYREFENCED"); /* race 21 */
    fleet_do(d, "SADD", "m", "old", NULL);
    rec(d, "6", "-", "M", "OK"); /* a newer move forgets what an older one left */
    assert_int_equal(fleet_int(d, "EXISTS", "m", NULL, NULL), 0);
    rec(d, "6", "-", "M", "ALREADY");
}

static void test_dump(void **state)
{
    (void)state;
    int64_t expire;
    struct gy_buf b = dump_of(s, S("none"), &expire);
    assert_int_equal(gy_buf_size(&b), 0);
    assert_int_equal(expire, -2);
    fleet_do(s, "SET", "k", "", NULL);
    b = dump_of(s, S("k"), &expire);
    assert_true(gy_buf_size(&b) > 0);
    assert_int_equal(expire, -1);
    gy_buf_fini(&b);
}

static void test_install(void **state)
{
    (void)state;
    int64_t expire;
    static const struct gy_slice key = {(const uint8_t *)"a\0{b}\r\n", 8};
    says(ASK(s, S("SET"), key, GY_LIT("")), "OK");
    says(ASK(s, S("PEXPIREAT"), key, S("4102444800000")), "");
    struct gy_buf b = dump_of(s, key, &expire);
    assert_int_equal(expire, 4102444800000);
    says(install("5", key, "4102444800000", "D", slice(&b)), "GYREFENCED"); /* no record */
    rec(d, "5", "-", "M", "OK");
    says(install("4", key, "0", "D", slice(&b)), "GYREFENCED");
    says(install("5", key, "0", "X", slice(&b)), "ERR");
    says(install("5", key, "4102444800000", "D", slice(&b)), "OK");
    struct gy_reply *r = ASK(d, S("PEXPIRETIME"), key);
    assert_int_equal(r->integer, 4102444800000);
    gy_reply_free(r);
    r = ASK(d, S("SISMEMBER"), S("m"), key);
    assert_int_equal(r->integer, 1);
    gy_reply_free(r);
    /* Written since: a late duplicate changes nothing. */
    says(ASK(d, S("SET"), key, S("newer")), "OK");
    says(install("5", key, "0", "D", slice(&b)), "ALREADY");
    says(ASK(d, S("GET"), key), "newer");
    says(ASK(d, S("DEL"), key), "");
    says(install("5", key, "0", "D", slice(&b)), "ALREADY"); /* deleted: not brought back */
    r = ASK(d, S("EXISTS"), key);
    assert_int_equal(r->integer, 0);
    gy_reply_free(r);
    rec(d, "5", "M", "C", "OK");
    says(install("5", S("late"), "0", "D", slice(&b)), "DONE");
    rec(d, "5", "C", "A", "OK");
    says(install("5", S("late"), "0", "D", slice(&b)), "GYREFENCED");
    assert_int_equal(fleet_int(d, "EXISTS", "late", NULL, NULL), 0);
    gy_buf_fini(&b);
}

static void test_install_expired(void **state)
{
    (void)state;
    fleet_do(s, "SET", "k", "v", NULL);
    struct gy_buf b = dump_of(s, S("k"), NULL);
    rec(d, "1", "-", "M", "OK");
    says(install("1", S("k"), "1000", "D", slice(&b)), "OK"); /* long ago */
    assert_int_equal(fleet_int(d, "EXISTS", "k", NULL, NULL), 0);
    assert_int_equal(fleet_int(d, "SISMEMBER", "m", "k", NULL), 1);
    says(install("1", S("n"), "-1", "D", slice(&b)), "OK"); /* no expiry, as PEXPIRETIME says it */
    assert_int_equal(fleet_int(d, "PTTL", "n", NULL, NULL), -1);
    says(install("1", S("bad"), "0", "D", S("no payload")), "ERR");
    assert_int_equal(fleet_int(d, "SISMEMBER", "m", "bad", NULL), 0);
    gy_buf_fini(&b);
}

static void test_install_mark_only(void **state)
{
    (void)state;
    rec(d, "1", "-", "M", "OK");
    fleet_do(d, "SET", "k", "its own", NULL);
    says(install("1", S("k"), "0", "N", S("")), "OK");
    says(install("1", S("k"), "0", "N", S("")), "ALREADY");
    says(ASK(d, S("GET"), S("k")), "its own");
    assert_int_equal(fleet_int(d, "HEXISTS", "rec", "lasting", NULL), 0); /* nothing was moved */
    says(install("1", S("k"), "0", "D", S("junk")), "ALREADY");
}

static void test_install_after_restart(void **state)
{
    (void)state;
    fleet_do(d, "HSET", "rec", "epoch", "1", "st", "M", "run_id", "another", NULL);
    says(install("1", S("k"), "0", "N", S("")), "GYREFENCED");
    rec(d, "1", "-", "M", "ALREADY"); /* armed again */
    says(install("1", S("k"), "0", "N", S("")), "OK");
}

static void back(struct gy_sync *c, const char *key, const char *all, int64_t moved, bool there)
{
    struct gy_reply *r =
        ASK(c, S("FCALL_RO"), S("gyre_back"), S("3"), S("rec"), S("m"), S(key), S(all));
    assert_int_equal(r->type, '*');
    assert_int_equal(r->count, 3);
    assert_int_equal(r->item[0].integer, moved);
    assert_int_equal(r->item[1].type == '$', there);
    gy_reply_free(r);
}

static void test_back(void **state)
{
    (void)state;
    fleet_do(d, "SET", "here", "1", NULL);
    fleet_do(d, "SADD", "m", "here", "gone", NULL);
    fleet_do(d, "SET", "unmarked", "1", NULL);
    says(ASK(d, S("FCALL_RO"), S("gyre_back"), S("3"), S("rec"), S("m"), S("here"), S("0")),
         "GYREFENCED");
    fleet_do(d, "HSET", "rec", "epoch", "1", "st", "M", "run_id", "x", NULL);
    says(ASK(d, S("FCALL_RO"), S("gyre_back"), S("3"), S("rec"), S("m"), S("here"), S("0")),
         "GYREFENCED"); /* not frozen */
    rec(d, "1", "M", "A", "OK");
    back(d, "here", "0", 1, true);
    back(d, "gone", "0", 1, false);
    back(d, "unmarked", "0", 0, true);
    back(d, "unmarked", "1", 1, true);
    back(d, "never", "0", 0, false);
    back(d, "never", "1", 1, false);
    /* Frozen from nothing, so the data is lost: what is absent was not deleted. */
    fleet_do(d, "FLUSHALL", NULL);
    rec(d, "1", "MC-", "A", "OK");
    back(d, "never", "1", 0, false);
    fleet_do(d, "SET", "since", "1", NULL);
    back(d, "since", "1", 1, true);
}

static void test_unmove(void **state)
{
    (void)state;
    fleet_do(d, "SET", "k", "from d", NULL);
    struct gy_buf b = dump_of(d, S("k"), NULL);
    fleet_do(s, "SET", "k", "frozen", NULL);
    fleet_do(s, "SET", "dead", "frozen", NULL);
    fleet_do(s, "SET", "kept", "frozen", NULL);
    says(unmove("1", S("k"), "1", "-1", slice(&b)), "GYREFENCED");
    rec(s, "1", "-", "M", "OK");
    says(unmove("1", S("k"), "1", "-1", slice(&b)), "GYREFENCED"); /* not opened for it */
    rec(s, "1", "PM-", "B", "OK");
    says(unmove("2", S("k"), "1", "-1", slice(&b)), "GYREFENCED");
    says(unmove("1", S("k"), "1", "-1", slice(&b)), "OK");
    says(ASK(s, S("GET"), S("k")), "from d");
    says(ASK(s, S("SET"), S("k"), S("newer")), "OK");
    says(unmove("1", S("k"), "1", "-1", slice(&b)), "ALREADY");
    says(ASK(s, S("GET"), S("k")), "newer");
    says(unmove("1", S("dead"), "1", "-2", S("")), "OK"); /* deleted at D */
    assert_int_equal(fleet_int(s, "EXISTS", "dead", NULL, NULL), 0);
    says(unmove("1", S("kept"), "0", "-1", S("")), "OK");
    says(ASK(s, S("GET"), S("kept")), "frozen");
    says(unmove("1", S("kept"), "1", "-1", S("")), "ALREADY"); /* decided */
    rec(s, "1", "B", "O", "OK");
    says(unmove("1", S("late"), "1", "-1", slice(&b)), "DONE");
    gy_buf_fini(&b);
}

static void test_remove(void **state)
{
    (void)state;
    static const char *const fn[] = {"gyre_clean", "gyre_purge"};
    static const char *const right[] = {"M", "A"}, *const wrong[] = {"C", "M"};
    for (int i = 0; i < 2; i++) {
        fleet_do(s, "FLUSHALL", NULL);
        fleet_do(s, "MSET", "a", "1", "b", "2", "c", "3", NULL);
        says(ASK(s, S("FCALL"), S(fn[i]), S("2"), S("rec"), S("a"), S("1")), "GYREFENCED");
        rec(s, "1", "-", wrong[i], "OK");
        says(ASK(s, S("FCALL"), S(fn[i]), S("2"), S("rec"), S("a"), S("1")), "GYREFENCED");
        rec(s, "1", wrong[i], right[i], "OK");
        says(ASK(s, S("FCALL"), S(fn[i]), S("2"), S("rec"), S("a"), S("2")), "GYREFENCED");
        struct gy_reply *r =
            ASK(s, S("FCALL"), S(fn[i]), S("4"), S("rec"), S("a"), S("b"), S("nothing"), S("1"));
        assert_int_equal(r->integer, 2);
        gy_reply_free(r);
        assert_int_equal(fleet_int(s, "EXISTS", "c", NULL, NULL), 1);
    }
}

static void drop(const char *epoch, const char *states, const char *answer)
{
    says(ASK(d, S("FCALL"), S("gyre_drop"), S("3"), S("rec"), S("m"), S("b"), S(epoch), S(states)),
         answer);
}

static void test_drop(void **state)
{
    (void)state;
    drop("1", "C", "ALREADY");
    rec(d, "1", "-", "M", "OK");
    fleet_do(d, "SADD", "m", "x", NULL);
    fleet_do(d, "SADD", "b", "x", NULL);
    drop("1", "C", "GYREFENCED");
    drop("2", "M", "GYREFENCED");
    drop("1", "CM", "OK");
    assert_int_equal(fleet_int(d, "DBSIZE", NULL, NULL, NULL), 0);
    drop("1", "CM", "ALREADY");
}

/* Housekeeping works on a server that is full; an install only for a command that would. */
static void test_full(void **state)
{
    (void)state;
    fleet_do(d, "SET", "k", "v", NULL);
    struct gy_buf b = dump_of(d, S("k"), NULL);
    rec(d, "1", "-", "M", "OK");
    fleet_do(d, "CONFIG", "SET", "maxmemory", "1", NULL);
    says(install("1", S("x"), "0", "D", slice(&b)), "OOM");
    says(install("1", S("y"), "0", "N", S("")), "OOM");
    says(install_full("1", S("x"), "D", slice(&b)), "OK");
    says(install_full("1", S("y"), "N", S("")), "OK");
    says(install_full("2", S("z"), "D", slice(&b)), "GYREFENCED");
    says(ASK(d, S("GET"), S("x")), "v");
    says(ASK(d, S("DEL"), S("x")), "");
    rec(d, "1", "M", "A", "OK");
    says(ASK(d, S("FCALL"), S("gyre_purge"), S("2"), S("rec"), S("k"), S("1")), "");
    drop("1", "A", "OK");
    fleet_do(d, "CONFIG", "SET", "maxmemory", "0", NULL);
    assert_int_equal(fleet_int(d, "DBSIZE", NULL, NULL, NULL), 0);
    gy_buf_fini(&b);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup(name, clear)
    const struct CMUnitTest tests[] = {
        RULE(test_records),
        RULE(test_dump),
        RULE(test_install),
        RULE(test_install_expired),
        RULE(test_install_mark_only),
        RULE(test_install_after_restart),
        RULE(test_back),
        RULE(test_unmove),
        RULE(test_remove),
        RULE(test_drop),
        RULE(test_full),
    };
    return cmocka_run_group_tests(tests, up, down);
}
