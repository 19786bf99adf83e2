/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges.c - `gyre ranges`: what each node owns and holds as a replica, and who can feed its
 * replacement; of one node the feeders one by one; with --list the ranges themselves. Of all nodes
 * also whether copies of a key stand together. Threads: main only.
 */
#include "base/utf8.h"
#include "cli/apart.h"
#include "cli/arcs.h"
#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/topo.h"

#include <stdio.h>
#include <stdlib.h>

#define REPLICAS_MAX 64

struct ranges {
    struct gy_topo_from topo_from;
    uint64_t replicas, samples; /* replicas 0: as the topology says */
    bool list, json;
    /* inside */
    struct gy_topo topo;
    gyre_map_t *map;
    gyre_holdings_t *holdings;
    struct gy_apart apart; /* without --list and node */
    uint32_t only;         /* the node asked for; GYRE_NONE: all */
};

static const struct gy_opt OPTIONS[] = {
    {'n', "replicas", "R", "nodes that hold a key (default: as the topology says)", GY_OPT_UINT,
     offsetof(struct ranges, replicas), 1, REPLICAS_MAX, NULL},
    {0, "list", NULL, "list the ranges: first and last position, share, holders", GY_OPT_FLAG,
     offsetof(struct ranges, list), 0, 0, NULL},
    {0, "samples", "N", "when the placement has no ranges (200000)", GY_OPT_UINT,
     offsetof(struct ranges, samples), 1, 1000000000, NULL},
    GY_TOPO_OPTIONS(struct ranges),
    {0, "json", NULL, "answer in JSON", GY_OPT_FLAG, offsetof(struct ranges, json), 0, 0, NULL},
    {0}};

static const char *const EXAMPLES[] = {
    "gyre ranges fleet.yaml",
    "gyre ranges fleet.yaml cache-1 -n 3",
    "gyre ranges fleet.yaml cache-1 --list --json",
    NULL,
};

static const struct gy_usage USAGE = {
    "gyre ranges",
    "TOPOLOGY [NODE]",
    "Shows what each node owns, what it holds as one of R replicas, and which nodes can feed its\n"
    "replacement at once: those that hold parts of the same.",
    OPTIONS,
    EXAMPLES,
    1,
    2,
    GY_EXITS_ASKED,
};

/* ---- the facts ---- */

static int find_node(struct ranges *r, const char *name)
{
    r->only = gyre_map_find(r->map, name);
    return r->only == GYRE_NONE ? gy_topo_no_node(r->map, "ranges: no node", name) : GY_EXIT_OK;
}

static bool has_ranges(const struct ranges *r)
{
    return gyre_holdings_exact(r->holdings);
}

/* How much is to be done is known only while it is: it is told in parts of the whole. */
enum { PARTS = 10000 };

static void on_part(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    gy_progress_at(done * PARTS / total);
}

static int find_facts(struct ranges *r, const char *node)
{
    gyre_error_t e = {0};
    int rc = node ? find_node(r, node) : GY_EXIT_OK;
    if (rc) {
        return rc;
    }
    if (!r->replicas) {
        r->replicas = strtoull(gyre_topology_get(r->topo.config->topology, "replicas"), NULL, 10);
        r->replicas = r->replicas ? r->replicas : 1; /* a system that has no such setting */
    }
    gy_progress_begin("looking who holds what", PARTS);
    rc = gyre_holdings_build_telling(r->map, (size_t)r->replicas, (size_t)r->samples, on_part, NULL,
                                     &r->holdings, &e);
    gy_progress_end();
    if (rc) {
        e.code = rc;
        return gy_complain_error(&e);
    }
    if (r->list && !has_ranges(r)) {
        gy_complain("ranges: --list: this placement has no ranges: each key has an order of nodes "
                    "of its own");
        return GY_EXIT_USAGE;
    }
    if (!r->list && r->only == GYRE_NONE) {
        gy_apart_find(&r->apart, r->map, r->replicas, r->samples);
    }
    return GY_EXIT_OK;
}

static struct gyre_holding holding(const struct ranges *r, uint32_t node)
{
    struct gyre_holding x = {.size = sizeof x};
    /* Cannot fail: the size is set, and the node is the map's. */
    if (gyre_holdings_node(r->holdings, node, &x)) {
        x = (struct gyre_holding){0};
    }
    return x;
}

/* How much sooner it is fed than by one node alone; 0: nobody feeds it. */
static double at_once(const struct gyre_holding *x)
{
    return x->largest > 0 ? (x->held - x->alone) / x->largest : 0;
}

