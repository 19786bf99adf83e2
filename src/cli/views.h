/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views.h - do the nodes of a Redis Cluster agree? Each has its own view of who owns which slot,
 * who is whose replica and who is down, and only of itself does it tell its open slots. Other views
 * are laid beside the first one: what they say otherwise becomes a note ("views-differ"), and open
 * slots that only they know are taken over, so that every check sees them. Threads: main only.
 */
#ifndef GY_CLI_VIEWS_H
#define GY_CLI_VIEWS_H

#include "formats/pools.h"

/* One more view; `who` names it where it does not name itself. UNSUPPORTED: one of them is no view
 * of a cluster; INVALID: another cluster's. Takes open slots out of other. */
GYRE_NODISCARD int gy_views_add(struct gy_pool *mine, struct gy_pool *other, const char *who,
                                gyre_error_t *e);
/* A note ("not-asked") if some server that is up has given no view. NOMEM. */
GYRE_NODISCARD int gy_views_unheard(struct gy_pool *mine);
/* Asks every other server that mine holds for up; one that does not answer is a note
 * ("not-asked"), and so is one that has left for another cluster ("views-differ"). NOMEM. */
GYRE_NODISCARD int gy_views_ask(const char *url, struct gy_pool *mine, gyre_error_t *e);

#endif
