/* SPDX-License-Identifier: Apache-2.0 */
/* store_place.c - see store_place.h. */
#include "control/store_place.h"

#include "control/store.h"
#include "lib/error.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int gy_store_place_fail(gyre_error_t *e, const char *path, const char *what)
{
    return gy_fail(e, GYRE_IO, "%s: %s: %s", path, what, strerror(errno));
}

int gy_store_place_dir(const char *dir, gyre_error_t *e)
{
    struct stat st;
    if (mkdir(dir, 0700) != 0 && errno != EEXIST) {
        return gy_store_place_fail(e, dir, "cannot create the state directory");
    }
    if (stat(dir, &st) != 0) {
        return gy_store_place_fail(e, dir, "cannot look at the state directory");
    }
    if (!S_ISDIR(st.st_mode)) {
        return gy_fail(e, GYRE_IO, "%s: the state must be a directory, and this is not one", dir);
    }
    return GYRE_OK;
}

/* To open a pipe waits for its other end, and a device may do anything. */
static int check_file(const char *path, const struct stat *st, int rights, gyre_error_t *e)
{
    if (!S_ISREG(st->st_mode)) {
        return gy_fail(e, GYRE_IO, "%s: the store must be a regular file, and this is %s", path,
                       S_ISDIR(st->st_mode)    ? "a directory"
                       : S_ISFIFO(st->st_mode) ? "a pipe"
                       : S_ISSOCK(st->st_mode) ? "a socket"
                                               : "a device");
    }
    return access(path, rights) == 0 ? GYRE_OK : gy_store_place_fail(e, path, "cannot open");
}

int gy_store_place_file(const char *path, bool make, struct stat *st, gyre_error_t *e)
{
    bool there = stat(path, st) == 0;
    if (!there && !make && (errno == ENOENT || errno == ENOTDIR)) {
        return gy_fail(e, GYRE_UNKNOWN, "%s: no store is there", path);
    }
    if (!there && make && errno == ENOENT) {
        /* The mode, because the topology is nobody else's business: -wal and -shm take it over. */
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0) {
            return gy_store_place_fail(e, path, "cannot open");
        }
        close(fd);
        there = stat(path, st) == 0;
    }
    return there ? check_file(path, st, make ? R_OK | W_OK : R_OK, e)
                 : gy_store_place_fail(e, path, "cannot look at");
}

int gy_store_check(const char *dir, gyre_error_t *e)
{
    char path[PATH_MAX], above[PATH_MAX];
    struct stat st;
    if ((size_t)snprintf(path, sizeof path, "%s/gyre.db-journal", dir) >= sizeof path) {
        return gy_fail(e, GYRE_IO, "%s: the path is too long", dir);
    }
    if (stat(dir, &st) != 0) {
        if (errno != ENOENT) {
            return gy_store_place_fail(e, dir, "cannot look at the state directory");
        }
        memcpy(above, path, strlen(dir) + 1);
        above[strlen(dir)] = '\0';
        return access(dirname(above), W_OK | X_OK) == 0
                   ? GYRE_OK
                   : gy_store_place_fail(e, dir, "cannot create the state directory");
    }
    if (S_ISDIR(st.st_mode) && access(dir, R_OK | W_OK | X_OK) != 0) {
        return gy_store_place_fail(e, dir, "cannot use the state directory");
    }
    if (!S_ISDIR(st.st_mode)) {
        return gy_fail(e, GYRE_IO, "%s: the state must be a directory, and this is not one", dir);
    }
    snprintf(path, sizeof path, "%s/gyre.db", dir);
    return stat(path, &st) == 0 ? check_file(path, &st, R_OK | W_OK, e) : GYRE_OK;
}
