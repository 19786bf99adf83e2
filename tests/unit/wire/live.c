/* SPDX-License-Identifier: Apache-2.0 */
/* live.c - see live.h. */
#include "live.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_server(const struct live *l)
{
    int null = open("/dev/null", O_RDWR);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that crashes leaves no server behind */
    dup2(null, 0);
    dup2(null, 1);
    execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", l->sock, "--save", "",
           "--dir", l->dir, (char *)NULL);
    _exit(127);
}

static bool connect_to(struct live *l)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s", l->sock);
    for (int i = 0; i < 1000; i++) {
        if (connect(l->fd, (struct sockaddr *)&a, sizeof a) == 0) {
            return true;
        }
        usleep(10000);
    }
    return false;
}

bool live_start(struct live *l)
{
    *l = (struct live){.fd = -1, .pid = -1};
    snprintf(l->dir, sizeof l->dir, "/tmp/gyre-wire-XXXXXX");
    if (!mkdtemp(l->dir)) {
        return false;
    }
    snprintf(l->sock, sizeof l->sock, "%s/redis.sock", l->dir);
    l->pid = fork();
    if (l->pid == 0) {
        run_server(l);
    }
    l->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return l->pid > 0 && l->fd >= 0 && connect_to(l);
}

void live_stop(struct live *l)
{
    if (l->fd >= 0) {
        close(l->fd);
    }
    if (l->pid > 0) {
        kill(l->pid, SIGKILL);
        waitpid(l->pid, NULL, 0);
    }
    unlink(l->sock);
    rmdir(l->dir);
    gy_buf_fini(&l->in);
}

struct gy_reply *live_ask(struct live *l, size_t argc, const struct gy_slice *argv)
{
    struct gy_buf out = {0};
    struct gy_reply_scan scan;
    enum gy_parse r = GY_PARSE_MORE;
    gy_resp_command(&out, argc, argv);
    ssize_t sent = write(l->fd, gy_buf_head(&out), gy_buf_size(&out));
    bool ok = sent == (ssize_t)gy_buf_size(&out);
    gy_buf_fini(&out);
    gy_reply_scan_init(&scan);
    gy_buf_reset(&l->in);
    while (ok && r == GY_PARSE_MORE && gy_buf_reserve(&l->in, 4096)) {
        size_t used = 0;
        ssize_t n = read(l->fd, l->in.data + l->in.len, 4096);
        if (n <= 0) {
            return NULL;
        }
        r = gy_reply_scan(&scan, l->in.data + l->in.len, (size_t)n, &used);
        l->in.len += (size_t)n;
    }
    return r == GY_PARSE_DONE ? gy_reply_parse(gy_buf_head(&l->in), gy_buf_size(&l->in)) : NULL;
}
