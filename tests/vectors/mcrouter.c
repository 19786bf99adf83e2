/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcrouter.c - mcrouter's hash functions. The vectors' keys are what its functions were given, so
 * nothing is cut from them. Threads: one.
 */
#include "lib/like/mcrouter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash/functions.h"
#include "lib/like/buckets.h"
#include "lib/map.h"
#include "vectors/cells.h"
#include "vectors/fleet.h"

/* ---- unit tests of its own: a function, a pool and a key in each row ---- */

static bool wch3_pool(const char *pool, const char *key, size_t len, uint64_t *got)
{
    char *end;
    uint64_t n;
    double weight = strtod(pool, &end), *weights;
    if (end == pool || strncmp(end, " x ", 3) != 0 || !vf_number(end + 3, &n) || !n ||
        n > GY_FURC_MAX) {
        return false;
    }
    weights = malloc(n * sizeof *weights);
    for (uint64_t i = 0; weights && i < n; i++) {
        weights[i] = weight;
    }
    *got = weights ? gy_mcrouter_wch3(key, len, weights, (uint32_t)n) : 0;
    free(weights);
    return true;
}

static bool unit_cell(void *self, struct cell *c)
{
    const struct vfile *f = self;
    const char *function = c->row->column[vf_column(f, "function")];
    const char *pool = c->row->column[vf_column(f, "pool")];
    uint64_t n, got;
    bool known = strcmp(c->column, "function") == 0 || strcmp(c->column, "pool") == 0;
    if (known) { /* given */
        snprintf(c->got, sizeof c->got, "%s", c->row->column[vf_column(f, c->column)]);
        return true;
    }
    if (strcmp(c->column, "index") != 0) {
        return false;
    }
    if (strcmp(function, "wch3") == 0) {
        if (!wch3_pool(pool, c->key, c->len, &got)) {
            return false;
        }
    } else if (!vf_number(pool, &n) || !n || n > UINT32_MAX) {
        return false;
    } else if (strcmp(function, "ch3") == 0 && n <= GY_FURC_MAX) {
        got = gy_bucket_furc(gy_murmur2_64a(c->key, c->len, GY_FURC_SEED), (uint32_t)n);
    } else if (strcmp(function, "crc32") == 0) {
        got = (gy_crc32(c->key, c->len) & INT32_MAX) % n;
    } else {
        return false;
    }
    snprintf(c->got, sizeof c->got, "%" PRIu64, got);
    return true;
}

/* ---- rendezvous: indices of nodes, in order ---- */

struct rendezvous {
    struct fleet fl;
    uint64_t failovers;
};

static bool failover_cell(void *self, struct cell *c)
{
    struct rendezvous *r = self;
    const gyre_map_t *m = r->fl.m;
    bool list = strcmp(c->column, "failover") == 0;
    if (!list && strcmp(c->column, "index") != 0) {
        return false;
    }
    struct gy_walk w;
    gy_walk_start(&w, m, cells_hash(m, c->key, c->len));
    size_t at = 0;
    for (uint64_t i = 0; i < (list ? r->failovers : 1); i++) {
        uint32_t node = gy_walk_next(&w);
        if (node == GYRE_NONE) {
            break;
        }
        at +=
            (size_t)snprintf(c->got + at, sizeof c->got - at, "%s%u", i ? "," : "", m->order[node]);
        if (at >= sizeof c->got) {
            return false;
        }
        if (i == 0 && m->place->locate(m, cells_hash(m, c->key, c->len)) != node) {
            return false;
        }
    }
    return true;
}

static void check_rendezvous(const struct vfile *f, struct verdict *v)
{
    static const char *const known[] = {"failovers", NULL};
    struct rendezvous r = {0};
    const char *failovers = vf_get(f, "failovers");
    fleet_read(&r.fl, f, "Rendezvous|WeightedRendezvous", known, v);
    fleet_want(&r.fl, "hash", "");
    fleet_set(&r.fl, "like", "mcrouter");
    fleet_set(&r.fl, "distribution", vf_get(f, "mode"));
    fleet_add(&r.fl, true);
    fleet_build(&r.fl);
    if (failovers && !vf_number(failovers, &r.failovers)) {
        fleet_stop(&r.fl, "malformed failovers", failovers);
    }
    if (!r.fl.bad && r.fl.n) {
        cells_check(f, failover_cell, &r, v);
    } else {
        fleet_stop(&r.fl, "no nodes in", f->path);
    }
    fleet_free(&r.fl);
}

void check_mcrouter(const struct vfile *f, struct verdict *v)
{
    static const char *const nothing[] = {NULL}, *const weights[] = {"index_weights", NULL};
    static const char *const wch3[] = {"like", "mcrouter", "distribution", "WeightedCh3", NULL};
    const char *mode = vf_get(f, "mode");
    mode = mode ? mode : "";
    if (strcmp(mode, "Rendezvous") == 0 || strcmp(mode, "WeightedRendezvous") == 0) {
        check_rendezvous(f, v);
    } else if (strcmp(mode, "unit") == 0) {
        bool good = cells_header(f, "unit", "bytes|utf8", nothing, v);
        if (good && (vf_column(f, "function") < 0 || vf_column(f, "pool") < 0)) {
            refuse(v, "no columns function and pool");
        } else if (good) {
            cells_check(f, unit_cell, (void *)(uintptr_t)f, v);
        }
    } else if (strcmp(mode, "WeightedCh3") == 0) {
        if (cells_header(f, mode, "bytes|utf8", weights, v)) {
            check_weights(f, wch3, gy_mcrouter_wch3, v);
        }
    } else if (cells_header(f, "Ch3|Crc32", "bytes|utf8", nothing, v)) {
        check_ch3(f, v);
    }
}
