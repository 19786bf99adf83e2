/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hashes.c - files of mode `hash`, and the hash columns of all others: each row's value made by the
 * function that its column or header names, and written as the file writes it. Threads: one.
 */
#include "vectors/hashes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gyre.h"
#include "lib/hash/bytes.h"
#include "lib/hash/functions.h"
#include "lib/hash/table.h"

static const char *const known_fields[] = {"system",  "version",     "mode",      "hash",
                                           "columns", "column2",     "key_type",  "seed",
                                           "note",    "siphash_key", "hash_type", NULL};

/* ---- numbers as the files write them ---- */

static void write_decimal(gy_u128 x, char out[HASH_CELL])
{
    char digits[40];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + (unsigned)(x % 10));
        x /= 10;
    } while (x);
    for (size_t i = 0; i < n; i++) {
        out[i] = digits[n - 1 - i];
    }
    out[n] = 0;
}

static void write_hex(const uint8_t *bytes, size_t len, bool capitals, char out[HASH_CELL])
{
    for (size_t i = 0; i < len; i++) {
        snprintf(out + 2 * i, 3, capitals ? "%02X" : "%02x", bytes[i]);
    }
}

/* False for a hash_type that there is not. */
static bool write_typed(const char *type, uint64_t x, char out[HASH_CELL])
{
    if (!type || strcmp(type, "uint64") == 0 || strcmp(type, "uint32") == 0) {
        snprintf(out, HASH_CELL, "%" PRIu64, x);
    } else if (strcmp(type, "int64") == 0) {
        snprintf(out, HASH_CELL, "%" PRId64, (int64_t)x);
    } else if (strcmp(type, "int32") == 0) {
        snprintf(out, HASH_CELL, "%" PRId32, (int32_t)x);
    } else {
        return false;
    }
    return true;
}

/* ---- one function of one input ---- */

/* seed=N, or seed=FUNCTION:N,...; *given says whether there is one for this function. */
static bool read_seed(const struct vfile *f, const char *function, uint64_t *seed, bool *given)
{
    const char *text = vf_get(f, "seed");
    size_t name_len = strlen(function);
    *given = text != NULL;
    if (!text || !strchr(text, ':')) {
        return !text || vf_number(text, seed);
    }
    for (*given = false; *text;) {
        size_t len = strcspn(text, ",");
        if (strncmp(text, function, name_len) == 0 && text[name_len] == ':') {
            char number[24];
            snprintf(number, sizeof number, "%.*s", (int)(len - name_len - 1), text + name_len + 1);
            *given = true;
            return vf_number(number, seed);
        }
        text += len + (text[len] == ',');
    }
    return true;
}

static bool read_key(const struct vfile *f, uint8_t key[16], bool *given)
{
    const char *text = vf_get(f, "siphash_key");
    *given = text != NULL;
    if (text && strlen(text) != 32) {
        return false;
    }
    for (size_t i = 0; text && i < 16; i++) {
        char pair[3] = {text[2 * i], text[2 * i + 1], 0}, *end;
        key[i] = (uint8_t)strtoul(pair, &end, 16);
        if (*end) {
            return false;
        }
    }
    return true;
}

/* With the seed or key the header gives, if the function takes one. */
static bool apply(const struct vfile *f, const char *function, const struct gy_hash *hash,
                  const void *data, size_t len, gy_u128 *out)
{
    uint64_t seed = 0;
    uint8_t key[16];
    bool seeded = false, keyed = false;
    if ((hash->seeded && !read_seed(f, function, &seed, &seeded)) ||
        (hash->keyed && !read_key(f, key, &keyed))) {
        return false;
    }
    *out = seeded  ? hash->seeded(data, len, seed)
           : keyed ? hash->keyed(data, len, key)
                   : hash->value(data, len);
    return true;
}

/* ---- ClickHouse: functions of numbers, and of several arguments ---- */

/* One argument: the key, or with a type the key converted to it. */
static bool hash_argument(const struct vfile *f, const char *function, const char *type,
                          const struct hash_input *in, gy_u128 *out)
{
    char text[1 + HASH_CELL];
    uint8_t bytes[8];
    const void *data = in->bytes;
    size_t len = in->len;
    uint64_t n = in->number;
    bool number = in->is_number;
    if (*type && !number) {
        return false;
    }
    if (strcmp(type, "string") == 0) {
        bool below = vf_get(f, "key_type")[0] == 'i' && (int64_t)n < 0;
        text[0] = '-';
        write_decimal((gy_u128)(below ? -n : n), text + below);
        data = text;
        len = strlen(text);
        number = false;
    } else if (*type) {
        len = strcmp(type, "uint32") == 0 ? 4 : 8;
        n = len == 4 ? (uint32_t)n : n;
        if (len == 8 && strcmp(type, "int64") != 0 && strcmp(type, "uint64") != 0) {
            return false;
        }
        gy_store_le32(bytes, (uint32_t)n);
        gy_store_le32(bytes + 4, (uint32_t)(n >> 32));
        data = bytes;
    }
    if (number && strcmp(function, "intHash32") == 0) {
        *out = gy_int_hash32(n);
        return true;
    }
    if (number && (strcmp(function, "intHash64") == 0 || strcmp(function, "cityHash64") == 0)) {
        bool own = len == 4 && function[0] == 'c'; /* cityHash64 takes an int32 for the uint32 */
        *out = gy_int_hash64(own ? (uint32_t)n : n);
        return true;
    }
    const struct gy_hash *hash = gy_hash_find_alias(vf_get(f, "system"), function);
    return hash && apply(f, function, hash, data, len, out);
}

