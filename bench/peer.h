/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h - what the ring is measured against: the searches of the C++ standard library over the
 * very same points.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct peer;

/* n points in ascending order of position. */
struct peer *peer_new(const uint32_t *position, const uint16_t *owner, size_t n);
void peer_free(struct peer *p);
/* std::lower_bound over an array of positions, owners beside it. */
void peer_lower_bound(const struct peer *p, const uint64_t *hashes, size_t n, uint32_t *out);
/* std::map<position, owner>::lower_bound, as most rings are written. */
void peer_map(const struct peer *p, const uint64_t *hashes, size_t n, uint32_t *out);
/* Hashes the same points, `points` to a node, and std::sorts them with their owners. */
void peer_build(const uint64_t *seeds, size_t nodes, unsigned points);

#ifdef __cplusplus
}
#endif
#endif
