/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cassandra_describering.c - what nodetool describering prints of a keyspace: a line a range,
 *
 *   TokenRange(start_token:1, end_token:5, endpoints:[10.0.0.1, 10.0.0.2], rpc_endpoints:[...],
 *              endpoint_details:[EndpointDetails(host:10.0.0.1, datacenter:dc1, rack:r1), ...])
 *
 * The first endpoint owns the end token; how many there are of each datacenter is the replication
 * factor. The ranges must make one whole ring.
 */
#include "formats/cassandra_describering.h"
#include "base/utf8.h"
#include "formats/cassandra.h"
#include "formats/lines.h"

#include <stdlib.h>

#define ENDPOINTS_MAX 64

struct range {
    struct gy_slice start, end;
    struct gy_mark at;
};

struct ring {
    struct gy_cassandra *c;
    struct gy_lines *l;
    struct gy_slice endpoints; /* of the line: "a, b" */
    struct range *ranges;
    size_t count, room;
};

int gy_cassandra_describering_sniff(struct gy_slice head)
{
    return gy_slice_has(head, "TokenRange(start_token:") ? GY_SURE_YES : GY_SURE_NOT;
}

/* ---- a line ---- */

/* The text between `name` and the first of `stop`; false without either. */
static bool field(struct gy_slice line, const char *name, const char *stop, struct gy_slice *out)
{
    size_t n = strlen(name);
    const uint8_t *at = memmem(line.p, line.n, name, n);
    if (!at) {
        return false;
    }
    out->p = at + n;
    size_t left = (size_t)(line.p + line.n - out->p);
    for (out->n = 0; out->n < left; out->n++) {
        if (memchr(stop, out->p[out->n], strlen(stop))) {
            return true;
        }
    }
    return false;
}

static int cut_off(struct ring *g, const char *what)
{
    return gy_read_fail(g->c->r, GYRE_SYNTAX, (struct gy_mark){g->l->number, 1},
                        "this TokenRange has no %s: cut off?", what);
}

/* "1.2.3.4", "/1.2.3.4:7000" and "host/1.2.3.4" are the last part. */
static struct gy_slice host_of(struct gy_slice text)
{
    text = gy_slice_trim(text);
    const uint8_t *slash = text.n ? memrchr(text.p, '/', text.n) : NULL;
    return slash ? (struct gy_slice){slash + 1, text.n - (size_t)(slash + 1 - text.p)} : text;
}

/* Datacenter and rack of one endpoint, from the line's details. */
static bool details_of(struct gy_slice line, struct gy_slice host, struct gy_slice *dc,
                       struct gy_slice *rack)
{
    struct gy_slice rest = line, name;
    const uint8_t *at;
    while ((at = memmem(rest.p, rest.n, "EndpointDetails(", 16)) != NULL) {
        rest = (struct gy_slice){at, (size_t)(rest.p + rest.n - at)};
        if (!field(rest, "host:", ",)", &name)) {
            return false;
        }
        if (gy_slice_eq(host_of(name), host)) {
            field(rest, "rack:", ",)", rack); /* may have none */
            return field(rest, "datacenter:", ",)", dc);
        }
        rest = (struct gy_slice){rest.p + 16, rest.n - 16};
    }
    return false;
}

static int add_endpoint(struct ring *g, struct gy_slice host, uint32_t *out)
{
    struct gy_cassandra_node node = {.name = host, .at = gy_lines_mark(g->l, host)};
    struct gy_slice dc = {NULL, 0};
    details_of(g->l->line, host, &dc, &node.rack);
    int rc = gy_cassandra_dc(g->c, node.at, dc, &node.dc);
    return rc ? rc : gy_cassandra_node(g->c, &node, out);
}

