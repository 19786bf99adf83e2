/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_back.c - see write_back.h. A node may come back with an address that its name says; apart
 * from that, and from the losses that were told, both topologies are the same.
 */
#include "formats/write_back.h"
#include "base/utf8.h"
#include "formats/address.h"
#include "formats/format.h"

#define FILE_NAME "(what would be written)"

static int differs(const struct gy_writing *w, const struct gyre_node *node, const char *what,
                   const char *is, const char *back)
{
    char q[3][GY_QUOTE];
    return gy_format_fail(w->e, GYRE_MISMATCH, NULL,
                          "%s cannot say this: node %s has the %s %s, and would be read back with "
                          "%s",
                          w->format->writer->system, gy_utf8_quote(q[0], gy_str(node->name)), what,
                          is ? gy_utf8_quote(q[1], gy_str(is)) : "none",
                          back ? gy_utf8_quote(q[2], gy_str(back)) : "none");
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static int same_node(const struct gy_writing *w, const struct gyre_node *a,
                     const struct gyre_node *b)
{
    if (a->address && !(b->address && gy_address_same(a->address, b->address))) {
        return differs(w, a, "address", a->address, b->address);
    }
    if (w->format->writer->keeps & GY_KEEPS_ZONES && !same_text(a->zone, b->zone)) {
        return differs(w, a, "zone", a->zone, b->zone);
    }
    if (a->weight != b->weight) {
        struct gy_buf is = {0}, back = {0};
        gy_write_weight(&is, a->weight);
        gy_write_weight(&back, b->weight);
        int rc = differs(w, a, "weight", gy_buf_cstr(&is), gy_buf_cstr(&back));
        gy_buf_fini(&is);
        gy_buf_fini(&back);
        return rc;
    }
    return GYRE_OK;
}

static int same_nodes(const struct gy_writing *w, const gyre_topology_t *back)
{
    const struct gyre_node *node;
    size_t count = 0;
    int rc = GYRE_OK;
    for (size_t i = 0; !rc && (node = gy_write_next(w, &i)) != NULL; count++) {
        const struct gyre_node *other = gyre_topology_find(back, node->name);
        char q[GY_QUOTE];
        rc = other
                 ? same_node(w, node, other)
                 : gy_format_fail(w->e, GYRE_MISMATCH, NULL,
                                  "%s cannot say this: a node called %s would be read back "
                                  "under another name",
                                  w->format->writer->system, gy_utf8_quote(q, gy_str(node->name)));
    }
    if (!rc && count != gyre_topology_count(back)) {
        rc = gy_format_fail(w->e, GYRE_MISMATCH, NULL, "%zu nodes would be read back, not %zu",
                            gyre_topology_count(back), count);
    }
    return rc;
}

/* What was to be said, less what no file of the format could. */
static int wanted(const struct gy_writing *w, gyre_map_t **out)
{
    gyre_topology_t *t = gyre_topology_clone(w->t);
    unsigned keeps = w->format->writer->keeps;
    *out = NULL;
    int rc = t ? GYRE_OK : gy_format_fail(w->e, GYRE_NOMEM, NULL, "out of memory");
    if (!rc && !(keeps & GY_KEEPS_REPLICAS)) {
        rc = gyre_topology_set(t, "replicas", "1", w->e);
    }
    if (!rc && keeps != GY_KEEPS_ALL) {
        rc = gyre_topology_set(t, "spread", "none", w->e);
    }
    rc = rc ? rc : gyre_map_build(t, out, w->e);
    gyre_topology_free(t);
    return rc;
}

/* The reader's reason is a reason not to write. */
static int no_reading(const struct gy_writing *w, const gyre_error_t *e)
{
    return e->code == GYRE_NOMEM
               ? gy_format_fail(w->e, GYRE_NOMEM, NULL, "out of memory")
               : gy_format_fail(w->e, GYRE_MISMATCH, NULL, "%s cannot say this: %s",
                                w->format->writer->system, e->message);
}

static int compare(const struct gy_writing *w, const gyre_topology_t *back)
{
    gyre_map_t *is = NULL, *would = NULL;
    int rc = same_nodes(w, back);
    rc = rc ? rc : wanted(w, &is);
    rc = rc ? rc : gyre_map_build(back, &would, w->e);
    if (!rc && !gyre_map_same(is, would)) {
        rc = gy_format_fail(w->e, GYRE_MISMATCH, NULL,
                            "%s cannot say this: read back, some keys would be elsewhere",
                            w->format->writer->system);
    }
    gyre_map_unref(is);
    gyre_map_unref(would);
    return rc;
}

int gy_write_back(const struct gy_writing *w)
{
    struct gy_source from = {.file = FILE_NAME, .format = w->format->name};
    struct gy_slice text = {gy_buf_head(w->out), gy_buf_size(w->out)};
    struct gy_pools *pools = NULL;
    struct gy_pool *pool = NULL;
    gyre_error_t e = {0};
    int rc = gy_pools_parse(text, &from, &pools, &e);
    rc = rc ? rc : gy_pools_pick(pools, NULL, FILE_NAME, &pool, &e);
    if (rc) {
        e.code = rc;
        rc = no_reading(w, &e);
    } else {
        rc = compare(w, pool->config->topology);
    }
    gy_pools_free(pools);
    return rc;
}
