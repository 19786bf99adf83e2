/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.c - see listen.h.
 *
 * A socket file left by a process that was killed must not stop the next start, and one that
 * somebody serves must not be taken away. connect(2) tells the two apart: refused means that nobody
 * listens. Two proxies cannot race here: the lock of the state directory lets one through.
 */
#include "admin/listen.h"

#include "admin/reply.h"
#include "net/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
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

static int open_unix(const char *path, struct gy_listen *l, gyre_error_t *e)
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
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0) {
        return gy_admin_fail(e, GYRE_IO, "admin: socket: %s", strerror(errno));
    }
    /* unix(7) on Linux: the file gets the socket's own mode less the umask. Set before bind, there
     * is no moment at which others may connect; a umask changed instead would be every thread's. */
    struct stat st;
    if (fchmod(l->fd, 0600) != 0 || bind(l->fd, (const struct sockaddr *)&sa, sizeof sa) != 0 ||
        listen(l->fd, BACKLOG) != 0 || lstat(path, &st) != 0) {
        r = gy_admin_fail(e, GYRE_IO, "admin: cannot listen on unix:%s: %s", path, strerror(errno));
        close(l->fd);
        l->fd = -1;
        return r;
    }
    l->dev = st.st_dev;
    l->ino = st.st_ino;
    snprintf(l->address, sizeof l->address, "unix:%s", path);
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

static void name_tcp(struct gy_listen *l)
{
    struct sockaddr_storage ss;
    socklen_t len = sizeof ss;
    char host[INET6_ADDRSTRLEN] = "";
    if (getsockname(l->fd, (struct sockaddr *)&ss, &len) != 0) {
        return;
    }
    if (ss.ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)&ss;
        inet_ntop(AF_INET, &in->sin_addr, host, sizeof host);
        snprintf(l->address, sizeof l->address, "%s:%u", host, ntohs(in->sin_port));
    } else {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&ss;
        inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof host);
        snprintf(l->address, sizeof l->address, "[%s]:%u", host, ntohs(in6->sin6_port));
    }
}

/* gy_addr wants a port to dial, so it may not take 0; to listen, 0 is "any free one". */
static int resolve_tcp(const char *text, struct sockaddr_storage *ss, socklen_t *len,
                       gyre_error_t *e)
{
    struct gy_addr addr;
    size_t n = strlen(text);
    bool any_port = n > 2 && strcmp(text + n - 2, ":0") == 0;
    char fixed[300];
    if (any_port) {
        snprintf(fixed, sizeof fixed, "%.*s:1", (int)(n - 2 < 280 ? n - 2 : 280), text);
    }
    int r = gy_addr_parse(any_port ? fixed : text, 0, &addr, e);
    if (r == GYRE_OK) {
        r = gy_addr_resolve(&addr, ss, len, e);
    }
    if (r == GYRE_OK && any_port) {
        if (ss->ss_family == AF_INET) {
            ((struct sockaddr_in *)ss)->sin_port = 0;
        } else {
            ((struct sockaddr_in6 *)ss)->sin6_port = 0;
        }
    }
    return r;
}

static int open_tcp(const char *text, struct gy_listen *l, gyre_error_t *e)
{
    struct sockaddr_storage ss;
    socklen_t len = 0;
    int r = resolve_tcp(text, &ss, &len, e);
    if (r != GYRE_OK) {
        return r;
    }
    if (!l->is_public && !is_loopback(&ss)) {
        return gy_admin_fail(e, GYRE_REFUSED,
                             "admin: %s is not a loopback address, and whoever reaches it may move "
                             "keys; use unix:/path, or write " GY_LISTEN_PUBLIC "%s if it is "
                             "fenced off otherwise",
                             text, text);
    }
    l->fd = socket(ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0) {
        return gy_admin_fail(e, GYRE_IO, "admin: socket: %s", strerror(errno));
    }
    int one = 1;
    setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(l->fd, (struct sockaddr *)&ss, len) != 0 || listen(l->fd, BACKLOG) != 0) {
        int code = errno == EADDRINUSE ? GYRE_CONFLICT : GYRE_IO;
        r = gy_admin_fail(e, code, "admin: cannot listen on %s: %s", text, strerror(errno));
        close(l->fd);
        l->fd = -1;
        return r;
    }
    name_tcp(l);
    return GYRE_OK;
}

int gy_listen_open(const char *address, struct gy_listen *out, gyre_error_t *e)
{
    *out = (struct gy_listen){.fd = -1};
    if (strncmp(address, "unix:", 5) == 0) {
        if (address[5] == '\0') {
            return gy_admin_fail(e, GYRE_INVALID, "admin: unix: needs a path after it");
        }
        out->is_unix = true;
        return open_unix(address + 5, out, e);
    }
    if (strncmp(address, GY_LISTEN_PUBLIC, strlen(GY_LISTEN_PUBLIC)) == 0) {
        out->is_public = true;
        address += strlen(GY_LISTEN_PUBLIC);
    }
    return open_tcp(address, out, e);
}

void gy_listen_unlink(const struct gy_listen *l)
{
    struct stat st;
    const char *path = l->address + strlen("unix:");
    if (l->is_unix && lstat(path, &st) == 0 && st.st_dev == l->dev && st.st_ino == l->ino) {
        unlink(path);
    }
}
