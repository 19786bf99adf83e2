/* SPDX-License-Identifier: Apache-2.0 */
/* listen.c - see listen.h. */
#include "net/listen.h"

#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 1024

/* The folder of a path, "." and "/" included; slashes repeated before the name are one. */
static void folder_of(const char *path, char out[sizeof((struct gy_addr *)0)->host])
{
    const char *slash = strrchr(path, '/');
    while (slash && slash > path && slash[-1] == '/') {
        slash--;
    }
    int n = !slash ? 1 : slash == path ? 1 : (int)(slash - path);
    snprintf(out, sizeof((struct gy_addr *)0)->host, "%.*s", n, slash ? path : ".");
}

/* The command is for root: a folder's name must be one word of it, whatever it is called. */
static void hint_missing(const char *folder, char out[GY_LISTEN_HINT])
{
    struct gy_buf word = {0};
    gy_utf8_shell(&word, folder);
    snprintf(out, GY_LISTEN_HINT,
             "; its folder is missing and cannot be made: as root, install -d -o %u %s%s",
             (unsigned)geteuid(), *folder == '-' ? "-- " : "", gy_buf_cstr(&word));
    gy_buf_fini(&word);
}

const char *gy_listen_hint(const char *path, int error, char out[GY_LISTEN_HINT])
{
    char folder[sizeof((struct gy_addr *)0)->host];
    struct stat st;
    folder_of(path, folder);
    *out = '\0';
    if (error == EADDRINUSE) {
        bool other = lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode);
        snprintf(out, GY_LISTEN_HINT, "%s",
                 other ? "; what has that name is no socket, and is left alone"
                       : "; another process listens there");
    } else if (error == ENOENT && lstat(folder, &st) == 0 && S_ISLNK(st.st_mode)) {
        snprintf(out, GY_LISTEN_HINT, "; %s is a link to what is not there", folder);
    } else if (error == ENOENT) {
        hint_missing(folder, out);
    } else if (error == EACCES) {
        snprintf(out, GY_LISTEN_HINT, "; user %u may not make files in %s", (unsigned)geteuid(),
                 folder);
    }
    return out;
}

static int fail(gyre_error_t *e, const struct gy_addr *a, const char *what)
{
    int saved = errno;
    char at[GY_LISTEN_HINT];
    if (e) {
        *e = (gyre_error_t){.code = GYRE_IO};
        const char *hint = saved == EADDRINUSE      ? "; another process listens there"
                           : saved == EACCES        ? "; ports below 1024 need rights"
                           : saved == EADDRNOTAVAIL ? "; this machine has no such address"
                                                    : "";
        if (a->is_unix) {
            snprintf(e->message, sizeof e->message, "cannot %s unix:%s: %s%s", what, a->host,
                     strerror(saved), gy_listen_hint(a->host, saved, at));
        } else {
            snprintf(e->message, sizeof e->message, "cannot %s %s port %u: %s%s", what, a->host,
                     a->port, strerror(saved), hint);
        }
    }
    return GYRE_IO;
}

/* A socket file nobody answers on is the trace of a killed process. */
static void remove_stale(const struct sockaddr *sa, socklen_t len, const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0 || !S_ISSOCK(st.st_mode)) {
        return;
    }
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (probe < 0) {
        return;
    }
    if (connect(probe, sa, len) != 0 && errno == ECONNREFUSED) {
        unlink(path);
    }
    close(probe);
}

void gy_listen_make_folder(const char *path)
{
    char folder[sizeof((struct gy_addr *)0)->host];
    folder_of(path, folder);
    (void)mkdir(folder, 0755);
}

static int open_bound(const struct sockaddr_storage *sa, socklen_t len, bool share)
{
    int fd = socket(sa->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    int on = 1;
    if (sa->ss_family != AF_UNIX) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (sa->ss_family == AF_INET6) {
            setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
        }
        if (share) {
            setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
        }
    }
    if (bind(fd, (const struct sockaddr *)sa, len) != 0) {
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

static int open_listening(const struct sockaddr_storage *sa, socklen_t len, bool share)
{
    int fd = open_bound(sa, len, share);
    if (fd >= 0 && listen(fd, BACKLOG) != 0) {
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

int gy_listen(const struct gy_addr *a, unsigned n, int *fds, gyre_error_t *e)
{
    struct sockaddr_storage sa;
    socklen_t len;
    int rc = gy_addr_resolve(a, &sa, &len, e);
    if (rc) {
        return rc;
    }
    if (a->is_unix) {
        gy_listen_make_folder(a->host);
        remove_stale((const struct sockaddr *)&sa, len, a->host);
    } else if (n > 1) {
        /* SO_REUSEPORT would let us share the port with another process of this user: try without
         * it first. */
        int probe = open_bound(&sa, len, false);
        if (probe < 0) {
            return fail(e, a, "listen on");
        }
        close(probe);
    }
    for (unsigned i = 0; i < n; i++) {
        fds[i] =
            a->is_unix && i ? fcntl(fds[0], F_DUPFD_CLOEXEC, 0) : open_listening(&sa, len, n > 1);
        if (fds[i] < 0) {
            rc = fail(e, a, "listen on");
            while (i--) {
                close(fds[i]);
            }
            return rc;
        }
    }
    return GYRE_OK;
}

int gy_listen_check(const struct gy_addr *a, gyre_error_t *e)
{
    char folder[sizeof a->host], above[sizeof a->host];
    struct stat st;
    if (!a->is_unix) {
        return GYRE_OK;
    }
    if (lstat(a->host, &st) == 0 && !S_ISSOCK(st.st_mode)) {
        errno = EADDRINUSE;
        return fail(e, a, "listen on");
    }
    folder_of(a->host, folder);
    int rc = stat(folder, &st);
    if (rc != 0 && errno == ENOENT && lstat(folder, &st) != 0) {
        folder_of(folder, above);
        bool makes = access(above, W_OK | X_OK) == 0;
        errno = ENOENT;
        return makes ? GYRE_OK : fail(e, a, "listen on");
    }
    if (rc == 0 && !S_ISDIR(st.st_mode)) {
        errno = ENOTDIR;
        rc = -1;
    }
    return rc == 0 && access(folder, W_OK | X_OK) == 0 ? GYRE_OK : fail(e, a, "listen on");
}
