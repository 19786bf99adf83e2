/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - where the view and the state of a move live: get, compare-and-set, list. One engine so
 * far: SQLite in a state directory (WAL, synchronous=FULL). Nothing is answered before it is
 * durable.
 *
 * On a full disk an existing store opens and can be read; changes fail until there is room again.
 *
 * Values are bytes with a revision that only grows over the whole store. Threads: one thread an
 * object; open it again for another.
 */
#ifndef GY_CONTROL_STORE_H
#define GY_CONTROL_STORE_H

#include "base/buf.h"
#include "gyre.h"

struct gy_store;

enum gy_store_open_mode {
    GY_STORE_EXCLUSIVE, /* takes the directory's lock: the one proxy */
    GY_STORE_BESIDE,    /* shares the lock with others of its kind, not with a proxy */
    GY_STORE_SHARED,    /* no lock */
    GY_STORE_LOOK,      /* no lock, and nothing is made or changed */
};

/* Creates dir (0700) and the data base where missing. Errors: IO with the reason (not a directory,
 * no permission, disk full, a newer format), CONFLICT when another process holds the lock (its pid
 * is in the message), UNKNOWN when there is nothing to LOOK at. */
GYRE_NODISCARD int gy_store_open(const char *dir, enum gy_store_open_mode mode,
                                 struct gy_store **out, gyre_error_t *e);
/* Could dir be opened, or made? Looks only, and leaves the data base to the one that has it. IO. */
GYRE_NODISCARD int gy_store_check(const char *dir, gyre_error_t *e);
void gy_store_close(struct gy_store *s);
/* Opened EXCLUSIVE: are the directory's lock and data base still the ones this process opened? Once
 * they were removed or replaced, another process may hold the lock of their successors. Any thread.
 */
bool gy_store_holds(const struct gy_store *s);

/* Has anybody changed the store since the last call? The first answer is true. A look costs no read
 * of the disk. IO: also when the directory was removed or replaced meanwhile. */
GYRE_NODISCARD int gy_store_changed(struct gy_store *s, bool *out, gyre_error_t *e);

/* UNKNOWN when there is no such key. out is reset first; revision may be NULL. */
GYRE_NODISCARD int gy_store_get(struct gy_store *s, const char *key, struct gy_buf *out,
                                uint64_t *revision, gyre_error_t *e);

enum gy_store_expect { GY_EXPECT_ANY, GY_EXPECT_ABSENT, GY_EXPECT_VALUE };
struct gy_store_op {
    const char *key;
    enum gy_store_expect expect;
    struct gy_slice old; /* for GY_EXPECT_VALUE */
    bool remove;
    struct gy_slice value; /* unless remove */
};
/* All of them in one durable transaction, or none. CONFLICT: the first op whose expectation failed
 * is in *failed. */
GYRE_NODISCARD int gy_store_txn(struct gy_store *s, const struct gy_store_op *ops, size_t n,
                                size_t *failed, gyre_error_t *e);
/* Did the last transaction (or the opening) fail because the disk is full? */
bool gy_store_full(const struct gy_store *s);

/* Calls fn for each key that begins with prefix, in byte order of keys; fn returns false to stop.
 */
GYRE_NODISCARD int gy_store_list(struct gy_store *s, const char *prefix,
                                 bool (*fn)(void *ctx, const char *key, struct gy_slice value,
                                            uint64_t revision),
                                 void *ctx, gyre_error_t *e);

#endif