/* All endpoints of a line, the owner first; counts them by datacenter. */
static int read_endpoints(struct ring *g, uint32_t *owner)
{
    uint32_t rf[GY_CASSANDRA_DCS] = {0}, n = 0, node;
    struct gy_slice rest = g->endpoints;
    int rc = GYRE_OK;
    while (!rc && rest.n) {
        struct gy_slice host = host_of(gy_slice_cut(&rest, ','));
        if (host.n == 0 || n == ENDPOINTS_MAX) {
            return gy_read_fail(g->c->r, host.n ? GYRE_RANGE : GYRE_SYNTAX,
                                gy_lines_mark(g->l, g->endpoints),
                                "endpoints are 1 to %d addresses parted by commas", ENDPOINTS_MAX);
        }
        rc = add_endpoint(g, host, &node);
        if (!rc) {
            *owner = n++ ? *owner : node;
            rf[g->c->nodes[node].dc]++;
        }
    }
    for (uint32_t i = 0; i < g->c->dc_count && !rc; i++) {
        g->c->dcs[i].rf = rf[i] > g->c->dcs[i].rf ? rf[i] : g->c->dcs[i].rf;
    }
    return rc || n ? rc : cut_off(g, "endpoints");
}

static int keep_range(struct ring *g, struct gy_slice start, struct gy_slice end)
{
    if (g->count == g->room) {
        size_t room = g->room ? g->room * 2 : 64;
        struct range *grown = realloc(g->ranges, room * sizeof *grown);
        if (!grown) {
            return gy_read_nomem(g->c->r);
        }
        g->ranges = grown;
        g->room = room;
    }
    g->ranges[g->count++] = (struct range){start, end, gy_lines_mark(g->l, start)};
    return GYRE_OK;
}

static int read_line(struct ring *g)
{
    struct gy_slice start, end;
    uint32_t owner = 0;
    if (!gy_slice_has(g->l->line, "TokenRange(")) {
        return GYRE_OK;
    }
    if (!field(g->l->line, "start_token:", ",)", &start) || start.n == 0) {
        return cut_off(g, "start_token");
    }
    if (!field(g->l->line, "end_token:", ",)", &end) || end.n == 0) {
        return cut_off(g, "end_token");
    }
    if (!field(g->l->line, " endpoints:[", "]", &g->endpoints)) {
        return cut_off(g, "endpoints");
    }
    int rc = read_endpoints(g, &owner);
    rc = rc ? rc : gy_cassandra_token(g->c, gy_lines_mark(g->l, end), end, owner);
    return rc ? rc : keep_range(g, start, end);
}

/* ---- the ring ---- */

static int compare(struct gy_slice a, struct gy_slice b)
{
    return a.n != b.n ? (a.n < b.n ? -1 : 1) : memcmp(a.p, b.p, a.n);
}

static int by_start(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    int order = compare(x->start, y->start);
    return order ? order : x->at.line < y->at.line ? -1 : 1;
}

/* Each range begins where one ends, and none begins twice: so they follow one another around. */
static int check_whole(struct ring *g)
{
    char q[GY_QUOTE];
    if (g->count) {
        qsort(g->ranges, g->count, sizeof *g->ranges, by_start);
    }
    for (size_t i = 0; i < g->count; i++) {
        const struct range *x = &g->ranges[i];
        struct range wanted = {.start = x->end};
        size_t low = 0, high = g->count;
        while (low < high) {
            size_t mid = low + (high - low) / 2;
            if (compare(g->ranges[mid].start, wanted.start) < 0) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        if (low == g->count || compare(g->ranges[low].start, wanted.start) != 0) {
            return gy_read_fail(g->c->r, GYRE_INVALID, x->at,
                                "no range begins at %s, where this one ends: lines are missing",
                                gy_utf8_quote(q, x->end));
        }
        if (i && compare(x->start, g->ranges[i - 1].start) == 0) {
            return gy_read_fail(g->c->r, GYRE_DUPLICATE, x->at,
                                "two ranges begin at %s; the first on line %u",
                                gy_utf8_quote(q, x->start), g->ranges[i - 1].at.line);
        }
    }
    return GYRE_OK;
}

int gy_cassandra_describering_parse(struct gy_reading *r)
{
    struct gy_cassandra *c;
    int rc = gy_cassandra_new(r, &c);
    struct gy_lines l = gy_lines_of(r->text);
    struct ring g = {.c = c, .l = &l};
    if (!rc) {
        c->exact_rf = true;
    }
    while (!rc && gy_lines_next(&l)) {
        rc = read_line(&g);
    }
    rc = rc ? rc : check_whole(&g);
    rc = rc ? rc : gy_cassandra_settle(c);
    gy_cassandra_free(c);
    free(g.ranges);
    return rc;
}
