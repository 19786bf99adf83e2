/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leave_notes.c - the notes of leave.h in the store, one a server address, and in memory. What this
 * process has learned of one (when to try again, what went wrong) is in memory only. Threads: under
 * the mover's lock.
 */
#include "base/log.h"
#include "lib/error.h"
#include "move/leave.h"
#include "move/state.h"

#include <jansson.h>
#include <stdlib.h>
#include <time.h>

/* ---- the store ---- */

static void write_note(struct gy_buf *doc, const struct gy_server *s, bool weak)
{
    struct gy_json w;
    gy_json_init(&w, doc);
    gy_json_object(&w);
    gy_json_kstring(&w, "name", s->name);
    gy_json_kstring(&w, "address", s->address);
    gy_json_kint(&w, "since", (int64_t)time(NULL));
    gy_json_kbool(&w, "weak_fencing", weak);
    gy_json_object_end(&w);
}

static void fini_one(struct gy_left *l)
{
    free(l->key);
    free(l->name);
    free(l->address);
    *l = (struct gy_left){0};
}

static bool parse(const char *key, struct gy_slice text, struct gy_left *out)
{
    json_t *doc = json_loadb((const char *)text.p, text.n, 0, NULL);
    const char *name = json_string_value(json_object_get(doc, "name"));
    const char *address = json_string_value(json_object_get(doc, "address"));
    *out = (struct gy_left){.since = json_integer_value(json_object_get(doc, "since")),
                            .weak = json_is_true(json_object_get(doc, "weak_fencing"))};
    if (name && address) {
        out->key = strdup(key);
        out->name = strdup(name);
        out->address = strdup(address);
    }
    json_decref(doc);
    if (out->key && out->name && out->address) {
        return true;
    }
    fini_one(out);
    return false;
}

struct gy_left *gy_leave_find(const struct gy_mover *m, const char *address)
{
    for (size_t i = 0; i < m->nleft; i++) {
        if (strcmp(m->left[i].address, address) == 0) {
            return &m->left[i];
        }
    }
    return NULL;
}

static bool take_note(void *ctx, const char *key, struct gy_slice value, uint64_t revision)
{
    struct gy_mover *m = ctx;
    struct gy_left one;
    (void)revision;
    if (!parse(key, value, &one)) {
        gy_warn("store: %s is damaged and not looked at", key);
        return true;
    }
    struct gy_left *v =
        gy_leave_find(m, one.address) ? NULL : realloc(m->left, (m->nleft + 1) * sizeof *v);
    if (!v) { /* known; or there is no memory, and the next process finds it */
        fini_one(&one);
        return true;
    }
    m->left = v;
    v[m->nleft++] = one;
    return true;
}

int gy_leave_load(struct gy_mover *m, gyre_error_t *e)
{
    return gy_store_list(m->store, GY_LEAVE_PREFIX, take_note, m, e);
}

void gy_leave_fini(struct gy_mover *m)
{
    for (size_t i = 0; i < m->nleft; i++) {
        fini_one(&m->left[i]);
    }
    free(m->left);
    m->left = NULL;
    m->nleft = 0;
}

int gy_leave_drop(struct gy_mover *m, struct gy_left *l, gyre_error_t *e)
{
    struct gy_store_op op = {.key = l->key, .remove = true};
    int rc = gy_store_txn(m->store, &op, 1, NULL, e);
    if (rc == GYRE_OK) {
        fini_one(l);
        *l = m->left[--m->nleft];
    }
    return rc;
}

/* ---- writing ---- */

int gy_leave_ops_init(const struct gy_mover *m, const struct gy_server *servers, uint32_t n,
                      const bool *goes, bool weak, struct gy_leave_ops *o, gyre_error_t *e)
{
    size_t room = n ? n : 1;
    *o = (struct gy_leave_ops){.op = calloc(room, sizeof *o->op),
                               .key = calloc(room, sizeof *o->key),
                               .doc = calloc(room, sizeof *o->doc)};
    int rc = o->op && o->key && o->doc ? GYRE_OK : gy_fail_nomem(e);
    for (uint32_t i = 0; i < n && rc == GYRE_OK; i++) {
        if (!goes[i] || gy_leave_find(m, servers[i].address)) {
            continue;
        }
        struct gy_buf *doc = &o->doc[o->n];
        if (asprintf(&o->key[o->n], GY_LEAVE_PREFIX "%s", servers[i].address) < 0) {
            o->key[o->n] = NULL;
        }
        write_note(doc, &servers[i], weak);
        rc = o->key[o->n] && !gy_buf_failed(doc) ? GYRE_OK : gy_fail_nomem(e);
        o->op[o->n] = (struct gy_store_op){.key = o->key[o->n],
                                           .value = {gy_buf_head(doc), gy_buf_size(doc)}};
        o->n++;
    }
    return rc;
}

void gy_leave_ops_fini(struct gy_leave_ops *o)
{
    for (size_t i = 0; i < o->n; i++) {
        free(o->key[i]);
        gy_buf_fini(&o->doc[i]);
    }
    free(o->op);
    free(o->key);
    free(o->doc);
    *o = (struct gy_leave_ops){0};
}

static bool is_new(const struct gy_leave_ops *o, const char *key)
{
    for (size_t i = 0; i < o->n; i++) {
        if (strcmp(o->key[i], key) == 0) {
            return true;
        }
    }
    return false;
}

int gy_leave_promise(struct gy_mover *m, const struct gy_server *servers, uint32_t n,
                     const bool *goes, bool weak, gyre_error_t *e)
{
    struct gy_leave_ops o;
    pthread_mutex_lock(&m->lock);
    int rc = gy_leave_ops_init(m, servers, n, goes, weak, &o, e);
    if (rc == GYRE_OK && o.n) {
        rc = gy_store_txn(m->store, o.op, o.n, NULL, e);
    }
    if (rc == GYRE_OK && o.n) {
        rc = gy_leave_load(m, e);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct gy_left *l = goes[i] ? gy_leave_find(m, servers[i].address) : NULL;
        if (l) { /* whoever was noted before is met anew */
            l->tries = 0;
            l->next_at = 0;
            l->promised = is_new(&o, l->key);
        }
    }
    gy_leave_ops_fini(&o);
    pthread_mutex_unlock(&m->lock);
    return rc;
}
