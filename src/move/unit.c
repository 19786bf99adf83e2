/* SPDX-License-Identifier: Apache-2.0 */
/* unit.c - see unit.h. */
#include "move/unit.h"

#define XXH_INLINE_ALL
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#define CHUNK_SEED 0x6779726575ULL /* "gyreu" */
#define TAG_HEX    16

static const char *const state_names[] = {
#define UNIT_NAME(name, text) text,
    GY_UNIT_STATES(UNIT_NAME)
#undef UNIT_NAME
};

const char *gy_unit_state_name(enum gy_unit_state s)
{
    return (unsigned)s < GY_UNIT_STATE_COUNT ? state_names[s] : "?";
}

bool gy_unit_state_parse(const char *text, enum gy_unit_state *out)
{
    for (unsigned i = 0; i < GY_UNIT_STATE_COUNT; i++) {
        if (strcmp(text, state_names[i]) == 0) {
            *out = (enum gy_unit_state)i;
            return true;
        }
    }
    return false;
}

uint32_t gy_unit_chunk(const void *part, size_t len, uint32_t nchunks)
{
    uint64_t top = XXH3_64bits_withSeed(part, len, CHUNK_SEED) >> 32;
    return (uint32_t)(top * nchunks >> 32);
}

/* The four texts are joined by NUL, which none of them can hold, so no two pairs look alike. */
static bool pair_hash(const char *const text[4], unsigned long long *out)
{
    struct gy_buf b = {0};
    for (size_t i = 0; i < 4; i++) {
        gy_buf_add(&b, text[i], strlen(text[i]) + (i < 3));
    }
    bool ok = !gy_buf_failed(&b);
    *out = ok ? XXH3_64bits(gy_buf_head(&b), gy_buf_size(&b)) : 0;
    gy_buf_fini(&b);
    return ok;
}

bool gy_unit_names_init(struct gy_unit_names *n, const char *prefix, const char *pool,
                        const char *src_name, const char *src_addr, const char *dst_name,
                        const char *dst_addr, uint32_t chunk)
{
    const char *const text[4] = {src_name, src_addr, dst_name, dst_addr};
    unsigned long long h;
    char **const out[] = {&n->rec, &n->marks, &n->back};
    static const char *const kind[] = {"rec", "m", "b"};
    memset(n, 0, sizeof *n);
    if (!pair_hash(text, &h)) {
        return false;
    }
    for (size_t i = 0; i < 3; i++) {
        if (asprintf(out[i], "%s{%s.%016llx.%u}:%s", prefix, pool, h, chunk, kind[i]) < 0) {
            *out[i] = NULL;
            gy_unit_names_fini(n);
            return false;
        }
    }
    return true;
}

void gy_unit_names_fini(struct gy_unit_names *n)
{
    free(n->rec);
    free(n->marks);
    free(n->back);
    memset(n, 0, sizeof *n);
}

static bool is_hex(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool gy_unit_is_record(const char *prefix, struct gy_slice key)
{
    size_t len = strlen(prefix);
    if (key.n < len + 1 || memcmp(key.p, prefix, len) != 0 || key.p[len] != '{') {
        return false;
    }
    /* From the back: kind, "}:", chunk, ".", 16 hex digits, "."; the pool may hold anything. */
    static const char *const tails[] = {"}:rec", "}:m", "}:b"};
    size_t end = 0;
    for (size_t i = 0; i < 3; i++) {
        size_t n = strlen(tails[i]);
        if (key.n > n && memcmp(key.p + key.n - n, tails[i], n) == 0) {
            end = key.n - n;
        }
    }
    size_t at = end;
    while (at > len && key.p[at - 1] >= '0' && key.p[at - 1] <= '9') {
        at--;
    }
    if (end == 0 || at == end || at < len + 1 + 1 + TAG_HEX + 1 || key.p[at - 1] != '.') {
        return false;
    }
    for (size_t i = 0; i < TAG_HEX; i++) {
        if (!is_hex(key.p[at - 2 - i])) {
            return false;
        }
    }
    return key.p[at - 2 - TAG_HEX] == '.';
}

bool gy_unit_is_record_of(const char *prefix, const char *pool, struct gy_slice key)
{
    /* prefix "{" pool "." 16 hex digits "." */
    size_t len = strlen(prefix), own = strlen(pool), dot = len + 1 + own;
    return gy_unit_is_record(prefix, key) && key.n > dot + 1 + TAG_HEX &&
           memcmp(key.p + len + 1, pool, own) == 0 && key.p[dot] == '.' &&
           key.p[dot + 1 + TAG_HEX] == '.';
}