/* How a further argument's hash joins the first's. */
static bool fold(const char *function, uint64_t next, gy_u128 *sum)
{
    uint8_t both[16];
    uint64_t first = (uint64_t)*sum;
    if (strcmp(function, "cityHash64") == 0) {
        *sum = gy_city_fold(first, next);
        return true;
    }
    for (unsigned i = 0; i < 8; i++) {
        both[i] = (uint8_t)(first >> 8 * i);
        both[8 + i] = (uint8_t)(next >> 8 * i);
    }
    *sum = gy_hash_siphash24.value(both, sizeof both);
    return strcmp(function, "sipHash64") == 0;
}

/* FUNCTION[:TYPE[:TYPE...]] of the key; bits is of the answer. */
static bool hash_named(const struct vfile *f, const char *spec, const struct hash_input *in,
                       gy_u128 *out, unsigned *bits)
{
    char copy[128], *rest = copy;
    if (strlen(spec) >= sizeof copy) {
        return false;
    }
    strcpy(copy, spec);
    const char *function = strsep(&rest, ":"), *type = rest ? strsep(&rest, ":") : "";
    const struct gy_hash *hash = gy_hash_find_alias(vf_get(f, "system"), function);
    *bits = hash ? hash->bits : 64;
    if (!hash_argument(f, function, type, in, out)) {
        return false;
    }
    while (rest) {
        gy_u128 next;
        if (!hash_argument(f, function, strsep(&rest, ":"), in, &next) ||
            !fold(function, (uint64_t)next, out)) {
            return false;
        }
    }
    return true;
}

/* The bytes of each 64-bit (or shorter) word, lowest first: Guava's asBytes, ClickHouse's. */
static bool hex_named(const struct vfile *f, const char *spec, const struct hash_input *in,
                      char out[HASH_CELL])
{
    gy_u128 x;
    unsigned bits;
    uint8_t bytes[32];
    if (!hash_named(f, spec, in, &x, &bits)) {
        return false;
    }
    if (strcmp(spec, "sha256") == 0) { /* whole; the library's hash is its first half */
        gyre_hash_sha256(in->bytes, in->len, bytes);
        write_hex(bytes, sizeof bytes, false, out);
        return true;
    }
    x = bits == 128 ? x << 64 | x >> 64 : x;
    for (unsigned i = 0; i < bits / 8; i++) {
        bytes[i] = (uint8_t)(x >> 8 * i);
    }
    write_hex(bytes, bits / 8, strcmp(vf_get(f, "system"), "clickhouse") == 0, out);
    return true;
}

/* ---- columns with a meaning of their own ---- */

static bool digest_cell(const struct vfile *f, const struct hash_input *in, char out[HASH_CELL])
{
    uint8_t digest[20];
    const char *hash = vf_get(f, "hash");
    if (hash && strcmp(hash, "sha1") == 0) {
        gy_sha1(in->bytes, in->len, digest);
    } else if (hash && strcmp(hash, "ripemd160") == 0) {
        gy_ripemd160(in->bytes, in->len, digest);
    } else {
        return false;
    }
    write_hex(digest, sizeof digest, false, out);
    return true;
}

/* Cassandra: a signed number of 64 bits of which one is spared, or the absolute value of one of
 * 128. */
static bool token_cell(const struct vfile *f, const struct hash_input *in, char out[HASH_CELL])
{
    const char *partitioner = vf_get(f, "partitioner");
    const struct gy_hash *hash = gy_hash_find_alias("cassandra", partitioner ? partitioner : "");
    if (!hash || !in->bytes) {
        return false;
    }
    gy_u128 h = hash->value(in->bytes, in->len);
    if (hash == &gy_hash_md5) {
        write_decimal(h >> 127 ? -h : h, out);
        if (!in->len) {
            strcpy(out, "-1");
        }
        return true;
    }
    int64_t token = (int64_t)(h >> 64);
    token = !in->len ? INT64_MIN : token == INT64_MIN ? INT64_MAX : token;
    snprintf(out, HASH_CELL, "%" PRId64, token);
    return true;
}

