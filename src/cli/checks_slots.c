/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checks_slots.c - the checks on slots of a Redis Cluster: gaps, open slots, drains, evenness. One
 * file is the view of one node, and only of itself does a node tell its open slots; the other end
 * of a move is known from who owns the slot. Threads: any.
 */
#include "cli/checks.h"
#include "formats/redis_slots.h"
#include "gyre.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LEFTOVER   0.01 /* of a fair share: what a drain that rounds leaves behind */
#define THRESHOLD  0.02 /* of a fair share: redis-cli --cluster rebalance does nothing below */
#define OPEN_SHOWN 3    /* of a server */

void gy_check_gaps(const struct gy_check *self, const struct gy_patient *p, struct gy_findings *out)
{
    const char *missing = gy_pool_fact_of(p->pool, "slots_missing");
    const char *covered = gy_pool_fact_of(p->pool, "slots_covered");
    if (!missing || !*missing || !covered) {
        return;
    }
    unsigned long have = strtoul(covered, NULL, 10);
    gy_found(out, self, self->severity, "%lu of %u slots have no owner: %s", GY_REDIS_SLOTS - have,
             GY_REDIS_SLOTS, missing);
}

/* ---- open slots ---- */

static bool owns(const struct gy_server *s, uint32_t slot)
{
    struct gy_slice rest = gy_str(s->slots && s->owned ? s->owned : "");
    while (rest.n) {
        const uint8_t *comma = memchr(rest.p, ',', rest.n);
        size_t n = comma ? (size_t)(comma - rest.p) : rest.n;
        uint32_t first, last;
        if (gy_redis_range((struct gy_slice){rest.p, n}, &first, &last) && slot >= first &&
            slot <= last) {
            return true;
        }
        n += comma ? 1 : 0;
        rest = (struct gy_slice){rest.p + n, rest.n - n};
    }
    return false;
}

/* The giver owns the slot until the end; the taker is somebody who is here. */
static bool is_stray(const struct gy_pool *p, const struct gy_server *s, const struct gy_open *o)
{
    const struct gy_server *peer = gy_pool_find_id(p, o->peer);
    const struct gy_server *giver = o->importing ? peer : s;
    return !peer || !owns(giver, o->slot);
}

/* "100 to b, 101 to b, ..." of s; those that are strays, or those that are not. */
static size_t list_open(const struct gy_pool *p, const struct gy_server *s, bool stray,
                        struct gy_buf *text)
{
    size_t n = 0;
    for (size_t i = 0; i < s->open_count; i++) {
        const struct gy_open *o = &s->open[i];
        if (is_stray(p, s, o) != stray) {
            continue;
        }
        const struct gy_server *peer = gy_pool_find_id(p, o->peer);
        if (n++ < OPEN_SHOWN) {
            gy_buf_printf(text, "%s%u %s %s", n > 1 ? ", " : "", o->slot,
                          o->importing ? "from" : "to", peer ? peer->name : o->peer);
        }
    }
    gy_buf_puts(text, n > OPEN_SHOWN ? ", ..." : "");
    return n;
}

static void look_open(const struct gy_check *self, const struct gy_patient *p, bool stray,
                      struct gy_findings *out)
{
    for (size_t i = 0; i < p->pool->server_count; i++) {
        const struct gy_server *s = &p->pool->servers[i];
        struct gy_buf text = {0};
        size_t n = list_open(p->pool, s, stray, &text);
        if (n) {
            struct gy_finding *f =
                gy_found(out, self, self->severity, "%s has %zu open slot%s%s: %s", s->name, n,
                         n == 1 ? "" : "s", stray ? " whose giver does not own them" : "",
                         gy_buf_cstr(&text));
            gy_found_server(out, f, p->pool, s);
        }
        out->failed |= text.failed;
        gy_buf_fini(&text);
    }
}

void gy_check_open(const struct gy_check *self, const struct gy_patient *p, struct gy_findings *out)
{
    look_open(self, p, false, out);
}

void gy_check_stray(const struct gy_check *self, const struct gy_patient *p,
                    struct gy_findings *out)
{
    look_open(self, p, true, out);
}

/* ---- evenness ---- */

bool gy_is_leftover(const struct gy_patient *p, const struct gy_server *s)
{
    return gy_server_serves(s) && s->slots &&
           (double)s->slots * p->masters < LEFTOVER * (double)p->slots;
}

bool gy_is_empty(const struct gy_patient *p, const struct gy_server *s)
{
    return gy_pool_fact_of(p->pool, "slots_covered") && gy_server_serves(s) && !s->slots;
}

static int fullest_first(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x > y ? -1 : x < y;
}

/* Largest remainder: the fullest keep the slots that do not divide, so the fewest move. */
void gy_check_uneven(const struct gy_check *self, const struct gy_patient *p,
                     struct gy_findings *out)
{
    uint32_t *have = calloc((size_t)p->masters + 1, sizeof *have), n = 0;
    if (!have) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < p->pool->server_count; i++) {
        const struct gy_server *s = &p->pool->servers[i];
        if (gy_server_serves(s) && s->slots && !gy_is_leftover(p, s)) {
            have[n++] = s->slots;
        }
    }
    qsort(have, n, sizeof *have, fullest_first);
    uint64_t moves = 0;
    double fair = n ? (double)p->slots / n : 0, squares = 0, worst = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t target = p->slots / n + (i < p->slots % n);
        double off = fabs(have[i] - fair);
        moves += have[i] > target ? have[i] - target : 0;
        squares += off * off;
        worst = off > worst ? off : worst;
    }
    if (moves) {
        gy_found(out, self, worst > THRESHOLD * fair ? self->severity : GY_FOUND_NOTE,
                 "%u masters have %u to %u slots, CV %.4f; to be even, %llu slot%s must move", n,
                 have[n - 1], have[0], sqrt(squares / n) / fair, (unsigned long long)moves,
                 moves == 1 ? "" : "s");
    }
    free(have);
}
