/* SPDX-License-Identifier: Apache-2.0 */
/*
 * experiment.c - the articles' experiment: so many keys on the nodes, then on the nodes and the
 * added ones; who holds how many, what moved, and what hash mod N would have moved. Threads: one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vectors/seeds.h"

#define KEYS_MAX 10000000u

/* One of the four placements: the ring and modulo, before and after. */
struct dealt {
    size_t *node;  /* of each key: index among nodes and added */
    size_t *count; /* keys of each node */
};

struct experiment {
    const struct seeds *seeds;
    char *prefix; /* decoded */
    size_t prefix_len, keys, all;
    struct dealt before, after, modulo_before, modulo_after;
};

static size_t key_text(const struct experiment *x, size_t i, char *out)
{
    memcpy(out, x->prefix, x->prefix_len);
    return x->prefix_len + (size_t)sprintf(out + x->prefix_len, "%zu", i);
}

/* Takes the map over. */
static bool deal(const struct experiment *x, gyre_map_t *m, struct dealt *d, struct verdict *v)
{
    d->node = calloc(x->keys, sizeof *d->node);
    d->count = calloc(x->all + 1, sizeof *d->count);
    char *key = malloc(x->prefix_len + 24);
    bool good = m && d->node && d->count && key;
    for (size_t i = 0; good && i < x->keys; i++) {
        d->node[i] = seeds_locate(x->seeds, m, key, key_text(x, i, key));
        d->count[d->node[i]]++;
    }
    if (good && d->count[x->all]) {
        refuse(v, "single, batch and replicas do not agree");
        good = false;
    }
    free(key);
    gyre_map_unref(m);
    return good;
}

static size_t moved(const struct experiment *x, const struct dealt *a, const struct dealt *b,
                    size_t from, size_t to)
{
    size_t n = 0;
    for (size_t i = 0; i < x->keys; i++) {
        bool counts =
            from == x->all ? a->node[i] != b->node[i] : a->node[i] == from && b->node[i] == to;
        n += counts;
    }
    return n;
}

static void sum(const struct experiment *x, const struct dealt *d, char out[65])
{
    size_t room = 0, len = 0;
    for (size_t i = 0; i < x->all; i++) {
        size_t name = strlen(x->seeds->node[i].shown);
        room = name > room ? name : room;
    }
    char *text = malloc(x->keys * (x->prefix_len + 24 + room) + 1);
    if (!text) {
        abort();
    }
    for (size_t i = 0; i < x->keys; i++) {
        len += key_text(x, i, text + len);
        len += (size_t)sprintf(text + len, "\t%s\n", x->seeds->node[d->node[i]].name);
    }
    uint8_t digest[32];
    gyre_hash_sha256(text, len, digest);
    for (size_t i = 0; i < sizeof digest; i++) {
        sprintf(out + 2 * i, "%02x", digest[i]);
    }
    free(text);
}

/* The text after a prefix, NULL if q does not begin with it. */
static const char *after(const char *q, const char *prefix)
{
    size_t len = strlen(prefix);
    return strncmp(q, prefix, len) == 0 ? q + len : NULL;
}

static size_t by_name(const struct experiment *x, const char *shown, size_t len)
{
    for (size_t i = 0; i < x->all; i++) {
        if (strlen(x->seeds->node[i].shown) == len &&
            memcmp(x->seeds->node[i].shown, shown, len) == 0) {
            return i;
        }
    }
    return x->all;
}

static bool count_of_move(const struct experiment *x, const char *pair, size_t *out)
{
    for (const char *arrow = strstr(pair, "->"); arrow; arrow = strstr(arrow + 1, "->")) {
        size_t from = by_name(x, pair, (size_t)(arrow - pair));
        size_t to = by_name(x, arrow + 2, strlen(arrow + 2));
        if (from < x->all && to < x->all) {
            *out = moved(x, &x->before, &x->after, from, to);
            return true;
        }
    }
    return false;
}

