/* SPDX-License-Identifier: Apache-2.0 */
/*
 * like.h - the seam for imitations of existing systems. A system is one constant struct gy_like:
 * its settings, its words for a node, and a build function that hashes keys as the system does
 * and puts points on a ring (points.h) or ranges into a table (ranges.h). Imitations answer for
 * the version their file names; docs/like.md tells how to add one. Threads: build one, the rest
 * any.
 */
#ifndef GY_LIB_LIKE_H
#define GY_LIB_LIKE_H

#include "lib/map.h"
#include "lib/settings.h"

/* A setting of one system: a row of GY_SETTINGS in this system's words. */
struct gy_like_setting {
    enum gy_setting id;
    enum gy_value_kind kind; /* WORD, NUMBER, TEXT or TAG */
    const char *fallback;    /* its default here, as text; "" = none, or decided by the build */
    const char *values;      /* words parted by |, least..most, or a remark; "|a|b" permits "" */
};

/* A word of a node's `options`: "down", or "id=7" where takes_value. */
struct gy_like_option {
    const char *word;
    bool takes_value;
};

/* What build gets: the nodes that are in the system's list (those not drained), in the order of
 * the topology. n may be 0: build has to set up the hashing all the same. */
struct gy_like_job {
    struct gyre_map *m;
    const struct gy_settings *s;
    const uint32_t *list; /* numbers of the nodes in m */
    uint32_t n;
    const uint32_t *all; /* the same with the drained ones: m->count of them */
    gyre_error_t *e;
};

struct gy_like {
    const char *name;
    const struct gy_like_setting *settings; /* ends at a NULL fallback; NULL = none */
    const struct gy_like_option *options;   /* ends at a NULL word; NULL = none */
    const char *tag; /* hash_tag in force where it is no setting of the system; NULL = "" */
    /* Sets m->hash and hash_bits (key_hash, key_part, key_rule, context if needed), then fills the
     * map by gy_points_settle or gy_ranges_settle. NULL for `sample`, which map.c builds. */
    int (*build)(const struct gy_like_job *job);
};

#define GY_LIKE_EXTERN(id, word, object) extern const struct gy_like gy_like_##object;
#include "lib/like/likes.h"
GY_LIKES(GY_LIKE_EXTERN)
#undef GY_LIKE_EXTERN

/* By value of the setting `like`; NULL for GY_LIKE_NOTHING. */
const struct gy_like *gy_like_of(uint64_t id);

/* The system's row for a setting, NULL if the system has no such setting. */
const struct gy_like_setting *gy_like_setting(const struct gy_like *like, enum gy_setting id);

/* UNKNOWN, or INVALID without `like`, for a word in a node's options that the system has not. */
int gy_like_check_nodes(const struct gyre_map *m, const struct gy_settings *s, gyre_error_t *e);
/* Builds m as the system that s names. */
int gy_like_build(struct gyre_map *m, const struct gy_settings *s, gyre_error_t *e);

/* ---- what builds read ---- */

/* The setting in force: its text; index of the word among the row's words; the number. */
const char *gy_like_text(const struct gy_like_job *job, enum gy_setting id);
unsigned gy_like_word(const struct gy_like_job *job, enum gy_setting id);
uint64_t gy_like_number(const struct gy_like_job *job, enum gy_setting id);

/* The value of an option of a node (not NUL-terminated), "" of length 0 for one without value;
 * NULL if the node has no such option. */
const char *gy_like_option(const struct gyre_node *node, const char *word, size_t *len);
/* The same for a whole number of at most `most`; *out stays if the option is not there. */
int gy_like_option_number(const struct gyre_node *node, const char *word, uint64_t most,
                          uint64_t *out, gyre_error_t *e);
bool gy_like_has(const struct gyre_node *node, const char *word);
/* At least as many as the `tokens` options of the placed nodes have, which are parted by commas. */
uint64_t gy_like_count_tokens(const struct gy_like_job *job);

/* RANGE or INVALID unless the weight of each node in the list is a whole number up to `most`. */
int gy_like_whole_weights(const struct gy_like_job *job, uint64_t most);
static inline uint64_t gy_like_weight(const struct gy_like_job *job, uint32_t node)
{
    return job->m->weight[node] / GY_WEIGHT_STEPS;
}

#endif
