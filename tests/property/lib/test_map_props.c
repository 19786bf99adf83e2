/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_map_props.c - what holds for the map of any fleet: the answers are the contract's, whatever
 * way they are asked for and whatever order the nodes came in.
 */
#include "fleet_gen.h"
#include "lib/map.h"

enum { KEYS = 300 };

/* docs/placement.md section 3 again, as plainly as it can be written: every point is looked at. */
static const char *by_the_book(const gyre_topology_t *t, unsigned points, uint64_t hash)
{
    uint32_t key = (uint32_t)(hash >> 32);
    const char *best = NULL;
    uint32_t best_distance = 0;
    for (size_t k = 0; k < gyre_topology_count(t); k++) {
        const struct gyre_node *n = gyre_topology_node(t, k);
        uint64_t steps = (uint64_t)(n->weight * 1000000 + 0.5);
        uint64_t count = (steps * points + 500000) / 1000000;
        count = steps == 0 ? 0 : count == 0 ? 1 : count;
        uint64_t seed = gyre_hash_xxh3(n->name, strlen(n->name));
        for (uint64_t i = 0; i < count; i++) {
            uint32_t distance =
                (uint32_t)(prop_next(&seed) >> 32) - key; /* wraps as the ring does */
            bool nearer = !best || distance < best_distance ||
                          (distance == best_distance && strcmp(n->name, best) < 0);
            best = nearer ? n->name : best;
            best_distance = nearer ? distance : best_distance;
        }
    }
    return best;
}

static bool follows_the_book(struct prop *p)
{
    unsigned points = (unsigned)prop_size(p, 1, 300);
    gyre_topology_t *t = gen_topology(p, (unsigned)prop_size(p, 1, 40), points);
    gyre_map_t *m = gen_map(t);
    for (unsigned i = 0; i < KEYS; i++) {
        uint64_t hash = prop_draw(p);
        const char *got = gyre_map_node(m, gyre_map_locate_hash(m, hash))->name;
        PROP(strcmp(got, by_the_book(t, points, hash)) == 0);
    }
    for (size_t i = 0; i < m->steps; i++) { /* and on each point, and just past it */
        uint64_t at = (uint64_t)m->place->position(m, i) << 32;
        uint64_t past = at + ((uint64_t)1 << 32);
        PROP(strcmp(gyre_map_node(m, gyre_map_locate_hash(m, at))->name,
                    by_the_book(t, points, at)) == 0);
        PROP(strcmp(gyre_map_node(m, gyre_map_locate_hash(m, past))->name,
                    by_the_book(t, points, past)) == 0);
        i += m->steps / 50;
    }
    gyre_map_unref(m);
    gyre_topology_free(t);
    return true;
}

static bool answers_agree(struct prop *p)
{
    static const char *const likes[] = {"", "", "", "sample"};
    gyre_topology_t *t = gen_fleet(p);
    must(gyre_topology_set(t, "like", likes[prop_below(p, 4)], NULL));
    gyre_map_t *m = gen_map(t);
    uint64_t keys[KEYS];
    const void *at[KEYS];
    size_t lens[KEYS];
    uint32_t out[KEYS], first;
    for (unsigned i = 0; i < KEYS; i++) {
        keys[i] = prop_draw(p);
        at[i] = &keys[i];
        lens[i] = prop_below(p, 9);
    }
    size_t n = prop_below(p, KEYS + 1);
    gyre_map_locate_batch(m, at, lens, n, out);
    for (size_t i = 0; i < n; i++) {
        PROP(out[i] < gyre_map_count(m));
        PROP(gyre_map_node(m, out[i])->weight > 0);
        PROP(out[i] == gyre_map_locate(m, at[i], lens[i]));
        PROP(out[i] == gyre_map_locate_hash(m, gyre_map_hash(m, at[i], lens[i])));
        PROP(gyre_map_replicas(m, at[i], lens[i], &first, 1, NULL) == 1 && first == out[i]);
        struct gyre_explain x = {.size = sizeof x};
        PROP(gyre_map_explain(m, at[i], lens[i], &x) == GYRE_OK && x.node == out[i]);
    }
    gyre_map_unref(m);
    gyre_topology_free(t);
    return true;
}

