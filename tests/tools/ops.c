/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.c - the requests: for each type a table of writes and a table of reads, each a function that
 * fills in the arguments, the state after it and the answer it must get. A write builds on the
 * writer's own knowledge of the key, so the answer is known exactly. No I/O; one thread a client.
 */
#include "checker.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

uint64_t chk_rand(struct chk_rng *r)
{
    r->x += UINT64_C(0x9e3779b97f4a7c15);
    return chk_mix(r->x);
}

uint32_t chk_below(struct chk_rng *r, uint32_t n)
{
    return (uint32_t)(((chk_rand(r) >> 32) * n) >> 32);
}

static void arg_end(struct chk_op *op, size_t n)
{
    op->argv[op->argc] = op->arena + op->used;
    op->len[op->argc++] = n;
    op->used += n + 1;
}

void chk_arg(struct chk_op *op, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(op->arena + op->used, op->size - op->used, fmt, ap);
    va_end(ap);
    arg_end(op, (size_t)n);
}

static void arg_name(const struct chk_world *w, struct chk_op *op, const struct chk_key *k, int m)
{
    arg_end(op, chk_name(w, k, m, op->arena + op->used, op->size - op->used));
}

static void arg_value(const struct chk_world *w, struct chk_op *op, const struct chk_key *k,
                      int32_t gen)
{
    arg_end(op, chk_value(w, k, gen, op->arena + op->used, op->size - op->used));
}

static void begin(struct chk_op *op, const char *name, struct chk_key *k)
{
    op->name = name;
    op->write = op->each = op->settle = false;
    op->shared = NULL;
    op->nkeys = k != NULL ? 1 : 0;
    op->key[0] = k;
    op->expect = CHK_EXPECT_READ;
    op->number = op->ttl_ms = 0;
    memset(&op->obs, 0, sizeof op->obs);
    op->argc = 0;
    op->used = 0;
    chk_arg(op, "%s", name);
}

/* A write to k that must be answered with an integer. */
static struct chk_state *change(const struct chk_world *w, struct chk_op *op, const char *name,
                                struct chk_key *k, int member, int64_t answer)
{
    begin(op, name, k);
    op->write = true;
    op->expect = CHK_EXPECT_INT;
    op->number = answer;
    op->next[0] = k->cur;
    arg_name(w, op, k, member);
    return &op->next[0];
}

static void clear(struct chk_state *s)
{
    memset(s, 0, sizeof *s);
}

static void drop_front(struct chk_state *s)
{
    memmove(s->e, s->e + 1, (CHK_ELEMS - 1) * sizeof s->e[0]);
    s->e[CHK_ELEMS - 1] = 0;
    s->n--;
}

#define WRITE(name)                                                                   \
    static bool name(const struct chk_world *w, struct chk_rng *r, struct chk_key *k, \
                     struct chk_op *op)

WRITE(w_del)
{
    struct chk_state *s = change(w, op, "DEL", k, 0, k->type == CHK_GRP ? 0 : 1);
    if (k->type == CHK_GRP) {
        op->number = chk_count(&k->cur);
        for (int i = 1; i < 4; i++) {
            arg_name(w, op, k, i);
        }
    } else if (k->type == CHK_TTL) {
        op->expect = CHK_EXPECT_ANY; /* it may have expired just now */
    } else if (chk_missing(&k->cur)) {
        return false;
    }
    clear(s);
    return true;
}

WRITE(w_set)
{
    struct chk_state *s = change(w, op, "SET", k, 0, 0);
    op->expect = CHK_EXPECT_OK;
    clear(s);
    s->n = 1;
    s->e[0] = ++k->gen;
    arg_value(w, op, k, k->gen);
    return true;
}

WRITE(w_append)
{
    if (k->cur.n == CHK_ELEMS) {
        return w_set(w, r, k, op);
    }
    struct chk_state *s = change(w, op, "APPEND", k, 0, 0);
    s->e[s->n++] = ++k->gen;
    arg_value(w, op, k, k->gen);
    op->number = (int64_t)chk_length(w, k, s);
    return true;
}

WRITE(w_getset)
{
    w_set(w, r, k, op);
    chk_arg(op, "GET");
    op->expect = CHK_EXPECT_VALUE;
    op->obs.s = k->cur;
    return true;
}

WRITE(w_getdel)
{
    struct chk_state *s = change(w, op, "GETDEL", k, 0, 0);
    op->expect = CHK_EXPECT_VALUE;
    op->obs.s = k->cur;
    clear(s);
    return true;
}

WRITE(w_incr)
{
    int32_t by = (int32_t)chk_below(r, 9) + 1;
    struct chk_state *s = change(w, op, by == 1 ? "INCR" : "INCRBY", k, 0, 0);
    s->n = 1;
    s->e[0] += by;
    op->number = s->e[0];
    if (by != 1) {
        chk_arg(op, "%d", by);
    }
    return true;
}

