/* SPDX-License-Identifier: Apache-2.0 */
/*
 * md5_lanes.h - one block of MD5 for as many messages as a vector has lanes, two vectors at a time:
 * each step waits for the one before, and the second vector fills the wait. Included by md5.c once
 * a level, with NAME, LANES and TARGET defined; undefines them. No include guard, for that reason.
 *
 * words[w][i] is word w of message i's block, state[i] its digest as four words. Threads: any.
 */
TARGET static void NAME(const uint32_t words[16][GY_MD5_LANES], uint32_t state[][4])
{
    typedef uint32_t lanes __attribute__((vector_size(LANES * 4)));
    lanes a[2], b[2], c[2], d[2];
    for (unsigned g = 0; g < 2; g++) {
        a[g] = (lanes){0} + initial[0];
        b[g] = (lanes){0} + initial[1];
        c[g] = (lanes){0} + initial[2];
        d[g] = (lanes){0} + initial[3];
    }
#pragma GCC unroll 64
    for (unsigned step = 0; step < 64; step++) {
        const unsigned turn = turns[step / 16][step % 4];
#pragma GCC unroll 2
        for (unsigned g = 0; g < 2; g++) {
            unsigned word = step;
            lanes f, w;
            if (step < 16) {
                f = d[g] ^ (b[g] & (c[g] ^ d[g]));
            } else if (step < 32) {
                f = c[g] ^ (d[g] & (b[g] ^ c[g]));
                word = (5 * step + 1) % 16;
            } else if (step < 48) {
                f = b[g] ^ c[g] ^ d[g];
                word = (3 * step + 5) % 16;
            } else {
                f = c[g] ^ (b[g] | ~d[g]);
                word = 7 * step % 16;
            }
            memcpy(&w, words[word] + g * LANES, sizeof w);
            f += a[g] + sines[step] + w;
            a[g] = d[g];
            d[g] = c[g];
            c[g] = b[g];
            b[g] += f << turn | f >> (32 - turn);
        }
    }
    for (unsigned i = 0; i < 2 * LANES; i++) {
        state[i][0] = a[i / LANES][i % LANES] + initial[0];
        state[i][1] = b[i / LANES][i % LANES] + initial[1];
        state[i][2] = c[i / LANES][i % LANES] + initial[2];
        state[i][3] = d[i / LANES][i % LANES] + initial[3];
    }
}

#undef NAME
#undef LANES
#undef TARGET
