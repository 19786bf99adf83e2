/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store.c - the store: values, compare-and-set, lists, the lock, what survives a kill, and the
 * words for a directory, a disk or a file that will not do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "control/store.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64], path[128];

static int up(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/gyre-store-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/gyre.db", dir);
    return 0;
}

static int down(void **state)
{
    char command[256];
    (void)state;
    snprintf(command, sizeof command, "chmod -R u+w '%s'; rm -rf '%s'", dir, dir);
    return system(command);
}

static struct gy_store *opened(enum gy_store_open_mode mode)
{
    struct gy_store *s;
    gyre_error_t e;
    if (gy_store_open(dir, mode, &s, &e) != GYRE_OK) {
        fail_msg("%s", e.message);
    }
    return s;
}

static void cannot_open(const char *where, int code, const char *why)
{
    struct gy_store *s;
    gyre_error_t e;
    assert_int_equal(gy_store_open(where, GY_STORE_EXCLUSIVE, &s, &e), code);
    assert_null(s);
    if (!strstr(e.message, why)) {
        fail_msg("'%s' does not say '%s'", e.message, why);
    }
}

static struct gy_store_op put(const char *key, const char *value)
{
    return (struct gy_store_op){.key = key, .expect = GY_EXPECT_ANY, .value = gy_str(value)};
}

static void set(struct gy_store *s, const char *key, const char *value)
{
    struct gy_store_op op = put(key, value);
    assert_int_equal(gy_store_txn(s, &op, 1, NULL, NULL), GYRE_OK);
}

static void expect(struct gy_store *s, const char *key, const char *value)
{
    struct gy_buf b = {0};
    int rc = gy_store_get(s, key, &b, NULL, NULL);
    if (!value) {
        assert_int_equal(rc, GYRE_UNKNOWN);
    } else {
        assert_int_equal(rc, GYRE_OK);
        assert_string_equal(gy_buf_cstr(&b), value);
    }
    gy_buf_fini(&b);
}

static void test_values(void **state)
{
    (void)state;
    struct gy_store *s = opened(GY_STORE_EXCLUSIVE);
    struct gy_buf b = {0};
    static const uint8_t bytes[] = {0, 255, 0, 10};
    struct gy_store_op op = {.key = "bytes", .value = {bytes, sizeof bytes}};
    assert_int_equal(gy_store_txn(s, &op, 1, NULL, NULL), GYRE_OK);
    assert_int_equal(gy_store_get(s, "bytes", &b, NULL, NULL), GYRE_OK);
    assert_int_equal(gy_buf_size(&b), sizeof bytes);
    assert_memory_equal(gy_buf_head(&b), bytes, sizeof bytes);
    set(s, "empty", "");
    expect(s, "empty", "");
    expect(s, "none", NULL);
    char *big = malloc(3000001);
    memset(big, 'x', 3000000);
    big[3000000] = '\0';
    set(s, "big", big);
    expect(s, "big", big);
    free(big);
    gy_buf_fini(&b);
    gy_store_close(s);
    s = opened(GY_STORE_EXCLUSIVE);
    expect(s, "empty", "");
    gy_store_close(s);
    gy_store_close(NULL);
}

static void test_revisions(void **state)
{
    (void)state;
    struct gy_store *s = opened(GY_STORE_EXCLUSIVE);
    struct gy_buf b = {0};
    uint64_t one, two, three;
    set(s, "a", "1");
    assert_int_equal(gy_store_get(s, "a", &b, &one, NULL), GYRE_OK);
    struct gy_store_op del = {.key = "a", .remove = true};
    assert_int_equal(gy_store_txn(s, &del, 1, NULL, NULL), GYRE_OK);
    set(s, "a", "1"); /* the same again, after it was gone: newer all the same */
    assert_int_equal(gy_store_get(s, "a", &b, &two, NULL), GYRE_OK);
    assert_true(two > one);
    set(s, "b", "1");
    assert_int_equal(gy_store_get(s, "b", &b, &three, NULL), GYRE_OK);
    assert_true(three > two);
    gy_buf_fini(&b);
    gy_store_close(s);
}

