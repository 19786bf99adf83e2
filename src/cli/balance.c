/* SPDX-License-Identifier: Apache-2.0 */
/*
 * balance.c - `gyre balance`: the exact share of every node, what chance would give with so many
 * points, how real keys fall, and why a node has what it has. Exit status 1 when the spread (CV) is
 * above the limit.
 */
#include "base/json.h"
#include "base/utf8.h"
#include "cli/causes.h"
#include "cli/cmd.h"
#include "cli/groups.h"
#include "cli/keys.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/points.h"
#include "cli/table.h"
#include "cli/term.h"
#include "cli/topo.h"
#include "cli/weigh.h"

#include <stdio.h>
#include <stdlib.h>

struct balance {
    struct gy_topo_from topo_from;
    struct gy_keys_from from;
    double limit, target; /* target 0: points are not asked for */
    const char *weight_for;
    const char *why; /* a node; NULL: the fullest, if it is far from even */
    bool json;
    /* inside */
    const struct gy_topo *topo;
    const gyre_topology_t *topology;
    gyre_map_t *map;
    uint32_t count;
    double total_weight;
    struct gyre_balance exact, measured;
    struct gyre_evidence evidence;
    struct gy_points points;
    struct gy_weigh weigh;
    uint64_t *keys; /* of each node; NULL: not measured */
    uint64_t keys_total;
    struct gy_groups zones, hosts;
    struct gy_parts parts;
    struct gy_causes causes;
};

#define MICRO       1000000
#define KEYS_A_NODE 100   /* fewer are no judge of a placement */
#define SURE        0.95  /* of the intervals */
#define NO_CHANCE   0.001 /* chance that is too small to explain anything */
#define UNEVEN      1.10  /* times an even share: said why, without being asked */

static const struct gy_opt OPTIONS[] = {
    GY_KEYS_OPTIONS(struct balance),
    {0, "cv", "LIMIT", "alert above this spread, standard deviation / mean (0.20)", GY_OPT_NUMBER,
     offsetof(struct balance, limit), 0, 100 * (uint64_t)MICRO, NULL},
    {0, "why", "NODE", "why it has what it has (default: the fullest, if it is 10 % too full)",
     GY_OPT_TEXT, offsetof(struct balance, why), 0, 0, NULL},
    {0, "weight-for", "NODE=SHARE", "which weight gives it that share (25%), and what that moves",
     GY_OPT_TEXT, offsetof(struct balance, weight_for), 0, 0, NULL},
    {0, "points-for", "CV", "how many points a spread below CV takes, and what they cost",
     GY_OPT_NUMBER, offsetof(struct balance, target), 1000, 10 * (uint64_t)MICRO, NULL},
    GY_TOPO_OPTIONS(struct balance),
    {0, "json", NULL, "answer in JSON", GY_OPT_FLAG, offsetof(struct balance, json), 0, 0, NULL},
    {0}};

static const char *const EXAMPLES[] = {
    "gyre balance fleet.yaml",
    "redis-cli -p 6379 --scan | gyre balance fleet.yaml -    (-p of one node)",
    "gyre balance fleet.yaml --keys keys.txt --cv 0.10 --json",
    "gyre balance fleet.yaml --points-for 0.05",
    "gyre balance fleet.yaml --weight-for cache-1=25%",
    NULL,
};

static const struct gy_usage USAGE = {
    "gyre balance",
    "TOPOLOGY [KEY...]",
    "Shows the share of the key space each node owns (exact), and with keys how those fall. The "
    "spread is\nthe CV of share/weight: standard deviation / mean.",
    OPTIONS,
    EXAMPLES,
    1,
    -1,
    "0 fine; 1 the spread is above the limit" GY_EXITS_NO,
};

/* ---- the facts ---- */

static int count_keys(struct balance *b, char **args, int count)
{
    if (!count && !b->from.lines && !b->from.nul) {
        return gy_keys_none(&b->from);
    }
    struct gy_keys k = {.fd = -1};
    int rc = gy_keys_open(&k, &b->from, args, count, true);
    b->keys = calloc(b->count ? b->count : 1, sizeof *b->keys);
    if (!rc && !b->keys) {
        rc = gy_complain_memory();
    }
    while (!rc && !(rc = gy_keys_next(&k)) && k.count) {
        uint32_t node[GY_KEYS_BATCH];
        gyre_map_locate_batch(b->map, k.key, k.len, k.count, node);
        for (size_t i = 0; i < k.count && !rc; i++) {
            b->keys[node[i]]++;
            rc = gy_parts_add(&b->parts, b->map, k.key[i], k.len[i], node[i]);
        }
        rc = rc ? gy_complain_memory() : GY_EXIT_OK;
        b->keys_total += k.count;
    }
    gy_keys_close(&k);
    return rc;
}

