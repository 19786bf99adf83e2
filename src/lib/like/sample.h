/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.h - the example programs of the four articles, as data: what is hashed, how much of the
 * digest counts, how a point is spelled, and which point a key that hits one belongs to.
 */
#ifndef GY_LIB_SAMPLE_H
#define GY_LIB_SAMPLE_H

#include <stdbool.h>

#include "lib/hash/hash.h"

struct gy_sample_rule {
    const char *mode;
    const struct gy_hash *hash;
    unsigned hash_bits;    /* leading bits of the digest, 1..128 */
    const char *separator; /* a point's text is name, separator, number from 0 */
    bool after;            /* lookup: first point > the key (gt), not >= it (ge) */
};

/* In the order of the setting `mode`. */
extern const struct gy_sample_rule gy_sample_rules[];
extern const size_t gy_sample_rule_count;

#endif
