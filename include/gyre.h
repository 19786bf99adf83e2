/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyre.h - libgyre: which node holds a key, and what a change of the fleet moves.
 *
 * Everything here is pure computation: no I/O, no threads, no globals, no locale. Put the nodes
 * into a topology, build a map from it, ask the map:
 *
 *     gyre_error_t e = {0};
 *     gyre_map_t *map = NULL;
 *     gyre_topology_t *t = gyre_topology_new();
 *     struct gyre_node n = {.size = sizeof n, .name = "cache-0", .weight = 1};
 *     if (!t || gyre_topology_add(t, &n, &e) || gyre_map_build(t, &map, &e)) {
 *         fprintf(stderr, "%s\n", t ? e.message : "out of memory");
 *         gyre_topology_free(t);
 *         return 1;
 *     }
 *     gyre_topology_free(t);
 *     puts(gyre_map_node(map, gyre_map_locate(map, "user:1", 6))->name);
 *     gyre_map_unref(map);
 *
 * Words. A *node* is a server with a name, an address, a weight and a zone; the name decides what
 * it holds. A *topology* is the nodes and the placement settings. A *map* is a placement built from
 * one topology: immutable and reference-counted. A *point* is one of a node's positions on the
 * ring (elsewhere a virtual node, vnode or token); the setting `points` says how many a node of
 * weight 1 has. A *share* is a part of the hash space, as a fraction of 1.
 *
 * Which algorithm. The setting `algorithm`; if in doubt, ring. What must be kept for the same
 * answers, besides names and settings, is its state (see slots below).
 *
 *     NAME        WEIGHTS        STATE           A LOOKUP       TAKE IT
 *     ring        any            none            a cache line   for most: each change of one node
 *                                                               moves the least there is to move
 *     slots       any            none            one load       for speed, with far more slots
 *                                                               (`table`) than nodes
 *     maglev      any            none            one load       for the evenest shares, where a
 *                                                               change may move more than it must
 *     rendezvous  any            none            a hash a node  among few nodes: shares as exact as
 *                                                               the hash, replicas move least too
 *     dx          to `heaviest`  slots           a few draws    among many nodes, for the same
 *     memento     equal          slots, history  a few words    among many equal nodes, of which
 *                                                               any may leave, in least memory
 *     jumpback    equal          slots           two words      where only the last node leaves
 *     jump        equal          slots           log(nodes)     as others do: the published one
 *     modulo      equal          none            a division     to compare with: hash mod N moves
 *                                                               nearly all keys
 *
 * docs/placement.md has their rules and figures. Installed in share/doc/gyre, beside it:
 * topology.md (every setting, and the file), like.md (`like`: placement as existing systems do it),
 * recipes.md (keys of URLs), embedding.md (following a topology that serves) and json.md (what the
 * command prints with --json).
 *
 * The promise. Where a key lives is part of this interface: the same topology and key give the same
 * node on every machine, compiler and SIMD level and in every later version. docs/placement.md has
 * the rules to the bit.
 *
 * Threads. Each function says one of:
 *   MT-safe          any threads at once, on the same objects;
 *   one at a time    calls on one object must not overlap (different objects may).
 *
 * Errors. A function that can fail returns an int: GYRE_OK (0) or a negative enum gyre_err, and
 * must be checked. Most take a gyre_error_t to say why in words; NULL is allowed there, and the
 * struct is written only on failure. No other argument may be NULL unless its text says so. An
 * out-parameter is NULL after a failure. Any allocation may fail: that is GYRE_NOMEM, and nothing
 * is changed or leaked. The library never prints, aborts or exits.
 *
 * Caveats, for those who read no further:
 *   - Names compare byte by byte: "cache-0" and "Cache-0" are two nodes, and renaming a node moves
 *     its keys.
 *   - With the default hash_tag "{}", the keys "{a}1" and "{a}2" always share a node. All keys with
 *     one tag are as heavy as one key.
 *   - A key is bytes. One that is a number must be written in one byte order, and one width,
 *     everywhere; as text it is safe.
 *   - Weight 0 drains a node; it stays in the map, so that its number and name can still be asked.
 *     A struct gyre_node whose weight is not set has 0: it takes no key.
 *   - A node that is down does not belong out of the map: its return would then move keys twice.
 *     gyre_mask_set is for that.
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

/* What this header is of; gyre_version() says it of the library that runs. The number grows with
 * every release: #if GYRE_VERSION_NUMBER >= 10203 is 1.2.3 or later. */
#define GYRE_VERSION_MAJOR 0
#define GYRE_VERSION_MINOR 1
#define GYRE_VERSION_PATCH 0
#define GYRE_VERSION_NUMBER \
    (GYRE_VERSION_MAJOR * 10000 + GYRE_VERSION_MINOR * 100 + GYRE_VERSION_PATCH)

/* ---- errors ---- */

/* One table gives value (pinned for ever), name and text. */
#define GYRE_ERRORS(X)   \
    X(OK, 0, "no error") \
    GYRE_FAILURES(X)
#define GYRE_FAILURES(X)                                  \
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

#define GYRE_ERR_ENUM(name, value, text) , GYRE_##name = value
enum gyre_err { GYRE_OK = 0 GYRE_FAILURES(GYRE_ERR_ENUM) };
#undef GYRE_ERR_ENUM

/*
 * Where and why something failed, filled by the callee. line and column count from 1 and are 0 when
 * not known, file is "" when not known: the library itself reads no files, and knows a column in
 * one case only, that of a recipe's text (gyre_recipe_parse; line stays 0). message is one sentence
 * without a final stop, in UTF-8. Of hostile names it has control characters (C0, DEL, C1), marks
 * that turn the direction of writing, and bytes that are no UTF-8 as \xHH: it may go to a
 * terminal.
 */
typedef struct gyre_error {
    int code;
    unsigned line, column;
    char file[256];
    char message[768];
} gyre_error_t;

/* The name without its prefix, "NOMEM"; "?" for a value that is no error. MT-safe, static. */
GYRE_API const char *gyre_err_name(int err);

/* What it means, "out of memory"; never NULL. MT-safe, static. */
GYRE_API const char *gyre_err_text(int err);

/* The version of the library that runs, "0.1.0". MT-safe, static. */
GYRE_API const char *gyre_version(void);

/* ---- topology: the nodes and the placement settings ---- */

/*
 * One at a time: a topology is for building maps from, and may change or go once they are built.
 *
 * To save one: every setting that gyre_settings() lists, as gyre_topology_get gives it; the nodes
 * in their order, with all members of struct gyre_node; gyre_topology_removed; the version. To load
 * it into a new one: set the settings in any order, then the secret, if secret_check is not "" (it
 * is kept somewhere safe, not here); add the nodes; set what was removed, and the version. The map
 * is the same then (gyre_map_same), and so is each later change.
 */
typedef struct gyre_topology gyre_topology_t;

/*
 * A node. What is passed in is copied; what is handed out belongs to the topology or map it came
 * from. Two nodes may share an address.
 */
struct gyre_node {
    /* sizeof(struct gyre_node): new members can come at the end without breaking old callers. */
    size_t size;
    /* Decides placement. Any bytes but NUL, 1 to 4096 of them; unique in a topology. */
    const char *name;
    /* Where it is; takes no part in placement and is not looked into. May be NULL. */
    const char *address;
    /* 0 = drained; otherwise 0.000001 to 1000000, kept in steps of 0.000001. */
    double weight;
    /* "region/zone/rack", as many parts as are known; NULL = none. See the setting `spread`. */
    const char *zone;
    /* With `like` only: what the imitated system's own line says of this node besides, as words
     * parted by blanks, "id=7 down"; NULL = nothing. docs/like.md has each system's words. */
    const char *options;
    /* Its slot, from 1, for the placements that know nodes by number (jump, jumpback, memento, dx);
     * 0 = none given. See gyre_topology_number. */
    uint32_t slot;
};

