/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.cc - the peers of peer.h, as one would write them.
 */
#include "peer.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "lib/place/mix.h"

struct peer {
    std::vector<uint32_t> position;
    std::vector<uint16_t> owner;
    std::map<uint32_t, uint16_t> tree;
};

struct peer *peer_new(const uint32_t *position, const uint16_t *owner, size_t n)
{
    peer *p = new peer{{position, position + n}, {owner, owner + n}, {}};
    for (size_t i = 0; i < n; i++) {
        p->tree.emplace(position[i], owner[i]); /* the first of equals stays */
    }
    return p;
}

void peer_free(struct peer *p)
{
    delete p;
}

void peer_lower_bound(const struct peer *p, const uint64_t *hashes, size_t n, uint32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        auto at = std::lower_bound(p->position.begin(), p->position.end(),
                                   static_cast<uint32_t>(hashes[i] >> 32));
        size_t k = at == p->position.end() ? 0 : static_cast<size_t>(at - p->position.begin());
        out[i] = p->owner[k];
    }
}

void peer_map(const struct peer *p, const uint64_t *hashes, size_t n, uint32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        auto at = p->tree.lower_bound(static_cast<uint32_t>(hashes[i] >> 32));
        out[i] = (at == p->tree.end() ? p->tree.begin() : at)->second;
    }
}

void peer_build(const uint64_t *seeds, size_t nodes, unsigned points)
{
    std::vector<std::pair<uint32_t, uint16_t>> ring;
    ring.reserve(nodes * points);
    for (size_t k = 0; k < nodes; k++) {
        for (unsigned i = 0; i < points; i++) {
            ring.emplace_back(static_cast<uint32_t>(gy_stream(seeds[k], i) >> 32),
                              static_cast<uint16_t>(k));
        }
    }
    std::sort(ring.begin(), ring.end());
}
