/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replan.h - the changes of `gyre plan` on a Redis Cluster: who owns which slots is state there, so
 * a changed weight, a new master or one that goes means that slots are dealt anew. Threads: main
 * only.
 */
#ifndef GY_CLI_REPLAN_H
#define GY_CLI_REPLAN_H

#include "cli/change.h"
#include "cli/opt.h"
#include "cli/topo.h"

struct gy_replan {
    bool even, by_bytes;
    const char *sizes, *zones; /* files */
    uint64_t sample;           /* keys of a slot to look at, in a live cluster; 0: none */
    /* inside */
    uint64_t *size; /* of each slot, NULL: not known */
};

/* Rows for a command's option table; `type` has a member `replan`. */
/* clang-format off */
#define GY_REPLAN_OPTIONS(type)                                                                \
    {0, "even", NULL, "Redis Cluster: give out the slots anew, by weight", GY_OPT_FLAG,        \
     offsetof(type, replan.even), 0, 0, NULL},                                                 \
    {0, "even-bytes", NULL, "the same by bytes, which --slot-sizes or --sample tell",          \
     GY_OPT_FLAG, offsetof(type, replan.by_bytes), 0, 0, NULL},                                \
    {0, "slot-sizes", "FILE", "lines 'SLOT BYTES': light slots move rather than heavy ones",   \
     GY_OPT_TEXT, offsetof(type, replan.sizes), 0, 0, NULL},                                   \
    {0, "sample", "N", "ask a live cluster instead: N keys of each slot are looked at",        \
     GY_OPT_UINT, offsetof(type, replan.sample), 1, 1000, NULL},                               \
    {0, "zones", "FILE", "lines 'HOST ZONE': replicas should not be in their primary's",       \
     GY_OPT_TEXT, offsetof(type, replan.zones), 0, 0, NULL}
/* clang-format on */

/* Is this a change of who owns which slots? */
bool gy_replan_wanted(const struct gy_replan *r, const struct gy_topo *old,
                      const struct gy_changes *changes);
/* Do the options go together, and with the changes? */
int gy_replan_check(const struct gy_replan *r, const struct gy_topo *old,
                    const struct gy_changes *changes);
/* Replaces *next by the same nodes with the slots they are to own. path: what old was read from.
 * GY_EXIT_OK, or an exit status after reporting. */
int gy_replan(struct gy_replan *r, const char *path, const struct gy_topo *old,
              const struct gy_changes *changes, gyre_topology_t **next);
void gy_replan_fini(struct gy_replan *r);

#endif
