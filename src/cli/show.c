/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show.c - `gyre show`: what a file of any format says, as gyre understands it: its pools, servers,
 * states and slots, and what in it will surprise. The first thing to look at before any answer
 * about that fleet is believed.
 */
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/show_pool.h"
#include "cli/source.h"
#include "cli/topo.h"
#include "formats/format.h"

#include <stdio.h>

struct show {
    struct gy_topo_from topo_from;
    bool json, formats;
};

static const struct gy_opt OPTIONS[] = {
    GY_TOPO_OPTIONS(struct show),
    {0, "formats", NULL, "lists the formats gyre reads (r) and writes (w)", GY_OPT_FLAG,
     offsetof(struct show, formats), 0, 0, NULL},
    {0, "json", NULL, "answer in JSON", GY_OPT_FLAG, offsetof(struct show, json), 0, 0, NULL},
    {0}};

static const char *const EXAMPLES[] = {
    "gyre show nutcracker.yml",
    "redis-cli -p 7001 cluster nodes | gyre show -",
    "gyre show redis://127.0.0.1:7001",
    "gyre show --formats",
    NULL,
};

static const struct gy_usage USAGE = {
    "gyre show",
    "TOPOLOGY | --formats",
    "Shows what a file says, whatever its format: pools, servers, their states and slots, and "
    "notes on what\nwill surprise. '-' is stdin; redis://HOST:PORT is asked what it knows.",
    OPTIONS,
    EXAMPLES,
    0,
    1,
    GY_EXITS_ASKED,
};

static int list_formats(const struct show *s)
{
    size_t n;
    const struct gy_format *all = gy_formats(&n);
    struct gy_buf out = {0};
    struct gy_json j;
    gy_json_init(&j, &out);
    if (s->json) {
        gy_json_object(&j);
    }
    for (size_t i = 0; i < n; i++) {
        if (s->json) {
            gy_json_kstring(&j, all[i].name, all[i].about);
        } else {
            gy_buf_printf(&out, "%-22s %s %s\n", all[i].name, all[i].writer ? "rw" : "r ",
                          all[i].about);
        }
    }
    if (s->json) {
        gy_json_object_end(&j);
        gy_buf_putc(&out, '\n');
    }
    return gy_out_end(&out);
}

static void as_json(const struct gy_pools *f, const struct gy_pool *only, struct gy_buf *out)
{
    struct gy_json j;
    gy_json_init(&j, out);
    gy_json_object(&j);
    gy_json_kstring(&j, "format", f->format->name);
    gy_json_key(&j, "pools");
    gy_json_array(&j);
    for (size_t i = 0; i < f->count; i++) {
        if (!only || f->list[i] == only) {
            gy_show_pool_json(f->list[i], &j);
        }
    }
    gy_json_array_end(&j);
    gy_json_object_end(&j);
    gy_buf_putc(out, '\n');
}

static void as_text(const struct gy_pools *f, const struct gy_pool *only, struct gy_buf *out)
{
    gy_buf_printf(out, "format: %s (%s)\n", f->format->name, f->format->about);
    for (size_t i = 0; i < f->count; i++) {
        if (!only || f->list[i] == only) {
            gy_buf_puts(out, f->count > 1 && !only ? "\n" : "");
            gy_show_pool_text(f->list[i], out);
        }
    }
}

/* What the maps tell besides. */
static int judge(struct gy_pools *f)
{
    int rc = GY_EXIT_OK;
    for (size_t i = 0; i < f->count && !rc; i++) {
        gyre_map_t *map = NULL;
        rc = gy_topo_judge(f->list[i], &map);
        gyre_map_unref(map);
    }
    return rc;
}

int gy_cmd_show(int argc, char **argv)
{
    struct show s = {0};
    char **words;
    int count;
    int rc = gy_opt_parse(&USAGE, argc, argv, &s, &words, &count);
    if (rc != GY_GO_ON) {
        return rc;
    }
    if (s.formats) {
        return list_formats(&s);
    }
    if (count == 0) {
        gy_complain("show: which file? usage: gyre show %s", USAGE.words);
        return GY_EXIT_USAGE;
    }
    struct gy_pools *pools = NULL;
    const struct gy_pool *only = NULL;
    struct gy_buf out = {0};
    gyre_error_t e = {0};
    rc = gy_source_read(words[0], s.topo_from.format, &pools, &e);
    if (!rc) {
        rc = gy_topo_some(pools, s.topo_from.pool, words[0], &only, &e);
    }
    if (rc) {
        gy_pools_free(pools);
        return gy_source_complain(words[0], &e);
    }
    rc = judge(pools);
    if (rc) {
        gy_pools_free(pools);
        return rc;
    }
    if (s.json) {
        as_json(pools, only, &out);
    } else {
        as_text(pools, only, &out);
    }
    gy_pools_free(pools);
    return gy_out_end(&out);
}
