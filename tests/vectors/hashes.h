/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hashes.h - the columns of a vector file that hold hashes: what a system hashes of a key, and by
 * which function. Threads: one.
 */
#ifndef VECTORS_HASHES_H
#define VECTORS_HASHES_H

#include "vectors/vectors.h"

/* What the hash is of. free() bytes. */
struct hash_input {
    uint8_t *bytes;
    size_t len;
    bool is_number; /* the key is one: number, widened by its sign; bytes, little-endian, are its
                       own */
    uint64_t number;
};

/* The key of a row as the file's key_type and system have it; false if it is malformed. */
bool hash_input_read(const struct vfile *f, const char *shown, struct hash_input *in);

enum { HASH_CELL = 80 };

/* Writes what a column should say. HASH_NONE: it holds no hash; HASH_UNKNOWN: of no known function
 * or type. */
enum hash_known { HASH_NONE, HASH_UNKNOWN, HASH_TEXT };
enum hash_known hash_cell(const struct vfile *f, const char *column, const struct hash_input *in,
                          char out[HASH_CELL]);

/* Whatever the file's mode, its hash columns alone; refuse() if there are none. */
void check_hash_columns(const struct vfile *f, struct verdict *v);

#endif
