/* SPDX-License-Identifier: Apache-2.0 */
/* haproxy_balance.c - see haproxy_proxy.h. The reasons are those HAProxy 2.6 gives. */
#include "base/utf8.h"
#include "formats/haproxy_proxy.h"

#include <stdio.h>

static int fail(const struct gy_haproxy_line *l, size_t word, const char *why)
{
    char q[GY_QUOTE];
    return gy_read_fail(l->r, GYRE_SYNTAX, gy_haproxy_at(l, word), "%s (got %s)", why,
                        gy_utf8_quote(q, gy_haproxy_word(l, word)));
}

/* The text between the brackets of "name(text)"; p is NULL without. */
static struct gy_slice brackets(struct gy_slice s)
{
    const uint8_t *open = s.n ? memchr(s.p, '(', s.n) : NULL;
    const uint8_t *close = s.n ? memrchr(s.p, ')', s.n) : NULL;
    return open && close > open ? (struct gy_slice){open + 1, (size_t)(close - open) - 1}
                                : (struct gy_slice){0};
}

/* ---- balance ---- */

static int read_uri(const struct gy_haproxy_line *l, struct gy_haproxy_lb *lb)
{
    for (size_t i = 2; i < l->count; i++) {
        bool number = gy_haproxy_is(l, i, "len") || gy_haproxy_is(l, i, "depth");
        if (number && gy_haproxy_number(gy_haproxy_word(l, i + 1)) <= 0) {
            return fail(l, i + 1,
                        gy_haproxy_is(l, i, "len")
                            ? "balance uri: 'len' expects a positive integer"
                            : "balance uri: 'depth' expects a positive integer");
        }
        if (!number && !gy_haproxy_is(l, i, "whole") && !gy_haproxy_is(l, i, "path-only")) {
            return fail(l, i,
                        "balance uri only accepts parameters 'len', 'depth', 'path-only', and "
                        "'whole'");
        }
        lb->whole = lb->whole || gy_haproxy_is(l, i, "whole");
        lb->cut = lb->cut || !gy_haproxy_is(l, i, "whole");
        i += number;
    }
    return GYRE_OK;
}

static int read_url_param(const struct gy_haproxy_line *l, struct gy_haproxy_lb *lb)
{
    (void)lb;
    if (gy_haproxy_word(l, 2).n == 0) {
        return fail(l, 2, "balance url_param requires an URL parameter name");
    }
    return gy_haproxy_word(l, 3).n && !gy_haproxy_is(l, 3, "check_post")
               ? fail(l, 3, "balance url_param only accepts 'check_post' modifier")
               : GYRE_OK;
}

static int read_hdr(const struct gy_haproxy_line *l, struct gy_haproxy_lb *lb)
{
    if (brackets(gy_haproxy_word(l, 1)).n == 0) {
        return fail(l, 1, "balance hdr requires an http header field name");
    }
    lb->cut = gy_haproxy_is(l, 2, "use_domain_only");
    return gy_haproxy_word(l, 2).n && !lb->cut
               ? fail(l, 2, "balance hdr(name) only accepts 'use_domain_only' modifier")
               : GYRE_OK;
}

static int read_random(const struct gy_haproxy_line *l, struct gy_haproxy_lb *lb)
{
    (void)lb;
    struct gy_slice draws = brackets(gy_haproxy_word(l, 1));
    for (size_t i = 0; i < draws.n; i++) {
        if (draws.p[i] < '0' || draws.p[i] > '9') {
            return fail(l, 1, "balance random: unexpected character after argument");
        }
    }
    return draws.p && gy_haproxy_number(draws) < 1
               ? fail(l, 1, "balance random: number of draws must be at least 1")
               : GYRE_OK;
}

static int read_cookie(const struct gy_haproxy_line *l, struct gy_haproxy_lb *lb)
{
    (void)lb;
    struct gy_slice word = gy_haproxy_word(l, 1);
    return word.n > sizeof "rdp-cookie" - 1 && brackets(word).n == 0
               ? fail(l, 1, "balance rdp-cookie: missing cookie name")
               : GYRE_OK;
}

static int read_hash(const struct gy_haproxy_line *l, struct gy_haproxy_lb *lb)
{
    (void)lb;
    return gy_haproxy_word(l, 2).n ? GYRE_OK
                                   : fail(l, 2, "balance hash requires a sample expression");
}

static const struct {
    const char *word;
    bool brackets; /* may have an argument in them */
    enum gy_haproxy_method method;
    int (*read)(const struct gy_haproxy_line *l, struct gy_haproxy_lb *lb);
} METHODS[] = {
    {"roundrobin", false, GY_HAPROXY_ROUNDROBIN, NULL},
    {"static-rr", false, GY_HAPROXY_OTHER, NULL},
    {"leastconn", false, GY_HAPROXY_OTHER, NULL},
    {"first", false, GY_HAPROXY_OTHER, NULL},
    {"random", true, GY_HAPROXY_OTHER, read_random},
    {"source", false, GY_HAPROXY_SOURCE, NULL},
    {"uri", false, GY_HAPROXY_URI, read_uri},
    {"url_param", false, GY_HAPROXY_URL_PARAM, read_url_param},
    {"hdr", true, GY_HAPROXY_HDR, read_hdr},
    {"rdp-cookie", true, GY_HAPROXY_RDP_COOKIE, read_cookie},
    {"hash", false, GY_HAPROXY_HASH, read_hash},
    /* of 2.9 and later, for logs */
    {"sticky", false, GY_HAPROXY_OTHER, NULL},
    {"log-sticky", false, GY_HAPROXY_OTHER, NULL},
    {"log-hash", false, GY_HAPROXY_OTHER, NULL},
};