/* An empty topology with the default settings and version 0; NULL when out of memory. */
GYRE_API GYRE_NODISCARD gyre_topology_t *gyre_topology_new(void);

/* A copy of nodes, order, settings and version; NULL when out of memory. Only reads t. */
GYRE_API GYRE_NODISCARD gyre_topology_t *gyre_topology_clone(const gyre_topology_t *t);

/* Frees t and every string got from it; NULL is allowed. Maps built from it live on. */
GYRE_API void gyre_topology_free(gyre_topology_t *t);

/*
 * Sets one placement setting; key and value are texts as gyre_settings() lists them, numbers in
 * plain decimal digits. Errors: UNKNOWN (no such key, or no such word; the message names the
 * nearest right one; or the system that `like` names has no such setting), RANGE (a number outside
 * its limits), INVALID (not a number; hash_tag: not two bytes, such as "{}"). On error the old
 * value stays. Before `like` is set, what any of the systems permits is accepted (hash: md5), and
 * so is "" for what some system has not: setting `like` checks it, and where `like` is never set
 * gyre_map_build does. One at a time. Cost: constant.
 */
GYRE_API GYRE_NODISCARD int gyre_topology_set(gyre_topology_t *t, const char *key,
                                              const char *value, gyre_error_t *e);

/*
 * The value in force, in its canonical text; NULL if there is no such key, "" for a setting that
 * the system named by `like` has not. Setting what was got, on another topology and in any order,
 * gives the same map. Valid until the next gyre_topology_set or _free.
 */
GYRE_API const char *gyre_topology_get(const gyre_topology_t *t, const char *key);

/*
 * The secret of `hash: siphash`: 16 bytes that nobody who chooses keys may know; from a good source
 * of random numbers. Copied, wiped when t and its clones and maps go, and given back by no
 * function. From then on the setting `secret_check` is 16 hexadecimal digits that follow from the
 * secret and do not reveal it; if it was set before, the secret must fit. len 0 takes the secret
 * away. Errors: RANGE (not 16 bytes), INVALID (another secret than secret_check says). A map with
 * hash: siphash cannot be built without. One at a time. The setting `secret_file` is only kept: who
 * reads files fills the secret in. Source: Aumasson, Bernstein, "SipHash: a fast short-input PRF",
 * 2012.
 */
GYRE_API GYRE_NODISCARD int gyre_topology_set_secret(gyre_topology_t *t, const void *secret,
                                                     size_t len, gyre_error_t *e);

/* One placement setting; parsers, help and manual are made from this. */
struct gyre_setting {
    /* "algorithm", "like", "hash", "secret_file", "secret_check", "points", "replicas", "spread",
     * "hash_tag", what some algorithms have besides ("table", "capacity", "heaviest", "level"), and
     * the words of imitated systems */
    const char *key;
    /* The default, as text; "" for those of imitated systems, each of which has its own. */
    const char *fallback;
    /* Words parted by |, "ring|modulo"; or limits of a whole number, "1..100000"; or a remark. */
    const char *values;
    /* One sentence. */
    const char *help;
};

/* All settings; count may be NULL. MT-safe, static. */
GYRE_API const struct gyre_setting *gyre_settings(size_t *count);

/* The version is the caller's to raise (gyre_plan_apply does); any number. */
GYRE_API void gyre_topology_set_version(gyre_topology_t *t, uint64_t version);
GYRE_API uint64_t gyre_topology_version(const gyre_topology_t *t);

/*
 * Adds a copy of node at the end. Errors: INVALID (no name, or size not set), RANGE (name longer
 * than 4096 bytes; weight negative, NaN, or neither 0 nor within limits; slot above 2^20; more than
 * 2^24 nodes),
 * DUPLICATE, NOMEM. One at a time. Cost: constant on average.
 */
GYRE_API GYRE_NODISCARD int gyre_topology_add(gyre_topology_t *t, const struct gyre_node *node,
                                              gyre_error_t *e);

/*
 * Takes a node out; the order of the others stays. Errors: UNKNOWN (no such node; the message names
 * the nearest), INVALID (name NULL), NOMEM (only of a node with a slot). One at a time. Cost:
 * linear in the nodes.
 */
GYRE_API GYRE_NODISCARD int gyre_topology_remove(gyre_topology_t *t, const char *name,
                                                 gyre_error_t *e);

/* A new weight. Errors: as _remove, and RANGE as _add. One at a time. */
GYRE_API GYRE_NODISCARD int gyre_topology_set_weight(gyre_topology_t *t, const char *name,
                                                     double weight, gyre_error_t *e);

/* A new address, which moves no key; NULL = none. Errors: as _remove, and NOMEM. One at a time. */
GYRE_API GYRE_NODISCARD int gyre_topology_set_address(gyre_topology_t *t, const char *name,
                                                      const char *address, gyre_error_t *e);

/*
 * ---- slots ----
 *
 * jump, jumpback, memento and dx place by number, so a node's number must be its own for life: it
 * is the node's `slot`. A map built from nodes without slots gives them out by name, which is fine
 * until one in the middle leaves and those after it move up. gyre_topology_number writes them down;
 * from then on a node that leaves, or is drained, leaves a gap, and the topology remembers in which
 * order slots were given up (a drained node holds no slot). Names, slots and that list are the
 * whole state: save them and the same answers are there again. (gyre_plan_apply numbers where it
 * matters.)
 */

/*
 * Gives every node that takes keys and has no slot one: the slot given up last, else the one after
 * the highest; nodes in the byte order of their names. Errors: DUPLICATE (two nodes on one slot),
 * RANGE (more than 2^20 slots), NOMEM; nothing is changed then. One at a time.
 */
GYRE_API GYRE_NODISCARD int gyre_topology_number(gyre_topology_t *t, gyre_error_t *e);

/* A slot, 0 for none. Gives up the old one. Errors: as _remove; RANGE (above 2^20), INVALID
 * (drained), NOMEM. One at a time. */
GYRE_API GYRE_NODISCARD int gyre_topology_set_slot(gyre_topology_t *t, const char *name,
                                                   uint32_t slot, gyre_error_t *e);

/*
 * The slots given up and not taken again, first to last; *count may be 0, and the list NULL then.
 * Valid until the topology next changes. Setting replaces the list by what is given, as it is:
 * slots on which nodes stand and those named before do not count, and a slot below the highest that
 * neither a node nor the list names counts as given up after those that are named, the highest
 * first. gyre_topology_number and gyre_plan_apply write that out: no slot in use, none twice, no
 * gap. Errors: RANGE (a slot 0 or above 2^20, or more than 2^20 of them), NOMEM. One at a time.
 */
GYRE_API const uint32_t *gyre_topology_removed(const gyre_topology_t *t, size_t *count);
GYRE_API GYRE_NODISCARD int gyre_topology_set_removed(gyre_topology_t *t, const uint32_t *slots,
                                                      size_t count, gyre_error_t *e);

GYRE_API size_t gyre_topology_count(const gyre_topology_t *t);

/*
 * Node i, from 0, in the order they were added, NULL past the end; and the node of that name, NULL
 * if there is none. Valid until the topology next changes. Cost: constant.
 */
GYRE_API const struct gyre_node *gyre_topology_node(const gyre_topology_t *t, size_t i);
GYRE_API const struct gyre_node *gyre_topology_find(const gyre_topology_t *t, const char *name);

