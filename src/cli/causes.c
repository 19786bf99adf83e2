/* SPDX-License-Identifier: Apache-2.0 */
/* causes.c - see causes.h. */
#include "cli/causes.h"
#include "base/utf8.h"
#include "cli/table.h"
#include "cli/term.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define HOT       0.05  /* of an even share: so often a key comes that is hot, */
#define HOT_LEAST 10    /* and at least so often */
#define NO_CHANCE 0.001 /* chance that is too small to explain anything */
#define OFF       0.05  /* of a factor that is no cause */

struct finder {
    struct gy_causes *c;
    const struct gy_topo *topo;
    const gyre_map_t *map;
    const uint64_t *keys;
    const struct gy_parts *parts;
    uint32_t active; /* nodes of weight above 0 */
    double weight;   /* of all */
    uint64_t total;  /* keys */
};

static void add(struct finder *f, const char *code, double times, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void add(struct finder *f, const char *code, double times, const char *fmt, ...)
{
    struct gy_cause *one = &f->c->list[f->c->count++];
    va_list ap;
    one->code = code;
    one->times = times;
    va_start(ap, fmt);
    vsnprintf(one->why, sizeof one->why, fmt, ap);
    va_end(ap);
}

/* ---- of the placement ---- */

static const struct gy_note *note_of(const struct gy_pool *p, const char *code)
{
    for (size_t i = 0; i < p->note_count; i++) {
        if (strcmp(p->notes[i].code, code) == 0) {
            return &p->notes[i];
        }
    }
    return NULL;
}

int gy_weights_unused(const struct gy_topo *topo, bool *unused)
{
    const gyre_topology_t *t = topo->config->topology;
    gyre_topology_t *even = gyre_topology_clone(t);
    gyre_map_t *map = NULL;
    bool differ = false;
    int rc = even ? GYRE_OK : GYRE_NOMEM;
    *unused = false;
    for (size_t i = 0; i < gyre_topology_count(t) && !rc; i++) {
        const struct gyre_node *n = gyre_topology_node(t, i);
        if (n->weight > 0 && n->weight != 1) {
            differ = true;
            rc = gyre_topology_set_weight(even, n->name, 1, NULL);
        }
    }
    if (differ && !rc) {
        rc = gyre_map_build(even, &map, NULL);
        *unused = !rc && gyre_map_same(map, topo->map);
    }
    gyre_map_unref(map);
    gyre_topology_free(even);
    return rc == GYRE_NOMEM ? rc : GYRE_OK;
}

static int of_placement(struct finder *f)
{
    struct gy_causes *c = f->c;
    const struct gyre_node *n = gyre_map_node(f->map, c->node);
    const struct gy_note *ignored = note_of(f->topo->pool, "weight-unused");
    const struct gy_note *narrow = note_of(f->topo->pool, "hash-too-short");
    double share = gyre_map_share(f->map, c->node), fair = n->weight / f->weight;
    uint64_t slots = gyre_map_slots(f->map), points = gyre_map_points(f->map);
    struct gyre_balance b = {.size = sizeof b};
    bool unused;
    gyre_map_balance(f->map, &b);
    if (gy_weights_unused(f->topo, &unused)) {
        return GYRE_NOMEM;
    }
    if (ignored || unused) {
        fair = c->even;
        add(f, "weights", 1, "%s",
            ignored ? ignored->text
                    : "weights are given, but this placement does not look at them");
    } else {
        add(f, "weights", fair / c->even, "weight %.6g of %.6g in all, %u node%s", n->weight,
            f->weight, f->active, f->active == 1 ? "" : "s");
    }
    double times = share > 0 && fair > 0 ? share / fair : 0;
    if (narrow) {
        add(f, "hash-range", times, "%s", narrow->text);
    } else if (slots) {
        add(f, "slots", times, "owns %.0f of %llu slots", share * (double)slots,
            (unsigned long long)slots);
    } else if (b.expected_cv > 0) {
        add(f, "points", times,
            "%llu points in all make a CV of about %.4f by chance, here it is %.4f",
            (unsigned long long)points, b.expected_cv, b.cv);
    } else if (points) {
        add(f, "points", times, "owns %.3f %% by %llu points in all", 100 * share,
            (unsigned long long)points);
    } else {
        add(f, "points", times, "owns %.3f %%: no points are drawn, so no chance is in it",
            100 * share);
    }
    return GYRE_OK;
}

/* ---- of the keys ---- */

struct hot {
    const struct gy_part *most; /* of hot keys, or of hot tags */
    uint64_t count, here;       /* keys in all, and on the node */
    uint32_t many;
};

static bool is_hot(const struct finder *f, const struct gy_part *p)
{
    return p->print && p->count >= HOT_LEAST &&
           (double)p->count >= HOT * (double)f->total / f->active;
}

static struct hot find_hot(const struct finder *f, bool tags)
{
    struct hot h = {0};
    for (size_t i = 0; i < f->parts->room; i++) {
        const struct gy_part *p = &f->parts->table[i];
        if (!is_hot(f, p) || p->tag != tags) {
            continue;
        }
        h.many++;
        h.count += p->count;
        h.here += p->node == f->c->node ? p->count : 0;
        bool first = !h.most || p->count > h.most->count ||
                     (p->count == h.most->count && p->print < h.most->print);
        h.most = first ? p : h.most;
    }
    return h;
}

static double part(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

static void add_hot(struct finder *f, const char *code, double times, const struct hot *h,
                    const char *what, double without)
{
    char q[GY_QUOTE];
    if (!h->many) {
        add(f, code, times, "no %s has 1/%.0f of an even share", what, 1 / HOT);
        return;
    }
    add(f, code, times, "%s %s has %.3f %% of the keys%s; without %s the node has %.3f %%", what,
        gy_utf8_quote(q, gy_part_text(f->parts, h->most)), 100 * part(h->most->count, f->total),
        h->many > 1 ? ", and there are more" : "", h->many > 1 ? "them" : "it", 100 * without);
}

/* Each different part once: what is left is how the hash deals them. */
static int deal_of(const struct finder *f, double *share, double *p)
{
    uint32_t n = gyre_map_count(f->map);
    uint64_t *each = calloc((size_t)n + 1, sizeof *each);
    struct gyre_evidence e = {.size = sizeof e, .p = 1};
    if (!each) {
        return GYRE_NOMEM;
    }
    for (size_t i = 0; i < f->parts->room; i++) {
        if (f->parts->table[i].print) {
            each[f->parts->table[i].node]++;
        }
    }
    if (gyre_map_judge(f->map, each, 0.95, &e)) {
        e.p = 1; /* cannot be: the size and the confidence are right */
    }
    *share = part(each[f->c->node], f->parts->used);
    *p = e.p;
    free(each);
    return GYRE_OK;
}

static double over(double a, double b)
{
    return b > 0 ? a / b : a > 0 ? INFINITY : 1;
}

static int of_keys(struct finder *f)
{
    struct hot keys = find_hot(f, false), tags = find_hot(f, true);
    uint64_t mine = f->keys[f->c->node];
    double all = part(mine, f->total), owned = gyre_map_share(f->map, f->c->node), each, p;
    double calm = part(mine - keys.here, f->total - keys.count);
    if (deal_of(f, &each, &p)) {
        return GYRE_NOMEM;
    }
    if (f->total == keys.count) {
        calm = each; /* nothing but hot keys */
    }
    add_hot(f, "hot-keys", over(all, calm), &keys, "key", calm);
    if (p < NO_CHANCE) {
        char tiny[24] = "< 0.000001";
        if (p >= 1e-6) {
            snprintf(tiny, sizeof tiny, "%.2g", p);
        }
        if (tags.many) {
            add_hot(f, "key-pattern", over(calm, owned), &tags, "hash tag", each);
        } else {
            add(f, "key-pattern", over(calm, owned),
                "%zu different hashed parts fall unevenly, p %s: the hash does not mix such keys",
                f->parts->used, tiny);
        }
        add(f, "chance", 1, "chance does not explain it");
        return GYRE_OK;
    }
    if (tags.many) {
        add_hot(f, "key-pattern", over(calm, each), &tags, "hash tag", each);
    } else {
        add(f, "key-pattern", over(calm, each),
            "%zu different hashed parts, no hash tag draws many", f->parts->used);
    }
    add(f, "chance", over(each, owned), "%zu different ones, p %.2g: as chance deals them",
        f->parts->used, p);
    return GYRE_OK;
}

/* ---- which it is ---- */

static double load_of(const struct finder *f, uint32_t i)
{
    return f->total ? part(f->keys[i], f->total) : gyre_map_share(f->map, i);
}

static void find_node(struct finder *f, uint32_t asked)
{
    struct gy_causes *c = f->c;
    c->node = GYRE_NONE;
    for (uint32_t i = 0; i < gyre_map_count(f->map); i++) {
        double w = gyre_map_node(f->map, i)->weight;
        f->active += w > 0;
        f->weight += w;
        f->total += f->keys ? f->keys[i] : 0;
    }
    for (uint32_t i = 0; i < gyre_map_count(f->map); i++) {
        if (gyre_map_node(f->map, i)->weight > 0 &&
            (asked == i || (asked == GYRE_NONE &&
                            (c->node == GYRE_NONE || load_of(f, i) > load_of(f, c->node))))) {
            c->node = i;
        }
    }
}

int gy_causes_find(struct gy_causes *c, const struct gy_topo *topo, uint32_t node,
                   const uint64_t *keys, const struct gy_parts *parts)
{
    struct finder f = {.c = c, .topo = topo, .map = topo->map, .keys = keys, .parts = parts};
    *c = (struct gy_causes){0};
    find_node(&f, node);
    if (c->node == GYRE_NONE) {
        return GYRE_OK;
    }
    c->of_keys = f.total > 0;
    c->share = load_of(&f, c->node);
    c->even = 1.0 / f.active;
    c->times = c->share / c->even;
    int rc = of_placement(&f);
    rc = rc || !f.total ? rc : of_keys(&f);
    double most = log1p(OFF);
    for (size_t i = 0; i < c->count && !rc; i++) {
        double far = c->list[i].times > 0 ? fabs(log(c->list[i].times)) : INFINITY;
        if (far > most) {
            most = far;
            c->main = &c->list[i];
        }
    }
    return rc;
}

/* ---- as text and JSON ---- */

void gy_causes_text(const struct gy_causes *c, const gyre_map_t *m, struct gy_buf *out)
{
    const char *heads[] = {"CAUSE", ">TIMES", "BECAUSE", NULL};
    char q[GY_QUOTE];
    struct gy_table t;
    gy_buf_printf(out, "\nwhy is %s at %.3f %% of the %s? %.3f %% would be even: %.3f times\n",
                  gy_utf8_quote(q, gy_str(gyre_map_node(m, c->node)->name)), 100 * c->share,
                  c->of_keys ? "keys" : "key space", 100 * c->even, c->times);
    gy_table_init(&t, heads);
    for (size_t i = 0; i < c->count; i++) {
        gy_table_cell(&t, c->list[i].code);
        gy_table_format(&t, "%.3f", c->list[i].times);
        gy_table_format(&t, "%s", c->list[i].why);
    }
    gy_table_end(&t, out);
    gy_buf_puts(out, "it is: ");
    gy_term_tint(out, GY_TINT_BOLD, c->main ? c->main->code : "nothing in particular");
    gy_buf_puts(out, "\n");
}

void gy_causes_json(const struct gy_causes *c, const gyre_map_t *m, struct gy_json *j)
{
    gy_json_key(j, "why");
    gy_json_object(j);
    gy_json_kstring(j, "node", gyre_map_node(m, c->node)->name);
    gy_json_kdouble(j, "share", c->share);
    gy_json_kdouble(j, "even", c->even);
    gy_json_kdouble(j, "times", c->times);
    gy_json_kstring(j, "cause", c->main ? c->main->code : NULL);
    gy_json_key(j, "causes");
    gy_json_array(j);
    for (size_t i = 0; i < c->count; i++) {
        gy_json_object(j);
        gy_json_kstring(j, "code", c->list[i].code);
        gy_json_kdouble(j, "times", c->list[i].times);
        gy_json_kstring(j, "because", c->list[i].why);
        gy_json_object_end(j);
    }
    gy_json_array_end(j);
    gy_json_object_end(j);
}
