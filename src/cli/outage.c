/* SPDX-License-Identifier: Apache-2.0 */
/* outage.c - see outage.h. */
#include "cli/outage.h"
#include "base/num.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/pairs.h"
#include "cli/progress.h"
#include "cli/sweep.h"
#include "cli/table.h"
#include "cli/term.h"

#include <stdlib.h>

#define NAMES_SHOWN 6

uint64_t gy_copies_of(const gyre_topology_t *t)
{
    uint64_t n;
    const char *text = gyre_topology_get(t, "replicas");
    return text && !gy_num_uint(gy_str(text), &n) && n ? n : 1;
}

uint64_t gy_copies_of_two(const gyre_topology_t *a, const gyre_topology_t *b)
{
    uint64_t x = gy_copies_of(a), y = gy_copies_of(b);
    return x > y ? x : y;
}

int gy_plain_map(const gyre_topology_t *t, gyre_map_t **out)
{
    gyre_topology_t *plain = gyre_topology_clone(t);
    int rc = GY_EXIT_OK;
    *out = NULL;
    if (!plain || gyre_topology_set(plain, "spread", "none", NULL)) {
        rc = gy_complain_memory();
    }
    rc = rc ? rc : gy_topo_build(plain, "topology", out);
    gyre_topology_free(plain);
    return rc;
}

/* ---- the facts ---- */

struct tally {
    struct gy_outage *o;
    double *gets; /* of each node */
};

static void take_over(void *ctx, double share, const uint32_t *holders, size_t n)
{
    struct tally *t = ctx;
    if (!n || !t->o->down->node[holders[0]]) {
        return;
    }
    t->o->gone += share;
    for (size_t i = 1; i < n; i++) {
        if (!t->o->down->node[holders[i]]) {
            t->gets[holders[i]] += share;
            return;
        }
    }
    t->o->unserved += share;
}

static void lose(void *ctx, double share, const uint32_t *holders, size_t n)
{
    struct tally *t = ctx;
    for (size_t i = 0; i < n; i++) {
        if (!t->o->down->node[holders[i]]) {
            return;
        }
    }
    t->o->lost += n ? share : 0;
}

/* More are down than a range tells holders: each generated key is asked. */
static void sample_heirs(struct tally *t, gyre_mask_t *k, const gyre_map_t *m)
{
    double share = 1 / (double)t->o->samples;
    for (uint64_t i = 0; i < t->o->samples; i++) {
        char key[GY_SAMPLE_ROOM];
        size_t n = gy_sample_key(key, i);
        uint32_t pair[2] = {gyre_map_locate(m, key, n), gyre_mask_locate(k, key, n)};
        if (pair[0] != pair[1]) {
            take_over(t, share, pair, pair[1] == GYRE_NONE ? 1 : 2);
        }
    }
}

static int find_ring(struct gy_outage *o, double *gets)
{
    struct tally t = {o, gets};
    gyre_map_t *plain = NULL;
    gyre_mask_t *mask = NULL;
    int rc = gy_plain_map(o->topo->config->topology, &plain);
    if (!rc && o->down->nodes < GY_SWEEP_MOST) {
        o->exact = gy_sweep(plain, o->down->nodes + 1, o->samples, take_over, &t);
    } else if (!rc) {
        mask = gy_down_mask(o->down, o->topo->map);
        rc = mask ? GY_EXIT_OK : gy_complain_memory();
        if (!rc) {
            sample_heirs(&t, mask, o->topo->map);
        }
    }
    if (!rc && o->copies > 1) {
        o->exact &= gy_sweep(o->topo->map, o->copies, o->samples, lose, &t);
    } else if (!rc) {
        o->lost = o->gone;
    }
    gyre_mask_unref(mask);
    gyre_map_unref(plain);
    for (uint32_t i = 0; !rc && i < gyre_map_count(o->topo->map); i++) {
        const struct gyre_node *n = gyre_map_node(o->topo->map, i);
        if (gets[i] > 0) {
            o->heirs[o->count++] = (struct gy_heir){n->name, n->address, n->zone,
                                                    gyre_map_share(o->topo->map, i), gets[i]};
        }
    }
    return rc;
}

