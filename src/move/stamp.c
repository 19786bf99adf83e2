/* SPDX-License-Identifier: Apache-2.0 */
/* stamp.c - see stamp.h. What a server answers is not trusted: a line that is not exactly of the
 * form is no stamp, and only lines of the form are written back. */
#include "move/stamp.h"

#include "base/log.h"
#include "base/utf8.h"
#include "lib/error.h"
#include "move/journal.h"
#include "move/lua.h"
#include "move/state.h"

#include <inttypes.h>
#include <stdlib.h>

#define LINES_MAX    256  /* stamps in one library */
#define CHECK_MS     3000 /* for all servers together */
#define EPOCH_DIGITS 18   /* leaves room to count on */

/* ---- one line ---- */

static bool skip(struct gy_slice *s, const char *text)
{
    size_t n = strlen(text);
    if (s->n < n || memcmp(s->p, text, n) != 0) {
        return false;
    }
    s->p += n;
    s->n -= n;
    return true;
}

static bool number(struct gy_slice *s, uint64_t *out)
{
    size_t n = 0;
    for (*out = 0; n < s->n && n < EPOCH_DIGITS && s->p[n] >= '0' && s->p[n] <= '9'; n++) {
        *out = *out * 10 + (uint64_t)(s->p[n] - '0');
    }
    s->p += n;
    s->n -= n;
    return n > 0;
}

static bool parse(struct gy_slice line, struct gy_slice *pool, struct gy_stamp *out)
{
    if (!skip(&line, "-- pool ")) {
        return false;
    }
    pool->p = line.p;
    for (pool->n = 0;
         pool->n < line.n && (gy_utf8_is_plain(line.p[pool->n]) || line.p[pool->n] == '%');) {
        pool->n++;
    }
    line.p += pool->n;
    line.n -= pool->n;
    if (!skip(&line, " epoch ") || !number(&line, &out->epoch) || !skip(&line, " from ") ||
        !number(&line, &out->from) || !skip(&line, " to ") || !number(&line, &out->to)) {
        return false;
    }
    out->ended = skip(&line, " ended");
    return line.n == 0;
}

/* ---- the library ---- */

/* Up to the end of the line, which is taken off. */
static struct gy_slice next_line(struct gy_slice *code)
{
    const uint8_t *end = code->n ? memchr(code->p, '\n', code->n) : NULL;
    struct gy_slice line = {code->p, end ? (size_t)(end - code->p) : code->n};
    size_t taken = line.n + (end != NULL);
    code->p += taken;
    code->n -= taken;
    return line;
}

/* Calls for each stamp of the library. */
static void each_stamp(struct gy_slice code,
                       void (*fn)(void *ctx, struct gy_slice line, struct gy_slice pool,
                                  const struct gy_stamp *s),
                       void *ctx)
{
    struct gy_slice pool, line;
    struct gy_stamp s;
    if (!code.n) {
        return;
    }
    (void)next_line(&code); /* #!lua name=gyre */
    for (int i = 0; i < LINES_MAX && code.n; i++) {
        line = next_line(&code);
        if (!parse(line, &pool, &s)) {
            return;
        }
        fn(ctx, line, pool, &s);
    }
}

struct search {
    struct gy_buf pool; /* as it is written */
    struct gy_stamp found;
    struct gy_buf *others;
};

static struct gy_slice wanted(const struct search *x)
{
    return (struct gy_slice){gy_buf_head(&x->pool), gy_buf_size(&x->pool)};
}

static void take_ours(void *ctx, struct gy_slice line, struct gy_slice pool,
                      const struct gy_stamp *s)
{
    struct search *x = ctx;
    (void)line;
    if (gy_slice_eq(pool, wanted(x)) && s->epoch > x->found.epoch) {
        x->found = *s;
    }
}

static void copy_other(void *ctx, struct gy_slice line, struct gy_slice pool,
                       const struct gy_stamp *s)
{
    struct search *x = ctx;
    (void)s;
    if (!gy_slice_eq(pool, wanted(x))) {
        gy_buf_add(x->others, line.p, line.n);
        gy_buf_putc(x->others, '\n');
    }
}

