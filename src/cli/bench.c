/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.c - `gyre bench`: every placement on this machine and the user's fleet, in one table. What
 * is compared, and how, is in contest.c.
 */
#include "base/json.h"
#include "cli/cmd.h"
#include "cli/contest.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/table.h"
#include "cli/term.h"
#include "cli/topo.h"

#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#define NODES_MAX 100000

struct bench {
    struct gy_topo_from topo_from;
    uint64_t nodes;
    double seconds;
    bool json;
};

static const struct gy_opt OPTIONS[] = {
    {0, "nodes", "N", "without TOPOLOGY: so many nodes of weight 1 (100)", GY_OPT_UINT,
     offsetof(struct bench, nodes), 1, NODES_MAX, NULL},
    {0, "seconds", "S", "CPU time for each placement's lookups (0.5)", GY_OPT_NUMBER,
     offsetof(struct bench, seconds), 0, 3600000000, NULL},
    GY_TOPO_OPTIONS(struct bench),
    {0, "json", NULL, "answer in JSON", GY_OPT_FLAG, offsetof(struct bench, json), 0, 0, NULL},
    {0}};

static const char *const EXAMPLES[] = {
    "gyre bench fleet.yaml",
    "gyre bench --nodes 1000 --seconds 2 --json",
    NULL,
};

static const struct gy_usage USAGE = {
    "gyre bench",
    "[TOPOLOGY]",
    "Times every placement on this machine and the nodes of TOPOLOGY: building it, its memory, a "
    "lookup\nalone and in a batch (the key's hash included), what moves when a node of weight 1 "
    "comes, and how\nuneven it is. All take turns in one run, beside a binary search over a sorted "
    "array of as many points\nas the ring has. The ratios are worth comparing between machines, "
    "the nanoseconds are not.",
    OPTIONS,
    EXAMPLES,
    0,
    1,
    GY_EXITS_ASKED,
};

/* ---- the machine ---- */

