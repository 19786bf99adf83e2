/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.h - --add, --remove, --weight and --replace into a list of changes, in the order given;
 * `gyre plan` and `gyre move start` share it.
 *
 *     --add NAME=ADDRESS[,weight=W][,zone=Z]    --weight NAME=W
 *     --remove NAME                             --replace NAME=ADDRESS
 *
 * The first '=' ends the name; in a name before an '=', a backslash makes the next character part
 * of it ("a\=b"). --remove takes its name as it is. Values are checked by the topology file's own
 * schema. Threads: one thread an object.
 */
#ifndef GY_CLI_CHANGE_H
#define GY_CLI_CHANGE_H

#include "gyre.h"

struct gy_changes {
    struct gyre_change *list; /* its texts are owned by this object */
    size_t count;
};

/* SYNTAX, RANGE, UNKNOWN or NOMEM with the reason. */
GYRE_NODISCARD int gy_changes_add(struct gy_changes *c, enum gyre_change_kind kind,
                                  const char *text, gyre_error_t *e);
/* The topology the changes lead to. Errors: gyre_plan_apply's, with the option that asks for it. */
GYRE_NODISCARD int gy_changes_apply(const struct gy_changes *c, const gyre_topology_t *t,
                                    gyre_topology_t **out, gyre_error_t *e);
void gy_changes_fini(struct gy_changes *c);

#endif
