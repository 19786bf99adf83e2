/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.c - the rings of the four articles' example programs, key for key: points are digests of
 * texts such as "cache-0#17", positions up to 128 bits wide. Of points at one position the one
 * whose node was added later owns the keys, because the programs' maps overwrite (and the one list
 * inserts before its equal). Threads: immutable once built.
 */
#include "lib/like/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/map.h"

#define POINTS_MAX (1u << 24) /* each costs a digest to make: about 3 s in all */

const struct gy_sample_rule gy_sample_rules[] = {
    {"md5_128", &gy_hash_md5, 128, "#", true},
    {"md5_64be", &gy_hash_md5, 64, "#", false},
    {"java_md5_32be", &gy_hash_md5, 32, "", false},
    {"sha256_32be", &gy_hash_sha256, 32, "#", false},
};
const size_t gy_sample_rule_count = sizeof gy_sample_rules / sizeof gy_sample_rules[0];

struct point {
    gy_u128 position;
    uint32_t node, order;
};

struct sample {
    gy_u128 *position;
    uint32_t *owner;
};

static size_t sample_first(const gyre_map_t *m, gy_u128 hash)
{
    const struct sample *s = m->data;
    size_t low = 0, n = m->steps;
    while (n) {
        size_t half = n / 2;
        gy_u128 at = s->position[low + half];
        bool before = m->after ? at <= hash : at < hash;
        low = before ? low + half + 1 : low;
        n = before ? n - half - 1 : half;
    }
    return low == m->steps ? 0 : low;
}

static uint32_t sample_node(const gyre_map_t *m, size_t step)
{
    const struct sample *s = m->data;
    return s->owner[step];
}

static gy_u128 sample_position(const gyre_map_t *m, size_t step)
{
    const struct sample *s = m->data;
    return s->position[step];
}

static uint32_t sample_locate(const gyre_map_t *m, gy_u128 hash)
{
    return sample_node(m, sample_first(m, hash));
}

static void sample_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n,
                                uint32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = sample_locate(m, hashes[i]);
    }
}

static int compare_points(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    if (x->position != y->position) {
        return x->position < y->position ? -1 : 1;
    }
    return x->order > y->order ? -1 : x->order < y->order; /* newest first */
}

/* Fills points (m->steps of them); text has room for any name, separator and number. */
static void make_points(const struct gyre_map *m, const struct gy_sample_rule *rule, char *text,
                        struct point *points)
{
    size_t separator = strlen(rule->separator);
    size_t n = 0;
    for (uint32_t id = 0; id < m->count; id++) {
        size_t name = strlen(m->nodes[id].name);
        memcpy(text, m->nodes[id].name, name);
        memcpy(text + name, rule->separator, separator);
        for (uint32_t i = 0; i < m->points[id]; i++) {
            char *number = text + name + separator;
            size_t len = name + separator + (size_t)sprintf(number, "%u", i);
            gy_u128 hash = rule->hash->value(text, len) >> (rule->hash->bits - rule->hash_bits);
            points[n++] = (struct point){hash, id, m->order[id]};
        }
    }
}

static int count_points(struct gyre_map *m, gyre_error_t *e)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        uint64_t n = gy_point_count(m->weight[i], m->per_unit);
        total += n;
        m->points[i] = (uint32_t)(n > POINTS_MAX ? POINTS_MAX : n);
    }
    if (total > POINTS_MAX) {
        return gy_fail(
            e, GYRE_RANGE,
            "the weights ask for %llu points on the ring, which is %llu MB of memory; at "
            "most %u are allowed: scale the weights or `vnodes` (%u) down",
            (unsigned long long)total, (unsigned long long)(total / 50000), POINTS_MAX,
            m->per_unit);
    }
    m->steps = (size_t)total;
    return GYRE_OK;
}

static void sample_fini(struct gyre_map *m)
{
    struct sample *s = m->data;
    gy_mem_free(s->position);
    gy_mem_free(s->owner);
    gy_mem_free(s);
}

static int sample_build(struct gyre_map *m, const void *how, gyre_error_t *e)
{
    const struct gy_sample_rule *rule = how;
    int err = count_points(m, e);
    if (err) {
        return err;
    }
    struct sample *s = gy_mem_alloc(1, sizeof *s);
    if (!s) {
        return gy_fail_nomem(e);
    }
    *s = (struct sample){.position = gy_mem_alloc(m->steps, sizeof *s->position),
                         .owner = gy_mem_alloc(m->steps, sizeof *s->owner)};
    m->data = s;
    m->bytes = m->steps * (sizeof *s->position + sizeof *s->owner);

    size_t room = GY_NAME_MAX + strlen(rule->separator) + sizeof "4294967295";
    char *text = gy_mem_alloc(room, 1);
    struct point *points = gy_mem_alloc(m->steps, sizeof *points);
    if (!s->position || !s->owner || !text || !points) {
        err = gy_fail_nomem(e);
        goto out;
    }
    make_points(m, rule, text, points);
    qsort(points, m->steps, sizeof *points, compare_points);
    for (size_t i = 0; i < m->steps; i++) {
        s->position[i] = points[i].position;
        s->owner[i] = points[i].node;
    }
    gy_map_measure(m);
out:
    gy_mem_free(text);
    gy_mem_free(points);
    return err;
}

const struct gy_place gy_place_sample = {
    .name = "sample",
    .ring = true,
    .build = sample_build,
    .fini = sample_fini,
    .locate = sample_locate,
    .locate_batch = sample_locate_batch,
    .first = sample_first,
    .node = sample_node,
    .position = sample_position,
};
