/* SPDX-License-Identifier: Apache-2.0 */
/* movement.c - see movement.h. */
#include "cli/movement.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/term.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- counting keys ---- */

static uint64_t pair_of(uint32_t from, uint32_t to)
{
    return (uint64_t)from << 32 | to;
}

static int by_pair(const void *a, const void *b)
{
    const struct gy_flow_count *x = a, *y = b;
    return x->pair < y->pair ? -1 : x->pair > y->pair;
}

static int by_flow(const void *a, const void *b)
{
    const struct gy_flow_count *x = a, *y = b;
    return x->flow < y->flow ? -1 : x->flow > y->flow;
}

static int prepare_counts(struct gy_movement *m)
{
    m->count = gyre_diff_count(m->diff);
    m->counts = calloc(m->count ? m->count : 1, sizeof *m->counts);
    if (!m->counts) {
        return gy_complain_memory();
    }
    for (size_t i = 0; i < m->count; i++) {
        const struct gyre_flow *f = gyre_diff_flow(m->diff, i);
        m->counts[i].flow = i;
        m->counts[i].pair = pair_of(gyre_map_find(m->from, f->from), gyre_map_find(m->to, f->to));
    }
    qsort(m->counts, m->count, sizeof *m->counts, by_pair);
    return GY_EXIT_OK;
}

/* Numbers of the first map's nodes in the second: the same name is the same node. */
static uint32_t *translation(const struct gy_movement *m)
{
    uint32_t n = gyre_map_count(m->from);
    uint32_t *to = calloc(n ? n : 1, sizeof *to);
    for (uint32_t i = 0; to && i < n; i++) {
        to[i] = gyre_map_find(m->to, gyre_map_node(m->from, i)->name);
    }
    return to;
}

static void count_key(struct gy_movement *m, const uint32_t *same, uint32_t before, uint32_t after)
{
    if (same[before] == after) {
        return;
    }
    struct gy_flow_count probe = {.pair = pair_of(before, after)};
    struct gy_flow_count *c = bsearch(&probe, m->counts, m->count, sizeof probe, by_pair);
    m->keys_moved++;
    if (c) {
        c->keys++;
    }
}

static int count_keys(struct gy_movement *m, struct gy_keys *k)
{
    uint32_t *same = translation(m);
    int rc = same ? prepare_counts(m) : gy_complain_memory();
    while (!rc && !(rc = gy_keys_next(k)) && k->count) {
        uint32_t before[GY_KEYS_BATCH], after[GY_KEYS_BATCH];
        gyre_map_locate_batch(m->from, k->key, k->len, k->count, before);
        gyre_map_locate_batch(m->to, k->key, k->len, k->count, after);
        for (size_t i = 0; i < k->count; i++) {
            count_key(m, same, before[i], after[i]);
        }
        m->keys_total += k->count;
    }
    free(same);
    if (!rc) {
        qsort(m->counts, m->count, sizeof *m->counts, by_flow);
    }
    return rc;
}

int gy_movement_make(struct gy_movement *m, gyre_map_t *from, gyre_map_t *to, uint64_t samples,
                     const struct gy_keys_from *keys)
{
    *m = (struct gy_movement){.from = from, .to = to, .samples = samples};
    gyre_error_t e = {0};
    gy_progress_begin("comparing", 0);
    int rc = gyre_diff_build(from, to, (size_t)samples, &m->diff, &e);
    gy_progress_end();
    if (rc) {
        e.code = rc;
        return gy_complain_error(&e);
    }
    m->measured = keys->lines || keys->nul;
    if (!m->measured) {
        return gy_keys_none(keys);
    }
    struct gy_keys k = {.fd = -1};
    rc = gy_keys_open(&k, keys, NULL, 0, true);
    if (!rc) {
        rc = count_keys(m, &k);
    }
    gy_keys_close(&k);
    return rc;
}

void gy_movement_fini(struct gy_movement *m)
{
    gyre_diff_free(m->diff);
    free(m->counts);
    *m = (struct gy_movement){0};
}

