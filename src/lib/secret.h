/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.h - the secret of `hash: siphash`, and the check that tells it from another without
 * revealing it: SipHash-2-4 of a fixed text under it. The bytes are copied from topology to clone
 * and map, given back to nobody, and wiped where they end. Threads: one at a time.
 */
#ifndef GY_LIB_SECRET_H
#define GY_LIB_SECRET_H

#include "gyre.h"

#define GY_SECRET_BYTES 16

struct gy_secret {
    bool given;
    uint8_t key[GY_SECRET_BYTES];
};

uint64_t gy_secret_check(const struct gy_secret *s);
void gy_secret_wipe(struct gy_secret *s);

struct gyre_map;
/* INVALID unless hash, secret and what was set about it go together; for m to be built from t. */
int gy_secret_take(struct gyre_map *m, const gyre_topology_t *t, gyre_error_t *e);

#endif
