/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.c - SHA-256 (FIPS 180-4), one call for the whole message. Threads: any.
 */
#include <string.h>

#include "gyre.h"
#include "lib/hash/hash.h"

#define BLOCK 64u

/* FIPS 180-4 section 4.2.2: fractional parts of the cube roots of the first 64 primes. */
static const uint32_t roots[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

/* One step of FIPS 180-4 section 6.2.2, 3, with the names there; k is a root and a word. The two
 * variables that change do so in place, and the caller turns the names by one instead. */
static inline void step(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f,
                        uint32_t g, uint32_t *h, uint32_t k)
{
    uint32_t choose = (e & f) ^ (~e & g), most = (a & b) ^ (a & c) ^ (b & c);
    uint32_t one = *h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choose + k;
    *d += one;
    *h = one + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + most;
}

static void absorb(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64];
    for (unsigned i = 0; i < 16; i++) {
        w[i] = gy_load_be32(block + 4 * i);
    }
    for (unsigned i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (unsigned i = 0; i < 64; i += 8) { /* eight turns bring every name back */
        step(a, b, c, &d, e, f, g, &h, roots[i] + w[i]);
        step(h, a, b, &c, d, e, f, &g, roots[i + 1] + w[i + 1]);
        step(g, h, a, &b, c, d, e, &f, roots[i + 2] + w[i + 2]);
        step(f, g, h, &a, b, c, d, &e, roots[i + 3] + w[i + 3]);
        step(e, f, g, &h, a, b, c, &d, roots[i + 4] + w[i + 4]);
        step(d, e, f, &g, h, a, b, &c, roots[i + 5] + w[i + 5]);
        step(c, d, e, &f, g, h, a, &b, roots[i + 6] + w[i + 6]);
        step(b, c, d, &e, f, g, h, &a, roots[i + 7] + w[i + 7]);
    }
    const uint32_t after[8] = {a, b, c, d, e, f, g, h};
    for (unsigned i = 0; i < 8; i++) {
        state[i] += after[i];
    }
}

void gyre_hash_sha256(const void *data, size_t len, uint8_t digest[32])
{
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const uint8_t *in = data;
    size_t whole = len / BLOCK * BLOCK, rest = len - whole;
    for (size_t i = 0; i < whole; i += BLOCK) {
        absorb(state, in + i);
    }

    uint8_t tail[2 * BLOCK] = {0};
    size_t tail_len = rest < BLOCK - 8 ? BLOCK : 2 * BLOCK;
    if (rest) {
        memcpy(tail, in + whole, rest);
    }
    tail[rest] = 0x80;
    uint64_t bits = (uint64_t)len * 8;
    for (unsigned i = 0; i < 8; i++) {
        tail[tail_len - 1 - i] = (uint8_t)(bits >> 8 * i);
    }
    for (size_t i = 0; i < tail_len; i += BLOCK) {
        absorb(state, tail + i);
    }

    for (unsigned i = 0; i < 32; i++) {
        digest[i] = (uint8_t)(state[i / 4] >> 8 * (3 - i % 4));
    }
}

static gy_u128 sha256_value(const void *data, size_t len)
{
    uint8_t digest[32];
    gyre_hash_sha256(data, len, digest);
    return gy_wide(gy_load_be64(digest), gy_load_be64(digest + 8));
}

const struct gy_hash gy_hash_sha256 = {"sha256", 128, sha256_value};
