/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - gyre's own YAML: a topology, and the proxy's settings beside it. One schema table
 * (schema.c) makes the parser, the defaults, the help and the annotated sample. Threads: any; a
 * loaded config is immutable.
 */
#ifndef GY_FORMATS_CONFIG_H
#define GY_FORMATS_CONFIG_H

#include "base/buf.h"
#include "gyre.h"

enum gy_down { GY_DOWN_FAIL, GY_DOWN_REPLICA, GY_DOWN_SPILL };

struct gy_proxy_conf {
    bool present;  /* the file has a proxy section */
    char **listen; /* "127.0.0.1:6380", "unix:/path" */
    size_t listen_count;
    char *state;                /* directory of the store */
    char *admin;                /* "unix:/path" or "host:port"; NULL: none */
    char *pool;                 /* names the records; default "main" */
    char *prefix;               /* of record keys; default "gyre:" */
    unsigned workers;           /* default 1 */
    enum gy_down down;          /* only fail is carried so far; others are refused */
    char *user, *password_file; /* of the backends */
    unsigned connections;       /* a backend and worker: 1 so far */
    unsigned timeout_ms;        /* of a backend's answer; default 1000 */
    unsigned connect_ms;        /* default 500 */
    uint64_t max_request;       /* bytes; default 64 MB... see schema.c */
    uint64_t max_client_unread; /* reply bytes a client may leave unread before we stop reading from
                                   it; default 32 MB */
    uint64_t max_memory;        /* all buffers together; default 1 GB */
    unsigned max_clients;       /* default 10000 */
    unsigned client_stall_ms;   /* a client that reads nothing that long is closed; default 60000 */
    uint64_t bigkey_bytes; /* default 256 KB: above it a moved key is reported by name and size */
    uint64_t move_keys, move_bytes; /* per second; 0 = unlimited */
};

struct gy_config {
    gyre_topology_t *topology; /* with its secret, if placement names a secret_file */
    bool stored;         /* set before reading: gyre wrote the text; see gy_config_parse_own */
    bool secret_exposed; /* that file is open to every user of the machine */
    struct gy_proxy_conf proxy;
};

/* No nodes yet, every default set; NULL: out of memory. */
struct gy_config *gy_config_new(void);
/* gyre's own YAML only. Errors carry file, line, column, the reason and the nearest known word. */
GYRE_NODISCARD int gy_config_load(const char *path, struct gy_config **out, gyre_error_t *e);
GYRE_NODISCARD int gy_config_parse(const char *text, size_t len, const char *file,
                                   struct gy_config **out, gyre_error_t *e);
/* The same of a text that gyre wrote, a stored view or what another process serves: earlier
 * versions also wrote settings that the placement does not read, and these are passed over. */
GYRE_NODISCARD int gy_config_parse_own(const char *text, size_t len, const char *file,
                                       struct gy_config **out, gyre_error_t *e);
void gy_config_free(struct gy_config *c);
/* The topology as gyre YAML (no proxy section unless proxy is given); reading it back gives the
 * same map. */
void gy_config_dump(const gyre_topology_t *t, const struct gy_proxy_conf *proxy,
                    struct gy_buf *out);
/* Everything the proxy cannot honour (replicas above 1, down modes, ...): REFUSED with the reason.
 */
GYRE_NODISCARD int gy_config_check_proxy(const struct gy_config *c, gyre_error_t *e);
/* REFUSED when two nodes have one address: to plan with that may pass, to serve or move it may not.
 */
GYRE_NODISCARD int gy_config_check_shared(const gyre_topology_t *t, gyre_error_t *e);
/* EMPTY when there is no node, or every one is drained: such a map answers "no node" to every key,
 * which the library allows and no command wants. */
GYRE_NODISCARD int gy_config_check_owners(const gyre_topology_t *t, gyre_error_t *e);
/* The annotated sample, made from the schema table. */
void gy_config_sample(struct gy_buf *out);

#endif
