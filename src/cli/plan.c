/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c - `gyre plan`: the topology a change leads to, and what it moves. Nothing is done; `gyre
 * move start` with the same options does it.
 */
#include "cli/change.h"
#include "cli/cmd.h"
#include "cli/movement.h"
#include "cli/out.h"
#include "cli/outage.h"
#include "cli/replan.h"
#include "cli/write_as.h"
#include "formats/redis_slots.h"

#include <stdio.h>
#include <string.h>

struct plan {
    struct gy_topo_from topo_from;
    struct gy_keys_from from;
    struct gy_write_as as;
    struct gy_replan replan;
    uint64_t samples, flows;
    double limit;
    bool json;
    const char *output;
    /* inside */
    struct gy_changes changes;
    struct gy_topo old;
    bool dealt; /* the slots of a Redis Cluster, anew */
    gyre_topology_t *next;
    gyre_map_t *map;
    struct gy_movement movement;
};

static int change(void *into, enum gyre_change_kind kind, const char *text)
{
    gyre_error_t e = {0};
    struct plan *p = into;
    return gy_changes_add(&p->changes, kind, text, &e) ? gy_complain_error(&e) : GY_EXIT_OK;
}

static int take_add(void *into, const char *text)
{
    return change(into, GYRE_ADD, text);
}

static int take_remove(void *into, const char *text)
{
    return change(into, GYRE_REMOVE, text);
}

static int take_weight(void *into, const char *text)
{
    return change(into, GYRE_WEIGHT, text);
}

static int take_replace(void *into, const char *text)
{
    return change(into, GYRE_REPLACE, text);
}

static const struct gy_opt OPTIONS[] = {
    {0, "add", "NAME=ADDRESS[,weight=W][,zone=Z]", "a new node", GY_OPT_CALL, 0, 0, 0, take_add},
    {0, "remove", "NAME", "a node goes", GY_OPT_CALL, 0, 0, 0, take_remove},
    {0, "weight", "NAME=W", "a node takes more or less; 0 drains it", GY_OPT_CALL, 0, 0, 0,
     take_weight},
    {0, "replace", "NAME=ADDRESS", "another machine under the same name", GY_OPT_CALL, 0, 0, 0,
     take_replace},
    {'o', "output", "FILE", "write the new topology to FILE ('-': stdout, without the report)",
     GY_OPT_TEXT, offsetof(struct plan, output), 0, 0, NULL},
    GY_WRITE_AS_OPTIONS(struct plan),
    GY_REPLAN_OPTIONS(struct plan),
    GY_KEYS_OPTIONS(struct plan),
    {0, "samples", "N", "where only a sample can tell (200000)", GY_OPT_UINT,
     offsetof(struct plan, samples), 1, 1000000000, NULL},
    {0, "flows", "N", "show the N largest flows (20)", GY_OPT_UINT, offsetof(struct plan, flows), 0,
     UINT32_MAX, NULL},
    {0, "max-ratio", "R", "exit status 1 when moved / minimum is above R (1.001)", GY_OPT_NUMBER,
     offsetof(struct plan, limit), 1000000, UINT64_C(1000000000000), NULL},
    GY_TOPO_OPTIONS(struct plan),
    {0, "json", NULL, "answer in JSON", GY_OPT_FLAG, offsetof(struct plan, json), 0, 0, NULL},
    {0}};

static const char *const EXAMPLES[] = {
    "gyre plan fleet.yaml --add cache-4=10.0.0.5:6379,weight=2,zone=eu/b/r4",
    "gyre plan fleet.yaml --remove cache-1 --keys keys.txt",
    "gyre plan fleet.yaml --weight cache-2=3 --replace cache-3=10.0.0.9:6379 -o new.yaml",
    "gyre plan redis://10.0.0.1:7001 --weight 10.0.0.4:7004=0 -o drain.plan",
    NULL,
};

static const struct gy_usage USAGE = {
    "gyre plan",
    "TOPOLOGY CHANGE...",
    "Applies the changes in the order given and shows the new topology and what moves. Nothing is "
    "done to\nany server; 'gyre move start' takes the same options. The first '=' ends a name; in "
    "a name, '\\=' is '='.",
    OPTIONS,
    EXAMPLES,
    1,
    1,
    "0 fine; 1 more moves than must" GY_EXITS_NO,
};

