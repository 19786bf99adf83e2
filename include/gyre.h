/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyre.h - libgyre: which node holds a key, and what a change of the fleet moves.
 *
 * Everything here is pure computation: no I/O, no threads, no globals, no locale. Build a topology,
 * build a map from it, ask the map. A map is immutable and reference-counted: any number of threads
 * may look up in it at once.
 *
 *     gyre_topology_t *t = gyre_topology_new();
 *     struct gyre_node n = {.size = sizeof n, .name = "cache-0", .address = "127.0.0.1:6379",
 * .weight = 1}; gyre_topology_add(t, &n, NULL); gyre_map_t *map; gyre_map_build(t, &map, NULL);
 *     printf("%s\n", gyre_map_node(map, gyre_map_locate(map, "user:1", 6))->name);
 */
#ifndef GYRE_H
#define GYRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GYRE_API       __attribute__((visibility("default")))
#define GYRE_NODISCARD __attribute__((warn_unused_result))
#else
#define GYRE_API
#define GYRE_NODISCARD
#endif

/* ---- errors ---- */

/* One table gives value (pinned for ever), name and text. */
#define GYRE_ERRORS(X)                                    \
    X(OK, 0, "no error")                                  \
    X(NOMEM, -1, "out of memory")                         \
    X(INVALID, -2, "invalid argument")                    \
    X(SYNTAX, -3, "malformed text")                       \
    X(DUPLICATE, -4, "name used twice")                   \
    X(UNKNOWN, -5, "unknown name or setting")             \
    X(RANGE, -6, "value out of range")                    \
    X(EMPTY, -7, "no node can take a key")                \
    X(UNSUPPORTED, -8, "not supported")                   \
    X(MISMATCH, -9, "the two maps cannot be compared")    \
    X(IO, -10, "input/output error")                      \
    X(CONFLICT, -11, "changed by someone else meanwhile") \
    X(REFUSED, -12, "refused")                            \
    X(TIMEOUT, -13, "timed out")

enum gyre_err {
#define GYRE_ERR_ENUM(name, value, text) GYRE_##name = value,
    GYRE_ERRORS(GYRE_ERR_ENUM)
#undef GYRE_ERR_ENUM
};

/* Where and why, filled by the callee when the caller passes one. line and column count from 1; 0 =
 * not known. */
typedef struct gyre_error {
    int code;
    unsigned line, column;
    char file[256];
    char message[768];
} gyre_error_t;

GYRE_API const char *gyre_err_name(int err); /* "NOMEM"; "?" for an unknown value */
GYRE_API const char *gyre_err_text(int err); /* "out of memory" */
GYRE_API const char *gyre_version(void);     /* "0.1.0" */

/* ---- topology: the nodes and the placement settings ---- */

typedef struct gyre_topology gyre_topology_t;

struct gyre_node {
    size_t size;         /* sizeof(struct gyre_node) */
    const char *name;    /* decides placement; any bytes but NUL, 1 to 4096 */
    const char *address; /* where it is; does not take part in placement; may be NULL */
    double weight;       /* 0 = drained; otherwise 1e-6 to 1e6, kept in steps of 1e-6 */
    const char *zone;    /* "region/zone/rack"; NULL = none */
};

GYRE_API GYRE_NODISCARD gyre_topology_t *gyre_topology_new(void);
GYRE_API GYRE_NODISCARD gyre_topology_t *gyre_topology_clone(const gyre_topology_t *t);
GYRE_API void gyre_topology_free(gyre_topology_t *t);

/* Placement settings, all as text; the table below lists them. Unknown key or value: UNKNOWN, with
 * the nearest right word. */
GYRE_API GYRE_NODISCARD int gyre_topology_set(gyre_topology_t *t, const char *key,
                                              const char *value, gyre_error_t *e);
GYRE_API const char *
gyre_topology_get(const gyre_topology_t *t,
                  const char *key); /* canonical text, NULL if not such a key */

struct gyre_setting {
    const char
        *key; /* "algorithm", "like", "hash", "points", "replicas", "spread", "hash_tag", ... */
    const char *fallback; /* the default, as text */
    const char *values;   /* "ring|modulo", or "1..100000" */
    const char *help;     /* one sentence */
};
GYRE_API const struct gyre_setting *gyre_settings(size_t *count);