/* ---- map: a placement built from one topology ---- */

/* Immutable: everything below is MT-safe on it, and no lookup allocates, locks or fails. */
typedef struct gyre_map gyre_map_t;

/* "No node": what a map answers in which no node takes keys. */
#define GYRE_NONE UINT32_MAX

/*
 * Builds a map; it copies what it needs of t. *out is NULL on failure, otherwise a reference that
 * gyre_map_unref gives back. A topology without nodes, or with drained ones only, gives a map that
 * answers GYRE_NONE: whether that is a mistake is for the caller to say.
 *
 * Nodes are numbered 0 to count - 1 in the byte order of their names, drained ones included,
 * whatever the order in the topology.
 *
 * Errors: NOMEM; RANGE (more than 65535 nodes; more points than memory should be spent on: 2^27, or
 * 2^24 with `like`; the message has the number and its cost); UNSUPPORTED (unequal weights
 * where the algorithm knows none; a gap in the slots of jump and jumpback), and for what else an
 * algorithm cannot do INVALID, DUPLICATE or RANGE with the reason; with `like` also UNKNOWN (an
 * option of a node, or a setting made before `like`, that the system has not), without it UNKNOWN,
 * INVALID or RANGE (a setting that only systems have, such as hash: md5); INVALID (hash: siphash
 * without its secret, or a secret without it); RANGE (a zone longer than 4096 bytes, with `level`).
 *
 * MT-safe on a topology that nobody changes. Cost of a ring: some 10 ns a point while they fit the
 * caches, twice that beyond; 14 bytes a point. Of `slots`: nodes times `table` hashes; where the
 * table has not many times more slots than there are nodes, a light node may get none, and no key.
 *
 * Source of the ring: Karger et al., "Consistent hashing and random trees", STOC 1997.
 */
GYRE_API GYRE_NODISCARD int gyre_map_build(const gyre_topology_t *t, gyre_map_t **out,
                                           gyre_error_t *e);

/* One more reference to m; returns m. MT-safe. */
GYRE_API gyre_map_t *gyre_map_ref(gyre_map_t *m);

/* Gives a reference back; the last one frees the map and all strings got from it. NULL is allowed.
 */
GYRE_API void gyre_map_unref(gyre_map_t *m);

/* How many nodes, drained ones included. */
GYRE_API uint32_t gyre_map_count(const gyre_map_t *m);

/* Node i; NULL past the end, so also for GYRE_NONE. Lives as long as the map. */
GYRE_API const struct gyre_node *gyre_map_node(const gyre_map_t *m, uint32_t i);

/* The number of the node of that name, GYRE_NONE if there is none. Cost: log2(count). */
GYRE_API uint32_t gyre_map_find(const gyre_map_t *m, const char *name);

/* Version of the topology it was built from. */
GYRE_API uint64_t gyre_map_version(const gyre_map_t *m);

/* Points on the ring, or slots of the table, in all; 0 where there is neither, and of two levels
 * (`level`), of which each has its own. */
GYRE_API uint64_t gyre_map_points(const gyre_map_t *m);

/* Bytes held by the lookup structure, the nodes' names aside. */
GYRE_API size_t gyre_map_bytes(const gyre_map_t *m);

/*
 * The part of the key that is hashed: what stands between the first of the two hash_tag characters
 * and the next second one, if that is not empty; otherwise the whole key. *part points into key.
 */
GYRE_API void gyre_map_hash_input(const gyre_map_t *m, const void *key, size_t len,
                                  const void **part, size_t *part_len);

/*
 * The node of a key, by number. A key is len bytes of any value; an empty one is a key like any
 * other (key may then be NULL). Cost: the hash of the key, and one look into the ring, some 10 ns
 * while it fits the caches; what the other algorithms cost is said above and in docs/placement.md.
 */
GYRE_API uint32_t gyre_map_locate(const gyre_map_t *m, const void *key, size_t len);

/*
 * The same for n keys: keys, lens and out are arrays of n; out[i] is exactly what gyre_map_locate
 * answers for keys[i]. Faster than one by one, because the memory accesses of several keys overlap.
 * out must not overlap keys or lens.
 */
GYRE_API void gyre_map_locate_batch(const gyre_map_t *m, const void *const *keys,
                                    const size_t *lens, size_t n, uint32_t *out);

/*
 * The key's hash as the placement sees it: its first 64 bits, or all of them where it has fewer
 * (then as a number of that many bits).
 */
GYRE_API uint64_t gyre_map_hash(const gyre_map_t *m, const void *key, size_t len);

/*
 * For keys hashed beforehand by gyre_map_hash of this map or one of equal settings: the node, and
 * the nodes of n of them. Placements that look at more than 64 bits (mode: md5_128) answer
 * GYRE_NONE. A number of more bits than the map's hashes have belongs to some node, no matter
 * which. out must not overlap hashes.
 */
GYRE_API uint32_t gyre_map_locate_hash(const gyre_map_t *m, uint64_t hash);
GYRE_API void gyre_map_locate_hash_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n,
                                         uint32_t *out);

/* Fewer nodes take keys than replicas were wanted. */
#define GYRE_REPLICAS_SHORT 1u
/* Zones had to be used more than once: the placement is degraded. */
#define GYRE_REPLICAS_SPREAD 2u

/*
 * The first `want` distinct nodes for a key, in order of preference, spread over regions, zones or
 * racks as the setting `spread` says. out has room for want numbers; returns how many were written,
 * min(want, nodes that are not drained). out[0] is always what gyre_map_locate answers. `want` is
 * the caller's; the setting `replicas` says what the topology asks for. flags may be NULL; else it
 * is set to 0 or a sum of the two above. Cost: a walk along the ring until enough different nodes
 * were met, want^2 comparisons, and a whole round at worst (a far lighter node, a rare zone).
 */
GYRE_API size_t gyre_map_replicas(const gyre_map_t *m, const void *key, size_t len, uint32_t *out,
                                  size_t want, unsigned *flags);

/*
 * Bounded load: the first node in the key's order of preference, zones left aside, whose load is
 * below its bound. loads has an entry for each node of the map, total is what they add up to, in
 * any unit of which the key to be placed brings one (requests under way, connections); other
 * threads may raise them by atomic additions meanwhile, and the bound is then missed by as much.
 * percent is how far above its fair share a node may go: 125 is a good choice; below 100 counts as
 * 100, above 100000 as 100000. A node that is down has UINT64_MAX as its load and no part in total:
 * nothing is sent to it, and the others share its part, so that bounds of the nodes that are up
 * always add up to more than total. A node that is up is always found; if loads contradict total,
 * the first one in the key's order. GYRE_NONE only where every node that takes keys was down when
 * it was looked at. Where a key goes depends on the loads, so this is for work, not for data.
 *
 * rendezvous and dx spread what one full node turns away over all others; on a ring it falls on the
 * next ones. Cost: a lookup, and a step for each full node met; once for the first of them, a look
 * at all loads, for the weight that is up.
 *
 * Source: Mirrokni, Thorup, Zadimoghaddam, "Consistent hashing with bounded loads", SODA 2018.
 */
GYRE_API uint32_t gyre_map_locate_bounded(const gyre_map_t *m, const void *key, size_t len,
                                          const uint64_t *loads, uint64_t total, unsigned percent);

/*
 * The bound of node i while all are up: (total + 1) * percent / 100 * its part of the weights,
 * rounded up; percent is cut to 100..100000 as above. While nodes are down, gyre_map_locate_bounded
 * takes its part of the weights that are up, so more. 0 for a drained node and past the end.
 */
