/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jumpback_lanes.h - jumpback for LANES keys at once, as jumpback.c has it for one. Included there
 * once a level, with NAME, LANES (of 32 bits), TARGET and these defined: MIX (gy_mix of a vector);
 * LOWER, UPPER, PICK, BITS as in lanes.h; FLAGS, a type, BELOW (of two vectors of signed numbers:
 * those flags) and SIGN (the flags of numbers' top bits). Undefines them. No include guard, for
 * that reason. Takes count keys, a multiple of LANES. Threads: any.
 *
 * Further words are drawn for all as long as one is undecided: half of the groups need one or none.
 */
TARGET static void NAME(const uint64_t *hashes, size_t count, uint32_t n, uint32_t *out)
{
    typedef uint64_t whole __attribute__((vector_size(LANES * 4)));
    typedef uint32_t half __attribute__((vector_size(LANES * 4)));
    typedef int32_t number __attribute__((vector_size(LANES * 4)));
    typedef float real __attribute__((vector_size(LANES * 4)));
    const uint32_t top = top_of(n), rest = top - 1;
    const half most = (half){0} + (n - 1), full = (half){0} + INT32_MAX;
    for (size_t i = 0; i < count; i += LANES) {
        whole a, b;
        memcpy(&a, hashes + i, sizeof a);
        memcpy(&b, hashes + i + LANES / 2, sizeof b);
        a += GY_GOLDEN;
        b += GY_GOLDEN;
        whole v = MIX(a), w = MIX(b);
        half low = (half)LOWER(v, w), high = (half)UPPER(v, w);
        half u = low ^ high, inner = u & rest;
        /* The top bit's place is the exponent of a float, which is not rounded up to the next power
         * of two if the bit after it is not set. */
        half place =
            (half) __builtin_convertvector((number)((inner & ~(inner >> 1)) | 1), real) >> 23;
        half under = full >> (127 + 31 - place);
        half odd = inner ^ inner << 16;
        odd ^= odd << 8;
        odd ^= odd << 4;
        odd ^= odd << 2;
        odd ^= odd << 1;
        half mine = (half)PICK(SIGN(odd), high, low);
        half lower = inner ^ ((inner ^ mine) & under);
        half drawn = (u & top) | ((low ^ high ^ mine) & rest);
        for (FLAGS open = BELOW(most, drawn); BITS(open); open = BELOW(most, drawn)) {
            a += GY_GOLDEN;
            b += GY_GOLDEN;
            v = MIX(a);
            w = MIX(b);
            low = (half)LOWER(v, w) & (top | rest);
            high = (half)UPPER(v, w) & (top | rest);
            low =
                (half)PICK(BELOW(most, low), high, low); /* the first of both below n, if one is */
            drawn = (half)PICK(open, low, drawn);
        }
        half found = (half)PICK(BELOW((half){0} + rest, drawn), drawn, lower);
        memcpy(out + i, &found, sizeof found);
    }
}

#undef NAME
#undef LANES
#undef TARGET
#undef MIX
#undef LOWER
#undef UPPER
#undef PICK
#undef BITS
#undef FLAGS
#undef BELOW
#undef SIGN
