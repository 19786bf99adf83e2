/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup.c - a key's way to its node: tag, hash, placement. Nothing here allocates, locks or fails;
 * a map without a node to give answers GYRE_NONE. Threads: any.
 */
#include <string.h>

#include "lib/error.h"
#include "lib/hash/md5.h"
#include "lib/map.h"

#define BATCH GY_MD5_MOST /* hashes kept on the stack between hashing and placing */

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

static inline gy_u128 hash_part(const gyre_map_t *m, const void *part, size_t len)
{
    return m->key_hash ? m->key_hash(m, part, len)
                       : m->hash->value(part, len) >> (m->hash->bits - m->hash_bits);
}

static __attribute__((noinline)) gy_u128 hash_input(const gyre_map_t *m, const void *key,
                                                    size_t len)
{
    const void *part;
    size_t part_len;
    gyre_map_hash_input(m, key, len, &part, &part_len);
    return hash_part(m, part, part_len);
}

/* Mostly a key is hashed as it is: nothing in it begins a tag, and no part need be written down. */
static inline gy_u128 hash_wide(const gyre_map_t *m, const void *key, size_t len)
{
    if (m->key_part || (m->tag[0] && len && memchr(key, m->tag[0], len))) {
        return hash_input(m, key, len);
    }
    return hash_part(m, key, len);
}

gy_u128 gy_map_hash_wide(const gyre_map_t *m, const void *key, size_t len)
{
    return hash_wide(m, key, len);
}

uint64_t gyre_map_hash(const gyre_map_t *m, const void *key, size_t len)
{
    gy_u128 hash = gy_map_hash_wide(m, key, len);
    return (uint64_t)(m->hash_bits > 64 ? hash >> (m->hash_bits - 64) : hash);
}

uint32_t gyre_map_locate(const gyre_map_t *m, const void *key, size_t len)
{
    return m->steps ? m->locate(m, hash_wide(m, key, len)) : GYRE_NONE;
}

static void answer_none(uint32_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = GYRE_NONE;
    }
}

/* What hash_part gives, of the i-th part and its digest. */
static gy_u128 hash_of_md5(const gyre_map_t *m, const struct gy_md5_words *digests, size_t i,
                           const void *part, size_t len)
{
    const uint32_t state[4] = {digests->word[0][i], digests->word[1][i], digests->word[2][i],
                               digests->word[3][i]};
    return m->key_hash && len == 0 ? m->key_hash(m, part, 0)
                                   : m->hash->of_md5(state) >> (m->hash->bits - m->hash_bits);
}

/* Where a map hashes keys by MD5 that is most of a lookup, and several at once cost little more. */
static void locate_md5(const gyre_map_t *m, const void *const *keys, const size_t *lens, size_t n,
                       uint32_t *out)
{
    struct gy_md5_words digests;
    uint64_t hashes[BATCH];
    const void *part[BATCH];
    size_t part_len[BATCH];
    if (m->key_part || m->tag[0]) {
        for (size_t i = 0; i < n; i++) {
            gyre_map_hash_input(m, keys[i], lens[i], &part[i], &part_len[i]);
        }
        keys = part;
        lens = part_len;
    }
    gy_md5_batch(m->simd, keys, lens, n, &digests);
    if (m->hash_bits > 64) {
        for (size_t i = 0; i < n; i++) {
            out[i] = m->place->locate(m, hash_of_md5(m, &digests, i, keys[i], lens[i]));
        }
        return;
    }
    /* Ketama's is the first word as it is. */
    const bool first_word = m->hash == &gy_hash_md5_le32 && m->hash_bits == 32 && !m->key_hash;
    for (size_t i = 0; i < n; i++) {
        hashes[i] = first_word ? digests.word[0][i]
                               : (uint64_t)hash_of_md5(m, &digests, i, keys[i], lens[i]);
    }
    m->place->locate_batch(m, hashes, n, out);
}

static void locate_some(const gyre_map_t *m, const void *const *keys, const size_t *lens, size_t n,
                        uint32_t *out)
{
    uint64_t hashes[BATCH];
    if (m->hash->of_md5 && (!m->key_hash || m->key_hash_plain)) {
        locate_md5(m, keys, lens, n, out);
        return;
    }
    if (m->hash_bits > 64) {
        for (size_t i = 0; i < n; i++) {
            out[i] = gyre_map_locate(m, keys[i], lens[i]);
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        hashes[i] = (uint64_t)hash_wide(m, keys[i], lens[i]);
    }
    m->place->locate_batch(m, hashes, n, out);
}

void gyre_map_locate_batch(const gyre_map_t *m, const void *const *keys, const size_t *lens,
                           size_t n, uint32_t *out)
{
    if (!m->steps) {
        answer_none(out, n);
        return;
    }
    for (size_t done = 0; done < n;) {
        size_t now = n - done < BATCH ? n - done : BATCH;
        locate_some(m, keys + done, lens + done, now, out + done);
        done += now;
    }
}

static uint32_t locate_none(const gyre_map_t *m, gy_u128 hash)
{
    (void)m;
    (void)hash;
    return GYRE_NONE;
}

void gy_map_settle(struct gyre_map *m)
{
    bool avx2 = m->simd >= GY_SIMD_AVX2 && m->place->locate_avx2;
    m->locate = avx2 ? m->place->locate_avx2 : m->place->locate;
    m->locate_hash = m->steps && m->hash_bits <= 64 ? m->locate : locate_none;
}

uint32_t gyre_map_locate_hash(const gyre_map_t *m, uint64_t hash)
{
    return m->locate_hash(m, hash);
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