GYRE_API void gyre_topology_set_version(gyre_topology_t *t, uint64_t version);
GYRE_API uint64_t gyre_topology_version(const gyre_topology_t *t);

GYRE_API GYRE_NODISCARD int gyre_topology_add(gyre_topology_t *t, const struct gyre_node *node,
                                              gyre_error_t *e);
GYRE_API GYRE_NODISCARD int gyre_topology_remove(gyre_topology_t *t, const char *name,
                                                 gyre_error_t *e);
GYRE_API GYRE_NODISCARD int gyre_topology_set_weight(gyre_topology_t *t, const char *name,
                                                     double weight, gyre_error_t *e);
GYRE_API GYRE_NODISCARD int gyre_topology_set_address(gyre_topology_t *t, const char *name,
                                                      const char *address, gyre_error_t *e);
GYRE_API size_t gyre_topology_count(const gyre_topology_t *t);
GYRE_API const struct gyre_node *gyre_topology_node(const gyre_topology_t *t,
                                                    size_t i); /* in the order they were added */
GYRE_API const struct gyre_node *gyre_topology_find(const gyre_topology_t *t, const char *name);

/* ---- map: a placement built from one topology ---- */

typedef struct gyre_map gyre_map_t;

#define GYRE_NONE UINT32_MAX /* "no node": only an empty map answers it */

/* Nodes of a map are numbered 0..count-1 in the byte order of their names, drained ones included.
 */
GYRE_API GYRE_NODISCARD int gyre_map_build(const gyre_topology_t *t, gyre_map_t **out,
                                           gyre_error_t *e);
GYRE_API gyre_map_t *gyre_map_ref(gyre_map_t *m);
GYRE_API void gyre_map_unref(gyre_map_t *m);
GYRE_API uint32_t gyre_map_count(const gyre_map_t *m);
GYRE_API const struct gyre_node *gyre_map_node(const gyre_map_t *m,
                                               uint32_t i); /* lives as long as the map */
GYRE_API uint32_t gyre_map_find(const gyre_map_t *m,
                                const char *name); /* GYRE_NONE if there is none */
GYRE_API uint64_t gyre_map_version(const gyre_map_t *m);
GYRE_API uint64_t
gyre_map_points(const gyre_map_t *m); /* points on the ring in all; 0 where there is no ring */
GYRE_API size_t gyre_map_bytes(const gyre_map_t *m); /* memory held by the lookup structure */

/* The part of the key that is hashed: what stands between the first two hash_tag characters, or the
 * whole key. */
GYRE_API void gyre_map_hash_input(const gyre_map_t *m, const void *key, size_t len,
                                  const void **part, size_t *part_len);

GYRE_API uint32_t gyre_map_locate(const gyre_map_t *m, const void *key, size_t len);
GYRE_API void gyre_map_locate_batch(const gyre_map_t *m, const void *const *keys,
                                    const size_t *lens, size_t n, uint32_t *out);
/* For keys hashed beforehand by gyre_map_hash (placements that hash to more than 64 bits answer
 * GYRE_NONE). */
GYRE_API uint64_t gyre_map_hash(const gyre_map_t *m, const void *key, size_t len);
GYRE_API uint32_t gyre_map_locate_hash(const gyre_map_t *m, uint64_t hash);
GYRE_API void gyre_map_locate_hash_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n,
                                         uint32_t *out);

#define GYRE_REPLICAS_SHORT  1u /* fewer distinct live nodes than wanted */
#define GYRE_REPLICAS_SPREAD 2u /* zones had to be used twice: the placement is degraded */
/* The first `want` distinct nodes, spread over zones as the topology's `spread` says. Returns how
 * many were written. */
GYRE_API size_t gyre_map_replicas(const gyre_map_t *m, const void *key, size_t len, uint32_t *out,
                                  size_t want, unsigned *flags);

/* Exact share of the hash space a node owns, 0..1 (an exact 128-bit fraction, rounded once). */
GYRE_API double gyre_map_share(const gyre_map_t *m, uint32_t i);

