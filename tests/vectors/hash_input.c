/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_input.c - a row's key as the bytes its system hashes. Most hash the key as it is; some wrap
 * it first: Elasticsearch in UTF-16, MongoDB and Aerospike with its type, Riak as an Erlang term.
 * Threads: one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vectors/hashes.h"

/* Bytes put one after the other; they are never more than the caller made room for. */
static void put(struct hash_input *in, const void *bytes, size_t len)
{
    if (len) {
        memcpy(in->bytes + in->len, bytes, len);
        in->len += len;
    }
}

static void put_byte(struct hash_input *in, unsigned byte)
{
    in->bytes[in->len++] = (uint8_t)byte;
}

static void put_le(struct hash_input *in, uint64_t x, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        put_byte(in, (unsigned)(x >> 8 * i) & 0xff);
    }
}

static void put_be(struct hash_input *in, uint64_t x, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0;) {
        put_byte(in, (unsigned)(x >> 8 * i) & 0xff);
    }
}

static void make_room(struct hash_input *in, size_t room)
{
    in->bytes = malloc(room + 1);
    if (!in->bytes) {
        abort();
    }
}

static bool read_int64(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    *out = (uint64_t)n;
    return *text && !*end && !errno;
}

/* The integer types, by name. */
static const struct integer {
    const char *name;
    unsigned bytes;
    bool sign;
} integers[] = {{"int32", 4, true}, {"int64", 8, true}, {"uint32", 4, false}, {"uint64", 8, false}};

static const struct integer *find_integer(const char *type)
{
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        if (strcmp(type, integers[i].name) == 0) {
            return &integers[i];
        }
    }
    return NULL;
}

static bool read_number(const struct integer *type, const char *text, struct hash_input *in)
{
    uint64_t n = 0;
    bool good = type->sign ? read_int64(text, &n) : vf_number(text, &n);
    if (type->bytes == 4) {
        good = good && n == (type->sign ? (uint64_t)(int32_t)n : (uint32_t)n);
    }
    in->is_number = true;
    in->number = n;
    make_room(in, type->bytes);
    put_le(in, n, type->bytes);
    return good;
}

/* The code point at *at of valid UTF-8; malformed text gives some other and ends in time, as the
 * bytes are followed by a NUL. */
static uint32_t next_code(const uint8_t *text, size_t len, size_t *at)
{
    static const uint8_t bits[4] = {0x7f, 0x1f, 0x0f, 0x07};
    uint8_t lead = text[(*at)++];
    unsigned more = lead < 0xc0 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    uint32_t code = lead & bits[more];
    while (more-- && *at < len) {
        code = code << 6 | (text[(*at)++] & 0x3f);
    }
    return code;
}

/* Lucene hashes the UTF-16 code units, each low byte first. */
static void make_utf16(const uint8_t *text, size_t len, struct hash_input *in)
{
    make_room(in, 4 * len);
    for (size_t at = 0; at < len;) {
        uint32_t code = next_code(text, len, &at);
        if (code < 0x10000) {
            put_le(in, code, 2);
        } else {
            put_le(in, 0xd800 + ((code - 0x10000) >> 10), 2);
            put_le(in, 0xdc00 + (code & 0x3ff), 2);
        }
    }
}

/* term_to_binary({Bucket, Key}): version, tuple of two, two binaries. */
static bool make_term(const struct vfile *f, const uint8_t *key, size_t len, struct hash_input *in)
{
    const char *shown = vf_get(f, "bucket_name");
    size_t bucket_len = 0;
    char *bucket = shown ? vf_decode(shown, strlen(shown), &bucket_len) : NULL;
    if (!bucket) {
        return false;
    }
    make_room(in, 13 + bucket_len + len);
    put(in, "\x83\x68\x02\x6d", 4);
    put_be(in, bucket_len, 4);
    put(in, bucket, bucket_len);
    put(in, "\x6d", 1);
    put_be(in, len, 4);
    put(in, key, len);
    free(bucket);
    return true;
}

