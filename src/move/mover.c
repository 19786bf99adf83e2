/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mover.c - see mover.h: the object's life, and the wishes of the admin thread. What happens then
 * is in driver.c. Threads: as state.h says.
 */
#include "move/mover.h"

#include "base/log.h"
#include "control/views.h"
#include "lib/error.h"
#include "move/journal.h"
#include "move/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define RETIRE_MS 1500 /* for all servers together */

int64_t gy_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t gy_now_ms(void)
{
    return gy_now_us() / 1000;
}

/* ---- waiting and complaining ---- */

static bool must_stop(const struct gy_mover *m)
{
    return m->stop || (m->abort && m->job && m->job->phase == GY_PHASE_MOVE);
}

bool gy_mover_rest(struct gy_mover *m, int64_t ms)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += ms / 1000;
    end.tv_nsec += ms % 1000 * 1000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_mutex_lock(&m->lock);
    if (!must_stop(m) && ms > 0) {
        (void)pthread_cond_timedwait(&m->wake, &m->lock, &end); /* a spurious wake-up is harmless */
    }
    bool stop = must_stop(m);
    pthread_mutex_unlock(&m->lock);
    return stop;
}

void gy_mover_complain(struct gy_mover *m, const gyre_error_t *e)
{
    pthread_mutex_lock(&m->lock);
    bool news = strcmp(m->last_error, e->message) != 0;
    snprintf(m->last_error, sizeof m->last_error, "%s", e->message);
    m->complained_at = gy_now_ms();
    pthread_mutex_unlock(&m->lock);
    if (news) {
        gy_warn("move: %s", e->message);
    }
}

/* A server that may be lost for good must be a destination only: an empty one in place of a source
 * would lose its keys. */
static bool may_be_empty(const struct gy_job *j, uint32_t server)
{
    bool src = false, dst = false;
    for (size_t i = 0; i < j->npairs; i++) {
        src |= j->pairs[i].src == server;
        dst |= j->pairs[i].dst == server;
    }
    return dst && !src;
}

void gy_mover_complain_down(struct gy_mover *m, uint32_t server, const gyre_error_t *e)
{
    gyre_error_t more;
    const struct gy_job *j = m->job; /* the caller is the mover's thread: it alone ends a job */
    bool down = e->code == GYRE_IO || e->code == GYRE_TIMEOUT;
    if (!down || !j || j->phase != GY_PHASE_ABORT || !may_be_empty(j, server)) {
        gy_mover_complain(m, e);
        return;
    }
    (void)gy_fail(&more, e->code,
                  "%.300s; the way back needs it: if it is lost for good, start an empty Redis at "
                  "its address (see `gyre move abort --help`)",
                  e->message);
    gy_mover_complain(m, &more);
}

void gy_mover_warn_restart(struct gy_mover *m, uint32_t server, const char *run_id)
{
    gyre_error_t e;
    char name[GY_SHOW];
    bool src = false;
    const struct gy_job *j = m->job; /* the caller is the mover's thread: it alone ends a job */
    if (!j) {
        return; /* after a move: strays.h */
    }
    for (size_t i = 0; i < j->npairs; i++) {
        src |= j->pairs[i].src == server;
    }
    (void)gy_fail(&e, GYRE_IO,
                  "%s (%.120s), a %s of the move, was restarted (run_id %.8s now): what it had not "
                  "on disk is lost, whatever the move does",
                  gy_show(m->servers[server].name, name), m->servers[server].address,
                  src ? "source" : "destination", run_id);
    pthread_mutex_lock(&m->lock);
    size_t used = strlen(m->warning);
    bool told = strstr(m->warning, e.message) != NULL;
    if (!told) {
        snprintf(m->warning + used, sizeof m->warning - used, "%s%s", used ? "; " : "", e.message);
    }
    pthread_mutex_unlock(&m->lock);
    if (!told) {
        gy_mover_complain(m, &e);
    }
}

