/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arcs.c - a ring as stretches of positions, the one form in which shares are measured and two
 * rings compared. A ring whose keys belong to the first point *after* them is the same ring with
 * each point one lower; a point at 0 then owns nothing but what wraps around to it. Threads: any.
 */
#include "lib/map.h"

gy_u128 gy_map_last(const gyre_map_t *m)
{
    return m->slots ? m->slots - 1 : gy_ring_last(m->position_bits);
}

/* Of a hash that counts from 0, the first 2^bits mod slots slots get one value more. */
gy_u128 gy_map_length(const gyre_map_t *m, gy_u128 first, gy_u128 last)
{
    if (!m->slots) {
        return last - first + 1;
    }
    gy_u128 all = (gy_u128)1 << (m->hash->bits < 64 ? m->hash->bits : 64), more = all % m->slots;
    gy_u128 end = last + 1 < more ? last + 1 : more;
    return all / m->slots * (last - first + 1) + (end > first ? end - first : 0);
}

double gy_map_fraction(const gyre_map_t *m, gy_u128 length)
{
    unsigned bits = m->hash->bits < 64 ? m->hash->bits : 64;
    return m->slots ? (double)length * gy_scale(bits) : gy_fraction(length, m->position_bits);
}

void gy_arcs_start(struct gy_arcs *a, const gyre_map_t *m)
{
    *a = (struct gy_arcs){.map = m};
    while (m->after && a->next < m->steps && m->place->position(m, a->next) == 0) {
        a->next++;
    }
    gy_arcs_next(a);
}

void gy_arcs_next(struct gy_arcs *a)
{
    const gyre_map_t *m = a->map;
    if (a->next < m->steps) {
        gy_u128 end = m->place->position(m, a->next) - (m->after ? 1 : 0), last = gy_map_last(m);
        a->end = end < last ? end : last; /* beyond it no key stands */
        a->node = m->place->node(m, a->next);
        a->next++;
    } else {
        a->end = gy_map_last(m);
        a->node = m->place->node(m, 0);
    }
}

void gy_map_measure(struct gyre_map *m)
{
    gy_u128 last = gy_ring_last(m->position_bits), start = 0;
    struct gy_arcs a;
    for (gy_arcs_start(&a, m);; gy_arcs_next(&a)) {
        if (a.end >= start) {
            m->owned[a.node] += a.end - start + 1;
            if (m->owned[a.node] == 0 || m->owned[a.node] > last) {
                m->whole = a.node;
            }
            start = a.end + 1;
        }
        if (a.end == last) {
            break;
        }
    }
}

bool gy_map_one_hash(const gyre_map_t *a, const gyre_map_t *b)
{
    return a->hash == b->hash && a->hash_bits == b->hash_bits && a->key_hash == b->key_hash &&
           a->key_part == b->key_part && a->key_rule == b->key_rule && a->tag[0] == b->tag[0] &&
           a->tag[1] == b->tag[1];
}

bool gy_map_one_kind(const gyre_map_t *a, const gyre_map_t *b)
{
    bool arcs = a->place->position && b->place->position && a->slots == b->slots &&
                a->position_bits == b->position_bits;
    bool residues = a->place->residues && b->place->residues;
    return gy_map_one_hash(a, b) && !a->by_key && !b->by_key && (arcs || residues);
}
