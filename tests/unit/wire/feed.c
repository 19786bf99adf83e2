/* SPDX-License-Identifier: Apache-2.0 */
/* feed.c - see feed.h. */
#include "feed.h"

#include <assert.h>
#include <stdlib.h>

size_t feed_whole(void *arg, size_t left)
{
    return left;
}

size_t feed_bytewise(void *arg, size_t left)
{
    return 1;
}

size_t feed_two(void *arg, size_t left)
{
    size_t *first = arg;
    size_t take = *first && *first < left ? *first : left;
    *first = 0;
    return take;
}

static uint8_t *own_block(const uint8_t *in, size_t n)
{
    uint8_t *block = malloc(n ? n : 1);
    assert(block);
    memcpy(block, in, n);
    return block;
}

static void show(const struct gy_request *r, struct gy_buf *out)
{
    for (uint32_t i = 0; i < r->argc; i++) {
        gy_buf_printf(out, "(%zu:", r->argv[i].n);
        gy_buf_add(out, r->argv[i].p, r->argv[i].n);
        gy_buf_putc(out, ')');
    }
    gy_buf_printf(out, "%s=%zu;", r->is_inline ? "~" : "", r->bytes);
}

void feed_requests(const struct gy_req_limits *limits, const uint8_t *in, size_t n, feed_cut *cut,
                   void *arg, struct gy_buf *out, void (*see)(const struct gy_request *r))
{
    struct gy_req_parser p;
    enum gy_parse last = GY_PARSE_MORE;
    size_t start = 0, have = 0; /* in[start..have) has come and is not parsed */
    gy_req_init(&p, limits);
    while (have < n && last != GY_PARSE_ERROR) {
        have += cut(arg, n - have);
        do {
            struct gy_request r;
            uint8_t *block = own_block(in + start, have - start);
            last = gy_req_parse(&p, block, have - start, &r);
            if (last == GY_PARSE_DONE) {
                assert(r.bytes > 0 && r.bytes <= have - start);
                show(&r, out);
                if (see) {
                    see(&r);
                }
                start += r.bytes;
            } else if (last == GY_PARSE_MORE) {
                assert(gy_req_need(&p) > 0);
            }
            free(block);
        } while (last == GY_PARSE_DONE && start < have);
    }
    if (last == GY_PARSE_ERROR) {
        gy_buf_printf(out, "!%s", p.error);
    } else if (start < n) {
        gy_buf_puts(out, "...");
    }
    gy_req_fini(&p);
}

void feed_replies(const uint8_t *in, size_t n, feed_cut *cut, void *arg, struct gy_buf *out)
{
    struct gy_reply_scan s;
    size_t start = 0, have = 0; /* in[start..have) belongs to an unfinished reply */
    gy_reply_scan_init(&s);
    while (have < n) {
        size_t piece = cut(arg, n - have);
        uint8_t *block = own_block(in + have, piece);
        size_t at = 0;
        while (at < piece) {
            size_t used = 0;
            enum gy_parse r = gy_reply_scan(&s, block + at, piece - at, &used);
            assert(used <= piece - at && (r != GY_PARSE_MORE || used == piece - at));
            at += used;
            if (r == GY_PARSE_ERROR) {
                gy_buf_puts(out, "!");
                free(block);
                return;
            }
            if (r == GY_PARSE_DONE) {
                gy_buf_printf(out, "%c%zu;", s.first, have + at - start);
                start = have + at;
                gy_reply_scan_init(&s);
            }
        }
        have += piece;
        free(block);
    }
    if (start < n) {
        gy_buf_puts(out, "...");
    }
}
