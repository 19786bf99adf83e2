/* SPDX-License-Identifier: Apache-2.0 */
/*
 * haproxy_proxy.h - what a defaults, listen or backend section of HAProxy says that matters for
 * placing keys: mode, balance, hash-type, hash-balance-factor, default-server, and its servers. A
 * section begins as a copy of the defaults that are in force. Threads: one an object.
 */
#ifndef GY_FORMATS_HAPROXY_PROXY_H
#define GY_FORMATS_HAPROXY_PROXY_H

#include "formats/haproxy_words.h"

enum gy_haproxy_method {
    GY_HAPROXY_ROUNDROBIN, /* as long as no balance stands, and where it stands without more */
    GY_HAPROXY_OTHER,      /* by chance, by load, ...: no placement */
    GY_HAPROXY_SOURCE,
    GY_HAPROXY_URI,
    GY_HAPROXY_URL_PARAM,
    GY_HAPROXY_HDR,
    GY_HAPROXY_RDP_COOKIE,
    GY_HAPROXY_HASH,
};

enum { GY_HAPROXY_KEY = 12, GY_HAPROXY_ARGUMENT = 256 };

/* The words behind `balance`, hash-type and the like. Constants and numbers only: it is copied. */
struct gy_haproxy_lb {
    enum gy_haproxy_method method;
    char argument[GY_HAPROXY_ARGUMENT]; /* as it stands: "uri whole", "hash req.hdr(x)" */
    bool whole, cut;                    /* cut: only a part of the key counts (len, depth, ...) */
    struct gy_mark at;
    bool consistent, avalanche;
    char function[8]; /* "sdbm" */
    int64_t factor;
    struct gy_mark factor_at;
};

/* What a server, or default-server, says. */
struct gy_haproxy_options {
    int64_t weight;
    int64_t id; /* 0: none */
    bool disabled, backup;
    char hash_key[GY_HAPROXY_KEY];      /* "": none */
    char guid[GY_HAPROXY_ARGUMENT / 2]; /* "": none */
};

struct gy_haproxy_server {
    char *name, *address;
    struct gy_mark at;
    struct gy_haproxy_options o;
};

enum gy_haproxy_mode { GY_HAPROXY_MODE_NONE, GY_HAPROXY_MODE_HTTP, GY_HAPROXY_MODE_TCP };

struct gy_haproxy_proxy {
    struct gy_haproxy_lb lb;
    struct gy_haproxy_options defaults;
    enum gy_haproxy_mode mode;
    /* not inherited */
    char *name;
    struct gy_mark at;
    struct gy_haproxy_server *servers;
    size_t count, room;
};

/* As it is before any line. */
void gy_haproxy_proxy_init(struct gy_haproxy_proxy *p);
void gy_haproxy_proxy_fini(struct gy_haproxy_proxy *p); /* name and servers */

/* balance, hash-type, hash-balance-factor: haproxy_balance.c. */
GYRE_NODISCARD int gy_haproxy_balance(const struct gy_haproxy_line *l, struct gy_haproxy_lb *lb);
GYRE_NODISCARD int gy_haproxy_hash_type(const struct gy_haproxy_line *l, struct gy_haproxy_lb *lb);
GYRE_NODISCARD int gy_haproxy_factor(const struct gy_haproxy_line *l, struct gy_haproxy_lb *lb);

/* server, server-template, default-server: haproxy_server.c. */
GYRE_NODISCARD int gy_haproxy_server_line(const struct gy_haproxy_line *l,
                                          struct gy_haproxy_proxy *p);

/* Makes a pool of a section that has servers: haproxy_pool.c. piece: the file has no global and no
 * defaults section, so that a mode may well stand elsewhere. */
GYRE_NODISCARD int gy_haproxy_pool(struct gy_reading *r, struct gy_haproxy_proxy *p, bool piece);

#endif
