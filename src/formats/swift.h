/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swift.h - what a Swift builder's listing and a ring file share: devices, what each is to have of
 * all partitions by its weight, and what it has. Devices are called ip:port/device; their zone is
 * region, zone and machine, "r1/z2/10.0.0.1". Threads: one thread an object.
 */
#ifndef GY_FORMATS_SWIFT_H
#define GY_FORMATS_SWIFT_H

#include "formats/format.h"

struct gy_swift_dev {
    struct gy_slice ip, port, device; /* port n == 0: not known */
    uint64_t id, region, zone;
    double weight;
    uint64_t assigned; /* partitions, of all replicas */
    bool deleted;      /* leaves at the next rebalance */
    bool absent;       /* a hole in the list of devices */
    struct gy_mark at;
};

struct gy_swift_devs {
    struct gy_swift_dev *list;
    size_t count, room;
    double copies; /* partitions times replicas; 0: not known */
};

/* One more at the end of the list. */
GYRE_NODISCARD int gy_swift_add(struct gy_reading *r, struct gy_swift_devs *d,
                                const struct gy_swift_dev *dev);
void gy_swift_fini(struct gy_swift_devs *d);
/* A node and server of the pool; partitions: its own of the first row, NULL or "": none. */
GYRE_NODISCARD int gy_swift_node(struct gy_reading *r, struct gy_pool *p,
                                 const struct gy_swift_devs *d, size_t i, const char *partitions);
/* Facts on regions, zones, devices, on what each is to have, and notes. */
GYRE_NODISCARD int gy_swift_judge(struct gy_reading *r, struct gy_pool *p,
                                  const struct gy_swift_devs *d);
/* "100.00", "-3.5e2"; false: no number. */
bool gy_swift_number(struct gy_slice text, double *out);

#endif