static bool count_of_node(const struct experiment *x, const char *q, size_t *out)
{
    const struct {
        const char *prefix;
        const struct dealt *dealt;
        bool numbered;
    } rows[] = {{"before:", &x->before, false},
                {"after:", &x->after, false},
                {"modulo_before:", &x->modulo_before, true},
                {"modulo_after:", &x->modulo_after, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *rest = after(q, rows[i].prefix);
        uint64_t number = x->all;
        if (!rest) {
            continue;
        }
        if (!rows[i].numbered) {
            number = by_name(x, rest, strlen(rest));
        } else if (!vf_number(rest, &number)) {
            return false;
        }
        *out = number < x->all ? rows[i].dealt->count[number] : 0;
        return number < x->all;
    }
    return false;
}

static bool count_of(const struct experiment *x, const char *q, size_t *out)
{
    const char *pair = after(q, "moved:");
    if (strcmp(q, "keys") == 0) {
        *out = x->keys;
    } else if (strcmp(q, "ring_moved") == 0) {
        *out = moved(x, &x->before, &x->after, x->all, x->all);
    } else if (strcmp(q, "modulo_moved") == 0) {
        *out = moved(x, &x->modulo_before, &x->modulo_after, x->all, x->all);
    } else if (pair) {
        return count_of_move(x, pair, out);
    } else {
        return count_of_node(x, q, out);
    }
    return true;
}

/* A fraction may be written in full or rounded to the places it shows. */
static bool same_fraction(const char *want, size_t part, size_t whole)
{
    double x = (double)part / (double)whole;
    char *end, text[64];
    double given = strtod(want, &end);
    const char *point = strchr(want, '.');
    if (*end || end == want) {
        return false;
    }
    snprintf(text, sizeof text, "%.*f", point ? (int)strlen(point + 1) : 0, x);
    return given == x || (point && strcmp(text, want) == 0);
}

/* What we answer for a quantity, as text; "" if it is not one. */
static void answer(const struct experiment *x, const char *q, const char *want, char out[80])
{
    size_t n;
    const char *suffix = strstr(q, "_moved_fraction");
    out[0] = '\0';
    if (strcmp(q, "sha256_before") == 0) {
        sum(x, &x->before, out);
    } else if (strcmp(q, "sha256_after") == 0) {
        sum(x, &x->after, out);
    } else if (suffix && !suffix[strlen("_moved_fraction")]) {
        char whole[32];
        snprintf(whole, sizeof whole, "%.*s", (int)(suffix - q) + 6, q);
        if (count_of(x, whole, &n)) {
            if (same_fraction(want, n, x->keys)) {
                snprintf(out, 80, "%.79s", want);
            } else {
                snprintf(out, 80, "%.17g", (double)n / (double)x->keys);
            }
        }
    } else if (count_of(x, q, &n)) {
        snprintf(out, 80, "%zu", n);
    }
}

static void check_rows(const struct experiment *x, const struct vfile *f, struct verdict *v)
{
    for (size_t i = 0; i < f->rows; i++) {
        const char *q = f->row[i].column[vf_column(f, "quantity")];
        const char *want = f->row[i].column[vf_column(f, "value")];
        char got[80];
        answer(x, q, want, got);
        if (!got[0]) {
            fail(v, "line %u: unknown quantity %s", f->row[i].line, q);
        } else if (strcmp(got, want) != 0) {
            fail(v, "line %u: %s: expected %s, got %s", f->row[i].line, q, want, got);
        } else {
            pass(v);
        }
    }
}

static void dealt_free(struct dealt *d)
{
    free(d->node);
    free(d->count);
}

void check_experiment(const struct seeds *s, const struct vfile *f, struct verdict *v)
{
    struct experiment x = {.seeds = s, .all = s->nodes + s->added};
    const char *prefix = vf_get(f, "key_prefix"), *count = vf_get(f, "key_count");
    uint64_t keys = 0;
    x.prefix = prefix ? vf_decode(prefix, strlen(prefix), &x.prefix_len) : NULL;
    if (!x.prefix || !count || !vf_number(count, &keys) || keys < 1 || keys > KEYS_MAX) {
        refuse(v, "an experiment needs key_prefix and key_count (1 to %u)", KEYS_MAX);
        free(x.prefix);
        return;
    }
    x.keys = (size_t)keys;
    if (deal(&x, seeds_ring(s, s->nodes, v), &x.before, v) &&
        deal(&x, seeds_ring(s, x.all, v), &x.after, v) &&
        deal(&x, seeds_modulo(s, s->nodes, v), &x.modulo_before, v) &&
        deal(&x, seeds_modulo(s, x.all, v), &x.modulo_after, v)) {
        check_rows(&x, f, v);
    } else {
        refuse(v, "the experiment could not be set up");
    }
    dealt_free(&x.before);
    dealt_free(&x.after);
    dealt_free(&x.modulo_before);
    dealt_free(&x.modulo_after);
    free(x.prefix);
}
