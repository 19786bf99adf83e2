/* SPDX-License-Identifier: Apache-2.0 */
/* test_listen.c - listening sockets: a lost folder, a dead socket file, a live one, a port in use.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/listen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];

static int up(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/gyre-listen-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command);
}

static struct gy_addr unix_addr(const char *rest)
{
    struct gy_addr a = {.is_unix = true};
    snprintf(a.host, sizeof a.host, "%s/%s", dir, rest);
    return a;
}

static void makes_one_folder(void **state)
{
    (void)state;
    int fd = -1;
    gyre_error_t e = {0};
    struct gy_addr near = unix_addr("run/g.sock"), far = unix_addr("a/b/g.sock");
    assert_int_equal(gy_listen(&near, 1, &fd, &e), GYRE_OK);
    close(fd);
    assert_int_equal(gy_listen(&far, 1, &fd, &e), GYRE_IO);
    assert_non_null(strstr(e.message, "install -d -o "));
    assert_non_null(strstr(e.message, "a/b"));
    assert_int_equal(gy_listen_check(&far, &e), GYRE_IO);
    assert_non_null(strstr(e.message, "install -d -o "));
    struct gy_addr next = unix_addr("new/g.sock");
    assert_int_equal(gy_listen_check(&next, &e), GYRE_OK);
    assert_int_equal(gy_listen_check(&near, &e), GYRE_OK);
}

/* The check and the start say the same of whatever stands in the folder's place. */
static const struct {
    const char *path, *says; /* NULL: fine */
} PLACES[] = {
    {"real/g.sock", NULL},
    {"link/g.sock", NULL},
    {"new1//g.sock", NULL},
    {"new2///g.sock", NULL},
    {"real//new3//g.sock", NULL},
    {"dangling/g.sock", "dangling is a link to what is not there"},
    {"loop/g.sock", "Too many levels of symbolic links"},
    {"file/g.sock", "Not a directory"},
    {"file/sub/g.sock", "Not a directory"},
    {"real/new4//sub/g.sock", "its folder is missing and cannot be made"},
    {"dangling/sub/g.sock", "its folder is missing and cannot be made"},
    {"file", "what has that name is no socket"},
    {"dangling", "what has that name is no socket"},
    {"real", "what has that name is no socket"},
};

static void checks_what_it_does(void **state)
{
    (void)state;
    struct gy_addr real = unix_addr("real"), file = unix_addr("file"), link = unix_addr("link"),
                   dangling = unix_addr("dangling"), loop = unix_addr("loop");
    FILE *f = fopen(file.host, "w");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(mkdir(real.host, 0755) | symlink("real", link.host), 0);
    assert_int_equal(symlink("gone", dangling.host) | symlink("loop", loop.host), 0);
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++) {
        gyre_error_t checked = {0}, started = {0};
        int fd = -1;
        struct gy_addr a = unix_addr(PLACES[i].path);
        int want = PLACES[i].says ? GYRE_IO : GYRE_OK;
        if (gy_listen_check(&a, &checked) != want || gy_listen(&a, 1, &fd, &started) != want) {
            fail_msg("%s: '%s', '%s'", a.host, checked.message, started.message);
        }
        assert_string_equal(checked.message, started.message);
        assert_non_null(strstr(checked.message, PLACES[i].says ? PLACES[i].says : ""));
        if (fd >= 0) {
            close(fd);
        }
    }
}

/* The hint is run by root: whatever the folder is called, a shell reads it as one word. */
static void hints_for_a_shell(void **state)
{
    (void)state;
    static const char *const names[] = {"plain", "it's", "a b", "$(exit 1)", "'", "\\'", "~;&|*"};
    char path[128], hint[GY_LISTEN_HINT], folder[100], command[GY_LISTEN_HINT + 32], back[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(folder, sizeof folder, "%s/none/%s", dir, names[i]);
        snprintf(path, sizeof path, "%s/g.sock", folder);
        const char *word = strstr(gy_listen_hint(path, ENOENT, hint), "install -d -o ");
        assert_non_null(word);
        word += strlen("install -d -o ");
        word += strcspn(word, " ");
        snprintf(command, sizeof command, "printf '%%s|' %s", word);
        FILE *f = popen(command, "r");
        assert_non_null(f);
        size_t n = fread(back, 1, sizeof back - 1, f);
        assert_int_equal(pclose(f), 0);
        assert_true(n == strlen(folder) + 1 && back[n - 1] == '|');
        assert_memory_equal(back, folder, n - 1);
    }
    memset(path, '\'', 100); /* the longest is whole */
    snprintf(path + 100, sizeof path - 100, "/g");
    gy_listen_hint(path, ENOENT, hint);
    assert_true(strlen(hint) > 400 && hint[strlen(hint) - 1] == '\'');
    assert_true(strlen(hint) < sizeof hint - 1);
}

static void replaces_the_dead_only(void **state)
{
    (void)state;
    int first = -1, second = -1;
    gyre_error_t e = {0};
    struct gy_addr a = unix_addr("g.sock");
    assert_int_equal(gy_listen(&a, 1, &first, &e), GYRE_OK);
    assert_int_equal(gy_listen(&a, 1, &second, &e), GYRE_IO); /* it answers */
    assert_non_null(strstr(e.message, "another process listens there"));
    close(first); /* what SIGKILL leaves: a file nobody answers on */
    assert_int_equal(gy_listen(&a, 1, &second, &e), GYRE_OK);
    close(second);
    struct gy_addr plain = unix_addr("file");
    FILE *f = fopen(plain.host, "w");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(gy_listen(&plain, 1, &second, &e),
                     GYRE_IO); /* no socket: not ours to remove */
    assert_int_equal(access(plain.host, F_OK), 0);
}

static uint16_t port_of(int fd)
{
    struct sockaddr_storage sa;
    socklen_t len = sizeof sa;
    assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
    const uint8_t *p = (const uint8_t *)&sa + 2; /* sin_port, network order */
    return (uint16_t)(p[0] << 8 | p[1]);
}

static void shares_a_port_with_itself_alone(void **state)
{
    (void)state;
    int one = -1, many[3] = {-1, -1, -1}, other = -1;
    gyre_error_t e = {0};
    struct gy_addr a = {.host = "127.0.0.1"};
    assert_int_equal(gy_listen(&a, 1, &one, &e), GYRE_OK);
    a.port = port_of(one);
    assert_int_equal(gy_listen(&a, 3, many, &e),
                     GYRE_IO); /* in use, and said before anything is shared */
    close(one);
    assert_int_equal(gy_listen(&a, 3, many, &e), GYRE_OK);
    assert_int_equal(gy_listen(&a, 1, &other, &e), GYRE_IO);
    assert_int_equal(gy_listen(&a, 2, many, &e), GYRE_IO);
    assert_non_null(strstr(e.message, "another process listens there"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(makes_one_folder, up, down),
        cmocka_unit_test_setup_teardown(checks_what_it_does, up, down),
        cmocka_unit_test_setup_teardown(hints_for_a_shell, up, down),
        cmocka_unit_test_setup_teardown(replaces_the_dead_only, up, down),
        cmocka_unit_test(shares_a_port_with_itself_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
