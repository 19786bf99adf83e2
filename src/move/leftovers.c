/* SPDX-License-Identifier: Apache-2.0 */
/* leftovers.c - see precheck.h. */
#include "base/utf8.h"
#include "lib/error.h"
#include "move/precheck.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NAMES      5
#define SCAN_COUNT "1000"
#define LIBRARY    "gyre"

struct found {
    uint64_t n;
    uint64_t records; /* of our own pool: what is there may be somebody's only copy */
    struct gy_buf names;
};

/* Is this key where the current view wants it? One server may go by several names. */
static bool at_home(const struct gy_checks *k, uint32_t dst, struct gy_slice key)
{
    const struct gy_precheck *c = k->c;
    uint32_t node = gyre_map_locate(c->view->map, key.p, key.n);
    if (node == GYRE_NONE) {
        return false;
    }
    uint32_t home = c->view->server[node];
    bool renamed = c->options->same_data &&
                   strcmp(c->view->servers[home].name, c->view->servers[dst].name) == 0;
    return home == dst || renamed || strcmp(k->facts[home].run_id, k->facts[dst].run_id) == 0;
}

static int unlink_key(struct gy_sync *c, struct gy_slice key, gyre_error_t *e)
{
    struct gy_reply *r = NULL;
    struct gy_slice argv[] = {GY_LIT("UNLINK"), key};
    gy_sync_add(c, 2, argv);
    int rc = gy_sync_read(c, &r, e);
    if (rc == GYRE_OK && r->type == '-') {
        rc = gy_fail(e, GYRE_REFUSED, "cannot remove a leftover: %.*s", (int)r->text.n,
                     (const char *)r->text.p);
    }
    gy_reply_free(r);
    return rc;
}

static void take_batch(struct gy_checks *k, uint32_t dst, const struct gy_reply *keys,
                       struct found *f)
{
    for (size_t i = 0; i < keys->count; i++) {
        struct gy_slice key = keys->item[i].text;
        f->records += gy_unit_is_record_of(k->c->m->prefix, k->c->m->pool, key);
        if (gy_unit_is_record(k->c->m->prefix, key) || at_home(k, dst, key)) {
            continue;
        }
        if (f->n++ < NAMES) {
            char quoted[GY_QUOTE];
            gy_buf_printf(&f->names, "%s%s", f->n > 1 ? ", " : "", gy_utf8_quote(quoted, key));
        }
    }
}

/* The keys of the batch that are not at home, removed. The reply was copied: a new command may
 * reuse the connection's buffer. */
static int purge_batch(struct gy_checks *k, uint32_t dst, const struct gy_reply *keys,
                       gyre_error_t *e)
{
    struct gy_buf copy = {0};
    int rc = GYRE_OK;
    size_t off = 0;
    size_t *lens = calloc(keys->count ? keys->count : 1, sizeof *lens);
    for (size_t i = 0; lens && i < keys->count; i++) {
        struct gy_slice key = keys->item[i].text;
        bool stranger = !gy_unit_is_record(k->c->m->prefix, key) && !at_home(k, dst, key);
        lens[i] = stranger ? key.n + 1 : 0; /* the empty key is a key */
        gy_buf_add(&copy, key.p, stranger ? key.n : 0);
    }
    if (!lens || gy_buf_failed(&copy)) {
        rc = gy_fail_nomem(e);
    }
    for (size_t i = 0; rc == GYRE_OK && i < keys->count; i++) {
        if (lens[i]) {
            struct gy_slice key = {gy_buf_head(&copy) + off, lens[i] - 1};
            rc = unlink_key(k->facts[dst].sync, key, e);
            off += key.n;
        }
    }
    free(lens);
    gy_buf_fini(&copy);
    return rc;
}

