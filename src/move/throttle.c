/* SPDX-License-Identifier: Apache-2.0 */
/* throttle.c - see throttle.h. */
#include "move/throttle.h"

/* A tenth of a second's worth may be saved up: small enough that any one-second window stays within
 * 1.1 times the rate. */
#define BURST 0.1

static void fill(struct gy_bucket *b, int64_t now_us)
{
    double most = (double)b->rate * BURST;
    int64_t passed = now_us > b->filled_us ? now_us - b->filled_us : 0;
    b->tokens += (double)b->rate * (double)passed / 1e6;
    b->tokens = b->tokens > most ? most : b->tokens;
    b->filled_us = now_us;
}

void gy_bucket_set(struct gy_bucket *b, uint64_t rate, int64_t now_us)
{
    *b = (struct gy_bucket){.rate = rate, .filled_us = now_us};
}

int64_t gy_bucket_wait(struct gy_bucket *b, int64_t now_us)
{
    if (b->rate == 0) {
        return 0;
    }
    fill(b, now_us);
    return b->tokens >= 0 ? 0 : (int64_t)(-b->tokens / (double)b->rate * 1e6) + 1;
}

void gy_bucket_take(struct gy_bucket *b, uint64_t n, int64_t now_us)
{
    if (b->rate != 0) {
        fill(b, now_us);
        b->tokens -= (double)n;
    }
}

void gy_bucket_charge(struct gy_bucket *b, uint64_t n, int64_t now_us)
{
    if (b->rate == 0) {
        return;
    }
    fill(b, now_us);
    double least = -(double)b->rate * GY_BUCKET_DEBT_S;
    if (b->tokens > least) { /* an own debt may be larger: it stays as it is */
        b->tokens -= (double)n;
        b->tokens = b->tokens < least ? least : b->tokens;
    }
}
