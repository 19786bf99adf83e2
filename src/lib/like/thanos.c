/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thanos.c - Thanos Receive's hashrings. Nodes are endpoints by their address; a node's zone is its
 * availability zone. `hashmod`: hash mod the number of endpoints, which are sorted by address.
 * `ketama`: `vnodes` sections an endpoint, XXH64 of "ADDRESS:1" and so on; a series belongs to the
 * first at or after its hash, and its replicas are those of the sections behind it, each endpoint
 * once, no zone getting another before all have as many. A key is what is hashed: tenant, 0xff,
 * then name, 0xff, value, 0xff of each label by name. Source: pkg/receive/hashring.go of 0.39.
 * Threads: immutable once built.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash/functions.h"
#include "lib/hash/table.h"
#include "lib/like/digits.h"
#include "lib/like/like.h"
#include "lib/like/points.h"
#include "lib/like/ranges.h"

enum { HASHMOD, KETAMA };
enum { NAME_MOST = 4096, RF_MAX = 64 };

static const struct gy_like_setting settings[] = {
    {GY_SET_DISTRIBUTION, GY_VALUE_WORD, "hashmod", "hashmod|ketama"},
    {GY_SET_VNODES, GY_VALUE_NUMBER, "1000", "1..100000"},
    {0, 0, NULL, NULL},
};

/* ---- zones ---- */

struct zones {
    uint32_t *of; /* the node's zone, from 0 */
    uint32_t count;
};

struct named {
    const char *text; /* the zone, or the name */
    uint32_t node;
};

static const char *zone_of(const struct gyre_map *m, uint32_t node)
{
    return m->nodes[node].zone ? m->nodes[node].zone : "";
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->text, ((const struct named *)b)->text);
}

static int take_zones(const struct gy_like_job *job)
{
    struct gyre_map *m = job->m;
    struct zones *z = gy_mem_alloc(sizeof *z + ((size_t)m->count + 1) * sizeof *z->of, 1);
    struct named *sorted = gy_mem_alloc((size_t)job->n + 1, sizeof *sorted);
    if (!z || !sorted) {
        gy_mem_free(z);
        gy_mem_free(sorted);
        return gy_fail_nomem(job->e);
    }
    *z = (struct zones){.of = (uint32_t *)(z + 1)};
    for (uint32_t i = 0; i < job->n; i++) {
        sorted[i] = (struct named){zone_of(m, job->list[i]), job->list[i]};
    }
    qsort(sorted, job->n, sizeof *sorted, by_text);
    for (uint32_t i = 0; i < job->n; i++) {
        z->count += i == 0 || strcmp(sorted[i].text, sorted[i - 1].text) != 0;
        z->of[sorted[i].node] = z->count - 1;
    }
    gy_mem_free(sorted);
    m->context = z;
    return GYRE_OK;
}

/* ---- replicas ---- */

struct taken {
    uint32_t node[RF_MAX], n;
    uint32_t in[RF_MAX]; /* how many of each zone, where there are so few zones */
};

/* Has every zone at least as many as this one, or has this one none yet? */
static bool is_its_turn(const struct zones *z, const struct taken *t, uint32_t zone)
{
    uint32_t here = 0, least = UINT32_MAX;
    if (z->count > RF_MAX) { /* then some zone has none */
        for (uint32_t i = 0; i < t->n; i++) {
            here += z->of[t->node[i]] == zone;
        }
        return here == 0;
    }
    for (uint32_t i = 0; i < z->count; i++) {
        least = t->in[i] < least ? t->in[i] : least;
    }
    return t->in[zone] == 0 || t->in[zone] <= least;
}

static bool is_new(const struct taken *t, uint32_t node)
{
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->node[i] == node) {
            return false;
        }
    }
    return true;
}

