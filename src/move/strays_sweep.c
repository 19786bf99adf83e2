/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strays_sweep.c - one SCAN of a server that came back with older data. No move is under way and
 * this thread begins none, so nobody of ours writes such a key there meanwhile. Whether the key is
 * at its new place does not matter: if it is, that one counts; if not, it was deleted or expired
 * there. Threads: the mover's.
 */
#include "base/log.h"
#include "base/utf8.h"
#include "control/views.h"
#include "lib/error.h"
#include "move/journal.h"
#include "move/strays_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NAMES      5
#define SCAN_COUNT "1000"

/* A note's two maps, and which of their nodes it speaks of. */
struct scope {
    gyre_map_t *from, *to;
    uint32_t mine;   /* node of from: the source */
    uint8_t *gained; /* by node of to: it was a destination */
};

struct sweep {
    struct gy_mover *m;
    uint32_t server;
    uint64_t last; /* epoch */
    struct scope *scopes;
    size_t n;
    uint64_t removed, records, strangers;
    struct gy_buf names;
};

/* ---- scopes ---- */

static int read_map(struct gy_mover *m, uint64_t version, gyre_map_t **out, gyre_error_t *e)
{
    char key[40];
    struct gy_buf yaml = {0};
    gyre_topology_t *t = NULL;
    snprintf(key, sizeof key, "view/%" PRIu64, version);
    pthread_mutex_lock(&m->lock);
    int rc = gy_store_get(m->store, key, &yaml, NULL, e);
    pthread_mutex_unlock(&m->lock);
    if (rc == GYRE_OK) {
        struct gy_slice text = {gy_buf_head(&yaml), gy_buf_size(&yaml)};
        rc = gy_views_parse(text, key, &t, e);
    }
    if (rc == GYRE_OK) {
        rc = gyre_map_build(t, out, e);
    }
    gyre_topology_free(t);
    gy_buf_fini(&yaml);
    return rc;
}

static bool is_server(const struct gyre_node *n, const struct gy_server *s)
{
    return strcmp(n->name, s->name) == 0 && strcmp(n->address ? n->address : "", s->address) == 0;
}

static int open_scope(struct gy_mover *m, const struct gy_stray *s, struct scope *x,
                      gyre_error_t *e)
{
    x->mine = GYRE_NONE;
    int rc = read_map(m, s->from, &x->from, e);
    if (rc == GYRE_OK) {
        rc = read_map(m, s->to, &x->to, e);
    }
    if (rc == GYRE_UNKNOWN) { /* then nothing is known to be ours */
        gy_warn("store: a view of move %" PRIu64 " is not there: no strays are looked for",
                s->epoch);
        return GYRE_OK;
    }
    if (rc != GYRE_OK) {
        return rc;
    }
    for (uint32_t i = 0; i < gyre_map_count(x->from); i++) {
        x->mine = is_server(gyre_map_node(x->from, i), &s->servers[0]) ? i : x->mine;
    }
    uint32_t count = gyre_map_count(x->to);
    x->gained = calloc(count ? count : 1, 1);
    for (uint32_t i = 0; x->gained && i < count; i++) {
        for (uint32_t k = 1; k < s->nservers; k++) {
            x->gained[i] |= is_server(gyre_map_node(x->to, i), &s->servers[k]);
        }
    }
    return x->gained ? GYRE_OK : gy_fail_nomem(e);
}

static void close_scope(struct scope *x)
{
    gyre_map_unref(x->from);
    gyre_map_unref(x->to);
    free(x->gained);
}

/* Did a move of ours carry this key away from here? */
static bool covers(const struct scope *x, struct gy_slice key)
{
    if (x->mine == GYRE_NONE || gyre_map_locate(x->from, key.p, key.n) != x->mine) {
        return false;
    }
    uint32_t node = gyre_map_locate(x->to, key.p, key.n);
    return node != GYRE_NONE && x->gained[node];
}

/* ---- keys ---- */

enum kind { HOME, RECORD, STRAY, STRANGER };

static enum kind judge(const struct sweep *w, struct gy_slice key)
{
    const struct gy_mover *m = w->m;
    if (gy_unit_is_record(m->prefix, key)) {
        return gy_unit_is_record_of(m->prefix, m->pool, key) ? RECORD : HOME;
    }
    uint32_t node = gyre_map_locate(m->view->map, key.p, key.n);
    if (node == GYRE_NONE || m->view->server[node] == w->server) {
        return HOME;
    }
    for (size_t i = 0; i < w->n; i++) {
        if (covers(&w->scopes[i], key)) {
            return STRAY;
        }
    }
    return STRANGER;
}

static void note_stranger(struct sweep *w, struct gy_slice key)
{
    char quoted[GY_QUOTE];
    if (w->strangers++ < NAMES) {
        gy_buf_printf(&w->names, "%s%s", w->strangers > 1 ? ", " : "", gy_utf8_quote(quoted, key));
    }
}

/* The three keys of a unit go, unless the record is of a move that the store does not know. */
static void queue_record(const struct sweep *w, struct gy_sync *c, struct gy_slice key)
{
    static const char script[] = "local e = redis.call('HGET', KEYS[1], 'epoch') "
                                 "if e and tonumber(e) > tonumber(ARGV[1]) then return 0 end "
                                 "return redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])";
    char last[24];
    struct gy_buf names = {0};
    size_t end = key.n;
    while (end > 0 && key.p[end - 1] != ':') {
        end--;
    }
    gy_buf_add(&names, key.p, end);
    gy_buf_puts(&names, "rec");
    gy_buf_add(&names, key.p, end);
    gy_buf_puts(&names, "m");
    gy_buf_add(&names, key.p, end);
    gy_buf_puts(&names, "b");
    const uint8_t *p = gy_buf_head(&names);
    snprintf(last, sizeof last, "%" PRIu64, w->last);
    struct gy_slice argv[] = {GY_LIT("EVAL"), gy_str(script),         GY_LIT("3"),
                              {p, end + 3},   {p + end + 3, end + 1}, {p + 2 * end + 4, end + 1},
                              gy_str(last)};
    gy_sync_add(c, 7, argv);
    gy_buf_fini(&names);
}

