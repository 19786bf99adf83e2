/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strays_internal.h - the notes as strays.c and strays_sweep.c share them. Threads: the mover's.
 */
#ifndef GY_MOVE_STRAYS_INTERNAL_H
#define GY_MOVE_STRAYS_INTERNAL_H

#include "move/state.h"

struct gy_stray {
    char *key; /* in the store */
    uint64_t epoch, from, to;
    int64_t ended_at;          /* Unix seconds */
    struct gy_server *servers; /* the source, then where its keys went */
    uint32_t nservers;
    uint32_t server; /* index of the source in the fleet; GYRE_NONE: it does not serve any more */
    char run_id[48]; /* of the process that was looked at last; "": none */
    bool behind;     /* its data are of before the end of this move */
    int64_t since;   /* monotonic ms: when it was looked at */
    bool counting;   /* a snapshot after `saved` (its LASTSAVE) counts */
    int64_t saved;
};

struct gy_strays {
    struct gy_stray *v;
    size_t n;
};

/* Removes what the notes that are `behind` cover on this server, and records of moves up to `last`,
 * the last one's epoch. CONFLICT: a move began, or the proxy stops: to be done again. */
GYRE_NODISCARD int gy_strays_sweep(struct gy_mover *m, uint32_t server, uint64_t last,
                                   struct gy_sync *c, gyre_error_t *e);

#endif
