/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h - a topology as a file of some format, and the seam for each of them.
 *
 * A writer (SYSTEM_write.c) turns a topology into text and touches nothing else. It says what its
 * format cannot: gy_write_refuse where keys or addresses would not be what they are, gy_write_loss
 * for what would only be missing, gy_write_choice for what had to be chosen. What holds for all is
 * said here: which placement the format stands for, replicas, zones, drained nodes.
 *
 * The law: what is written is read back by the format's own parser before anybody sees it, and
 * must give the same map and the same nodes, but for the losses that were told. So a name that a
 * format cannot quote ends in an error and never in another file. Threads: one an object.
 */
#ifndef GY_FORMATS_WRITE_H
#define GY_FORMATS_WRITE_H

#include "formats/pools.h"

struct gy_format;

/* What comes out. Lines end with a line feed; names in them are quoted. Zeroed, then fini. */
struct gy_written {
    struct gy_buf text;
    struct gy_buf losses;  /* a line each: what the format has no word for */
    struct gy_buf choices; /* a line each: what was chosen, since nothing said it */
};

struct gy_to_write {
    const gyre_topology_t *topology;
    const struct gy_proxy_conf *proxy; /* gyre's own; NULL: none */
    /* The file the topology is of, or was planned from: pool name, facts, states. NULL: none. */
    const struct gy_pool *from;
    const struct gy_format *from_format;
    const uint64_t *slot_sizes; /* bytes of each slot of a Redis Cluster; NULL: not known */
};

/* UNSUPPORTED (not written by gyre; the placement is not this system's), INVALID (something that
 * the format cannot say), MISMATCH (read back it would be something else), NOMEM; always told. */
GYRE_NODISCARD int gy_format_write(const struct gy_format *f, const struct gy_to_write *what,
                                   struct gy_written *out, gyre_error_t *e);
void gy_written_fini(struct gy_written *w);
/* UNSUPPORTED, with the formats that gyre writes. */
int gy_format_not_written(const struct gy_format *f, gyre_error_t *e);

/* ---- for writers ---- */

enum {
    GY_KEEPS_ZONES = 1,
    GY_KEEPS_DRAINED = 2, /* nodes of weight 0 */
    GY_KEEPS_REPLICAS = 4,
    GY_KEEPS_SERVERS = 8, /* those that are no nodes; or it is known that they do not matter */
    GY_KEEPS_ALL = 31,    /* gyre's own: the proxy's settings, too */
};

#define GY_WRITE_NAME "fleet" /* of a pool that has none */

struct gy_writing {
    const struct gy_to_write *what;
    const struct gy_format *format;
    const gyre_topology_t *t; /* what->topology */
    const char *name;         /* of the pool */
    struct gy_buf *out;
    struct gy_written *told;
    gyre_error_t *e;
};

struct gy_writer {
    const char *system; /* for messages */
    const char *like;   /* the placements it stands for, "a|b"; NULL: any */
    unsigned keeps;
    const char *others; /* what else such a file has, and this one will not; NULL: nothing */
    int (*write)(struct gy_writing *w);
};

int gy_write_refuse(struct gy_writing *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void gy_write_loss(struct gy_writing *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void gy_write_choice(struct gy_writing *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A setting in force, "" where there is none. */
const char *gy_write_get(const struct gy_writing *w, const char *key);
static inline bool gy_write_is(const struct gy_writing *w, const char *key, const char *word)
{
    return strcmp(gy_write_get(w, key), word) == 0;
}
/* What the file it comes from knows, if that is of the same format; NULL: nothing. */
const char *gy_write_fact(const struct gy_writing *w, const char *key);
/* The node's server in that file; NULL: not in it, or of another format. */
const struct gy_server *gy_write_server(const struct gy_writing *w, const struct gyre_node *node);
/* The next node that is written, from *i on; NULL: no more. */
const struct gyre_node *gy_write_next(const struct gy_writing *w, size_t *i);
/* The node's address in parts; refused where there is none. A socket has its path as host. */
GYRE_NODISCARD int gy_write_address(struct gy_writing *w, const struct gyre_node *node,
                                    struct gy_slice *host, struct gy_slice *port);
/* An option of a node, "id=7": its value, cut off; false where it is not there. */
bool gy_write_option(const struct gyre_node *node, const char *word, struct gy_slice *value);
/* A weight as digits. */
void gy_write_weight(struct gy_buf *out, double weight);

#endif
