/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_any.c - any bytes as a file of each format in turn: the first byte chooses one, or that it
 * is recognised. What is refused says why; what is accepted builds a map or says why not, and
 * survives being written as gyre's own YAML; where the format was chosen, as its own, too.
 */
#include "formats/format.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds) {
        abort();
    }
}

/* An included file is the text behind the first empty line of the whole. */
static int include(void *self, const char *from, const char *pattern, gy_included_fn *each,
                   void *arg, gyre_error_t *e)
{
    (void)from, (void)pattern, (void)e;
    const struct gy_slice *text = self;
    const uint8_t *at = text->n ? memmem(text->p, text->n, "\n\n", 2) : NULL;
    size_t skip = at ? (size_t)(at - text->p) + 2 : text->n;
    return at ? each(arg, "included", (struct gy_slice){at + 2, text->n - skip}) : GYRE_OK;
}

static void check_pool(struct gy_pool *p)
{
    must(p->name && !p->config == (p->why != NULL));
    for (size_t i = 0; i < p->server_count; i++) {
        must(p->servers[i].name != NULL);
    }
    if (!p->config) {
        return;
    }
    struct gy_buf yaml = {0};
    struct gy_config *again = NULL;
    gyre_error_t e = {0};
    gy_config_dump(p->config->topology, &p->config->proxy, &yaml);
    must(gy_config_parse(gy_buf_cstr(&yaml), gy_buf_size(&yaml), "again", &again, &e) == GYRE_OK);
    must(gyre_topology_count(again->topology) == gyre_topology_count(p->config->topology));
    gy_config_free(again);
    gy_buf_fini(&yaml);
}

/* It is written as its own system's file, or refused with a reason. */
static void check_write(const struct gy_pool *p, const struct gy_format *f)
{
    size_t n;
    const struct gy_format *all = gy_formats(&n);
    struct gy_to_write what = {.topology = p->config->topology, .from = p, .from_format = f};
    for (size_t i = 0; i < n; i++) {
        struct gy_written w = {0};
        gyre_error_t e = {0};
        bool own = all[i].writer && all[i].writer->like;
        must(!own || gy_format_write(&all[i], &what, &w, &e) == GYRE_OK || *e.message);
        gy_written_fini(&w);
    }
}

/* Maps cost more than texts: only small ones of few nodes. */
static void check_map(struct gy_pool *p, const struct gy_format *f, bool writes)
{
    gyre_map_t *map = NULL;
    gyre_error_t e = {0};
    if (!p->config || gyre_topology_count(p->config->topology) > 8) {
        return;
    }
    for (size_t i = 0; i < gyre_topology_count(p->config->topology); i++) {
        if (gyre_topology_node(p->config->topology, i)->weight > 8) {
            return;
        }
    }
    if (gyre_map_build(p->config->topology, &map, &e)) {
        must(*e.message);
    } else {
        must(gy_pool_judge(p, map) == GYRE_OK);
        if (writes) {
            check_write(p, f);
        }
    }
    gyre_map_unref(map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t formats;
    const struct gy_format *all = gy_formats(&formats);
    if (size == 0) {
        return 0;
    }
    struct gy_slice text = {data + 1, size - 1};
    size_t choice = data[0] % 32;
    struct gy_source from = {.file = "fuzz",
                             .format = choice < formats ? all[choice].name : NULL,
                             .include = include,
                             .include_self = &text};
    struct gy_pools *f;
    gyre_error_t e = {0};
    int rc = gy_pools_parse(text, &from, &f, &e);
    if (rc) {
        must(rc < 0 && !f && *e.message && e.code == rc);
        return 0;
    }
    for (size_t i = 0; i < f->count; i++) {
        check_pool(f->list[i]);
        check_map(f->list[i], f->format, from.format != NULL);
    }
    gy_pools_free(f);
    return 0;
}
