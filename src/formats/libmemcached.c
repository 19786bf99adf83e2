/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmemcached.c - the configuration that libmemcached 1.1.4 takes as one text,
 * "--SERVER=host:port/?weight --DISTRIBUTION=consistent --HASH=MD5". Threads: one an object.
 */
#include "base/utf8.h"
#include "formats/memcached_server.h"

#include <stdio.h>

struct option {
    const char *name;   /* without the dashes */
    const char *key;    /* the placement's setting; NULL: has no part in it */
    const char *values; /* what may be set: word=setting's word, parted by blanks */
};

/* Of the options only those that place matter; the others are known so that a mistyped one is not
 * silently lost. */
static const struct option OPTIONS[] = {
    {"DISTRIBUTION", "distribution", "consistent=consistent modula=modula"},
    {"HASH", "hash",
     "DEFAULT=default MD5=md5 CRC=crc FNV1_64=fnv1_64 FNV1A_64=fnv1a_64 FNV1_32=fnv1_32 "
     "FNV1A_32=fnv1a_32 HSIEH=hsieh MURMUR=murmur JENKINS=jenkins MURMUR3=murmur3"},
    {"SORT-HOSTS", "sort_hosts", "=1"},
    {"VERIFY-KEY", NULL, NULL},
    {"REMOVE-FAILED-SERVERS", NULL, NULL},
    {"REMOVE_FAILED_SERVERS", NULL, NULL},
    {"BINARY-PROTOCOL", NULL, NULL},
    {"BUFFER-REQUESTS", NULL, NULL},
    {"NAMESPACE", NULL, NULL},
    {"POOL-MIN", NULL, NULL},
    {"POOL-MAX", NULL, NULL},
    {"CONNECT-TIMEOUT", NULL, NULL},
    {"IO-BYTES-WATERMARK", NULL, NULL},
    {"IO-KEY-PREFETCH", NULL, NULL},
    {"IO-MSG-WATERMARK", NULL, NULL},
    {"NUMBER-OF-REPLICAS", NULL, NULL},
    {"POLL-TIMEOUT", NULL, NULL},
    {"RANDOMIZE-REPLICA-READ", NULL, NULL},
    {"RCV-TIMEOUT", NULL, NULL},
    {"RETRY-TIMEOUT", NULL, NULL},
    {"SERVER-FAILURE-LIMIT", NULL, NULL},
    {"SND-TIMEOUT", NULL, NULL},
    {"SOCKET-RECV-SIZE", NULL, NULL},
    {"SOCKET-SEND-SIZE", NULL, NULL},
    {"SUPPORT-CAS", NULL, NULL},
    {"TCP-NODELAY", NULL, NULL},
    {"TCP-KEEPALIVE", NULL, NULL},
    {"TCP-KEEPIDLE", NULL, NULL},
    {"USER-DATA", NULL, NULL},
    {"USE-UDP", NULL, NULL},
};

#define OPTION_COUNT (sizeof OPTIONS / sizeof OPTIONS[0])

/* The setting's word for an option's value, in any case; false if there is none. */
static bool translate(const char *values, struct gy_slice value, char out[32])
{
    for (struct gy_slice rest = gy_str(values), pair; gy_word_next(&rest, &pair);) {
        struct gy_slice word = gy_slice_cut(&pair, '=');
        if (word.n == value.n &&
            (!word.n || strncasecmp((const char *)word.p, (const char *)value.p, word.n) == 0)) {
            snprintf(out, 32, "%.*s", (int)pair.n, pair.p);
            return true;
        }
    }
    return false;
}

static int take_option(struct gy_reading *r, struct gy_pool *p, struct gy_mark at,
                       struct gy_slice name, struct gy_slice value)
{
    const char *names[OPTION_COUNT + 3] = {"SERVER", "SOCKET"};
    char word[32], q[2][GY_QUOTE];
    size_t i = 0;
    for (; i < OPTION_COUNT && !gy_slice_eq(gy_str(OPTIONS[i].name), name); i++) {
        names[i + 2] = OPTIONS[i].name;
    }
    if (i == OPTION_COUNT) {
        return gy_read_unknown(r, at, "option", name, names);
    }
    if (!OPTIONS[i].key) {
        return GYRE_OK;
    }
    struct gy_slice second = value;
    value = gy_slice_cut(&second, ','); /* "consistent,MD5" */
    if (!translate(OPTIONS[i].values, value, word)) {
        return gy_read_fail(r, GYRE_UNKNOWN, at, "%s is %s, which has no placement here",
                            gy_utf8_quote(q[0], name), gy_utf8_quote(q[1], value));
    }
    int rc = gy_read_set(r, p, at, OPTIONS[i].key, word);
    return rc || !second.n ? rc : take_option(r, p, at, GY_LIT("HASH"), second);
}

/* host:port/?weight, or a path in quotes. */
static int option_server(struct gy_reading *r, struct gy_pool *p, struct gy_mark at,
                         struct gy_slice value)
{
    struct gy_slice weight = GY_LIT(""), name = value;
    if (name.n > 1 && name.p[0] == '"' && name.p[name.n - 1] == '"') {
        name = (struct gy_slice){name.p + 1, name.n - 2};
    }
    const uint8_t *mark = name.n ? memmem(name.p, name.n, "/?", 2) : NULL;
    if (mark) {
        weight = (struct gy_slice){mark + 2, (size_t)(name.p + name.n - mark) - 2};
        name.n = (size_t)(mark - name.p);
    }
    struct gy_mc_server e;
    if (!gy_mc_split(name, &e)) {
        return gy_mc_bad(r, at, value);
    }
    int rc = mark ? gy_mc_weight(r, at, weight, &e.weight) : GYRE_OK;
    e.weight = e.weight ? e.weight : 1000000;
    return rc ? rc : gy_mc_add(r, p, at, &e);
}

int gy_libmemcached_parse(struct gy_reading *r)
{
    struct gy_pool *p;
    int rc = gy_mc_begin(r, (struct gy_mark){1, 1}, "libmemcached", &p);
    struct gy_lines l = gy_lines_of(r->text);
    while (!rc && gy_lines_next(&l)) {
        struct gy_slice rest = gy_mc_remark(l.line) ? GY_LIT("") : l.line, word;
        while (!rc && gy_word_next(&rest, &word)) {
            struct gy_mark at = gy_lines_mark(&l, word);
            struct gy_slice value = word, name = gy_slice_cut(&value, '=');
            char q[GY_QUOTE];
            if (!gy_slice_starts(name, "--")) {
                rc = gy_read_fail(r, GYRE_SYNTAX, at, "%s is no option: they begin with --",
                                  gy_utf8_quote(q, word));
                break;
            }
            name = (struct gy_slice){name.p + 2, name.n - 2};
            bool server =
                gy_slice_eq(name, GY_LIT("SERVER")) || gy_slice_eq(name, GY_LIT("SOCKET"));
            rc = server ? option_server(r, p, at, value) : take_option(r, p, at, name, value);
        }
    }
    rc = rc ? rc : gy_mc_end(r, p, "libmemcached");
    return rc ? rc : gy_mc_unused(r, p);
}
