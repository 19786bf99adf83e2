/* SPDX-License-Identifier: Apache-2.0 */
/*
 * md5_lanes.h - one block of MD5 for as many messages as VECTORS vectors have lanes. Included by
 * md5_batch.c once a level, with NAME, LANES, VECTORS, TERNARY and TARGET defined, which it
 * undefines, and HOLD. No include guard, for that reason. Threads: any.
 *
 * word[w][i] is word w of message i's block; their digests go to out from message `at` on. Word 15
 * is not looked at: it is the high half of a length, and that is below 2^32 bits.
 *
 * Each step waits for the b of the one before; the other vectors fill the wait, and what needs no b
 * is computed first. HOLD(x) tells the compiler that x changes in a way it cannot see: else it sums
 * in another order, or takes one vector to the end before the next. TERNARY: the machine has any
 * function of three numbers as one instruction, which is then not taken apart.
 */
TARGET static void NAME(const uint32_t word[16][GY_MD5_LANES], struct gy_md5_words *out, size_t at)
{
    typedef uint32_t lanes __attribute__((vector_size(LANES * 4)));
    lanes a[VECTORS], b[VECTORS], c[VECTORS], d[VECTORS];
    /* What is read is spread over the lanes at no cost; a constant would not be. */
    const uint32_t *sine = sines;
    __asm__("" : "+r"(sine));
    for (unsigned v = 0; v < VECTORS; v++) {
        a[v] = (lanes){0} + initial[0];
        b[v] = (lanes){0} + initial[1];
        c[v] = (lanes){0} + initial[2];
        d[v] = (lanes){0} + initial[3];
    }
#pragma GCC unroll 64
    for (unsigned step = 0; step < 64; step++) {
        const unsigned turn = turns[step / 16][step % 4], w = word_of_step(step);
        const lanes k = (lanes){0} + sine[step];
#pragma GCC unroll 4
        for (unsigned v = 0; v < VECTORS; v++) {
            lanes f, early = c[v] ^ d[v], sum = a[v] + k;
            if (w < 15) {
                lanes x;
                memcpy(&x, word[w] + v * LANES, sizeof x);
                sum += x;
            }
            if (step < 16) {
                f = d[v] ^ (b[v] & early);
            } else if (step < 32 && TERNARY) {
                f = c[v] ^ (d[v] & (b[v] ^ c[v]));
            } else if (step < 32) {
                sum += ~d[v] & c[v];
                f = d[v] & b[v];
            } else if (step < 48) {
                if (!TERNARY) {
                    HOLD(early);
                }
                f = b[v] ^ early;
            } else {
                f = c[v] ^ (b[v] | ~d[v]);
            }
            HOLD(sum);
            sum += f;
            a[v] = d[v];
            d[v] = c[v];
            c[v] = b[v];
            b[v] += sum << turn | sum >> (32 - turn);
            HOLD(b[v]);
        }
    }
    for (unsigned v = 0; v < VECTORS; v++) {
        const lanes digest[4] = {a[v] + initial[0], b[v] + initial[1], c[v] + initial[2],
                                 d[v] + initial[3]};
        for (unsigned i = 0; i < 4; i++) {
            memcpy(out->word[i] + at + v * LANES, &digest[i], sizeof digest[i]);
        }
    }
}

#undef NAME
#undef LANES
#undef VECTORS
#undef TERNARY
#undef TARGET
