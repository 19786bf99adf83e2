/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_door.c - the admin's listening socket: who may open it, and what it does to what it finds in
 * its place.
 */
#include "admin/door.h"
#include "talk.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64], path[96], address[112];

static int make_dir(void **state)
{
    snprintf(dir, sizeof dir, "/tmp/gyre-door-XXXXXX");
    if (!mkdtemp(dir)) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/admin.sock", dir);
    snprintf(address, sizeof address, "unix:%s", path);
    return 0;
}

static int drop_dir(void **state)
{
    unlink(path);
    return rmdir(dir);
}

static void only_the_owner_may_open_it(void **state)
{
    struct gy_door d;
    struct stat st;
    mode_t before = umask(0);
    assert_int_equal(gy_door_open(address, &d, NULL), GYRE_OK);
    umask(before);
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISSOCK(st.st_mode));
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_string_equal(d.address, address);
    assert_true(fcntl(d.fd, F_GETFD) & FD_CLOEXEC);
    gy_door_unlink(&d);
    assert_int_equal(lstat(path, &st), -1);
    close(d.fd);
}

/* A folder in /run is gone after a reboot; what --check calls fine the start can open. */
static void a_folder_is_made(void **state)
{
    struct gy_door d;
    struct stat st;
    char folder[80], below[112];
    snprintf(folder, sizeof folder, "%s/run", dir);
    snprintf(below, sizeof below, "unix:%s/a.sock", folder);
    assert_int_equal(gy_door_check(below, NULL), GYRE_OK);
    assert_int_equal(lstat(folder, &st), -1); /* looked at only */
    mode_t before = umask(022);
    assert_int_equal(gy_door_open(below, &d, NULL), GYRE_OK);
    umask(before);
    assert_int_equal(lstat(folder, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    gy_door_unlink(&d);
    close(d.fd);
    assert_int_equal(rmdir(folder), 0);
}

static void a_dead_socket_is_replaced(void **state)
{
    struct gy_door dead, d;
    assert_int_equal(gy_door_open(address, &dead, NULL), GYRE_OK);
    close(dead.fd); /* as a killed process leaves it: the file stays */
    assert_int_equal(gy_door_open(address, &d, NULL), GYRE_OK);
    /* The dead one's name may not take the new one's file away. */
    gy_door_unlink(&dead);
    int fd = talk_dial(address);
    assert_true(fd >= 0);
    close(fd);
    gy_door_unlink(&d);
    close(d.fd);
}

static void a_served_socket_is_left_alone(void **state)
{
    struct gy_door d, second;
    gyre_error_t e = {0};
    assert_int_equal(gy_door_open(address, &d, NULL), GYRE_OK);
    assert_int_equal(gy_door_open(address, &second, &e), GYRE_CONFLICT);
    assert_non_null(strstr(e.message, path));
    int fd = talk_dial(address);
    assert_true(fd >= 0);
    close(fd);
    gy_door_unlink(&d);
    close(d.fd);
}

static void a_file_is_left_alone(void **state)
{
    struct gy_door d;
    gyre_error_t e = {0};
    struct stat st;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(gy_door_open(address, &d, &e), GYRE_REFUSED);
    assert_non_null(strstr(e.message, "not a socket"));
    assert_int_equal(lstat(path, &st), 0);
    unlink(path);
    assert_int_equal(symlink("/tmp/nowhere-at-all", path), 0);
    assert_int_equal(gy_door_open(address, &d, &e), GYRE_REFUSED);
    unlink(path);
}

static void bad_addresses(void **state)
{
    static const struct {
        const char *text;
        int code;
    } cases[] = {
        {"unix:", GYRE_INVALID},
        {"unix:/tmp/gyre-no-such-folder/below/x", GYRE_IO},
        {"0.0.0.0:0", GYRE_REFUSED},
        {"[::]:0", GYRE_REFUSED},
        {"127.0.0.1", GYRE_INVALID},
        {"127.0.0.1:", GYRE_INVALID},
        {"127.0.0.1:65536", GYRE_INVALID},
        {"::1:80", GYRE_INVALID},
        {":0", GYRE_INVALID},
        {"", GYRE_INVALID},
    };
    struct gy_door d;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gyre_error_t e = {0};
        int err = gy_door_open(cases[i].text, &d, &e);
        if (err != cases[i].code) {
            fail_msg("%s: %d (%s), not %d", cases[i].text, err, e.message, cases[i].code);
        }
        assert_int_equal(e.code, err);
        assert_true(e.message[0]);
        assert_int_equal(d.fd, -1);
    }
    char longest[200] = "unix:/tmp/";
    memset(longest + strlen(longest), 'x', 150);
    assert_int_equal(gy_door_open(longest, &d, NULL), GYRE_INVALID);
}

static void any_free_port_is_told(void **state)
{
    struct gy_door d;
    assert_int_equal(gy_door_open("127.0.0.1:0", &d, NULL), GYRE_OK);
    assert_true(strncmp(d.address, "127.0.0.1:", 10) == 0);
    assert_true(strtoul(d.address + 10, NULL, 10) > 0);
    int fd = talk_dial(d.address);
    assert_true(fd >= 0);
    close(fd);
    close(d.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_owner_may_open_it),
        cmocka_unit_test(a_folder_is_made),
        cmocka_unit_test(a_dead_socket_is_replaced),
        cmocka_unit_test(a_served_socket_is_left_alone),
        cmocka_unit_test(a_file_is_left_alone),
        cmocka_unit_test(bad_addresses),
        cmocka_unit_test(any_free_port_is_told),
    };
    return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