/* Keys over weight, of the nodes that should have any. */
static int measure(struct balance *b)
{
    double *load = calloc((size_t)b->count * 2 + 2, sizeof *load);
    if (!load) {
        return gy_complain_memory();
    }
    double *weight = load + b->count + 1;
    size_t n = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        double w = gyre_map_node(b->map, i)->weight;
        b->total_weight += w;
        if (w > 0 && b->keys) {
            load[n] = (double)b->keys[i];
            weight[n++] = w;
        }
    }
    b->measured = (struct gyre_balance){.size = sizeof b->measured};
    gyre_balance_of(load, weight, n, &b->measured);
    free(load);
    b->evidence = (struct gyre_evidence){.size = sizeof b->evidence};
    if (b->keys && gyre_map_judge(b->map, b->keys, SURE, &b->evidence)) {
        b->evidence.p = 1; /* cannot be: the size and the confidence are right */
    }
    return GY_EXIT_OK;
}

static int find_causes(struct balance *b)
{
    uint32_t node = b->why ? gyre_map_find(b->map, b->why) : GYRE_NONE;
    char q[GY_QUOTE];
    if (b->why && node == GYRE_NONE) {
        gy_complain("balance: --why: no node %s", gy_utf8_quote(q, gy_str(b->why)));
        return GY_EXIT_USAGE;
    }
    return gy_causes_find(&b->causes, b->topo, node, b->keys_total ? b->keys : NULL, &b->parts)
               ? gy_complain_memory()
               : GY_EXIT_OK;
}

static bool tells_why(const struct balance *b)
{
    return b->causes.node != GYRE_NONE && (b->why || b->causes.times > UNEVEN);
}

static int find_facts(struct balance *b, char **args, int count)
{
    b->count = gyre_map_count(b->map);
    b->exact = (struct gyre_balance){.size = sizeof b->exact};
    gyre_map_balance(b->map, &b->exact);
    int rc = b->target > 0 ? gy_points_find(b->topology, b->target, &b->points) : GY_EXIT_OK;
    if (!rc && b->weight_for) {
        rc = gy_weigh_find(b->topology, b->map, b->weight_for, &b->weigh);
    }
    if (!rc) {
        rc = count_keys(b, args, count);
    }
    if (!rc) {
        rc = measure(b);
    }
    if (!rc && (gy_groups_make(b->map, b->keys, GY_BY_ZONE, &b->zones) ||
                gy_groups_make(b->map, b->keys, GY_BY_HOST, &b->hosts))) {
        rc = gy_complain_memory();
    }
    return rc ? rc : find_causes(b);
}

/* So few fall unevenly on any placement: k keys a node alone make a CV of about 1/sqrt(k). */
static bool too_few(const struct balance *b)
{
    return b->keys_total < (uint64_t)KEYS_A_NODE * b->measured.nodes;
}

static bool too_far(const struct balance *b)
{
    return b->exact.cv > b->limit || (b->keys_total && !too_few(b) && b->measured.cv > b->limit);
}

/* ---- as text ---- */

static void text_nodes(const struct balance *b, struct gy_buf *out)
{
    const char *heads[] = {
        "NODE",       "ADDRESS",  "ZONE", ">WEIGHT", ">SHARE", ">/FAIR", b->keys ? ">KEYS" : NULL,
        ">KEY SHARE", ">AT 95 %", NULL};
    struct gy_table t;
    gy_table_init(&t, heads);
    for (uint32_t i = 0; i < b->count; i++) {
        const struct gyre_node *n = gyre_map_node(b->map, i);
        double share = gyre_map_share(b->map, i), fair = n->weight / b->total_weight;
        gy_table_cell(&t, n->name);
        gy_table_cell(&t, n->address);
        gy_table_cell(&t, n->zone);
        gy_table_format(&t, "%.6g", n->weight);
        gy_table_format(&t, "%.3f %%", 100 * share);
        if (fair > 0) {
            gy_table_format(&t, "%.3f", share / fair);
        } else {
            gy_table_cell(&t, "drained");
        }
        if (b->keys) {
            double part = b->keys_total ? (double)b->keys[i] / (double)b->keys_total : 0;
            gy_table_format(&t, "%llu", (unsigned long long)b->keys[i]);
            gy_table_format(&t, "%.3f %%", 100 * part);
            double low, high;
            gyre_share_interval(b->keys[i], b->keys_total, SURE, &low, &high);
            gy_table_format(&t, "%.2f-%.2f %%", 100 * low, 100 * high);
        }
    }
    gy_table_end(&t, out);
}

