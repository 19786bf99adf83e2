/* SPDX-License-Identifier: Apache-2.0 */
/* reasons.c - see reasons.h. */
#include "cli/reasons.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct finder {
    struct gy_reasons *out;
    const struct gy_pairs *p;
    const gyre_topology_t *a, *b;
    uint64_t samples;
};

/* What they would disagree on is not to be told. */
static const struct gy_disagreement UNTOLD = {.share = NAN};

/* What of a node of A a node of B is given. */
enum lent { LENT_NAMES, LENT_WEIGHTS, LENT_ORDER };

static int add(struct gy_reasons *r, const char *code, struct gy_disagreement remains,
               const char *fmt, ...) __attribute__((format(printf, 4, 5)));
static int add(struct gy_reasons *r, const char *code, struct gy_disagreement remains,
               const char *fmt, ...)
{
    struct gy_reason *grown = realloc(r->list, (r->count + 1) * sizeof *grown);
    if (!grown) {
        return GYRE_NOMEM;
    }
    r->list = grown;
    char *text;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (n < 0) {
        return GYRE_NOMEM;
    }
    r->list[r->count++] = (struct gy_reason){code, text, remains.exact, remains.share};
    return GYRE_OK;
}

void gy_reasons_fini(struct gy_reasons *r)
{
    for (size_t i = 0; i < r->count; i++) {
        free(r->list[i].text);
    }
    free(r->list);
    *r = (struct gy_reasons){0};
}

static const struct gyre_node *mate(const struct finder *f, uint32_t in_a)
{
    return gyre_map_node(f->p->b, f->p->to[in_a]);
}

/* ---- B with something of A's ---- */

/* Is the variant's placement another than B's, and what do A and it disagree on? A variant that
 * cannot be built tells nothing. */
static int try_variant(const struct finder *f, const gyre_topology_t *t, bool *changes,
                       struct gy_disagreement *remains)
{
    gyre_map_t *map = NULL;
    struct gy_pairs pairs = {0};
    struct gy_disagreement d = {0};
    *changes = true;
    *remains = UNTOLD;
    int rc = gyre_map_build(t, &map, NULL);
    if (rc) {
        return rc == GYRE_NOMEM ? rc : GYRE_OK;
    }
    *changes = !gyre_map_same(map, f->p->b);
    rc = gy_pairs_make(&pairs, f->p->a, map);
    if (!rc) {
        rc = gy_pairs_compare(&pairs, f->samples, &d);
    }
    if (!rc) {
        *remains = d;
    } else if (rc != GYRE_NOMEM) {
        rc = GYRE_OK;
    }
    gy_pairs_fini(&pairs);
    gyre_map_unref(map);
    return rc;
}

static int add_lent(const struct finder *f, gyre_topology_t *t, const struct gyre_node *own,
                    enum lent lent)
{
    uint32_t other = f->p->from[gyre_map_find(f->p->b, own->name)];
    const struct gyre_node *a = gyre_map_node(f->p->a, other);
    struct gyre_node node = *own;
    if (a && lent == LENT_NAMES) {
        node.name = a->name;
    }
    if (a && lent == LENT_WEIGHTS) {
        node.weight = a->weight;
    }
    return gyre_topology_add(t, &node, NULL);
}

/* B's nodes with A's names, weights or order; UNSUPPORTED and others: there is no such B. */
static int lend(const struct finder *f, enum lent lent, gyre_topology_t **out)
{
    size_t n = gyre_topology_count(f->b);
    int rc = GYRE_OK;
    *out = gyre_topology_clone(f->b);
    if (!*out) {
        return GYRE_NOMEM;
    }
    for (size_t i = n; i && !rc; i--) {
        rc = gyre_topology_remove(*out, gyre_topology_node(f->b, i - 1)->name, NULL);
    }
    for (size_t i = 0; lent == LENT_ORDER && i < gyre_topology_count(f->a) && !rc; i++) {
        uint32_t in_a = gyre_map_find(f->p->a, gyre_topology_node(f->a, i)->name);
        const struct gyre_node *own = mate(f, in_a);
        rc = own ? gyre_topology_add(*out, own, NULL) : GYRE_OK;
    }
    for (size_t i = 0; i < n && !rc; i++) {
        const struct gyre_node *own = gyre_topology_node(f->b, i);
        if (lent != LENT_ORDER || !gyre_topology_find(*out, own->name)) {
            rc = add_lent(f, *out, own, lent);
        }
    }
    return rc;
}

static int try_lent(const struct finder *f, enum lent lent, bool *changes,
                    struct gy_disagreement *remains)
{
    gyre_topology_t *t = NULL;
    *changes = true;
    *remains = UNTOLD;
    int rc = lend(f, lent, &t);
    if (rc == GYRE_OK) {
        rc = try_variant(f, t, changes, remains);
    } else if (rc != GYRE_NOMEM) {
        rc = GYRE_OK;
    }
    gyre_topology_free(t);
    return rc;
}