static void on_restart(void *ctx, uint32_t server, const char *run_id)
{
    gy_mover_warn_restart(ctx, server, run_id);
}

/* ---- create ---- */

static bool same_addresses(gyre_map_t *a, gyre_map_t *b)
{
    for (uint32_t i = 0; i < gyre_map_count(a); i++) {
        const char *x = gyre_map_node(a, i)->address;
        uint32_t k = gyre_map_find(b, gyre_map_node(a, i)->name);
        const char *y = k == GYRE_NONE ? NULL : gyre_map_node(b, k)->address;
        if (strcmp(x ? x : "", y ? y : "") != 0) {
            return false;
        }
    }
    return gyre_map_count(a) == gyre_map_count(b);
}

/* What the file says and the store does not (0a.7): one line for the one who starts the proxy. */
static int compare_with_file(struct gy_mover *m, const gyre_topology_t *file, char **note,
                             gyre_error_t *e)
{
    gyre_map_t *stored = NULL, *given = NULL;
    gyre_diff_t *d = NULL;
    int rc = gyre_map_build(m->topology, &stored, e);
    if (rc == GYRE_OK) {
        rc = gyre_map_build(file, &given, e);
    }
    if (rc == GYRE_OK && !(gyre_map_same(stored, given) && same_addresses(stored, given))) {
        char share[48] = "a part";
        if (gyre_diff_build(stored, given, 0, &d, NULL) == GYRE_OK) {
            snprintf(share, sizeof share, "%.2f %%", 100 * gyre_diff_moved(d));
        }
        if (asprintf(note,
                     "version %llu in the state directory serves, not the topology file (version "
                     "%llu), which would place %s of the keys elsewhere; to move them: gyre move "
                     "start --to FILE",
                     (unsigned long long)gyre_topology_version(m->topology),
                     (unsigned long long)gyre_topology_version(file), share) < 0) {
            *note = NULL;
            rc = gy_fail_nomem(e);
        }
    }
    gyre_diff_free(d);
    gyre_map_unref(stored);
    gyre_map_unref(given);
    return rc;
}

/* No move begins with such a topology, but an older release may have let it in. */
static int warn_shared(const struct gy_mover *m, gyre_error_t *e)
{
    const struct gyre_node *two[2];
    char a[GY_SHOW], b[GY_SHOW];
    int rc = gy_members_shared(m->topology, two, e);
    if (rc == GYRE_OK && two[0]) {
        gy_error("nodes %s and %s of the topology in the state directory have one address, %s: "
                 "each takes the other's keys for strays; take one of them out by a move",
                 gy_show(two[0]->name, a), gy_show(two[1]->name, b), two[0]->address);
    }
    return rc;
}

/* fresh: the store had none, and the file's is not in it yet. */
static int load_topology(struct gy_mover *m, const gyre_topology_t *file, bool *fresh, char **note,
                         gyre_error_t *e)
{
    int rc = gy_journal_get_view(m->store, &m->topology, e);
    if (rc == GYRE_OK) {
        rc = warn_shared(m, e);
    }
    if (rc == GYRE_OK) {
        return compare_with_file(m, file, note, e);
    }
    if (rc != GYRE_UNKNOWN) {
        return rc;
    }
    m->topology = gyre_topology_clone(file);
    if (!m->topology) {
        return gy_fail_nomem(e);
    }
    if (gyre_topology_version(m->topology) == 0) {
        gyre_topology_set_version(m->topology, 1);
    }
    if (asprintf(note,
                 "the state directory is new: version %llu of the topology file serves. If this "
                 "fleet was served before, stop now and restore the state directory: it is no "
                 "cache, and without it keys that a move carried elsewhere cannot be seen",
                 (unsigned long long)gyre_topology_version(m->topology)) < 0) {
        *note = NULL;
        return gy_fail_nomem(e);
    }
    *fresh = true;
    return GYRE_OK;
}

