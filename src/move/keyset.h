/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyset.h - a batch of keys on their way, each with its unit; and a set of 64-bit hashes for
 * counting distinct keys. Pure; one thread an object.
 */
#ifndef GY_MOVE_KEYSET_H
#define GY_MOVE_KEYSET_H

#include "base/buf.h"

struct gy_item {
    size_t off, len; /* in the keyset's bytes */
    uint32_t unit;
    bool done;     /* nothing (more) to do for it in this batch */
    bool fresh;    /* the pass meets it for the first time; set where that is asked for */
    uint64_t size; /* a guess, in bytes, before it is read */
};

struct gy_keyset {
    struct gy_buf bytes;
    struct gy_item *v;
    size_t n, cap;
};

bool gy_keyset_add(struct gy_keyset *k, struct gy_slice key, uint32_t unit);
struct gy_slice gy_keyset_key(const struct gy_keyset *k, size_t i);
void gy_keyset_sort(struct gy_keyset *k); /* by unit */
void gy_keyset_reset(struct gy_keyset *k);
void gy_keyset_fini(struct gy_keyset *k);

/* 8 bytes a key: two different keys are taken for one with a chance of n^2 / 2^65. */
struct gy_seen {
    uint64_t *v; /* open addressing; 0: free */
    size_t n, mask;
};
/* True: it was not there before. Out of memory counts as new: the figure is for people. */
bool gy_seen_add(struct gy_seen *s, struct gy_slice key);
void gy_seen_fini(struct gy_seen *s);

#endif