static int scan(struct gy_checks *k, uint32_t dst, bool purge, struct found *f, gyre_error_t *e)
{
    char cursor[24] = "0";
    int rc;
    do {
        struct gy_reply *r = NULL;
        rc = gy_sync_call(k->facts[dst].sync, &r, e, "SCAN", cursor, "COUNT", SCAN_COUNT, NULL);
        if (rc == GYRE_OK && (r->count != 2 || r->item[0].text.n >= sizeof cursor)) {
            rc = gy_fail(e, GYRE_IO, "SCAN answered something else");
        }
        if (rc == GYRE_OK) {
            snprintf(cursor, sizeof cursor, "%.*s", (int)r->item[0].text.n,
                     (const char *)r->item[0].text.p);
            if (purge) {
                rc = purge_batch(k, dst, &r->item[1], e);
            } else {
                take_batch(k, dst, &r->item[1], f);
            }
        }
        gy_reply_free(r);
    } while (rc == GYRE_OK && strcmp(cursor, "0") != 0);
    return rc;
}

int gy_check_leftovers(struct gy_checks *k, uint32_t dst, gyre_error_t *e)
{
    struct found f = {0};
    char name[GY_SHOW];
    int rc = scan(k, dst, false, &f, e);
    if (rc == GYRE_OK && f.n && f.records) {
        rc =
            gy_fail(e, GYRE_REFUSED,
                    "%s: it holds %" PRIu64 " keys that are not its own (%s%s), and %" PRIu64
                    " records of a move of this fleet that the state directory does not know: "
                    "they may be the only copies, and are not removed. Restore the state directory",
                    gy_show(k->c->view->servers[dst].name, name), f.n, gy_buf_cstr(&f.names),
                    f.n > NAMES ? ", ..." : "", f.records);
    } else if (rc == GYRE_OK && f.n && k->c->options->purge_destination) {
        rc = scan(k, dst, true, &f, e);
    } else if (rc == GYRE_OK && f.n) {
        rc = gy_fail(e, GYRE_REFUSED,
                     "%s: it holds %" PRIu64 " keys that are not its own (%s%s): look at them; "
                     "--purge-destination removes them",
                     gy_show(k->c->view->servers[dst].name, name), f.n, gy_buf_cstr(&f.names),
                     f.n > NAMES ? ", ..." : "");
    }
    gy_buf_fini(&f.names);
    return rc;
}

/* ---- records ---- */

/* The newest epoch among the records of one SCAN reply. The names are copied: the next command
 * reuses the connection's buffer. */
static int newest(struct gy_checks *k, uint32_t dst, const struct gy_reply *keys, uint64_t *epoch,
                  gyre_error_t *e)
{
    struct gy_buf copy = {0};
    int rc = GYRE_OK;
    for (size_t i = 0; i < keys->count; i++) {
        struct gy_slice key = keys->item[i].text;
        if (gy_unit_is_record_of(k->c->m->prefix, k->c->m->pool, key) && !memchr(key.p, 0, key.n)) {
            gy_buf_add(&copy, key.p, key.n);
            gy_buf_putc(&copy, '\0');
        }
    }
    size_t size = gy_buf_size(&copy);
    const char *name = gy_buf_failed(&copy) ? NULL : gy_buf_cstr(&copy);
    if (!name) {
        rc = gy_fail_nomem(e);
    }
    for (size_t off = 0; rc == GYRE_OK && off < size; off += strlen(name + off) + 1) {
        struct gy_reply *r = NULL;
        char text[24] = "";
        gyre_error_t why = {0};
        rc = gy_sync_call(k->facts[dst].sync, &r, &why, "HGET", name + off, "epoch", NULL);
        if (rc == GYRE_OK && r->type == '$' && r->text.n < sizeof text) {
            memcpy(text, r->text.p, r->text.n);
            uint64_t n = strtoull(text, NULL, 10);
            *epoch = n > *epoch ? n : *epoch;
        }
        gy_reply_free(r);
        if (rc == GYRE_REFUSED && strstr(why.message, "WRONGTYPE")) {
            rc = GYRE_OK; /* no hash, hence no record of ours */
        } else if (rc != GYRE_OK && e) {
            *e = why;
        }
    }
    gy_buf_fini(&copy);
    return rc;
}

