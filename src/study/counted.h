/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counted.h - ordered sets of 64-bit positions that answer "the first at or after x, else the
 * first" and count the positions they compare with x: what a ring can be kept in. Each is built
 * once from positions in the order in which they come. Threads: any, for reading.
 */
#ifndef GY_STUDY_COUNTED_H
#define GY_STUDY_COUNTED_H

#include <stddef.h>
#include <stdint.h>

struct gy_search {
    const char *name;
    /* A structure of n positions, all different; NULL: out of memory. */
    void *(*build)(const uint64_t *positions, size_t n);
    void (*free)(void *set);
    /* The position found; *compared grows by the positions looked at. */
    uint64_t (*find)(const void *set, uint64_t x, uint64_t *compared);
    size_t (*bytes)(const void *set);
};

extern const struct gy_search gy_search_scan, gy_search_array, gy_search_tree, gy_search_skip,
    gy_search_buckets;

#endif
