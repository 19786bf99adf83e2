/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup.c - a key's way to its node: tag, hash, placement. Nothing here allocates, locks or fails;
 * a map without a node to give answers GYRE_NONE. Threads: any.
 */
#include <string.h>

#include "lib/error.h"
#include "lib/map.h"

#define BATCH 64 /* hashes kept on the stack between hashing and placing */

void gyre_map_hash_input(const gyre_map_t *m, const void *key, size_t len, const void **part,
                         size_t *part_len)
{
    if (m->key_part) {
        m->key_part(m, key, len, part, part_len);
        return;
    }
    *part = key;
    *part_len = len;
    if (!m->tag[0] || len == 0) {
        return;
    }
    const char *open = memchr(key, m->tag[0], len);
    if (!open) {
        return;
    }
    const char *inside = open + 1;
    size_t rest = len - (size_t)(inside - (const char *)key);
    const char *close = rest ? memchr(inside, m->tag[1], rest) : NULL;
    if (close && close > inside) {
        *part = inside;
        *part_len = (size_t)(close - inside);
    }
}

gy_u128 gy_map_hash_wide(const gyre_map_t *m, const void *key, size_t len)
{
    const void *part;
    size_t part_len;
    gyre_map_hash_input(m, key, len, &part, &part_len);
    return m->key_hash ? m->key_hash(m, part, part_len)
                       : m->hash->value(part, part_len) >> (m->hash->bits - m->hash_bits);
}

uint64_t gyre_map_hash(const gyre_map_t *m, const void *key, size_t len)
{
    gy_u128 hash = gy_map_hash_wide(m, key, len);
    return (uint64_t)(m->hash_bits > 64 ? hash >> (m->hash_bits - 64) : hash);
}

uint32_t gyre_map_locate(const gyre_map_t *m, const void *key, size_t len)
{
    return m->steps ? m->place->locate(m, gy_map_hash_wide(m, key, len)) : GYRE_NONE;
}

static void answer_none(uint32_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = GYRE_NONE;
    }
}

void gyre_map_locate_batch(const gyre_map_t *m, const void *const *keys, const size_t *lens,
                           size_t n, uint32_t *out)
{
    if (m->hash_bits > 64 || !m->steps) {
        for (size_t i = 0; i < n; i++) {
            out[i] = gyre_map_locate(m, keys[i], lens[i]);
        }
        return;
    }
    uint64_t hashes[BATCH];
    for (size_t done = 0; done < n;) {
        size_t now = n - done < BATCH ? n - done : BATCH;
        for (size_t i = 0; i < now; i++) {
            hashes[i] = (uint64_t)gy_map_hash_wide(m, keys[done + i], lens[done + i]);
        }
        m->place->locate_batch(m, hashes, now, out + done);
        done += now;
    }
}

uint32_t gyre_map_locate_hash(const gyre_map_t *m, uint64_t hash)
{
    return m->steps && m->hash_bits <= 64 ? m->place->locate(m, hash) : GYRE_NONE;
}

void gyre_map_locate_hash_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n,
                                uint32_t *out)
{
    if (m->steps && m->hash_bits <= 64) {
        m->place->locate_batch(m, hashes, n, out);
    } else {
        answer_none(out, n);
    }
}

int gyre_map_explain(const gyre_map_t *m, const void *key, size_t len, struct gyre_explain *out)
{
    if (out->size < sizeof *out) {
        return GYRE_INVALID;
    }
    *out = (struct gyre_explain){.size = out->size, .hash_bits = m->hash_bits, .node = GYRE_NONE};
    gyre_map_hash_input(m, key, len, &out->part, &out->part_len);
    gy_u128 hash = gy_map_hash_wide(m, key, len);
    out->hash_hi = (uint64_t)(hash >> 64);
    out->hash_lo = (uint64_t)hash;
    if (!m->steps) {
        return GYRE_EMPTY;
    }
    out->node = m->place->locate(m, hash);
    if (m->place->explain) {
        m->place->explain(m, hash, out->rule, sizeof out->rule);
    }
    if (m->place->ring) {
        size_t step = m->place->first(m, hash);
        gy_u128 position = hash >> (m->hash_bits - m->position_bits);
        gy_u128 point = m->place->position(m, step);
        out->has_point = true;
        out->position_hi = (uint64_t)(position >> 64);
        out->position_lo = (uint64_t)position;
        out->point_hi = (uint64_t)(point >> 64);
        out->point_lo = (uint64_t)point;
        out->point_index = step;
        out->wrapped = m->after ? point <= position : point < position;
    }
    return GYRE_OK;
}

double gyre_map_share(const gyre_map_t *m, uint32_t i)
{
    if (i >= m->count || m->weight[i] == 0) {
        return 0;
    }
    if (m->place->share) {
        return m->place->share(m, i);
    }
    if (!m->place->ring) {
        return 1.0 / m->positive;
    }
    if (m->owned[i] == 0) {
        return m->whole == i ? 1 : 0;
    }
    return gy_fraction(m->owned[i], m->position_bits);
}
