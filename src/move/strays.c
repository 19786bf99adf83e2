/* SPDX-License-Identifier: Apache-2.0 */
/* strays.c - see strays.h: the notes, and when a server needs a sweep. The sweep: strays_sweep.c.
 */
#include "move/strays.h"

#include "base/json.h"
#include "base/log.h"
#include "lib/error.h"
#include "move/journal.h"
#include "move/state.h"
#include "move/strays_internal.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <time.h>

#define LOOK_MS   1000
#define KEEP_S    (30 * 24 * 3600)
#define AOF_S     2 /* everysec may be up to a second behind: give it two */
#define SETTLE_MS 3000
#define MAX_NOTE  1024

/* ---- the note ---- */

static bool serves_next(const struct gy_job *j, uint32_t server)
{
    for (uint32_t i = 0; i < gyre_map_count(j->mig->next); i++) {
        if (j->mig->next_server[i] == server) {
            return true;
        }
    }
    return false;
}

void gy_strays_begin(const struct gy_mover *m, struct gy_job *j)
{
    free(j->cleaned_run_id);
    j->cleaned_run_id = calloc(m->nservers ? m->nservers : 1, sizeof *j->cleaned_run_id);
    for (uint32_t i = 0; j->cleaned_run_id && i < m->nservers; i++) {
        snprintf(j->cleaned_run_id[i], sizeof *j->cleaned_run_id, "%s",
                 gy_links_run_id(&m->links, i));
    }
}

bool gy_strays_same(const struct gy_mover *m, const struct gy_job *j, uint32_t server)
{
    const char *then = j->cleaned_run_id ? j->cleaned_run_id[server] : "";
    return *then && strcmp(then, gy_links_run_id(&m->links, server)) == 0;
}

static void write_note(const struct gy_stray *s, struct gy_buf *doc)
{
    struct gy_json w;
    gy_json_init(&w, doc);
    gy_json_object(&w);
    gy_json_kuint(&w, "epoch", s->epoch);
    gy_json_kuint(&w, "from_version", s->from);
    gy_json_kuint(&w, "to_version", s->to);
    gy_json_kint(&w, "ended_at", s->ended_at);
    gy_json_kstring(&w, "run_id", s->run_id);
    gy_json_key(&w, "servers"); /* the source, then where its keys went */
    gy_json_array(&w);
    for (uint32_t i = 0; i < s->nservers; i++) {
        gy_json_object(&w);
        gy_json_kstring(&w, "name", s->servers[i].name);
        gy_json_kstring(&w, "address", s->servers[i].address);
        gy_json_object_end(&w);
    }
    gy_json_array_end(&w);
    gy_json_object_end(&w);
}

bool gy_strays_note(const struct gy_mover *m, const struct gy_job *j, uint32_t server,
                    struct gy_buf *doc)
{
    struct gy_stray s = {.epoch = j->epoch,
                         .from = j->from_version,
                         .to = j->to_version,
                         .ended_at = (int64_t)time(NULL)};
    if (!serves_next(j, server)) {
        return false; /* who left and comes back is checked like any newcomer */
    }
    s.servers = calloc(j->npairs + 1, sizeof *s.servers);
    if (!s.servers) {
        doc->failed = true;
        return true;
    }
    s.servers[s.nservers++] = m->servers[server];
    for (size_t i = 0; i < j->npairs; i++) {
        if (j->pairs[i].src == server) {
            s.servers[s.nservers++] = m->servers[j->pairs[i].dst];
        }
    }
    if (gy_strays_same(m, j, server)) {
        snprintf(s.run_id, sizeof s.run_id, "%s", j->cleaned_run_id[server]);
    }
    bool source = s.nservers > 1;
    if (source) {
        write_note(&s, doc);
    }
    free(s.servers);
    return source;
}

static bool take(const json_t *doc, const char *key, uint64_t *out)
{
    const json_t *v = json_object_get(doc, key);
    *out = (uint64_t)json_integer_value(v);
    return json_is_integer(v) && json_integer_value(v) >= 0;
}

static bool append(struct gy_server **v, uint32_t *n, const json_t *from)
{
    const char *name = json_string_value(json_object_get(from, "name"));
    const char *address = json_string_value(json_object_get(from, "address"));
    return name && address && gy_fleet_append(v, n, name, address, NULL) == GYRE_OK;
}