static bool order_does_not_matter(struct prop *p)
{
    gyre_topology_t *t = gen_fleet(p), *u = gyre_topology_new();
    must(u ? gyre_topology_set(u, "points", gyre_topology_get(t, "points"), NULL) : GYRE_NOMEM);
    size_t n = gyre_topology_count(t);
    size_t *order = calloc(n, sizeof *order);
    for (size_t i = 0; i < n; i++) { /* Fisher and Yates, from the inside out */
        size_t k = prop_below(p, i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    for (size_t i = 0; i < n; i++) {
        must(gyre_topology_add(u, gyre_topology_node(t, order[i]), NULL));
    }
    free(order);
    gyre_map_t *a = gen_map(t), *b = gen_map(u);
    PROP(gyre_map_same(a, b));
    for (uint32_t i = 0; i < a->count; i++) {
        PROP(strcmp(a->nodes[i].name, b->nodes[i].name) == 0 && a->owned[i] == b->owned[i]);
    }
    gyre_map_unref(a);
    gyre_map_unref(b);
    gyre_topology_free(t);
    gyre_topology_free(u);
    return true;
}

/* Owned positions add up to the whole ring, and are what locating every arc's end gives. */
static bool shares_are_exact(struct prop *p)
{
    gyre_topology_t *t = gen_fleet(p);
    gyre_map_t *m = gen_map(t);
    uint64_t *owned = calloc(m->count, sizeof *owned);
    uint64_t start = 0, total = 0;
    double sum = 0;
    for (size_t i = 0; i < m->steps; i++) {
        uint64_t end = (uint64_t)m->place->position(m, i) + 1;
        owned[gyre_map_locate_hash(m, (end - 1) << 32)] += end - start;
        start = end;
    }
    owned[gyre_map_locate_hash(m, UINT64_MAX)] += ((uint64_t)1 << 32) - start;
    for (uint32_t i = 0; i < m->count; i++) {
        total += (uint64_t)m->owned[i];
        sum += gyre_map_share(m, i);
        PROP(m->owned[i] == owned[i]);
        PROP(gyre_map_share(m, i) == (double)owned[i] / 4294967296.0);
    }
    PROP(total == (uint64_t)1 << 32);
    PROP(sum > 1 - 1e-9 && sum < 1 + 1e-9);
    free(owned);
    gyre_map_unref(m);
    gyre_topology_free(t);
    return true;
}

static bool replicas_are_spread(struct prop *p)
{
    static const char *const spreads[] = {"none", "region", "zone", "rack"};
    gyre_topology_t *t =
        gen_topology(p, (unsigned)prop_size(p, 1, 300), 1 + (unsigned)prop_below(p, 40));
    must(gyre_topology_set(t, "spread", spreads[prop_below(p, 4)], NULL));
    gyre_map_t *m = gen_map(t);
    size_t want = 1 + prop_below(p, 12);
    for (unsigned k = 0; k < 50; k++) {
        uint64_t key = prop_draw(p);
        uint32_t out[12];
        unsigned flags;
        size_t n = gyre_map_replicas(m, &key, sizeof key, out, want, &flags);
        size_t groups = 0, used = 0;
        PROP(n == (want < m->positive ? want : m->positive));
        PROP(!(flags & GYRE_REPLICAS_SHORT) == (n == want));
        for (size_t i = 0; i < n; i++) {
            bool new_group = true;
            for (size_t j = 0; j < i; j++) {
                PROP(out[i] != out[j]);
                new_group = new_group && (!m->zone || m->zone[out[i]] != m->zone[out[j]]);
            }
            used += new_group;
            PROP(m->weight[out[i]] > 0);
        }
        for (uint32_t z = 0; z < m->zones; z++) {
            groups += m->zone_size[z] > 0;
        }
        groups = m->zone ? groups : m->positive;
        PROP(used == (n < groups ? n : groups)); /* as many different zones as there can be */
        PROP(!(flags & GYRE_REPLICAS_SPREAD) == (used == n));
    }
    gyre_map_unref(m);
    gyre_topology_free(t);
    return true;
}

int main(void)
{
    return prop_run("follows the book", follows_the_book, 300) +
           prop_run("answers agree", answers_agree, 300) +
           prop_run("order does not matter", order_does_not_matter, 300) +
           prop_run("shares are exact", shares_are_exact, 300) +
           prop_run("replicas are spread", replicas_are_spread, 300);
}
