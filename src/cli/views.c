/* SPDX-License-Identifier: Apache-2.0 */
/* views.c - see views.h. */
#include "cli/views.h"
#include "cli/down.h"
#include "formats/format.h"
#include "formats/redis_slots.h"

#include <stdlib.h>

#define AWAY  (GY_STATE_DOWN | GY_STATE_SUSPECT)
#define SHOWN 3 /* servers of one view that are told; more say nothing new */

/* ---- one view beside another ---- */

static void spread(const struct gy_server *s, const struct gy_server **owner)
{
    struct gy_slice rest = gy_str(s->slots && s->owned ? s->owned : "");
    while (rest.n) {
        const uint8_t *comma = memchr(rest.p, ',', rest.n);
        size_t n = comma ? (size_t)(comma - rest.p) : rest.n;
        uint32_t first, last;
        if (gy_redis_range((struct gy_slice){rest.p, n}, &first, &last)) {
            for (uint32_t i = first; i <= last; i++) {
                owner[i] = s;
            }
        }
        n += comma ? 1 : 0;
        rest = (struct gy_slice){rest.p + n, rest.n - n};
    }
}

static bool is_same(const struct gy_server *a, const struct gy_server *b)
{
    return a && b ? a->id && b->id && strcmp(a->id, b->id) == 0 : a == b;
}

static const char *name_of(const struct gy_server *s)
{
    return s ? s->name : "nobody";
}

static int differ_slots(struct gy_pool *mine, const struct gy_pool *other, const char *who)
{
    const struct gy_server **owner = calloc((size_t)GY_REDIS_SLOTS * 2, sizeof(void *));
    if (!owner) {
        return GYRE_NOMEM;
    }
    const struct gy_server **theirs = owner + GY_REDIS_SLOTS;
    uint32_t count = 0, first = 0;
    for (size_t i = 0; i < mine->server_count; i++) {
        spread(&mine->servers[i], owner);
    }
    for (size_t i = 0; i < other->server_count; i++) {
        spread(&other->servers[i], theirs);
    }
    for (uint32_t i = GY_REDIS_SLOTS; i; i--) {
        if (!is_same(owner[i - 1], theirs[i - 1])) {
            first = i - 1;
            count++;
        }
    }
    int rc = count ? gy_pool_note(mine, GY_LEVEL_WARNING, "views-differ", 0,
                                  "%s has another owner for %u slot%s: %u is %s's here, %s's there",
                                  who, count, count == 1 ? "" : "s", first, name_of(owner[first]),
                                  name_of(theirs[first]))
                   : GYRE_OK;
    free((void *)owner);
    return rc;
}

static const char *role_of(const struct gy_server *s)
{
    const char *role = gy_role_name(s->role);
    return role ? role : "without a role";
}

static int differ_server(struct gy_pool *mine, const struct gy_server *s,
                         const struct gy_server *theirs, const char *who)
{
    if (!theirs) {
        return gy_pool_note(mine, GY_LEVEL_WARNING, "views-differ", 0, "%s does not know %s", who,
                            s->name);
    }
    if (s->role != theirs->role) {
        return gy_pool_note(mine, GY_LEVEL_WARNING, "views-differ", 0,
                            "%s holds %s for a %s, here it is a %s", who, s->name, role_of(theirs),
                            role_of(s));
    }
    if (s->replica_of && theirs->replica_of && strcmp(s->replica_of, theirs->replica_of) != 0) {
        return gy_pool_note(mine, GY_LEVEL_WARNING, "views-differ", 0,
                            "%s has another primary for the replica %s", who, s->name);
    }
    if (!(s->states & AWAY) != !(theirs->states & AWAY)) {
        return gy_pool_note(mine, GY_LEVEL_WARNING, "views-differ", 0,
                            s->states & AWAY ? "%s holds %s for up, here it is down"
                                             : "%s holds %s for down, here it is up",
                            who, s->name);
    }
    return GYRE_OK;
}

static int differ_servers(struct gy_pool *mine, const struct gy_pool *other, const char *who)
{
    size_t most = mine->note_count + SHOWN;
    int rc = GYRE_OK;
    for (size_t i = 0; i < mine->server_count && !rc && mine->note_count < most; i++) {
        const struct gy_server *s = &mine->servers[i];
        rc = s->id ? differ_server(mine, s, gy_pool_find_id(other, s->id), who) : GYRE_OK;
    }
    for (size_t i = 0; i < other->server_count && !rc && mine->note_count < most; i++) {
        const struct gy_server *s = &other->servers[i];
        if (s->id && !gy_pool_find_id(mine, s->id)) {
            rc = gy_pool_note(mine, GY_LEVEL_WARNING, "views-differ", 0,
                              "%s knows %s, which is not known here", who, s->name);
        }
    }
    return rc;
}

static struct gy_server *find_self(struct gy_pool *p)
{
    for (size_t i = 0; i < p->server_count; i++) {
        if (p->servers[i].states & GY_STATE_SELF) {
            return &p->servers[i];
        }
    }
    return NULL;
}

/* Open slots of the other view's own node, which the first view cannot know; it has been heard. */
static void take_open(struct gy_pool *mine, struct gy_server *self)
{
    const struct gy_server *known = self->id ? gy_pool_find_id(mine, self->id) : NULL;
    if (!known) {
        return;
    }
    struct gy_server *s = &mine->servers[known - mine->servers];
    s->states |= GY_STATE_SELF;
    if (s->open_count || !self->open_count) {
        return;
    }
    free(s->open);
    s->open = self->open;
    s->open_count = self->open_count;
    self->open = NULL;
    self->open_count = 0;
}

static bool is_same_cluster(const struct gy_pool *mine, const struct gy_pool *other)
{
    for (size_t i = 0; i < other->server_count; i++) {
        if (other->servers[i].id && gy_pool_find_id(mine, other->servers[i].id)) {
            return true;
        }
    }
    return false;
}

int gy_views_add(struct gy_pool *mine, struct gy_pool *other, const char *who, gyre_error_t *e)
{
    if (!gy_is_cluster(mine) || !gy_is_cluster(other)) {
        return gy_format_fail(
            e, GYRE_UNSUPPORTED, who,
            "only views of a Redis Cluster are compared; 'gyre check' compares two "
            "files of other systems");
    }
    if (!is_same_cluster(mine, other)) {
        return gy_format_fail(e, GYRE_INVALID, who,
                              "another cluster: it knows no server of the first view");
    }
    struct gy_server *self = find_self(other);
    const char *name = self ? self->name : who;
    int rc = differ_slots(mine, other, name);
    rc = rc ? rc : differ_servers(mine, other, name);
    if (!rc && self) {
        take_open(mine, self);
    }
    return rc ? gy_format_fail(e, rc, NULL, "out of memory") : GYRE_OK;
}

int gy_views_unheard(struct gy_pool *mine)
{
    const struct gy_server *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < mine->server_count; i++) {
        const struct gy_server *s = &mine->servers[i];
        if (!(s->states & (GY_STATE_SELF | AWAY | GY_STATE_NO_ADDRESS))) {
            first = first ? first : s;
            n++;
        }
    }
    if (!n) {
        return GYRE_OK;
    }
    return gy_pool_note(mine, GY_LEVEL_WARNING, "not-asked", 0,
                        "no view of %zu of %zu servers: %s%s", n, mine->server_count, first->name,
                        n > 1 ? ", ..." : "");
}
