/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maglev.c - Maglev's lookup table (Eisenbud et al., "Maglev: a fast and reliable software network
 * load balancer", NSDI 2016, section 3.4). Every node has a permutation of the M slots; in turn,
 * each takes the next free slot of its own. Weights are turns: a node of half the weight of the
 * heaviest has one in every other round.
 *
 * Cost: one table load a key; building takes about M ln M steps of the permutations,
 * and a round for each slot of the heaviest node. Memory: 2
 * bytes a slot, and while building 24 bytes a node.
 * Guaranteed: shares within one slot of each other where weights are equal; every node has at
 * least one slot; no history; diffs and shares are exact.
 * Bounded: with 300 slots a node, a change that leaves the heaviest weight as it is moves at most
 * 0.03 of the keys beyond the minimum (0.012 was the most in 3677 random changes).
 * Not: minimal moves. Taking one node away also moves slots between the others. Moved / minimum is
 * 1.02 with 10 nodes, 1.6 with 100 and 7 with 1000 in 65537 slots, and 1.01, 1.1 and 4.4 in 655373:
 * give a node a thousand slots or more. Changing the heaviest weight re-times every turn.
 * Threads: immutable once built.
 */
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/place/lut.h"
#include "lib/place/mix.h"

#define WORK_MAX ((uint64_t)1 << 33) /* steps a build may take: some seconds */
#define FREE     UINT16_MAX          /* no node has that number: a map has at most 65535 */

/* A node's way through the slots, and its claim to turns. */
struct turn {
    uint32_t at, skip;
    int64_t due; /* above 0: it takes a turn in this round */
    int64_t weight;
};

static bool is_prime(uint32_t n)
{
    if (n < 4 || n % 2 == 0) {
        return n == 2 || n == 3;
    }
    for (uint32_t d = 3; (uint64_t)d * d <= n; d += 2) {
        if (n % d == 0) {
            return false;
        }
    }
    return true;
}

/* Only with a prime does each skip lead through all slots. */
static int check_table(const gyre_map_t *m, gyre_error_t *e)
{
    uint32_t next = m->table;
    while (!is_prime(next)) {
        next++;
    }
    return next == m->table ? GYRE_OK
                            : gy_fail(e, GYRE_INVALID,
                                      "table: maglev needs a prime number, and %u is none; the "
                                      "next one is %u",
                                      m->table, next);
}

/* The heaviest node has a turn in each round, and each round looks at every node. */
static int check_work(const gyre_map_t *m, gyre_error_t *e)
{
    uint64_t heaviest = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        heaviest = m->weight[i] > heaviest ? m->weight[i] : heaviest;
    }
    uint64_t rounds = (uint64_t)((gy_u128)m->table * heaviest / m->heavy);
    if (rounds * m->count > WORK_MAX) {
        return gy_fail(e, GYRE_RANGE,
                       "maglev: %u slots among %u nodes of so unlike weights would take minutes; "
                       "lower `table`",
                       m->table, m->count);
    }
    return GYRE_OK;
}

static void take(struct turn *t, uint32_t table, uint16_t *owner, uint16_t node)
{
    while (owner[t->at] != FREE) {
        t->at += t->skip;
        t->at -= t->at >= table ? table : 0;
    }
    owner[t->at] = node;
}

static void fill(const struct gyre_map *m, struct turn *turns, uint16_t *owner)
{
    int64_t heaviest = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        uint64_t seed = gyre_hash_xxh3(m->nodes[i].name, strlen(m->nodes[i].name));
        turns[i] = (struct turn){.at = (uint32_t)(gy_stream(seed, 0) % m->table),
                                 .skip = (uint32_t)(gy_stream(seed, 1) % (m->table - 1)) + 1,
                                 .weight = (int64_t)m->weight[i]};
        heaviest = turns[i].weight > heaviest ? turns[i].weight : heaviest;
    }
    memset(owner, UINT8_MAX, m->table * sizeof *owner);
    for (uint32_t taken = 0, i = 0; taken < m->table; i = i + 1 == m->count ? 0 : i + 1) {
        turns[i].due += turns[i].weight;
        if (turns[i].due > 0) {
            turns[i].due -= heaviest;
            take(&turns[i], m->table, owner, (uint16_t)i);
            taken++;
        }
    }
}

static int maglev_build(struct gyre_map *m, const void *rule, gyre_error_t *e)
{
    (void)rule;
    int err = check_table(m, e);
    err = err ? err : check_work(m, e);
    err = err ? err : gy_lut_init(m, e);
    if (err) {
        return err;
    }
    struct turn *turns = gy_mem_alloc(m->count, sizeof *turns);
    if (!turns) {
        return gy_fail_nomem(e);
    }
    fill(m, turns, m->data);
    gy_mem_free(turns);
    gy_lut_done(m);
    return GYRE_OK;
}

const struct gy_place gy_place_maglev = {
    .name = "maglev",
    .ring = true,
    .build = maglev_build,
    .explain = gy_lut_explain,
    .fini = gy_lut_fini,
    .locate = gy_lut_locate,
    .locate_batch = gy_lut_locate_batch,
    .first = gy_lut_first,
    .node = gy_lut_node,
    .position = gy_lut_position,
};
