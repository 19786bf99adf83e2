/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same_data.c - a promoted replica under the old name (0a.6): nothing is copied, so it is made sure
 * that nothing needs to be. A server that is asked tells its replication history: the new one must
 * come from the old one's, and have all of it. An old server that is gone cannot be asked; then the
 * new one's keys must at least be keys of that node. Threads: the admin's.
 */
#include "lib/error.h"
#include "move/precheck.h"

#include <inttypes.h>

#define SAMPLES      50
#define STRAYS_IN_10 1 /* so many of ten keys may be strays */

/* Keys taken at random that the current view places on other nodes; and how many were taken. */
static int sample(struct gy_checks *k, const struct gy_pair *p, unsigned *strays, unsigned *n,
                  gyre_error_t *e)
{
    const struct gy_view *v = k->c->view;
    int rc = GYRE_OK;
    *strays = *n = 0;
    for (int i = 0; i < SAMPLES && rc == GYRE_OK; i++) {
        struct gy_reply *r = NULL;
        rc = gy_sync_call(k->facts[p->dst].sync, &r, e, "RANDOMKEY", NULL);
        if (rc == GYRE_OK && r->type == '$' && !gy_unit_is_record(k->c->m->prefix, r->text)) {
            uint32_t node = gyre_map_locate(v->map, r->text.p, r->text.n);
            *strays += node == GYRE_NONE || v->server[node] != p->src;
            *n += 1;
        }
        gy_reply_free(r);
    }
    return rc;
}

static int check_keys(struct gy_checks *k, const struct gy_pair *p, gyre_error_t *e)
{
    char name[GY_SHOW];
    unsigned strays, n;
    gy_show(k->c->view->servers[p->dst].name, name);
    int rc = sample(k, p, &strays, &n, e);
    if (rc == GYRE_OK && n == 0) {
        rc = gy_fail(e, GYRE_REFUSED, "%s: the new address holds no keys, so not the same data",
                     name);
    } else if (rc == GYRE_OK && strays * 10 > n * STRAYS_IN_10) {
        rc = gy_fail(e, GYRE_REFUSED,
                     "%s: the new address was no replica of the old one: of %u keys taken there at "
                     "random %u belong on other nodes",
                     name, n, strays);
    }
    return rc;
}

/* The new one's history goes on from the old one's at offset2. */
static int check_history(struct gy_checks *k, const struct gy_pair *p, gyre_error_t *e)
{
    char name[GY_SHOW];
    const struct gy_node_facts *d = &k->facts[p->dst], *s = &k->facts[p->src];
    gy_show(k->c->view->servers[p->dst].name, name);
    if (strcmp(s->run_id, d->run_id) == 0 || strcmp(s->replid, d->replid) == 0) {
        return GYRE_OK; /* the old one itself, or by now a replica of the new one */
    }
    if (strcmp(s->replid, d->replid2) != 0) {
        return gy_fail(e, GYRE_REFUSED,
                       "%s: the new address was no replica of the old one (master_replid2 %s, not "
                       "%s): leave --same-data out, and its keys are moved",
                       name, d->replid2, s->replid);
    }
    if (s->offset >= d->offset2) {
        return gy_fail(
            e, GYRE_REFUSED,
            "%s: the old address has taken writes since the new one was promoted (%" PRIu64
            " bytes of them), which would be lost: make the new one its replica again, and let "
            "FAILOVER TO, on the old one, promote it",
            name, s->offset - d->offset2 + 1);
    }
    return GYRE_OK;
}

int gy_check_same_data(struct gy_checks *k, const struct gy_pair *p, gyre_error_t *e)
{
    gyre_error_t gone;
    int rc = gy_check_server(k, p->dst, e);
    if (rc != GYRE_OK) {
        return rc;
    }
    return gy_check_look(k, p->src, &gone) == GYRE_OK ? check_history(k, p, e)
                                                      : check_keys(k, p, e);
}
