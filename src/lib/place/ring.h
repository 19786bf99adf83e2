/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - how a ring of 32-bit positions is kept: all points in order, and an index of cache lines
 * over them, each for an equal stretch of positions. Threads: immutable once built.
 */
#ifndef GY_LIB_RING_H
#define GY_LIB_RING_H

#include "lib/map.h"
#include "lib/place/line.h"

#define GY_TAIL GY_LINE_LANES /* what stands after the last point: whole vectors may be read */

struct gy_ring {
    uint32_t *position; /* ascending; and GY_TAIL of UINT32_MAX after the last */
    uint16_t *owner;    /* and as many of the first point's: the wrap is no case of its own */
    struct gy_line *line;
    void *block;    /* what the lines stand in, on a boundary of their size */
    uint32_t lines; /* and one more that only ends the last */
    unsigned shift; /* of a key's hash, to its position */
    uint32_t after; /* 1: a key belongs to the first point after its position, which is that at or
                       after the next one; of the last position that is the first */
};

/* Which line a position belongs to is the high half of this, where in its stretch the low half. */
static inline uint64_t gy_ring_place(uint32_t position, uint32_t lines)
{
    return (uint64_t)position * lines;
}

static inline uint16_t gy_ring_cut(uint64_t place)
{
    return (uint16_t)((uint32_t)place >> 17);
}

int gy_ring_build(struct gyre_map *m, const void *rule, gyre_error_t *e);

/* The ring of an imitated system: makes the room for m->steps points; the caller writes position
 * and owner in order, and shift and after; gy_ring_lay does the rest. */
extern const struct gy_place gy_place_ring_32;
int gy_ring_room(struct gyre_map *m, gyre_error_t *e);
int gy_ring_lay(struct gyre_map *m); /* NOMEM, or nothing */
void gy_ring_fini(struct gyre_map *m);

#endif
