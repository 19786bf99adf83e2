/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mover.c - see mover.h: the object's life, and the wishes of the admin thread. What happens then
 * is in driver.c. Threads: as state.h says.
 */
#include "move/mover.h"

#include "base/log.h"
#include "lib/error.h"
#include "move/journal.h"
#include "move/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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
    pthread_mutex_unlock(&m->lock);
    if (news) {
        gy_warn("move: %s", e->message);
    }
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

static int load_topology(struct gy_mover *m, const gyre_topology_t *file, char **note,
                         gyre_error_t *e)
{
    int rc = gy_journal_get_view(m->store, &m->topology, e);
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
    return gy_journal_put_view(m->store, m->topology, e);
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
    int rc = gy_store_get(m->store, "move", &doc, NULL, e);
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
            rc = gy_journal_read_totals(m, &m->job->settled, e);
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

static int setup(struct gy_mover *m, const struct gy_config *conf, char **note, gyre_error_t *e)
{
    uint64_t generation;
    m->pool = strdup(conf->proxy.pool ? conf->proxy.pool : "main");
    m->prefix = strdup(conf->proxy.prefix ? conf->proxy.prefix : "gyre:");
    if (!m->pool || !m->prefix) {
        return gy_fail_nomem(e);
    }
    m->bigkey_bytes = conf->proxy.bigkey_bytes ? conf->proxy.bigkey_bytes : 256 << 10;
    m->default_keys = m->keys_per_s = conf->proxy.move_keys;
    m->default_bytes = m->bytes_per_s = conf->proxy.move_bytes;
    int rc = gy_journal_generation(m->store, &generation, e);
    if (rc == GYRE_OK) {
        rc = gy_link_conf_init(&m->link_conf, &conf->proxy, m->pool, generation, e);
    }
    if (rc == GYRE_OK) {
        rc = load_topology(m, conf->topology, note, e);
    }
    if (rc == GYRE_OK) {
        rc = load_job(m, e);
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

static void *thread_main(void *arg)
{
    gy_driver_run(arg);
    return NULL;
}

int gy_mover_start(struct gy_mover *m, const struct gy_move_host *host, gyre_error_t *e)
{
    m->host = host;
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

uint64_t gy_mover_generation(const struct gy_mover *m)
{
    return m->link_conf.generation;
}

/* ---- wishes ---- */

static int no_move(gyre_error_t *e)
{
    return gy_fail(e, GYRE_REFUSED, "no move is under way");
}

static int set_paused(struct gy_mover *m, bool paused, gyre_error_t *e)
{
    int rc = GYRE_OK;
    pthread_mutex_lock(&m->lock);
    if (!m->job) {
        rc = no_move(e);
    } else if (m->paused != paused) {
        m->paused = paused;
        rc = gy_journal_update(m, m->job, e);
        wake(m);
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
        m->keys_per_s = keys_per_s;
        m->bytes_per_s = bytes_per_s;
        m->rate_changed = true;
        rc = gy_journal_update(m, m->job, e);
        wake(m);
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
    } else {
        m->abort = true;
        wake(m);
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
