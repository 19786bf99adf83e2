/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.c - a program that embeds libgyre and follows the fleet's topology while it serves: one
 * thread reads each new version and swaps the map, the others look keys up all the time and never
 * wait for it.
 *
 *     gyre view watch --state /var/lib/app --json | follow [THREADS]
 *
 *     cc follow.c $(pkg-config --cflags --libs gyre jansson) -pthread -o follow
 *
 * The topology comes as one line of JSON a version (docs/json.md). A line that cannot be read, or a
 * topology from which no map can be built, changes nothing: the last one goes on serving. At the
 * end of the input it says how many lookups there were and ends.
 */
#include <gyre.h>

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 64, VISIT = 64 };

static gyre_view_t *view;
static atomic_bool ending;

/* ---- one line of JSON into a map ---- */

static int put_settings(gyre_topology_t *t, json_t *placement, gyre_error_t *e)
{
    const char *key;
    json_t *value;
    json_object_foreach(placement, key, value)
    {
        int err = gyre_topology_set(t, key, json_string_value(value), e);
        if (err) {
            return err;
        }
    }
    return GYRE_OK;
}

static int put_nodes(gyre_topology_t *t, json_t *nodes, gyre_error_t *e)
{
    size_t i;
    json_t *node;
    json_array_foreach(nodes, i, node)
    {
        struct gyre_node n = {
            .size = sizeof n,
            .name = json_string_value(json_object_get(node, "name")),
            .address = json_string_value(json_object_get(node, "address")),
            .zone = json_string_value(json_object_get(node, "zone")),
            .options = json_string_value(json_object_get(node, "options")),
            .weight = json_number_value(json_object_get(node, "weight")),
            .slot = (uint32_t)json_integer_value(json_object_get(node, "slot")),
        };
        int err = gyre_topology_add(t, &n, e);
        if (err) {
            return err;
        }
    }
    return GYRE_OK;
}

/* What some placements remember of nodes that went. */
static int put_removed(gyre_topology_t *t, json_t *removed, gyre_error_t *e)
{
    size_t n = json_array_size(removed);
    uint32_t *slots = n ? calloc(n, sizeof *slots) : NULL;
    int err = n && !slots ? GYRE_NOMEM : GYRE_OK;
    for (size_t i = 0; slots && i < n; i++) {
        slots[i] = (uint32_t)json_integer_value(json_array_get(removed, i));
    }
    if (!err && n) {
        err = gyre_topology_set_removed(t, slots, n, e);
    }
    free(slots);
    return err;
}

static gyre_map_t *read_map(const char *line)
{
    gyre_error_t e = {0};
    json_error_t where;
    gyre_map_t *map = NULL;
    json_t *root = json_loads(line, 0, &where);
    gyre_topology_t *t = gyre_topology_new();
    if (!root || !t) {
        fprintf(stderr, "follow: %s\n", root ? "out of memory" : where.text);
        goto out;
    }
    gyre_topology_set_version(t, (uint64_t)json_integer_value(json_object_get(root, "version")));
    int err = put_settings(t, json_object_get(root, "placement"), &e);
    err = err ? err : put_nodes(t, json_object_get(root, "nodes"), &e);
    err = err ? err : put_removed(t, json_object_get(root, "removed"), &e);
    err = err ? err : gyre_map_build(t, &map, &e);
    if (err) {
        fprintf(stderr, "follow: %s\n", *e.message ? e.message : gyre_err_text(err));
    }
out:
    gyre_topology_free(t);
    json_decref(root);
    return map;
}

/* ---- the threads that serve ---- */

/* A request looks its key up in whatever serves at that moment; the map cannot go meanwhile. */
static void *serve(void *arg)
{
    uint64_t *lookups = arg, last = 0;
    gyre_reader_t *reader = NULL;
    gyre_error_t e = {0};
    if (gyre_reader_new(view, &reader, &e)) {
        fprintf(stderr, "follow: %s\n", e.message);
        exit(1);
    }
    for (uint64_t request = 0; !atomic_load(&ending); request++) {
        const struct gyre_stage *s = gyre_reader_enter(reader);
        uint64_t version = gyre_map_version(s->map);
        if (version < last) {
            fprintf(stderr, "follow: version %llu after %llu\n", (unsigned long long)version,
                    (unsigned long long)last);
            exit(1);
        }
        last = version;
        for (unsigned i = 0; i < VISIT; i++) {
            char key[32];
            size_t len = (size_t)snprintf(key, sizeof key, "user:%llu",
                                          (unsigned long long)request * VISIT + i);
            uint32_t node = gyre_map_locate(s->map, key, len);
            *lookups += node < gyre_map_count(s->map);
        }
        gyre_reader_leave(reader);
    }
    gyre_reader_free(reader);
    return NULL;
}

/* ---- the thread that follows ---- */

/* True when it serves from now on. */
static bool show(gyre_map_t *map)
{
    gyre_error_t e = {0};
    struct gyre_stage stage = {.size = sizeof stage, .map = map};
    int err = view ? gyre_view_publish(view, &stage, &e) : gyre_view_new(&stage, &view, &e);
    if (err) { /* an old message, for one: it cannot bring the old fleet back */
        fprintf(stderr, "follow: %s\n", e.message);
        return false;
    }
    uint32_t node = gyre_map_locate(map, "user:1", 6);
    printf("version %llu: %u nodes, user:1 on %s\n", (unsigned long long)gyre_map_version(map),
           gyre_map_count(map), node == GYRE_NONE ? "none" : gyre_map_node(map, node)->name);
    fflush(stdout);
    return true;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    /* One cache line a thread: counting must not slow the neighbour down. */
    static struct {
        _Alignas(64) uint64_t lookups;
    } counts[THREADS_MAX];
    int wanted = argc > 1 ? atoi(argv[1]) : 2, running = 0;
    char *line = NULL;
    size_t room = 0;
    uint64_t lookups = 0;
    wanted = wanted < 1 ? 1 : wanted > THREADS_MAX ? THREADS_MAX : wanted;
    while (getline(&line, &room, stdin) > 0) {
        gyre_map_t *map = read_map(line);
        bool shown = map && show(map);
        gyre_map_unref(map); /* the view has a reference of its own */
        for (; shown && running < wanted; running++) {
            if (pthread_create(&threads[running], NULL, serve, &counts[running].lookups)) {
                fprintf(stderr, "follow: no more threads\n");
                return 1;
            }
        }
    }
    atomic_store(&ending, true);
    for (int i = 0; i < running; i++) {
        pthread_join(threads[i], NULL);
        lookups += counts[i].lookups;
    }
    printf("%llu lookups by %d threads\n", (unsigned long long)lookups, running);
    gyre_view_free(view);
    free(line);
    return 0;
}