GYRE_API uint64_t gyre_map_bound(const gyre_map_t *m, uint32_t i, uint64_t total, unsigned percent);

/*
 * The share of the hash space node i owns, 0 to 1: an exact fraction of 2^32 (ring, maglev,
 * slots) or 2^bits (like), rounded once; what is expected of the hash, 1/N or weight / weights, for
 * the others. 0 for a drained node and past the end. Cost: constant.
 */
GYRE_API double gyre_map_share(const gyre_map_t *m, uint32_t i);

/* How a key came to its node. Where a number has 64 bits or fewer it is in _lo, and _hi is 0. */
struct gyre_explain {
    /* sizeof(struct gyre_explain), set by the caller. */
    size_t size;
    /* What was hashed; points into the key. */
    const void *part;
    size_t part_len;
    /* Width of the hash, 8 to 128, and the hash. */
    unsigned hash_bits;
    uint64_t hash_hi, hash_lo;
    /* false where there is neither ring nor table; then the five below are 0. */
    bool has_point;
    /* Where the key stands on the ring, and the first point at or after it (after it: md5_128). */
    uint64_t position_hi, position_lo;
    uint64_t point_hi, point_lo;
    /* That point's index in the sorted ring; whether the walk went over the end to reach it. */
    uint64_t point_index;
    bool wrapped;
    /* The answer. */
    uint32_t node;
    /* How it came about, in words: "slot 3 of 7"; empty where the point says all. */
    char rule[96];
};

/* Errors: INVALID (size not set), EMPTY (no node takes keys; part and hash are filled all the
 * same). */
GYRE_API GYRE_NODISCARD int gyre_map_explain(const gyre_map_t *m, const void *key, size_t len,
                                             struct gyre_explain *out);

/*
 * Are the two placements one function of the key, replicas included? Names, points, zones as far as
 * `spread` looks and the settings that decide count; version, addresses and drained nodes do not.
 * Cost: linear in the points.
 */
GYRE_API bool gyre_map_same(const gyre_map_t *a, const gyre_map_t *b);

/* ---- liveness: which nodes are up, beside a map ---- */

/*
 * A node that is down stays in the map: its points, and every key's order of preference, are what
 * they were. Lookups pass over it and go on in the key's own order; when it is back, its keys are
 * back, and no other key has moved. A mask is made for one map and counted by references as maps
 * are. Everything but gyre_mask_new is MT-safe, never allocates, locks or fails. An answer is that
 * of one state of all nodes, which was theirs at one moment of the call: nothing is missing, or
 * twice in a zone, because nodes were marked meanwhile. A look that a mark falls into is repeated.
 */
typedef struct gyre_mask gyre_mask_t;

/*
 * All nodes of m up, or, with `from` (may be NULL), down where the node of the same name is down
 * there: so the verdicts of health checks live on in a new map. *out is a reference to give back.
 * Errors: NOMEM. Only reads from; what is marked in it meanwhile may be missed. MT-safe. Cost:
 * linear in the nodes.
 */
GYRE_API GYRE_NODISCARD int gyre_mask_new(gyre_map_t *m, const gyre_mask_t *from, gyre_mask_t **out,
                                          gyre_error_t *e);

/* One more reference; returns k. */
GYRE_API gyre_mask_t *gyre_mask_ref(gyre_mask_t *k);

/* Gives a reference back; the last one frees the mask, and with it its reference to the map. NULL
 * is allowed. */
GYRE_API void gyre_mask_unref(gyre_mask_t *k);

/* The map it was made for. */
GYRE_API const gyre_map_t *gyre_mask_map(const gyre_mask_t *k);

/* Marks node i up or down; true if it was the other before. Cost: a compare-and-swap and two atomic
 * additions; a read where nothing changes. */
GYRE_API bool gyre_mask_set(gyre_mask_t *k, uint32_t i, bool up);

/* Is node i up? False past the end, so also for GYRE_NONE. */
GYRE_API bool gyre_mask_up(const gyre_mask_t *k, uint32_t i);

/* How many nodes are down; and how often a node was marked otherwise since the mask was made: 0 at
 * first, also with `from`. Who sees a version sees the marks it counts. Cost: two reads for every
 * 32 nodes; one read. */
GYRE_API uint32_t gyre_mask_down(const gyre_mask_t *k);
GYRE_API uint64_t gyre_mask_version(const gyre_mask_t *k);

/*
 * As gyre_map_locate: the first node that is up in the key's order of preference, zones left aside;
 * GYRE_NONE only if all were down at one moment of the call. Cost: a lookup; if the key's node is
 * down, two reads for every 32 nodes, 16 KiB of stack, and a step for each node passed over.
 */
GYRE_API uint32_t gyre_mask_locate(const gyre_mask_t *k, const void *key, size_t len);

/*
 * As gyre_map_replicas, of the nodes that are up. Those of the map's answer that are up are all in
 * it, in the same order unless zones had to be used twice; others stand in for those that are not.
 * out[0] is what gyre_mask_locate answers for the same state.
 * GYRE_REPLICAS_SHORT: fewer are up than wanted. GYRE_REPLICAS_SPREAD: fewer zones are. Cost: as
 * gyre_map_replicas; while any node is down, what gyre_mask_locate costs besides.
 */
GYRE_API size_t gyre_mask_replicas(const gyre_mask_t *k, const void *key, size_t len, uint32_t *out,
                                   size_t want, unsigned *flags);

/* ---- stages: one map, or two while keys are rehashed in the background ---- */

/*
 * What serves at one moment. All members but size and map may be 0. With `next`, both maps answer
 * for a key, in an order: one leads, and is written to; the other is read where the first had
 * nothing, for what has not been carried over yet.
 *
 * permille is the share of the keys for which next leads: 0 is before the change, 1000 at its end.
 * Raise it step by step: keys join and none leaves. Lowered, they go back in the opposite order.
 */
struct gyre_stage {
    /* sizeof(struct gyre_stage) */
    size_t size;
    gyre_map_t *map;
    /* The map to come; NULL: no change is under way. */
    gyre_map_t *next;
    /* 0 to 1000. */
    uint32_t permille;
    /* Any number. Which keys go first depends on it and on nothing else; clients that must agree
     * need the same one, and another one picks other keys. */
    uint64_t salt;
    /* Which nodes of map, and of next, are up; NULL: all. */
    gyre_mask_t *mask, *next_mask;
};

/* A node of one of a stage's maps. */
struct gyre_target {
    const gyre_map_t *map;
    uint32_t node;
};

/* The most nodes of one map that a route looks at. */
#define GYRE_ROUTE_MAX 64

/*
 * Where to write a key, and where to look for it: the first `want` nodes of the map that leads
 * (spread over zones, those that are up), then those of the other map that are not among them. A
 * node is the same one if name and address are; so a machine that is being replaced is asked as
 * well. out has room for 2 * want; want counts as GYRE_ROUTE_MAX at most. Returns how many there
 * are; *writes (may be NULL) is how many of them, from the first, are to be written.
 *
 *     read     ask out[0], out[1], ... until one has it
 *     write    write out[0] to out[*writes - 1], then delete at the rest
 *     delete   delete at all of them, the last one first
 *     carry    copy from the other map's node to the leading one only where the key is not there
 *              yet (ADD, SET NX), then delete the original
 *
 * Kept to, no stale value is left behind whichever way the share is moved. It is a rule for caches:
 * two clients that write one key at the moment in which the share passes it can still cross. Where
 * nothing may be lost, use `gyre proxy` and `gyre move`.
 *
 * *writes is 0, though nodes may be returned, where no node of the leading map is up or takes keys:
 * the other map's are there to read and to delete from, and a write has nowhere to go.
 *
 * MT-safe on a stage that does not change. Cost: two lookups, and a hash of the key.
 */