static bool wanted(const struct ranges *r, const uint32_t *holders, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (holders[i] == r->only) {
            return true;
        }
    }
    return r->only == GYRE_NONE;
}

/* ---- as text ---- */

static void text_all(const struct ranges *r, struct gy_buf *out)
{
    const char *heads[] = {"NODE",     ">OWNS",    ">HOLDS",         ">ALONE", ">RANGES",
                           ">FEEDERS", ">BUSIEST", ">TIMES AS FAST", NULL};
    struct gy_table t;
    gy_table_init(&t, heads);
    for (uint32_t i = 0; i < gyre_map_count(r->map); i++) {
        struct gyre_holding x = holding(r, i);
        gy_table_cell(&t, gyre_map_node(r->map, i)->name);
        gy_table_format(&t, "%.3f %%", 100 * x.owned);
        gy_table_format(&t, "%.3f %%", 100 * x.held);
        gy_table_format(&t, "%.3f %%", 100 * x.alone);
        if (has_ranges(r)) {
            gy_table_format(&t, "%llu", (unsigned long long)x.ranges);
        } else {
            gy_table_cell(&t, NULL);
        }
        gy_table_format(&t, "%u", x.feeders);
        gy_table_format(&t, "%.3f %%", 100 * x.largest);
        if (x.largest > 0) {
            gy_table_format(&t, "%.1f", at_once(&x));
        } else {
            gy_table_cell(&t, NULL);
        }
    }
    gy_table_end(&t, out);
}

static void text_feeders(const struct ranges *r, struct gy_buf *out)
{
    const char *heads[] = {"FEEDER", "ADDRESS", "ZONE", ">HOLDS OF IT", ">SENDS", NULL};
    const struct gyre_feed *f;
    struct gy_table t;
    gy_table_init(&t, heads);
    for (size_t k = 0; (f = gyre_holdings_feed(r->holdings, r->only, k)) != NULL; k++) {
        const struct gyre_node *n = gyre_map_node(r->map, f->node);
        gy_table_cell(&t, n->name);
        gy_table_cell(&t, n->address);
        gy_table_cell(&t, n->zone);
        gy_table_format(&t, "%.3f %%", 100 * f->holds);
        gy_table_format(&t, "%.3f %%", 100 * f->sends);
    }
    gy_table_end(&t, out);
}

static void text_one(const struct ranges *r, struct gy_buf *out)
{
    struct gyre_holding x = holding(r, r->only);
    char q[GY_QUOTE];
    gy_buf_printf(out, "%s owns %.3f %% of the key space and, as one of %llu, holds %.3f %%",
                  gy_utf8_quote(q, gy_str(gyre_map_node(r->map, r->only)->name)), 100 * x.owned,
                  (unsigned long long)r->replicas, 100 * x.held);
    if (has_ranges(r)) {
        gy_buf_printf(out, " in %llu ranges", (unsigned long long)x.ranges);
    }
    gy_buf_puts(out, "\n");
    if (x.alone > 0) {
        gy_buf_printf(out, "nobody else holds %.3f %%: it is lost with the node\n", 100 * x.alone);
    }
    if (x.feeders == 0) {
        return;
    }
    gy_buf_printf(
        out,
        "%u node%s can feed its replacement; the busiest sends %.3f %%, so it takes 1/%.1f "
        "of the time that one alone would\n\n",
        x.feeders, x.feeders == 1 ? "" : "s", 100 * x.largest, at_once(&x));
    text_feeders(r, out);
}

static void text_list(const struct ranges *r, struct gy_buf *out)
{
    const char *heads[] = {">FIRST", ">LAST", ">SHARE", "HOLDERS", NULL};
    struct gyre_cursor at = {{0}};
    struct gyre_range x = {.size = sizeof x};
    uint32_t holders[REPLICAS_MAX];
    char first[GY_POSITION], last[GY_POSITION];
    struct gy_buf names = {0};
    struct gy_table t;
    gy_table_init(&t, heads);
    while (gyre_range_next(r->map, (size_t)r->replicas, &at, &x, holders)) {
        if (!wanted(r, holders, x.holders)) {
            continue;
        }
        gy_table_cell(&t, gy_position_text(r->map, x.first_hi, x.first_lo, first));
        gy_table_cell(&t, gy_position_text(r->map, x.last_hi, x.last_lo, last));
        gy_table_format(&t, "%.6f %%", 100 * x.share);
        gy_buf_reset(&names);
        for (size_t i = 0; i < x.holders; i++) {
            gy_buf_printf(&names, "%s%s", i ? ", " : "", gyre_map_node(r->map, holders[i])->name);
        }
        gy_table_cell(&t, gy_buf_cstr(&names));
    }
    gy_buf_fini(&names);
    gy_table_end(&t, out);
}

