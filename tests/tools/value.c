/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.c - names and values, written and read back. A value says which key it belongs to, which
 * run wrote it and its generation, and is padded with bytes that follow from these; so a value in
 * the wrong place, of another run or damaged is known for what it is. Pure.
 */
#include "checker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_name[CHK_TYPES] = {"str",  "ctr", "ttl",  "hash",
                                                 "list", "set", "zset", "grp"};

size_t chk_name(const struct chk_world *w, const struct chk_key *k, int member, char *out,
                size_t cap)
{
    int n;
    if (k->type == CHK_GRP) {
        n = snprintf(out, cap, "{%sgrp:%u}%c", w->conf.prefix, k->id, 'a' + member);
    } else {
        n = snprintf(out, cap, "%s%s:%u", w->conf.prefix, type_name[k->type], k->id);
    }
    return (size_t)n;
}

/* Members of sets are names: no padding. */
static size_t padding(const struct chk_world *w, const struct chk_key *k, int32_t gen)
{
    if (k->type == CHK_SET || w->conf.value_size == 0) {
        return 0;
    }
    return chk_mix(((uint64_t)k->id << 32) ^ (uint32_t)gen) % w->conf.value_size;
}

static char pad_byte(int32_t gen, size_t i)
{
    return (char)('a' + ((size_t)gen + i) % 26);
}

static size_t head(const struct chk_world *w, const struct chk_key *k, int32_t gen, char *out,
                   size_t cap)
{
    return (size_t)snprintf(out, cap, "%u.%08x.%d;", k->id, w->nonce, gen);
}

size_t chk_value(const struct chk_world *w, const struct chk_key *k, int32_t gen, char *out,
                 size_t cap)
{
    size_t n = head(w, k, gen, out, cap), pad = padding(w, k, gen);
    for (size_t i = 0; i < pad && n < cap; i++) {
        out[n++] = pad_byte(gen, i);
    }
    return n;
}

size_t chk_length(const struct chk_world *w, const struct chk_key *k, const struct chk_state *s)
{
    size_t n = 0;
    char tmp[64];
    for (uint32_t i = 0; i < s->n; i++) {
        n += head(w, k, s->e[i], tmp, sizeof tmp) + padding(w, k, s->e[i]);
    }
    return n;
}

/* One value at the beginning of p. Returns its length, 0: not one of this key's. */
static size_t parse(const struct chk_world *w, const struct chk_key *k, const char *p, size_t len,
                    int32_t *gen)
{
    char text[64];
    const char *end = memchr(p, ';', len < sizeof text - 1 ? len : sizeof text - 1);
    unsigned id = 0, nonce = 0;
    int g = 0, used = 0;
    if (end == NULL) {
        return 0;
    }
    size_t n = (size_t)(end - p) + 1;
    memcpy(text, p, n);
    text[n] = '\0';
    if (sscanf(text, "%u.%x.%d;%n", &id, &nonce, &g, &used) != 3 || (size_t)used != n ||
        id != k->id || nonce != w->nonce || g <= 0) {
        return 0;
    }
    size_t pad = padding(w, k, g);
    if (len - n < pad) {
        return 0;
    }
    for (size_t i = 0; i < pad; i++) {
        if (p[n + i] != pad_byte(g, i)) {
            return 0;
        }
    }
    *gen = g;
    return n + pad;
}

/* Exactly one value; nil is generation 0. */
static bool one(const struct chk_world *w, const struct chk_key *k, const redisReply *r,
                int32_t *gen)
{
    *gen = 0;
    return r->type == REDIS_REPLY_NIL ||
           (r->type == REDIS_REPLY_STRING && r->len > 0 &&
            parse(w, k, r->str, (size_t)r->len, gen) == (size_t)r->len);
}

static bool number(const redisReply *r, int64_t *out)
{
    char *end = NULL;
    if (r->type == REDIS_REPLY_INTEGER) {
        *out = r->integer;
        return true;
    }
    if (r->type != REDIS_REPLY_STRING || r->len == 0) {
        return false;
    }
    *out = strtoll(r->str, &end, 10);
    return *end == '\0';
}