static bool sampled(const struct gy_movement *m)
{
    return gyre_diff_basis(m->diff) == GYRE_SAMPLED;
}

/* Of a share found by sampling: within it 19 times of 20. 0 where nothing was. */
static double error_of(const struct gy_movement *m, double share)
{
    return !sampled(m) || !m->samples ? 0 : 1.96 * sqrt(share * (1 - share) / (double)m->samples);
}

/* The same of the ratio; the minimum comes of the shares alone, which are not sampled. */
static double ratio_error(const struct gy_movement *m)
{
    double minimum = gyre_diff_minimum(m->diff);
    return minimum > 0 ? error_of(m, gyre_diff_moved(m->diff)) / minimum : 0;
}

bool gy_movement_excess(const struct gy_movement *m, double limit)
{
    /* The ratio of two fractions that are rounded: a billionth is rounding, not a key. */
    return gyre_diff_ratio(m->diff) - ratio_error(m) > limit * (1 + 1e-9);
}

/* Nodes are the same and only weights are not: of that hash mod N has no notion. */
static bool only_weights(const struct gy_movement *m)
{
    uint32_t n = gyre_map_count(m->from);
    bool changed = false;
    for (uint32_t i = 0; i < n; i++) {
        const struct gyre_node *old = gyre_map_node(m->from, i);
        uint32_t k = gyre_map_find(m->to, old->name);
        if (k == GYRE_NONE) {
            return false;
        }
        changed = changed || gyre_map_node(m->to, k)->weight != old->weight;
    }
    return changed && gyre_map_count(m->to) == n;
}

/* ---- as text ---- */

static uint64_t flow_keys(const struct gy_movement *m, size_t flow)
{
    return m->measured ? m->counts[flow].keys : 0;
}

static void text_share(const struct gy_movement *m, double share, struct gy_table *t)
{
    if (!sampled(m)) {
        gy_table_format(t, "%.4f %%", 100 * share);
    } else {
        gy_table_format(t, "%.4f %% ± %.4f", 100 * share, 100 * error_of(m, share));
    }
}

static void text_flows(const struct gy_movement *m, size_t most, struct gy_buf *out)
{
    const char *heads[] = {"FROM", "TO", ">SHARE", m->measured ? ">KEYS" : NULL, NULL};
    size_t n = gyre_diff_count(m->diff);
    if (!n) {
        gy_buf_puts(out, "nothing moves\n");
        return;
    }
    struct gy_table t;
    gy_table_init(&t, heads);
    for (size_t i = 0; i < n && i < most; i++) {
        const struct gyre_flow *f = gyre_diff_flow(m->diff, i);
        gy_table_cell(&t, f->from);
        gy_table_cell(&t, f->to);
        text_share(m, f->share, &t);
        if (m->measured) {
            gy_table_format(&t, "%llu", (unsigned long long)flow_keys(m, i));
        }
    }
    gy_table_end(&t, out);
    if (n > most) {
        gy_buf_printf(out, "... and %zu smaller flows (--flows)\n", n - most);
    }
}

static void text_figures(const struct gy_movement *m, struct gy_buf *out)
{
    double moved = gyre_diff_moved(m->diff), ratio = gyre_diff_ratio(m->diff);
    gy_buf_printf(out, "\nmoved     %9.4f %%  ", 100 * moved);
    if (sampled(m)) {
        gy_buf_printf(out, "± %.4f of the key space\n", 100 * error_of(m, moved));
    } else if (gyre_diff_exact(m->diff)) {
        gy_buf_puts(out, "of the key space, exactly\n");
    } else {
        gy_buf_puts(out, "of the keys, as expected of their hashes (computed, not sampled)\n");
    }
    gy_buf_printf(out, "minimum   %9.4f %%  that any placement with these shares must move\n",
                  100 * gyre_diff_minimum(m->diff));
    /* Nothing moves less than the minimum: below 1 it is the sample that fell so. */
    if (!sampled(m)) {
        gy_buf_printf(out, "ratio     %9.3f    moved / minimum\n", ratio);
    } else if (ratio < 1) {
        gy_buf_puts(out, "ratio       about 1    moved / minimum\n");
    } else {
        gy_buf_printf(out, "ratio     %9.3f    ± %.3f  moved / minimum\n", ratio, ratio_error(m));
    }
    if (gyre_diff_modulo(m->diff) == 0 && only_weights(m)) {
        gy_buf_puts(out, "modulo            -    hash mod N knows no weights\n");
    } else {
        gy_buf_printf(out, "modulo    %9.4f %%  is what hash mod N would move\n",
                      100 * gyre_diff_modulo(m->diff));
    }
    if (sampled(m)) {
        gy_buf_printf(
            out,
            "estimated from %llu samples (± at 95 %%): these placements cannot be compared "
            "exactly\n",
            (unsigned long long)m->samples);
    }
}