static void test_compare_and_set(void **state)
{
    (void)state;
    struct gy_store *s = opened(GY_STORE_EXCLUSIVE), *other = opened(GY_STORE_SHARED);
    size_t failed = 99;
    gyre_error_t e;
    struct gy_store_op ops[] = {put("x", "1"), put("y", "1")};
    ops[0].expect = ops[1].expect = GY_EXPECT_ABSENT;
    assert_int_equal(gy_store_txn(s, ops, 2, &failed, &e), GYRE_OK);
    assert_int_equal(gy_store_txn(s, ops, 2, &failed, &e), GYRE_CONFLICT);
    assert_int_equal(failed, 0);
    ops[0].expect = ops[1].expect = GY_EXPECT_VALUE;
    ops[0].old = GY_LIT("1");
    ops[1].old = GY_LIT("2");
    ops[0].value = ops[1].value = GY_LIT("3");
    assert_int_equal(gy_store_txn(s, ops, 2, &failed, &e), GYRE_CONFLICT);
    assert_int_equal(failed, 1);
    assert_non_null(strstr(e.message, "'y'"));
    expect(s, "x", "1"); /* all or nothing */
    ops[1].key = "nothing";
    assert_int_equal(gy_store_txn(s, ops, 2, &failed, &e), GYRE_CONFLICT);
    /* A prefix, or the same with more behind, is not the value. */
    ops[1].key = "y";
    ops[1].old = GY_LIT("");
    assert_int_equal(gy_store_txn(s, ops, 2, &failed, &e), GYRE_CONFLICT);
    set(other, "y", "2"); /* seen at once by the first */
    ops[1].old = GY_LIT("2");
    ops[1].remove = true;
    assert_int_equal(gy_store_txn(s, ops, 2, &failed, &e), GYRE_OK);
    expect(other, "x", "3");
    expect(other, "y", NULL);
    assert_int_equal(gy_store_txn(s, NULL, 0, NULL, &e), GYRE_OK);
    gy_store_close(other);
    gy_store_close(s);
}

struct listing {
    char text[256];
    int left;
};

static bool collect(void *ctx, const char *key, struct gy_slice value, uint64_t revision)
{
    struct listing *l = ctx;
    size_t n = strlen(l->text);
    assert_true(revision > 0);
    snprintf(l->text + n, sizeof l->text - n, "%s=%.*s ", key, (int)value.n, (const char *)value.p);
    return --l->left > 0;
}

static void test_list(void **state)
{
    (void)state;
    struct gy_store *s = opened(GY_STORE_EXCLUSIVE);
    struct listing l = {.left = 99};
    set(s, "p/b", "2");
    set(s, "p/a", "1");
    set(s, "p/\xc3\xa9", "3");
    set(s, "p", "no");
    set(s, "p0", "no");
    set(s, "P/a", "no");
    assert_int_equal(gy_store_list(s, "p/", collect, &l, NULL), GYRE_OK);
    assert_string_equal(l.text, "p/a=1 p/b=2 p/\xc3\xa9=3 ");
    l = (struct listing){.left = 1};
    assert_int_equal(gy_store_list(s, "p/", collect, &l, NULL), GYRE_OK);
    assert_string_equal(l.text, "p/a=1 ");
    l = (struct listing){.left = 99};
    assert_int_equal(gy_store_list(s, "q", collect, &l, NULL), GYRE_OK);
    assert_string_equal(l.text, "");
    gy_store_close(s);
}

static void test_lock(void **state)
{
    (void)state;
    char pid[48];
    struct gy_store *s = opened(GY_STORE_EXCLUSIVE);
    snprintf(pid, sizeof pid, "in use by process %ld", (long)getpid());
    cannot_open(dir, GYRE_CONFLICT, pid);
    struct gy_store *shared = opened(GY_STORE_SHARED);
    gy_store_close(shared);
    gy_store_close(s);
    s = opened(GY_STORE_EXCLUSIVE);
    gy_store_close(s);
}

/* A child answers "written" and is killed: what it answered for is there, and the lock is free. */
static void test_kill(void **state)
{
    (void)state;
    int pipes[2];
    char byte;
    assert_int_equal(pipe(pipes), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct gy_store *s = opened(GY_STORE_EXCLUSIVE);
        set(s, "k", "durable");
        (void)!write(pipes[1], "x", 1);
        pause();
        _exit(0);
    }
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    struct gy_store *s = opened(GY_STORE_EXCLUSIVE);
    expect(s, "k", "durable");
    gy_store_close(s);
    close(pipes[0]);
    close(pipes[1]);
}