static int read_count(struct gy_sync *c, uint64_t *sum, gyre_error_t *e)
{
    struct gy_reply *r = NULL;
    int rc = gy_sync_read(c, &r, e);
    if (rc == GYRE_OK && r->type != ':') {
        rc = gy_fail(e, GYRE_REFUSED, "cannot remove strays: %.*s", (int)r->text.n,
                     r->text.n ? (const char *)r->text.p : "");
    } else if (rc == GYRE_OK) {
        *sum += (uint64_t)r->integer;
    }
    gy_reply_free(r);
    return rc;
}

/* All commands are queued before the first answer is read, which overwrites the keys. */
static int take_batch(struct sweep *w, struct gy_sync *c, const struct gy_reply *keys,
                      gyre_error_t *e)
{
    size_t n = 1, records = 0;
    int rc = GYRE_OK;
    struct gy_slice *argv = calloc(keys->count + 1, sizeof *argv);
    if (!argv) {
        return gy_fail_nomem(e);
    }
    argv[0] = GY_LIT("UNLINK");
    for (size_t i = 0; i < keys->count; i++) {
        struct gy_slice key = keys->item[i].text;
        switch (judge(w, key)) {
        case STRAY:
            argv[n++] = key;
            break;
        case RECORD:
            queue_record(w, c, key);
            records++;
            break;
        case STRANGER:
            note_stranger(w, key);
            break;
        case HOME:
            break;
        }
    }
    if (n > 1) {
        gy_sync_add(c, n, argv);
    }
    free(argv);
    for (size_t i = 0; rc == GYRE_OK && i < records; i++) {
        rc = read_count(c, &w->records, e);
    }
    return rc == GYRE_OK && n > 1 ? read_count(c, &w->removed, e) : rc;
}

static bool must_yield(struct gy_mover *m)
{
    pthread_mutex_lock(&m->lock);
    bool yes = m->stop || m->job;
    pthread_mutex_unlock(&m->lock);
    return yes;
}

static int scan(struct sweep *w, struct gy_sync *c, gyre_error_t *e)
{
    char cursor[24] = "0";
    int rc;
    do {
        struct gy_reply *r = NULL;
        rc = must_yield(w->m) ? gy_fail(e, GYRE_CONFLICT, "something else is to be done first")
                              : gy_sync_call(c, &r, e, "SCAN", cursor, "COUNT", SCAN_COUNT, NULL);
        if (rc == GYRE_OK && (r->count != 2 || r->item[0].text.n >= sizeof cursor)) {
            rc = gy_fail(e, GYRE_IO, "SCAN answered something else");
        }
        if (rc == GYRE_OK) {
            snprintf(cursor, sizeof cursor, "%.*s", (int)r->item[0].text.n,
                     (const char *)r->item[0].text.p);
            rc = take_batch(w, c, &r->item[1], e);
        }
        gy_reply_free(r);
    } while (rc == GYRE_OK && strcmp(cursor, "0") != 0);
    return rc;
}

/* ---- all of it ---- */

static void report(struct sweep *w, const struct gy_server *server, uint64_t epoch)
{
    struct gy_mover *m = w->m;
    struct gy_buf text = {0};
    char name[GY_SHOW];
    if (!w->removed && !w->records) {
        return; /* it was not told that the move had ended, that is all */
    }
    gy_buf_printf(&text,
                  "%s (%.120s) came back with data of before the end of move %" PRIu64 ": %" PRIu64
                  " keys that had moved away were removed there",
                  gy_show(server->name, name), server->address, epoch, w->removed);
    if (w->strangers) {
        gy_buf_printf(&text, "; %" PRIu64 " keys there are not its own and stay: %s%s",
                      w->strangers, gy_buf_cstr(&w->names), w->strangers > NAMES ? ", ..." : "");
    }
    gy_warn("%s", gy_buf_cstr(&text));
    pthread_mutex_lock(&m->lock);
    if (!m->job) {
        snprintf(m->warning, sizeof m->warning, "%s", gy_buf_cstr(&text));
    }
    pthread_mutex_unlock(&m->lock);
    gy_buf_fini(&text);
}

int gy_strays_sweep(struct gy_mover *m, uint32_t server, uint64_t last, struct gy_sync *c,
                    gyre_error_t *e)
{
    struct sweep w = {.m = m, .server = server, .last = last};
    const struct gy_server *where = NULL;
    uint64_t epoch = 0;
    int rc = GYRE_OK;
    w.scopes = calloc(m->strays->n, sizeof *w.scopes);
    if (!w.scopes) {
        return gy_fail_nomem(e);
    }
    for (size_t i = 0; i < m->strays->n && rc == GYRE_OK; i++) {
        const struct gy_stray *s = &m->strays->v[i];
        if (s->server == server && s->behind) {
            where = &s->servers[0];
            epoch = s->epoch > epoch ? s->epoch : epoch;
            rc = open_scope(m, s, &w.scopes[w.n++], e);
        }
    }
    if (rc == GYRE_OK) {
        rc = scan(&w, c, e);
    }
    if (where && (rc == GYRE_OK || w.removed)) {
        report(&w, where, epoch);
    }
    for (size_t i = 0; i < w.n; i++) {
        close_scope(&w.scopes[i]);
    }
    free(w.scopes);
    gy_buf_fini(&w.names);
    return rc;
}
