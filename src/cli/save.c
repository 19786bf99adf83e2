/* SPDX-License-Identifier: Apache-2.0 */
/* save.c - see save.h. */
#include "cli/save.h"
#include "cli/cmd.h"
#include "cli/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_all(int fd, const struct gy_buf *text)
{
    size_t done = 0, size = gy_buf_size(text);
    while (done < size) {
        ssize_t n = write(fd, gy_buf_head(text) + done, size - done);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static int failed(const char *path)
{
    gy_complain("%s: cannot be written: %s", path, strerror(errno));
    return GY_EXIT_USAGE;
}

static int write_into(const char *path, const struct gy_buf *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return failed(path);
    }
    int rc = write_all(fd, text) ? GY_EXIT_OK : failed(path);
    close(fd);
    return rc;
}

/* As a new file gets under the process's umask; an existing one keeps its own. */
static mode_t mode_for(const struct stat *old)
{
    if (old) {
        return old->st_mode & 07777;
    }
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static int is_there(const char *path)
{
    gy_complain("%s is there already, and nothing is written; --force writes over it", path);
    return GY_EXIT_USAGE;
}

/* Over the path, or to it only if nothing is there: link(2) never replaces. */
static bool settle(const char *beside, const char *path, bool replace)
{
    if (replace) {
        return rename(beside, path) == 0;
    }
    bool ok = link(beside, path) == 0;
    int err = errno;
    unlink(beside);
    errno = err;
    return ok;
}

/* A stream of ours that path is another name for, as /dev/stdout is; -1: none. What stands behind
 * it may be a plain file, and is not to be replaced under the one who holds it open. */
static int stream_of(const char *path, const struct stat *st)
{
    struct stat named, own;
    bool is_link = lstat(path, &named) == 0 && S_ISLNK(named.st_mode);
    for (int fd = STDOUT_FILENO; is_link && fd <= STDERR_FILENO; fd++) {
        if (fstat(fd, &own) == 0 && own.st_dev == st->st_dev && own.st_ino == st->st_ino) {
            return fd;
        }
    }
    return -1;
}

static int write_as_is(const char *path, const struct stat *st, const struct gy_buf *text)
{
    int stream = stream_of(path, st);
    if (stream < 0) {
        return write_into(path, text);
    }
    return write_all(stream, text) ? GY_EXIT_OK : failed(path);
}

/* A link stays; the file it leads to is the one to replace. Gone by now, it is made again. */
static char *target_of(const char *path, bool exists)
{
    char *target = exists ? realpath(path, NULL) : NULL;
    return target || (exists && errno == ENOMEM) ? target : strdup(path);
}

static int save(const char *path, struct gy_buf *text, bool replace)
{
    struct stat st;
    bool exists = stat(path, &st) == 0;
    if (gy_buf_failed(text)) {
        return gy_complain_memory();
    }
    if (exists && (!S_ISREG(st.st_mode) || stream_of(path, &st) >= 0)) {
        return write_as_is(path, &st, text);
    }
    if (exists && !replace) {
        return is_there(path);
    }
    char *beside = NULL, *target = target_of(path, exists);
    if (!target || asprintf(&beside, "%s.XXXXXX", target) < 0) {
        free(target);
        return gy_complain_memory();
    }
    int rc = GY_EXIT_OK;
    int fd = mkostemp(beside, O_CLOEXEC);
    if (fd < 0) {
        rc = failed(path);
        goto out;
    }
    bool ok =
        write_all(fd, text) && fchmod(fd, mode_for(exists ? &st : NULL)) == 0 && fsync(fd) == 0;
    int err = errno;
    close(fd);
    errno = err;
    if (!ok || !settle(beside, target, replace)) {
        rc = ok && !replace && errno == EEXIST ? is_there(path) : failed(path);
        unlink(beside);
    }
out:
    free(beside);
    free(target);
    return rc;
}

int gy_save_file(const char *path, struct gy_buf *text)
{
    return save(path, text, true);
}

int gy_save_new(const char *path, struct gy_buf *text)
{
    return save(path, text, false);
}