static int plain_view(struct gy_mover *m, gyre_error_t *e)
{
    gyre_map_t *map = NULL;
    uint32_t *server = NULL;
    int rc = gyre_map_build(m->topology, &map, e);
    if (rc == GYRE_OK) {
        rc = gy_fleet_place(map, &m->servers, &m->nservers, &server, e);
    }
    if (rc == GYRE_OK) {
        m->view = gy_view_new(map, m->servers, m->nservers, server);
        rc = m->view ? GYRE_OK : gy_fail_nomem(e);
    }
    gyre_map_unref(map);
    free(server);
    return rc;
}

static int load_job(struct gy_mover *m, gyre_error_t *e)
{
    struct gy_buf doc = {0};
    int rc = gy_store_get(m->store, GY_MOVE_KEY, &doc, NULL, e);
    if (rc == GYRE_UNKNOWN) {
        rc = plain_view(m, e);
    } else if (rc == GYRE_OK) {
        struct gy_slice text = {gy_buf_head(&doc), gy_buf_size(&doc)};
        rc = gy_job_read(m, text, &m->job, e);
        if (rc == GYRE_OK) {
            m->abort = m->job->phase == GY_PHASE_ABORT;
            rc = gy_journal_read_units(m, m->job, e);
        }
        if (rc == GYRE_OK) {
            struct gy_view *v = gy_driver_view(m, m->job);
            gy_view_unref(m->view);
            m->view = v;
            rc = v ? GYRE_OK : gy_fail_nomem(e);
        }
    }
    gy_buf_fini(&doc);
    return rc;
}

static bool still_ours(void *store)
{
    return gy_store_holds(store);
}

static int setup(struct gy_mover *m, const struct gy_config *conf, char **note, gyre_error_t *e)
{
    uint64_t generation;
    char id[GY_FENCE_ID + 1];
    bool fresh = false;
    m->pool = strdup(conf->proxy.pool ? conf->proxy.pool : "main");
    m->prefix = strdup(conf->proxy.prefix ? conf->proxy.prefix : "gyre:");
    if (!m->pool || !m->prefix) {
        return gy_fail_nomem(e);
    }
    m->bigkey_bytes = conf->proxy.bigkey_bytes ? conf->proxy.bigkey_bytes : 256 << 10;
    m->default_keys = m->keys_per_s = conf->proxy.move_keys;
    m->default_bytes = m->bytes_per_s = conf->proxy.move_bytes;
    gyre_error_t full = {0};
    int rc = gy_journal_identity(m->store, id, &generation, &m->kept, &full);
    if (rc != GYRE_OK && e) {
        *e = full;
    }
    if (rc == GYRE_OK) {
        rc = gy_link_conf_init(&m->link_conf, &conf->proxy, m->pool, id, generation, e);
    }
    m->link_conf.fence.holds = still_ours;
    m->link_conf.fence.ctx = m->store;
    if (rc == GYRE_OK) {
        rc = load_topology(m, conf->topology, &fresh, note, e);
    }
    if (rc == GYRE_OK) {
        rc = load_job(m, e);
    }
    if (rc == GYRE_OK) {
        rc = gy_leave_load(m, e);
    }
    if (rc == GYRE_OK) {
        rc = gy_stamp_check(m, e);
    }
    if (rc == GYRE_OK && !m->kept) {
        gy_full_tell(m, &full);
    }
    if (rc == GYRE_OK && fresh) { /* a refused start leaves no view behind that would serve next */
        rc = gy_journal_put_view(m->store, m->topology, e);
    }
    return rc;
}

int gy_mover_create(const struct gy_config *conf, struct gy_store *store, struct gy_mover **out,
                    struct gy_view **first, char **note, gyre_error_t *e)
{
    char *said = NULL;
    *out = NULL;
    *first = NULL;
    struct gy_mover *m = calloc(1, sizeof *m);
    if (!m) {
        return gy_fail_nomem(e);
    }
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&m->wake, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&m->lock, NULL);
    m->store = store;
    m->rate_changed = true;
    m->seed = (unsigned)gy_now_us();
    gy_links_init(&m->links, &m->link_conf);
    m->links.restarted = on_restart;
    m->links.ctx = m;
    int rc = setup(m, conf, &said, e);
    if (rc != GYRE_OK) {
        free(said);
        gy_mover_destroy(m);
        return rc;
    }
    if (note) {
        *note = said;
    } else {
        free(said);
    }
    *out = m;
    *first = gy_view_ref(m->view);
    return GYRE_OK;
}

