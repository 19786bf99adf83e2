/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes.c - what is worth telling of any pool, whatever its format: servers that share an address,
 * servers that no key can reach. See pools.h and format.h.
 */
#include "base/utf8.h"
#include "formats/format.h"

#include <stdlib.h>

int gy_pool_vnote(struct gy_pool *p, enum gy_level level, const char *code, unsigned line,
                  const char *fmt, va_list ap)
{
    if ((p->note_count & (p->note_count - 1)) == 0) {
        size_t room = p->note_count ? p->note_count * 2 : 1;
        struct gy_note *grown = realloc(p->notes, room * sizeof *grown);
        if (!grown) {
            return GYRE_NOMEM;
        }
        p->notes = grown;
    }
    struct gy_buf b = {0};
    gy_buf_vprintf(&b, fmt, ap);
    struct gy_note n = {.level = level, .code = code, .line = line};
    if (!b.failed) {
        n.text = gy_slice_dup((struct gy_slice){gy_buf_head(&b), gy_buf_size(&b)});
    }
    gy_buf_fini(&b);
    if (!n.text) {
        return GYRE_NOMEM;
    }
    p->notes[p->note_count++] = n;
    return GYRE_OK;
}

int gy_pool_note(struct gy_pool *p, enum gy_level level, const char *code, unsigned line,
                 const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int rc = gy_pool_vnote(p, level, code, line, fmt, ap);
    va_end(ap);
    return rc;
}

static int by_address(const void *a, const void *b)
{
    const struct gy_server *const *x = a, *const *y = b;
    int order = strcmp((*x)->address, (*y)->address);
    return order ? order : *x < *y ? -1 : 1;
}

int gy_read_shared(struct gy_reading *r, struct gy_pool *p)
{
    const struct gy_server **sorted = calloc(p->server_count + 1, sizeof *sorted);
    if (!sorted) {
        return gy_read_nomem(r);
    }
    size_t n = 0, pairs = 0, first = 0;
    for (size_t i = 0; i < p->server_count; i++) {
        if (p->servers[i].address) {
            sorted[n++] = &p->servers[i];
        }
    }
    qsort(sorted, n, sizeof *sorted, by_address);
    for (size_t i = n; i-- > 1;) {
        if (strcmp(sorted[i - 1]->address, sorted[i]->address) == 0) {
            pairs++;
            first = i;
        }
    }
    int rc = GYRE_OK;
    if (pairs) {
        char q[2][GY_QUOTE];
        rc = gy_read_note(r, p, GY_LEVEL_NOTE, "shared-address",
                          (struct gy_mark){sorted[first]->line, 0},
                          "%zu servers stand at %zu addresses; %s and %s both at %s", n, n - pairs,
                          gy_utf8_quote(q[0], gy_str(sorted[first - 1]->name)),
                          gy_utf8_quote(q[1], gy_str(sorted[first]->name)), sorted[first]->address);
    }
    free(sorted);
    return rc;
}

/* Not told of a server that is down, that it has no keys is no surprise; nor of one that has
 * partitions, which then are later replicas (Swift). */
static bool is_expected(const struct gy_pool *p, const struct gyre_node *node)
{
    const struct gy_server *s = gy_pool_find(p, node->name);
    return node->weight <= 0 || !s || s->slots || s->states & (GY_STATE_DOWN | GY_STATE_DISABLED);
}

int gy_pool_judge(struct gy_pool *p, const gyre_map_t *map)
{
    size_t none = 0;
    char q[GY_QUOTE] = "";
    for (uint32_t i = 0; i < gyre_map_count(map); i++) {
        const struct gyre_node *node = gyre_map_node(map, i);
        if (gyre_map_share(map, i) > 0 || is_expected(p, node)) {
            continue;
        }
        if (none++ == 0) {
            gy_utf8_quote(q, gy_str(node->name));
        }
    }
    if (none == 0) {
        return GYRE_OK;
    }
    return none == 1 ? gy_pool_note(p, GY_LEVEL_WARNING, "no-keys", 0,
                                    "server %s can never get a key: it owns nothing", q)
                     : gy_pool_note(p, GY_LEVEL_WARNING, "no-keys", 0,
                                    "%zu servers can never get a key, as they own nothing: %s, ...",
                                    none, q);
}