static void as_text(const struct ranges *r, struct gy_buf *out)
{
    if (r->list) {
        text_list(r, out);
        return;
    }
    if (r->only == GYRE_NONE) {
        text_all(r, out);
        gy_apart_text(&r->apart, out);
    } else {
        text_one(r, out);
    }
    if (!has_ranges(r)) {
        gy_buf_printf(out,
                      "\nestimated from %llu sampled keys: this placement has no ranges, each key "
                      "has an order of nodes of its own\n",
                      (unsigned long long)r->samples);
    }
}

/* ---- as JSON ---- */

static void json_node(const struct ranges *r, uint32_t i, struct gy_json *j)
{
    struct gyre_holding x = holding(r, i);
    const struct gyre_feed *f;
    gy_json_object(j);
    gy_json_kstring(j, "name", gyre_map_node(r->map, i)->name);
    gy_json_kdouble(j, "owned", x.owned);
    gy_json_kdouble(j, "held", x.held);
    gy_json_kdouble(j, "alone", x.alone);
    if (has_ranges(r)) {
        gy_json_kuint(j, "ranges", x.ranges);
    }
    gy_json_kdouble(j, "largest", x.largest);
    gy_json_key(j, "feeders");
    gy_json_array(j);
    for (size_t k = 0; (f = gyre_holdings_feed(r->holdings, i, k)) != NULL; k++) {
        gy_json_object(j);
        gy_json_kstring(j, "name", gyre_map_node(r->map, f->node)->name);
        gy_json_kdouble(j, "holds", f->holds);
        gy_json_kdouble(j, "sends", f->sends);
        gy_json_object_end(j);
    }
    gy_json_array_end(j);
    gy_json_object_end(j);
}

static void json_list(const struct ranges *r, struct gy_json *j)
{
    struct gyre_cursor at = {{0}};
    struct gyre_range x = {.size = sizeof x};
    uint32_t holders[REPLICAS_MAX];
    gy_json_key(j, "list");
    gy_json_array(j);
    while (gyre_range_next(r->map, (size_t)r->replicas, &at, &x, holders)) {
        if (!wanted(r, holders, x.holders)) {
            continue;
        }
        gy_json_object(j);
        gy_position_json(r->map, "first", x.first_hi, x.first_lo, j);
        gy_position_json(r->map, "last", x.last_hi, x.last_lo, j);
        gy_json_kdouble(j, "share", x.share);
        gy_json_key(j, "holders");
        gy_json_array(j);
        for (size_t i = 0; i < x.holders; i++) {
            gy_json_string(j, gyre_map_node(r->map, holders[i])->name);
        }
        gy_json_array_end(j);
        gy_json_object_end(j);
    }
    gy_json_array_end(j);
}

static void as_json(const struct ranges *r, struct gy_buf *out)
{
    struct gy_json j;
    gy_json_init(&j, out);
    gy_json_object(&j);
    gy_json_kuint(&j, "version", gyre_map_version(r->map));
    gy_json_kuint(&j, "replicas", r->replicas);
    gy_json_kbool(&j, "exact", has_ranges(r));
    if (!has_ranges(r)) {
        gy_json_kuint(&j, "samples", r->samples);
    }
    gy_json_key(&j, "nodes");
    gy_json_array(&j);
    for (uint32_t i = 0; i < gyre_map_count(r->map); i++) {
        if (r->only == GYRE_NONE || r->only == i) {
            json_node(r, i, &j);
        }
    }
    gy_json_array_end(&j);
    if (r->list) {
        json_list(r, &j);
    } else if (r->only == GYRE_NONE) {
        gy_apart_json(&r->apart, &j);
    }
    gy_json_object_end(&j);
    gy_buf_putc(out, '\n');
}

int gy_cmd_ranges(int argc, char **argv)
{
    struct ranges r = {.samples = 200000, .only = GYRE_NONE};
    char **words;
    int count;
    int rc = gy_opt_parse(&USAGE, argc, argv, &r, &words, &count);
    if (rc != GY_GO_ON) {
        return rc;
    }
    struct gy_buf out = {0};
    rc = gy_topo_load(words[0], &r.topo_from, &r.topo);
    r.map = r.topo.map;
    if (!rc) {
        rc = find_facts(&r, count > 1 ? words[1] : NULL);
    }
    if (!rc) {
        (r.json ? as_json : as_text)(&r, &out);
        rc = gy_out_flush(&out);
    }
    gy_buf_fini(&out);
    gyre_holdings_free(r.holdings);
    gy_topo_fini(&r.topo);
    return rc;
}
