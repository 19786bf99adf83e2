/* SPDX-License-Identifier: Apache-2.0 */
/*
 * throttle.h - token buckets: how long to wait before the next batch. Pure: time is an argument.
 * A batch may overdraw the bucket (a big key is one piece); the next one waits until it is paid.
 */
#ifndef GY_MOVE_THROTTLE_H
#define GY_MOVE_THROTTLE_H

#include <stdint.h>

struct gy_bucket {
    uint64_t rate;     /* a second; 0: unlimited */
    double tokens;     /* negative: in debt */
    int64_t filled_us; /* when tokens was right */
};

void gy_bucket_set(struct gy_bucket *b, uint64_t rate, int64_t now_us);
/* Microseconds until something may be taken; 0: now. */
int64_t gy_bucket_wait(struct gy_bucket *b, int64_t now_us);
void gy_bucket_take(struct gy_bucket *b, uint64_t n, int64_t now_us);
/* n were taken by somebody who does not ask. They count, but who asks owes at most
 * GY_BUCKET_DEBT_S seconds' worth for them. */
#define GY_BUCKET_DEBT_S 3
void gy_bucket_charge(struct gy_bucket *b, uint64_t n, int64_t now_us);

#endif
