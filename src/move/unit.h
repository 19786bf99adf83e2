/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.h - the unit of a move: all keys with (source server, destination server, hash chunk); its
 * states and its records' names. The protocol is docs/migration.md; the words are its words. Pure;
 * any thread.
 */
#ifndef GY_MOVE_UNIT_H
#define GY_MOVE_UNIT_H

#include "base/buf.h"

/* name, letter in the store, may it be aborted from here. The order is the order of the protocol,
 * forward then backward. */
#define GY_UNIT_STATES(X)                                                                      \
    X(STABLE, "stable")         /* at the source: not begun, or an attempt was given up */     \
    X(PREPARE, "prepare")       /* new writes are held, requests sent before are drained */    \
    X(FLIPPING, "flipping")     /* cannot be given up: the source record goes P -> M */        \
    X(MIGRATING, "migrating")   /* the source is frozen; a marked key is the destination's */  \
    X(COMPLETING, "completing") /* verified: the destination record goes M -> C */             \
    X(COMPLETE, "complete")     /* everything is the destination's */                          \
    X(CLEANING, "cleaning")     /* the source's copies are being removed: no way back */       \
    X(MOVED, "moved")           /* at the destination, no record left */                       \
    X(ABORT_PREPARE, "abort-prepare")                                                          \
    X(ABORT_FLIPPING, "abort-flipping")                                                        \
    X(ABORTING, "aborting") /* the destination is frozen; moved keys travel back */            \
    X(PURGING, "purging")   /* everything is the source's again; the destination is emptied */ \
    X(RETURNED, "returned") /* at the source, no record left */

enum gy_unit_state {
#define GY_UNIT_ENUM(name, text) GY_UNIT_##name,
    GY_UNIT_STATES(GY_UNIT_ENUM)
#undef GY_UNIT_ENUM
        GY_UNIT_STATE_COUNT
};

const char *gy_unit_state_name(enum gy_unit_state s);
bool gy_unit_state_parse(const char *text, enum gy_unit_state *out);

struct gy_unit {
    uint32_t src, dst; /* server indices of the migration's fleet */
    uint32_t chunk;
};

/* The chunk of a hash input: XXH3-64 of it with seed 0x6779726575 ("gyreu"), top 32 bits times
 * nchunks >> 32. Independent of placement, so that a chunk takes an even part of every flow. Part
 * of the stored contract: it may not change while a move is under way. */
uint32_t gy_unit_chunk(const void *part, size_t len, uint32_t nchunks);

/* Names on the servers. tag = pool "." 16 hex digits of XXH3-64(source name NUL source address NUL
 * destination name NUL destination address) "." chunk:  gyre:{tag}:rec (hash: epoch st run_id),
 * gyre:{tag}:m (marks at D), gyre:{tag}:b (back-marks at S). */
struct gy_unit_names {
    char *rec, *marks, *back; /* malloc'ed */
};
bool gy_unit_names_init(struct gy_unit_names *n, const char *prefix, const char *pool,
                        const char *src_name, const char *src_addr, const char *dst_name,
                        const char *dst_addr, uint32_t chunk); /* false: out of memory */
void gy_unit_names_fini(struct gy_unit_names *n);

/* Is this key a record, a mark set or a back-mark set of any pool and unit under `prefix`? Exact in
 * form, so that a user's own "gyre:..." keys are keys like any other and move with them. */
bool gy_unit_is_record(const char *prefix, struct gy_slice key);
bool gy_unit_is_record_of(const char *prefix, const char *pool, struct gy_slice key);

#endif
