/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.c - `gyre diff`: what moves when one topology takes the place of another, or, of one, while
 * servers are down. Threads: main only.
 */
#include "cli/arcs.h"
#include "cli/cmd.h"
#include "cli/movement.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/outage.h"
#include "cli/topo.h"

struct diff {
    struct gy_topo_from topo_from;
    struct gy_keys_from from;
    struct gy_down_from down_from;
    uint64_t samples, flows, replicas;
    double limit;
    bool arcs, json;
};

static const struct gy_opt OPTIONS[] = {
    GY_KEYS_OPTIONS(struct diff),
    {0, "samples", "N", "where only a sample can tell (200000)", GY_OPT_UINT,
     offsetof(struct diff, samples), 1, 1000000000, NULL},
    {0, "flows", "N", "show the N largest flows (20)", GY_OPT_UINT, offsetof(struct diff, flows), 0,
     UINT32_MAX, NULL},
    {0, "arcs", NULL, "list what moves: first and last position, share, from, to", GY_OPT_FLAG,
     offsetof(struct diff, arcs), 0, 0, NULL},
    {0, "max-ratio", "R", "exit status 1 when moved / minimum is above R (1.001)", GY_OPT_NUMBER,
     offsetof(struct diff, limit), 1000000, UINT64_C(1000000000000), NULL},
    GY_DOWN_OPTION(struct diff, "of one topology: this node, zone or host is down (repeatable)"),
    {'n', "replicas", "R", "with --down: nodes that hold a key (default: as the topology says)",
     GY_OPT_UINT, offsetof(struct diff, replicas), 1, 64, NULL},
    GY_TOPO_OPTIONS(struct diff),
    {0, "json", NULL, "answer in JSON", GY_OPT_FLAG, offsetof(struct diff, json), 0, 0, NULL},
    {0}};

static const char *const EXAMPLES[] = {
    "gyre diff fleet.yaml bigger-fleet.yaml",
    "gyre diff old.yaml new.yaml --keys keys.txt --json",
    "gyre diff old.yaml new.yaml --arcs",
    "gyre diff fleet.yaml --down cache-1",
    "gyre diff fleet.yaml --down eu/a/r1 -n 3",
    NULL,
};

static const struct gy_usage USAGE = {
    "gyre diff",
    "OLD NEW | TOPOLOGY --down NAME...",
    "Shows which share of the key space changes its node, from where to where, the least that had "
    "to move,\nand what hash mod N would have moved. With --down: who takes over, what moves back, "
    "what is lost.",
    OPTIONS,
    EXAMPLES,
    1,
    2,
    "0 fine; 1 more moves than must" GY_EXITS_NO,
};

static void answer(const struct diff *d, const struct gy_movement *m, struct gy_buf *out)
{
    if (!d->json) {
        if (d->arcs) {
            gy_arcs_text(m->diff, m->from, m->to, out);
            gy_buf_putc(out, '\n');
        }
        gy_movement_text(m, d->limit, (size_t)d->flows, out);
        return;
    }
    struct gy_json j;
    gy_json_init(&j, out);
    gy_json_object(&j);
    gy_movement_json(m, d->limit, &j);
    if (d->arcs) {
        gy_arcs_json(m->diff, m->from, m->to, &j);
    }
    gy_json_object_end(&j);
    gy_buf_putc(out, '\n');
}

static int diff_down(const struct diff *d, const char *path)
{
    struct gy_topo topo = {0};
    struct gy_downed down = {0};
    struct gy_outage o = {0};
    struct gy_buf out = {0};
    int rc = gy_topo_load(path, &d->topo_from, &topo);
    rc = rc ? rc : gy_down_find(&down, &d->down_from, &topo);
    rc = rc ? rc : gy_outage_find(&o, &topo, &down, d->replicas, d->samples);
    if (!rc && d->json) {
        gy_outage_json(&o, &out);
    } else if (!rc) {
        gy_outage_text(&o, (size_t)d->flows, &out);
    }
    int wrote = gy_out_end(&out);
    gy_outage_fini(&o);
    gy_down_fini(&down);
    gy_topo_fini(&topo);
    return rc ? rc : wrote;
}

/* --down asks of one topology, everything else of two. */
static int check_words(const struct diff *d, int count)
{
    bool down = d->down_from.count > 0;
    if (down && (d->arcs || d->from.lines || d->from.nul)) {
        gy_complain("diff: --down goes without --arcs and --keys");
        return GY_EXIT_USAGE;
    }
    if (!down && d->replicas) {
        gy_complain("diff: -n goes with --down");
        return GY_EXIT_USAGE;
    }
    if (count != (down ? 1 : 2)) {
        gy_complain("diff: %s; usage: gyre diff %s",
                    down ? "--down takes one topology" : "which second topology?", USAGE.words);
        return GY_EXIT_USAGE;
    }
    return GY_EXIT_OK;
}

int gy_cmd_diff(int argc, char **argv)
{
    struct diff d = {.samples = 200000, .flows = 20, .limit = 1.001};
    char **words;
    int count;
    int rc = gy_opt_parse(&USAGE, argc, argv, &d, &words, &count);
    if (rc != GY_GO_ON) {
        return rc;
    }
    rc = check_words(&d, count);
    if (rc || d.down_from.count) {
        return rc ? rc : diff_down(&d, words[0]);
    }
    struct gy_topo old = {0}, new = {0};
    struct gy_movement m = {0};
    struct gy_buf out = {0};
    rc = gy_topo_load(words[0], &d.topo_from, &old);
    if (!rc) {
        rc = gy_topo_load(words[1], &d.topo_from, &new);
    }
    if (!rc) {
        rc = gy_topo_check_shared(new.config->topology, new.config->proxy.present, words[1]);
    }
    if (!rc) {
        rc = gy_movement_make(&m, old.map, new.map, d.samples, &d.from);
        m.copies = gy_copies_of_two(old.config->topology, new.config->topology);
    }
    if (!rc && d.arcs && !gyre_diff_has_arcs(m.diff)) {
        gy_complain("diff: --arcs: these placements have no arcs that can be compared");
        rc = GY_EXIT_USAGE;
    }
    if (!rc) {
        answer(&d, &m, &out);
        rc = gy_out_flush(&out);
    }
    if (!rc && gy_movement_excess(&m, d.limit)) {
        rc = GY_EXIT_NO;
    }
    gy_buf_fini(&out);
    gy_movement_fini(&m);
    gy_topo_fini(&old);
    gy_topo_fini(&new);
    return rc;
}