static bool parse(struct gy_slice text, struct gy_stray *s)
{
    uint64_t ended = 0;
    json_t *doc = json_loadb((const char *)text.p, text.n, 0, NULL);
    const json_t *servers = json_object_get(doc, "servers");
    const char *run_id = json_string_value(json_object_get(doc, "run_id"));
    bool good = take(doc, "epoch", &s->epoch) && take(doc, "from_version", &s->from) &&
                take(doc, "to_version", &s->to) && take(doc, "ended_at", &ended) && run_id;
    for (size_t i = 0; good && i < json_array_size(servers); i++) {
        good = append(&s->servers, &s->nservers, json_array_get(servers, i));
    }
    if (good) {
        snprintf(s->run_id, sizeof s->run_id, "%s", run_id);
    }
    s->ended_at = (int64_t)ended;
    s->since = gy_now_ms();
    json_decref(doc);
    return good && s->nservers > 0;
}

/* ---- all of them ---- */

void gy_strays_forget(struct gy_mover *m)
{
    struct gy_strays *all = m->strays;
    m->strays = NULL;
    for (size_t i = 0; all && i < all->n; i++) {
        free(all->v[i].key);
        gy_fleet_free(all->v[i].servers, all->v[i].nservers);
    }
    if (all) {
        free(all->v);
        free(all);
    }
}

static bool take_note(void *ctx, const char *key, struct gy_slice value, uint64_t revision)
{
    struct gy_strays *all = ctx;
    (void)revision;
    if (all->n == MAX_NOTE) {
        return false;
    }
    struct gy_stray *v = realloc(all->v, (all->n + 1) * sizeof *v);
    if (!v) {
        return false;
    }
    all->v = v;
    struct gy_stray *s = &v[all->n++];
    *s = (struct gy_stray){.key = strdup(key), .server = GYRE_NONE};
    if (!s->key || !parse(value, s)) {
        gy_warn("store: %s is damaged and not looked at", key);
    }
    return true;
}

/* The index of the note's server, if it serves now. Under the lock: the fleet may be replaced. */
static uint32_t locate(const struct gy_mover *m, const struct gy_stray *s)
{
    const struct gy_view *v = m->view;
    for (uint32_t i = 0; s->nservers && i < gyre_map_count(v->map); i++) {
        const struct gy_server *have = &m->servers[v->server[i]];
        if (strcmp(have->name, s->servers[0].name) == 0 &&
            strcmp(have->address, s->servers[0].address) == 0) {
            return v->server[i];
        }
    }
    return GYRE_NONE;
}

static void load(struct gy_mover *m)
{
    gyre_error_t e;
    struct gy_strays *all = calloc(1, sizeof *all);
    if (!all) {
        return;
    }
    pthread_mutex_lock(&m->lock);
    int rc = gy_store_list(m->store, GY_STRAYS_PREFIX, take_note, all, &e);
    for (size_t i = 0; i < all->n; i++) {
        all->v[i].server = locate(m, &all->v[i]);
    }
    pthread_mutex_unlock(&m->lock);
    m->strays = all;
    if (rc != GYRE_OK) {
        gy_mover_complain(m, &e);
    }
}

/* The note has served its time. */
static void drop(struct gy_mover *m, size_t i)
{
    gyre_error_t e;
    struct gy_stray *s = &m->strays->v[i];
    struct gy_store_op op = {.key = s->key, .remove = true};
    pthread_mutex_lock(&m->lock);
    int rc = s->key ? gy_store_txn(m->store, &op, 1, NULL, &e) : GYRE_OK;
    pthread_mutex_unlock(&m->lock);
    if (rc != GYRE_OK) {
        gy_mover_complain(m, &e); /* and it is met again */
        return;
    }
    free(s->key);
    gy_fleet_free(s->servers, s->nservers);
    *s = m->strays->v[--m->strays->n];
}

/* ---- one server ---- */

/* Its run_id changed: only the stamp of the end itself proves that its data are not older. That of
 * a later move does not: a move stamps every server it connects to (link.c), also one that comes
 * back with older data in the middle of it, when nobody looks at notes. If it was not so, a SCAN is
 * all that is lost: the sweep asks the view of now about each key, and leaves what belongs here. */