static void text_groups(const struct balance *b, struct gy_buf *out)
{
    if (b->zones.count) {
        gy_buf_putc(out, '\n');
        gy_groups_table(&b->zones, "ZONE", b->keys_total, out);
    }
    /* Hosts tell something new only where one carries several nodes. */
    if (b->hosts.count && b->hosts.count + b->hosts.ungrouped < b->count) {
        gy_buf_putc(out, '\n');
        gy_groups_table(&b->hosts, "HOST", b->keys_total, out);
    }
}

/* Where the keys come from and what they share is not known; that it was not chance is. */
static void text_evidence(const struct balance *b, struct gy_buf *out)
{
    const struct gyre_evidence *e = &b->evidence;
    if (e->degrees == 0) {
        return;
    }
    char p[32] = "< 0.000001";
    if (e->p >= 1e-6) {
        snprintf(p, sizeof p, "%.2g", e->p);
    }
    gy_buf_printf(out, "chi-square %.1f on %u degrees of freedom, p %s", e->chi_square, e->degrees,
                  p);
    gy_buf_puts(out, e->p < NO_CHANCE
                         ? ": NOT CHANCE: common hash tags, repeated keys, or no fair sample\n"
                         : ": chance explains how far these keys are from the shares\n");
}

static void text_keys(const struct balance *b, struct gy_buf *out)
{
    gy_buf_printf(out, "%llu key%s: CV %.4f (of all such keys %.4f to %.4f, at 95 %%); ",
                  (unsigned long long)b->keys_total, b->keys_total == 1 ? "" : "s", b->measured.cv,
                  b->evidence.cv_low, b->evidence.cv_high);
    gy_buf_printf(out, "largest/mean %.3f, smallest/mean %.3f\n", b->measured.peak,
                  b->measured.least);
    text_evidence(b, out);
    if (too_few(b)) {
        gy_buf_printf(out, "too few keys to judge by: fewer than %d a node\n", KEYS_A_NODE);
    }
}

static void text_figures(const struct balance *b, struct gy_buf *out)
{
    gy_buf_printf(out, "\n%u node%s", b->exact.nodes, b->exact.nodes == 1 ? "" : "s");
    if (gyre_map_points(b->map)) {
        gy_buf_printf(out, ", %llu points, %zu KB", (unsigned long long)gyre_map_points(b->map),
                      (gyre_map_bytes(b->map) + 1023) / 1024);
    }
    gy_buf_printf(out, "\nCV %.4f", b->exact.cv);
    if (b->exact.expected_cv > 0) {
        gy_buf_printf(out, " (about %.4f expected)", b->exact.expected_cv);
    }
    gy_buf_printf(out, "; largest/mean %.3f, smallest/mean %.3f\n", b->exact.peak, b->exact.least);
    if (b->keys_total) {
        text_keys(b, out);
    }
    if (b->target > 0) {
        gy_points_text(&b->points, out);
    }
    if (b->weight_for) {
        gy_weigh_text(&b->weigh, out);
    }
}

static void text_verdict(const struct balance *b, struct gy_buf *out)
{
    if (!too_far(b)) {
        return;
    }
    char line[200];
    bool exact = b->exact.cv > b->limit;
    snprintf(line, sizeof line, "ALERT: %s CV %.4f is above %.4g",
             exact ? "the placement's" : "the keys'", exact ? b->exact.cv : b->measured.cv,
             b->limit);
    gy_term_tint(out, GY_TINT_BAD, line);
    if (b->causes.main && strcmp(b->causes.main->code, "points") != 0) {
        gy_buf_printf(out, ": %s\n", b->causes.main->code);
        return;
    }
    gy_buf_puts(out, exact ? ": more points per node would even it out\n"
                           : ": hash tags that draw many together, or the weights\n");
}

static void as_text(const struct balance *b, struct gy_buf *out)
{
    text_nodes(b, out);
    text_groups(b, out);
    text_figures(b, out);
    text_verdict(b, out);
    if (tells_why(b)) {
        gy_causes_text(&b->causes, b->map, out);
    }
}

/* ---- as JSON ---- */

