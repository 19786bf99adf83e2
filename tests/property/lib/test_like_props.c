/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_like_props.c - what holds for every imitated system over random fleets and settings drawn
 * from its own tables: each answer is a node in service, all ways of asking agree, shares are what
 * the arcs or slots say, and a map rebuilt is the same map.
 */
#include "fleet_gen.h"
#include "lib/like/like.h"

enum { KEYS = 200 };

/* One of the row's words, or a small number within its limits. */
static void draw_setting(struct prop *p, gyre_topology_t *t, const struct gy_like_setting *row)
{
    size_t n, len;
    char value[GY_SETTING_TEXT];
    const char *key = gyre_settings(&n)[row->id].key, *word = row->values;
    if (row->kind == GY_VALUE_NUMBER) {
        snprintf(value, sizeof value, "%u", 1 + (unsigned)prop_below(p, 4));
    } else if (row->kind == GY_VALUE_TEXT) {
        return;
    } else if (row->kind == GY_VALUE_TAG) {
        snprintf(value, sizeof value, "%s", prop_below(p, 2) ? "{}" : "");
    } else {
        size_t words = 1;
        for (const char *c = row->values; *c; c++) {
            words += *c == '|';
        }
        for (size_t i = prop_below(p, words); i; i--) {
            word += strcspn(word, "|") + 1;
        }
        len = strcspn(word, "|");
        snprintf(value, sizeof value, "%.*s", (int)len, word);
    }
    if (gyre_topology_set(t, key, value, NULL)) { /* too small a number: the old one stays */
        must(row->kind == GY_VALUE_NUMBER ? GYRE_OK : GYRE_INVALID);
    }
}

static const char *out_of_service(unsigned like)
{
    return like == GY_LIKE_NGINX ? "down" : like == GY_LIKE_HAPROXY ? "disabled" : NULL;
}

static void draw_node(struct prop *p, gyre_topology_t *t, unsigned like, unsigned i)
{
    char name[32], options[64];
    const char *out = out_of_service(like);
    snprintf(name, sizeof name, "10.0.%u.%u:%u", (i * 7) % 5, i,
             prop_below(p, 3) ? 6000 + i % 3 : 11211);
    snprintf(options, sizeof options, "%s%s", like == GY_LIKE_HAPROXY ? "guid=" : "",
             like == GY_LIKE_HAPROXY ? name : "");
    if (out && i && prop_below(p, 4) == 0) {
        snprintf(options + strlen(options), sizeof options - strlen(options), " %s", out);
    }
    struct gyre_node node = {.size = sizeof node,
                             .name = name,
                             .address = name,
                             .weight = (double)(i ? prop_below(p, 5) : 1),
                             .options = options[0] ? options : NULL};
    must(gyre_topology_add(t, &node, NULL));
}

static gyre_topology_t *draw_any_topology(struct prop *p)
{
    unsigned like =
        GY_LIKE_SAMPLE + 1 + (unsigned)prop_below(p, GY_LIKE_COUNT - GY_LIKE_SAMPLE - 1);
    gyre_topology_t *t = gyre_topology_new();
    const struct gy_like_setting *row = gy_like_of(like)->settings;
    must(t ? gyre_topology_set(t, "like", gy_like_of(like)->name, NULL) : GYRE_NOMEM);
    for (; row && row->fallback; row++) {
        if (prop_below(p, 3)) {
            draw_setting(p, t, row);
        }
    }
    unsigned nodes = (unsigned)prop_size(p, 1, 40);
    for (unsigned i = 0; i < nodes; i++) {
        draw_node(p, t, like, i);
    }
    return t;
}

/* Not all settings go together, and some systems know no weights: those are drawn again. */
static gyre_topology_t *draw_topology(struct prop *p)
{
    for (;;) {
        gyre_topology_t *t = draw_any_topology(p);
        gyre_map_t *m;
        int err = gyre_map_build(t, &m, NULL);
        if (!err) {
            gyre_map_unref(m);
            return t;
        }
        must(err == GYRE_INVALID || err == GYRE_UNSUPPORTED || err == GYRE_RANGE ? GYRE_OK : err);
        gyre_topology_free(t);
    }
}

static bool in_service(const struct gyre_node *n)
{
    return n && n->weight > 0 && !gy_like_has(n, "down") && !gy_like_has(n, "disabled");
}

/* What is kept beside the weights is theirs, also where a system leaves nodes without keys. */
static bool sums_are_of_the_weights(struct prop *p)
{
    gyre_topology_t *t = draw_topology(p);
    must(gyre_topology_set(t, "spread", prop_below(p, 2) ? "zone" : "none", NULL));
    gyre_map_t *m = gen_map(t);
    uint64_t heavy = 0, room = 0;
    uint32_t positive = 0, zoned = 0;
    double shares = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        PROP(m->weight[i] == 0 || in_service(gyre_map_node(m, i)));
        heavy += m->weight[i];
        positive += m->weight[i] != 0;
        zoned += m->zone ? m->zone_size[i] : 0;
        shares += gyre_map_share(m, i);
        room += gyre_map_bound(m, i, 1000 * 1000, 100);
    }
    PROP(m->heavy == heavy && m->positive == positive);
    PROP(!m->zone || zoned == positive);
    PROP(shares > 1 - 1e-9 && shares < 1 + 1e-9);
    PROP(room > 1000 * 1000 && room <= 1000 * 1000 + 1 + m->count);
    gyre_map_unref(m);
    gyre_topology_free(t);
    return true;
}

