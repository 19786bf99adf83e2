/* SPDX-License-Identifier: Apache-2.0 */
/*
 * begin.c - from a wished topology to a move that is durable and under way. Pre-checks run without
 * the lock, so that status is answered meanwhile; nothing is written before they all passed.
 * Threads: the admin's.
 */
#include "base/log.h"
#include "lib/error.h"
#include "move/journal.h"
#include "move/state.h"

#include <stdlib.h>
#include <time.h>

#define WAVE_DEFAULT   4
#define CHUNKS_MIN     16
#define CHUNKS_MAX     65536
#define KEYS_PER_CHUNK 50000 /* bounds a unit's set of marks (migration.md 3.1) */

struct begin {
    struct gy_mover *m;
    const struct gy_move_options *o;
    struct gy_view *now;  /* what serves */
    struct gy_view *wide; /* the same with the new servers */
    struct gy_server *servers;
    uint32_t nservers;
    gyre_map_t *next;
    uint32_t *next_server;
    struct gy_job *job;
};

static bool same_text(const gyre_topology_t *a, const gyre_topology_t *b, gyre_error_t *e, int *rc)
{
    struct gy_buf x = {0}, y = {0};
    gyre_topology_t *t = gyre_topology_clone(b);
    if (t) {
        gyre_topology_set_version(t, gyre_topology_version(a));
        gy_config_dump(a, NULL, &x);
        gy_config_dump(t, NULL, &y);
    }
    bool failed = !t || gy_buf_failed(&x) || gy_buf_failed(&y);
    *rc = failed ? gy_fail_nomem(e) : GYRE_OK;
    bool same = !failed && gy_buf_size(&x) == gy_buf_size(&y) &&
                memcmp(gy_buf_head(&x), gy_buf_head(&y), gy_buf_size(&x)) == 0;
    gyre_topology_free(t);
    gy_buf_fini(&x);
    gy_buf_fini(&y);
    return same;
}

/* What no server needs to be asked for. */
static int check_wish(struct begin *b, const gyre_topology_t *current, gyre_error_t *e)
{
    const gyre_topology_t *next = b->job->next;
    int rc;
    if (gyre_topology_version(next) > INT64_MAX) { /* the next process could not read it */
        return gy_fail(e, GYRE_REFUSED,
                       "version %llu serves, the highest there is: no other can follow it",
                       (unsigned long long)gyre_topology_version(current));
    }
    if (same_text(current, next, e, &rc)) {
        return gy_fail(e, GYRE_REFUSED, "no owner changes: this topology serves already");
    }
    if (rc != GYRE_OK) {
        return rc;
    }
    const char *old_tag = gyre_topology_get(current, "hash_tag");
    const char *new_tag = gyre_topology_get(next, "hash_tag");
    if (strcmp(old_tag ? old_tag : "", new_tag ? new_tag : "") != 0) {
        return gy_fail(
            e, GYRE_REFUSED,
            "hash_tag cannot be changed by a move: keys that belong together would part");
    }
    const char *old_check = gyre_topology_get(current, "secret_check");
    const char *new_check = gyre_topology_get(next, "secret_check");
    if (*old_check && *new_check && strcmp(old_check, new_check) != 0) {
        return gy_fail(e, GYRE_REFUSED,
                       "the secret cannot be changed by a move, as nearly every key would change "
                       "its node: put the old one back; for a new one move to hash: xxh3 first, "
                       "then to hash: siphash with it");
    }
    for (size_t i = 0; i < gyre_topology_count(next); i++) {
        const struct gyre_node *n = gyre_topology_node(next, i);
        char name[GY_SHOW];
        if (!n->address || !*n->address) {
            return gy_fail(e, GYRE_REFUSED, "%s: it has no address", gy_show(n->name, name));
        }
    }
    rc = gy_members_check_text(current, next, e);
    return rc == GYRE_OK ? gyre_map_build(next, &b->next, e) : rc;
}

/* The fleet, and every flow of keys in it. */
static int lay_out(struct begin *b, gyre_error_t *e)
{
    struct gy_job *j = b->job;
    int rc = gy_fleet_place(b->next, &b->servers, &b->nservers, &b->next_server, e);
    if (rc != GYRE_OK) {
        return rc;
    }
    b->wide = gy_view_new(b->now->map, b->servers, b->nservers, b->now->server);
    if (!b->wide) {
        return gy_fail_nomem(e);
    }
    return gy_migration_pairs(b->wide, b->next, b->next_server, &j->pairs, &j->npairs, e);
}

/* Newcomers get a user of ours by the pre-checks already: that is on record first. */
static int promise(const struct begin *b, gyre_error_t *e)
{
    bool *goes = calloc(b->nservers ? b->nservers : 1, sizeof *goes);
    for (uint32_t i = 0; goes && i < gyre_map_count(b->next); i++) {
        goes[b->next_server[i]] = !gy_view_serves(b->now, b->next_server[i]);
    }
    int rc = goes ? gy_leave_promise(b->m, b->servers, b->nservers, goes, b->o->weak_fencing, e)
                  : gy_fail_nomem(e);
    free(goes);
    return rc;
}

static int examine(struct begin *b, uint32_t *nchunks, gyre_error_t *e)
{
    struct gy_job *j = b->job;
    struct gy_precheck c = {
        .m = b->m,
        .view = b->wide,
        .next = b->next,
        .next_server = b->next_server,
        .options = b->o,
        .epoch = j->epoch,
        .pairs = j->pairs,
        .npairs = j->npairs,
        .known = {b->m->pool, j->epoch - 1, j->from_version, false},
    };
    int rc = gy_precheck_run(&c, e);
    j->npairs = c.npairs;
    j->epoch = c.known.epoch + 1;
    j->estimate = c.estimate;
    uint64_t wanted = c.largest / KEYS_PER_CHUNK + 1;
    *nchunks = b->o->chunks          ? b->o->chunks
               : wanted < CHUNKS_MIN ? CHUNKS_MIN
               : wanted > CHUNKS_MAX ? CHUNKS_MAX
                                     : (uint32_t)wanted;
    return rc;
}

