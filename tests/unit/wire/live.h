/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - a redis-server of a test's own, on a unix socket in a directory of its own; ended and
 * cleaned up by live_stop. One thread.
 */
#ifndef GY_TEST_LIVE_H
#define GY_TEST_LIVE_H

#include <sys/types.h>

#include "wire/resp.h"

struct live {
    pid_t pid;
    int fd;
    char dir[64], sock[80];
    struct gy_buf in; /* the reply last read: trees point into it */
};

/* False: it did not start within ten seconds. */
bool live_start(struct live *l);
void live_stop(struct live *l);
/* Sends a request, reads its reply. NULL: the connection failed or the reply is malformed. The tree
 * lives until the next call; free it with gy_reply_free. */
struct gy_reply *live_ask(struct live *l, size_t argc, const struct gy_slice *argv);

#endif