/* ---- settings ---- */

static const char *code_of(const char *key)
{
    static const char *const own[] = {"like", "hash_tag", "hash"};
    static const char *const codes[] = {"system", "hash-tag", "hash"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (strcmp(key, own[i]) == 0) {
            return codes[i];
        }
    }
    return "setting";
}

static int find_setting(const struct finder *f, const char *key)
{
    const char *a = gyre_topology_get(f->a, key), *b = gyre_topology_get(f->b, key);
    char q[2][GY_QUOTE];
    bool changes = true;
    struct gy_disagreement remains = UNTOLD;
    /* The key of a hash, and which file has it, are no differences: secret_check tells. */
    if (!a || !b || strcmp(a, b) == 0 || strcmp(key, "secret_file") == 0) {
        return GYRE_OK;
    }
    bool system = strcmp(key, "like") == 0;
    if (!system && (!*a || !*b) && strcmp(key, "hash_tag") != 0) {
        return GYRE_OK; /* a word only one of two systems has */
    }
    gyre_topology_t *t = gyre_topology_clone(f->b);
    int rc = t ? GYRE_OK : GYRE_NOMEM;
    if (!rc && !system && gyre_topology_set(t, key, a, NULL) == GYRE_OK) {
        rc = try_variant(f, t, &changes, &remains);
    }
    gyre_topology_free(t);
    if (rc || !changes) {
        return rc;
    }
    if (system) {
        return add(f->out, "system", UNTOLD, "A places keys as %s does, B as %s does",
                   *a ? a : "gyre's own algorithm", *b ? b : "gyre's own algorithm");
    }
    return add(f->out, code_of(key), remains, "A has %s: %s, B has %s", key,
               gy_utf8_quote(q[0], gy_str(a)), gy_utf8_quote(q[1], gy_str(b)));
}

/* What the hash of one key is, for words of one spelling may mean two functions. */
static int find_hash(const struct finder *f)
{
    struct gyre_explain a = {.size = sizeof a}, b = {.size = sizeof b};
    char key[GY_SAMPLE_ROOM];
    size_t n = gy_sample_key(key, 0);
    if (gyre_map_explain(f->p->a, key, n, &a) || gyre_map_explain(f->p->b, key, n, &b) ||
        (a.hash_bits == b.hash_bits && a.hash_hi == b.hash_hi && a.hash_lo == b.hash_lo)) {
        return GYRE_OK;
    }
    return add(f->out, "key-hash", UNTOLD,
               "a key has not one hash: of 'key:0' it is 0x%llx (%u bits) in A, 0x%llx (%u bits) "
               "in B",
               (unsigned long long)(a.hash_hi ? a.hash_hi : a.hash_lo), a.hash_bits,
               (unsigned long long)(b.hash_hi ? b.hash_hi : b.hash_lo), b.hash_bits);
}

/* ---- servers ---- */

static int find_missing(const struct finder *f, const gyre_map_t *m, const uint32_t *pair,
                        const char *side)
{
    uint32_t n = gyre_map_count(m), missing = 0, first = 0;
    char q[GY_QUOTE];
    double share = 0;
    for (uint32_t i = n; i; i--) {
        if (pair[i - 1] == GYRE_NONE) {
            missing++;
            first = i - 1;
            share += gyre_map_share(m, i - 1);
        }
    }
    if (!missing) {
        return GYRE_OK;
    }
    gy_utf8_quote(q, gy_str(gyre_map_node(m, first)->name));
    return add(f->out, "missing", UNTOLD,
               "%u of %u servers only in %s, with %.4g %% of its keys: %s%s", missing, n, side,
               100 * share, q, missing > 1 ? ", ..." : "");
}

/* Is `longer` the other with a port behind it? */
static bool is_with_port(const char *longer, const char *shorter)
{
    size_t n = strlen(shorter);
    return strncmp(longer, shorter, n) == 0 && longer[n] == ':' &&
           longer[n + 1 + strspn(longer + n + 1, "0123456789")] == 0;
}

static const char *kind_of(const struct gyre_node *a, const struct gyre_node *b)
{
    if (is_with_port(a->name, b->name)) {
        return "A says the port, B does not";
    }
    if (is_with_port(b->name, a->name)) {
        return "B says the port, A does not";
    }
    bool x = a->address && strstr(a->address, a->name),
         y = b->address && strstr(b->address, b->name);
    return x && !y   ? "A goes by addresses, B by names"
           : y && !x ? "B goes by addresses, A by names"
                     : "one server has two names";
}

