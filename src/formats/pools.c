/* SPDX-License-Identifier: Apache-2.0 */
/* pools.c - see pools.h. */
#include "formats/pools.h"
#include "base/utf8.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

const char *gy_state_name(enum gy_state_bit bit)
{
    static const char *const names[] = {
#define GY_STATE_NAME(id, name) name,
        GY_STATES(GY_STATE_NAME)
#undef GY_STATE_NAME
    };
    return names[bit];
}

const char *gy_role_name(enum gy_role role)
{
    static const char *const names[] = {NULL, "primary", "replica"};
    return names[role];
}

struct gy_pools *gy_pools_new(void)
{
    return calloc(1, sizeof(struct gy_pools));
}

static void free_server(struct gy_server *s)
{
    for (size_t i = 0; i < s->open_count; i++) {
        free(s->open[i].peer);
    }
    free(s->open);
    free(s->name);
    free(s->id);
    free(s->address);
    free(s->zone);
    free(s->replica_of);
    free(s->owned);
    free(s->reported);
}

static void unsort(struct gy_pool *p)
{
    free(p->by_name.list);
    free(p->by_id.list);
    free(p->by_primary.list);
    p->by_name = p->by_id = p->by_primary = (struct gy_sorted){NULL, 0};
}

void gy_pool_drop_last(struct gy_pool *p)
{
    unsort(p);
    free_server(&p->servers[--p->server_count]);
}

static void free_pool(struct gy_pool *p)
{
    unsort(p);
    for (size_t i = 0; i < p->server_count; i++) {
        free_server(&p->servers[i]);
    }
    for (size_t i = 0; i < p->note_count; i++) {
        free(p->notes[i].text);
    }
    for (size_t i = 0; i < p->fact_count; i++) {
        free(p->facts[i].value);
    }
    free(p->servers);
    free(p->notes);
    free(p->facts);
    free(p->node_lines);
    free(p->name);
    free(p->why);
    gy_config_free(p->config);
    free(p);
}

void gy_pools_free(struct gy_pools *f)
{
    if (f) {
        for (size_t i = 0; i < f->count; i++) {
            free_pool(f->list[i]);
        }
        free(f->list);
        free(f);
    }
}

/* ---- choosing a pool ---- */

/* "a, b, c and 12 more": as many names as fit. */
static void list_names(const struct gy_pools *f, char *out, size_t size)
{
    size_t w = 0, shown = 0;
    for (; shown < f->count && w + GY_QUOTE < size; shown++) {
        char q[GY_QUOTE];
        w += (size_t)snprintf(out + w, size - w, "%s%s", shown ? ", " : "",
                              gy_utf8_quote(q, gy_str(f->list[shown]->name)));
    }
    if (shown < f->count) {
        snprintf(out + w, size - w, " and %zu more", f->count - shown);
    }
}

static int no_such_pool(const struct gy_pools *f, const char *name, const char *file,
                        gyre_error_t *e)
{
    char q[GY_QUOTE], list[500] = "";
    const char **names = calloc(f->count + 1, sizeof *names);
    if (!names) {
        return gy_format_fail(e, GYRE_NOMEM, file, "out of memory");
    }
    for (size_t i = 0; i < f->count; i++) {
        names[i] = f->list[i]->name;
    }
    const char *near = gyre_nearest(name, names, f->count);
    gy_utf8_quote(q, gy_str(name));
    if (near) {
        char nq[GY_QUOTE];
        gy_format_fail(e, GYRE_UNKNOWN, file, "there is no pool %s; did you mean %s?", q,
                       gy_utf8_quote(nq, gy_str(near)));
    } else {
        list_names(f, list, sizeof list);
        gy_format_fail(e, GYRE_UNKNOWN, file, "there is no pool %s; there are: %s", q, list);
    }
    free(names);
    return GYRE_UNKNOWN;
}

static struct gy_pool *find_pool(const struct gy_pools *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++) {
        if (strcmp(f->list[i]->name, name) == 0) {
            return f->list[i];
        }
    }
    return NULL;
}

