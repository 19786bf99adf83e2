/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_resp.c - the RESP codec and the command table on any bytes.
 *
 * The first two bytes choose limits and cuts. Checked: requests and replies come out the same
 * whole, in random pieces and byte by byte; a request written again parses to itself; key positions
 * lie within the arguments, however little room there is for them; scanner and tree agree on where
 * a reply ends. Threads: one.
 */
#include "../../unit/wire/feed.h"
#include "wire/command.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Not assert: it must hold in every build. */
#define MUST(x) ((x) ? (void)0 : abort())

static const struct gy_req_limits limits_of[] = {
    {.bulk = 1 << 29, .total = 1 << 30, .args = 1 << 20, .inline_line = 65536},
    {.bulk = 40, .total = 100, .args = 5, .inline_line = 30},
};

static size_t random_cut(void *arg, size_t left)
{
    uint32_t *state = arg;
    *state = *state * 1664525 + 1013904223;
    size_t most = (*state >> 28) < 4 ? 3 : 40;
    size_t take = 1 + (*state >> 16) % most;
    return take < left ? take : left;
}

static void see_keys(const struct gy_command *c, const struct gy_request *r)
{
    uint32_t few[2] = {0}, all[512];
    int n = gy_command_keys(c, r->argv, r->argc, few, 2);
    MUST(n >= -1 && n < (int)r->argc);
    MUST(gy_command_keys(c, r->argv, r->argc, all, 512) == n);
    for (int i = 0; i < n && i < 512; i++) {
        MUST(all[i] >= 1 && all[i] < r->argc);
        MUST(i >= 2 || all[i] == few[i]);
    }
    MUST(n != -1 || r->argc > 0);
    const char *why = gy_command_refusal(c, r->argv, r->argc);
    MUST(!why || *why);
}

static void see_request(const struct gy_request *r)
{
    struct gy_buf again = {0};
    struct gy_req_parser p;
    struct gy_request r2;
    const struct gy_command *c = gy_command_find(r->argv, r->argc);
    if (c) {
        see_keys(c, r);
    }
    gy_resp_command(&again, r->argc, r->argv);
    gy_req_init(&p, &limits_of[0]);
    MUST(gy_req_parse(&p, gy_buf_head(&again), gy_buf_size(&again), &r2) == GY_PARSE_DONE);
    MUST(r2.argc == r->argc && r2.bytes == gy_buf_size(&again));
    for (uint32_t i = 0; i < r->argc; i++) {
        MUST(gy_slice_eq(r->argv[i], r2.argv[i]));
    }
    gy_req_fini(&p);
    gy_buf_fini(&again);
}

static void same(struct gy_buf *a, struct gy_buf *b)
{
    MUST(gy_buf_size(a) == gy_buf_size(b));
    MUST(gy_buf_size(a) == 0 || memcmp(gy_buf_head(a), gy_buf_head(b), gy_buf_size(a)) == 0);
    gy_buf_reset(b);
}

static void requests(const struct gy_req_limits *l, uint32_t seed, const uint8_t *in, size_t n)
{
    struct gy_buf whole = {0}, cut = {0};
    feed_requests(l, in, n, feed_whole, NULL, &whole, see_request);
    feed_requests(l, in, n, random_cut, &seed, &cut, NULL);
    same(&whole, &cut);
    if (n < 256) {
        feed_requests(l, in, n, feed_bytewise, NULL, &cut, NULL);
        same(&whole, &cut);
    }
    gy_buf_fini(&whole);
    gy_buf_fini(&cut);
}

/* The tree is stricter (numbers, bulks' ends), so only its yes binds the scanner. */
static void tree_agrees(const uint8_t *in, size_t n)
{
    struct gy_reply_scan s;
    size_t used = 0;
    struct gy_reply *r = gy_reply_parse(in, n);
    if (!r) {
        return;
    }
    gy_reply_scan_init(&s);
    MUST(gy_reply_scan(&s, in, n, &used) == GY_PARSE_DONE);
    gy_reply_free(r);
    r = gy_reply_parse(in, used);
    MUST(r);
    gy_reply_free(r);
    MUST(!gy_reply_parse(in, used - 1));
}

static void replies(uint32_t seed, const uint8_t *in, size_t n)
{
    struct gy_buf whole = {0}, cut = {0};
    feed_replies(in, n, feed_whole, NULL, &whole);
    feed_replies(in, n, random_cut, &seed, &cut);
    same(&whole, &cut);
    feed_replies(in, n, feed_bytewise, NULL, &cut);
    same(&whole, &cut);
    tree_agrees(in, n);
    gy_buf_fini(&whole);
    gy_buf_fini(&cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 8192) {
        return 0;
    }
    uint32_t seed = data[1];
    requests(&limits_of[data[0] & 1], seed, data + 2, size - 2);
    replies(seed, data + 2, size - 2);
    struct gy_slice key = {data + 2, size - 2};
    struct gy_slice tag = gy_hash_tag(key, '{', '}');
    MUST(tag.p >= key.p && tag.p + tag.n <= key.p + key.n);
    return 0;
}
