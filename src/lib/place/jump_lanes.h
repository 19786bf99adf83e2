/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jump_lanes.h - jump for several keys at once, bit for bit as jump.c's. Included by jump.c once a
 * level, with NAME, LANES, TARGET and ANY (is any lane's mask set?) defined; undefines them. No
 * include guard, for that reason. GROUPS vectors go side by side, so that one divides while the
 * others wait; a call takes GROUPS * LANES keys. Threads: any.
 *
 * Whole numbers below 2^52 are made doubles, and rounded, by adding 2^52: exact, and the same on
 * every machine. b + 1 is at most GY_SLOT_MAX = 2^20, so that all stay below 2^51.
 */
TARGET static void NAME(const uint64_t *hashes, uint32_t n, uint32_t *out)
{
    typedef uint64_t whole __attribute__((vector_size(LANES * 8)));
    typedef int64_t mask __attribute__((vector_size(LANES * 8)));
    typedef double real __attribute__((vector_size(LANES * 8)));
    const double two52 = 0x1p52, range = n;
    whole key[GROUPS];
    real b[GROUPS], j[GROUPS];
    for (int g = 0; g < GROUPS; g++) {
        memcpy(&key[g], hashes + g * LANES, sizeof key[g]);
        b[g] = (real){0} - 1.0;
        j[g] = (real){0};
    }
    mask on;
    do {
        on = (mask){0};
        for (int g = 0; g < GROUPS; g++) {
            mask active = j[g] < range;
            b[g] = (real)(((mask)j[g] & active) | ((mask)b[g] & ~active));
            key[g] = key[g] * 2862933555777941757u + 1;
            real divisor = (real)(((key[g] >> 33) + 1) | 0x4330000000000000u) - two52;
            real far = (b[g] + 1.0) * (2147483648.0 / divisor);
            real floor = (far + two52) - two52;
            floor -= (real)((floor > far) & (mask)((real){0} + 1.0));
            j[g] = (real)(((mask)floor & active) | ((mask)j[g] & ~active));
            on |= j[g] < range;
        }
    } while (ANY(on));
    for (int i = 0; i < GROUPS * LANES; i++) {
        out[i] = (uint32_t)b[i / LANES][i % LANES];
    }
}

#undef NAME
#undef LANES
#undef TARGET
#undef ANY