GYRE_API size_t gyre_stage_route(const struct gyre_stage *s, const void *key, size_t len,
                                 size_t want, struct gyre_target *out, size_t *writes);

/* Does next lead for the key? Keys with one hash tag of `map` always go together. MT-safe. */
GYRE_API bool gyre_stage_shifted(const struct gyre_stage *s, const void *key, size_t len);

/* ---- views: the stage that serves now, for many threads ---- */

/*
 * Publishing is one pointer swap. Readers see the old stage or the new one, whole, and take no
 * lock, never wait, retry, allocate or fail, and write to no memory another reader writes to.
 *
 *     the publisher                           each reader
 *       gyre_view_new(&stage, &view, &e);       once:         gyre_reader_new(view, &r, &e);
 *       ...                                     per request:  s = gyre_reader_enter(r);
 *       gyre_view_publish(view, &stage, &e);                  ... ask s->map ...
 *       ...                                                   gyre_reader_leave(r);
 *       gyre_view_free(view);                   at its end:   gyre_reader_free(r);
 *
 * What a stage was made of lives until the last reader has left who entered before it was replaced,
 * and is freed by a later publish or reclaim. So keep visits short: a reader that sleeps inside
 * keeps memory (never the publisher) waiting. To keep a map beyond, take a reference while inside.
 */
typedef struct gyre_view gyre_view_t;

/* A reader's seat: for one thread at a time. */
typedef struct gyre_reader gyre_reader_t;

/*
 * A view that shows `first`; the view takes references of its own to what a stage names. Errors:
 * INVALID (size or map missing; a share or mask of a next map that is not there), RANGE (permille),
 * CONFLICT (next has a lower version than map: the change could begin and never end), MISMATCH (a
 * mask made for another map), NOMEM. MT-safe: the view is nobody else's yet.
 */
GYRE_API GYRE_NODISCARD int gyre_view_new(const struct gyre_stage *first, gyre_view_t **out,
                                          gyre_error_t *e);

/*
 * Replaces what is shown. Errors: those of gyre_view_new; CONFLICT (s->map has a lower version than
 * the map shown, so this is an old message; or another thread is publishing right now). Nothing is
 * changed on an error. MT-safe. Cost: a swap, and a look at every seat.
 */
GYRE_API GYRE_NODISCARD int gyre_view_publish(gyre_view_t *v, const struct gyre_stage *s,
                                              gyre_error_t *e);

/*
 * Frees what no reader can see any more, as publish does; *left (may be NULL) is how many replaced
 * stages are still looked at. For those who publish seldom and keep large maps. Errors: CONFLICT
 * (another thread is publishing right now). MT-safe.
 */
GYRE_API GYRE_NODISCARD int gyre_view_reclaim(gyre_view_t *v, size_t *left, gyre_error_t *e);

/* Frees the view, its seats and its references. No thread may be inside, enter or publish any more.
 * NULL is allowed. */
GYRE_API void gyre_view_free(gyre_view_t *v);

/* A seat for a thread; it takes one that was given back, or NOMEM. MT-safe, lock-free. */
GYRE_API GYRE_NODISCARD int gyre_reader_new(gyre_view_t *v, gyre_reader_t **out, gyre_error_t *e);

/* Gives the seat back, and leaves if need be; its memory goes with the view. NULL is allowed. One
 * at a time for a seat, as enter and leave; of different seats MT-safe. */
GYRE_API void gyre_reader_free(gyre_reader_t *r);

/*
 * The stage that serves now; valid, and unchanging, until the matching leave. Visits nest; the
 * inner one may see a newer stage. One at a time for a seat. Cost: a store and two loads, some 10
 * ns (the store is ordered before the load: that is what it costs).
 */
GYRE_API const struct gyre_stage *gyre_reader_enter(gyre_reader_t *r);

/* Ends the visit that was entered last. One at a time for a seat. Cost: a store. */
GYRE_API void gyre_reader_leave(gyre_reader_t *r);

/* ---- balance ---- */

/* How even it is. Only nodes of positive weight count, each by its share divided by its weight. */
struct gyre_balance {
    /* sizeof(struct gyre_balance), set by the caller; no more than that is written. */
    size_t size;
    /* Standard deviation / mean. 0.05 is even; above 0.20 deserves an alert. */
    double cv;
    /* What as many random points give on average. A node with k of P points owns a part that is
     * Beta(k, P - k): its mean is k / P, and sqrt((P - k) / (k (P + 1))) its own CV, so that equal
     * nodes make about 1/sqrt(points). That points are whole counts in too, which shows in nodes so
     * light that they have a few. 0 where nodes have no points: there shares are what the hash
     * gives, or turns; and of two levels, for which it is not computed.
     */
    double expected_cv;
    /* Largest / mean and smallest / mean. */
    double peak, least;
    /* How many nodes were counted. */
    uint32_t nodes;
};

/* Of a map's exact shares; all 0 if no node takes keys. Cost: linear in the nodes. */
GYRE_API void gyre_map_balance(const gyre_map_t *m, struct gyre_balance *out);

/*
 * The same for measured loads (keys, bytes, operations) of n nodes; weights may be NULL (all 1).
 * Entries of weight 0 or less are left out. expected_cv is 0. MT-safe. Cost: two passes.
 */
GYRE_API void gyre_balance_of(const double *loads, const double *weights, size_t n,
                              struct gyre_balance *out);

/*
 * How many `points` a unit of weight needs for an expected CV of at most cv: the least that will
 * do, up to the setting's limit of 100000; 0 if that is not enough, or cv not above 0. weights are
 * those of n nodes, NULL for all 1; drained ones are left out. Of one node or none: 1. MT-safe.
 * Cost: some 20 passes over the weights.
 */
GYRE_API uint32_t gyre_points_for(const double *weights, size_t n, double cv);

/* What a sample of keys says of a placement. */
struct gyre_evidence {
    /* sizeof(struct gyre_evidence), set by the caller; no more than that is written. */
    size_t size;
    /* How many keys. */
    uint64_t keys;
    /* Pearson's chi-square of the counts against the map's own shares, its degrees of freedom
     * (nodes that may expect fewer than 5 keys count together as one), and the probability that
     * keys which fall where the map says, each by itself, give as much or more. Below 0.001 chance
     * is no explanation: keys share hash tags, are listed several times, or are no fair sample. 1
     * where there is nothing to compare. */
    double chi_square;
    uint32_t degrees;
    double p;
    /* CV of keys / weight as gyre_balance_of gives it, and the interval in which the CV lies of all
     * keys that this is a random sample of: what chance adds to it is taken out again. */
    double cv, cv_low, cv_high;
};

/*
 * Judges counted keys: keys has an entry for each node of the map, confidence is that of the
 * interval, such as 0.95. The keys must be different ones. Errors: INVALID (size not set,
 * confidence not between 0 and 1). MT-safe. Cost: linear in the nodes.
 *
 * Sources: the interval inverts the non-central chi-square distribution (in the approximation of
 * Sankaran, "Approximations to the non-central chi-square distribution", Biometrika 50, 1963);
 * where weights differ, its scale and degrees of freedom are Satterthwaite's (Biometrics 2, 1946).
 */
GYRE_API GYRE_NODISCARD int gyre_map_judge(const gyre_map_t *m, const uint64_t *keys,
                                           double confidence, struct gyre_evidence *out);

