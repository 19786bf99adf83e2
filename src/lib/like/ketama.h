/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ketama.h - what the members of the ketama family share: a digest of "NAME-k" gives several
 * points, and how many digests a node gets depends on all nodes' weights, each program rounding in
 * its own way (whole digests move by it). Threads: any.
 */
#ifndef GY_LIB_LIKE_KETAMA_H
#define GY_LIB_LIKE_KETAMA_H

#include "lib/like/like.h"
#include "lib/like/points.h"

enum { GY_POINT_NAME = GY_NAME_MAX + 64 };

/* What stands before the "-k" of a point: the system's name for the node. */
struct gy_point_name {
    size_t len;
    char text[GY_POINT_NAME]; /* and room for the number */
};

/* Digests for a node of weight w among n nodes with weights of `total` in all; `unit` is digests a
 * node gets on average (40), where the program has it as a setting. */
typedef uint64_t gy_ketama_count(uint64_t w, uint64_t total, uint64_t n, uint64_t unit);
gy_ketama_count gy_ketama_libmemcached, gy_ketama_twemproxy, gy_ketama_libketama, gy_ketama_doubles,
    gy_ketama_whole;

typedef void gy_point_namer(const struct gy_like_job *job, uint32_t node,
                            struct gy_point_name *out);
gy_point_namer gy_ketama_plain_name; /* the node's name as it is */
/* The name, without ":PORT" at its end if it ends so. */
void gy_ketama_strip_port(struct gy_point_name *name, const char *port);

struct gy_ketama {
    gy_point_namer *name;
    gy_ketama_count *count;     /* NULL: counts is given */
    const uint64_t *counts;     /* of each of the job's list, instead of count */
    uint64_t unit;              /* for count */
    const struct gy_hash *hash; /* of at least 32 bits for each point of a digest */
    unsigned per_digest;  /* points: the digest's first 32 bits, the next, ... little-endian */
    const uint32_t *list; /* nodes in the order that decides ties; NULL: the job's */
    bool whole;           /* one point a digest: all of it, as it is, on a ring of so many bits */
};

/* Appends a separator and a number to the text, not to len; returns the length of all. */
size_t gy_point_name_number(struct gy_point_name *name, char separator, uint64_t k);

/* Makes the points and settles the map. */
int gy_ketama_build(const struct gy_like_job *job, const struct gy_ketama *k);

/* The sum of the list's weights, in whole numbers. */
uint64_t gy_like_total(const struct gy_like_job *job);

#endif
