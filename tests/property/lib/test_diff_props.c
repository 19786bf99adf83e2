/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_diff_props.c - what holds for any change of any fleet: only the keys move that must, the
 * exact figures are those of counting arc by arc, and what is undone leaves no trace.
 */
#include "fleet_gen.h"
#include "lib/map.h"

static gyre_diff_t *diff(gyre_map_t *a, gyre_map_t *b)
{
    gyre_diff_t *d;
    must(gyre_diff_build(a, b, 0, &d, NULL));
    return d;
}

static int by_position(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Arc by arc over the points of both, through the public lookup: how much moves, in positions. */
static uint64_t count_moved(const gyre_map_t *a, const gyre_map_t *b, const char *from,
                            const char *to)
{
    size_t n = a->steps + b->steps + 1;
    uint64_t *end = calloc(n, sizeof *end), start = 0, moved = 0;
    for (size_t i = 0; i < n - 1; i++) {
        end[i] = (uint64_t)(i < a->steps ? a->place->position(a, i)
                                         : b->place->position(b, i - a->steps));
    }
    end[n - 1] = UINT32_MAX;
    qsort(end, n, sizeof *end, by_position);
    for (size_t i = 0; i < n; i++) {
        const char *x = gyre_map_node(a, gyre_map_locate_hash(a, end[i] << 32))->name;
        const char *y = gyre_map_node(b, gyre_map_locate_hash(b, end[i] << 32))->name;
        bool counts = from ? !strcmp(x, from) && !strcmp(y, to) : strcmp(x, y) != 0;
        moved += end[i] >= start && counts ? end[i] + 1 - start : 0;
        start = end[i] + 1;
    }
    free(end);
    return moved;
}

/* Any number of changes at once; the exact diff against counting. */
static bool diff_is_exact(struct prop *p)
{
    unsigned nodes = (unsigned)prop_size(p, 1, 300);
    gyre_topology_t *t = gen_topology(p, nodes, (unsigned)prop_size(p, 1, 40));
    gyre_topology_t *u = gyre_topology_clone(t);
    for (unsigned i = 1; i < nodes; i++) {
        const char *name = gyre_topology_node(t, i)->name;
        switch (prop_below(p, 5)) {
        case 3:
            must(gyre_topology_remove(u, name, NULL));
            break;
        case 4:
            must(gyre_topology_set_weight(u, name, gen_weight(p), NULL));
            break;
        default:
            break;
        }
    }
    for (unsigned i = 0; i < prop_below(p, 5); i++) {
        gen_add(p, u, nodes + i, 1);
    }
    gyre_map_t *a = gen_map(t), *b = gen_map(u);
    gyre_diff_t *d = diff(a, b);
    double sum = 0;
    PROP(gyre_diff_exact(d));
    PROP(gyre_diff_moved(d) == (double)count_moved(a, b, NULL, NULL) / 4294967296.0);
    PROP(gyre_diff_minimum(d) <= gyre_diff_moved(d));
    for (size_t i = 0; i < gyre_diff_count(d); i++) {
        const struct gyre_flow *f = gyre_diff_flow(d, i);
        PROP(i == 0 || f->share <= gyre_diff_flow(d, i - 1)->share);
        PROP(i > 20 || f->share == (double)count_moved(a, b, f->from, f->to) / 4294967296.0);
        sum += f->share;
    }
    PROP(sum > gyre_diff_moved(d) - 1e-9 && sum < gyre_diff_moved(d) + 1e-9);
    gyre_diff_free(d);
    gyre_map_unref(a);
    gyre_map_unref(b);
    gyre_topology_free(t);
    gyre_topology_free(u);
    return true;
}

enum step { ADD, REMOVE, WEIGHT, REPLACE };

static void take_step(struct prop *p, gyre_topology_t *t, enum step kind, unsigned number,
                      char who[32])
{
    size_t n = gyre_topology_count(t);
    const char *name = gyre_topology_node(t, n > 1 ? 1 + prop_below(p, n - 1) : 0)->name;
    snprintf(who, 32, "%s", name);
    if (kind == ADD || n == 1) {
        gen_add(p, t, number, gen_weight(p));
        snprintf(who, 32, "%s", gyre_topology_node(t, n)->name);
    } else if (kind == REMOVE) {
        must(gyre_topology_remove(t, who, NULL));
    } else if (kind == WEIGHT) {
        must(gyre_topology_set_weight(t, who, gen_weight(p), NULL));
    } else {
        must(gyre_topology_set_address(t, who, "10.1.2.3:4", NULL));
    }
}

/* A chain of changes of one node each: moved / minimum is 1 to the last bit, and every flow begins
 * or ends at the node that changed. */
static bool one_change_is_minimal(struct prop *p)
{
    static const char *const likes[] = {"", "", "", "sample"};
    static const char *const modes[] = {"md5_64be", "md5_128", "java_md5_32be", "sha256_32be"};
    gyre_topology_t *t = gen_fleet(p);
    unsigned number = (unsigned)gyre_topology_count(t);
    must(gyre_topology_set(t, "like", likes[prop_below(p, 4)], NULL));
    must(gyre_topology_set(t, "mode", modes[prop_below(p, 4)], NULL));
    gyre_map_t *before = gen_map(t);
    for (unsigned i = 0; i < 6; i++) {
        char who[32];
        enum step kind = (enum step)prop_below(p, 4);
        take_step(p, t, kind, number + i, who);
        gyre_map_t *after = gen_map(t);
        gyre_diff_t *d = diff(before, after);
        PROP(gyre_diff_moved(d) == gyre_diff_minimum(d));
        PROP(gyre_diff_ratio(d) == 1);
        PROP(kind != REPLACE || i == 0 || gyre_topology_count(t) <= 2 || gyre_diff_count(d) == 0 ||
             gyre_map_find(before, who) == GYRE_NONE);
        for (size_t k = 0; k < gyre_diff_count(d); k++) {
            const struct gyre_flow *f = gyre_diff_flow(d, k);
            PROP(strcmp(f->from, who) == 0 || strcmp(f->to, who) == 0);
        }
        gyre_diff_free(d);
        gyre_map_unref(before);
        before = after;
    }
    gyre_map_unref(before);
    gyre_topology_free(t);
    return true;
}

/* Add then remove, heavier then back, drained then back: the same map, bit for bit. */
static bool undoing_leaves_no_trace(struct prop *p)
{
    gyre_topology_t *t = gen_fleet(p);
    unsigned n = (unsigned)gyre_topology_count(t);
    gyre_map_t *before = gen_map(t);
    unsigned added = 1 + (unsigned)prop_below(p, 4);
    for (unsigned i = 0; i < added; i++) {
        gen_add(p, t, n + i, gen_weight(p));
    }
    char who[64];
    snprintf(who, sizeof who, "%s", gyre_topology_node(t, prop_below(p, n))->name);
    double weight = gyre_topology_find(t, who)->weight;
    must(gyre_topology_set_weight(t, who, gen_weight(p), NULL));
    gyre_map_unref(gen_map(t));
    must(gyre_topology_set_weight(t, who, weight, NULL));
    for (unsigned i = 0; i < added; i++) {
        must(gyre_topology_remove(t, gyre_topology_node(t, n)->name, NULL));
    }
    gyre_map_t *after = gen_map(t);
    PROP(gyre_map_same(before, after));
    PROP(before->steps == after->steps && before->bytes == after->bytes);
    for (uint32_t i = 0; i < before->count; i++) {
        PROP(before->owned[i] == after->owned[i]);
    }
    gyre_map_unref(before);
    gyre_map_unref(after);
    gyre_topology_free(t);
    return true;
}

/* Narrow positions, so that most points collide: 8 to 12 bits, both lookups, any separator. */
static bool collisions_move_no_other(struct prop *p)
{
    static const char *const separators[] = {"", "#", "-", "\xc3\xa9"};
    struct gy_sample_rule rule = {.mode = "", .hash = &gy_hash_md5, .hash_bits = 8};
    rule.hash_bits += (unsigned)prop_below(p, 5);
    rule.after = prop_below(p, 2);
    rule.separator = separators[prop_below(p, 4)];
    gyre_topology_t *t =
        gen_topology(p, 1 + (unsigned)prop_below(p, 12), 1 + (unsigned)prop_below(p, 300));
    gyre_map_t *before, *after;
    must(gy_map_build_rule(t, &rule, &before, NULL));
    gen_add(p, t, (unsigned)gyre_topology_count(t), 1);
    must(gy_map_build_rule(t, &rule, &after, NULL));
    gyre_diff_t *d = diff(before, after);
    size_t last = gyre_topology_count(t) - 1, moved = 0, positions = (size_t)1 << rule.hash_bits;
    double sum = 0;
    PROP(gyre_diff_ratio(d) == 1);
    for (size_t i = 0; i < gyre_diff_count(d); i++) {
        PROP(strcmp(gyre_diff_flow(d, i)->to, gyre_topology_node(t, last)->name) == 0);
    }
    for (size_t x = 0; x < positions; x++) { /* every position there is */
        uint32_t a = gyre_map_locate_hash(before, x), b = gyre_map_locate_hash(after, x);
        moved += strcmp(before->nodes[a].name, after->nodes[b].name) != 0;
    }
    PROP(gyre_diff_moved(d) == (double)moved / (double)positions);
    for (uint32_t i = 0; i < after->count; i++) {
        sum += gyre_map_share(after, i);
    }
    PROP(sum == 1); /* so few bits add up without rounding */
    gyre_diff_free(d);
    gyre_map_unref(before);
    gyre_map_unref(after);
    gyre_topology_free(t);
    return true;
}

int main(void)
{
    return prop_run("diff is exact", diff_is_exact, 300) +
           prop_run("one change is minimal", one_change_is_minimal, 100) +
           prop_run("undoing leaves no trace", undoing_leaves_no_trace, 150) +
           prop_run("collisions move no other", collisions_move_no_other, 1000);
}
