/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digits.h - decimal numbers as keys, in options and in the texts of points. Threads: any.
 */
#ifndef GY_LIB_LIKE_DIGITS_H
#define GY_LIB_LIKE_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/hash/hash.h"

enum { GY_DIGITS = 20 }; /* of the greatest 64-bit number */

/* Digits, perhaps after a minus sign, from *at on; moves *at behind them. False if there are none
 * or the number has not so many bits: at most 2^64 - 1, at least -2^63 (as its two's complement).
 */
bool gy_digits_read(const char **at, const char *end, uint64_t *out);

/* A key that is one number. Lookups cannot fail, so any other text is hashed into one (XXH64): such
 * keys the imitated system would refuse. */
uint64_t gy_digits_key(const void *key, size_t len);
/* The same as a hash function of 64 bits: for keys that are used as they are. */
extern const struct gy_hash gy_hash_number;

/* Writes the digits of x, without a NUL, and returns how many. */
size_t gy_digits_write(char out[GY_DIGITS], uint64_t x);

#endif
