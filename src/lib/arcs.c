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

size_t gy_arc_first(const gyre_map_t *m)
{
    size_t i = 0;
    while (m->after && i < m->steps && m->place->position(m, i) == 0) {
        i++;
    }
    return i;
}

gy_u128 gy_arc_end(const gyre_map_t *m, size_t i)
{
    gy_u128 last = gy_map_last(m);
    if (i >= m->steps) {
        return last;
    }
    gy_u128 end = m->place->position(m, i) - (m->after ? 1 : 0);
    return end < last ? end : last; /* beyond it no key stands */
}

uint32_t gy_arc_node(const gyre_map_t *m, size_t i)
{
    return m->place->node(m, i < m->steps ? i : 0);
}

/* Only the last points can end there, so they are looked at from behind. */
uint32_t gy_map_last_owner(const gyre_map_t *m)
{
    gy_u128 last = gy_map_last(m);
    size_t i = m->steps;
    while (i > 0 && gy_arc_end(m, i - 1) == last) {
        i--;
    }
    return gy_arc_node(m, i);
}

void gy_map_measure(struct gyre_map *m)
{
    gy_u128 last = gy_map_last(m), start = 0;
    for (size_t i = gy_arc_first(m);; i++) {
        gy_u128 end = gy_arc_end(m, i);
        uint32_t node = gy_arc_node(m, i);
        if (end >= start) {
            m->owned[node] += end - start + 1;
            if (m->owned[node] == 0 || m->owned[node] > gy_ring_last(m->position_bits)) {
                m->whole = node;
            }
            start = end + 1;
        }
        if (end == last) {
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
