/* SPDX-License-Identifier: Apache-2.0 */
/* rand.c - see rand.h. A draw is a search in the table of sums: log2(n) steps, and exact. */
#include "study/rand.h"
#include "gyre.h"

#include <math.h>
#include <stdlib.h>

int gy_zipf_init(struct gy_zipf *z, size_t n, double exponent)
{
    double sum = 0;
    z->n = n;
    z->below = calloc(n, sizeof *z->below);
    if (!z->below) {
        return GYRE_NOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        sum += pow((double)(i + 1), -exponent);
        z->below[i] = sum;
    }
    for (size_t i = 0; i < n; i++) {
        z->below[i] /= sum;
    }
    return GYRE_OK;
}

void gy_zipf_fini(struct gy_zipf *z)
{
    free(z->below);
    z->below = NULL;
}

size_t gy_zipf_draw(const struct gy_zipf *z, uint64_t *state)
{
    double u = gy_rand_unit(state);
    size_t low = 0, high = z->n - 1;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (z->below[mid] > u) {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    return low;
}
