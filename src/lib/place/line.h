/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h - one cache line of the ring's index: a stretch of the ring, as many points from its
 * beginning on as fit, and how many of them are below a key. A position is cut to where in the
 * stretch it is, in 2^15ths; those past its end stand at the last. SSE2 is part of every x86-64 and
 * compares signed numbers only, which is why it is not 2^16ths; elsewhere the loop is left to the
 * compiler. All count the same, and a test compares them. Threads: any.
 */
#ifndef GY_LIB_LINE_H
#define GY_LIB_LINE_H

#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define GY_LINE       14u
#define GY_LINE_LANES 16u /* what one comparison takes: half the line */
#define GY_LINE_PAST  0x7fffu

struct gy_line {
    uint16_t at[GY_LINE_LANES]; /* ascending; the last two are 0, and no points */
    uint16_t owner[GY_LINE];
    uint32_t first; /* the first one's number on the ring */
};
_Static_assert(sizeof(struct gy_line) == 64, "one cache line");

static inline unsigned gy_line_below_plain(const struct gy_line *line, uint16_t x)
{
    unsigned n = 0;
    for (unsigned i = 0; i < GY_LINE; i++) {
        n += line->at[i] < x;
    }
    return n;
}

#ifdef __SSE2__
/* A bit for each lane that is below; what it says of the last two is of no use. */
static inline __attribute__((always_inline)) unsigned gy_line_mask(const struct gy_line *line,
                                                                   uint16_t x)
{
    const __m128i *at = (const __m128i *)(const void *)line;
    __m128i key = _mm_set1_epi16((short)x);
    __m128i low = _mm_cmplt_epi16(_mm_load_si128(at), key);
    __m128i high = _mm_cmplt_epi16(_mm_load_si128(at + 1), key);
    return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(low, high));
}

/* The zeros begin where the numbers stop being below. */
static inline unsigned gy_line_below(const struct gy_line *line, uint16_t x)
{
    return (unsigned)__builtin_ctz(~gy_line_mask(line, x) | 1u << GY_LINE);
}

/* The same in less, where counting bits is one instruction. */
static inline __attribute__((always_inline)) unsigned gy_line_count(const struct gy_line *line,
                                                                    uint16_t x)
{
    return (unsigned)__builtin_popcount(gy_line_mask(line, x) & ((1u << GY_LINE) - 1));
}
#else
#define gy_line_below gy_line_below_plain
#endif

/* Whether the point that `below` names is the key's. Not if its cut is the key's too, for then the
 * whole positions decide; nor if all of the line's are below: what stands after them is 0. */
static inline int gy_line_tells(const struct gy_line *line, unsigned below, uint16_t x)
{
    return line->at[below] > x;
}

#endif