/* Vitess: both are the 8 bytes of a number, of `hash` the highest first, of `xxhash` the lowest. */
static bool keyspace_cell(const struct vfile *f, const struct hash_input *in, char out[HASH_CELL])
{
    const char *hash = vf_get(f, "hash");
    bool numbers = hash && strcmp(hash, "hash") == 0;
    uint8_t bytes[8];
    if (numbers != in->is_number || (!numbers && (!hash || strcmp(hash, "xxhash") != 0))) {
        return false;
    }
    uint64_t x = numbers ? gy_des_zero_key(in->number) : gy_xxh64(in->bytes, in->len, 0);
    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(x >> (numbers ? 56 - 8 * i : 8 * i));
    }
    write_hex(bytes, sizeof bytes, false, out);
    return true;
}

/* The column `hash`, or the second of two with column2: the key's hash by the header's function;
 * where requests and points have one each, the request's. */
static bool key_hash_cell(const struct vfile *f, const struct hash_input *in, char out[HASH_CELL])
{
    const char *function = vf_get(f, "request_hash");
    gy_u128 x;
    unsigned bits;
    function = function ? function : vf_get(f, "hash");
    return function && hash_named(f, function, in, &x, &bits) &&
           write_typed(vf_get(f, "hash_type"), (uint64_t)x, out);
}

static const struct {
    const char *column;
    bool (*make)(const struct vfile *f, const struct hash_input *in, char out[HASH_CELL]);
} cells[] = {
    {"hash", key_hash_cell},
    {"digest", digest_cell},
    {"token", token_cell},
    {"keyspace_id", keyspace_cell},
};

enum hash_known hash_cell(const struct vfile *f, const char *column, const struct hash_input *in,
                          char out[HASH_CELL])
{
    gy_u128 x;
    unsigned bits;
    const char *second = vf_get(f, "column2");
    if (strncmp(column, "hash@", 5) == 0) {
        bool good = hash_named(f, column + 5, in, &x, &bits);
        write_decimal(good ? x : 0, out);
        return good ? HASH_TEXT : HASH_UNKNOWN;
    }
    if (strncmp(column, "hex@", 4) == 0) {
        return hex_named(f, column + 4, in, out) ? HASH_TEXT : HASH_UNKNOWN;
    }
    if (second && strcmp(second, "uint32") == 0 && strcmp(column, "node") == 0) {
        return key_hash_cell(f, in, out) ? HASH_TEXT : HASH_UNKNOWN;
    }
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        if (strcmp(column, cells[i].column) == 0) {
            return cells[i].make(f, in, out) ? HASH_TEXT : HASH_UNKNOWN;
        }
    }
    return HASH_NONE;
}

/* ---- files ---- */

/* False after fail or refuse. only: beside the key, all columns must be hashes. */
static bool check_row(const struct vfile *f, const struct vf_row *r, bool only, struct verdict *v)
{
    const char *shown = r->column[vf_column(f, "key")];
    struct hash_input in;
    bool good = hash_input_read(f, shown, &in);
    if (!good) {
        fail(v, "line %u: malformed key %s", r->line, shown);
    }
    for (size_t i = 0; good && i < f->columns; i++) {
        char got[HASH_CELL];
        if (strcmp(f->column[i], "key") == 0) {
            continue;
        }
        enum hash_known known = hash_cell(f, f->column[i], &in, got);
        if (known == HASH_UNKNOWN || (only && known == HASH_NONE)) {
            refuse(v, "column '%s': no such hash function or type is known", f->column[i]);
            good = false;
        } else if (known == HASH_TEXT && strcmp(r->column[i], got) != 0) {
            fail(v, "line %u: key %s: %s: expected %s, got %s", r->line, shown, f->column[i],
                 r->column[i], got);
            good = false;
        }
    }
    free(in.bytes);
    return good;
}

static void check_rows(const struct vfile *f, bool only, struct verdict *v)
{
    if (vf_column(f, "key") < 0 || f->columns < 2 || !vf_get(f, "system")) {
        refuse(v, "no column `key`, or nothing beside it");
        return;
    }
    for (size_t i = 0; i < f->rows && !v->refused; i++) {
        if (check_row(f, &f->row[i], only, v)) {
            pass(v);
        }
    }
}

void check_hashes(const struct vfile *f, struct verdict *v)
{
    const char *strange = vf_strange_field(f, known_fields), *mode = vf_get(f, "mode");
    if (strange) {
        refuse(v, "unknown header field '%s'", strange);
    } else if (!mode || strcmp(mode, "hash") != 0) {
        refuse(v, "unknown mode '%s'", mode ? mode : "");
    } else {
        check_rows(f, true, v);
    }
}

void check_hash_columns(const struct vfile *f, struct verdict *v)
{
    struct hash_input none = {0};
    char out[HASH_CELL];
    for (size_t i = 0; i < f->columns; i++) {
        if (hash_cell(f, f->column[i], &none, out) != HASH_NONE) {
            check_rows(f, false, v);
            return;
        }
    }
    refuse(v, "no column holds a hash");
}
