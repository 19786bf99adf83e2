/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.c - requests in RESP: an array of bulk strings, found in bytes that come in any pieces.
 *
 * Invariants: in[0..pos) is parsed for good; a cut header line is searched on from `seen`, so no
 * byte is looked at more than twice (once for the end of its line, once for its value) and bulk
 * payloads never. Every bound is tested on the header, before its payload is waited for.
 * Stricter than Redis in one thing: each CR LF must be one, because the bytes are forwarded and
 * all who read them must see the same borders. Threads: one thread an object.
 */
#include "wire/request.h"

#include <stdlib.h>

#include "wire/number.h"

enum {
    ARGS_FIRST = 8,   /* room for arguments at first: most commands have fewer */
    ARGS_KEPT = 1024, /* more than this is given back when the next request starts */
};

void gy_req_init(struct gy_req_parser *p, const struct gy_req_limits *limits)
{
    *p = (struct gy_req_parser){.limits = *limits, .bulk = -1, .need = 1};
}

static void drop_args(struct gy_req_parser *p)
{
    free(p->offs);
    free(p->argv);
    p->offs = NULL;
    p->argv = NULL;
    p->cap = 0;
}

void gy_req_fini(struct gy_req_parser *p)
{
    drop_args(p);
    gy_buf_fini(&p->inline_args);
}

size_t gy_req_need(const struct gy_req_parser *p)
{
    return p->need;
}

enum gy_parse gy_req_more(struct gy_req_parser *p, size_t need)
{
    p->need = need;
    return GY_PARSE_MORE;
}

enum gy_parse gy_req_fail(struct gy_req_parser *p, const char *error)
{
    p->error = error;
    return GY_PARSE_ERROR;
}

static bool grow(struct gy_req_parser *p)
{
    uint32_t cap = p->cap ? p->cap * 2 : ARGS_FIRST;
    size_t *offs = cap > p->cap ? reallocarray(p->offs, cap, sizeof *offs) : NULL;
    if (!offs) {
        return false;
    }
    p->offs = offs;
    struct gy_slice *argv = reallocarray(p->argv, cap, sizeof *argv);
    if (!argv) {
        return false;
    }
    p->argv = argv;
    p->cap = cap;
    return true;
}

bool gy_req_push(struct gy_req_parser *p, size_t off, size_t len)
{
    if (p->have == p->cap && !grow(p)) {
        return false;
    }
    p->offs[p->have] = off;
    p->argv[p->have].n = len;
    p->have++;
    return true;
}

enum gy_parse gy_req_done(struct gy_req_parser *p, const uint8_t *base, size_t bytes,
                          struct gy_request *out)
{
    for (uint32_t i = 0; i < p->have; i++) {
        p->argv[i].p = base + p->offs[i];
    }
    out->argc = p->have;
    out->argv = p->argv;
    out->bytes = bytes;
    out->is_inline = !p->in_array;
    p->done = true;
    return GY_PARSE_DONE;
}

/* What the two header lines are called in Redis' errors. */
struct header_kind {
    const char *bad, *too_big;
};
static const struct header_kind count_header = {"invalid multibulk length",
                                                "too big mbulk count string"};
static const struct header_kind bulk_header = {"invalid bulk length", "too big bulk count string"};

/* A header line that is not whole, or not plain. */
static enum gy_parse odd_header(struct gy_req_parser *p, const uint8_t *in, size_t n,
                                const struct header_kind *kind, int64_t *v)
{
    size_t start = p->pos + 1;
    size_t from = p->seen ? p->seen : start;
    const uint8_t *cr = memchr(in + from, '\r', n - from);
    p->seen = cr ? (size_t)(cr - in) : n;
    if (p->seen - start > p->limits.inline_line) {
        return gy_req_fail(p, kind->too_big);
    }
    if (!cr || p->seen + 1 == n) {
        return gy_req_more(p, cr ? 1 : 2);
    }
    if (cr[1] != '\n' || !gy_number((struct gy_slice){in + start, p->seen - start}, v)) {
        return gy_req_fail(p, kind->bad);
    }
    p->pos = p->seen + 2;
    p->seen = 0;
    return GY_PARSE_DONE;
}

/* Reads the number behind the type byte at pos, and steps behind its line. */
static inline enum gy_parse header(struct gy_req_parser *p, const uint8_t *in, size_t n,
                                   const struct header_kind *kind, int64_t *v)
{
    if (!p->seen) {
        const uint8_t *next = gy_number_crlf(in + p->pos + 1, in + n, v);
        if (next) {
            p->pos = (size_t)(next - in);
            return GY_PARSE_DONE;
        }
    }
    return odd_header(p, in, n, kind, v);
}

