/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nginx.c - nginx 1.22.1, `hash KEY` and `hash KEY consistent`. A server's option `down` is
 * nginx's: it keeps its points (consistent: only its keys move) and its part of the divisor
 * (plain). plain hashes 15 bits at a time, so of weights above 32768 in all the last servers get
 * next to nothing, and every change of the list moves most keys. Where nginx gives a request up to
 * round robin, the answer here is the first choice of a fresh round robin: the heaviest server, the
 * first of equals. Source: behaviour of 1.22.1, docs/compat/SPEC-servers.md section 3. Threads:
 * any.
 */
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash/bytes.h"
#include "lib/hash/functions.h"
#include "lib/hash/table.h"
#include "lib/like/ketama.h"
#include "lib/like/ranges.h"

enum { CONSISTENT, PLAIN };
enum { POINTS = 160, TRIES = 21 };

static const struct gy_like_setting settings[] = {
    {GY_SET_DISTRIBUTION, GY_VALUE_WORD, "consistent", "consistent|plain"},
    {0, 0, NULL, NULL},
};
static const struct gy_like_option options[] = {{"down", false}, {NULL, false}};

/* What a fresh round robin answers; GYRE_NONE if all are down. */
static uint32_t fallback(const struct gy_like_job *job, const bool *down)
{
    uint32_t best = GYRE_NONE;
    for (uint32_t i = 0; i < job->n; i++) {
        uint32_t node = job->list[i];
        if (!down[node] && (best == GYRE_NONE || job->m->weight[node] > job->m->weight[best])) {
            best = node;
        }
    }
    return best;
}

/* ---- consistent ---- */

/* "unix:" in any case. */
static bool is_socket(const char *name)
{
    size_t i = 0;
    while (i < 4 && (name[i] | 0x20) == "unix"[i]) {
        i++;
    }
    return i == 4 && name[4] == ':';
}

/* host NUL port: "unix:" in front is left out, and so is the colon before a port of digits. */
static void base_name(const char *name, struct gy_point_name *out)
{
    const char *colon = strrchr(name, ':');
    bool socket = is_socket(name);
    bool port =
        !socket && colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1);
    const char *host = socket ? name + 5 : name;
    size_t len = port ? (size_t)(colon - host) : strlen(host);
    memcpy(out->text, host, len);
    out->text[len++] = '\0';
    size_t port_len = port ? strlen(colon + 1) : 0;
    memcpy(out->text + len, colon ? colon + 1 : "", port_len);
    out->len = len + port_len;
}

/* Each point is the CRC of the one before it, so those of a lighter server are among those of a
 * heavier one of that name. */
static void put_points(const struct gy_like_job *job, struct gy_points *points,
                       struct gy_point_name *name, uint32_t node)
{
    base_name(job->m->nodes[node].name, name);
    uint32_t before = gy_crc32(name->text, name->len), previous = 0;
    for (uint64_t i = POINTS * gy_like_weight(job, node); i; i--) {
        uint8_t bytes[4];
        gy_store_le32(bytes, previous);
        previous = gy_crc32_more(before, bytes, sizeof bytes);
        gy_points_put(points, previous, node);
    }
}

/* Of equal points only the first stays; those of servers that are down lead on to the next point,
 * TRIES of them at most. */
static void settle_owners(struct gy_points *points, const bool *down, uint32_t last_resort)
{
    size_t n = 0;
    gy_points_sort(points);
    for (size_t i = 0; i < points->n; i++) {
        if (n == 0 || points->p[i].at != points->p[n - 1].at) {
            points->p[n] = points->p[i];
            points->p[n].turn = (uint32_t)n;
            n++;
        }
    }
    points->n = n;
    /* From behind, twice round: the distance to the next usable point is known when it is needed.
     */
    uint32_t owner = last_resort;
    size_t distance = TRIES;
    for (size_t k = 2 * n; k-- > 0;) {
        struct gy_point *p = &points->p[k % n];
        if (!down[p->node]) {
            owner = p->node;
            distance = 0;
            continue;
        }
        distance += distance < TRIES;
        if (k < n) {
            p->node = distance < TRIES ? owner : last_resort;
        }
    }
}

