/* SPDX-License-Identifier: Apache-2.0 */
/* greeting.c - see greeting.h. */
#include "proxy/greeting.h"

#include "base/log.h"
#include "proxy/proxy.h"

#include <stdio.h>

/* A server with so many clients that CLIENT LIST is larger than this is answered by giving the node
 * up, not by growing for ever. */
#define GREETING_MAX (64u * 1024 * 1024)

void gy_greeting_begin(struct gy_backend *b)
{
    const struct gy_proxy *p = b->worker->proxy;
    struct gy_greet *g = &b->greet;
    snprintf(b->conn_name, sizeof b->conn_name, "%s-w%u", p->fence->user, b->worker->index);
    gy_greet_fini(g);
    g->user = p->config->proxy.user;
    g->password = p->password;
    g->name = b->conn_name;
    g->fence = p->fence;
    g->kill_id = b->kill_id;
    g->kill_run_id = b->kill_run_id;
    gy_buf_reset(&b->greeting);
    gy_greet_begin(g, &b->conn.out);
    gy_conn_dirty(&b->conn);
}

/* why NULL: the hand-shake has said it. */
static enum gy_greeting failed(struct gy_backend *b, const char *why)
{
    if (why) {
        snprintf(b->greet.why, sizeof b->greet.why, "%s", why);
    }
    gy_greet_fini(&b->greet);
    gy_buf_fini(&b->greeting);
    return GY_GREETING_FAILED;
}

/* One whole answer is there. */
static enum gy_greeting take_answer(struct gy_backend *b)
{
    struct gy_reply *r = gy_reply_parse(gy_buf_head(&b->greeting), gy_buf_size(&b->greeting));
    if (!r) {
        return failed(b, "the hand-shake's answer is not RESP");
    }
    enum gy_greeting g = gy_greet_take(&b->greet, r, &b->conn.out);
    gy_reply_free(r);
    gy_buf_reset(&b->greeting);
    gy_reply_scan_init(&b->scan);
    if (g == GY_GREETING_FAILED) {
        return failed(b, NULL);
    }
    if (g == GY_GREETING_DONE) {
        gy_greet_fini(&b->greet);
        gy_buf_fini(&b->greeting);
    } else {
        gy_conn_dirty(&b->conn);
    }
    return g;
}

enum gy_greeting gy_greeting_data(struct gy_backend *b, const uint8_t *p, size_t n)
{
    while (n) {
        size_t used = 0;
        enum gy_parse r = gy_reply_scan(&b->scan, p, n, &used);
        if (r == GY_PARSE_ERROR || gy_buf_size(&b->greeting) + used > GREETING_MAX) {
            return failed(b, "the hand-shake's answer is not RESP, or too long");
        }
        gy_buf_add(&b->greeting, p, used);
        p += used;
        n -= used;
        if (r == GY_PARSE_MORE) {
            continue;
        }
        enum gy_greeting g = take_answer(b);
        if (g != GY_GREETING_MORE) {
            return g;
        }
    }
    return GY_GREETING_MORE;
}
