/* SPDX-License-Identifier: Apache-2.0 */
/* greeting.c - see greeting.h. */
#include "proxy/greeting.h"

#include "base/log.h"
#include "proxy/proxy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A server with so many clients that CLIENT LIST is larger than this is answered by giving the node
 * up, not by growing for ever. */
#define GREETING_MAX (64u * 1024 * 1024)

enum { ASK_NAME, ASK_ID, ASK_INFO, ASK_LIST, ASKED };

static bool has_password(const struct gy_backend *b)
{
    return b->worker->proxy->password != NULL;
}

/* "gyre-<pool>-<generation>-": what the names of this proxy's connections begin with. */
static int name_prefix(const struct gy_proxy *p, char *out, size_t cap)
{
    return snprintf(out, cap, "gyre-%s-", p->config->proxy.pool);
}

void gy_greeting_begin(struct gy_backend *b)
{
    const struct gy_proxy *p = b->worker->proxy;
    struct gy_buf *out = &b->conn.out;
    char prefix[300], name[400];
    name_prefix(p, prefix, sizeof prefix);
    snprintf(name, sizeof name, "%s%" PRIu64 "-w%u", prefix, p->generation, b->worker->index);
    gy_buf_reset(&b->greeting);
    b->greet_got = 0;
    b->greet_want = ASKED;
    if (has_password(b)) {
        if (p->config->proxy.user) {
            gy_resp_cmd(out, "AUTH", p->config->proxy.user, p->password, NULL);
        } else {
            gy_resp_cmd(out, "AUTH", p->password, NULL);
        }
        b->greet_want++;
    }
    gy_resp_cmd(out, "CLIENT", "SETNAME", name, NULL);
    gy_resp_cmd(out, "CLIENT", "ID", NULL);
    gy_resp_cmd(out, "INFO", "server", NULL);
    gy_resp_cmd(out, "CLIENT", "LIST", NULL);
    gy_conn_dirty(&b->conn);
}

static enum gy_greeting refuse(struct gy_backend *b, const char *what, const struct gy_reply *r)
{
    snprintf(b->why, sizeof b->why, "%s: %.*s", what, r->type == '-' ? (int)r->text.n : 0,
             r->type == '-' ? (const char *)r->text.p : "");
    return GY_GREETING_FAILED;
}

static bool find_run_id(struct gy_backend *b, struct gy_slice info)
{
    static const char word[] = "run_id:";
    const uint8_t *at = memmem(info.p, info.n, word, sizeof word - 1);
    if (!at || (size_t)(info.p + info.n - at) < sizeof word - 1 + 40) {
        return false;
    }
    const uint8_t *id = at + sizeof word - 1;
    if (memcmp(b->run_id, id, 40) != 0) {
        b->kill_id = 0; /* the server began anew: what was queued there is gone, and the number may
                           be another's */
    }
    memcpy(b->run_id, id, 40);
    b->run_id[40] = 0;
    return true;
}

static void kill_one(struct gy_backend *b, int64_t id)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, id);
    gy_resp_cmd(&b->conn.out, "CLIENT", "KILL", "ID", text, NULL);
    b->greet_want++;
}

static uint64_t number_at(const uint8_t *p, const uint8_t *end)
{
    uint64_t n = 0;
    while (p < end && *p >= '0' && *p <= '9') {
        n = n * 10 + (uint64_t)(*p++ - '0');
    }
    return n;
}

/* Lines "id=12 addr=... name=gyre-main-3-w0 ...": kill those of our pool with a smaller generation
 * (0a.9). */