/* Half of them expire during a short run, half are there at its end. */
WRITE(w_expiring)
{
    bool brief = chk_below(r, 2) == 0;
    w_set(w, r, k, op);
    op->ttl_ms = brief ? 1500 + chk_below(r, 2500) : 600000 + chk_below(r, 600000);
    chk_arg(op, "PX");
    chk_arg(op, "%lld", (long long)op->ttl_ms);
    return true;
}

WRITE(w_psetex)
{
    struct chk_state *s = change(w, op, "PSETEX", k, 0, 0);
    op->expect = CHK_EXPECT_OK;
    op->ttl_ms = 1500 + chk_below(r, 2500);
    clear(s);
    s->n = 1;
    s->e[0] = ++k->gen;
    chk_arg(op, "%lld", (long long)op->ttl_ms);
    arg_value(w, op, k, k->gen);
    return true;
}

WRITE(w_hset)
{
    unsigned many = 1 + chk_below(r, 3), at = chk_below(r, CHK_ELEMS);
    struct chk_state *s = change(w, op, "HSET", k, 0, 0);
    for (unsigned i = 0; i < many; i++) {
        unsigned f = (at + i) % CHK_ELEMS;
        op->number += s->e[f] == 0;
        s->e[f] = ++k->gen;
        chk_arg(op, "f%u", f);
        arg_value(w, op, k, k->gen);
    }
    return true;
}

WRITE(w_remove_field)
{
    unsigned f = chk_below(r, CHK_ELEMS);
    struct chk_state *s = change(w, op, k->type == CHK_HASH ? "HDEL" : "ZREM", k, 0, 0);
    op->number = s->e[f] != 0;
    s->e[f] = 0;
    chk_arg(op, "%c%u", k->type == CHK_HASH ? 'f' : 'm', f);
    return true;
}

WRITE(w_rpush)
{
    bool left = chk_below(r, 2) == 0;
    if (k->cur.n == CHK_ELEMS) {
        return false;
    }
    struct chk_state *s = change(w, op, left ? "LPUSH" : "RPUSH", k, 0, (int64_t)k->cur.n + 1);
    if (left) {
        memmove(s->e + 1, s->e, s->n * sizeof s->e[0]);
    }
    s->e[left ? 0 : s->n] = ++k->gen;
    s->n++;
    arg_value(w, op, k, k->gen);
    return true;
}

WRITE(w_pop)
{
    bool left = chk_below(r, 2) == 0;
    if (k->cur.n == 0) {
        return false;
    }
    struct chk_state *s = change(w, op, left ? "LPOP" : "RPOP", k, 0, 0);
    op->expect = CHK_EXPECT_VALUE;
    op->obs.kind = CHK_SEE_ELEM;
    op->obs.number = s->e[left ? 0 : s->n - 1];
    if (left) {
        drop_front(s);
    } else {
        s->e[--s->n] = 0;
    }
    return true;
}

WRITE(w_lset)
{
    if (k->cur.n == 0) {
        return false;
    }
    unsigned i = chk_below(r, k->cur.n);
    struct chk_state *s = change(w, op, "LSET", k, 0, 0);
    op->expect = CHK_EXPECT_OK;
    s->e[i] = ++k->gen;
    chk_arg(op, "%u", i);
    arg_value(w, op, k, k->gen);
    return true;
}

WRITE(w_sadd)
{
    if (k->cur.n == CHK_ELEMS) {
        return false;
    }
    struct chk_state *s = change(w, op, "SADD", k, 0, 1);
    s->e[s->n++] = ++k->gen; /* the newest generation is the greatest: the order stays */
    arg_value(w, op, k, k->gen);
    return true;
}

WRITE(w_srem)
{
    if (k->cur.n == 0) {
        return false;
    }
    unsigned i = chk_below(r, k->cur.n);
    struct chk_state *s = change(w, op, "SREM", k, 0, 1);
    arg_value(w, op, k, s->e[i]);
    memmove(s->e + i, s->e + i + 1, (CHK_ELEMS - 1 - i) * sizeof s->e[0]);
    s->e[CHK_ELEMS - 1] = 0;
    s->n--;
    return true;
}

WRITE(w_zadd)
{
    unsigned m = chk_below(r, CHK_ELEMS);
    struct chk_state *s = change(w, op, "ZADD", k, 0, 0);
    op->number = s->e[m] == 0;
    s->e[m] = ++k->gen;
    chk_arg(op, "%d", k->gen);
    chk_arg(op, "m%u", m);
    return true;
}