/*
 * The share of all keys that a node has of which `hits` of `keys` sampled ones are: Wilson's score
 * interval ("Probable inference, the law of succession, and statistical inference", J. Am. Stat.
 * Assoc. 22, 1927). 0 to 1 without keys; more hits than keys count as all of them. confidence is
 * taken into 0.5 to 1 - 10^-12. MT-safe.
 */
GYRE_API void gyre_share_interval(uint64_t hits, uint64_t keys, double confidence, double *low,
                                  double *high);

/* ---- ranges: which stretches of the hash space a node holds, and who holds them too ---- */

/*
 * Where a key stands: its position on the ring (the first bits of its hash), or its slot where an
 * imitated system deals hash mod slots (some of `like`). The tables of `slots` and maglev are rings
 * in this: the position is that of the hash, 32 bits, and each slot is a stretch of them. false
 * where the placement knows neither (rendezvous, jump and others that give each key an order of
 * nodes of its own; modulo; two levels). MT-safe.
 */
GYRE_API bool gyre_map_position(const gyre_map_t *m, const void *key, size_t len, uint64_t *hi,
                                uint64_t *lo);

/* How many bits a position has, 1 to 128; 0 where gyre_map_position says false, and where positions
 * are slots. */
GYRE_API unsigned gyre_map_position_bits(const gyre_map_t *m);

/* How many slots there are; 0 where positions are not slots, so always without `like`: the slots of
 * the algorithms maglev and `slots` are what gyre_map_points counts. */
GYRE_API uint64_t gyre_map_slots(const gyre_map_t *m);

/*
 * Where a walk along the hash space stands. Zeroed it is at the begin: struct gyre_cursor c = {0}.
 * It belongs to the caller, who may copy it to come back later, and to one walk over one map or
 * diff; threads take a cursor each. Nothing has to be freed.
 */
struct gyre_cursor {
    uint64_t state[8];
};

/* A stretch of the hash space whose keys have the same nodes. */
struct gyre_range {
    /* sizeof(struct gyre_range), set by the caller; no more than that is written. */
    size_t size;
    /* First and last position, both in it. The first is above the last where the stretch goes over
     * the end of the ring; such a one comes last, and is the only one. */
    uint64_t first_hi, first_lo, last_hi, last_lo;
    /* Of the hash space. */
    double share;
    /* How many nodes hold it, and GYRE_REPLICAS_ flags. */
    size_t holders;
    unsigned flags;
};

/*
 * The next range of a map, with the nodes that gyre_map_replicas gives each key in it: holders has
 * room for `replicas` of them (1 to 64), the owner first. Neighbours with the same holders are one
 * range, so the ranges cover the hash space once. false at the end, and for maps that have no
 * ranges: those without positions, or where a node is chosen by more of a key than its position.
 * MT-safe. Cost: that of gyre_map_replicas without the hash, for each point.
 */
GYRE_API bool gyre_range_next(const gyre_map_t *m, size_t replicas, struct gyre_cursor *at,
                              struct gyre_range *out, uint32_t *holders);

/* Who holds what, of all nodes. Immutable; holds a reference to the map. */
typedef struct gyre_holdings gyre_holdings_t;

/* What one node holds. */
struct gyre_holding {
    /* sizeof(struct gyre_holding), set by the caller; no more than that is written. */
    size_t size;
    /* Shares of the hash space: whose first node it is, as gyre_map_share; that it holds, as the
     * first or a later replica; and of that, what nobody else holds, which is lost with it. */
    double owned, held, alone;
    /* How many ranges it holds; sampled: 0. */
    uint64_t ranges;
    /* How many other nodes hold a part of the same, and so can feed its replacement. */
    uint32_t feeders;
    /* What the busiest of them sends if each range comes from the holder that has the least to send
     * until then. largest / (held - alone) is the part of the time that feeding from one node alone
     * would take: 1 / feeders at best. */
    double largest;
};

/* One that can feed it: what of it the feeder holds, and what of that it sends. */
struct gyre_feed {
    uint32_t node;
    double holds, sends;
};

/*
 * Looks through all ranges of a map, each key on `replicas` nodes (1 to 64). Exact where
 * gyre_range_next has an answer; of other maps `samples` pseudo-random keys are looked at, always
 * the same ones, and a share p is off by about sqrt(p (1 - p) / samples). Errors: RANGE (replicas),
 * EMPTY (no node takes keys), UNSUPPORTED (the map has no ranges, and samples is 0), NOMEM.
 * MT-safe. Cost: that of gyre_range_next, and replicas^2 steps for each range; some 100 bytes for
 * each pair of nodes that hold a range together.
 */
GYRE_API GYRE_NODISCARD int gyre_holdings_build(gyre_map_t *m, size_t replicas, size_t samples,
                                                gyre_holdings_t **out, gyre_error_t *e);

/*
 * The same, and says how far it is: tell(ctx, done, total) in the calling thread, each time some
 * thousand ranges or samples more are done; done rises and is at most total. NULL: as above.
 */
typedef void gyre_tell_fn(void *ctx, uint64_t done, uint64_t total);
GYRE_API GYRE_NODISCARD int gyre_holdings_build_telling(gyre_map_t *m, size_t replicas,
                                                        size_t samples, gyre_tell_fn *tell,
                                                        void *ctx, gyre_holdings_t **out,
                                                        gyre_error_t *e);

/* Frees h and what was got from it; NULL is allowed. */
GYRE_API void gyre_holdings_free(gyre_holdings_t *h);

/* False: what is held was sampled. MT-safe, as what follows. */
GYRE_API bool gyre_holdings_exact(const gyre_holdings_t *h);

/* Errors: INVALID (size not set; no such node). MT-safe. */
GYRE_API GYRE_NODISCARD int gyre_holdings_node(const gyre_holdings_t *h, uint32_t node,
                                               struct gyre_holding *out);

/* Feeder k of a node, from 0: those that send most first, equal ones by name; NULL past the end.
 * MT-safe. */
GYRE_API const struct gyre_feed *gyre_holdings_feed(const gyre_holdings_t *h, uint32_t node,
                                                    size_t k);

/* ---- diff: what differs between two maps ---- */

/* Immutable; holds references to both maps. Everything below is MT-safe on it. */
typedef struct gyre_diff gyre_diff_t;

/* Keys that leave one node for another. */
struct gyre_flow {
    /* Names; live as long as the diff. */
    const char *from, *to;
    /* Of the hash space, above 0 to 1. */
    double share;
};

/* How the figures of a diff came about. */
enum gyre_basis {
    /* Of so many generated keys: a share p is off by about sqrt(p (1 - p) / samples). */
    GYRE_SAMPLED,
    /* Computed, for a hash of which every value is as likely as any other; as gyre_map_share is
     * where there is neither ring nor table. Of n keys about sqrt(n p (1 - p)) more or fewer than
     * n p are found, for the hash deals them by chance. */
    GYRE_EXPECTED,
    /* Counted over the whole hash space. */
    GYRE_EXACT
};