void gy_movement_text(const struct gy_movement *m, double limit, size_t flows, struct gy_buf *out)
{
    text_flows(m, flows, out);
    text_figures(m, out);
    if (m->measured) {
        double part = m->keys_total ? (double)m->keys_moved / (double)m->keys_total : 0;
        gy_buf_printf(out, "keys      %9llu    of %llu move (%.4f %%)\n",
                      (unsigned long long)m->keys_moved, (unsigned long long)m->keys_total,
                      100 * part);
    }
    if (m->copies > 1) {
        gy_buf_printf(out, "replicas  %9llu    copies of a key; all of this is of its first only\n",
                      (unsigned long long)m->copies);
    }
    if (gy_movement_excess(m, limit)) {
        char line[120];
        snprintf(line, sizeof line, "NOT MINIMAL: the ratio %.4f is above %.4g",
                 gyre_diff_ratio(m->diff), limit);
        gy_term_tint(out, GY_TINT_BAD, line);
        gy_buf_putc(out, '\n');
    }
}

/* ---- as JSON ---- */

static const char *const bases[] = {
    [GYRE_SAMPLED] = "sampled", [GYRE_EXPECTED] = "expected", [GYRE_EXACT] = "exact"};

static void json_flows(const struct gy_movement *m, struct gy_json *j)
{
    gy_json_key(j, "flows");
    gy_json_array(j);
    for (size_t i = 0; i < gyre_diff_count(m->diff); i++) {
        const struct gyre_flow *f = gyre_diff_flow(m->diff, i);
        gy_json_object(j);
        gy_json_kstring(j, "from", f->from);
        gy_json_kstring(j, "to", f->to);
        gy_json_kdouble(j, "share", f->share);
        if (m->measured) {
            gy_json_kuint(j, "keys", flow_keys(m, i));
        }
        gy_json_object_end(j);
    }
    gy_json_array_end(j);
}

void gy_movement_json(const struct gy_movement *m, double limit, struct gy_json *j)
{
    gy_json_kuint(j, "from_version", gyre_map_version(m->from));
    gy_json_kuint(j, "to_version", gyre_map_version(m->to));
    gy_json_kdouble(j, "moved", gyre_diff_moved(m->diff));
    gy_json_kdouble(j, "minimum", gyre_diff_minimum(m->diff));
    gy_json_kdouble(j, "ratio", gyre_diff_ratio(m->diff));
    gy_json_kdouble(j, "modulo", gyre_diff_modulo(m->diff));
    gy_json_kbool(j, "exact", gyre_diff_exact(m->diff));
    gy_json_kstring(j, "basis", bases[gyre_diff_basis(m->diff)]);
    if (sampled(m)) {
        gy_json_kuint(j, "samples", m->samples);
        gy_json_kdouble(j, "moved_error", error_of(m, gyre_diff_moved(m->diff)));
        gy_json_kdouble(j, "ratio_error", ratio_error(m));
    }
    gy_json_kbool(j, "minimal", !gy_movement_excess(m, limit));
    if (m->measured) {
        gy_json_kuint(j, "keys_total", m->keys_total);
        gy_json_kuint(j, "keys_moved", m->keys_moved);
    }
    json_flows(m, j);
}
