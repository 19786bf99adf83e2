/* SPDX-License-Identifier: Apache-2.0 */
/* fold.h - comparing words of a request without regard to ASCII case. Pure: any thread. */
#ifndef GY_WIRE_FOLD_H
#define GY_WIRE_FOLD_H

#include "base/buf.h"

static inline uint8_t gy_fold(uint8_t c)
{
    return (uint8_t)(c - 'A') < 26 ? c | 0x20 : c;
}

/* Is the word `name` (lower case), but for case? */
static inline bool gy_fold_is(struct gy_slice word, const char *name)
{
    for (size_t i = 0; i < word.n; i++) {
        /* A NUL in the word must not match the end of the name. */
        if (gy_fold(word.p[i]) != (uint8_t)name[i] || !name[i]) {
            return false;
        }
    }
    return name[word.n] == 0;
}

#endif