static bool read_string(const struct chk_world *w, const struct chk_key *k, const redisReply *r,
                        struct chk_state *s)
{
    if (r->type == REDIS_REPLY_NIL) {
        return true;
    }
    size_t at = 0;
    while (r->type == REDIS_REPLY_STRING && at < (size_t)r->len && s->n < CHK_ELEMS) {
        size_t n = parse(w, k, r->str + at, (size_t)r->len - at, &s->e[s->n]);
        if (n == 0) {
            return false;
        }
        s->n++;
        at += n;
    }
    return r->type == REDIS_REPLY_STRING && at == (size_t)r->len && s->n > 0;
}

static int by_value(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static bool read_sequence(const struct chk_world *w, const struct chk_key *k, const redisReply *r,
                          struct chk_state *s)
{
    if (r->type != REDIS_REPLY_ARRAY || r->elements > CHK_ELEMS) {
        return false;
    }
    for (size_t i = 0; i < r->elements; i++) {
        if (!one(w, k, r->element[i], &s->e[i]) || s->e[i] == 0) {
            return false;
        }
    }
    s->n = (uint32_t)r->elements;
    if (k->type == CHK_SET) {
        qsort(s->e, s->n, sizeof s->e[0], by_value);
    }
    return true;
}

/* Fields f0..f7 with values, members m0..m7 with scores. */
static bool read_pairs(const struct chk_world *w, const struct chk_key *k, const redisReply *r,
                       struct chk_state *s)
{
    if (r->type != REDIS_REPLY_ARRAY || r->elements % 2 != 0) {
        return false;
    }
    for (size_t i = 0; i + 1 < r->elements; i += 2) {
        const redisReply *name = r->element[i], *val = r->element[i + 1];
        int64_t score = 0;
        if (name->type != REDIS_REPLY_STRING || name->len != 2 || name->str[1] < '0' ||
            name->str[1] >= '0' + CHK_ELEMS) {
            return false;
        }
        int32_t *e = &s->e[name->str[1] - '0'];
        if (k->type == CHK_HASH ? !one(w, k, val, e) : !number(val, &score)) {
            return false;
        }
        *e = k->type == CHK_HASH ? *e : (int32_t)score;
    }
    return true;
}

static bool read_group(const struct chk_world *w, const struct chk_key *k, const redisReply *r,
                       struct chk_state *s)
{
    bool ok = r->type == REDIS_REPLY_ARRAY && r->elements == 4;
    for (size_t i = 0; ok && i < 4; i++) {
        ok = one(w, k, r->element[i], &s->e[i]);
    }
    return ok;
}

static bool read_counter(const struct chk_world *w, const struct chk_key *k, const redisReply *r,
                         struct chk_state *s)
{
    int64_t v = 0;
    (void)w;
    (void)k;
    if (r->type == REDIS_REPLY_NIL) {
        return true;
    }
    s->n = 1;
    bool ok = number(r, &v);
    s->e[0] = (int32_t)v;
    return ok;
}

typedef bool reader(const struct chk_world *w, const struct chk_key *k, const redisReply *r,
                    struct chk_state *s);
static reader *const read_all[CHK_TYPES] = {
    [CHK_STR] = read_string, [CHK_CTR] = read_counter,   [CHK_TTL] = read_string,
    [CHK_HASH] = read_pairs, [CHK_LIST] = read_sequence, [CHK_SET] = read_sequence,
    [CHK_ZSET] = read_pairs, [CHK_GRP] = read_group,
};

void chk_read(const struct chk_world *w, const struct chk_key *k, const redisReply *r,
              struct chk_obs *o)
{
    bool ok;
    memset(&o->s, 0, sizeof o->s);
    o->number = 0;
    if (o->kind == CHK_SEE_ALL) {
        ok = read_all[k->type](w, k, r, &o->s);
    } else if (o->kind == CHK_SEE_ELEM && k->type != CHK_ZSET) {
        int32_t g;
        ok = one(w, k, r, &g);
        o->number = g;
    } else if (o->kind == CHK_SEE_ELEM && r->type == REDIS_REPLY_NIL) {
        ok = true;
    } else {
        ok = number(r, &o->number);
    }
    o->garbage = !ok;
}
