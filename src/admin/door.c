/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door.c - see door.h. TCP is the net room's; a unix socket is made here, because its mode must be
 * right from its first moment.
 *
 * A socket file left by a process that was killed must not stop the next start, and one that
 * somebody serves must not be taken away. connect(2) tells the two apart: refused means that nobody
 * listens. Two proxies cannot race here: the lock of the state directory lets one through.
 */
#include "admin/door.h"

#include "admin/reply.h"
#include "net/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 64 };

/* Is anybody behind this socket file? Anything but "refused" counts as yes: when in doubt it is not
 * ours to remove. */
static bool somebody_listens(const struct sockaddr_un *sa)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return true;
    }
    bool dead = connect(fd, (const struct sockaddr *)sa, sizeof *sa) != 0 && errno == ECONNREFUSED;
    close(fd);
    return !dead;
}

static int clear_stale(const struct sockaddr_un *sa, gyre_error_t *e)
{
    struct stat st;
    if (lstat(sa->sun_path, &st) != 0) {
        /* ENOENT is the good case; any other reason comes up again, better told, in bind. */
        return GYRE_OK;
    }
    if (!S_ISSOCK(st.st_mode)) {
        return gy_admin_fail(e, GYRE_REFUSED,
                             "admin: %s exists and is not a socket; it is left alone",
                             sa->sun_path);
    }
    if (somebody_listens(sa)) {
        return gy_admin_fail(e, GYRE_CONFLICT, "admin: another process listens on unix:%s",
                             sa->sun_path);
    }
    if (unlink(sa->sun_path) != 0 && errno != ENOENT) {
        return gy_admin_fail(e, GYRE_IO, "admin: cannot remove the dead socket %s: %s",
                             sa->sun_path, strerror(errno));
    }
    return GYRE_OK;
}

static int open_unix(const char *path, struct gy_door *d, gyre_error_t *e)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof sa.sun_path) {
        return gy_admin_fail(e, GYRE_INVALID,
                             "admin: the socket path has %zu bytes, at most %zu are possible",
                             strlen(path), sizeof sa.sun_path - 1);
    }
    memcpy(sa.sun_path, path, strlen(path) + 1);
    int r = clear_stale(&sa, e);
    if (r != GYRE_OK) {
        return r;
    }
    d->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (d->fd < 0) {
        return gy_admin_fail(e, GYRE_IO, "admin: socket: %s", strerror(errno));
    }
    /* unix(7) on Linux: the file gets the socket's own mode less the umask. Set before bind, there
     * is no moment at which others may connect; a umask changed instead would be every thread's. */
    struct stat st;
    char hint[GY_LISTEN_HINT];
    gy_listen_make_folder(path);
    if (fchmod(d->fd, 0600) != 0 || bind(d->fd, (const struct sockaddr *)&sa, sizeof sa) != 0 ||
        listen(d->fd, BACKLOG) != 0 || lstat(path, &st) != 0) {
        int error = errno;
        r = gy_admin_fail(e, GYRE_IO, "admin: cannot listen on unix:%s: %s%s", path,
                          strerror(error), gy_listen_hint(path, error, hint));
        close(d->fd);
        d->fd = -1;
        return r;
    }
    d->dev = st.st_dev;
    d->ino = st.st_ino;
    d->made = st.st_mtim;
    snprintf(d->address, sizeof d->address, "unix:%s", path);
    return GYRE_OK;
}

static bool is_loopback(const struct sockaddr_storage *ss)
{
    if (ss->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)ss;
        return ntohl(in->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)ss;
    return ss->ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

static void name_tcp(struct gy_door *d)
{
    struct sockaddr_storage ss;
    socklen_t len = sizeof ss;
    char host[INET6_ADDRSTRLEN] = "";
    if (getsockname(d->fd, (struct sockaddr *)&ss, &len) != 0) {
        return;
    }
    if (ss.ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)&ss;
        inet_ntop(AF_INET, &in->sin_addr, host, sizeof host);
        snprintf(d->address, sizeof d->address, "%s:%u", host, ntohs(in->sin_port));
    } else {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&ss;
        inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof host);
        snprintf(d->address, sizeof d->address, "[%s]:%u", host, ntohs(in6->sin6_port));
    }
}

/* gy_addr_parse wants a port to dial, so it takes no 0; to listen, 0 is "any free one". */
static int parse_tcp(const char *text, struct gy_addr *addr, gyre_error_t *e)
{
    size_t n = strlen(text);
    if (n < 3 || strcmp(text + n - 2, ":0") != 0) {
        return gy_addr_parse(text, 0, addr, e);
    }
    char *dialable = strdup(text);
    if (!dialable) {
        return gy_admin_fail(e, GYRE_NOMEM, "out of memory");
    }
    dialable[n - 1] = '1';
    int r = gy_addr_parse(dialable, 0, addr, e);
    addr->port = 0;
    free(dialable);
    return r;
}

static int check_loopback(const char *text, const struct sockaddr_storage *ss, gyre_error_t *e)
{
    if (is_loopback(ss)) {
        return GYRE_OK;
    }
    return gy_admin_fail(e, GYRE_REFUSED,
                         "admin: %s is not a loopback address, and whoever reaches the admin may "
                         "move keys; use unix:/path or 127.0.0.1:PORT, and come from elsewhere "
                         "through ssh -L or a server that asks who is there",
                         text);
}

static int open_tcp(const char *text, struct gy_door *d, gyre_error_t *e)
{
    struct gy_addr addr;
    struct sockaddr_storage ss;
    socklen_t len = 0;
    int r = parse_tcp(text, &addr, e);
    if (r == GYRE_OK) {
        r = gy_addr_resolve(&addr, &ss, &len, e);
    }
    if (r == GYRE_OK) {
        r = check_loopback(text, &ss, e);
    }
    if (r != GYRE_OK) {
        return r;
    }
    r = gy_listen(&addr, 1, &d->fd, e);
    if (r == GYRE_OK) {
        name_tcp(d);
    }
    return r;
}

int gy_door_open(const char *address, struct gy_door *out, gyre_error_t *e)
{
    *out = (struct gy_door){.fd = -1};
    if (strncmp(address, "unix:", 5) == 0) {
        if (address[5] == '\0') {
            return gy_admin_fail(e, GYRE_INVALID, "admin: unix: needs a path after it");
        }
        out->is_unix = true;
        return open_unix(address + 5, out, e);
    }
    return open_tcp(address, out, e);
}

int gy_door_check(const char *address, gyre_error_t *e)
{
    struct gy_addr addr;
    struct sockaddr_storage ss;
    bool is_unix = strncmp(address, "unix:", strlen("unix:")) == 0;
    int r = is_unix ? gy_addr_parse(address, 0, &addr, e) : parse_tcp(address, &addr, e);
    if (r == GYRE_OK && is_unix) {
        r = gy_listen_check(&addr, e);
    } else if (r == GYRE_OK && gy_addr_literal(&addr, &ss)) {
        r = check_loopback(address, &ss, e);
    }
    return r;
}

void gy_door_unlink(const struct gy_door *d)
{
    struct stat st;
    const char *path = d->address + strlen("unix:");
    if (d->is_unix && lstat(path, &st) == 0 && st.st_dev == d->dev && st.st_ino == d->ino &&
        st.st_mtim.tv_sec == d->made.tv_sec && st.st_mtim.tv_nsec == d->made.tv_nsec) {
        unlink(path);
    }
}
