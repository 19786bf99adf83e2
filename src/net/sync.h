/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sync.h - a blocking RESP client with time-outs: for the mover, the pre-checks and the command
 * line; never on a request's path. Commands are appended, then flushed and read back in order
 * (pipelining); while it writes it reads, so that a long pipeline cannot lock both sides up.
 * Threads: one thread an object.
 */
#ifndef GY_NET_SYNC_H
#define GY_NET_SYNC_H

#include "gyre.h"
#include "net/addr.h"
#include "net/greet.h"
#include "wire/resp.h"

struct gy_sync;

struct gy_sync_opts {
    const char *user, *password; /* NULL: none */
    const char *client_name;     /* CLIENT SETNAME; NULL: none */
    int connect_ms, timeout_ms;  /* timeout_ms: without any byte from the server */
    /* Of one answer, where the server is a stranger: bytes, and ms until it is whole. 0: as much,
     * and as long, as it takes. */
    size_t most;
    int whole_ms;
    /* Who we are: predecessors are put away and we become our own user before the connection is
     * handed out (net/greet.h). look: only see who is there. NULL: nobody's business. */
    const struct gy_fence *fence;
    bool look;
    bool *made; /* set when our user may have been made there, even if the rest failed; NULL: - */
    /* A connection of our own that timed out: killed first, so that nothing it had sent can land
     * later. Only if the server is still the process it was (run_id). 0: none. */
    int64_t kill_id;
    const char *kill_run_id;
};

GYRE_NODISCARD int gy_sync_connect(const struct gy_addr *addr, const struct gy_sync_opts *opts,
                                   struct gy_sync **out, gyre_error_t *e);
void gy_sync_close(struct gy_sync *s);
void gy_sync_timeout(struct gy_sync *s, int timeout_ms); /* from the next read on */
/* Queue one command; nothing is sent before gy_sync_read needs it. */
void gy_sync_add(struct gy_sync *s, size_t argc, const struct gy_slice *argv);
void gy_sync_cmd(struct gy_sync *s, ...) __attribute__((sentinel)); /* C strings, NULL-terminated */
size_t gy_sync_queued(const struct gy_sync *s); /* bytes queued and not sent yet */
/* The next reply, owned by the caller until gy_reply_free; *raw bytes live until the next
 * gy_sync_read. IO/TIMEOUT: the connection is unusable from then on. An error reply from the server
 * is a reply of type '-', not a failure. */
GYRE_NODISCARD int gy_sync_read(struct gy_sync *s, struct gy_reply **out, gyre_error_t *e);
/* cmd + read; an error reply becomes REFUSED with the server's text. */
GYRE_NODISCARD int gy_sync_call(struct gy_sync *s, struct gy_reply **out, gyre_error_t *e, ...)
    __attribute__((sentinel));
/* The same for a reply nobody wants to see. */
GYRE_NODISCARD int gy_sync_do(struct gy_sync *s, gyre_error_t *e, ...) __attribute__((sentinel));
bool gy_sync_broken(const struct gy_sync *s);        /* after IO or TIMEOUT */
int64_t gy_sync_client_id(const struct gy_sync *s);  /* CLIENT ID, asked at connect */
const char *gy_sync_run_id(const struct gy_sync *s); /* 40 hex, from INFO server at connect */
/* What the hand-shake found: predecessors, and whether ACL is to be had there. */
const struct gy_greet *gy_sync_greeting(const struct gy_sync *s);

/* The value of `field` in an INFO text ("run_id", "role" ...); n = 0 when it is not there. */
struct gy_slice gy_info_field(struct gy_slice info, const char *field);

#endif