/*
 * Compares two maps by the names of their nodes: for each key its first node, the one that
 * gyre_map_locate answers. Copies beyond it (`replicas`) are not looked at; what they move,
 * gyre_map_replicas of both maps tells key by key. Two rings whose keys stand at the same positions
 * are exact (the points are merged in 128-bit integers; the tables of maglev and slots are rings in
 * this), and so are two modulos (residues are counted by the Chinese remainder theorem).
 *
 * Expected, to about the precision of a double: two rendezvous, whatever the weights (the least of
 * exponential variates before and after, integrated piece by piece); two dx of equal capacity and
 * heaviest; two jumps; two jumpbacks or whole mementos of which the smaller has at least as many
 * slots as the greatest power of two below those of the larger, so of any change of one node; two
 * mementos of one range, if one has given up what the other has, in the same order, and perhaps
 * more.
 *
 * All other pairs are judged by `samples` pseudo-random keys, always the same ones: of two
 * algorithms, two levels, two hashes; with `like` those that give a key's hash a bucket of N (jump,
 * guava, clickhouse, mcrouter, carbon-c-relay's jump_fnv1a_ch), and hash mod slots where the number
 * of slots differs (modula of libmemcached and twemproxy, nginx's plain, haproxy's map-based,
 * thanos' hashmod, kafka with a partition a node). gyre_diff_basis says which it was.
 *
 * Errors: EMPTY (no node takes keys in one of them); MISMATCH (hash_tag differs, so that only real
 * keys can tell; or only samples can, as above, and samples is 0); NOMEM. MT-safe. Cost: one pass
 * over the points of both rings, about 1 ns each where they agree and some 50 ns where they do not,
 * and a few 100 ns for each flow; modulo: up to N * M / gcd steps; expected: sorts the nodes. Of
 * rings all flows are listed, of the others the first 2^20 found.
 */
GYRE_API GYRE_NODISCARD int gyre_diff_build(gyre_map_t *from, gyre_map_t *to, size_t samples,
                                            gyre_diff_t **out, gyre_error_t *e);

/* Frees d and its flows; NULL is allowed. */
GYRE_API void gyre_diff_free(gyre_diff_t *d);

/* What moved is exact, expected or sampled. (The minimum is never sampled: it comes of the shares.)
 */
GYRE_API enum gyre_basis gyre_diff_basis(const gyre_diff_t *d);

/* Is it GYRE_EXACT? */
GYRE_API bool gyre_diff_exact(const gyre_diff_t *d);

/* Share of the keys whose node changes. */
GYRE_API double gyre_diff_moved(const gyre_diff_t *d);

/* The least any placement with these shares could move: what the nodes that shrink lose, in all. */
GYRE_API double gyre_diff_minimum(const gyre_diff_t *d);

/*
 * moved / minimum: 1 is perfect, and every change of one node of a ring reaches it exactly, as it
 * does where what is expected is computed. 1 too when nothing moves; infinity when keys move though
 * no share shrinks.
 */
GYRE_API double gyre_diff_ratio(const gyre_diff_t *d);

/* What hash mod N would move between the same two lists of nodes, weights left aside. Exact. */
GYRE_API double gyre_diff_modulo(const gyre_diff_t *d);

/* The flows, largest first, equal ones in the order of the names; NULL past the end. */
GYRE_API size_t gyre_diff_count(const gyre_diff_t *d);
GYRE_API const struct gyre_flow *gyre_diff_flow(const gyre_diff_t *d, size_t i);

/* A stretch of the hash space whose keys leave one node for another. */
struct gyre_arc {
    /* sizeof(struct gyre_arc), set by the caller; no more than that is written. */
    size_t size;
    /* First and last position, as in struct gyre_range. */
    uint64_t first_hi, first_lo, last_hi, last_lo;
    /* Of the hash space. */
    double share;
    /* Numbers of the nodes: in the old map, and in the new one. */
    uint32_t from, to;
};

/* Can what moves be walked arc by arc? So it is where the diff is exact and not of two modulos. */
GYRE_API bool gyre_diff_has_arcs(const gyre_diff_t *d);

/*
 * The next arc whose keys move, in the order of positions; false at the end, and where there are no
 * arcs. Neighbours that go the same way are one arc. Their shares make up gyre_diff_moved, and by
 * from and to the flows. MT-safe: threads take a cursor each. Cost: all of them together as much as
 * gyre_diff_build; nothing is kept, so a diff is small however much it moves.
 *
 *     struct gyre_cursor c = {{0}};
 *     struct gyre_arc a = {.size = sizeof a};
 *     while (gyre_diff_next(diff, &c, &a)) {
 *         copy(gyre_map_node(old, a.from), gyre_map_node(next, a.to), a.first_lo, a.last_lo);
 *     }
 */
GYRE_API bool gyre_diff_next(const gyre_diff_t *d, struct gyre_cursor *at, struct gyre_arc *out);

/* ---- plan: a change, and the topology it leads to ---- */

enum gyre_change_kind {
    GYRE_ADD,    /* node: all of it */
    GYRE_REMOVE, /* node: name */
    GYRE_WEIGHT, /* node: name, weight */
    GYRE_REPLACE /* node: name, address; moves no key of the map, only the machine */
};

struct gyre_change {
    /* sizeof(struct gyre_change) */
    size_t size;
    enum gyre_change_kind kind;
    /* What kind says; node.size is needed for GYRE_ADD. */
    struct gyre_node node;
};

/*
 * Applies n changes in order to a clone of t and raises its version by one; t is only read. All or
 * nothing. Errors: those of the gyre_topology_ function each change stands for; INVALID (size not
 * set, no such kind); RANGE (t's version is 2^63-1 or more: a topology file has none above); NOMEM.
 * MT-safe on a topology that nobody changes. Cost: that of cloning t.
 */
GYRE_API GYRE_NODISCARD int gyre_plan_apply(const gyre_topology_t *t,
                                            const struct gyre_change *changes, size_t n,
                                            gyre_topology_t **out, gyre_error_t *e);

/* ---- hot keys: the keys that come most, in fixed memory ---- */

/*
 * Counts keys with a fixed number of counters. For each key it shows, the truth lies within [count
 * - error, count]; a key it does not show came at most gyre_hot_floor() times, and that is at most
 * total / counters: with 1000 counters no key of more than a thousandth of the traffic is missed.
 * One sketch a thread, merged when somebody asks, keeps both promises for the whole.
 *
 * Two keys are one if their 128-bit XXH3 hashes are equal. That does not happen by chance; somebody
 * who chooses keys to that end can have two of his own counted as one.
 *
 * One at a time, all of them. Source: Metwally, Agrawal, El Abbadi, "Efficient computation of
 * frequent and top-k elements in data streams", ICDT 2005; merging: Agarwal et al., "Mergeable
 * summaries", PODS 2012.
 */
typedef struct gyre_hot gyre_hot_t;

struct gyre_hot_settings {
    /* sizeof(struct gyre_hot_settings) */
    size_t size;
    /* 1 to 2^24; some 70 bytes each, and key_bytes. */
    uint32_t counters;
    /* How much of a key is kept to be shown, up to 4096; 0 = 64. Keys are told apart by all of
     * their bytes whatever is kept. */
    uint32_t key_bytes;
    /* In the unit of gyre_hot_clock; 0 = nothing is ever forgotten. */
    uint64_t half_life;
};

/* Errors: INVALID (size not set), RANGE (counters, key_bytes), NOMEM. All memory is taken here. */
GYRE_API GYRE_NODISCARD int gyre_hot_new(const struct gyre_hot_settings *s, gyre_hot_t **out,
                                         gyre_error_t *e);
GYRE_API void gyre_hot_free(gyre_hot_t *h);

/* Forgets all keys; the clock stays. */
GYRE_API void gyre_hot_clear(gyre_hot_t *h);

/* The key came: weight is 1 for each time, or its bytes, or what it cost. Counts stop at 2^64 - 1.
 * Cost: a hash, and log2(counters) steps at worst. */
GYRE_API void gyre_hot_add(gyre_hot_t *h, const void *key, size_t len, uint64_t weight);

