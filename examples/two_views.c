/* SPDX-License-Identifier: Apache-2.0 */
/*
 * two_views.c - a cache grows from three nodes to four while threads go on serving: both maps
 * answer, the new one for a share of the keys that is raised step by step. What was not carried
 * over yet is found on the old node, so the database never sees a wave of misses.
 *
 *     cc two_views.c $(pkg-config --cflags --libs gyre) -o two_views
 */
#include <gyre.h>

#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 10000 };

static void must(int err, const gyre_error_t *e)
{
    if (err) {
        fprintf(stderr, "two_views: %s\n", e->message);
        exit(1);
    }
}

static gyre_map_t *fleet(unsigned nodes, uint64_t version)
{
    gyre_error_t e = {0};
    gyre_map_t *map = NULL;
    gyre_topology_t *t = gyre_topology_new();
    for (unsigned i = 0; i < nodes; i++) {
        char name[24];
        struct gyre_node n = {.size = sizeof n, .name = name, .weight = 1};
        snprintf(name, sizeof name, "cache-%u", i);
        must(t ? gyre_topology_add(t, &n, &e) : GYRE_NOMEM, &e);
    }
    gyre_topology_set_version(t, version);
    must(gyre_map_build(t, &map, &e), &e);
    gyre_topology_free(t);
    return map;
}

/* What each serving thread does, with a reader of its own. */
static void serve(gyre_reader_t *reader)
{
    unsigned on_new = 0, two_places = 0;
    const struct gyre_stage *s = gyre_reader_enter(reader);
    for (unsigned i = 0; i < KEYS; i++) {
        char key[16];
        struct gyre_target at[2];
        size_t len = (size_t)snprintf(key, sizeof key, "user:%u", i);
        size_t n = gyre_stage_route(s, key, len, 1, at, NULL);
        /* Read at[0], and at[1] on a miss; write to at[0], then delete at at[1]. */
        two_places += n == 2;
        on_new += n == 2 && at[0].map == s->next;
    }
    if (s->next) {
        printf("version %llu to %llu, %4u per mille: %u of %d keys have two places, %u lead on the "
               "new one\n",
               (unsigned long long)gyre_map_version(s->map),
               (unsigned long long)gyre_map_version(s->next), s->permille, two_places, KEYS,
               on_new);
    } else {
        printf("version %llu\n", (unsigned long long)gyre_map_version(s->map));
    }
    gyre_reader_leave(reader);
}

int main(void)
{
    static const uint32_t steps[] = {10, 100, 500, 1000};
    gyre_error_t e = {0};
    gyre_view_t *view = NULL;
    gyre_reader_t *reader = NULL;
    struct gyre_stage stage = {.size = sizeof stage, .map = fleet(3, 1)};
    must(gyre_view_new(&stage, &view, &e), &e);
    must(gyre_reader_new(view, &reader, &e), &e);
    serve(reader);

    stage.next = fleet(4, 2);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        stage.permille = steps[i];
        must(gyre_view_publish(view, &stage, &e), &e);
        serve(reader); /* and a look at the dashboards */
    }
    /* All is carried over: the old map goes. */
    struct gyre_stage done = {.size = sizeof done, .map = stage.next};
    must(gyre_view_publish(view, &done, &e), &e);
    serve(reader);

    /* A message that was long on its way cannot bring the old fleet back. */
    struct gyre_stage late = {.size = sizeof late, .map = stage.map};
    printf("%s\n", gyre_view_publish(view, &late, &e) ? e.message : "published");

    gyre_reader_free(reader);
    gyre_view_free(view);
    gyre_map_unref(stage.map);
    gyre_map_unref(stage.next);
    return 0;
}
