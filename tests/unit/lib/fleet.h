/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.h - short ways for tests to make topologies and maps; each asserts success.
 */
#ifndef TESTS_UNIT_LIB_FLEET_H
#define TESTS_UNIT_LIB_FLEET_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gyre.h"

/* "" or "key value key value ..." */
static inline gyre_topology_t *fleet_new(const char *settings)
{
    gyre_topology_t *t = gyre_topology_new();
    assert_non_null(t);
    char key[64], value[64];
    int used;
    while (sscanf(settings, " %63s %63s%n", key, value, &used) == 2) {
        gyre_error_t e;
        assert_int_equal(gyre_topology_set(t, key, value, &e), GYRE_OK);
        settings += used;
    }
    return t;
}

static inline void fleet_add(gyre_topology_t *t, const char *name, double weight, const char *zone)
{
    struct gyre_node n = {.size = sizeof n, .name = name, .weight = weight, .zone = zone};
    assert_int_equal(gyre_topology_add(t, &n, NULL), GYRE_OK);
}

/* count nodes PREFIX0, PREFIX1, ... of weight 1 */
static inline void fleet_many(gyre_topology_t *t, const char *prefix, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%u", prefix, i);
        fleet_add(t, name, 1, NULL);
    }
}

/* A new map; frees nothing. */
static inline gyre_map_t *fleet_map(const gyre_topology_t *t)
{
    gyre_map_t *m = NULL;
    gyre_error_t e = {0};
    int err = gyre_map_build(t, &m, &e);
    if (err) {
        fail_msg("no map: %s", e.message);
    }
    assert_non_null(m);
    return m;
}

static inline const char *fleet_where(const gyre_map_t *m, const char *key)
{
    const struct gyre_node *n = gyre_map_node(m, gyre_map_locate(m, key, strlen(key)));
    return n ? n->name : "(none)";
}

#endif
