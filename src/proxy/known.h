/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known.h - keys that a worker knows to be moved: marked at their destination (docs/migration.md
 * 3.2, 0a.14). Commands on them go raw to D, as those of a complete unit do; a key that is not here
 * is asked for with SISMEMBER, so forgetting one costs a question and nothing else.
 *
 * Invariant: an entry is the whole key, not a hash of it, and holds for one epoch, unit, attempt
 * and one connection to D only: that on which the mark was seen or set. A D that restarts, and may
 * have lost its marks, ends all its connections, so nothing of before is believed of it (3.8); a
 * later command goes behind whatever showed the mark. Within an epoch marks are only added, and an
 * abort drains what was sent to D before it freezes D.
 *
 * Threads: the worker's.
 */
#ifndef GY_PROXY_KNOWN_H
#define GY_PROXY_KNOWN_H

#include "move/view.h"

struct gy_worker;
struct gy_known_key;

struct gy_known {
    uint64_t epoch;
    struct gy_known_key **slots; /* NULL: no key yet; each slot has the last that fell there */
};

/* generation: of the connection to the route's destination that told. */
void gy_known_add(struct gy_worker *w, const struct gy_view *v, const struct gy_route *r,
                  uint64_t generation, struct gy_slice key);
/* True: the key is moved, and its destination can be sent to now, on that very connection. */
bool gy_known_has(const struct gy_worker *w, const struct gy_view *v, const struct gy_route *r,
                  struct gy_slice key);
/* Drops what is not of this view's move. */
void gy_known_review(struct gy_worker *w, const struct gy_view *v);
void gy_known_fini(struct gy_worker *w);

#endif
