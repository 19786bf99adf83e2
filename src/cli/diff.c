/* SPDX-License-Identifier: Apache-2.0 */
/* diff.c - `gyre diff`: what moves when one topology takes the place of another. */
#include "cli/arcs.h"
#include "cli/cmd.h"
#include "cli/movement.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/topo.h"

struct diff {
    struct gy_topo_from topo_from;
    struct gy_keys_from from;
    uint64_t samples, flows;
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
    GY_TOPO_OPTIONS(struct diff),
    {0, "json", NULL, "answer in JSON", GY_OPT_FLAG, offsetof(struct diff, json), 0, 0, NULL},
    {0}};

static const char *const EXAMPLES[] = {
    "gyre diff fleet.yaml bigger-fleet.yaml",
    "gyre diff old.yaml new.yaml --keys keys.txt --json",
    "gyre diff old.yaml new.yaml --arcs",
    NULL,
};

static const struct gy_usage USAGE = {
    "gyre diff",
    "OLD NEW",
    "Shows which share of the key space changes its node, from where to where, the least that had "
    "to move,\nand what hash mod N would have moved.",
    OPTIONS,
    EXAMPLES,
    2,
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

int gy_cmd_diff(int argc, char **argv)
{
    struct diff d = {.samples = 200000, .flows = 20, .limit = 1.001};
    char **words;
    int count;
    int rc = gy_opt_parse(&USAGE, argc, argv, &d, &words, &count);
    if (rc != GY_GO_ON) {
        return rc;
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
