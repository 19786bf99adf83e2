/* SPDX-License-Identifier: Apache-2.0 */
/*
 * haproxy.c - HAProxy 2.6.12, and what 3.0 to 3.4 changed where a setting asks for it. Servers are
 * known by their ids: taking one out of the file renumbers the later ones unless ids are written
 * (option `id=7`). Option `disabled`: out of service, but its weight stays in the greatest common
 * divisor. map-based: every change moves most keys. id_base: full_hash (3.0 to 3.2) is another ring
 * altogether: an upgrade across it moves most keys. Source: behaviour of those versions,
 * docs/compat/SPEC-servers.md section 4. Threads: any.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash/bytes.h"
#include "lib/hash/functions.h"
#include "lib/hash/table.h"
#include "lib/like/haproxy.h"
#include "lib/like/ip.h"
#include "lib/like/points.h"
#include "lib/like/ranges.h"

enum { MAP_BASED, CONSISTENT };
enum { BY_ID, BY_ID32, BY_ADDR, BY_ADDR_PORT, BY_GUID };
enum { POINTS = 16, WEIGHT_MAX = 256 };
#define MAP_WORK (UINT64_C(1) << 32) /* some seconds */

static const struct gy_like_setting settings[] = {
    {GY_SET_HASH_TYPE, GY_VALUE_WORD, "map-based", "map-based|consistent"},
    {GY_SET_HASH, GY_VALUE_WORD, "sdbm", "sdbm|djb2|wt6|crc32"},
    {GY_SET_AVALANCHE, GY_VALUE_WORD, "0", "0|1"},
    {GY_SET_BALANCE, GY_VALUE_WORD, "fhdr", "hdr|fhdr|uri|uri_whole|url_param"},
    {GY_SET_HASH_KEY, GY_VALUE_WORD, "id", "id|id32|addr|addr-port|guid"},
    {GY_SET_ID_BASE, GY_VALUE_WORD, "plain", "plain|full_hash"},
    {0, 0, NULL, NULL},
};
static const struct gy_like_option options[] = {
    {"id", true}, {"guid", true}, {"disabled", false}, {NULL, false}};

/* Of each node of the map. */
struct server {
    uint64_t id;
    uint32_t weight;
    bool usable;
};

static gy_u128 avalanche_hash(const gyre_map_t *m, const void *part, size_t len)
{
    return gy_avalanche((uint32_t)m->hash->value(part, len));
}

/* ---- servers ---- */

static int compare_ids(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Those that are written down, ascending; *taken has room for one of each node. */
static int read_ids(const struct gy_like_job *job, struct server *servers, uint64_t *taken,
                    size_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < job->m->count; i++) {
        uint64_t id = 0;
        int err = gy_like_option_number(&job->m->nodes[i], "id", INT32_MAX, &id, job->e);
        if (err) {
            return err;
        }
        if (gy_like_has(&job->m->nodes[i], "id")) {
            servers[i].id = id;
            taken[(*count)++] = id;
        }
    }
    qsort(taken, *count, sizeof *taken, compare_ids);
    for (size_t i = 0; i < *count; i++) {
        if (taken[i] == 0 || (i && taken[i] == taken[i - 1])) {
            return gy_fail(job->e, GYRE_DUPLICATE, "id %llu stands twice, or is 0",
                           (unsigned long long)taken[i]);
        }
    }
    return GYRE_OK;
}

/* The others get the lowest free ids in file order. */
static int number_servers(const struct gy_like_job *job, struct server *servers)
{
    uint64_t *taken = gy_mem_alloc((size_t)job->m->count + 1, sizeof *taken), next = 1;
    size_t count = 0, k = 0;
    int err = taken ? read_ids(job, servers, taken, &count) : gy_fail_nomem(job->e);
    for (uint32_t i = 0; !err && i < job->m->count; i++) {
        struct server *s = &servers[job->all[i]];
        if (s->id == 0) {
            for (; k < count && taken[k] == next; k++) {
                next++;
            }
            s->id = next++;
        }
    }
    gy_mem_free(taken);
    return err;
}

static int read_servers(const struct gy_like_job *job, struct server *servers)
{
    int err = gy_like_whole_weights(job, WEIGHT_MAX);
    for (uint32_t i = 0; i < job->m->count; i++) {
        uint32_t weight = (uint32_t)gy_like_weight(job, i);
        servers[i] = (struct server){
            .weight = weight, .usable = weight && !gy_like_has(&job->m->nodes[i], "disabled")};
    }
    return err ? err : number_servers(job, servers);
}

/* ---- consistent ---- */

/* The IPv4 address as x86 reads its four bytes, or a hash of the IPv6 one. */
static int address_base(const struct gy_like_job *job, const struct gyre_node *node, bool with_port,
                        uint32_t *base)
{
    struct gy_ip ip = {0};
    char name[GY_SHOW];
    if (!node->address || !gy_ip_read(node->address, &ip)) {
        return gy_fail(job->e, GYRE_INVALID,
                       "node '%s': hash_key needs an address like 127.0.0.1:80 or [::1]:80, in "
                       "numbers",
                       gy_show(node->name, name));
    }
    uint32_t port = with_port ? gy_avalanche(ip.port) : 0;
    *base = ip.six ? gy_xxh32(ip.bytes, sizeof ip.bytes, port)
                   : gy_avalanche(gy_load_le32(ip.bytes) + port);
    return GYRE_OK;
}