static void kill_older(struct gy_backend *b, struct gy_slice list)
{
    char prefix[310];
    int plen = snprintf(prefix, sizeof prefix, " name=");
    plen += name_prefix(b->worker->proxy, prefix + plen, sizeof prefix - (size_t)plen);
    const uint8_t *p = list.p, *end = list.p + list.n;
    while (p < end) {
        const uint8_t *eol = memchr(p, '\n', (size_t)(end - p));
        eol = eol ? eol : end;
        const uint8_t *name = memmem(p, (size_t)(eol - p), prefix, (size_t)plen);
        if (name && eol - p > 3 && memcmp(p, "id=", 3) == 0) {
            int64_t id = (int64_t)number_at(p + 3, eol);
            uint64_t gen = number_at(name + plen, eol);
            if (gen < b->worker->proxy->generation) {
                kill_one(b, id);
            }
        }
        p = eol + 1;
    }
}

static enum gy_greeting first_round(struct gy_backend *b, struct gy_reply **r)
{
    if (has_password(b)) {
        if (!gy_reply_is(r[0], "OK")) {
            return refuse(b, "the node refuses the password", r[0]);
        }
        r++;
    }
    if (r[ASK_ID]->type != ':') {
        return refuse(b, "the node refuses the hand-shake", r[ASK_ID]);
    }
    b->client_id = r[ASK_ID]->integer;
    if (!gy_reply_is(r[ASK_NAME], "OK")) {
        return refuse(b, "CLIENT SETNAME", r[ASK_NAME]);
    }
    if (r[ASK_INFO]->type != '$' || !find_run_id(b, r[ASK_INFO]->text)) {
        return refuse(b, "INFO tells no run_id", r[ASK_INFO]);
    }
    if (!b->killed_older) {
        if (r[ASK_LIST]->type != '$') {
            return refuse(b, "CLIENT LIST", r[ASK_LIST]);
        }
        kill_older(b, r[ASK_LIST]->text);
    }
    if (b->kill_id) {
        kill_one(b, b->kill_id);
    }
    if (b->greet_want == b->greet_got) {
        return GY_GREETING_DONE;
    }
    gy_conn_dirty(&b->conn);
    return GY_GREETING_MORE;
}

/* Where each answer of the first round ends is found again here: it happens once a connection. */
static enum gy_greeting read_first_round(struct gy_backend *b)
{
    struct gy_reply *r[ASKED + 1] = {0};
    const uint8_t *p = gy_buf_head(&b->greeting);
    size_t n = gy_buf_size(&b->greeting);
    unsigned count = b->greet_want;
    enum gy_greeting result = GY_GREETING_FAILED;
    for (unsigned i = 0; i < count; i++) {
        struct gy_reply_scan scan;
        size_t used = 0;
        gy_reply_scan_init(&scan);
        if (gy_reply_scan(&scan, p, n, &used) != GY_PARSE_DONE ||
            !(r[i] = gy_reply_parse(p, used))) {
            snprintf(b->why, sizeof b->why, "the hand-shake's answer is not RESP");
            goto out;
        }
        p += used;
        n -= used;
    }
    result = first_round(b, r);
out:
    for (unsigned i = 0; i < count; i++) {
        gy_reply_free(r[i]);
    }
    gy_buf_fini(&b->greeting);
    return result;
}

enum gy_greeting gy_greeting_data(struct gy_backend *b, const uint8_t *p, size_t n)
{
    unsigned first = ASKED + (has_password(b) ? 1u : 0u);
    while (n) {
        size_t used = 0;
        enum gy_parse r = gy_reply_scan(&b->scan, p, n, &used);
        if (r == GY_PARSE_ERROR || gy_buf_size(&b->greeting) + used > GREETING_MAX) {
            snprintf(b->why, sizeof b->why, "the hand-shake's answer is not RESP, or too long");
            return GY_GREETING_FAILED;
        }
        if (b->greet_got < first) {
            gy_buf_add(&b->greeting, p, used);
        }
        p += used;
        n -= used;
        if (r == GY_PARSE_MORE) {
            continue;
        }
        gy_reply_scan_init(&b->scan);
        if (++b->greet_got == first) {
            enum gy_greeting g = read_first_round(b);
            if (g != GY_GREETING_MORE) {
                return g;
            }
        } else if (b->greet_got == b->greet_want) {
            return GY_GREETING_DONE;
        }
    }
    return GY_GREETING_MORE;
}