static void json_node(const struct balance *b, uint32_t i, struct gy_json *j)
{
    const struct gyre_node *n = gyre_map_node(b->map, i);
    gy_json_object(j);
    gy_json_kstring(j, "name", n->name);
    gy_json_kstring(j, "address", n->address);
    gy_json_kdouble(j, "weight", n->weight);
    gy_json_kstring(j, "zone", n->zone);
    gy_json_kdouble(j, "share", gyre_map_share(b->map, i));
    gy_json_kdouble(j, "fair_share", n->weight / b->total_weight);
    if (b->keys) {
        gy_json_kuint(j, "keys", b->keys[i]);
        gy_json_kdouble(j, "key_share",
                        b->keys_total ? (double)b->keys[i] / (double)b->keys_total : 0);
        double low, high;
        gyre_share_interval(b->keys[i], b->keys_total, SURE, &low, &high);
        gy_json_kdouble(j, "key_share_low", low);
        gy_json_kdouble(j, "key_share_high", high);
    }
    gy_json_object_end(j);
}

static void json_figures(const struct balance *b, struct gy_json *j)
{
    gy_json_kdouble(j, "cv", b->exact.cv);
    gy_json_kdouble(j, "expected_cv", b->exact.expected_cv);
    gy_json_kdouble(j, "peak", b->exact.peak);
    gy_json_kdouble(j, "least", b->exact.least);
    gy_json_kuint(j, "points", gyre_map_points(b->map));
    gy_json_kuint(j, "bytes", gyre_map_bytes(b->map));
    if (b->keys) {
        gy_json_kuint(j, "keys_total", b->keys_total);
        gy_json_kdouble(j, "keys_cv", b->measured.cv);
        gy_json_kdouble(j, "keys_peak", b->measured.peak);
        gy_json_kdouble(j, "keys_least", b->measured.least);
        gy_json_kbool(j, "keys_judged", !too_few(b));
        gy_json_kdouble(j, "keys_cv_low", b->evidence.cv_low);
        gy_json_kdouble(j, "keys_cv_high", b->evidence.cv_high);
        gy_json_kdouble(j, "chi_square", b->evidence.chi_square);
        gy_json_kuint(j, "degrees", b->evidence.degrees);
        gy_json_kdouble(j, "p", b->evidence.p);
        gy_json_kbool(j, "chance", b->evidence.p >= NO_CHANCE);
    }
    if (b->target > 0) {
        gy_points_json(&b->points, j);
    }
    if (b->weight_for) {
        gy_weigh_json(&b->weigh, j);
    }
    if (tells_why(b)) {
        gy_causes_json(&b->causes, b->map, j);
    }
    gy_json_kdouble(j, "limit", b->limit);
    gy_json_kbool(j, "balanced", !too_far(b));
}

static void as_json(const struct balance *b, struct gy_buf *out)
{
    struct gy_json j;
    gy_json_init(&j, out);
    gy_json_object(&j);
    gy_json_kuint(&j, "version", gyre_map_version(b->map));
    gy_json_key(&j, "nodes");
    gy_json_array(&j);
    for (uint32_t i = 0; i < b->count; i++) {
        json_node(b, i, &j);
    }
    gy_json_array_end(&j);
    json_figures(b, &j);
    gy_groups_json(&b->zones, &j, "zones", "zone", b->keys != NULL, b->keys_total);
    gy_groups_json(&b->hosts, &j, "hosts", "host", b->keys != NULL, b->keys_total);
    gy_json_object_end(&j);
    gy_buf_putc(out, '\n');
}

int gy_cmd_balance(int argc, char **argv)
{
    struct balance b = {.limit = 0.20};
    char **words;
    int count;
    int rc = gy_opt_parse(&USAGE, argc, argv, &b, &words, &count);
    if (rc != GY_GO_ON) {
        return rc;
    }
    struct gy_topo topo;
    struct gy_buf out = {0};
    rc = gy_topo_load(words[0], &b.topo_from, &topo);
    b.map = topo.map;
    if (!rc) {
        b.topo = &topo;
        b.topology = topo.config->topology;
        rc = find_facts(&b, words + 1, count - 1);
    }
    if (!rc) {
        (b.json ? as_json : as_text)(&b, &out);
        rc = gy_out_flush(&out);
    }
    if (!rc && too_far(&b)) {
        rc = GY_EXIT_NO;
    }
    gy_buf_fini(&out);
    gy_groups_fini(&b.zones);
    gy_groups_fini(&b.hosts);
    gy_parts_fini(&b.parts);
    free(b.keys);
    gy_topo_fini(&topo);
    return rc;
}