bool gy_stamp_find(struct gy_slice code, const char *pool, struct gy_stamp *out)
{
    struct search x = {0};
    gy_utf8_plain(&x.pool, pool);
    bool good = !gy_buf_failed(&x.pool);
    each_stamp(code, take_ours, &x);
    gy_buf_fini(&x.pool);
    *out = x.found;
    return good;
}

void gy_stamp_library(struct gy_buf *out, const char *pool, const struct gy_stamp *s,
                      struct gy_slice old_code)
{
    struct search x = {.others = out};
    struct gy_slice rest = gy_str(gy_lua_source);
    struct gy_slice first = next_line(&rest);
    gy_utf8_plain(&x.pool, pool);
    gy_buf_add(out, first.p, first.n);
    gy_buf_printf(out, "\n-- pool %s epoch %" PRIu64 " from %" PRIu64 " to %" PRIu64 "%s\n",
                  gy_buf_cstr(&x.pool), s->epoch, s->from, s->to, s->ended ? " ended" : "");
    each_stamp(old_code, copy_other, &x);
    gy_buf_add(out, rest.p, rest.n);
    out->failed |= gy_buf_failed(&x.pool);
    gy_buf_fini(&x.pool);
}

/* ---- on a server ---- */

struct gy_slice gy_stamp_field(const struct gy_reply *entry, const char *field)
{
    for (size_t i = 0; i + 1 < entry->count; i += 2) {
        if (gy_slice_eq(entry->item[i].text, gy_str(field))) {
            return entry->item[i + 1].text;
        }
    }
    return (struct gy_slice){NULL, 0};
}

static int get_code(struct gy_sync *c, struct gy_reply **list, struct gy_slice *code,
                    gyre_error_t *e)
{
    *code = (struct gy_slice){NULL, 0};
    int rc = gy_sync_call(c, list, e, "FUNCTION", "LIST", "LIBRARYNAME", "gyre", "WITHCODE", NULL);
    if (rc == GYRE_OK && (*list)->type == '*' && (*list)->count > 0) {
        *code = gy_stamp_field(&(*list)->item[0], "library_code");
    }
    return rc;
}

int gy_stamp_ask(struct gy_sync *c, const char *pool, struct gy_stamp *out, gyre_error_t *e)
{
    struct gy_reply *list = NULL;
    struct gy_slice code;
    int rc = get_code(c, &list, &code, e);
    if (!gy_stamp_find(code, pool, out)) {
        rc = gy_fail_nomem(e);
    }
    gy_reply_free(list);
    return rc;
}

int gy_stamp_load(struct gy_sync *c, const char *pool, const struct gy_stamp *s, gyre_error_t *e)
{
    struct gy_buf text = {0};
    struct gy_reply *list = NULL;
    struct gy_slice code;
    int rc = get_code(c, &list, &code, e);
    if (rc == GYRE_OK) {
        gy_stamp_library(&text, pool, s, code);
        rc = gy_buf_failed(&text)
                 ? gy_fail_nomem(e)
                 : gy_sync_do(c, e, "FUNCTION", "LOAD", "REPLACE", gy_buf_cstr(&text), NULL);
    }
    gy_reply_free(list);
    gy_buf_fini(&text);
    return rc;
}

/* ---- do the servers know more than the state directory? ---- */

static bool forget(void)
{
    const char *v = getenv("GYRE_FORGET_MOVES");
    return v && strcmp(v, "1") == 0;
}

static int refuse(const char *server, const struct gy_stamp *s, const struct gy_known *k,
                  gyre_error_t *e)
{
    char name[GY_SHOW];
    gy_show(server, name);
    if (k->under_way) {
        return gy_fail(e, GYRE_REFUSED,
                       "%s knows of move %" PRIu64 "%s, but in the state directory move %" PRIu64
                       " is still under way: it is an old copy. Restore the newest one",
                       name, s->epoch, s->ended ? ", which has ended" : "", k->epoch);
    }
    return gy_fail(e, GYRE_REFUSED,
                   "%s took part in move %" PRIu64
                   " of this fleet, but the state directory knows only %" PRIu64
                   ": it was lost or is an old copy. Restore it; or, if you are sure that every "
                   "key is where version %" PRIu64
                   " places it, start once with GYRE_FORGET_MOVES=1 in the environment",
                   name, s->epoch, k->epoch, k->version);
}