static int prepare(struct plan *p, const char *path)
{
    bool even = p->replan.even || p->replan.by_bytes;
    if (!p->changes.count && !even) {
        gy_complain("plan: no change given; see --add, --remove, --weight, --replace, --even");
        return GY_EXIT_USAGE;
    }
    if (!p->output && (p->as.to || p->as.lossy)) {
        gy_complain("plan: --to and --lossy are for the file that -o FILE writes");
        return GY_EXIT_USAGE;
    }
    int rc = gy_write_as_check(&p->as, p->output);
    rc = rc ? rc : gy_topo_load(path, &p->topo_from, &p->old);
    gyre_error_t e = {0};
    if (!rc && (rc = gy_changes_apply(&p->changes, p->old.config->topology, &p->next, &e)) != 0) {
        e.code = rc;
        return gy_complain_error(&e);
    }
    rc = rc ? rc : gy_replan_check(&p->replan, &p->old, &p->changes);
    if (!rc && gy_replan_wanted(&p->replan, &p->old, &p->changes)) {
        rc = gy_replan(&p->replan, path, &p->old, &p->changes, &p->next);
        p->dealt = true;
        p->as.to = p->as.to ? p->as.to : "redis-plan";
        p->as.slot_sizes = p->replan.size;
    }
    if (!rc) {
        rc = gy_topo_check_shared(p->next, p->old.config->proxy.present, "the new topology");
    }
    if (!rc) {
        rc = gy_topo_build(p->next, "the new topology", &p->map);
    }
    if (!rc) {
        rc = gy_movement_make(&p->movement, p->old.map, p->map, p->samples, &p->from);
        p->movement.copies = gy_copies_of_two(p->old.config->topology, p->next);
    }
    return rc;
}

static unsigned long long slots_moved(const struct plan *p)
{
    return (unsigned long long)(gyre_diff_moved(p->movement.diff) * GY_REDIS_SLOTS + 0.5);
}

static void as_json(const struct plan *p, struct gy_buf *out)
{
    struct gy_json j;
    gy_json_init(&j, out);
    gy_json_object(&j);
    gy_movement_json(&p->movement, p->limit, &j);
    if (p->dealt) {
        gy_json_kuint(&j, "slots_moved", slots_moved(p));
    }
    gy_json_key(&j, "topology");
    gy_topo_json(p->next, &j);
    gy_json_object_end(&j);
    gy_buf_putc(out, '\n');
}

static void as_text(const struct plan *p, const struct gy_buf *file, struct gy_buf *out)
{
    gy_movement_text(&p->movement, p->limit, (size_t)p->flows, out);
    if (p->dealt) {
        gy_buf_printf(out, "slots     %9llu    of %u move\n", slots_moved(p), GY_REDIS_SLOTS);
    }
    if (p->output) {
        gy_buf_putc(out, '\n');
        /* Only gyre's own file says a version; `to` names the format of any other. */
        if (p->as.to && strcmp(p->as.to, "gyre") != 0) {
            gy_buf_printf(out, "%s", p->as.to);
        } else {
            gy_buf_printf(out, "version %llu", (unsigned long long)gyre_topology_version(p->next));
        }
        gy_buf_printf(out, " written to %s\n", p->output);
        return;
    }
    gy_buf_printf(out, "\nthe new topology (-o FILE writes it):\n\n");
    gy_buf_add(out, gy_buf_head(file), gy_buf_size(file));
}

/* The new file, to where it was asked for; the report, unless the file went to its place. */
static int answer(struct plan *p)
{
    struct gy_buf out = {0}, file = {0};
    bool reports = !p->output || strcmp(p->output, "-") != 0;
    int rc = p->output || !p->json ? gy_write_as(&p->as, &p->old, p->next, &file) : GY_EXIT_OK;
    if (!rc && p->output) {
        rc = gy_write_as_save(&p->as, p->output, &file);
    }
    if (!rc && reports && p->json) {
        as_json(p, &out);
    } else if (!rc && reports) {
        as_text(p, &file, &out);
    }
    rc = rc ? rc : gy_out_flush(&out);
    gy_buf_fini(&out);
    gy_buf_fini(&file);
    if (rc || !gy_movement_excess(&p->movement, p->limit)) {
        return rc;
    }
    if (!reports) { /* the report that would say so was not asked for */
        gy_complain("not minimal: moved / minimum is %.4f", gyre_diff_ratio(p->movement.diff));
    }
    return GY_EXIT_NO;
}

int gy_cmd_plan(int argc, char **argv)
{
    struct plan p = {.samples = 200000, .flows = 20, .limit = 1.001};
    char **words;
    int count;
    int rc = gy_opt_parse(&USAGE, argc, argv, &p, &words, &count);
    if (rc == GY_GO_ON) {
        rc = prepare(&p, words[0]);
        if (!rc) {
            rc = answer(&p);
        }
    }
    gy_movement_fini(&p.movement);
    gyre_map_unref(p.map);
    gyre_topology_free(p.next);
    gy_changes_fini(&p.changes);
    gy_replan_fini(&p.replan);
    gy_topo_fini(&p.old);
    return rc;
}
