/* SPDX-License-Identifier: Apache-2.0 */
/* listen.c - see listen.h. */
#include "net/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 1024

static int fail(gyre_error_t *e, const struct gy_addr *a, const char *what)
{
    int saved = errno;
    if (e) {
        *e = (gyre_error_t){.code = GYRE_IO};
        const char *hint = saved == EADDRINUSE ? "; another process listens there"
                           : saved == EACCES ? "; ports below 1024 and foreign folders need rights"
                           : saved == ENOENT ? "; its folder does not exist"
                           : saved == EADDRNOTAVAIL ? "; this machine has no such address"
                                                    : "";
        if (a->is_unix) {
            snprintf(e->message, sizeof e->message, "cannot %s unix:%s: %s%s", what, a->host,
                     strerror(saved), hint);
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

/* "unix:/run/gyre/gyre.sock" on a machine just booted: /run/gyre is gone. One level is made, no
 * more. */
static void make_folder(const char *path)
{
    char folder[sizeof((struct gy_addr *)0)->host];
    const char *slash = strrchr(path, '/');
    if (slash && slash != path) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        if (mkdir(folder, 0755) != 0 && errno != EEXIST) {
            return; /* bind says what is wrong with it */
        }
    }
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
        make_folder(a->host);
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

/* The folder of a path, "." and "/" included. */
static void folder_of(const char *path, char out[sizeof((struct gy_addr *)0)->host])
{
    const char *slash = strrchr(path, '/');
    int n = !slash ? 1 : slash == path ? 1 : (int)(slash - path);
    snprintf(out, sizeof((struct gy_addr *)0)->host, "%.*s", n, slash ? path : ".");
}

int gy_listen_check(const struct gy_addr *a, bool makes_folder, gyre_error_t *e)
{
    char folder[sizeof a->host];
    struct stat st;
    if (!a->is_unix) {
        return GYRE_OK;
    }
    if (lstat(a->host, &st) == 0 && !S_ISSOCK(st.st_mode)) {
        errno = EEXIST;
        return fail(e, a, "listen on");
    }
    folder_of(a->host, folder);
    if (makes_folder && access(folder, F_OK) != 0 && errno == ENOENT) {
        char below[sizeof folder];
        folder_of(folder, below);
        memcpy(folder, below, sizeof folder);
    }
    return access(folder, W_OK | X_OK) == 0 ? GYRE_OK : fail(e, a, "listen on");
}
