/* SPDX-License-Identifier: Apache-2.0 */
/* views.c - see views.h. */
#include "control/views.h"
#include "base/num.h"
#include "formats/config.h"
#include "lib/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int gy_views_parse(struct gy_slice yaml, const char *where, gyre_topology_t **out, gyre_error_t *e)
{
    struct gy_config *c = NULL;
    *out = NULL;
    int rc = gy_config_parse_own((const char *)yaml.p, yaml.n, where, &c, e);
    if (rc == GYRE_OK) {
        *out = gyre_topology_clone(c->topology);
        rc = *out ? GYRE_OK : gy_fail_nomem(e);
    }
    gy_config_free(c);
    return rc;
}

static struct gy_slice bytes_of(const struct gy_buf *b)
{
    return (struct gy_slice){gy_buf_head(b), gy_buf_size(b)};
}

int gy_views_get(struct gy_store *s, struct gy_buf *yaml, gyre_error_t *e)
{
    return gy_store_get(s, GY_VIEW_KEY, yaml, NULL, e);
}

/* ---- put ---- */

static int version_of(const struct gy_buf *yaml, uint64_t *out, gyre_error_t *e)
{
    gyre_topology_t *t = NULL;
    int rc = gy_views_parse(bytes_of(yaml), "view (in the store)", &t, e);
    *out = rc == GYRE_OK ? gyre_topology_version(t) : 0;
    gyre_topology_free(t);
    return rc;
}

static bool has(struct gy_store *s, const char *key)
{
    struct gy_buf b = {0};
    bool there = gy_store_get(s, key, &b, NULL, NULL) == GYRE_OK;
    gy_buf_fini(&b);
    return there;
}

static int check_versions(uint64_t now, bool none, uint64_t expect, uint64_t wished,
                          gyre_error_t *e)
{
    if (none && expect) {
        return gy_fail(e, GYRE_CONFLICT, "no topology serves yet; expect 0");
    }
    if (!none && now != expect) {
        return gy_fail(e, GYRE_CONFLICT,
                       "version %" PRIu64 " serves, not %" PRIu64
                       ": somebody changed it; look what it says before you replace it",
                       now, expect);
    }
    if (none && !wished) {
        return gy_fail(e, GYRE_CONFLICT,
                       "the topology has version 0, which is that of none; raise it");
    }
    if (!none && wished <= now) {
        return gy_fail(e, GYRE_CONFLICT,
                       "version %" PRIu64 " serves, and the new topology has %" PRIu64
                       "; raise its version",
                       now, wished);
    }
    return GYRE_OK;
}

int gy_views_check_first(uint64_t expect, uint64_t version, gyre_error_t *e)
{
    return check_versions(0, true, expect, version, e);
}

static int check_owner(struct gy_store *s, bool moved, gyre_error_t *e)
{
    if (has(s, GY_MOVE_KEY)) {
        return gy_fail(e, GYRE_CONFLICT,
                       "a move is under way, which ends with a topology of its own; wait for it, "
                       "or take it back with 'gyre move abort'");
    }
    if (!moved && has(s, GY_PROXY_KEY)) {
        return gy_fail(e, GYRE_REFUSED,
                       "this is the store of a proxy, whose servers hold keys where its topology "
                       "put them; 'gyre move start' moves them");
    }
    return GYRE_OK;
}

int gy_views_put(struct gy_store *s, const gyre_topology_t *t, uint64_t expect, bool moved,
                 gyre_error_t *e)
{
    struct gy_buf old = {0}, yaml = {0};
    char key[40];
    uint64_t now = 0, wished = gyre_topology_version(t);
    size_t failed = 0;
    int rc = gy_views_get(s, &old, e);
    bool none = rc == GYRE_UNKNOWN;
    if (rc == GYRE_OK) {
        rc = version_of(&old, &now, e);
    }
    if (rc == GYRE_OK || none) {
        rc = check_versions(now, none, expect, wished, e);
    }
    if (rc == GYRE_OK) {
        rc = check_owner(s, moved, e);
    }
    if (rc != GYRE_OK) {
        goto out;
    }
    gy_config_dump(t, NULL, &yaml);
    if (gy_buf_failed(&yaml)) {
        rc = gy_fail_nomem(e);
        goto out;
    }
    snprintf(key, sizeof key, GY_VIEWS_KEY "%" PRIu64, wished);
    /* What was looked at above still holds when this is kept, or nothing is. */
    const struct gy_store_op ops[] = {
        {.key = GY_VIEW_KEY,
         .expect = none ? GY_EXPECT_ABSENT : GY_EXPECT_VALUE,
         .old = bytes_of(&old),
         .value = bytes_of(&yaml)},
        {.key = GY_MOVE_KEY, .expect = GY_EXPECT_ABSENT, .remove = true},
        {.key = key, .expect = GY_EXPECT_ANY, .value = bytes_of(&yaml)},
    };
    rc = gy_store_txn(s, ops, sizeof ops / sizeof *ops, &failed, e);
out:
    gy_buf_fini(&old);
    gy_buf_fini(&yaml);
    return rc;
}

/* ---- each that serves or did ---- */

struct version {
    uint64_t number;
    struct gy_buf yaml;
};

struct versions {
    struct version *list;
    size_t count, room;
    uint64_t after;
    bool failed;
};

static bool collect(void *ctx, const char *key, struct gy_slice value, uint64_t revision)
{
    struct versions *v = ctx;
    uint64_t number;
    (void)revision;
    if (gy_num_uint(gy_str(key + strlen(GY_VIEWS_KEY)), &number) || number <= v->after) {
        return true;
    }
    if (v->count == v->room) {
        size_t room = v->room ? 2 * v->room : 8;
        struct version *more = realloc(v->list, room * sizeof *more);
        if (!more) {
            v->failed = true;
            return false;
        }
        v->list = more;
        v->room = room;
    }
    struct version *new = &v->list[v->count++];
    *new = (struct version){.number = number};
    gy_buf_add(&new->yaml, value.p, value.n);
    v->failed = new->yaml.failed;
    return !v->failed;
}

static int by_number(const void *a, const void *b)
{
    const struct version *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

int gy_views_after(struct gy_store *s, uint64_t after,
                   bool (*fn)(void *ctx, uint64_t version, struct gy_slice yaml), void *ctx,
                   gyre_error_t *e)
{
    struct versions v = {.after = after};
    int rc = gy_store_list(s, GY_VIEWS_KEY, collect, &v, e);
    if (rc == GYRE_OK && v.failed) {
        rc = gy_fail_nomem(e);
    }
    if (v.count) {
        qsort(v.list, v.count, sizeof *v.list, by_number);
    }
    bool on = rc == GYRE_OK;
    for (size_t i = 0; i < v.count; i++) {
        on = on && fn(ctx, v.list[i].number, bytes_of(&v.list[i].yaml));
        gy_buf_fini(&v.list[i].yaml);
    }
    free(v.list);
    return rc;
}