WRITE(w_mset_group)
{
    begin(op, "MSET", k);
    op->write = true;
    op->expect = CHK_EXPECT_OK;
    op->next[0] = k->cur;
    k->gen++;
    for (int i = 0; i < 3; i++) {
        op->next[0].e[i] = k->gen;
        arg_name(w, op, k, i);
        arg_value(w, op, k, k->gen);
    }
    return true;
}

WRITE(w_set_member)
{
    unsigned m = chk_below(r, 4);
    struct chk_state *s = change(w, op, "SET", k, (int)m, 0);
    op->expect = CHK_EXPECT_OK;
    s->e[m] = ++k->gen;
    arg_value(w, op, k, k->gen);
    return true;
}

WRITE(w_rename)
{
    if (k->cur.e[0] == 0) {
        return false;
    }
    struct chk_state *s = change(w, op, "RENAME", k, 0, 0);
    op->expect = CHK_EXPECT_OK;
    arg_name(w, op, k, 3);
    s->e[3] = s->e[0];
    s->e[0] = 0;
    return true;
}

typedef bool writer(const struct chk_world *w, struct chk_rng *r, struct chk_key *k,
                    struct chk_op *op);
#define WRITERS 6
/* The first one makes the key when it is missing. */
static writer *const writers[CHK_TYPES][WRITERS] = {
    [CHK_STR] = {w_set, w_append, w_append, w_getset, w_getdel, w_del},
    [CHK_CTR] = {w_incr, w_incr, w_incr, w_incr, w_incr, w_del},
    [CHK_TTL] = {w_expiring, w_expiring, w_psetex, w_expiring, w_psetex, w_del},
    [CHK_HASH] = {w_hset, w_hset, w_hset, w_remove_field, w_remove_field, w_del},
    [CHK_LIST] = {w_rpush, w_rpush, w_pop, w_pop, w_lset, w_del},
    [CHK_SET] = {w_sadd, w_sadd, w_sadd, w_srem, w_srem, w_del},
    [CHK_ZSET] = {w_zadd, w_zadd, w_zadd, w_remove_field, w_zadd, w_del},
    [CHK_GRP] = {w_mset_group, w_mset_group, w_set_member, w_rename, w_rename, w_del},
};

/* Reads: the command, what it tells, arguments after the name ("%f", "%m": a field, a member; "%i":
 * an index). */
struct reading {
    const char *command;
    enum chk_seen kind;
    const char *a, *b, *c;
};
#define READINGS 4
static const struct reading readings[CHK_TYPES][READINGS] = {
    [CHK_STR] = {{"GET"}, {"GET"}, {"STRLEN", CHK_SEE_LENGTH}, {"EXISTS", CHK_SEE_EXISTS}},
    [CHK_CTR] = {{"GET"}, {"GET"}, {"GET"}, {"EXISTS", CHK_SEE_EXISTS}},
    [CHK_TTL] = {{"GET"}, {"GET"}, {"GET"}, {"EXISTS", CHK_SEE_EXISTS}},
    [CHK_HASH] = {{"HGETALL"}, {"HGETALL"}, {"HGET", CHK_SEE_ELEM, "f"}, {"HLEN", CHK_SEE_COUNT}},
    [CHK_LIST] = {{"LRANGE", 0, "0", "-1"},
                  {"LRANGE", 0, "0", "-1"},
                  {"LINDEX", CHK_SEE_ELEM, "i"},
                  {"LLEN", CHK_SEE_COUNT}},
    [CHK_SET] = {{"SMEMBERS"}, {"SMEMBERS"}, {"EXISTS", CHK_SEE_EXISTS}, {"SCARD", CHK_SEE_COUNT}},
    [CHK_ZSET] = {{"ZRANGE", 0, "0", "-1", "WITHSCORES"},
                  {"ZRANGE", 0, "0", "-1", "WITHSCORES"},
                  {"ZSCORE", CHK_SEE_ELEM, "m"},
                  {"ZCARD", CHK_SEE_COUNT}},
    [CHK_GRP] = {{"MGET"}, {"MGET"}, {"MGET"}, {"EXISTS", CHK_SEE_COUNT}},
};

static void make_reading(const struct chk_world *w, const struct reading *rd, uint32_t element,
                         struct chk_key *k, struct chk_op *op)
{
    begin(op, rd->command, k);
    op->obs.kind = rd->kind;
    arg_name(w, op, k, 0);
    for (int i = 1; k->type == CHK_GRP && i < 4; i++) {
        arg_name(w, op, k, i);
    }
    if (rd->kind == CHK_SEE_ELEM) {
        op->obs.index = element;
        if (rd->a[0] == 'i') {
            chk_arg(op, "%u", element);
        } else {
            chk_arg(op, "%s%u", rd->a, element);
        }
        return;
    }
    const char *more[3] = {rd->a, rd->b, rd->c};
    for (int i = 0; i < 3 && more[i] != NULL; i++) {
        chk_arg(op, "%s", more[i]);
    }
}

