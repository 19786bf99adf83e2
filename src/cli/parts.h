/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - what of the keys is hashed, counted: a key that comes again and again, and a hash tag
 * that many keys share, both fall on one node whatever the placement. The first 2^18 different ones
 * are kept, and an excerpt of each; what is hot among later ones is not seen. Threads: one thread
 * an object.
 */
#ifndef GY_CLI_PARTS_H
#define GY_CLI_PARTS_H

#include "base/buf.h"
#include "gyre.h"

#define GY_PARTS_MOST ((size_t)1 << 18)
#define GY_PART_SHOWN 40 /* bytes of the excerpt */

struct gy_part {
    uint64_t print, key; /* hash of the part, and of the first key with it; print 0: free */
    uint64_t count;
    uint32_t node;
    uint32_t len; /* of the excerpt */
    size_t text;  /* where it is */
    bool tag;     /* different keys have it */
};

struct gy_parts {
    struct gy_part *table;
    size_t room, used;
    struct gy_buf texts;
};

/* NOMEM. Fini in every case. */
GYRE_NODISCARD int gy_parts_add(struct gy_parts *p, const gyre_map_t *m, const void *key,
                                size_t len, uint32_t node);
void gy_parts_fini(struct gy_parts *p);
struct gy_slice gy_part_text(const struct gy_parts *p, const struct gy_part *part);

#endif
