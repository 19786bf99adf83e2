/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rendezvous_lanes.h - rendezvous.c's search with the bounds of LANES nodes at once. Included there
 * once a level, with NAME, LANES, TARGET and these of vectors of LANES floats defined: LEAST, MOST,
 * BELOW (x < y ? a : b), LOWEST (of all lanes), MASK (a bit for each lane where a <= b); and UPPER,
 * the upper halves of two vectors' whole numbers. Undefines them. No include guard, for that
 * reason. Threads: any.
 *
 * Of the nodes, whose tables are filled up to a multiple of GY_LANES_MOST, lane k has those of
 * numbers k modulo LANES: the least bound of them, whose it is, and the least of the others.
 */
TARGET static struct score NAME(const struct gy_rendezvous *r, uint64_t hash) {
    typedef uint64_t whole __attribute__((vector_size(LANES * 4)));
    typedef uint32_t half __attribute__((vector_size(LANES * 4)));
    typedef int32_t count __attribute__((vector_size(LANES * 4)));
    typedef float real __attribute__((vector_size(LANES * 4)));
    const whole folded = (whole){0} + gy_mix_fold(hash);
    real least = (real){0} + FLT_MAX, second = least;
    half at = {0}, best;
    for (uint32_t i = 0; i < LANES; i++) {
        at[i] = i;
    }
    best = at;
    for (uint32_t i = 0; i < r->count; i += LANES, at += LANES) {
        whole a, b; /* the last step of the mix leaves the first 31 bits, so it is left out */
        real scale;
        memcpy(&a, r->seed + i, sizeof a);
        memcpy(&b, r->seed + i + LANES / 2, sizeof b);
        memcpy(&scale, r->scale + i, sizeof scale);
        a = (a ^ folded) * GY_MIX_ONE;
        b = (b ^ folded) * GY_MIX_ONE;
        a = (a ^ a >> 27) * GY_MIX_TWO;
        b = (b ^ b >> 27) * GY_MIX_TWO;
        half first31 = UPPER((half)a, (half)b);
        real bound = __builtin_convertvector((count)(~first31 >> 1), real) * scale;
        best = (half)BELOW(bound, least, at, best);
        second = LEAST(second, MOST(bound, least));
        least = LEAST(least, bound);
    }
    unsigned nearest = (unsigned)__builtin_ctz(MASK(least, (real){0} + LOWEST(least)));
    struct score s = score(r, hash, best[nearest] < r->count ? best[nearest] : 0);
    real limit = (real){0} + limit_of(r, &s);
    for (unsigned open = MASK(least, limit) & ~(1u << nearest); open; open &= open - 1) {
        uint32_t i = best[__builtin_ctz(open)];
        if (i < r->count) {
            struct score t = score(r, hash, i);
            s = first(&t, &s) ? t : s;
        }
    }
    if (MASK(second, limit)) { /* a lane's second may come first: seldom, and its number is lost */
        s = score(r, hash, 0);
        improve(r, hash, 1, &s);
    }
    return s;
}

#undef NAME
#undef LANES
#undef TARGET
#undef LEAST
#undef MOST
#undef BELOW
#undef LOWEST
#undef MASK
#undef UPPER
