/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_header.c - the public header as a user meets it: compiled as strict C99 (this file) and as
 * C++ (test_header.cc includes it), linked against the shared library, which must have every name.
 */
#include "gyre.h"
#include "gyre.h" /* twice does no harm */

#include <stdio.h>
#include <string.h>

static int check(const char *what, int good)
{
    if (!good) {
        printf("not so: %s\n", what);
    }
    return !good;
}

int main(void)
{
    int bad = 0;
    uint32_t where;
    gyre_map_t *m = NULL;
    gyre_error_t e;
    struct gyre_node n;
    gyre_topology_t *t = gyre_topology_new();
    memset(&n, 0, sizeof n);
    n.size = sizeof n;
    n.name = "cache-0";
    n.weight = 1;
    bad += check("add", t != NULL && gyre_topology_add(t, &n, &e) == GYRE_OK);
    bad += check("build", gyre_map_build(t, &m, &e) == GYRE_OK);
    where = gyre_map_locate(m, "user:1", 6);
    bad += check("locate", where == 0 && strcmp(gyre_map_node(m, where)->name, "cache-0") == 0);
    bad += check("version", strcmp(gyre_version(), "0.1.0") == 0);
    gyre_map_unref(m);
    gyre_topology_free(t);
    return bad != 0;
}