int gy_check_records(struct gy_checks *k, uint32_t dst, gyre_error_t *e)
{
    char cursor[24] = "0", name[GY_SHOW];
    uint64_t epoch = 0;
    int rc;
    do {
        struct gy_reply *r = NULL;
        rc = gy_sync_call(k->facts[dst].sync, &r, e, "SCAN", cursor, "MATCH", "*}:rec", "COUNT",
                          SCAN_COUNT, NULL);
        if (rc == GYRE_OK && (r->count != 2 || r->item[0].text.n >= sizeof cursor)) {
            rc = gy_fail(e, GYRE_IO, "SCAN answered something else");
        }
        if (rc == GYRE_OK) {
            snprintf(cursor, sizeof cursor, "%.*s", (int)r->item[0].text.n,
                     (const char *)r->item[0].text.p);
            rc = newest(k, dst, &r->item[1], &epoch, e);
        }
        gy_reply_free(r);
    } while (rc == GYRE_OK && strcmp(cursor, "0") != 0);
    if (rc == GYRE_OK && epoch >= k->c->epoch) {
        rc = gy_fail(e, GYRE_REFUSED,
                     "%s: it holds records of move %" PRIu64
                     ", and the last one known here is %" PRIu64 ": " GY_LOST_STATE,
                     gy_show(k->c->view->servers[dst].name, name), epoch, k->c->epoch - 1);
    }
    return rc;
}

/* ---- functions ---- */

static bool has_library(const struct gy_reply *list, struct gy_slice library)
{
    for (size_t i = 0; i < list->count; i++) {
        if (gy_slice_eq(gy_stamp_field(&list->item[i], "library_name"), library)) {
            return true;
        }
    }
    return false;
}

static int copy_libraries(struct gy_sync *from, struct gy_sync *to, gyre_error_t *e)
{
    struct gy_reply *theirs = NULL, *ours = NULL;
    int rc = gy_sync_call(to, &theirs, e, "FUNCTION", "LIST", NULL);
    if (rc == GYRE_OK) {
        rc = gy_sync_call(from, &ours, e, "FUNCTION", "LIST", "WITHCODE", NULL);
    }
    for (size_t i = 0; rc == GYRE_OK && i < ours->count; i++) {
        struct gy_slice library = gy_stamp_field(&ours->item[i], "library_name");
        struct gy_slice code = gy_stamp_field(&ours->item[i], "library_code");
        if (gy_slice_eq(library, GY_LIT(LIBRARY)) || has_library(theirs, library)) {
            continue;
        }
        struct gy_slice argv[] = {GY_LIT("FUNCTION"), GY_LIT("LOAD"), code};
        struct gy_reply *r = NULL;
        gy_sync_add(to, 3, argv);
        /* theirs still points into to's buffer, but only its names were needed, and the answer to
         * LOAD would overwrite them: so look again. */
        gy_reply_free(theirs);
        theirs = NULL;
        rc = gy_sync_read(to, &r, e);
        if (rc == GYRE_OK && r->type == '-') {
            rc = gy_fail(e, GYRE_REFUSED, "cannot load the function library '%.*s': %.*s",
                         (int)library.n, (const char *)library.p, (int)r->text.n,
                         (const char *)r->text.p);
        }
        gy_reply_free(r);
        if (rc == GYRE_OK) {
            rc = gy_sync_call(to, &theirs, e, "FUNCTION", "LIST", NULL);
        }
    }
    gy_reply_free(theirs);
    gy_reply_free(ours);
    return rc;
}

int gy_check_functions(struct gy_checks *k, uint32_t dst, gyre_error_t *e)
{
    int rc = GYRE_OK;
    for (size_t p = 0; p < k->c->npairs && rc == GYRE_OK; p++) {
        if (k->c->pairs[p].dst == dst) {
            rc = copy_libraries(k->facts[k->c->pairs[p].src].sync, k->facts[dst].sync, e);
        }
    }
    return rc;
}