/* The first `want` replicas from a section on; fewer if the zones have not so many. */
static void replicas_from(const gyre_map_t *m, size_t step, uint32_t want, struct taken *t)
{
    const struct zones *z = m->context;
    memset(t, 0, sizeof *t);
    for (size_t left = m->steps; left && t->n < want; left--) {
        uint32_t node = gy_points_node(m, step);
        if (is_new(t, node) && is_its_turn(z, t, z->of[node])) {
            t->node[t->n++] = node;
            if (z->count <= RF_MAX) {
                t->in[z->of[node]]++;
            }
        }
        step = step + 1 == m->steps ? 0 : step + 1;
    }
}

static uint32_t zoned_next(struct gy_walk *w)
{
    struct taken t;
    if (w->used < RF_MAX) {
        replicas_from(w->map, w->step, w->used + 1, &t);
        if (t.n > w->used) {
            return t.node[w->used++];
        }
    }
    w->used = RF_MAX;
    return gy_walk_by_name(w);
}

static bool zoned_same(const gyre_map_t *a, const gyre_map_t *b)
{
    for (size_t i = 0; i < a->steps; i++) {
        uint32_t p = gy_points_node(a, i), q = gy_points_node(b, i);
        if (gy_points_position(a, i) != gy_points_position(b, i) ||
            strcmp(a->nodes[p].name, b->nodes[q].name) != 0 ||
            strcmp(zone_of(a, p), zone_of(b, q)) != 0) {
            return false;
        }
    }
    return true;
}

static const struct gy_place place_zoned = {
    GY_POINTS_PLACE,
    .next = zoned_next,
    .same = zoned_same,
};

/* ---- building ---- */

static int build_ketama(const struct gy_like_job *job)
{
    struct gyre_map *m = job->m;
    struct gy_points points;
    uint64_t sections = gy_like_number(job, GY_SET_VNODES);
    int err = gy_points_init(&points, job->n * sections, job->e);
    for (uint32_t i = 0; !err && i < job->n; i++) {
        char text[NAME_MOST + 1 + GY_DIGITS];
        const char *name = m->nodes[job->list[i]].name;
        size_t len = strlen(name);
        memcpy(text, name, len);
        text[len++] = ':';
        for (uint64_t k = 1; k <= sections; k++) {
            size_t n = gy_digits_write(text + len, k);
            gy_points_put(&points, gy_xxh64(text, len + n, 0), job->list[i]);
        }
    }
    err = err ? err : gy_points_settle(m, &points, 64, job->e);
    err = err ? err : take_zones(job);
    const struct zones *z = m->context;
    if (!err && z->count > 1) {
        m->place = &place_zoned;
    }
    gy_points_fini(&points);
    return err;
}

/* As hash mod N numbers the endpoints: by their addresses. */
static int build_hashmod(const struct gy_like_job *job)
{
    struct gyre_map *m = job->m;
    struct gy_ranges ranges = {0};
    struct named *sorted = gy_mem_alloc((size_t)job->n + 1, sizeof *sorted);
    int err = sorted ? gy_ranges_init(&ranges, job->n, job->e) : gy_fail_nomem(job->e);
    for (uint32_t i = 0; !err && i < job->n; i++) {
        if (*zone_of(m, job->list[i])) {
            err = gy_fail(job->e, GYRE_UNSUPPORTED,
                          "hashmod knows no zones; Thanos refuses them: use ketama");
        }
        sorted[i] = (struct named){m->nodes[job->list[i]].name, job->list[i]};
    }
    if (!err) {
        qsort(sorted, job->n, sizeof *sorted, by_text);
        for (uint32_t i = 0; i < job->n; i++) {
            gy_ranges_put(&ranges, 1, sorted[i].node);
        }
        err = gy_ranges_settle(m, &ranges, job->e);
    }
    gy_ranges_fini(&ranges);
    gy_mem_free(sorted);
    return err;
}

static int build(const struct gy_like_job *job)
{
    job->m->hash = &gy_hash_xxh64;
    job->m->hash_bits = 64;
    return gy_like_word(job, GY_SET_DISTRIBUTION) == KETAMA ? build_ketama(job)
                                                            : build_hashmod(job);
}

const struct gy_like gy_like_thanos = {.name = "thanos", .settings = settings, .build = build};
