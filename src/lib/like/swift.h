/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swift.h - OpenStack Swift's ring as its file has it: rows of devices, one row a replica. Threads:
 * any; nothing here allocates.
 */
#ifndef GY_LIB_LIKE_SWIFT_H
#define GY_LIB_LIKE_SWIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gy_swift_device {
    bool there; /* false: removed */
    uint64_t region, zone;
    const char *ip;
};

struct gy_swift_ring {
    const struct gy_swift_device *device; /* by number */
    uint32_t devices;
    unsigned part_power, part_shift;
    const uint16_t *table; /* of row r and partition p: [r << part_power | p] */
    const uint32_t *len;   /* of each row: the last may be shorter */
    uint32_t rows;
};

struct gy_swift_secret {
    const char *prefix, *suffix;
    size_t prefix_len, suffix_len;
};

/* The partition of account[/container[/object]]. */
uint32_t gy_swift_partition(const struct gy_swift_secret *s, const void *path, size_t len,
                            unsigned part_power);

/* Distinct devices of the partition: row by row; and then where its data goes when they fail, of
 * which at most `want` are written behind the n in out. Both return how many are in out. */
size_t gy_swift_primaries(const struct gy_swift_ring *r, uint32_t partition, uint32_t *out);
size_t gy_swift_handoffs(const struct gy_swift_ring *r, uint32_t partition, uint32_t *out, size_t n,
                         size_t want);

#endif
