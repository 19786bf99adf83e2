/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dx_lanes.h - the next draw of many keys, LANES at once. Included by dx.c once a level, with NAME,
 * LANES, TARGET and MIX (gy_mix of a vector) defined; undefines them. No include guard,
 * for that reason. Takes the first n keys, and as many after them as fill the lanes. Threads:
 * any.
 */
TARGET static void NAME(const uint64_t *key, size_t n, uint64_t round, uint64_t *drawn)
{
    typedef uint64_t whole __attribute__((vector_size(LANES * 8)));
    for (size_t i = 0; i < n; i += LANES) {
        whole z;
        memcpy(&z, key + i, sizeof z);
        z = MIX(z + (round + 1) * GY_GOLDEN);
        memcpy(drawn + i, &z, sizeof z);
    }
}

#undef NAME
#undef LANES
#undef TARGET
#undef MIX
