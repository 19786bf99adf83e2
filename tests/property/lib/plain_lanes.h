/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_lanes.h - what kernels of 16 lanes are given instead of AVX-512's instructions, in plain C:
 * the kernels' own source runs so on every machine. Flags are a bit a lane. Used where `whole`,
 * `half`, `real` and `number` are the kernel's types. Threads: any.
 */
#ifndef TEST_PLAIN_LANES_H
#define TEST_PLAIN_LANES_H

#include <stdint.h>

#include "lib/place/mix.h"

enum { PLAIN_LANES = 16 };

#define EACH_LANE(l) for (unsigned l = 0; l < PLAIN_LANES; l++)

/* Of 8 lanes of 64 bits, as are `whole`. */
#define PLAIN_MIX(z)                       \
    ({                                     \
        whole m_ = (z);                    \
        for (unsigned l = 0; l < 8; l++) { \
            m_[l] = gy_mix(m_[l]);         \
        }                                  \
        m_;                                \
    })

#define PLAIN_HALVES(a, b, shift)                    \
    ({                                               \
        whole a_ = (a), b_ = (b);                    \
        half r_;                                     \
        EACH_LANE(l)                                 \
        {                                            \
            uint64_t v_ = l < 8 ? a_[l] : b_[l - 8]; \
            r_[l] = (uint32_t)(v_ >> (shift));       \
        }                                            \
        r_;                                          \
    })
#define PLAIN_LOWER(a, b) PLAIN_HALVES(a, b, 0)
#define PLAIN_UPPER(a, b) PLAIN_HALVES(a, b, 32)

#define PLAIN_LESS(type, x, y)                    \
    ({                                            \
        type x_ = (type)(x), y_ = (type)(y);      \
        unsigned f_ = 0;                          \
        EACH_LANE(l)                              \
        {                                         \
            f_ |= (unsigned)(x_[l] < y_[l]) << l; \
        }                                         \
        (uint16_t) f_;                            \
    })

#define PLAIN_PICK(flags, a, b)                     \
    ({                                              \
        unsigned bits_ = (flags);                   \
        half p_ = (half)(a), q_ = (half)(b);        \
        EACH_LANE(l)                                \
        {                                           \
            p_[l] = bits_ >> l & 1 ? p_[l] : q_[l]; \
        }                                           \
        p_;                                         \
    })

#define PLAIN_PRODUCT(x, y)     (((whole)(x)&UINT32_MAX) * ((whole)(y)&UINT32_MAX))
#define PLAIN_MERGED(even, odd) (((whole)(even)&UINT32_MAX) | ((whole)(odd) >> 32 << 32))

#define PLAIN_FLOOR(x)                                               \
    ({                                                               \
        real x_ = (x);                                               \
        EACH_LANE(l)                                                 \
        {                                                            \
            x_[l] = x_[l] < 0x1p23f ? (float)(int32_t)x_[l] : x_[l]; \
        }                                                            \
        x_;                                                          \
    })

#endif