/* Slots stay together: a replica of their master takes all of them over, or nobody does. */
static void find_cluster(struct gy_outage *o)
{
    const struct gy_pool *p = o->topo->pool;
    o->exact = true;
    for (size_t i = 0; i < p->server_count; i++) {
        const struct gy_server *s = &p->servers[i];
        uint32_t node = s->is_node ? gyre_map_find(o->topo->map, s->name) : GYRE_NONE;
        if (node == GYRE_NONE || !o->down->server[i]) {
            continue;
        }
        double share = gyre_map_share(o->topo->map, node);
        const struct gy_server *heir = gy_standby(p, s, o->down);
        o->gone += share;
        if (heir && share > 0) {
            o->heirs[o->count++] =
                (struct gy_heir){heir->name, heir->address, heir->zone, 0, share};
        } else if (!heir) {
            o->unserved += share;
            o->lost += share;
        }
    }
}

static int most_first(const void *a, const void *b)
{
    const struct gy_heir *x = a, *y = b;
    return x->gets != y->gets ? (x->gets < y->gets) - (x->gets > y->gets)
                              : strcmp(x->name, y->name);
}

int gy_outage_find(struct gy_outage *o, const struct gy_topo *topo, const struct gy_downed *down,
                   uint64_t copies, uint64_t samples)
{
    size_t n = (size_t)gyre_map_count(topo->map) + topo->pool->server_count + 1;
    *o = (struct gy_outage){.topo = topo,
                            .down = down,
                            .copies = copies ? copies : gy_copies_of(topo->config->topology),
                            .samples = samples,
                            .heirs = calloc(n, sizeof *o->heirs)};
    double *gets = calloc(n, sizeof *gets);
    int rc = o->heirs && gets ? GY_EXIT_OK : gy_complain_memory();
    gy_progress_begin("looking who takes over", 0);
    if (!rc && down->cluster) {
        find_cluster(o);
    } else if (!rc) {
        rc = find_ring(o, gets);
    }
    gy_progress_end();
    if (!rc) {
        qsort(o->heirs, o->count, sizeof *o->heirs, most_first);
    }
    free(gets);
    return rc;
}

void gy_outage_fini(struct gy_outage *o)
{
    free(o->heirs);
    *o = (struct gy_outage){0};
}

/* ---- as text ---- */

static void text_down(const struct gy_outage *o, struct gy_buf *out)
{
    const struct gy_pool *p = o->topo->pool;
    size_t n = 0;
    for (size_t i = 0; i < p->server_count; i++) {
        n += o->down->server[i];
    }
    gy_buf_printf(out, "down      %zu of %zu: ", n, p->server_count);
    for (size_t i = 0, k = 0; i < p->server_count && k <= NAMES_SHOWN; i++) {
        if (o->down->server[i] && k++ < NAMES_SHOWN) {
            gy_buf_puts(out, k > 1 ? ", " : "");
            gy_term_encode(out, gy_str(p->servers[i].name));
        }
    }
    gy_buf_puts(out, n > NAMES_SHOWN ? ", ...\n" : "\n");
}

