/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rendezvous_lanes.h - a key's first node among LANES * whole groups of nodes, bit for bit as
 * rendezvous.c finds it; the rest is left to that. Included there once a level, with EQUAL and
 * WEIGHTED (the two functions' names), LANES, TARGET and PICK (of a table of 16, by lane) defined;
 * undefines them. No include guard, for that reason. Threads: any.
 *
 * Each returns a struct score of the best of the first n nodes, n being a multiple of LANES and at
 * least that; cost is 0 where all weigh the same.
 */
TARGET static struct score EQUAL(const struct gy_rendezvous *r, uint64_t hash, uint32_t n) {
    typedef uint64_t whole __attribute__((vector_size(LANES * 8)));
    whole most = {0}, best = {0}, at = {0};
    for (uint32_t i = 0; i < LANES; i++) {
        at[i] = i;
    }
    for (uint32_t i = 0; i < n; i += LANES, at += LANES) {
        whole z;
        memcpy(&z, r->seed + i, sizeof z);
        z ^= hash;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        whole better = (whole)(z > most);
        better |= (whole)(at < LANES); /* the first of each lane, whatever it is */
        most = (z & better) | (most & ~better);
        best = (at & better) | (best & ~better);
    }
    struct score s = {0, most[0], (uint32_t)best[0]};
    for (uint32_t i = 1; i < LANES; i++) {
        struct score t = {0, most[i], (uint32_t)best[i]};
        s = first(&t, &s) ? t : s;
    }
    return s;
}

TARGET static struct score
WEIGHTED(const struct gy_rendezvous *r, uint64_t hash, uint32_t n) {
    typedef uint64_t whole __attribute__((vector_size(LANES * 8)));
    typedef int64_t mask __attribute__((vector_size(LANES * 8)));
    typedef double real __attribute__((vector_size(LANES * 8)));
    const double two52 = 0x1p52;
    const whole two52_bits = (whole){0} + 0x4330000000000000u;
    whole most = {0}, best = {0}, at = {0};
    real least = {0};
    for (uint32_t i = 0; i < LANES; i++) {
        at[i] = i;
        least[i] = DBL_MAX; /* above every cost, which is at most 44 */
    }
    for (uint32_t i = 0; i < n; i += LANES, at += LANES) {
        whole z;
        real inverse;
        memcpy(&z, r->seed + i, sizeof z);
        memcpy(&inverse, r->inverse + i, sizeof inverse);
        z ^= hash;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        /* As gy_log2_cost, step by step; numbers below 2^52 become doubles by adding that. */
        real x = (real)((z >> (64 - GY_LOG2_BITS) | 1) | two52_bits) - two52;
        whole bits = (whole)x, which = bits >> 48 & 15;
        real below = (real)((GY_LOG2_BITS + 1023 - (bits >> 52)) | two52_bits) - two52;
        real m = (real)((bits & 0x000fffffffffffffu) | 0x3ff0000000000000u);
        real ratio = m * PICK(gy_log2_inverse, which) - 1.0;
        real p = (real){0} + gy_log2_taylor[GY_LOG2_DEGREE - 1];
        for (int k = GY_LOG2_DEGREE - 2; k >= 0; k--) {
            p = p * ratio + gy_log2_taylor[k];
        }
        real cost = ((below - PICK(gy_log2_offset, which)) - p * ratio) * inverse;
        mask better = (cost < least) | ((cost == least) & (mask)(z > most));
        least = (real)(((mask)cost & better) | ((mask)least & ~better));
        most = (z & (whole)better) | (most & (whole)~better);
        best = (at & (whole)better) | (best & (whole)~better);
    }
    struct score s = {least[0], most[0], (uint32_t)best[0]};
    for (uint32_t i = 1; i < LANES; i++) {
        struct score t = {least[i], most[i], (uint32_t)best[i]};
        s = first(&t, &s) ? t : s;
    }
    return s;
}

#undef EQUAL
#undef WEIGHTED
#undef LANES
#undef TARGET
#undef PICK
