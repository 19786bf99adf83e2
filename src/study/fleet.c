/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.c - see fleet.h. */
#include "study/fleet.h"

#include <string.h>

int gy_lab_memory(struct gy_lab *lab)
{
    lab->error.code = GYRE_NOMEM;
    return GYRE_NOMEM;
}

void gy_lab_step(const struct gy_lab *lab, double i, double n)
{
    if (lab->progress) {
        lab->progress(lab->ctx, n > 0 ? i / n : 1);
    }
}

char *gy_fleet_name(const struct gy_lab *lab, const struct gy_fleet *f, uint64_t n,
                    char out[GY_FLEET_KEY])
{
    if (f->plain) {
        snprintf(out, GY_FLEET_KEY, "cache-%llu", (unsigned long long)n);
    } else { /* two 40-bit numbers and one of 20 bits fit */
        snprintf(out, GY_FLEET_KEY, "n%llu.%llx.%llx", (unsigned long long)n,
                 (unsigned long long)lab->seed, (unsigned long long)f->trial);
    }
    return out;
}

static int add(struct gy_lab *lab, const struct gy_fleet *f, gyre_topology_t *t, uint64_t n)
{
    char name[GY_FLEET_KEY];
    struct gyre_node node = {.size = sizeof node,
                             .name = gy_fleet_name(lab, f, n, name),
                             .weight = f->weights ? f->weights[n] : 1};
    return gyre_topology_add(t, &node, &lab->error);
}

/* dx has as many slots as its capacity, once and for all: twice what the fleet needs now. */
static int make_room(struct gy_lab *lab, const struct gy_fleet *f, gyre_topology_t *t)
{
    char capacity[24];
    unsigned slots = 256;
    while (slots < 2 * f->nodes) {
        slots *= 2;
    }
    snprintf(capacity, sizeof capacity, "%u", slots);
    bool dx = strcmp(gyre_topology_get(t, "algorithm"), "dx") == 0;
    return dx ? gyre_topology_set(t, "capacity", capacity, &lab->error) : GYRE_OK;
}

int gy_fleet_topology(struct gy_lab *lab, const struct gy_fleet *f, gyre_topology_t **out)
{
    char points[24];
    snprintf(points, sizeof points, "%llu", (unsigned long long)f->points);
    gyre_topology_t *t = gyre_topology_new();
    int rc = t ? GYRE_OK : gy_lab_memory(lab);
    for (size_t i = 0; !rc && f->setting[i][0]; i++) {
        rc = gyre_topology_set(t, f->setting[i][0], f->setting[i][1], &lab->error);
    }
    rc = rc ? rc : make_room(lab, f, t);
    if (!rc && f->points) {
        rc = gyre_topology_set(t, "points", points, &lab->error);
    }
    for (uint64_t n = 0; !rc && n < f->nodes; n++) {
        rc = add(lab, f, t, n);
    }
    if (rc) {
        gyre_topology_free(t);
        t = NULL;
    }
    *out = t;
    return rc;
}

int gy_fleet_map(struct gy_lab *lab, const struct gy_fleet *f, gyre_map_t **out)
{
    gyre_topology_t *t;
    *out = NULL;
    int rc = gy_fleet_topology(lab, f, &t);
    if (!rc) {
        rc = gyre_map_build(t, out, &lab->error);
        gyre_topology_free(t);
    }
    return rc;
}

int gy_fleet_change(struct gy_lab *lab, const struct gy_fleet *f, enum gyre_change_kind kind,
                    uint64_t n, gyre_map_t **out)
{
    char name[GY_FLEET_KEY];
    gyre_topology_t *t, *next = NULL;
    struct gyre_change c = {.size = sizeof c, .kind = kind};
    c.node = (struct gyre_node){
        .size = sizeof c.node, .name = gy_fleet_name(lab, f, n, name), .weight = 1};
    *out = NULL;
    int rc = gy_fleet_topology(lab, f, &t);
    if (!rc) {
        rc = gyre_plan_apply(t, &c, 1, &next, &lab->error);
        gyre_topology_free(t);
    }
    if (!rc) {
        rc = gyre_map_build(next, out, &lab->error);
        gyre_topology_free(next);
    }
    return rc;
}

const char *gy_fleet_algorithm(size_t i, char out[GY_FLEET_KEY])
{
    size_t count;
    const struct gyre_setting *s = gyre_settings(&count);
    const char *at = "";
    for (size_t k = 0; k < count; k++) {
        at = strcmp(s[k].key, "algorithm") == 0 ? s[k].values : at;
    }
    for (; i && *at; i--) {
        at += strcspn(at, "|");
        at += *at == '|';
    }
    snprintf(out, GY_FLEET_KEY, "%.*s", (int)strcspn(at, "|"), at);
    return *out ? out : NULL;
}
