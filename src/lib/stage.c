/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage.c - what serves at one moment: a map, or two while keys are rehashed in the background. A
 * key's nodes are those of the map that leads for it, then those of the other that differ; which
 * map leads is decided key by key by a hash of its own, so that the share can be raised little by
 * little. Threads: any; nothing is allocated.
 */
#include "lib/stage.h"

#include <string.h>

#include "lib/error.h"
#include "lib/hash/functions.h"
#include "lib/map.h"

#define PERMILLE 1000u

int gy_stage_stale(uint64_t comes, uint64_t serves, gyre_error_t *e)
{
    return gy_fail(e, GYRE_CONFLICT, "version %llu is older than %llu, which serves",
                   (unsigned long long)comes, (unsigned long long)serves);
}

int gy_stage_check(const struct gyre_stage *s, gyre_error_t *e)
{
    if (s->size < sizeof *s || !s->map) {
        return gy_fail(e, GYRE_INVALID, "a stage needs its size and a map");
    }
    if (s->permille > PERMILLE) {
        return gy_fail(e, GYRE_RANGE, "permille: %u is out of range (0..%u)", s->permille,
                       PERMILLE);
    }
    if (!s->next && (s->next_mask || s->permille)) {
        return gy_fail(e, GYRE_INVALID, "a share or a mask is given for the next map, but no map");
    }
    /* Else every share of the change could be published but its end. */
    if (s->next && gyre_map_version(s->next) < gy_stage_version(s)) {
        return gy_stage_stale(gyre_map_version(s->next), gy_stage_version(s), e);
    }
    if ((s->mask && gyre_mask_map(s->mask) != s->map) ||
        (s->next_mask && gyre_mask_map(s->next_mask) != s->next)) {
        return gy_fail(e, GYRE_MISMATCH, "a mask was made for another map than the one it is with");
    }
    return GYRE_OK;
}

uint64_t gy_stage_version(const struct gyre_stage *s)
{
    return gyre_map_version(s->map);
}

void gy_stage_hold(const struct gyre_stage *s)
{
    gyre_map_ref(s->map);
    if (s->next) {
        gyre_map_ref(s->next);
    }
    if (s->mask) {
        gyre_mask_ref(s->mask);
    }
    if (s->next_mask) {
        gyre_mask_ref(s->next_mask);
    }
}

void gy_stage_drop(const struct gyre_stage *s)
{
    gyre_mask_unref(s->mask);
    gyre_mask_unref(s->next_mask);
    gyre_map_unref(s->map);
    gyre_map_unref(s->next);
}

/* SipHash-2-4, so that the choice has nothing to do with where any placement puts the key: a share
 * taken of the placement's own hash would be a stretch of the ring, and empty some nodes first. */
bool gyre_stage_shifted(const struct gyre_stage *s, const void *key, size_t len)
{
    const void *part;
    size_t part_len;
    uint8_t secret[16] = {'g', 'y', 'r', 'e', '-', 's', 'h', 'a'};
    if (!s->next || s->permille == 0 || s->permille >= PERMILLE) {
        return s->next && s->permille;
    }
    for (unsigned i = 0; i < 8; i++) {
        secret[8 + i] = (uint8_t)(s->salt >> 8 * i);
    }
    gyre_map_hash_input(s->map, key, len, &part, &part_len);
    uint64_t hash = gy_siphash24(part, part_len, secret);
    return (uint64_t)((gy_u128)hash * PERMILLE >> 64) < s->permille;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* One machine: a node whose address is about to change is two. */
static bool same_node(const struct gyre_target *a, const struct gyre_target *b)
{
    const struct gyre_node *x = gyre_map_node(a->map, a->node), *y = gyre_map_node(b->map, b->node);
    return strcmp(x->name, y->name) == 0 && same_text(x->address, y->address);
}

/* Appends the nodes of one map that are not among the first `have`. */
static size_t append(const gyre_map_t *m, const gyre_mask_t *mask, const void *key, size_t len,
                     struct gyre_target *out, size_t have, size_t want)
{
    uint32_t nodes[GYRE_ROUTE_MAX];
    size_t n = mask ? gyre_mask_replicas(mask, key, len, nodes, want, NULL)
                    : gyre_map_replicas(m, key, len, nodes, want, NULL);
    size_t at = have;
    for (size_t i = 0; i < n; i++) {
        size_t known = 0;
        out[at] = (struct gyre_target){m, nodes[i]};
        while (known < have && !same_node(&out[known], &out[at])) {
            known++;
        }
        at += known == have;
    }
    return at;
}

size_t gyre_stage_route(const struct gyre_stage *s, const void *key, size_t len, size_t want,
                        struct gyre_target *out, size_t *writes)
{
    bool shifted = gyre_stage_shifted(s, key, len);
    const gyre_map_t *lead = shifted ? s->next : s->map, *other = shifted ? s->map : s->next;
    want = want < GYRE_ROUTE_MAX ? want : GYRE_ROUTE_MAX;
    size_t n = append(lead, shifted ? s->next_mask : s->mask, key, len, out, 0, want);
    if (writes) {
        *writes = n;
    }
    return other ? append(other, shifted ? s->mask : s->next_mask, key, len, out, n, want) : n;
}
