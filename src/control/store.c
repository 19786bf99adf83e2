/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - see store.h. One table of keys, one row with the store's revision. Durability: WAL with
 * synchronous=FULL syncs the log at each commit (sqlite.org/pragma.html#pragma_synchronous), so a
 * transaction that was answered survives a crash of the process and of the machine.
 *
 * On a full disk what is stored can still be read: then the log's index is kept in memory, which
 * takes locking_mode=EXCLUSIVE (sqlite.org/wal.html#noshm), and every change fails until there is
 * room.
 *
 * The lock is flock(2) on a file of its own: it dies with the process however that dies, and the
 * pid inside is only there to be shown. Threads: one thread an object.
 */
#include "control/store.h"

#include "base/utf8.h"
#include "control/store_place.h"
#include "lib/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define STORE_APPLICATION 0x67797265 /* "gyre", PRAGMA application_id */
#define STORE_FORMAT      1          /* PRAGMA user_version */
#define STORE_BUSY_MS     5000       /* another process of ours holds the write lock for a moment */
#define LOG_RETRY_MS      5
#define INDEX_BYTES       32768 /* of the write-ahead log's index, to begin with */

struct gy_store {
    sqlite3 *db;
    int lock_fd; /* -1: shared */
    char *lock_path;
    char *path;   /* of the data base, for messages */
    dev_t device; /* of the file that was opened, and its number: is it still the one at path? */
    ino_t inode;
    bool full; /* the last thing that failed did for want of room */
    sqlite3_stmt *get, *put, *del, *list, *bump, *stamp;
    int64_t seen; /* of stamp, at the last look; -1: none yet */
};

/* The file with the index of the log is filled by bytes to find out whether there is room, and the
 * reason for a failure there is not kept (SQLite's os_unix.c). */
static bool no_room(const struct gy_store *s, int code)
{
    struct statvfs fs;
    bool index = code == SQLITE_IOERR_SHMSIZE || code == SQLITE_IOERR_SHMOPEN;
    return index && statvfs(s->path, &fs) == 0 && fs.f_bavail < INDEX_BYTES / fs.f_frsize + 1;
}

/* What SQLite's code means to the one who runs the proxy. */
static int fail_db(struct gy_store *s, gyre_error_t *e, const char *what)
{
    int code = s->db ? sqlite3_extended_errcode(s->db) : SQLITE_NOMEM;
    int cause = s->db && (code & 0xff) == SQLITE_IOERR ? sqlite3_system_errno(s->db) : 0;
    const char *text = s->db ? sqlite3_errmsg(s->db) : "out of memory";
    const char *advice = "";
    s->full =
        (code & 0xff) == SQLITE_FULL || cause == ENOSPC || cause == EDQUOT || no_room(s, code);
    switch (s->full ? SQLITE_FULL : code & 0xff) {
    case SQLITE_NOMEM:
        return gy_fail_nomem(e);
    case SQLITE_FULL:
        advice = " (the disk is full: make room and try again)";
        break;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        advice = " (it must be writable for the user who runs the proxy)";
        break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        advice = " (the file is damaged or not a store of gyre; restore it from a backup)";
        break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        advice = " (another process keeps it locked)";
        break;
    default:
        break;
    }
    return gy_fail(e, GYRE_IO, "%s: %s: %s%s", s->path, what, text, advice);
}

/* ---- the lock ---- */

static int in_use(const char *dir, const char *pid, bool beside, gyre_error_t *e)
{
    if (beside) {
        return gy_fail(e, GYRE_CONFLICT,
                       "%s: a proxy (process %s) serves from it; change its topology with "
                       "'gyre move start'",
                       dir, pid);
    }
    return gy_fail(e, GYRE_CONFLICT,
                   "%s: in use by process %s; stop it, or give this proxy another state directory",
                   dir, pid);
}

static int take_lock(struct gy_store *s, const char *dir, bool beside, gyre_error_t *e)
{
    char path[PATH_MAX], pid[32] = "";
    if ((size_t)snprintf(path, sizeof path, "%s/lock", dir) >= sizeof path) {
        return gy_fail(e, GYRE_IO, "%s: the path is too long", dir);
    }
    s->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (s->lock_fd < 0) {
        return gy_store_place_fail(e, path, "cannot open the lock");
    }
    if (flock(s->lock_fd, (beside ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) {
            return gy_store_place_fail(e, path, "cannot lock");
        }
        ssize_t n = pread(s->lock_fd, pid, sizeof pid - 1, 0);
        pid[n > 0 ? n : 0] = '\0';
        pid[strcspn(pid, "\n")] = '\0';
        return in_use(dir, pid[0] ? pid : "?", beside, e);
    }
    if (beside) {
        return GYRE_OK;
    }
    s->lock_path = strdup(path);
    if (!s->lock_path) {
        return gy_fail_nomem(e);
    }
    /* Over what is there, so that it needs no room; without any, the number is what must miss. */
    int len = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    bool told = pwrite(s->lock_fd, pid, (size_t)len, 0) == len && ftruncate(s->lock_fd, len) == 0;
    return told || errno == ENOSPC || errno == EDQUOT
               ? GYRE_OK
               : gy_store_place_fail(e, path, "cannot write");
}

/* ---- the data base ---- */

static int exec(struct gy_store *s, const char *sql, gyre_error_t *e)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? GYRE_OK : fail_db(s, e, sql);
}

static int pragma_int(struct gy_store *s, const char *sql, int *out, gyre_error_t *e)
{
    sqlite3_stmt *st = NULL;
    int rc = GYRE_OK;
    if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK ||
        sqlite3_step(st) != SQLITE_ROW) {
        rc = fail_db(s, e, sql);
    } else {
        *out = sqlite3_column_int(st, 0);
    }
    sqlite3_finalize(st);
    return rc;
}

static int create_tables(struct gy_store *s, gyre_error_t *e)
{
    char sql[512];
    snprintf(sql, sizeof sql,
             "BEGIN IMMEDIATE;"
             "CREATE TABLE IF NOT EXISTS kv(key TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL,"
             " revision INTEGER NOT NULL) WITHOUT ROWID;"
             "CREATE TABLE IF NOT EXISTS counter(id INTEGER PRIMARY KEY CHECK(id=1),"
             " revision INTEGER NOT NULL);"
             "INSERT OR IGNORE INTO counter VALUES(1,0);"
             "PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT;",
             STORE_APPLICATION, STORE_FORMAT);
    return exec(s, sql, e);
}

struct marks {
    int application, format, objects;
};

/* Of one moment: another process may be making the store, and commits it between two statements. */
static int read_marks(struct gy_store *s, struct marks *m, gyre_error_t *e)
{
    int rc = exec(s, "BEGIN", e);
    if (rc != GYRE_OK) {
        return rc;
    }
    rc = pragma_int(s, "PRAGMA application_id", &m->application, e);
    if (rc == GYRE_OK) {
        rc = pragma_int(s, "PRAGMA user_version", &m->format, e);
    }
    if (rc == GYRE_OK) {
        rc = pragma_int(s, "SELECT count(*) FROM sqlite_master", &m->objects, e);
    }
    /* Nothing was written, so its own failure loses nothing. */
    (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

/* Ours and of a format we know, or new and empty. */
static int check_format(struct gy_store *s, bool look, gyre_error_t *e)
{
    struct marks m = {0};
    int rc = read_marks(s, &m, e);
    if (rc != GYRE_OK) {
        return rc;
    }
    if (m.application == 0 && m.objects == 0) {
        return look ? gy_fail(e, GYRE_UNKNOWN, "%s: nothing is in it yet", s->path)
                    : create_tables(s, e);
    }
    if (m.application != STORE_APPLICATION) {
        return gy_fail(e, GYRE_IO, "%s: an SQLite file, but not a store of gyre", s->path);
    }
    if (m.format > STORE_FORMAT) {
        return gy_fail(e, GYRE_IO,
                       "%s: written by a newer gyre (format %d, this one knows %d): use that one",
                       s->path, m.format, STORE_FORMAT);
    }
    return GYRE_OK;
}

static int prepare(struct gy_store *s, gyre_error_t *e)
{
    const struct {
        sqlite3_stmt **st;
        const char *sql;
    } all[] = {
        {&s->get, "SELECT value, revision FROM kv WHERE key=?1"},
        {&s->put, "INSERT INTO kv VALUES(?1,?2,(SELECT revision FROM counter))"
                  " ON CONFLICT(key) DO UPDATE SET value=?2, revision=excluded.revision"},
        {&s->del, "DELETE FROM kv WHERE key=?1"},
        {&s->list, "SELECT key, value, revision FROM kv WHERE key>=?1 ORDER BY key"},
        {&s->bump, "UPDATE counter SET revision=revision+1"},
        {&s->stamp, "PRAGMA data_version"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (sqlite3_prepare_v3(s->db, all[i].sql, -1, SQLITE_PREPARE_PERSISTENT, all[i].st, NULL) !=
            SQLITE_OK) {
            return fail_db(s, e, "cannot prepare");
        }
    }
    return GYRE_OK;
}

static int make_file(struct gy_store *s, bool look, gyre_error_t *e)
{
    struct stat st = {0};
    int rc = gy_store_place_file(s->path, !look, &st, e);
    s->device = st.st_dev;
    s->inode = st.st_ino;
    return rc;
}

/* Somebody may have removed or replaced the directory under us: a commit into the unlinked file
 * would be durable nowhere. */
static int still_there(const struct gy_store *s, gyre_error_t *e)
{
    struct stat st;
    if (stat(s->path, &st) != 0 || st.st_dev != s->device || st.st_ino != s->inode) {
        char quoted[GY_QUOTE];
        return gy_fail(
            e, GYRE_IO,
            "%s: it was removed or replaced meanwhile; nothing can be kept until it is back",
            gy_utf8_quote(quoted, gy_str(s->path)));
    }
    return GYRE_OK;
}

bool gy_store_holds(const struct gy_store *s)
{
    struct stat mine, now;
    return s->lock_path && fstat(s->lock_fd, &mine) == 0 && stat(s->lock_path, &now) == 0 &&
           mine.st_dev == now.st_dev && mine.st_ino == now.st_ino &&
           still_there(s, NULL) == GYRE_OK;
}

/* SQLite waits for no lock it would have to raise, as two that make the store at once both must:
 * here the waiting is ours. */
static int begin_log(struct gy_store *s, gyre_error_t *e)
{
    int code = sqlite3_exec(s->db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    for (int left = STORE_BUSY_MS; code == SQLITE_BUSY && left > 0; left -= LOG_RETRY_MS) {
        sqlite3_sleep(LOG_RETRY_MS);
        code = sqlite3_exec(s->db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    }
    return code == SQLITE_OK ? GYRE_OK : fail_db(s, e, "cannot begin its log");
}

static int open_db(struct gy_store *s, bool look, bool alone, gyre_error_t *e)
{
    /* FULLMUTEX: a mistaken use from two threads must not damage the file. Who only looks still
     * opens it for writing where that is allowed: the first reader after a crash puts the log back
     * in order. */
    bool writes = !look || access(s->path, W_OK) == 0;
    int flags = (writes ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_FULLMUTEX;
    flags |= look ? 0 : SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(s->path, &s->db, flags, NULL) != SQLITE_OK) {
        return fail_db(s, e, "cannot open");
    }
    int rc = alone ? exec(s, "PRAGMA locking_mode=EXCLUSIVE", e) : GYRE_OK;
    if (rc == GYRE_OK && !look) {
        rc = begin_log(s, e);
    }
    sqlite3_busy_timeout(s->db, STORE_BUSY_MS);
    if (rc == GYRE_OK && !look) {
        rc = exec(s, "PRAGMA synchronous=FULL", e);
    }
    if (rc == GYRE_OK) {
        rc = check_format(s, look, e);
    }
    return rc == GYRE_OK ? prepare(s, e) : rc;
}

static void close_db(struct gy_store *s)
{
    sqlite3_stmt **all[] = {&s->get, &s->put, &s->del, &s->list, &s->bump, &s->stamp};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sqlite3_finalize(*all[i]);
        *all[i] = NULL;
    }
    sqlite3_close(s->db);
    s->db = NULL;
}

/* Whoever has the directory's lock needs to share with nobody. */
static int open_at_all(struct gy_store *s, enum gy_store_open_mode mode, gyre_error_t *e)
{
    bool look = mode == GY_STORE_LOOK;
    int rc = make_file(s, look, e);
    if (rc == GYRE_OK) {
        rc = open_db(s, look, false, e);
    }
    if (rc == GYRE_IO && s->full && mode == GY_STORE_EXCLUSIVE) {
        close_db(s);
        rc = open_db(s, look, true, e);
    }
    return rc;
}

int gy_store_open(const char *dir, enum gy_store_open_mode mode, struct gy_store **out,
                  gyre_error_t *e)
{
    *out = NULL;
    struct gy_store *s = calloc(1, sizeof *s);
    if (!s) {
        return gy_fail_nomem(e);
    }
    s->lock_fd = -1;
    s->seen = -1;
    bool look = mode == GY_STORE_LOOK, beside = mode == GY_STORE_BESIDE;
    int rc = look ? GYRE_OK : gy_store_place_dir(dir, e);
    if (rc == GYRE_OK && asprintf(&s->path, "%s/gyre.db", dir) < 0) {
        s->path = NULL;
        rc = gy_fail_nomem(e);
    }
    if (rc == GYRE_OK && (mode == GY_STORE_EXCLUSIVE || beside)) {
        rc = take_lock(s, dir, beside, e);
    }
    if (rc == GYRE_OK) {
        rc = open_at_all(s, mode, e);
    }
    if (rc != GYRE_OK) {
        gy_store_close(s);
        return rc;
    }
    *out = s;
    return GYRE_OK;
}

void gy_store_close(struct gy_store *s)
{
    if (!s) {
        return;
    }
    close_db(s);
    if (s->lock_fd >= 0) {
        close(s->lock_fd); /* gives the lock back */
    }
    free(s->lock_path);
    free(s->path);
    free(s);
}

int gy_store_changed(struct gy_store *s, bool *out, gyre_error_t *e)
{
    int rc = still_there(s, e);
    if (rc == GYRE_OK && sqlite3_step(s->stamp) != SQLITE_ROW) {
        rc = fail_db(s, e, "cannot read");
    }
    int64_t now = rc == GYRE_OK ? sqlite3_column_int64(s->stamp, 0) : s->seen;
    sqlite3_reset(s->stamp);
    *out = now != s->seen;
    s->seen = now;
    return rc;
}

/* ---- get, change, list ---- */

static bool bind_key(sqlite3_stmt *st, const char *key)
{
    return sqlite3_bind_text(st, 1, key, -1, SQLITE_STATIC) == SQLITE_OK;
}

static struct gy_slice column(sqlite3_stmt *st, int i)
{
    const void *p = sqlite3_column_blob(st, i);
    return (struct gy_slice){p, (size_t)sqlite3_column_bytes(st, i)};
}

static void rest(sqlite3_stmt *st)
{
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
}

int gy_store_get(struct gy_store *s, const char *key, struct gy_buf *out, uint64_t *revision,
                 gyre_error_t *e)
{
    int rc;
    gy_buf_reset(out);
    int step = bind_key(s->get, key) ? sqlite3_step(s->get) : SQLITE_NOMEM;
    if (step == SQLITE_ROW) {
        struct gy_slice v = column(s->get, 0);
        gy_buf_add(out, v.p, v.n);
        if (revision) {
            *revision = (uint64_t)sqlite3_column_int64(s->get, 1);
        }
        rc = gy_buf_failed(out) ? gy_fail_nomem(e) : GYRE_OK;
    } else if (step == SQLITE_DONE) {
        char quoted[GY_QUOTE];
        rc = gy_fail(e, GYRE_UNKNOWN, "%s: no key %s", s->path, gy_utf8_quote(quoted, gy_str(key)));
    } else {
        rc = fail_db(s, e, "cannot read");
    }
    rest(s->get);
    return rc;
}

/* OK, CONFLICT or a failure of the data base. */
static int expect(struct gy_store *s, const struct gy_store_op *op, gyre_error_t *e)
{
    if (op->expect == GY_EXPECT_ANY) {
        return GYRE_OK;
    }
    int rc = GYRE_OK;
    int step = bind_key(s->get, op->key) ? sqlite3_step(s->get) : SQLITE_NOMEM;
    if (step != SQLITE_ROW && step != SQLITE_DONE) {
        rc = fail_db(s, e, "cannot read");
    } else {
        bool there = step == SQLITE_ROW;
        bool good = op->expect == GY_EXPECT_ABSENT
                        ? !there
                        : there && gy_slice_eq(column(s->get, 0), op->old);
        if (!good) {
            rc = gy_fail(e, GYRE_CONFLICT, "%s: '%s' was changed by someone else meanwhile",
                         s->path, op->key);
        }
    }
    rest(s->get);
    return rc;
}

static int apply(struct gy_store *s, const struct gy_store_op *op, gyre_error_t *e)
{
    sqlite3_stmt *st = op->remove ? s->del : s->put;
    /* A NULL pointer would bind NULL, not the empty value. */
    const void *p = op->value.n ? (const void *)op->value.p : "";
    bool bound =
        bind_key(st, op->key) &&
        (op->remove || sqlite3_bind_blob64(st, 2, p, op->value.n, SQLITE_STATIC) == SQLITE_OK);
    int rc = bound && sqlite3_step(st) == SQLITE_DONE ? GYRE_OK : fail_db(s, e, "cannot write");
    rest(st);
    return rc;
}

static int run_ops(struct gy_store *s, const struct gy_store_op *ops, size_t n, size_t *failed,
                   gyre_error_t *e)
{
    int rc = sqlite3_step(s->bump) == SQLITE_DONE ? GYRE_OK : fail_db(s, e, "cannot write");
    rest(s->bump);
    for (size_t i = 0; i < n && rc == GYRE_OK; i++) {
        rc = expect(s, &ops[i], e);
        if (rc == GYRE_CONFLICT && failed) {
            *failed = i;
        }
        if (rc == GYRE_OK) {
            rc = apply(s, &ops[i], e);
        }
    }
    return rc;
}

int gy_store_txn(struct gy_store *s, const struct gy_store_op *ops, size_t n, size_t *failed,
                 gyre_error_t *e)
{
    s->full = false;
    int rc = still_there(s, e);
    if (rc == GYRE_OK) {
        rc = exec(s, "BEGIN IMMEDIATE", e);
    }
    if (rc != GYRE_OK) {
        return rc;
    }
    rc = run_ops(s, ops, n, failed, e);
    if (rc == GYRE_OK) {
        rc = exec(s, "COMMIT", e);
    }
    if (rc == GYRE_OK) { /* gone between the first look and the commit? Then it was not kept. */
        rc = still_there(s, e);
    }
    if (rc != GYRE_OK && !sqlite3_get_autocommit(s->db)) {
        /* Its own failure changes nothing: what was not committed is gone at the next open. */
        (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return rc;
}

bool gy_store_full(const struct gy_store *s)
{
    return s->full;
}

int gy_store_list(struct gy_store *s, const char *prefix,
                  bool (*fn)(void *ctx, const char *key, struct gy_slice value, uint64_t revision),
                  void *ctx, gyre_error_t *e)
{
    size_t len = strlen(prefix);
    int rc = GYRE_OK;
    int step = bind_key(s->list, prefix) ? sqlite3_step(s->list) : SQLITE_NOMEM;
    while (step == SQLITE_ROW) {
        const char *key = (const char *)sqlite3_column_text(s->list, 0);
        if (!key || strncmp(key, prefix, len) != 0 ||
            !fn(ctx, key, column(s->list, 1), (uint64_t)sqlite3_column_int64(s->list, 2))) {
            break;
        }
        step = sqlite3_step(s->list);
    }
    if (step != SQLITE_ROW && step != SQLITE_DONE) {
        rc = fail_db(s, e, "cannot list");
    }
    rest(s->list);
    return rc;
}