int gy_stamp_admit(struct gy_sync *c, const char *server, struct gy_known *k, gyre_error_t *e)
{
    struct gy_stamp s;
    char name[GY_SHOW];
    gyre_error_t why = {0};
    int rc = gy_stamp_ask(c, k->pool, &s, &why);
    if (rc == GYRE_REFUSED) { /* an old Redis has none; where it is forbidden, nobody can know */
        gy_log(strstr(why.message, "NOPERM") ? GY_LOG_WARN : GY_LOG_DEBUG,
               "%s: not asked about earlier moves: %s", gy_show(server, name), why.message);
        return GYRE_OK;
    }
    if (rc != GYRE_OK && e) {
        *e = why;
    }
    bool later = s.epoch > k->epoch || (k->under_way && s.ended && s.epoch == k->epoch);
    if (rc != GYRE_OK || !later) {
        return rc;
    }
    if (k->under_way || !forget()) {
        return refuse(server, &s, k, e);
    }
    gy_warn("%s: its move %" PRIu64 " is forgotten, as the environment asks for",
            gy_show(server, name), s.epoch);
    k->epoch = s.epoch;
    return GYRE_OK;
}

/* A dead server takes only its part of the time, so that the others are still asked. *newest: the
 * highest generation of ours that has a user there. */
static int look_at(struct gy_mover *m, uint32_t i, int64_t left, struct gy_known *k,
                   uint64_t *newest, gyre_error_t *e)
{
    struct gy_sync *c = NULL;
    int rc = gy_link_visit(&m->link_conf, &m->servers[i], left / (m->nservers - i), &c, e);
    if (rc != GYRE_OK) { /* whatever it is, it is not about moves */
        return GYRE_IO;
    }
    uint64_t seen = gy_sync_greeting(c)->seen.newest;
    *newest = seen > *newest ? seen : *newest;
    rc = gy_stamp_admit(c, m->servers[i].name, k, e);
    gy_sync_close(c);
    return rc;
}

/* The state directory is an older copy, but no move was made since: whoever has a higher number is
 * our predecessor nevertheless, because the lock is ours. */
static int come_after(struct gy_mover *m, uint64_t newest, gyre_error_t *e)
{
    if (newest < m->link_conf.fence.generation) {
        return GYRE_OK;
    }
    gy_warn("a server knows generation %" PRIu64 " of this proxy: this process becomes %" PRIu64,
            newest, newest + 1);
    int rc = gy_journal_raise_generation(m->store, newest + 1, e);
    if (rc != GYRE_OK && gy_store_full(m->store)) {
        m->kept = false; /* full.c keeps it */
        rc = GYRE_OK;
    }
    return rc == GYRE_OK ? gy_link_conf_renumber(&m->link_conf, newest + 1, e) : rc;
}

int gy_stamp_check(struct gy_mover *m, gyre_error_t *e)
{
    struct gy_known k = {.pool = m->pool,
                         .version = gyre_topology_version(m->topology),
                         .under_way = m->job != NULL};
    int64_t end = gy_now_ms() + CHECK_MS;
    int rc = gy_journal_epoch(m->store, &k.epoch, e);
    uint64_t stored = k.epoch, newest = 0;
    for (uint32_t i = 0; i < m->nservers && rc == GYRE_OK; i++) {
        gyre_error_t why = {0};
        char name[GY_SHOW];
        int64_t left = end - gy_now_ms();
        int seen = left > 0 ? look_at(m, i, left, &k, &newest, &why)
                            : gy_fail(&why, GYRE_TIMEOUT, "no time left to ask it");
        if (seen == GYRE_REFUSED || seen == GYRE_NOMEM) {
            rc = seen;
            if (e) {
                *e = why;
            }
        } else if (seen != GYRE_OK) {
            gy_warn("%s: not asked about earlier moves: %s", gy_show(m->servers[i].name, name),
                    why.message);
        }
    }
    if (rc == GYRE_OK) {
        rc = come_after(m, newest, e);
    }
    return rc == GYRE_OK && k.epoch > stored ? gy_journal_raise_epoch(m->store, k.epoch, e) : rc;
}