static void raw(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void test_not_ours(void **state)
{
    (void)state;
    raw("CREATE TABLE other(x)");
    cannot_open(dir, GYRE_IO, "not a store of gyre");
    assert_int_equal(unlink(path), 0);
    gy_store_close(opened(GY_STORE_EXCLUSIVE));
    raw("PRAGMA user_version=99");
    cannot_open(dir, GYRE_IO, "written by a newer gyre");
}

/* Another process makes the store while this one opens it: at the end of the statement whose turn
 * it is, a second connection does. */
static struct {
    int turn;
    bool made, locked;
} meanwhile;

static int at_end(unsigned what, void *ctx, void *statement, void *nanoseconds)
{
    (void)ctx;
    (void)nanoseconds;
    const char *sql = sqlite3_sql(statement);
    meanwhile.locked |= what == SQLITE_TRACE_PROFILE && strcmp(sql, "BEGIN IMMEDIATE;") == 0;
    if (!meanwhile.locked && meanwhile.turn-- == 0) {
        meanwhile.made = true;
        gy_store_close(opened(GY_STORE_SHARED));
    }
    return 0;
}

static int watch(sqlite3 *db)
{
    return meanwhile.made ? SQLITE_OK : sqlite3_trace_v2(db, SQLITE_TRACE_PROFILE, at_end, NULL);
}

static int open_meanwhile(enum gy_store_open_mode mode, int turn, gyre_error_t *e)
{
    struct gy_store *s = NULL;
    /* An empty file that has its log already, or the two would wait for each other. */
    raw("PRAGMA journal_mode=WAL; PRAGMA user_version=0");
    memset(&meanwhile, 0, sizeof meanwhile);
    meanwhile.turn = turn;
    sqlite3_auto_extension((void (*)(void))watch);
    int rc = gy_store_open(dir, mode, &s, e);
    sqlite3_cancel_auto_extension((void (*)(void))watch);
    gy_store_close(s);
    return rc;
}

static void test_made_meanwhile(void **state)
{
    static const enum gy_store_open_mode modes[] = {GY_STORE_EXCLUSIVE, GY_STORE_BESIDE,
                                                    GY_STORE_SHARED, GY_STORE_LOOK};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        int turn = 0;
        do {
            gyre_error_t e = {0};
            int rc = open_meanwhile(modes[i], turn++, &e);
            bool nothing = modes[i] == GY_STORE_LOOK && strstr(e.message, "nothing is in it yet");
            if (rc != GYRE_OK && !nothing) {
                fail_msg("mode %d, made after statement %d: %s", modes[i], turn, e.message);
            }
            assert_int_equal(down(state), 0);
            assert_int_equal(mkdir(dir, 0700), 0);
        } while (meanwhile.made);
        assert_true(turn > 3); /* it was made in between, again and again */
    }
}

