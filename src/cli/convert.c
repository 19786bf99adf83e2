/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.c - `gyre convert`: a topology of any format, written as gyre's own YAML. What is to be
 * written is read back first: it must give the same map and the same nodes, or nothing is written.
 */
#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/save.h"
#include "cli/topo.h"
#include "formats/format.h"

struct convert {
    struct gy_topo_from topo_from;
    const char *output;
};

static const struct gy_opt OPTIONS[] = {{'o', "output", "FILE",
                                         "write to FILE, whole or not at all (stdout)", GY_OPT_TEXT,
                                         offsetof(struct convert, output), 0, 0, NULL},
                                        GY_TOPO_OPTIONS(struct convert),
                                        {0}};

static const char *const EXAMPLES[] = {
    "gyre convert nutcracker.yml --pool beta -o beta.yaml",
    "redis-cli -p 7001 cluster nodes | gyre convert -",
    NULL,
};

static const struct gy_usage USAGE = {
    "gyre convert",
    "TOPOLOGY",
    "Writes a topology of any format as gyre's own YAML, which places every key where it is. It is "
    "read back\nbefore it is written: what would not give the same map is refused.",
    OPTIONS,
    EXAMPLES,
    1,
    1,
    GY_EXITS,
};

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_nodes(const gyre_topology_t *a, const gyre_topology_t *b)
{
    size_t n = gyre_topology_count(a);
    bool same = gyre_topology_count(b) == n;
    for (size_t i = 0; same && i < n; i++) {
        const struct gyre_node *x = gyre_topology_node(a, i), *y = gyre_topology_node(b, i);
        same = same_text(x->name, y->name) && same_text(x->address, y->address) &&
               same_text(x->zone, y->zone) && x->weight == y->weight;
    }
    return same;
}

/* GY_EXIT_OK: what was written says what was read. */
static int read_back(const struct gy_topo *t, const struct gy_buf *text)
{
    struct gy_source from = {.file = "(what would be written)", .format = "gyre"};
    struct gy_pools *pools = NULL;
    gyre_map_t *map = NULL;
    gyre_error_t e = {0};
    int rc =
        gy_pools_parse((struct gy_slice){gy_buf_head(text), gy_buf_size(text)}, &from, &pools, &e);
    if (rc) {
        gy_complain("convert: gyre's YAML cannot say this topology; nothing is written");
        return gy_complain_error(&e);
    }
    const gyre_topology_t *back = pools->list[0]->config->topology;
    rc = gy_topo_build(back, from.file, &map);
    if (!rc && (!gyre_map_same(t->map, map) || !same_nodes(t->config->topology, back))) {
        gy_complain("convert: gyre's YAML does not give the same map; nothing is written");
        rc = GY_EXIT_USAGE;
    }
    gyre_map_unref(map);
    gy_pools_free(pools);
    return rc;
}

int gy_cmd_convert(int argc, char **argv)
{
    struct convert c = {0};
    char **words;
    int count;
    int rc = gy_opt_parse(&USAGE, argc, argv, &c, &words, &count);
    if (rc != GY_GO_ON) {
        return rc;
    }
    struct gy_topo t = {0};
    struct gy_buf out = {0};
    rc = gy_topo_load(words[0], &c.topo_from, &t);
    if (!rc) {
        gy_config_dump(t.config->topology, t.config->proxy.present ? &t.config->proxy : NULL, &out);
        rc = gy_buf_failed(&out) ? gy_complain_memory() : read_back(&t, &out);
    }
    if (!rc) {
        bool file = c.output && strcmp(c.output, "-") != 0;
        rc = file ? gy_save_file(c.output, &out) : gy_out_flush(&out);
    }
    gy_buf_fini(&out);
    gy_topo_fini(&t);
    return rc;
}
