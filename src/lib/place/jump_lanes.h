/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jump_lanes.h - a few steps of jump for many keys, bit for bit as jump.c's. Included by jump.c
 * once a level, with NAME, LANES, TARGET, FLOOR (of a vector of doubles) and BELOW (x < y ? a : b)
 * defined; undefines them. No include guard, for that reason. Takes the first n keys of w, and as
 * many after them as fill the lanes. Threads: any.
 *
 * Whole numbers below 2^52 are made doubles by adding that: exact, and the same on every machine.
 * A key whose next jump ends at or past the range is left where it is: further jumps only go up.
 */
TARGET static void NAME(struct walkers *w, size_t n, uint32_t nodes)
{
    typedef uint64_t whole __attribute__((vector_size(LANES * 8)));
    typedef double real __attribute__((vector_size(LANES * 8)));
    const real range = (real){0} + nodes;
    for (size_t i = 0; i < n; i += LANES) {
        whole key;
        real at = {0}, next;
        memcpy(&key, w->key + i, sizeof key);
        memcpy(&next, w->next + i, sizeof next);
        for (int step = 0; step < STEPS; step++) {
            at = BELOW(next, range, next, at);
            key = key * JUMP_FACTOR + 1;
            real divisor = (real)(key >> 33 | 0x4330000000000000u) - (0x1p52 - 1.0);
            next = FLOOR((next + 1.0) * (0x1p31 / divisor));
        }
        memcpy(w->key + i, &key, sizeof key);
        memcpy(w->next + i, &next, sizeof next);
        memcpy(w->at + i, &at, sizeof at);
    }
}

#undef NAME
#undef LANES
#undef TARGET
#undef FLOOR
#undef BELOW