static bool is_behind(const struct gy_stamp *now, const struct gy_stray *s)
{
    return now->epoch != s->epoch || !now->ended;
}

/* The server tells again that it knows of all moves: what it saves from now on says so too. */
static int restamp(struct gy_mover *m, struct gy_sync *c, uint64_t last, const struct gy_stray *s,
                   gyre_error_t *e)
{
    uint64_t version = gyre_topology_version(m->topology);
    bool own = last == s->epoch;
    struct gy_stamp stamp = {last, own ? s->from : version, own ? s->to : version, true};
    return gy_stamp_load(c, m->pool, &stamp, e);
}

/* Which of the server's notes its data do not know of; the newest, NULL: none. */
static const struct gy_stray *mark_behind(struct gy_mover *m, uint32_t server,
                                          const struct gy_stamp *now)
{
    const struct gy_stray *newest = NULL;
    for (size_t i = 0; i < m->strays->n; i++) {
        struct gy_stray *s = &m->strays->v[i];
        s->behind = s->server == server && is_behind(now, s);
        newest = s->behind && (!newest || s->epoch > newest->epoch) ? s : newest;
    }
    return newest;
}

static int settle(struct gy_mover *m, struct gy_stray *s, const char *run_id, gyre_error_t *e)
{
    struct gy_buf doc = {0};
    snprintf(s->run_id, sizeof s->run_id, "%s", run_id);
    s->since = gy_now_ms();
    s->counting = false;
    write_note(s, &doc);
    struct gy_store_op op = {.key = s->key, .value = {gy_buf_head(&doc), gy_buf_size(&doc)}};
    pthread_mutex_lock(&m->lock);
    int rc = gy_buf_failed(&doc) ? gy_fail_nomem(e) : gy_store_txn(m->store, &op, 1, NULL, e);
    pthread_mutex_unlock(&m->lock);
    gy_buf_fini(&doc);
    return rc;
}

/* A process of the server not looked at so far: what do its data know? */
static int look(struct gy_mover *m, uint32_t server, struct gy_sync *c, gyre_error_t *e)
{
    struct gy_stamp now;
    uint64_t last;
    bool fresh = false;
    const char *run_id = gy_sync_run_id(c);
    for (size_t i = 0; i < m->strays->n; i++) {
        fresh |= m->strays->v[i].server == server && strcmp(m->strays->v[i].run_id, run_id) != 0;
    }
    if (!fresh) {
        return GYRE_OK;
    }
    pthread_mutex_lock(&m->lock);
    int rc = gy_journal_epoch(m->store, &last, e);
    pthread_mutex_unlock(&m->lock);
    if (rc == GYRE_OK) {
        rc = gy_stamp_ask(c, m->pool, &now, e);
    }
    const struct gy_stray *newest = rc == GYRE_OK ? mark_behind(m, server, &now) : NULL;
    if (newest) {
        rc = gy_strays_sweep(m, server, last, c, e);
        rc = rc == GYRE_OK ? restamp(m, c, last, newest, e) : rc;
    }
    for (size_t i = 0; rc == GYRE_OK && i < m->strays->n; i++) {
        if (m->strays->v[i].server == server) {
            rc = settle(m, &m->strays->v[i], run_id, e);
        }
    }
    return rc;
}

static bool is(struct gy_slice info, const char *field, const char *value)
{
    return gy_slice_eq(gy_info_field(info, field), gy_str(value));
}

static int64_t number(struct gy_slice info, const char *field)
{
    char text[24] = "";
    struct gy_slice v = gy_info_field(info, field);
    memcpy(text, v.n ? (const char *)v.p : "", v.n < sizeof text ? v.n : 0);
    return strtoll(text, NULL, 10);
}

/* Is what the server knew when it was looked at on its disk? A snapshot counts if it began after a
 * look that saw none running. */