/* The line an operator looks for after a restart. */
static void tell_resumed(const struct gy_mover *m)
{
    const struct gy_job *j = m->job;
    static const char *const doing[] = {
        [GY_PHASE_MOVE] = "goes on",
        [GY_PHASE_CLEAN] = "goes on with cleaning the sources",
        [GY_PHASE_ABORT] = "goes on being taken back",
    };
    uint32_t complete = 0, returned = 0;
    for (uint32_t i = 0; i < j->mig->nunits; i++) {
        enum gy_unit_state s = gy_machine_state(&j->unit[i]);
        complete += s == GY_UNIT_COMPLETE || s == GY_UNIT_CLEANING || s == GY_UNIT_MOVED;
        returned += s == GY_UNIT_RETURNED;
    }
    bool back = j->phase == GY_PHASE_ABORT;
    gy_info("move %llu: %s, version %llu to %llu, %u of %u units %s, %llu keys settled%s",
            (unsigned long long)j->epoch, doing[j->phase], (unsigned long long)j->from_version,
            (unsigned long long)j->to_version, back ? returned : complete, j->mig->nunits,
            back ? "returned" : "complete", (unsigned long long)j->settled.keys,
            m->paused && !back ? " (paused: waits for `gyre move resume`)" : "");
}

static void *thread_main(void *arg)
{
    gy_driver_run(arg);
    return NULL;
}

int gy_mover_start(struct gy_mover *m, const struct gy_move_host *host, gyre_error_t *e)
{
    m->host = host;
    if (m->job) {
        tell_resumed(m);
    }
    int rc = pthread_create(&m->thread, NULL, thread_main, m);
    if (rc != 0) {
        return gy_fail(e, GYRE_IO, "cannot start the mover's thread: %s", strerror(rc));
    }
    m->started = true;
    return GYRE_OK;
}

static void wake(struct gy_mover *m)
{
    pthread_cond_broadcast(&m->wake);
}

void gy_mover_stop(struct gy_mover *m)
{
    if (!m || !m->started) {
        return;
    }
    pthread_mutex_lock(&m->lock);
    m->stop = true;
    wake(m);
    pthread_mutex_unlock(&m->lock);
    pthread_join(m->thread, NULL);
    m->started = false;
}

