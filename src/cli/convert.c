/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.c - `gyre convert`: a topology of any format, written in another. What is to be written
 * is read back first (formats/write.h): it must give the same map and the same nodes, or nothing is
 * written.
 */
#include "cli/cmd.h"
#include "cli/write_as.h"

struct convert {
    struct gy_topo_from topo_from;
    struct gy_write_as as;
    const char *output;
};

static const struct gy_opt OPTIONS[] = {{'o', "output", "FILE",
                                         "write to FILE, whole or not at all (stdout)", GY_OPT_TEXT,
                                         offsetof(struct convert, output), 0, 0, NULL},
                                        GY_WRITE_AS_OPTIONS(struct convert),
                                        GY_TOPO_OPTIONS(struct convert),
                                        {0}};

static const char *const EXAMPLES[] = {
    "gyre convert nutcracker.yml --pool beta -o beta.yaml",
    "gyre convert beta.yaml --to twemproxy",
    "redis-cli -p 7001 cluster nodes | gyre convert -",
    NULL,
};

static const struct gy_usage USAGE = {
    "gyre convert",
    "TOPOLOGY",
    "Writes a topology of any format as gyre's own YAML, or with --to as another system's file. It "
    "is read\nback before it is written: what would not give the same map and nodes is refused. "
    "Only that system's\nown placement can be written for it, for every key stays where it is.",
    OPTIONS,
    EXAMPLES,
    1,
    1,
    GY_EXITS_ASKED,
};

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
    rc = gy_write_as_check(&c.as, c.output);
    rc = rc ? rc : gy_topo_load(words[0], &c.topo_from, &t);
    rc = rc ? rc : gy_write_as(&c.as, &t, t.config->topology, &out);
    rc = rc ? rc : gy_write_as_save(&c.as, c.output, &out);
    gy_buf_fini(&out);
    gy_topo_fini(&t);
    return rc;
}
