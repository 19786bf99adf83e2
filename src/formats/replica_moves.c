/* SPDX-License-Identifier: Apache-2.0 */
/* replica_moves.c - see replica_moves.h. */
#include "formats/replica_moves.h"
#include "formats/address.h"

#include <stdlib.h>

#define UNFIT (GY_STATE_DOWN | GY_STATE_HANDSHAKE | GY_STATE_NO_ADDRESS)

static bool same_host(const struct gy_server *a, const struct gy_server *b)
{
    return a->address && b->address &&
           gy_slice_eq(gy_address_host(a->address), gy_address_host(b->address));
}

unsigned gy_replica_cost(const struct gy_server *s, const struct gy_server *primary)
{
    bool zone = s->zone && primary->zone && strcmp(s->zone, primary->zone) == 0;
    return (same_host(s, primary) ? 2u : 0) + zone;
}

struct search {
    const struct gy_pool *p;
    const bool *takes;
    uint32_t *of, *followers; /* of each server */
    /* the best so far: replica a to the primary `to` (place + 1), and b, if any, to that of a */
    uint32_t a, b, to;
    unsigned relief;
};

enum { NOBODY = UINT32_MAX };

static bool moves(const struct search *s, uint32_t i)
{
    return s->of[i] && !(s->p->servers[i].states & UNFIT);
}

static unsigned cost(const struct search *s, uint32_t replica, uint32_t primary)
{
    return gy_replica_cost(&s->p->servers[replica], &s->p->servers[primary - 1]);
}

static void offer(struct search *s, unsigned before, unsigned after, uint32_t a, uint32_t b,
                  uint32_t to)
{
    if (before > after && before - after > s->relief) {
        s->relief = before - after;
        s->a = a;
        s->b = b;
        s->to = to;
    }
}

static void look_for(struct search *s, uint32_t a)
{
    unsigned now = cost(s, a, s->of[a]);
    for (uint32_t b = 0; b < s->p->server_count; b++) {
        if (b != a && moves(s, b) && s->of[b] != s->of[a] && s->takes[s->of[b] - 1] &&
            s->takes[s->of[a] - 1]) {
            offer(s, now + cost(s, b, s->of[b]), cost(s, a, s->of[b]) + cost(s, b, s->of[a]), a, b,
                  s->of[b]);
        }
    }
    uint32_t here = s->followers[s->of[a] - 1]; /* the last one stays */
    for (uint32_t m = 1; m <= s->p->server_count; m++) {
        if (here > 1 && s->takes[m - 1] && m != s->of[a] && m - 1 != a &&
            s->followers[m - 1] < here) {
            offer(s, now, cost(s, a, m), a, NOBODY, m);
        }
    }
}

static void count(struct search *s)
{
    memset(s->followers, 0, s->p->server_count * sizeof *s->followers);
    for (size_t i = 0; i < s->p->server_count; i++) {
        if (s->of[i]) {
            s->followers[s->of[i] - 1]++;
        }
    }
}

int gy_replica_moves(const struct gy_pool *p, const bool *takes, uint32_t *of)
{
    struct search s = {.p = p, .takes = takes, .of = of, .relief = 1};
    s.followers = calloc(p->server_count + 1, sizeof *s.followers);
    if (!s.followers) {
        return GYRE_NOMEM;
    }
    for (size_t turn = 0; s.relief && turn < p->server_count; turn++) {
        s.relief = 0;
        count(&s);
        for (uint32_t a = 0; a < p->server_count; a++) {
            if (moves(&s, a) && cost(&s, a, of[a])) {
                look_for(&s, a);
            }
        }
        if (s.relief && s.b != NOBODY) {
            of[s.b] = of[s.a];
        }
        if (s.relief) {
            of[s.a] = s.to;
        }
    }
    free(s.followers);
    return GYRE_OK;
}