static enum gy_parse bad_type(struct gy_req_parser *p, uint8_t c)
{
    static const char text[] = "expected '$', got ' '";
    _Static_assert(sizeof text <= sizeof p->error_text, "the text fits");
    memcpy(p->error_text, text, sizeof text);
    p->error_text[sizeof text - 3] = c >= ' ' && c < 127 ? (char)c : '?';
    return gy_req_fail(p, p->error_text);
}

/* One argument: "$<n>\r\n<n bytes>\r\n". */
static inline enum gy_parse argument(struct gy_req_parser *p, const uint8_t *in, size_t n)
{
    if (p->bulk < 0) {
        int64_t len = 0;
        if (p->pos == n) {
            return gy_req_more(p, 1);
        }
        if (in[p->pos] != '$') {
            return bad_type(p, in[p->pos]);
        }
        enum gy_parse r = header(p, in, n, &bulk_header, &len);
        if (r != GY_PARSE_DONE) {
            return r;
        }
        if (len < 0 || (uint64_t)len > p->limits.bulk) {
            return gy_req_fail(p, bulk_header.bad);
        }
        if ((uint64_t)len + 2 > p->limits.total || p->pos > p->limits.total - (uint64_t)len - 2) {
            return gy_req_fail(p, "too big request");
        }
        p->bulk = len;
    }
    size_t len = (size_t)p->bulk;
    size_t here = n - p->pos;
    if (here < len + 2) {
        return gy_req_more(p, len + 2 - here);
    }
    const uint8_t *end = in + p->pos + len;
    if (end[0] != '\r' || end[1] != '\n') {
        return gy_req_fail(p, "expected CRLF after an argument");
    }
    if (!gy_req_push(p, p->pos, len)) {
        return gy_req_fail(p, "out of memory");
    }
    p->pos += len + 2;
    p->bulk = -1;
    return GY_PARSE_DONE;
}

static inline bool is_crlf(const uint8_t *s)
{
    return memcmp(s, "\r\n", 2) == 0;
}

/* The hot path: takes the arguments that are whole in the input and in order. It leaves the first
 * one that is not, or for which there is no room, to argument(), which knows what to say. */
static void whole_arguments(struct gy_req_parser *p, const uint8_t *in, size_t n)
{
    const uint8_t *s = in + p->pos, *end = in + n;
    uint32_t have = p->have, most = p->want < p->cap ? p->want : p->cap;
    for (; have < most && s < end && *s == '$'; have++) {
        const uint8_t *digit = ++s;
        uint64_t len = 0;
        for (; digit < end && (uint8_t)(*digit - '0') <= 9; digit++) {
            len = len * 10 + (uint64_t)(*digit - '0');
        }
        /* 18 digits have not overflowed; "$\r\n" and leading zeros are no numbers. */
        size_t digits = (size_t)(digit - s);
        if (digits - 1 > 17 || (*s == '0' && digits > 1) || len > p->limits.bulk) {
            break;
        }
        const uint8_t *payload = digit + 2;
        if (end - digit < 4 || (uint64_t)(end - payload) < len + 2 || !is_crlf(digit)) {
            break;
        }
        const uint8_t *next = payload + len + 2;
        if (!is_crlf(next - 2) || (size_t)(next - in) > p->limits.total) {
            break;
        }
        p->offs[have] = (size_t)(payload - in);
        p->argv[have].n = (size_t)len;
        p->pos = (size_t)(next - in);
        s = next;
    }
    p->have = have;
}

static void start_afresh(struct gy_req_parser *p)
{
    p->pos = 0;
    p->have = 0;
    p->in_array = false;
    p->done = false;
    if (p->cap > ARGS_KEPT) {
        drop_args(p);
    }
    if (p->inline_args.cap) {
        gy_buf_reset(&p->inline_args);
        gy_buf_trim(&p->inline_args, 1024);
    }
}

enum gy_parse gy_req_parse(struct gy_req_parser *p, const uint8_t *in, size_t n,
                           struct gy_request *out)
{
    enum gy_parse r;
    if (p->error) {
        return GY_PARSE_ERROR;
    }
    if (p->done) {
        start_afresh(p);
    }
    if (n == 0) {
        return gy_req_more(p, 1);
    }
    if (!p->in_array) {
        int64_t count = 0;
        if (in[0] != '*') {
            return gy_req_inline(p, in, n, out);
        }
        r = header(p, in, n, &count_header, &count);
        if (r != GY_PARSE_DONE) {
            return r;
        }
        if (count > (int64_t)p->limits.args) {
            return gy_req_fail(p, count_header.bad);
        }
        p->in_array = true;
        p->want = count > 0 ? (uint32_t)count : 0;
    }
    while (p->have < p->want) {
        if (p->bulk < 0 && !p->seen) {
            whole_arguments(p, in, n);
        }
        if (p->have == p->want) {
            break;
        }
        r = argument(p, in, n);
        if (r != GY_PARSE_DONE) {
            return r;
        }
    }
    return gy_req_done(p, in, p->pos, out);
}