/* Under the lock: the move becomes durable, and the mover's thread finds it. */
static int commit(struct begin *b, gyre_error_t *e)
{
    struct gy_mover *m = b->m;
    struct gy_server *old = m->servers;
    uint32_t nold = m->nservers;
    m->keys_per_s = b->o->keys_per_s ? b->o->keys_per_s : m->default_keys;
    m->bytes_per_s = b->o->bytes_per_s ? b->o->bytes_per_s : m->default_bytes;
    m->paused = m->abort = false;
    m->servers = b->servers; /* the document lists them */
    m->nservers = b->nservers;
    int rc = gy_journal_begin(m, b->job, e);
    if (rc != GYRE_OK) {
        m->servers = old;
        m->nservers = nold;
        return rc;
    }
    gy_fleet_free(old, nold);
    b->servers = NULL;
    b->nservers = 0;
    gy_info("move %llu: version %llu to %llu, %u units, about %llu keys",
            (unsigned long long)b->job->epoch, (unsigned long long)b->job->from_version,
            (unsigned long long)b->job->to_version, b->job->mig->nunits,
            (unsigned long long)b->job->estimate);
    gy_mover_note_hold(m); /* what was before is no part of it */
    m->job = b->job;
    b->job = NULL;
    m->rate_changed = true;
    m->last_error[0] = m->warning[0] = '\0';
    m->sample_at = 0;
    if (m->host) {
        struct gy_job *j = m->job;
        m->host->on_access(m->host->ctx, &m->charged_keys, &m->charged_bytes);
        j->access_start = j->access_base_keys = m->charged_keys;
        j->access_base_bytes = m->charged_bytes;
    }
    pthread_cond_broadcast(&m->wake);
    return GYRE_OK;
}

static int enter(struct begin *b, gyre_topology_t **current, gyre_error_t *e)
{
    struct gy_mover *m = b->m;
    struct gy_job *j = b->job;
    pthread_mutex_lock(&m->lock);
    while (m->leaving && !m->stop) {
        pthread_cond_wait(&m->wake, &m->lock);
    }
    int rc = m->job || m->preparing
                 ? gy_fail(e, GYRE_CONFLICT, "a move is under way: see `gyre move status`")
                 : GYRE_OK;
    if (rc == GYRE_OK) {
        m->preparing = true;
        b->now = gy_view_ref(m->view);
        rc = gy_fleet_copy(m->servers, m->nservers, &b->servers, e);
        b->nservers = rc == GYRE_OK ? m->nservers : 0;
        *current = gyre_topology_clone(m->topology);
        if (rc == GYRE_OK && !*current) {
            rc = gy_fail_nomem(e);
        }
        if (rc == GYRE_OK) {
            rc = gy_journal_next_epoch(m, &j->epoch, e);
        }
        m->preparing = rc == GYRE_OK;
    }
    pthread_mutex_unlock(&m->lock);
    if (rc == GYRE_OK) {
        j->from_version = gyre_topology_version(*current);
        uint64_t wished = gyre_topology_version(j->next);
        j->to_version = wished > j->from_version ? wished : j->from_version + 1;
        gyre_topology_set_version(j->next, j->to_version);
    }
    return rc;
}

static int prepare(struct begin *b, const gyre_topology_t *current, gyre_error_t *e)
{
    uint32_t nchunks;
    int rc = check_wish(b, current, e);
    if (rc == GYRE_OK) {
        rc = lay_out(b, e);
    }
    if (rc == GYRE_OK) {
        rc = promise(b, e);
    }
    if (rc == GYRE_OK) {
        rc = examine(b, &nchunks, e);
    }
    if (rc == GYRE_OK) {
        rc = gy_job_build(b->m, b->job, b->wide, b->next_server, b->next, nchunks, e);
    }
    return rc;
}

int gy_mover_begin(struct gy_mover *m, gyre_topology_t *next, const struct gy_move_options *o,
                   gyre_error_t *e)
{
    static const struct gy_move_options none;
    gyre_topology_t *current = NULL;
    struct begin b = {.m = m, .o = o ? o : &none};
    b.job = calloc(1, sizeof *b.job);
    if (!b.job) {
        gyre_topology_free(next);
        return gy_fail_nomem(e);
    }
    b.job->next = next;
    b.job->wave = b.o->wave ? b.o->wave : WAVE_DEFAULT;
    b.job->started_at = (int64_t)time(NULL);
    b.job->weak_fencing = b.o->weak_fencing;
    int rc = enter(&b, &current, e);
    if (rc == GYRE_OK) {
        rc = prepare(&b, current, e);
        pthread_mutex_lock(&m->lock);
        if (rc == GYRE_OK) {
            rc = commit(&b, e);
        }
        pthread_mutex_unlock(&m->lock);
        if (rc != GYRE_OK) {
            gy_leave_refused(m);
        }
        pthread_mutex_lock(&m->lock);
        m->preparing = false;
        pthread_cond_broadcast(&m->wake); /* what could not be left in peace now is due later */
        pthread_mutex_unlock(&m->lock);
    }
    gy_view_unref(b.now);
    gy_view_unref(b.wide);
    gy_fleet_free(b.servers, b.nservers);
    gyre_map_unref(b.next);
    free(b.next_server);
    gy_job_free(b.job);
    gyre_topology_free(current);
    return rc;
}