/* SET|TYPE|VALUE; the type is a byte, an integer 8 bytes with the highest first. */
static bool read_record(const char *shown, struct hash_input *in)
{
    const char *bar = strchr(shown, '|'), *second = bar ? strchr(bar + 1, '|') : NULL;
    size_t set_len, len;
    if (!second) {
        return false;
    }
    char *set = vf_decode(shown, (size_t)(bar - shown), &set_len);
    char *value = vf_decode(second + 1, strlen(second + 1), &len);
    bool good = set && value;
    if (good) {
        size_t type_len = (size_t)(second - bar - 1);
        uint64_t n = 0;
        make_room(in, set_len + 9 + len);
        put(in, set, set_len);
        if (type_len == 3 && memcmp(bar + 1, "int", 3) == 0) {
            good = read_int64(value, &n);
            put_byte(in, 1);
            put_be(in, n, 8);
        } else {
            bool text = type_len == 3 && memcmp(bar + 1, "str", 3) == 0;
            good = text || (type_len == 4 && memcmp(bar + 1, "blob", 4) == 0);
            put_byte(in, text ? 3 : 4);
            put(in, value, len);
        }
    }
    free(set);
    free(value);
    return good;
}

static bool put_object_id(struct hash_input *in, const char *hex, size_t len)
{
    for (size_t i = 0; i + 1 < len && i < 24; i += 2) {
        char pair[3] = {hex[i], hex[i + 1], 0}, *end;
        put_byte(in, (unsigned)strtoul(pair, &end, 16));
        if (*end) {
            return false;
        }
    }
    return len == 24;
}

/* MongoDB's canonical types. */
static const struct {
    const char *name;
    unsigned type;
} kinds[] = {{"int", 10}, {"str", 15}, {"oid", 35}, {"bool", 40}, {"date", 45}};

/* TYPE:VALUE; seed and type as 4 bytes each, then the value as BSON has it. */
static bool read_typed(const struct vfile *f, const char *shown, struct hash_input *in)
{
    const char *seed = vf_get(f, "seed");
    size_t type_len = strcspn(shown, ":"), k = 0, len;
    uint64_t n = 0;
    if (!shown[type_len] || !seed || !read_int64(seed, &n)) {
        return false;
    }
    while (k < 5 && (strlen(kinds[k].name) != type_len || memcmp(kinds[k].name, shown, type_len))) {
        k++;
    }
    const char *text = shown + type_len + 1;
    char *value = k < 5 ? vf_decode(text, strlen(text), &len) : NULL;
    if (!value) {
        return false;
    }
    bool good = true;
    make_room(in, 13 + len + 12);
    put_le(in, n, 4);
    put_le(in, kinds[k].type, 4);
    switch (kinds[k].type) {
    case 15:
        put_le(in, len + 1, 4);
        put(in, value, len + 1); /* vf_decode ends with a NUL */
        break;
    case 35:
        good = put_object_id(in, value, len);
        break;
    case 40:
        good = strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
        put_byte(in, strcmp(value, "true") == 0);
        break;
    default:
        good = read_int64(value, &n);
        put_le(in, n, 8);
        break;
    }
    free(value);
    return good;
}

bool hash_input_read(const struct vfile *f, const char *shown, struct hash_input *in)
{
    const char *type = vf_get(f, "key_type"), *system = vf_get(f, "system");
    memset(in, 0, sizeof *in);
    type = type ? type : "bytes";
    system = system ? system : "";
    if (find_integer(type)) {
        return read_number(find_integer(type), shown, in);
    }
    if (strcmp(type, "set-type-value") == 0) {
        return read_record(shown, in);
    }
    if (strcmp(type, "type-value") == 0) {
        return read_typed(f, shown, in);
    }
    if (strcmp(type, "bytes") != 0 && strcmp(type, "utf8") != 0) {
        return false;
    }
    in->bytes = (uint8_t *)vf_decode(shown, strlen(shown), &in->len);
    if (!in->bytes) {
        return false;
    }
    uint8_t *key = in->bytes;
    size_t len = in->len;
    bool term = strcmp(system, "riak") == 0, utf16 = strcmp(system, "elasticsearch") == 0;
    if (!term && !utf16) {
        return true;
    }
    *in = (struct hash_input){0};
    if (utf16) {
        make_utf16(key, len, in);
    }
    bool good = utf16 || make_term(f, key, len, in);
    free(key);
    return good;
}
