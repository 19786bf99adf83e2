/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swift.c - OpenStack Swift 2.30: an object's partition, and what a ring file makes of it. As a
 * topology: nodes are devices, and a node's option `partitions=0-12,14` is the first row of the
 * ring (the builder is randomized, so only the file knows); the other rows are for swift.h. Source:
 * docs/compat/SPEC-databases.md section 8. Threads: any.
 */
#include "lib/like/swift.h"

#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash/digest.h"
#include "lib/hash/functions.h"
#include "lib/hash/table.h"
#include "lib/like/digits.h"
#include "lib/like/partitions.h"

/* ---- ring files ---- */

uint32_t gy_swift_partition(const struct gy_swift_secret *s, const void *path, size_t len,
                            unsigned part_power)
{
    uint8_t digest[16];
    struct gy_piece p[] = {
        {s->prefix, s->prefix_len}, {"/", 1}, {path, len}, {s->suffix, s->suffix_len}};
    gy_md5_pieces(p, 4, digest);
    return part_power ? gy_load_be32(digest) >> (32 - part_power) : 0;
}

static bool among(const uint32_t *out, size_t n, uint32_t device)
{
    for (size_t i = 0; i < n; i++) {
        if (out[i] == device) {
            return true;
        }
    }
    return false;
}

/* The device of a row, if there is one in that row. */
static bool device_at(const struct gy_swift_ring *r, uint32_t row, uint32_t partition,
                      uint32_t *device)
{
    if (partition >= r->len[row]) {
        return false;
    }
    *device = r->table[(size_t)row << r->part_power | partition];
    return *device < r->devices;
}

size_t gy_swift_primaries(const struct gy_swift_ring *r, uint32_t partition, uint32_t *out)
{
    size_t n = 0;
    uint32_t device;
    for (uint32_t row = 0; row < r->rows; row++) {
        if (device_at(r, row, partition, &device) && !among(out, n, device)) {
            out[n++] = device;
        }
    }
    return n;
}

/* From apart by region to any other device. */
enum { BY_REGION, BY_ZONE, BY_IP, BY_DEVICE };

static bool alike(const struct gy_swift_ring *r, uint32_t a, uint32_t b, unsigned level)
{
    const struct gy_swift_device *x = &r->device[a], *y = &r->device[b];
    if (level == BY_DEVICE) {
        return a == b;
    }
    return x->region == y->region && (level < BY_ZONE || x->zone == y->zone) &&
           (level < BY_IP || strcmp(x->ip, y->ip) == 0);
}

static bool seen(const struct gy_swift_ring *r, const uint32_t *out, size_t n, uint32_t device,
                 unsigned level)
{
    for (size_t i = 0; i < n; i++) {
        if (out[i] == device || alike(r, out[i], device, level)) {
            return true;
        }
    }
    return false;
}

static size_t visit(const struct gy_swift_ring *r, uint32_t partition, unsigned level,
                    uint32_t *out, size_t n, size_t most)
{
    uint32_t device;
    for (uint32_t row = 0; row < r->rows && n < most; row++) {
        if (device_at(r, row, partition, &device) && !seen(r, out, n, device, level)) {
            out[n++] = device;
        }
    }
    return n;
}

size_t gy_swift_handoffs(const struct gy_swift_ring *r, uint32_t partition, uint32_t *out, size_t n,
                         size_t want)
{
    char digits[GY_DIGITS];
    uint8_t digest[16];
    size_t most = n + want;
    gyre_hash_md5(digits, gy_digits_write(digits, partition), digest);
    uint64_t parts = (uint64_t)1 << r->part_power;
    uint64_t start = (uint64_t)gy_load_be32(digest) >> r->part_shift;
    uint64_t step = parts / 65536 ? parts / 65536 : 1;
    for (unsigned level = BY_REGION; level <= BY_DEVICE; level++) {
        for (uint64_t p = start; p < parts && n < most; p += step) {
            n = visit(r, (uint32_t)p, level, out, n, most);
        }
        uint64_t first = start < parts ? step - (parts - start) % step : 0;
        for (uint64_t p = first; p < start && n < most; p += step) {
            n = visit(r, (uint32_t)p, level, out, n, most);
        }
    }
    return n;
}

/* ---- as a topology ---- */

static const struct gy_like_setting settings[] = {
    {GY_SET_PART_POWER, GY_VALUE_NUMBER, "10", "1..20"},
    {GY_SET_HASH_PATH_PREFIX, GY_VALUE_TEXT, "", "any text of up to 255 bytes"},
    {GY_SET_HASH_PATH_SUFFIX, GY_VALUE_TEXT, "", "any text of up to 255 bytes"},
    {0, 0, NULL, NULL},
};

struct rule {
    struct gy_swift_secret secret;
    char prefix[GY_SETTING_TEXT], suffix[GY_SETTING_TEXT];
};

static gy_u128 key_hash(const gyre_map_t *m, const void *part, size_t len)
{
    const struct rule *r = m->context;
    return gy_swift_partition(&r->secret, part, len, m->hash_bits);
}

static int build(const struct gy_like_job *job)
{
    struct gyre_map *m = job->m;
    unsigned power = (unsigned)gy_like_number(job, GY_SET_PART_POWER);
    struct rule *r = gy_mem_alloc(1, sizeof *r);
    if (!r) {
        return gy_fail_nomem(job->e);
    }
    m->context = r;
    const char *prefix = gy_like_text(job, GY_SET_HASH_PATH_PREFIX);
    const char *suffix = gy_like_text(job, GY_SET_HASH_PATH_SUFFIX);
    r->secret = (struct gy_swift_secret){r->prefix, r->suffix, strlen(prefix), strlen(suffix)};
    memcpy(r->prefix, prefix, r->secret.prefix_len + 1);
    memcpy(r->suffix, suffix, r->secret.suffix_len + 1);
    m->hash = &gy_hash_md5;
    m->hash_bits = power;
    m->key_hash = key_hash;
    m->key_rule =
        gy_xxh64(r->suffix, r->secret.suffix_len, gy_xxh64(r->prefix, r->secret.prefix_len, power));
    return gy_partitions_settle(job, 1u << power, 1);
}

const struct gy_like gy_like_swift = {
    .name = "swift", .settings = settings, .options = gy_partition_options, .build = build};