static int build_consistent(const struct gy_like_job *job, const bool *down)
{
    struct gy_points points = {0};
    struct gy_point_name *name = gy_mem_alloc(1, sizeof *name);
    uint64_t all = 0;
    for (uint32_t i = 0; i < job->n; i++) {
        all += POINTS * gy_like_weight(job, job->list[i]);
    }
    uint32_t last_resort = fallback(job, down);
    int err = name ? gy_points_init(&points, all, job->e) : gy_fail_nomem(job->e);
    for (uint32_t i = 0; !err && last_resort != GYRE_NONE && i < job->n; i++) {
        put_points(job, &points, name, job->list[i]);
    }
    if (!err) {
        settle_owners(&points, down, last_resort);
        err = gy_points_settle(job->m, &points, 32, job->e);
    }
    gy_points_fini(&points);
    gy_mem_free(name);
    return err;
}

/* ---- plain ---- */

/* The sum of 15-bit hashes of the key, then of "1KEY", "2KEY", ... until a usable server is hit.
 * The number goes in front, so the CRC goes on from that of the number. */
static gy_u128 plain_hash(const gyre_map_t *m, const void *part, size_t len)
{
    uint32_t sum = 0;
    for (uint32_t try = 0; try < TRIES; try++) {
        uint8_t digits[2] = {(uint8_t)('0' + try / 10), (uint8_t)('0' + try % 10)};
        size_t n = try == 0 ? 0 : try < 10 ? 1 : 2;
        uint32_t crc = gy_crc32_more(gy_crc32(digits + 2 - n, n), part, len);
        sum += crc >> 16 & 0x7fff;
        if (!m->steps || gy_ranges_owner(m, sum % m->slots) != GYRE_NONE) {
            return sum;
        }
    }
    return *(const uint64_t *)m->context; /* a slot of the fallback */
}

static int build_plain(const struct gy_like_job *job, const bool *down)
{
    struct gy_ranges ranges = {0};
    uint32_t last_resort = fallback(job, down);
    uint64_t *slot = gy_mem_alloc(1, sizeof *slot);
    job->m->context = slot;
    job->m->key_hash = plain_hash;
    job->m->hash = &gy_hash_crc32_15;
    int err = slot ? gy_ranges_init(&ranges, job->n, job->e) : gy_fail_nomem(job->e);
    for (uint32_t i = 0; !err && last_resort != GYRE_NONE && i < job->n; i++) {
        uint32_t node = job->list[i];
        job->m->by_key = job->m->by_key || down[node];
        gy_ranges_put(&ranges, gy_like_weight(job, node), down[node] ? GYRE_NONE : node);
    }
    err = err ? err : gy_ranges_settle(job->m, &ranges, job->e);
    if (!err) {
        *slot = job->m->steps ? gy_ranges_first_slot(job->m, last_resort) : 0;
    }
    gy_ranges_fini(&ranges);
    return err;
}

static int build(const struct gy_like_job *job)
{
    job->m->hash = &gy_hash_crc32;
    job->m->hash_bits = 32;
    bool *down = gy_mem_alloc((size_t)job->m->count + 1, sizeof *down);
    int err = down ? gy_like_whole_weights(job, INT32_MAX) : gy_fail_nomem(job->e);
    for (uint32_t i = 0; !err && i < job->m->count; i++) {
        down[i] = gy_like_has(&job->m->nodes[i], "down");
    }
    if (!err && gy_like_word(job, GY_SET_DISTRIBUTION) == CONSISTENT) {
        err = build_consistent(job, down);
    } else if (!err) {
        err = build_plain(job, down);
    }
    gy_mem_free(down);
    return err;
}

const struct gy_like gy_like_nginx = {
    .name = "nginx", .settings = settings, .options = options, .build = build};