static void cpu_name(char out[128])
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "re");
    snprintf(out, 128, "unknown processor");
    while (f && fgets(line, sizeof line, f)) {
        const char *colon = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (colon) {
            snprintf(out, 128, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (f) {
        fclose(f);
    }
}

/* ---- as text ---- */

static void put_size(struct gy_table *t, uint64_t bytes)
{
    if (bytes < 10 << 10) {
        gy_table_format(t, "%llu B", (unsigned long long)bytes);
    } else if (bytes < 10 << 20) {
        gy_table_format(t, "%llu KB", (unsigned long long)bytes >> 10);
    } else {
        gy_table_format(t, "%llu MB", (unsigned long long)bytes >> 20);
    }
}

static void put_share(struct gy_table *t, double share)
{
    if (share < 0) {
        gy_table_cell(t, NULL);
    } else {
        gy_table_format(t, "%.3f %%", 100 * share);
    }
}

static void put_time(struct gy_table *t, const struct gy_timing *ns, double base)
{
    if (ns->least > 0) {
        gy_table_format(t, "%.1f", ns->least);
        gy_table_format(t, "%.1f", ns->median);
        gy_table_format(t, "%.2f", base / ns->least);
    } else {
        for (int i = 0; i < 3; i++) {
            gy_table_cell(t, NULL);
        }
    }
}

/* The baseline's least time of one lookup, its yardstick. */
static double base_of(const struct gy_contest *c)
{
    return c->count ? c->list[c->count - 1].single.least : 0;
}

static void as_text(const struct gy_contest *c, struct gy_buf *out)
{
    static const char *const heads[] = {"PLACEMENT", ">BUILD", ">MEMORY", ">ONE",   ">MEDIAN",
                                        ">RATIO",    ">BATCH", ">MEDIAN", ">RATIO", ">MOVED",
                                        ">LEAST",    ">CV",    NULL};
    struct gy_table t;
    char cpu[128];
    bool equal = false;
    struct utsname u = {0};
    uname(&u);
    cpu_name(cpu);
    gy_table_init(&t, heads);
    for (size_t i = 0; i < c->count; i++) {
        const struct gy_contestant *me = &c->list[i];
        if (*me->why) {
            continue;
        }
        gy_table_format(&t, "%s%s", me->name, me->equal ? " *" : "");
        equal = equal || me->equal;
        gy_table_format(&t, "%.2f ms", me->build_ms);
        put_size(&t, me->bytes);
        put_time(&t, &me->single, base_of(c));
        put_time(&t, &me->batch, base_of(c));
        put_share(&t, me->moved);
        put_share(&t, me->minimum);
        gy_table_format(&t, "%.4f", me->cv);
    }
    gy_table_end(&t, out);
    gy_buf_printf(out,
                  "\n%zu nodes. ONE and BATCH: ns of CPU a key, the least of %d rounds in turns, "
                  "and their median;\nRATIO: how many times as fast as one lookup in the sorted "
                  "array of %llu points.\nMOVED: when a node of weight 1 comes; LEAST: what must "
                  "move then.\n",
                  gyre_topology_count(c->fleet), GY_CONTEST_ROUNDS, (unsigned long long)c->points);
    gy_buf_puts(out, equal ? "* knows no weights: measured with all of them 1.\n" : "");
    for (size_t i = 0; i < c->count; i++) {
        if (*c->list[i].why) {
            gy_buf_printf(out, "%s: no part: ", c->list[i].name);
            gy_term_encode(out, gy_str(c->list[i].why));
            gy_buf_putc(out, '\n');
        }
    }
    gy_buf_printf(out, "%s, %ld processors, %s %s, gyre %s\n", cpu, sysconf(_SC_NPROCESSORS_ONLN),
                  u.sysname, u.machine, gyre_version());
}

/* ---- as JSON ---- */

static void json_time(struct gy_json *j, const char *name, const struct gy_timing *ns, double base)
{
    gy_json_key(j, name);
    if (!(ns->least > 0)) {
        gy_json_null(j);
        return;
    }
    gy_json_object(j);
    gy_json_kdouble(j, "least_ns", ns->least);
    gy_json_kdouble(j, "median_ns", ns->median);
    gy_json_kdouble(j, "ratio", base / ns->least);
    gy_json_object_end(j);
}

static void json_share(struct gy_json *j, const char *name, double share)
{
    gy_json_key(j, name);
    if (share < 0) {
        gy_json_null(j);
    } else {
        gy_json_double(j, share);
    }
}

static void json_one(struct gy_json *j, const struct gy_contestant *me, double base)
{
    gy_json_object(j);
    gy_json_kstring(j, "name", me->name);
    gy_json_key(j, "why_not");
    if (*me->why) {
        gy_json_string(j, me->why);
    } else {
        gy_json_null(j);
        gy_json_kbool(j, "weights_1", me->equal);
        gy_json_kdouble(j, "build_ms", me->build_ms);
        gy_json_kuint(j, "bytes", me->bytes);
        json_time(j, "one", &me->single, base);
        json_time(j, "batch", &me->batch, base);
        json_share(j, "moved", me->moved);
        json_share(j, "minimum", me->minimum);
        gy_json_kdouble(j, "cv", me->cv);
    }
    gy_json_object_end(j);
}

static void as_json(const struct gy_contest *c, struct gy_buf *out)
{
    struct gy_json j;
    char cpu[128];
    cpu_name(cpu);
    gy_json_init(&j, out);
    gy_json_object(&j);
    gy_json_kstring(&j, "gyre", gyre_version());
    gy_json_kstring(&j, "processor", cpu);
    gy_json_kuint(&j, "processors", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
    gy_json_kuint(&j, "nodes", gyre_topology_count(c->fleet));
    gy_json_kuint(&j, "rounds", GY_CONTEST_ROUNDS);
    gy_json_kuint(&j, "baseline_points", c->points);
    gy_json_key(&j, "placements");
    gy_json_array(&j);
    for (size_t i = 0; i < c->count; i++) {
        json_one(&j, &c->list[i], base_of(c));
    }
    gy_json_array_end(&j);
    gy_json_object_end(&j);
    gy_buf_putc(out, '\n');
}

/* ---- the command ---- */

static gyre_topology_t *plain_fleet(uint64_t nodes)
{
    gyre_topology_t *t = gyre_topology_new();
    int err = t ? GYRE_OK : GYRE_NOMEM;
    for (uint64_t i = 0; !err && i < nodes; i++) {
        char name[32];
        const struct gyre_node n = {.size = sizeof n, .name = name, .weight = 1};
        snprintf(name, sizeof name, "cache-%llu", (unsigned long long)i);
        err = gyre_topology_add(t, &n, NULL);
    }
    if (err) {
        gyre_topology_free(t);
        return NULL;
    }
    return t;
}

int gy_cmd_bench(int argc, char **argv)
{
    struct bench b = {.nodes = 100, .seconds = 0.5};
    char **words;
    int count;
    int rc = gy_opt_parse(&USAGE, argc, argv, &b, &words, &count);
    if (rc != GY_GO_ON) {
        return rc;
    }
    struct gy_topo topo = {0};
    gyre_topology_t *plain = NULL;
    struct gy_contest c = {.own = count > 0, .seconds = b.seconds};
    struct gy_buf out = {0};
    if (count) {
        rc = gy_topo_load(words[0], &b.topo_from, &topo);
        c.fleet = rc ? NULL : topo.config->topology;
    } else {
        c.fleet = plain = plain_fleet(b.nodes);
        rc = plain ? GY_EXIT_OK : gy_complain_memory();
    }
    if (!rc) {
        rc = gy_contest_run(&c);
    }
    if (!rc) {
        (b.json ? as_json : as_text)(&c, &out);
    }
    int wrote = gy_out_end(&out);
    gy_contest_fini(&c);
    gyre_topology_free(plain);
    gy_topo_fini(&topo);
    return rc ? rc : wrote;
}
