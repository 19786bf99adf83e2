/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dealt.h - the ring of Envoy, which gRPC has too: a ring of a wished-for size is dealt to hosts by
 * weight, a running sum carrying the fractions from one to the next, so that their order counts.
 * Threads: any.
 */
#ifndef GY_LIB_LIKE_DEALT_H
#define GY_LIB_LIKE_DEALT_H

#include "lib/like/like.h"
#include "lib/like/points.h"

struct gy_dealt {
    uint32_t node;
    double weight; /* of 1 in all */
};

struct gy_dealt_ring {
    struct gy_dealt *host; /* in the order in which they are dealt to */
    uint32_t n;
    uint64_t least, most;                           /* sizes of the ring */
    uint64_t (*hash)(const void *text, size_t len); /* of KEY_NUMBER */
    uint64_t flip;                                  /* put over each point */
    size_t (*name)(const char *node, char *out);    /* KEY; NULL: the node's name */
};

enum { GY_DEALT_NAME = 64 }; /* bytes that `name` may add */

/* Each weight as a part of their sum, in doubles. */
void gy_dealt_normalize(const struct gy_like_job *job, struct gy_dealt *host, uint32_t n);
/* Makes the points; fini them also after a failure. */
int gy_dealt_points(const struct gy_like_job *job, const struct gy_dealt_ring *ring,
                    struct gy_points *points);

/* Java's text of an address; returns its length. */
size_t gy_grpc_java_name(const char *node, char *out);

#endif