/* How a key came to its node. */
struct gyre_explain {
    size_t size;
    const void *part; /* what was hashed */
    size_t part_len;
    unsigned hash_bits;                /* 32, 64 or 128 */
    uint64_t hash_hi, hash_lo;         /* the key's hash; 64 bits or fewer: in hash_lo */
    bool has_point;                    /* false for modulo */
    uint64_t position_hi, position_lo; /* where the key stands on the ring */
    uint64_t point_hi, point_lo;       /* the first point at or after it */
    uint64_t point_index;              /* its index in the sorted ring */
    bool wrapped;                      /* the walk went over the end of the ring */
    uint32_t node;
};
GYRE_API GYRE_NODISCARD int gyre_map_explain(const gyre_map_t *m, const void *key, size_t len,
                                             struct gyre_explain *out);

/* ---- balance ---- */

struct gyre_balance {
    size_t size;
    double cv; /* standard deviation / mean of share/weight over nodes of positive weight */
    double
        expected_cv; /* what this many points give by chance: about 1/sqrt(points); 0 where exact */
    double peak;     /* max / mean of share/weight */
    double least;    /* min / mean */
    uint32_t nodes;  /* of positive weight */
};
GYRE_API void gyre_map_balance(const gyre_map_t *m, struct gyre_balance *out);
/* The same three figures for measured loads; weights may be NULL (all 1). */
GYRE_API void gyre_balance_of(const double *loads, const double *weights, size_t n,
                              struct gyre_balance *out);

/* ---- diff: what differs between two maps ---- */

typedef struct gyre_diff gyre_diff_t;
struct gyre_flow {
    const char *from, *to; /* names; live as long as the diff */
    double share;          /* of the hash space */
};
/* Exact for two rings of one kind, and for modulo; otherwise from `samples` pseudo-random hash
 * inputs (0: refuse). */
GYRE_API GYRE_NODISCARD int gyre_diff_build(gyre_map_t *from, gyre_map_t *to, size_t samples,
                                            gyre_diff_t **out, gyre_error_t *e);
GYRE_API void gyre_diff_free(gyre_diff_t *d);
GYRE_API bool gyre_diff_exact(const gyre_diff_t *d);
GYRE_API double gyre_diff_moved(const gyre_diff_t *d); /* share of the keys whose node changes */
GYRE_API double
gyre_diff_minimum(const gyre_diff_t *d); /* the least any placement with these shares could move */
GYRE_API double
gyre_diff_ratio(const gyre_diff_t *d); /* moved / minimum; 1 when nothing moves and nothing must */
GYRE_API double
gyre_diff_modulo(const gyre_diff_t *d); /* what hash mod N would move for the same two node lists */
GYRE_API size_t gyre_diff_count(const gyre_diff_t *d);
GYRE_API const struct gyre_flow *gyre_diff_flow(const gyre_diff_t *d, size_t i); /* largest first */

/* Are the two placements the same function? (version and addresses do not count) */
GYRE_API bool gyre_map_same(const gyre_map_t *a, const gyre_map_t *b);

/* ---- plan: a change, and the topology it leads to ---- */

enum gyre_change_kind { GYRE_ADD, GYRE_REMOVE, GYRE_WEIGHT, GYRE_REPLACE };
struct gyre_change {
    size_t size;
    enum gyre_change_kind kind;
    struct gyre_node
        node; /* ADD: all of it; REMOVE: name; WEIGHT: name, weight; REPLACE: name, address */
};
/* Applies the changes in order to a clone of t and raises its version by one. */
GYRE_API GYRE_NODISCARD int gyre_plan_apply(const gyre_topology_t *t,
                                            const struct gyre_change *changes, size_t n,
                                            gyre_topology_t **out, gyre_error_t *e);

/* ---- the hash functions, for those who build their own tables ---- */

GYRE_API uint64_t gyre_hash_xxh3(const void *data, size_t len);
GYRE_API void gyre_hash_md5(const void *data, size_t len, uint8_t digest[16]);
GYRE_API void gyre_hash_sha256(const void *data, size_t len, uint8_t digest[32]);

/* The known word nearest to a mistyped one (edit distance at most a third of its length), or NULL.
 */
GYRE_API const char *gyre_nearest(const char *word, const char *const *known, size_t n);

#ifdef __cplusplus
}
#endif
#endif
