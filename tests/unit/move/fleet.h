/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.h - real redis-servers on unix sockets in a directory of their own, keys of every type in
 * them, and the check that every key is where a topology wants it, whole, and nowhere else.
 */
#ifndef TEST_MOVE_FLEET_H
#define TEST_MOVE_FLEET_H

#include "net/sync.h"

#include <sys/types.h>

#define FLEET_MAX 6

struct fleet_node {
    pid_t pid;
    char name[32];
    char address[160];
    struct gy_sync *c;
};

struct fleet {
    char dir[64];
    unsigned n;
    bool persist; /* with an append-only file */
    struct fleet_node node[FLEET_MAX];
};

void fleet_up(struct fleet *f, unsigned n, bool persist);
void fleet_down(struct fleet *f);
void fleet_kill(struct fleet *f, unsigned i);
void fleet_start(struct fleet *f, unsigned i); /* again, on the same socket */
void fleet_flush(struct fleet *f);
void fleet_forget_moves(struct fleet *f); /* the library with its stamps goes */
/* Nodes from..to-1 as a topology of version `version`, weight 1 each. */
gyre_topology_t *fleet_topology(const struct fleet *f, unsigned from, unsigned to,
                                uint64_t version);

/* One command, its reply checked not to be an error; integers and short texts. */
int64_t fleet_int(struct gy_sync *c, const char *a, const char *b, const char *d, const char *e);
void fleet_do(struct gy_sync *c, ...) __attribute__((sentinel));

/* What each key is worth: DEBUG DIGEST-VALUE, which covers type, content and expiry. */
struct model {
    size_t n;
    char (*key)[48];
    char (*digest)[48]; /* "": must not exist */
};
/* n keys of all types through the topology's placement; remembers their digests. */
void model_fill(struct model *m, struct fleet *f, const gyre_topology_t *t, size_t n);
/* Asks for the digest of one key where the client is and remembers it. */
void model_note(struct model *m, size_t i, struct gy_sync *c);
void model_absent(struct model *m, size_t i);
size_t model_append(struct model *m, const char *key); /* index; absent until noted */
/* Every key on exactly the node the topology says, as remembered; nothing else anywhere. */
void model_verify(const struct model *m, struct fleet *f, const gyre_topology_t *t);
void model_fini(struct model *m);

#endif
