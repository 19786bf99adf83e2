/* SPDX-License-Identifier: Apache-2.0 */
/*
 * num.h - numbers as people write them in files and options: whole numbers, exact decimals, sizes
 * ("64MB"), durations ("1s"). No locale, no floating point on the way in: what is read is what was
 * written, or an error. Threads: any.
 *
 * Readers return GYRE_OK, GYRE_SYNTAX (not such a number at all) or GYRE_RANGE (a number that does
 * not fit); `*out` is touched only on success.
 */
#ifndef GY_BASE_NUM_H
#define GY_BASE_NUM_H

#include "base/buf.h"
#include "gyre.h"

#define GY_NUM_TEXT 32 /* room every formatter below needs, the NUL included */

GYRE_NODISCARD int gy_num_uint(struct gy_slice s, uint64_t *out);
/* "2", "0.25", "1e-3" in millionths. Finer than a millionth, or negative: RANGE. */
GYRE_NODISCARD int gy_num_micros(struct gy_slice s, uint64_t *out);
/* Bytes. Units B, KB, MB, GB, TB (also K or KiB, ...), all powers of 1024, in any case. */
GYRE_NODISCARD int gy_num_size(struct gy_slice s, uint64_t *out);
/* Milliseconds. Units ms, s, m, h; only 0 may stand without. */
GYRE_NODISCARD int gy_num_duration(struct gy_slice s, uint64_t *out);

/* The nearest double to a number of millionths and back: exact up to 2^53 millionths. */
double gy_num_from_micros(uint64_t micros);
uint64_t gy_num_to_micros(double v);

/* The shortest text the readers above take back to the same value. Return out. */
char *gy_num_fmt_micros(char out[GY_NUM_TEXT], uint64_t micros);
char *gy_num_fmt_size(char out[GY_NUM_TEXT], uint64_t bytes);
char *gy_num_fmt_duration(char out[GY_NUM_TEXT], uint64_t ms);

#endif
