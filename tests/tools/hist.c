/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hist.c - latencies in log-linear buckets: 32 to each power of two of nanoseconds, so that a
 * quantile is right to about 3 %. One thread an object.
 */
#include "checker.h"

static unsigned bucket_of(int64_t ns)
{
    uint64_t v = ns < 32 ? 32 : (uint64_t)ns;
    unsigned log = 63U - (unsigned)__builtin_clzll(v);
    return (log - 5) * 32 + (unsigned)((v >> (log - 5)) & 31);
}

void chk_hist_add(struct chk_hist *h, int64_t ns)
{
    h->bucket[bucket_of(ns)]++;
    h->count++;
}

void chk_hist_merge(struct chk_hist *to, const struct chk_hist *from)
{
    for (unsigned i = 0; i < sizeof to->bucket / sizeof to->bucket[0]; i++) {
        to->bucket[i] += from->bucket[i];
    }
    to->count += from->count;
}

double chk_hist_ms(const struct chk_hist *h, double quantile)
{
    uint64_t want = (uint64_t)((double)h->count * quantile), sum = 0;
    for (unsigned i = 0; i < sizeof h->bucket / sizeof h->bucket[0]; i++) {
        sum += h->bucket[i];
        if (sum > want || (sum == h->count && sum > 0)) {
            return (double)((32 + (uint64_t)(i % 32)) << (i / 32)) / (double)CHK_MS;
        }
    }
    return 0;
}