static int point_base(const struct gy_like_job *job, uint32_t node, uint32_t id, uint32_t *base)
{
    const struct gyre_node *n = &job->m->nodes[node];
    uint8_t bytes[4];
    char name[GY_SHOW];
    size_t len;
    const char *guid;
    switch (gy_like_word(job, GY_SET_HASH_KEY)) {
    case BY_ID:
        *base = gy_like_word(job, GY_SET_ID_BASE) ? gy_avalanche(id) : id * 4096;
        return GYRE_OK;
    case BY_ID32:
        gy_store_be32(bytes, id);
        *base = gy_avalanche(gy_load_le32(bytes));
        return GYRE_OK;
    case BY_ADDR:
        return address_base(job, n, false, base);
    case BY_ADDR_PORT:
        return address_base(job, n, true, base);
    default:
        break;
    }
    guid = gy_like_option(n, "guid", &len);
    if (!guid) {
        return gy_fail(
            job->e, GYRE_INVALID,
            "node '%s': hash_key: guid, but it has no option guid=", gy_show(n->name, name));
    }
    *base = gy_xxh32(guid, len, 0);
    return GYRE_OK;
}

/* A key belongs to the nearest point, the lower one of two equally near. So each point owns up to
 * the middle between it and the next, and that is where it is put. Between equal points the first
 * owns what comes before them, the last what comes after. */
static void own_to_the_middle(struct gy_points *points)
{
    gy_points_sort(points);
    uint32_t first = points->n ? (uint32_t)points->p[0].at : 0;
    for (size_t i = 0; i < points->n; i++) {
        uint32_t at = (uint32_t)points->p[i].at;
        uint32_t next = i + 1 < points->n ? (uint32_t)points->p[i + 1].at : first;
        uint32_t end = at + (next - at) / 2;
        points->p[i].at = end;
        /* Only the last point's middle can lie beyond the end of the ring; it then is its begin. */
        points->p[i].turn = end < at ? 0 : (uint32_t)i + 1;
    }
}

static int build_consistent(const struct gy_like_job *job, const struct server *servers)
{
    struct gy_points points;
    uint64_t all = 0;
    for (uint32_t i = 0; i < job->m->count; i++) {
        all += servers[i].usable ? POINTS * servers[i].weight : 0;
    }
    int err = gy_points_init(&points, all, job->e);
    for (uint32_t i = 0; !err && i < job->n; i++) {
        const struct server *s = &servers[job->list[i]];
        uint32_t base = 0;
        err = s->usable ? point_base(job, job->list[i], (uint32_t)s->id, &base) : GYRE_OK;
        for (uint32_t j = 0; !err && s->usable && j < POINTS * s->weight; j++) {
            gy_points_put(&points, gy_avalanche(base + j), job->list[i]);
        }
    }
    if (!err) {
        own_to_the_middle(&points);
        err = gy_points_settle(job->m, &points, 32, job->e);
    }
    gy_points_fini(&points);
    return err;
}

/* ---- map-based ---- */

static uint32_t greatest_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The usable server of the highest score after adding its weight pays for the slot with the sum of
 * all weights. Scores are compared in multiples of that sum, cut towards zero. */
static uint32_t next_slot(const struct gy_like_job *job, const struct server *servers,
                          int64_t *score, uint32_t divisor, int64_t total)
{
    uint32_t best = GYRE_NONE;
    int64_t best_value = 0;
    for (uint32_t i = 0; i < job->n; i++) {
        uint32_t node = job->list[i];
        if (servers[node].usable) {
            score[node] += servers[node].weight / divisor;
            int64_t value = (score[node] + total) / total;
            if (best == GYRE_NONE || value > best_value) {
                best = node;
                best_value = value;
            }
        }
    }
    score[best] -= total;
    return best;
}

static int build_map(const struct gy_like_job *job, const struct server *servers)
{
    struct gy_ranges ranges = {0};
    uint32_t divisor = 0, total = 0;
    for (uint32_t i = 0; i < job->m->count; i++) {
        divisor = greatest_divisor(divisor, servers[i].weight);
    }
    for (uint32_t i = 0; i < job->n; i++) {
        const struct server *s = &servers[job->list[i]];
        total += s->usable ? s->weight / divisor : 0;
    }
    if ((uint64_t)total * job->n > MAP_WORK) {
        return gy_fail(job->e, GYRE_RANGE,
                       "a map of %u entries for %u servers takes too long to make; scale the "
                       "weights down, or use hash_type: consistent",
                       total, job->n);
    }
    int64_t *score = gy_mem_alloc((size_t)job->m->count + 1, sizeof *score);
    int err = score ? gy_ranges_init(&ranges, total, job->e) : gy_fail_nomem(job->e);
    if (!err) {
        memset(score, 0, job->m->count * sizeof *score);
        for (uint32_t slot = 0; slot < total; slot++) {
            gy_ranges_put(&ranges, 1, next_slot(job, servers, score, divisor, total));
        }
        err = gy_ranges_settle(job->m, &ranges, job->e);
    }
    gy_ranges_fini(&ranges);
    gy_mem_free(score);
    return err;
}

static int build(const struct gy_like_job *job)
{
    job->m->hash = gy_hash_find_alias("haproxy", gy_like_text(job, GY_SET_HASH));
    job->m->hash_bits = 32;
    job->m->key_hash = gy_like_word(job, GY_SET_AVALANCHE) ? avalanche_hash : NULL;
    job->m->key_part = gy_haproxy_part(gy_like_text(job, GY_SET_BALANCE));
    struct server *servers = gy_mem_alloc((size_t)job->m->count + 1, sizeof *servers);
    int err = servers ? read_servers(job, servers) : gy_fail_nomem(job->e);
    if (!err && gy_like_word(job, GY_SET_HASH_TYPE) == CONSISTENT) {
        err = build_consistent(job, servers);
    } else if (!err) {
        err = build_map(job, servers);
    }
    gy_mem_free(servers);
    return err;
}

const struct gy_like gy_like_haproxy = {
    .name = "haproxy", .settings = settings, .options = options, .build = build};
