/* SPDX-License-Identifier: Apache-2.0 */
/*
 * persist.c - before the source's copies are removed, a destination that keeps its data on disk
 * must have what was moved there on disk (migration.md 3.3 step 6).
 *
 * The policy: with AOF, until its last write went well and nothing waits for the disk; without AOF
 * but with save points (CONFIG GET save), one BGSAVE that ended well and began after now; without
 * either, or where CONFIG is forbidden, there is nothing to wait for. Threads: the mover's.
 */
#include "lib/error.h"
#include "move/state.h"

#include <stdlib.h>

#define POLL_MS 100

static int info(struct gy_sync *c, struct gy_reply **out, gyre_error_t *e)
{
    return gy_sync_call(c, out, e, "INFO", "persistence", NULL);
}

static bool field_is(const struct gy_reply *r, const char *field, const char *value)
{
    return gy_slice_eq(gy_info_field(r->text, field), gy_str(value));
}

int gy_persist_saves(struct gy_sync *c, bool *saves, gyre_error_t *e)
{
    struct gy_reply *r = NULL;
    *saves = false;
    int rc = info(c, &r, e);
    bool aof = rc == GYRE_OK && field_is(r, "aof_enabled", "1");
    gy_reply_free(r);
    r = NULL;
    if (rc == GYRE_OK && !aof) {
        rc = gy_sync_call(c, &r, e, "CONFIG", "GET", "save", NULL);
        *saves = rc == GYRE_OK && r->type == '*' && r->count == 2 && r->item[1].text.n > 0;
        rc = rc == GYRE_REFUSED ? GYRE_OK : rc;
    }
    gy_reply_free(r);
    return rc;
}

static int64_t last_save(struct gy_sync *c, gyre_error_t *e)
{
    struct gy_reply *r = NULL;
    int64_t t = -1;
    if (gy_sync_call(c, &r, e, "LASTSAVE", NULL) == GYRE_OK) {
        t = r->integer;
    }
    gy_reply_free(r);
    return t;
}

/* Has the snapshot that we asked for ended? LASTSAVE counts seconds, so a second passes first. */
static int snapshot(struct gy_mover *m, struct gy_sync *c, const char *name, gyre_error_t *e)
{
    int64_t before = last_save(c, e);
    if (before < 0 || gy_mover_rest(m, 1100)) {
        return before < 0 ? e->code : gy_fail(e, GYRE_CONFLICT, "stopped");
    }
    int rc = gy_sync_do(c, e, "BGSAVE", "SCHEDULE", NULL);
    while (rc == GYRE_OK) {
        struct gy_reply *r = NULL;
        int64_t now = last_save(c, e);
        rc = now < 0 ? e->code : info(c, &r, e);
        bool running = rc == GYRE_OK && !field_is(r, "rdb_bgsave_in_progress", "0");
        bool good = rc == GYRE_OK && field_is(r, "rdb_last_bgsave_status", "ok");
        gy_reply_free(r);
        if (rc == GYRE_OK && !running && (now > before || !good)) {
            return good ? GYRE_OK : gy_fail(e, GYRE_IO, "%s: BGSAVE failed", name);
        }
        if (rc == GYRE_OK && gy_mover_rest(m, POLL_MS)) {
            rc = gy_fail(e, GYRE_CONFLICT, "stopped");
        }
    }
    return rc;
}

static int append_file(struct gy_mover *m, struct gy_sync *c, const char *name, gyre_error_t *e)
{
    for (;;) {
        struct gy_reply *r = NULL;
        int rc = info(c, &r, e);
        if (rc != GYRE_OK) {
            return rc;
        }
        bool good = field_is(r, "aof_last_write_status", "ok");
        bool idle = field_is(r, "aof_pending_bio_fsync", "0");
        gy_reply_free(r);
        if (!good) {
            return gy_fail(e, GYRE_IO, "%s: its append-only file cannot be written", name);
        }
        if (idle) {
            return GYRE_OK;
        }
        if (gy_mover_rest(m, POLL_MS)) {
            return gy_fail(e, GYRE_CONFLICT, "stopped");
        }
    }
}

int gy_persist_wait(struct gy_mover *m, uint32_t server, gyre_error_t *e)
{
    struct gy_sync *c;
    struct gy_reply *r = NULL;
    char name[GY_SHOW];
    gy_show(m->servers[server].name, name);
    int rc = gy_links_get(&m->links, server, &m->servers[server], true, &c, e);
    if (rc != GYRE_OK) {
        return rc;
    }
    bool saves = false;
    rc = info(c, &r, e);
    bool aof = rc == GYRE_OK && field_is(r, "aof_enabled", "1");
    gy_reply_free(r);
    if (rc == GYRE_OK && !aof) {
        rc = gy_persist_saves(c, &saves, e);
    }
    if (rc == GYRE_OK) {
        /* everysec may be up to a second behind: give it two. */
        if (aof && gy_mover_rest(m, 2000)) {
            rc = gy_fail(e, GYRE_CONFLICT, "stopped");
        } else if (aof) {
            rc = append_file(m, c, name, e);
        } else if (saves) {
            rc = snapshot(m, c, name, e);
        }
    }
    gy_links_check(&m->links, server);
    return rc;
}
