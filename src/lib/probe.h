/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h - the pseudo-random keys that stand for all keys where no exact answer exists: any two
 * runs, on any machine, see the same ones. Threads: any.
 */
#ifndef GY_LIB_PROBE_H
#define GY_LIB_PROBE_H

#include <stdint.h>

#define GY_PROBE 16 /* bytes of a key */

/* Output i of SplitMix64's stream, as text, so that no tag character and no byte order comes into
 * it. */
static inline void gy_probe_key(uint64_t i, char key[GY_PROBE])
{
    static const char digits[] = "0123456789abcdef";
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    for (unsigned k = 0; k < GY_PROBE; k++) {
        key[k] = digits[z >> 4 * k & 15];
    }
}

#endif