int gy_pools_pick(const struct gy_pools *f, const char *name, const char *file,
                  struct gy_pool **out, gyre_error_t *e)
{
    struct gy_pool *pick = name ? find_pool(f, name) : NULL;
    *out = NULL;
    if (name && !pick) {
        return no_such_pool(f, name, file, e);
    }
    size_t placed = 0;
    for (size_t i = 0; !name && i < f->count; i++) {
        if (f->list[i]->config) {
            placed++;
            pick = f->list[i];
        }
    }
    if (placed > 1) {
        char list[500] = "";
        list_names(f, list, sizeof list);
        return gy_format_fail(e, GYRE_UNKNOWN, file, "holds %zu pools; choose one with --pool: %s",
                              f->count, list);
    }
    if (!pick && f->count == 1) {
        pick = f->list[0];
    }
    if (!pick) {
        return gy_format_fail(e, GYRE_UNSUPPORTED, file,
                              "none of its %zu pools can be placed; 'gyre show' says why",
                              f->count);
    }
    if (!pick->config) {
        return gy_format_fail_at(e, GYRE_UNSUPPORTED, file, (struct gy_mark){pick->line, 0}, "%s",
                                 pick->why);
    }
    *out = pick;
    return GYRE_OK;
}

/* ---- looking things up ---- */

/* The text of a server that an order goes by, by its place in the struct; NULL: it has none. */
static const char *text_of(const struct gy_server *s, size_t text)
{
    return *(char *const *)(const void *)((const char *)s + text);
}

/* Those of one text stand as in the file, so the first of them is found. */
static int by_text(const void *a, const void *b, void *text)
{
    const struct gy_server *const *x = a, *const *y = b;
    int order = strcmp(text_of(*x, *(size_t *)text), text_of(*y, *(size_t *)text));
    return order ? order : *x < *y ? -1 : *x > *y;
}

static bool sort(const struct gy_pool *p, struct gy_sorted *out, size_t text)
{
    out->list = calloc(p->server_count + 1, sizeof *out->list);
    for (size_t i = 0; out->list && i < p->server_count; i++) {
        if (text_of(&p->servers[i], text)) {
            out->list[out->count++] = &p->servers[i];
        }
    }
    if (out->list) {
        qsort_r(out->list, out->count, sizeof *out->list, by_text, &text);
    }
    return out->list;
}

int gy_pool_sort(struct gy_pool *p)
{
    unsort(p);
    if (sort(p, &p->by_name, offsetof(struct gy_server, name)) &&
        sort(p, &p->by_id, offsetof(struct gy_server, id)) &&
        sort(p, &p->by_primary, offsetof(struct gy_server, replica_of))) {
        return GYRE_OK;
    }
    unsort(p);
    return GYRE_NOMEM;
}

/* The first whose text is not below the one wanted; count: none. */
static size_t lower_bound(const struct gy_sorted *in, size_t text, const char *wanted)
{
    size_t low = 0, high = in->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(text_of(in->list[middle], text), wanted) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool is_at(const struct gy_sorted *in, size_t i, size_t text, const char *wanted)
{
    return i < in->count && strcmp(text_of(in->list[i], text), wanted) == 0;
}

static const struct gy_server *find(const struct gy_pool *p, const struct gy_sorted *in,
                                    size_t text, const char *wanted)
{
    if (in->list) {
        size_t i = lower_bound(in, text, wanted);
        return is_at(in, i, text, wanted) ? in->list[i] : NULL;
    }
    for (size_t i = 0; i < p->server_count; i++) {
        const char *has = text_of(&p->servers[i], text);
        if (has && strcmp(has, wanted) == 0) {
            return &p->servers[i];
        }
    }
    return NULL;
}

const struct gy_server *gy_pool_find(const struct gy_pool *p, const char *name)
{
    return find(p, &p->by_name, offsetof(struct gy_server, name), name);
}

const struct gy_server *gy_pool_find_id(const struct gy_pool *p, const char *id)
{
    return find(p, &p->by_id, offsetof(struct gy_server, id), id);
}

const struct gy_server *const *gy_pool_replicas(const struct gy_pool *p, const char *id,
                                                size_t *count)
{
    size_t text = offsetof(struct gy_server, replica_of);
    size_t first = lower_bound(&p->by_primary, text, id), end = first;
    while (is_at(&p->by_primary, end, text, id)) {
        end++;
    }
    *count = end - first;
    return p->by_primary.list + first;
}

const char *gy_pool_fact_of(const struct gy_pool *p, const char *key)
{
    for (size_t i = 0; i < p->fact_count; i++) {
        if (strcmp(p->facts[i].key, key) == 0) {
            return p->facts[i].value;
        }
    }
    return NULL;
}