static bool has_saved(struct gy_stray *s, struct gy_slice info)
{
    if (is(info, "aof_enabled", "1")) {
        return gy_now_ms() - s->since > AOF_S * 1000 && is(info, "aof_rewrite_in_progress", "0") &&
               is(info, "aof_rewrite_scheduled", "0") && is(info, "aof_pending_bio_fsync", "0") &&
               is(info, "aof_last_write_status", "ok") &&
               is(info, "aof_last_bgrewrite_status", "ok");
    }
    int64_t saved = number(info, "rdb_last_save_time");
    if (!s->counting && is(info, "rdb_bgsave_in_progress", "0")) {
        s->counting = true;
        s->saved = saved;
    }
    return s->counting && saved > s->saved && is(info, "rdb_last_bgsave_status", "ok");
}

static void look_after(struct gy_mover *m, uint32_t server, const struct gy_server *where)
{
    gyre_error_t e;
    struct gy_sync *c;
    struct gy_reply *r = NULL;
    int rc = gy_links_get(&m->links, server, where, false, &c, &e);
    if (rc == GYRE_OK) {
        rc = gy_sync_call(c, &r, &e, "INFO", "persistence", NULL);
    }
    bool loading = rc == GYRE_OK && is(r->text, "loading", "1");
    for (size_t i = m->strays->n; rc == GYRE_OK && !loading && i-- > 0;) {
        struct gy_stray *s = &m->strays->v[i];
        if (s->server == server && strcmp(s->run_id, gy_sync_run_id(c)) == 0 &&
            has_saved(s, r->text)) {
            drop(m, i);
        }
    }
    gy_reply_free(r);
    if (rc == GYRE_OK && !loading) {
        rc = look(m, server, c, &e);
    }
    if (rc == GYRE_REFUSED || rc == GYRE_NOMEM) {
        gy_mover_complain(m, &e);
    } else if (rc != GYRE_OK &&
               rc != GYRE_CONFLICT) { /* a node that is down is told of elsewhere */
        gy_debug("strays: %s", e.message);
    }
    gy_links_check(&m->links, server);
}

struct wanted {
    const struct gy_server *server;
    const char *run_id;
    bool open;
};

static bool compare_note(void *ctx, const char *key, struct gy_slice value, uint64_t revision)
{
    struct wanted *w = ctx;
    struct gy_stray s = {0};
    (void)key;
    (void)revision;
    if (parse(value, &s) && strcmp(s.servers[0].name, w->server->name) == 0 &&
        strcmp(s.servers[0].address, w->server->address) == 0) {
        w->open |= strcmp(s.run_id, w->run_id) != 0;
    }
    gy_fleet_free(s.servers, s.nservers);
    return !w->open;
}

bool gy_strays_settled(struct gy_mover *m, const struct gy_server *server, const char *run_id)
{
    gyre_error_t e;
    int64_t end = gy_now_ms() + SETTLE_MS;
    for (;;) {
        struct wanted w = {server, run_id, false};
        pthread_mutex_lock(&m->lock);
        int rc = gy_store_list(m->store, GY_STRAYS_PREFIX, compare_note, &w, &e);
        if (w.open) {
            pthread_cond_broadcast(&m->wake); /* look at it now */
        }
        pthread_mutex_unlock(&m->lock);
        if (rc != GYRE_OK || !w.open || gy_now_ms() > end) {
            return rc == GYRE_OK && !w.open;
        }
        struct timespec pause = {0, 50 * 1000000};
        (void)nanosleep(&pause, NULL);
    }
}

int64_t gy_strays_turn(struct gy_mover *m)
{
    if (!m->strays) {
        load(m);
    }
    int64_t now = (int64_t)time(NULL);
    for (size_t i = m->strays ? m->strays->n : 0; i-- > 0;) {
        const struct gy_stray *s = &m->strays->v[i];
        if (s->server == GYRE_NONE || now - s->ended_at > KEEP_S) {
            drop(m, i);
        }
    }
    m->links.weak_ok = true;
    for (size_t i = 0; m->strays && i < m->strays->n; i++) {
        const struct gy_stray *s = &m->strays->v[i];
        bool first = s->server != GYRE_NONE;
        for (size_t k = 0; k < i; k++) {
            first &= m->strays->v[k].server != s->server;
        }
        if (first) {
            look_after(m, s->server, &s->servers[0]);
        }
    }
    return m->strays && m->strays->n ? LOOK_MS : -1;
}
