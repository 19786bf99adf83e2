/* SPDX-License-Identifier: Apache-2.0 */
/* apart.c - see apart.h. */
#include "cli/apart.h"
#include "cli/sweep.h"
#include "cli/term.h"
#include "formats/address.h"

/* The first `depth` parts of a zone; empty: it is not so deep. */
static struct gy_slice top(const char *zone, unsigned depth)
{
    size_t n = 0;
    for (unsigned i = 0; zone && i < depth; i++) {
        if (i && !zone[n]) {
            return gy_str("");
        }
        n += i > 0;
        n += strcspn(zone + n, "/");
    }
    return (struct gy_slice){(const uint8_t *)zone, zone ? n : 0};
}

static struct gy_slice place(const struct gyre_node *n, unsigned depth)
{
    if (depth) {
        return top(n->zone, depth);
    }
    return n->address ? gy_address_host(n->address) : gy_str("");
}

static bool meet(const gyre_map_t *m, const uint32_t *holders, size_t n, unsigned depth)
{
    for (size_t i = 1; i < n; i++) {
        struct gy_slice one = place(gyre_map_node(m, holders[i]), depth);
        for (size_t k = 0; one.n && k < i; k++) {
            if (gy_slice_eq(one, place(gyre_map_node(m, holders[k]), depth))) {
                return true;
            }
        }
    }
    return false;
}

static void add(void *ctx, double share, const uint32_t *holders, size_t n)
{
    struct gy_apart *a = ctx;
    a->host += meet(a->map, holders, n, 0) ? share : 0;
    for (unsigned d = 0; d < a->levels; d++) {
        a->level[d] += meet(a->map, holders, n, d + 1) ? share : 0;
    }
}

void gy_apart_find(struct gy_apart *a, const gyre_map_t *map, uint64_t replicas, uint64_t samples)
{
    *a = (struct gy_apart){.map = map, .replicas = replicas};
    for (uint32_t i = 0; i < gyre_map_count(map); i++) {
        const struct gyre_node *n = gyre_map_node(map, i);
        a->has_hosts |= n->address != NULL;
        while (a->levels < GY_APART_LEVELS && top(n->zone, a->levels + 1).n) {
            a->levels++;
        }
        for (unsigned d = 0; d < a->levels; d++) {
            a->example[d] = a->example[d] || !top(n->zone, d + 1).n ? a->example[d] : n->zone;
        }
    }
    if (replicas > 1 && (a->has_hosts || a->levels)) {
        gy_sweep(map, (size_t)replicas, samples, add, a);
    }
}

void gy_apart_text(const struct gy_apart *a, struct gy_buf *out)
{
    if (a->replicas < 2 || !(a->has_hosts || a->levels)) {
        return;
    }
    gy_buf_puts(out, "\ntwo copies of a key are together\n");
    if (a->has_hosts) {
        gy_buf_printf(out, "%10.3f %%  on one host\n", 100 * a->host);
    }
    for (unsigned d = 0; d < a->levels; d++) {
        gy_buf_printf(out, "%10.3f %%  in one zone, as ", 100 * a->level[d]);
        gy_term_encode(out, top(a->example[d], d + 1));
        gy_buf_putc(out, '\n');
    }
}

void gy_apart_json(const struct gy_apart *a, struct gy_json *j)
{
    gy_json_key(j, "together");
    gy_json_object(j);
    if (a->has_hosts) {
        gy_json_kdouble(j, "host", a->host);
    }
    gy_json_key(j, "zones");
    gy_json_array(j);
    for (unsigned d = 0; d < a->levels; d++) {
        gy_json_double(j, a->level[d]);
    }
    gy_json_array_end(j);
    gy_json_object_end(j);
}