static void text_heirs(const struct gy_outage *o, size_t most, struct gy_buf *out)
{
    const char *heads[] = {"TAKES OVER", "ADDRESS", "ZONE",   ">OWNS",
                           ">GETS",      ">THEN",   ">TIMES", NULL};
    struct gy_table t;
    gy_table_init(&t, heads);
    for (size_t i = 0; i < o->count && i < most; i++) {
        const struct gy_heir *h = &o->heirs[i];
        gy_table_cell(&t, h->name);
        gy_table_cell(&t, h->address);
        gy_table_cell(&t, h->zone);
        gy_table_format(&t, "%.3f %%", 100 * h->owned);
        gy_table_format(&t, "%.3f %%", 100 * h->gets);
        gy_table_format(&t, "%.3f %%", 100 * (h->owned + h->gets));
        if (h->owned > 0) {
            gy_table_format(&t, "%.2f", (h->owned + h->gets) / h->owned);
        } else {
            gy_table_cell(&t, NULL);
        }
    }
    if (o->count) {
        gy_table_end(&t, out);
        gy_buf_puts(out, o->count > most ? "...\n\n" : "\n");
    } else {
        gy_buf_fini(&t.text);
    }
}

void gy_outage_text(const struct gy_outage *o, size_t most, struct gy_buf *out)
{
    text_heirs(o, most, out);
    text_down(o, out);
    gy_buf_printf(out, "moved     %.4f %% of the key space has another server meanwhile%s\n",
                  100 * (o->gone - o->unserved), o->exact ? ", exactly; no other key moves" : "");
    gy_buf_puts(out,
                o->down->cluster
                    ? "back      a server that is back is a replica, and takes the keys back by "
                      "CLUSTER FAILOVER\n"
                    : "back      the same keys return, and no others; what was written meanwhile "
                      "stays behind\n");
    if (o->unserved > 0) {
        gy_buf_printf(out, "unserved  %.4f %%: nobody is left to take it over\n",
                      100 * o->unserved);
    }
    gy_buf_printf(out, "lost      %.4f %% has no other copy", 100 * o->lost);
    if (!o->down->cluster) {
        gy_buf_printf(out, " (of %llu)", (unsigned long long)o->copies);
    }
    gy_buf_puts(out, ", should they not come back\n");
    if (!o->exact) {
        gy_buf_printf(out, "estimated from %llu sampled keys\n", (unsigned long long)o->samples);
    }
    const char *like = gyre_topology_get(o->topo->config->topology, "like");
    if (!o->down->cluster && like && *like) {
        gy_buf_printf(
            out,
            "this is each key's order in a %s map; whether its clients pass a server that "
            "is down, or send errors, is their setting\n",
            like);
    }
}

/* ---- as JSON ---- */

void gy_outage_json(const struct gy_outage *o, struct gy_buf *out)
{
    const struct gy_pool *p = o->topo->pool;
    struct gy_json j;
    gy_json_init(&j, out);
    gy_json_object(&j);
    gy_json_kuint(&j, "version", gyre_map_version(o->topo->map));
    gy_json_key(&j, "down");
    gy_json_array(&j);
    for (size_t i = 0; i < p->server_count; i++) {
        if (o->down->server[i]) {
            gy_json_string(&j, p->servers[i].name);
        }
    }
    gy_json_array_end(&j);
    gy_json_kuint(&j, "replicas", o->copies);
    gy_json_kbool(&j, "exact", o->exact);
    if (!o->exact) {
        gy_json_kuint(&j, "samples", o->samples);
    }
    gy_json_kdouble(&j, "moved", o->gone - o->unserved);
    gy_json_kdouble(&j, "unserved", o->unserved);
    gy_json_kdouble(&j, "lost", o->lost);
    gy_json_key(&j, "takes_over");
    gy_json_array(&j);
    for (size_t i = 0; i < o->count; i++) {
        const struct gy_heir *h = &o->heirs[i];
        gy_json_object(&j);
        gy_json_kstring(&j, "name", h->name);
        gy_json_kstring(&j, "address", h->address);
        gy_json_kstring(&j, "zone", h->zone);
        gy_json_kdouble(&j, "owned", h->owned);
        gy_json_kdouble(&j, "gets", h->gets);
        gy_json_object_end(&j);
    }
    gy_json_array_end(&j);
    gy_json_object_end(&j);
    gy_buf_putc(out, '\n');
}