static int find_names(const struct finder *f)
{
    uint32_t n = gyre_map_count(f->p->a), renamed = 0, first = 0;
    char q[2][GY_QUOTE];
    for (uint32_t i = n; i; i--) {
        const struct gyre_node *b = mate(f, i - 1);
        if (b && strcmp(gyre_map_node(f->p->a, i - 1)->name, b->name) != 0) {
            renamed++;
            first = i - 1;
        }
    }
    bool changes;
    struct gy_disagreement remains = UNTOLD;
    int rc = renamed ? try_lent(f, LENT_NAMES, &changes, &remains) : GYRE_OK;
    if (rc || !renamed) {
        return rc;
    }
    const struct gyre_node *a = gyre_map_node(f->p->a, first), *b = mate(f, first);
    return add(f->out, "names", remains,
               "%u of %u servers go by another name: %s in A is %s in B (%s)", renamed, n,
               gy_utf8_quote(q[0], gy_str(a->name)), gy_utf8_quote(q[1], gy_str(b->name)),
               kind_of(a, b));
}

static int find_weights(const struct finder *f)
{
    uint32_t n = gyre_map_count(f->p->a), other = 0, first = 0;
    char q[GY_QUOTE];
    for (uint32_t i = n; i; i--) {
        const struct gyre_node *b = mate(f, i - 1);
        if (b && gyre_map_node(f->p->a, i - 1)->weight != b->weight) {
            other++;
            first = i - 1;
        }
    }
    bool changes = false;
    struct gy_disagreement remains = UNTOLD;
    int rc = other ? try_lent(f, LENT_WEIGHTS, &changes, &remains) : GYRE_OK;
    if (rc || !changes) {
        return rc;
    }
    const struct gyre_node *a = gyre_map_node(f->p->a, first);
    return add(f->out, "weights", remains,
               "%u of %u servers have another weight: %s has %.9g in A, %.9g in B", other, n,
               gy_utf8_quote(q, gy_str(a->name)), a->weight, mate(f, first)->weight);
}

static int find_order(const struct finder *f)
{
    bool changes;
    struct gy_disagreement remains = UNTOLD;
    int rc = try_lent(f, LENT_ORDER, &changes, &remains);
    if (rc || !changes || isnan(remains.share)) {
        return rc;
    }
    return add(f->out, "order", remains,
               "the servers stand in another order, and this placement goes by their order");
}

static int find_points(const struct finder *f)
{
    uint64_t a = gyre_map_points(f->p->a), b = gyre_map_points(f->p->b);
    uint32_t n = gyre_map_count(f->p->a), m = gyre_map_count(f->p->b);
    if (!a || !b || a == b) {
        return GYRE_OK;
    }
    return add(f->out, "points", UNTOLD,
               "A has %llu points or slots (%.5g a server), B %llu (%.5g a server)",
               (unsigned long long)a, (double)a / n, (unsigned long long)b, (double)b / m);
}

/* No part of the placement, but keys may end on two machines all the same. */
static int find_addresses(const struct finder *f)
{
    uint32_t n = gyre_map_count(f->p->a), other = 0, first = 0;
    char q[3][GY_QUOTE];
    for (uint32_t i = n; i; i--) {
        const struct gyre_node *a = gyre_map_node(f->p->a, i - 1), *b = mate(f, i - 1);
        if (b && a->address && b->address && strcmp(a->address, b->address) != 0) {
            other++;
            first = i - 1;
        }
    }
    if (!other) {
        return GYRE_OK;
    }
    const struct gyre_node *a = gyre_map_node(f->p->a, first);
    return add(f->out, "addresses", UNTOLD,
               "%u of %u servers are taken for the same by their name, but have two addresses: %s "
               "is %s in A, %s in B",
               other, n, gy_utf8_quote(q[0], gy_str(a->name)),
               gy_utf8_quote(q[1], gy_str(a->address)),
               gy_utf8_quote(q[2], gy_str(mate(f, first)->address)));
}

int gy_reasons_find(struct gy_reasons *r, const struct gy_pairs *p, const gyre_topology_t *a,
                    const gyre_topology_t *b, uint64_t samples)
{
    struct finder f = {r, p, a, b, samples};
    size_t n;
    const struct gyre_setting *all = gyre_settings(&n);
    *r = (struct gy_reasons){0};
    int rc = find_setting(&f, "like");
    for (size_t i = 0; i < n && !rc; i++) {
        rc = strcmp(all[i].key, "like") == 0 ? GYRE_OK : find_setting(&f, all[i].key);
    }
    rc = rc ? rc : find_hash(&f);
    rc = rc ? rc : find_points(&f);
    rc = rc ? rc : find_missing(&f, p->a, p->to, "A");
    rc = rc ? rc : find_missing(&f, p->b, p->from, "B");
    rc = rc ? rc : find_names(&f);
    rc = rc ? rc : find_weights(&f);
    rc = rc ? rc : find_order(&f);
    return rc ? rc : find_addresses(&f);
}