#define METHOD_COUNT (sizeof METHODS / sizeof METHODS[0])

static bool is_method(struct gy_slice word, size_t i)
{
    size_t n = strlen(METHODS[i].word);
    return gy_slice_starts(word, METHODS[i].word) &&
           (word.n == n || (METHODS[i].brackets && word.p[n] == '('));
}

int gy_haproxy_balance(const struct gy_haproxy_line *l, struct gy_haproxy_lb *lb)
{
    int rc = GYRE_OK;
    size_t w = 0, i = 0;
    struct gy_slice word = gy_haproxy_word(l, 1);
    lb->whole = lb->cut = false;
    lb->at = gy_haproxy_at(l, 0);
    lb->argument[0] = '\0';
    for (size_t k = 1; k < l->count && w < sizeof lb->argument - 1 && !rc; k++) {
        struct gy_slice s = gy_haproxy_word(l, k);
        rc = gy_haproxy_known(l, k);
        int n = (int)(s.n < sizeof lb->argument ? s.n : sizeof lb->argument);
        w += (size_t)snprintf(lb->argument + w, sizeof lb->argument - w, "%s%.*s", k > 1 ? " " : "",
                              n, s.p);
    }
    if (!rc && w >= sizeof lb->argument) {
        rc = gy_read_fail(l->r, GYRE_RANGE, lb->at, "balance is longer than %zu bytes",
                          sizeof lb->argument - 1);
    }
    if (rc || word.n == 0) {
        lb->method = GY_HAPROXY_ROUNDROBIN;
        return rc;
    }
    while (i < METHOD_COUNT && !is_method(word, i)) {
        i++;
    }
    if (i == METHOD_COUNT) {
        const char *names[METHOD_COUNT + 1] = {NULL};
        for (size_t k = 0; k < METHOD_COUNT; k++) {
            names[k] = METHODS[k].word;
        }
        return gy_read_unknown(l->r, gy_haproxy_at(l, 1), "balance", word, names);
    }
    lb->method = METHODS[i].method;
    return METHODS[i].read ? METHODS[i].read(l, lb) : GYRE_OK;
}

/* ---- hash-type, hash-balance-factor ---- */

int gy_haproxy_hash_type(const struct gy_haproxy_line *l, struct gy_haproxy_lb *lb)
{
    static const char *const types[] = {"map-based", "consistent", NULL};
    static const char *const functions[] = {"sdbm", "djb2", "crc32", "wt6", "none", NULL};
    struct gy_slice function = gy_haproxy_word(l, 2);
    size_t i = 0;
    lb->consistent = gy_haproxy_is(l, 1, "consistent");
    if (!lb->consistent && !gy_haproxy_is(l, 1, "map-based")) {
        return gy_read_unknown(l->r, gy_haproxy_at(l, 1), "hash-type", gy_haproxy_word(l, 1),
                               types);
    }
    if (function.n == 0) {
        lb->avalanche = lb->consistent; /* in force only where no function is named */
        snprintf(lb->function, sizeof lb->function, "sdbm");
        return GYRE_OK;
    }
    while (functions[i] && !gy_slice_eq(function, gy_str(functions[i]))) {
        i++;
    }
    if (!functions[i]) {
        return gy_read_unknown(l->r, gy_haproxy_at(l, 2), "hash function of hash-type", function,
                               functions);
    }
    snprintf(lb->function, sizeof lb->function, "%s", functions[i]);
    lb->avalanche = gy_haproxy_is(l, 3, "avalanche");
    return gy_haproxy_word(l, 3).n && !lb->avalanche
               ? fail(l, 3,
                      "'hash-type' only supports 'avalanche' as a modifier for hash functions")
               : GYRE_OK;
}

int gy_haproxy_factor(const struct gy_haproxy_line *l, struct gy_haproxy_lb *lb)
{
    struct gy_slice s = gy_haproxy_word(l, 1);
    if (s.n == 0) {
        return fail(l, 1, "'hash-balance-factor' expects an integer argument");
    }
    int rc = gy_haproxy_known(l, 1);
    lb->factor = gy_haproxy_number(s);
    lb->factor_at = gy_haproxy_at(l, 0);
    return rc ? rc
           : lb->factor != 0 && lb->factor <= 100
               ? fail(l, 1, "'hash-balance-factor' must be 0 or greater than 100")
               : GYRE_OK;
}