/*
 * Tells the time, in any unit that only grows. Until first told it is 0: tell it before counting,
 * or the first telling forgets, by halves, for all the time since 0. Each time it passes a multiple
 * of half_life, counts, errors and total are halved (rounded up), so that what comes now outweighs
 * what came long ago. Both promises then hold for the weighted counts, but for rounding in "total /
 * counters". Cost: nothing most of the time, else linear in the counters.
 */
GYRE_API void gyre_hot_clock(gyre_hot_t *h, uint64_t now);

struct gyre_hot_key {
    /* Its first `kept` bytes of len; valid until the sketch is next changed. */
    const void *key;
    size_t kept, len;
    uint64_t count, error;
};

/* The `want` most counted keys, most first, equal ones in an order of their own; returns how many.
 * Cost: sorts the counters. */
GYRE_API size_t gyre_hot_top(gyre_hot_t *h, struct gyre_hot_key *out, size_t want);

/* All that was added, and the most that a key which has no counter can have come. */
GYRE_API uint64_t gyre_hot_total(const gyre_hot_t *h);
GYRE_API uint64_t gyre_hot_floor(const gyre_hot_t *h);

/* Adds `from` to `into`; the one whose clock is behind is halved as its clock would have. Errors:
 * INVALID (the two are one), MISMATCH (made with different settings), NOMEM; nothing is changed
 * then. */
GYRE_API GYRE_NODISCARD int gyre_hot_merge(gyre_hot_t *into, const gyre_hot_t *from,
                                           gyre_error_t *e);

/* ---- load: what each node was given to do ---- */

/* Counters for the nodes of one map, which it holds a reference to. */
typedef struct gyre_load gyre_load_t;

enum gyre_load_kind { GYRE_LOAD_OPS, GYRE_LOAD_BYTES, GYRE_LOAD_KEYS };
#define GYRE_LOADS 3

/* half_life as for hot keys. Errors: NOMEM. */
GYRE_API GYRE_NODISCARD int gyre_load_new(gyre_map_t *m, uint64_t half_life, gyre_load_t **out,
                                          gyre_error_t *e);
GYRE_API void gyre_load_free(gyre_load_t *l);

/* MT-safe. A node or kind that there is not counts nothing. Above 2^64 - 1 a count begins again at
 * 0. Cost: an atomic addition; threads that count much fare better with a load each. */
GYRE_API void gyre_load_add(gyre_load_t *l, uint32_t node, enum gyre_load_kind kind,
                            uint64_t amount);

/* What was counted. MT-safe. */
GYRE_API uint64_t gyre_load_of(const gyre_load_t *l, uint32_t node, enum gyre_load_kind kind);

/* As gyre_hot_clock; halves are rounded down. MT-safe with counting; one at a time otherwise. */
GYRE_API void gyre_load_clock(gyre_load_t *l, uint64_t now);

/* Adds `from` to `into`. Errors: INVALID (the two are one), MISMATCH (another map or half-life). As
 * gyre_load_clock. */
GYRE_API GYRE_NODISCARD int gyre_load_merge(gyre_load_t *into, const gyre_load_t *from,
                                            gyre_error_t *e);

/* How evenly, each node by what it got over its weight. Errors: INVALID (no such kind; size not
 * set). As gyre_load_clock. Cost: linear in the nodes. */
GYRE_API GYRE_NODISCARD int gyre_load_balance(gyre_load_t *l, enum gyre_load_kind kind,
                                              struct gyre_balance *out);

/* ---- key recipes: the key of a request, for those who route URLs ---- */

/*
 * Says which parts of a request make its key, "host+path+query(sort,drop=utm_*)": so that what is
 * the same content goes to the same cache however its URL is written. docs/recipes.md has the rules
 * with examples. Immutable; MT-safe.
 *
 *     host                the name in lower case, without port and final dot
 *     host(port)          with the port as it was given
 *     path                as it is; "/" if empty
 *     query               as it is, without the '?'
 *       sort              by the parameters' names; those of one name keep their order
 *       drop=NAME         without that parameter; "utm_*" is every name that begins so
 *       keep=NAME         those only
 *     header(NAME)        its value, blanks around it removed; several joined by ", "; empty if
 *                         there is none
 *     (normal)            of path and query: %7e becomes '~' and %2f %2F (RFC 3986, 6.2.2); nothing
 *                         else is changed
 *
 * Parts stand in the order of the recipe with a line feed between them, also where they are empty.
 */
typedef struct gyre_recipe gyre_recipe_t;

/* Errors, with the column in the text, from 1: SYNTAX, UNKNOWN (no such word; the nearest is
 * named), INVALID (both drop and keep in one query), RANGE (more than 32 parts, 32 names or 1023
 * bytes), NOMEM. */
GYRE_API GYRE_NODISCARD int gyre_recipe_parse(const char *text, gyre_recipe_t **out,
                                              gyre_error_t *e);
GYRE_API void gyre_recipe_free(gyre_recipe_t *r);

/*
 * The name in the recipe's header(NAME) number i, from 0, and its length; it is no C string, and
 * lives as long as the recipe. NULL: no more. A request need have no other headers. MT-safe.
 */
GYRE_API const char *gyre_recipe_header(const gyre_recipe_t *r, size_t i, size_t *len);

struct gyre_header {
    const void *name;
    size_t name_len;
    const void *value;
    size_t value_len;
};

/* What came from the client, unchecked; pointers may be NULL where the length is 0. */
struct gyre_request {
    /* sizeof(struct gyre_request) */
    size_t size;
    const void *host;
    size_t host_len;
    const void *path;
    size_t path_len;
    /* Without its '?'. */
    const void *query;
    size_t query_len;
    const struct gyre_header *headers;
    size_t header_count;
};

/*
 * Writes the key of a request; *len is its length, also where room is too small for it. Errors:
 * INVALID (a line feed, carriage return or NUL in a part, which no request has; size not set),
 * RANGE (*len > room: too small; *len = 0: more than 256 parameters are left to sort or pick).
 * MT-safe; allocates nothing. Cost: linear in the request, and the square of the parameters where
 * they are to be sorted and are not.
 */
GYRE_API GYRE_NODISCARD int gyre_recipe_key(const gyre_recipe_t *r, const struct gyre_request *q,
                                            void *key, size_t room, size_t *len);

/*
 * Cuts a URL into the host, path and query of a request; they point into url. "https://", a
 * "user@" and a fragment are left away; none of them needs to be there: "host/path" and "/path"
 * will do. Headers stay as they are. Errors: INVALID as above. MT-safe.
 */
GYRE_API GYRE_NODISCARD int gyre_request_url(struct gyre_request *q, const void *url, size_t len);

/* ---- the hash functions, for those who build their own tables; all MT-safe ---- */

/* XXH3, 64 bits, seed 0 (xxHash 0.8). The hash of keys and of node names. */
GYRE_API uint64_t gyre_hash_xxh3(const void *data, size_t len);

/* RFC 1321. For compatibility; it protects nothing. */
GYRE_API void gyre_hash_md5(const void *data, size_t len, uint8_t digest[16]);

/* FIPS 180-4. */
GYRE_API void gyre_hash_sha256(const void *data, size_t len, uint8_t digest[32]);

/*
 * The known word nearest to a mistyped one, or NULL if none is near: at most a third of its letters
 * inserted, left out, replaced or swapped with a neighbour (Damerau-Levenshtein); case costs
 * nothing. known has n words; of equally near ones the first. Words above 64 bytes have no
 * neighbours. MT-safe.
 */
GYRE_API const char *gyre_nearest(const char *word, const char *const *known, size_t n);

#ifdef __cplusplus
}
#endif
#endif