static void *leave(void *reader)
{
    sqlite3_sleep(50);
    assert_int_equal(sqlite3_exec(reader, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    return NULL;
}

/* Two make the store at once: where one looks into the empty file, the other waits with the log. */
static void test_waits_for_a_look(void **state)
{
    (void)state;
    sqlite3 *reader;
    pthread_t thread;
    assert_int_equal(sqlite3_open(path, &reader), SQLITE_OK);
    const char *look = "BEGIN; SELECT count(*) FROM sqlite_master";
    assert_int_equal(sqlite3_exec(reader, look, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(pthread_create(&thread, NULL, leave, reader), 0);
    struct gy_store *s = opened(GY_STORE_EXCLUSIVE);
    assert_int_equal(pthread_join(thread, NULL), 0);
    sqlite3_close(reader);
    set(s, "k", "v");
    gy_store_close(s);
}

static void test_damaged(void **state)
{
    (void)state;
    FILE *f = fopen(path, "w");
    for (int i = 0; i < 10000; i++) {
        fputs("this is no data base ", f);
    }
    fclose(f);
    cannot_open(dir, GYRE_IO, "damaged");
}

/* The pages of a good store overwritten: reading says so instead of answering something. */
static void test_damaged_pages(void **state)
{
    (void)state;
    struct gy_store *s = opened(GY_STORE_EXCLUSIVE);
    for (int i = 0; i < 500; i++) {
        char key[16];
        snprintf(key, sizeof key, "key%d", i);
        set(s, key, "a value that fills some pages of the file, so that there is a tree");
    }
    gy_store_close(s);
    int fd = open(path, O_WRONLY);
    char junk[4096];
    memset(junk, 0xee, sizeof junk);
    for (int page = 1; page < 20; page++) {
        (void)!pwrite(fd, junk, sizeof junk, page * 4096);
    }
    close(fd);
    struct gy_buf b = {0};
    gyre_error_t e = {0};
    int rc = gy_store_open(dir, GY_STORE_EXCLUSIVE, &s, &e);
    if (rc == GYRE_OK) {
        rc = gy_store_get(s, "key7", &b, NULL, &e);
        gy_store_close(s);
    }
    assert_int_equal(rc, GYRE_IO);
    assert_non_null(strstr(e.message, "damaged"));
    gy_buf_fini(&b);
}

static void test_bad_places(void **state)
{
    (void)state;
    char file[128];
    snprintf(file, sizeof file, "%s/file", dir);
    fclose(fopen(file, "w"));
    cannot_open(file, GYRE_IO, "must be a directory");
    cannot_open("/nowhere/at/all", GYRE_IO, "cannot create the state directory");
    cannot_open("/dev/null", GYRE_IO, "must be a directory");
    cannot_open("/proc", GYRE_IO, "/proc");
}

/* In the data base's place, in every mode: said at once, and nothing is waited for. */
static void test_no_file(void **state)
{
    (void)state;
    static const char *const what[] = {"a pipe", "a directory", "a socket"};
    struct gy_store *s;
    for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
        int rc = i == 0   ? mkfifo(path, 0600)
                 : i == 1 ? mkdir(path, 0700)
                          : mknod(path, S_IFSOCK | 0600, 0);
        assert_int_equal(rc, 0);
        for (int mode = GY_STORE_EXCLUSIVE; mode <= GY_STORE_LOOK; mode++) {
            gyre_error_t e = {0};
            assert_int_equal(gy_store_open(dir, (enum gy_store_open_mode)mode, &s, &e), GYRE_IO);
            assert_non_null(strstr(e.message, what[i]));
        }
        gyre_error_t e = {0};
        assert_int_equal(gy_store_check(dir, &e), GYRE_IO);
        assert_non_null(strstr(e.message, what[i]));
        assert_int_equal(remove(path), 0);
    }
}

/* A full disk, by a limit on the size of files: the transaction fails whole and says why; the store
 * is good again when there is room. */
static void test_full(void **state)
{
    (void)state;
    struct gy_store *s = opened(GY_STORE_EXCLUSIVE);
    struct rlimit old, little;
    gyre_error_t e;
    set(s, "k", "before");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    little = old;
    little.rlim_cur = 65536;
    signal(SIGXFSZ, SIG_IGN);
    char *big = calloc(1, 1 << 20);
    memset(big, 'x', (1 << 20) - 1);
    struct gy_store_op ops[] = {put("k", "after"), put("big", big)};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    int rc = gy_store_txn(s, ops, 2, NULL, &e);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(rc, GYRE_IO);
    expect(s, "k", "before");
    assert_int_equal(gy_store_txn(s, ops, 2, NULL, &e), GYRE_OK);
    expect(s, "k", "after");
    free(big);
    gy_store_close(s);
}

static void test_removed(void **state)
{
    (void)state;
    char aside[160];
    gyre_error_t e = {0};
    struct stat st;
    struct gy_store *s = opened(GY_STORE_SHARED);
    struct gy_store_op op = {.key = "k", .value = GY_LIT("v")};
    assert_int_equal(gy_store_txn(s, &op, 1, NULL, &e), GYRE_OK);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    snprintf(aside, sizeof aside, "%s.aside", path);
    assert_int_equal(rename(path, aside), 0);
    assert_int_equal(gy_store_txn(s, &op, 1, NULL, &e), GYRE_IO);
    assert_non_null(strstr(e.message, "removed or replaced"));
    assert_int_equal(rename(aside, path), 0);
    assert_int_equal(gy_store_txn(s, &op, 1, NULL, &e), GYRE_OK);
    gy_store_close(s);
}

int main(void)
{
#define EACH(name) cmocka_unit_test_setup_teardown(name, up, down)
    const struct CMUnitTest tests[] = {
        EACH(test_values),
        EACH(test_revisions),
        EACH(test_compare_and_set),
        EACH(test_list),
        EACH(test_lock),
        EACH(test_kill),
        EACH(test_not_ours),
        EACH(test_damaged),
        EACH(test_damaged_pages),
        EACH(test_bad_places),
        EACH(test_full),
        EACH(test_removed),
        EACH(test_made_meanwhile),
        EACH(test_waits_for_a_look),
        EACH(test_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
