/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rendezvous_lanes.h - rendezvous.c's search in vectors: for one key with a node to each lane, and
 * for many keys with a key to each. Included there once a level, with LEVEL(name), LANES and TARGET
 * defined, and these of vectors of LANES whole numbers of 32 bits: LESSER and GREATER of two,
 * LOWEST of all, PICK (x == y ? a : b), SAME (a bit for each lane where x == y); and of vectors of
 * half as many of 64: TIMES a constant, UPPER_TIMES (two vectors by a constant, of the products the
 * upper halves in the order ORDER). Undefines them. No include guard, for that reason. Threads:
 * any.
 */
typedef uint64_t LEVEL(whole) __attribute__((vector_size(LANES * 4)));
typedef uint32_t LEVEL(half) __attribute__((vector_size(LANES * 4)));
typedef int32_t LEVEL(count) __attribute__((vector_size(LANES * 4)));
typedef float LEVEL(real) __attribute__((vector_size(LANES * 4)));

/* Where lanes stand: the nearest node met, its distance, what that was made of, and the least
 * distance of the others. */
struct LEVEL(state) {
    LEVEL(half) best, least, second;
    LEVEL(real) v;
};

/* The nodes `at`, one a lane; a and b are keys xor seeds, folded. */
TARGET WITHIN void LEVEL(meet)(struct LEVEL(state) * s, LEVEL(whole) a, LEVEL(whole) b,
                               LEVEL(real) scale, LEVEL(half) at, LEVEL(half) none, bool weighted)
{
    a = TIMES(a, GY_MIX_ONE);
    b = TIMES(b, GY_MIX_ONE);
    LEVEL(half) far = ~UPPER_TIMES(a ^ a >> 27, b ^ b >> 27, GY_MIX_TWO);
    LEVEL(real) v = __builtin_convertvector((LEVEL(count))(far >> 1), LEVEL(real));
    far = (weighted ? (LEVEL(half))(BELOW(v) * scale) : far) | none;
    LEVEL(half) least = LESSER(s->least, far);
    s->best = PICK(least, far, at, s->best);
    s->v = (LEVEL(real))PICK(least, far, v, s->v);
    s->second = LESSER(s->second, GREATER(s->least, far));
    s->least = least;
}

TARGET WITHIN struct nearest LEVEL(search)(const struct gy_rendezvous *r, uint64_t hash,
                                           bool weighted)
{
    const LEVEL(whole) folded = (LEVEL(whole)){0} + gy_mix_fold(hash);
    LEVEL(half) at = ORDER;
    struct LEVEL(state) s = {at, ~(LEVEL(half)){0}, ~(LEVEL(half)){0}, {0}};
    for (uint32_t i = 0; i < r->count; i += LANES, at += LANES) {
        LEVEL(whole) a, b;
        LEVEL(real) scale = {0};
        LEVEL(half) none = {0};
        memcpy(&a, r->seed + i, sizeof a);
        memcpy(&b, r->seed + i + LANES / 2, sizeof b);
        if (weighted) {
            memcpy(&scale, r->scale + i, sizeof scale);
            scale = (LEVEL(real))LAID(scale);
        }
        if (r->count - i < LANES) { /* the last lanes have no node */
            none = (LEVEL(half))((LEVEL(count))at >= (int32_t)r->count);
        }
        LEVEL(meet)(&s, folded ^ a, folded ^ b, scale, at, none, weighted);
    }
    const uint32_t lowest = LOWEST(s.least);
    const LEVEL(half) low = (LEVEL(half)){0} + lowest;
    const unsigned same = SAME(s.least, low), lane = (unsigned)__builtin_ctz(same);
    struct nearest near = {s.best[lane], lowest, lowest | 1};
    if (!(same & (same - 1))) {
        near.second = LOWEST(LESSER(s.second, PICK(s.least, low, ~(LEVEL(half)){0}, s.least)));
    }
    if (weighted) {
        near.limit = limit_of(s.v[lane], r->scale[near.best]);
    }
    return near;
}

TARGET static struct nearest LEVEL(one)(const struct gy_rendezvous *r, uint64_t hash)
{
    return r->inverse ? LEVEL(search)(r, hash, true) : LEVEL(search)(r, hash, false);
}

/* LANES keys. Lane k has the one of number ORDER[k]. */
TARGET WITHIN void LEVEL(search_each)(const struct gy_rendezvous *r, const uint64_t *hashes,
                                      struct nearests *out, bool weighted)
{
    LEVEL(whole) a, b;
    LEVEL(half) at = {0};
    const LEVEL(half) none = {0}, order = ORDER;
    struct LEVEL(state) s = {at, ~(LEVEL(half)){0}, ~(LEVEL(half)){0}, {0}};
    memcpy(&a, hashes, sizeof a);
    memcpy(&b, hashes + LANES / 2, sizeof b);
    a ^= a >> 30;
    b ^= b >> 30;
    for (uint32_t i = 0; i < r->count; i++, at += 1) {
        const LEVEL(whole) seed = (LEVEL(whole)){0} + r->seed[i];
        const LEVEL(real) scale = (LEVEL(real)){0} + (weighted ? r->scale[i] : 0);
        LEVEL(meet)(&s, a ^ seed, b ^ seed, scale, at, none, weighted);
    }
    LEVEL(half) limit = s.least | 1;
    if (weighted) { /* a distance of 0 makes no number of it, and that is above all others */
        LEVEL(real) v = s.v + 1.0f;
        limit = (LEVEL(half))((LEVEL(real))s.least * ABOVE_COST * (ABOVE(v) / BELOW(s.v)));
    }
    memcpy(out->key, &order, sizeof order);
    memcpy(out->best, &s.best, sizeof s.best);
    memcpy(out->second, &s.second, sizeof s.second);
    memcpy(out->limit, &limit, sizeof limit);
}

TARGET static void LEVEL(each)(const struct gy_rendezvous *r, const uint64_t *hashes,
                               struct nearests *out)
{
    if (r->inverse) {
        LEVEL(search_each)(r, hashes, out, true);
    } else {
        LEVEL(search_each)(r, hashes, out, false);
    }
}

#undef LEVEL
#undef LANES
#undef TARGET
#undef LESSER
#undef GREATER
#undef LOWEST
#undef PICK
#undef SAME
#undef TIMES
#undef UPPER_TIMES
#undef ORDER
#undef LAID
