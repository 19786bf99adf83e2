/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jump_lanes.h - jump for many keys at once, bit for bit as jump.c's. Included by jump.c once a
 * level, with NAME, LANES (of 32 bits), TARGET and these defined: LOWER, UPPER, PICK, BITS as in
 * lanes.h; FLAGS, a type, and LESS (of two vectors of floats: those flags); PRODUCT, of the lower
 * halves of 64-bit lanes; MERGED, the lower halves of one and the upper ones of another; FLOOR.
 * Undefines them. No include guard, for that reason. Takes n keys, a multiple of 2 LANES. Threads:
 * any.
 *
 * The keys of a group jump until the last of them has arrived; two vectors, for each step waits for
 * the one before. Nothing is branched upon but whether all have arrived.
 *
 * The numbers are floats, of which a vector has twice as many as of doubles, and divides them
 * faster. With u = 2^-24, the key's upper bits, 1 more, the quotient and the product are each
 * rounded by up to u, so the end of a jump comes out between 1 - 9.1 u of what it is and a little
 * less than that, for it is begun 5 u too low. If 12 u more of it is still below the next whole
 * number, then so is what the published code cuts, and the whole part is the same. Else the key is
 * in doubt and done again by jump(): one in 10 000 of them for 100 nodes, one in 20 for 65 535.
 * Places are exact, and a key that has arrived stays beyond the range, for that is at most 2^20.
 */
TARGET static void NAME(const uint64_t *hashes, size_t n, uint32_t nodes, uint32_t *out)
{
    typedef uint64_t whole __attribute__((vector_size(LANES * 4)));
    typedef uint32_t half __attribute__((vector_size(LANES * 4)));
    typedef int32_t count __attribute__((vector_size(LANES * 4)));
    typedef float real __attribute__((vector_size(LANES * 4)));
    const whole factor = (whole){0} + JUMP_FACTOR;
    const half factor_low = (half){0} + (uint32_t)JUMP_FACTOR;
    const half factor_high = (half){0} + (uint32_t)(JUMP_FACTOR >> 32);
    const real range = (real){0} + (float)nodes, one = (real){0} + 1.0f;
    for (size_t i = 0; i < n; i += 2 * LANES) {
        half low[2], high[2];
        real at[2], next[2];
        FLAGS doubt[2], on[2];
#pragma GCC unroll 2
        for (unsigned g = 0; g < 2; g++) {
            whole a, b;
            memcpy(&a, hashes + i + g * LANES, sizeof a);
            memcpy(&b, hashes + i + g * LANES + LANES / 2, sizeof b);
            low[g] = (half)LOWER(a, b);
            high[g] = (half)UPPER(a, b);
            at[g] = next[g] = (real){0};
            on[g] = LESS(next[g], range);
            doubt[g] = LESS(range, next[g]); /* none */
        }
        do {
#pragma GCC unroll 2
            for (unsigned g = 0; g < 2; g++) {
                at[g] = (real)PICK(on[g], next[g], at[g]);
                whole even = (whole)PRODUCT(low[g], factor) + 1;
                whole odd = (whole)PRODUCT((whole)low[g] >> 32, factor) + 1;
                high[g] =
                    high[g] * factor_low + low[g] * factor_high + (half)MERGED(even >> 32, odd);
                low[g] = (half)MERGED(even, odd << 32);
                real divisor = __builtin_convertvector((count)(high[g] >> 1), real) + one;
                real end = (next[g] + one) * (0x1p31f * (1 - 5 * 0x1p-24f) / divisor);
                next[g] = (real)FLOOR(end);
                on[g] = LESS(next[g], range);
                doubt[g] |= on[g] & LESS(next[g] + one, end * (1 + 12 * 0x1p-24f));
            }
        } while (BITS(on[0] | on[1]));
#pragma GCC unroll 2
        for (unsigned g = 0; g < 2; g++) {
            count found = __builtin_convertvector(at[g], count);
            memcpy(out + i + g * LANES, &found, sizeof found);
            for (unsigned bits = BITS(doubt[g]); bits; bits &= bits - 1) {
                size_t k = i + g * LANES + (unsigned)__builtin_ctz(bits);
                out[k] = jump(hashes[k], nodes);
            }
        }
    }
}

#undef NAME
#undef LANES
#undef TARGET
#undef LOWER
#undef UPPER
#undef PICK
#undef BITS
#undef FLAGS
#undef LESS
#undef PRODUCT
#undef MERGED
#undef FLOOR