void gy_mover_destroy(struct gy_mover *m)
{
    if (!m) {
        return;
    }
    gy_mover_stop(m);
    gy_strays_forget(m);
    gy_leave_fini(m);
    gy_links_fini(&m->links);
    gy_link_conf_fini(&m->link_conf);
    gy_job_free(m->job);
    gy_view_unref(m->view);
    gyre_topology_free(m->topology);
    gy_fleet_free(m->servers, m->nservers);
    free(m->pool);
    free(m->prefix);
    pthread_cond_destroy(&m->wake);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

const struct gy_fence *gy_mover_fence(const struct gy_mover *m)
{
    return &m->link_conf.fence;
}

void gy_mover_retire(struct gy_mover *m)
{
    int64_t end = gy_now_ms() + RETIRE_MS;
    for (uint32_t i = 0; i < m->nservers; i++) {
        int64_t left = end - gy_now_ms();
        if (left > 0) {
            gyre_error_t e;
            if (gy_link_retire(&m->link_conf, &m->servers[i], left / (m->nservers - i), false, NULL,
                               NULL, &e) != GYRE_OK) {
                gy_debug("our user is left behind: %s", e.message);
            }
        }
    }
}

/* ---- wishes ---- */

static int no_move(gyre_error_t *e)
{
    return gy_fail(e, GYRE_REFUSED, "no move is under way");
}

/* What was wished counts once it is on record: a wish that is answered survives a kill, one that
 * could not be kept changes nothing. */
static int set_paused(struct gy_mover *m, bool paused, gyre_error_t *e)
{
    int rc = GYRE_OK;
    pthread_mutex_lock(&m->lock);
    if (!m->job) {
        rc = no_move(e);
    } else if (m->paused != paused) {
        m->paused = paused;
        rc = gy_journal_update(m, m->job, e);
        if (rc == GYRE_OK) {
            gy_info("move %llu: %s", (unsigned long long)m->job->epoch,
                    paused ? "paused: waits for `gyre move resume`" : "resumed");
            wake(m);
        } else {
            m->paused = !paused;
        }
    }
    pthread_mutex_unlock(&m->lock);
    return rc;
}

int gy_mover_pause(struct gy_mover *m, gyre_error_t *e)
{
    return set_paused(m, true, e);
}

int gy_mover_resume(struct gy_mover *m, gyre_error_t *e)
{
    return set_paused(m, false, e);
}

int gy_mover_rate(struct gy_mover *m, uint64_t keys_per_s, uint64_t bytes_per_s, gyre_error_t *e)
{
    int rc = GYRE_OK;
    pthread_mutex_lock(&m->lock);
    if (!m->job) {
        rc = no_move(e);
    } else {
        uint64_t old_keys = m->keys_per_s, old_bytes = m->bytes_per_s;
        m->keys_per_s = keys_per_s;
        m->bytes_per_s = bytes_per_s;
        rc = gy_journal_update(m, m->job, e);
        if (rc == GYRE_OK) {
            m->rate_changed = true;
            gy_info("move %llu: limits are %llu keys/s and %llu bytes/s now (0: none)",
                    (unsigned long long)m->job->epoch, (unsigned long long)keys_per_s,
                    (unsigned long long)bytes_per_s);
            wake(m);
        } else {
            m->keys_per_s = old_keys;
            m->bytes_per_s = old_bytes;
        }
    }
    pthread_mutex_unlock(&m->lock);
    return rc;
}

int gy_mover_abort(struct gy_mover *m, gyre_error_t *e)
{
    int rc = GYRE_OK;
    pthread_mutex_lock(&m->lock);
    if (!m->job) {
        rc = no_move(e);
    } else if (m->job->phase == GY_PHASE_CLEAN) {
        rc = gy_fail(e, GYRE_REFUSED,
                     "all keys have moved and the sources are being cleaned: there is no way back, "
                     "only a new move");
    } else if (!m->abort) {
        uint64_t old_keys = m->keys_per_s, old_bytes = m->bytes_per_s;
        m->abort = true;
        m->keys_per_s = m->bytes_per_s = 0;
        rc = gy_journal_update(m, m->job, e);
        if (rc == GYRE_OK) {
            m->rate_changed = true;
            gy_info("move %llu: abort, everything goes back, without a limit",
                    (unsigned long long)m->job->epoch);
            wake(m);
        } else {
            m->abort = false;
            m->keys_per_s = old_keys;
            m->bytes_per_s = old_bytes;
        }
    }
    pthread_mutex_unlock(&m->lock);
    return rc;
}

int gy_mover_history(struct gy_mover *m, struct gy_buf *json, gyre_error_t *e)
{
    pthread_mutex_lock(&m->lock);
    int rc = gy_journal_history(m, json, e);
    pthread_mutex_unlock(&m->lock);
    return rc;
}

int gy_mover_topology(struct gy_mover *m, struct gy_buf *yaml, gyre_error_t *e)
{
    pthread_mutex_lock(&m->lock);
    gy_config_dump(m->topology, NULL, yaml);
    pthread_mutex_unlock(&m->lock);
    return gy_buf_failed(yaml) ? gy_fail_nomem(e) : GYRE_OK;
}