static bool answers_are_live(struct prop *p)
{
    gyre_topology_t *t = draw_topology(p);
    gyre_map_t *m = gen_map(t);
    uint64_t keys[KEYS], hashes[KEYS];
    const void *at[KEYS];
    size_t lens[KEYS];
    uint32_t batch[KEYS], by_hash[KEYS], out[5];
    for (unsigned i = 0; i < KEYS; i++) {
        keys[i] = prop_draw(p);
        at[i] = &keys[i];
        lens[i] = prop_below(p, 9);
        hashes[i] = gyre_map_hash(m, at[i], lens[i]);
    }
    gyre_map_locate_batch(m, at, lens, KEYS, batch);
    gyre_map_locate_hash_batch(m, hashes, KEYS, by_hash);
    for (unsigned i = 0; i < KEYS; i++) {
        uint32_t one = gyre_map_locate(m, at[i], lens[i]);
        struct gyre_explain x = {.size = sizeof x};
        PROP(in_service(gyre_map_node(m, one)));
        PROP(batch[i] == one);
        PROP(gyre_map_explain(m, at[i], lens[i], &x) == GYRE_OK && x.node == one);
        PROP(by_hash[i] == (m->hash_bits > 64 ? GYRE_NONE : one));
        size_t n = gyre_map_replicas(m, at[i], lens[i], out, 5, NULL);
        PROP(n == (m->positive < 5 ? m->positive : 5) && out[0] == one);
        for (size_t k = 0; k < n; k++) {
            PROP(in_service(gyre_map_node(m, out[k])));
            for (size_t j = 0; j < k; j++) {
                PROP(out[j] != out[k]);
            }
        }
    }
    gyre_map_unref(m);
    gyre_topology_free(t);
    return true;
}

/* What gyre_map_hash never gives still gets an answer: a node, or none by the rule of the wide. */
static bool any_number_is_answered(struct prop *p)
{
    gyre_topology_t *t = draw_topology(p);
    gyre_map_t *m = gen_map(t);
    uint64_t hashes[KEYS] = {0, UINT64_MAX};
    uint32_t batch[KEYS];
    for (unsigned i = 2; i < KEYS; i++) {
        hashes[i] = i < 66 ? (uint64_t)1 << (i - 2) : prop_draw(p);
    }
    gyre_map_locate_hash_batch(m, hashes, KEYS, batch);
    for (unsigned i = 0; i < KEYS; i++) {
        uint32_t one = gyre_map_locate_hash(m, hashes[i]);
        PROP(batch[i] == one);
        PROP(m->hash_bits > 64 ? one == GYRE_NONE : in_service(gyre_map_node(m, one)));
    }
    gyre_map_unref(m);
    gyre_topology_free(t);
    return true;
}

static bool located(const gyre_map_t *m, gy_u128 at, uint32_t node)
{
    uint64_t hash = (uint64_t)at;
    uint32_t batch = node;
    if (m->hash_bits <= 64) {
        gyre_map_locate_hash_batch(m, &hash, 1, &batch);
    }
    return m->place->locate(m, at) == node && batch == node;
}

/* In a batch too, up to the highest hash; a position that keeps the first bits of a hash stands
 * for all hashes that begin with them. */
static bool owns(const gyre_map_t *m, gy_u128 position, uint32_t node)
{
    unsigned dropped = m->slots ? 0 : m->hash_bits - m->position_bits;
    gy_u128 least = position << dropped, most = least | (((gy_u128)1 << dropped) - 1);
    return located(m, least, node) && located(m, most, node);
}

/* Each arc's owner is who is located at its end, and shares are lengths of arcs. */
static bool arcs_are_what_is_located(struct prop *p)
{
    gyre_topology_t *t = draw_topology(p);
    gyre_map_t *m = gen_map(t);
    double sum = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        sum += gyre_map_share(m, i);
    }
    PROP(sum > 1 - 1e-9 && sum < 1 + 1e-9);
    if (!m->place->position) { /* no arcs to walk */
        gyre_map_unref(m);
        gyre_topology_free(t);
        return true;
    }
    gy_u128 last = gy_map_last(m), start = 0;
    unsigned skip = (unsigned)(m->steps / 100) + 1, looked = 0;
    for (size_t i = gy_arc_first(m);; i++) {
        gy_u128 end = gy_arc_end(m, i);
        if (end >= start) {
            if (looked++ % skip == 0 || end == last) {
                PROP(owns(m, end, gy_arc_node(m, i)));
                PROP(owns(m, start, gy_arc_node(m, i)));
            }
            start = end + 1;
        }
        if (end == last) {
            PROP(gy_map_last_owner(m) == gy_arc_node(m, i));
            break;
        }
    }
    gyre_map_unref(m);
    gyre_topology_free(t);
    return true;
}

static bool rebuilt_is_the_same(struct prop *p)
{
    gyre_topology_t *t = draw_topology(p), *u = gyre_topology_clone(t);
    must(u ? GYRE_OK : GYRE_NOMEM);
    gyre_map_t *a = gen_map(t), *b = gen_map(u);
    gyre_diff_t *d;
    PROP(gyre_map_same(a, b));
    must(gyre_diff_build(a, b, 100, &d, NULL));
    PROP(gyre_diff_moved(d) == 0 && gyre_diff_count(d) == 0);
    gyre_diff_free(d);
    gyre_map_unref(a);
    gyre_map_unref(b);
    gyre_topology_free(t);
    gyre_topology_free(u);
    return true;
}

int main(void)
{
    return prop_run("answers are live", answers_are_live, 400) +
           prop_run("arcs are what is located", arcs_are_what_is_located, 400) +
           prop_run("any number is answered", any_number_is_answered, 300) +
           prop_run("rebuilt is the same", rebuilt_is_the_same, 200) +
           prop_run("sums are of the weights", sums_are_of_the_weights, 300);
}