void chk_make_read(struct chk_world *w, struct chk_key *k, struct chk_op *op)
{
    make_reading(w, &readings[k->type][0], 0, k, op);
}

void chk_make_create(struct chk_world *w, struct chk_rng *r, struct chk_key *k, struct chk_op *op)
{
    (void)writers[k->type][0](w, r, k, op);
}

void chk_make_delete(struct chk_world *w, struct chk_key *k, struct chk_op *op)
{
    begin(op, "DEL", k);
    op->expect = CHK_EXPECT_ANY;
    for (int i = 0; i < (k->type == CHK_GRP ? 4 : 1); i++) {
        arg_name(w, op, k, i);
    }
}

static struct chk_key *any_key(struct chk_world *w, struct chk_rng *r, enum chk_type t)
{
    return &w->keys[chk_below(r, w->by_type[t]) * CHK_TYPES + t];
}

static struct chk_key *own_key(struct chk_world *w, struct chk_rng *r, unsigned id, enum chk_type t)
{
    uint32_t mine = w->by_type[t] / w->conf.clients;
    return &w->keys[(chk_below(r, mine) * w->conf.clients + id) * CHK_TYPES + t];
}

/* MSET, DEL, UNLINK, EXISTS or TOUCH over own keys of several tags. */
static bool make_cross_own(struct chk_world *w, struct chk_rng *r, unsigned id, struct chk_op *op)
{
    static const char *const name[] = {"MSET", "MSET", "DEL", "UNLINK", "EXISTS", "TOUCH"};
    unsigned what = chk_below(r, 6), n = 2 + chk_below(r, 4);
    bool set = what < 2;
    begin(op, name[what], NULL);
    op->write = op->each = what < 4;
    op->expect = set ? CHK_EXPECT_OK : CHK_EXPECT_INT;
    for (unsigned i = 0; i < n; i++) {
        struct chk_key *k = own_key(w, r, id, CHK_STR);
        bool dup = !chk_free(w, k);
        for (unsigned j = 0; j < op->nkeys; j++) {
            dup |= op->key[j] == k;
        }
        if (dup) {
            continue;
        }
        op->number += !chk_missing(&k->cur);
        arg_name(w, op, k, 0);
        memset(&op->next[op->nkeys], 0, sizeof op->next[0]);
        if (set) {
            op->next[op->nkeys].n = 1;
            op->next[op->nkeys].e[0] = ++k->gen;
            arg_value(w, op, k, k->gen);
        }
        op->key[op->nkeys++] = k;
    }
    return op->nkeys > 0;
}

static bool make_cross_mget(struct chk_world *w, struct chk_rng *r, struct chk_op *op)
{
    unsigned n = 2 + chk_below(r, CHK_OPKEYS - 1);
    begin(op, "MGET", NULL);
    op->each = true;
    for (unsigned i = 0; i < n; i++) {
        op->key[op->nkeys] = any_key(w, r, CHK_STR);
        arg_name(w, op, op->key[op->nkeys++], 0);
    }
    return true;
}

static bool make_shared(struct chk_world *w, struct chk_rng *r, struct chk_op *op)
{
    uint32_t i = chk_below(r, CHK_SHARED);
    begin(op, "INCR", NULL);
    op->write = true;
    op->shared = &w->shared[i];
    chk_arg(op, "%sshared:%u", w->conf.prefix, i);
    return true;
}

static bool make_write(struct chk_world *w, struct chk_rng *r, struct chk_key *k, struct chk_op *op)
{
    if (!chk_free(w, k)) {
        op->settle = k->parked;
        if (op->settle) {
            chk_make_read(w, k, op);
            op->settle = true;
        }
        return op->settle;
    }
    unsigned i = chk_missing(&k->cur) ? 0 : chk_below(r, WRITERS);
    return writers[k->type][i](w, r, k, op);
}

bool chk_make(struct chk_world *w, struct chk_rng *r, unsigned id, struct chk_op *op)
{
    bool write = chk_below(r, 1000000) < w->conf.write_ratio * 1e6;
    bool multi = chk_below(r, 1000000) < w->conf.multi_ratio * 1e6;
    enum chk_type t = (enum chk_type)chk_below(r, CHK_GRP);
    if (multi && chk_below(r, 2) == 0) {
        return write ? make_cross_own(w, r, id, op) : make_cross_mget(w, r, op);
    }
    if (write && chk_below(r, 20) == 0) {
        return make_shared(w, r, op);
    }
    t = multi ? CHK_GRP : t;
    if (write) {
        return make_write(w, r, own_key(w, r, id, t), op);
    }
    make_reading(w, &readings[t][chk_below(r, READINGS)], chk_below(r, CHK_ELEMS), any_key(w, r, t),
                 op);
    return true;
}
