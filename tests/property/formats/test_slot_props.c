/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_slot_props.c - slots of a Redis Cluster dealt anew: of small clusters every assignment there
 * is is tried, and none that largest remainder allows moves fewer slots, nor, where bytes are
 * known, fewer bytes. Whole clusters: the moves are the sum of what masters have too much, a
 * drained master keeps nothing, and the plan, written and read, is the cluster that was planned.
 */
#include "formats/format.h"
#include "formats/replica_moves.h"
#include "formats/slot_plan.h"
#include "lib/fleet_gen.h"

enum { MASTERS = 4, SLOTS = 6 };

/* ---- small ones, by brute force ---- */

struct small {
    uint64_t weight[MASTERS], size[SLOTS];
    uint32_t owner[SLOTS], to[SLOTS], n;
    bool sized;
};

static void gen_small(struct prop *p, struct small *s)
{
    uint64_t all = 0;
    *s = (struct small){.n = 1 + (uint32_t)prop_below(p, MASTERS), .sized = prop_below(p, 2)};
    for (uint32_t i = 0; i < s->n; i++) {
        all += s->weight[i] = 1000000 * prop_below(p, 4);
    }
    s->weight[0] += all ? 0 : 1000000;
    for (uint32_t i = 0; i < SLOTS; i++) {
        s->owner[i] = (uint32_t)prop_below(p, s->n);
        s->size[i] = prop_below(p, 50);
    }
}

static void count(const uint32_t *to, uint32_t have[MASTERS])
{
    memset(have, 0, MASTERS * sizeof *have);
    for (uint32_t i = 0; i < SLOTS; i++) {
        have[to[i]]++;
    }
}

/* Does largest remainder allow these counts? Said once more: nobody is a slot or more off, and
 * nobody was passed over for one whose rest is smaller. */
static bool allowed(const struct small *s, const uint32_t have[MASTERS])
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        all += s->weight[i];
    }
    for (uint32_t i = 0; i < s->n; i++) {
        uint64_t low = SLOTS * s->weight[i] / all, rest = SLOTS * s->weight[i] % all;
        if (have[i] < low || have[i] > low + 1 || (have[i] > low && rest == 0)) {
            return false;
        }
        for (uint32_t k = 0; k < s->n; k++) {
            uint64_t other = SLOTS * s->weight[k] / all;
            if (have[i] > low && have[k] == other && SLOTS * s->weight[k] % all > rest) {
                return false;
            }
        }
    }
    return true;
}

static uint32_t moved(const struct small *s, const uint32_t *to, uint64_t *bytes)
{
    uint32_t n = 0;
    *bytes = 0;
    for (uint32_t i = 0; i < SLOTS; i++) {
        n += to[i] != s->owner[i];
        *bytes += to[i] != s->owner[i] ? s->size[i] : 0;
    }
    return n;
}

static bool next(const struct small *s, uint32_t to[SLOTS])
{
    uint32_t i = 0;
    while (i < SLOTS && ++to[i] == s->n) {
        to[i++] = 0;
    }
    return i < SLOTS;
}

static bool none_moves_fewer(struct prop *p)
{
    struct small s;
    gen_small(p, &s);
    struct gy_deal d = {.n = s.n,
                        .weight = s.weight,
                        .owner = s.owner,
                        .slots = SLOTS,
                        .size = s.sized ? s.size : NULL};
    uint32_t have[MASTERS], ours[MASTERS], to[SLOTS] = {0};
    uint64_t bytes, least;
    must(gy_deal_slots(&d, s.to, NULL));
    count(s.to, ours);
    PROP(allowed(&s, ours));
    uint32_t n = moved(&s, s.to, &least);
    do {
        count(to, have);
        if (allowed(&s, have)) {
            uint32_t others = moved(&s, to, &bytes);
            PROP(others >= n);
            PROP(!s.sized || others > n || memcmp(have, ours, sizeof have) != 0 || bytes >= least);
        }
    } while (next(&s, to));
    return true;
}

/* ---- bytes ---- */

static double unevenness(const struct gy_deal *d, const uint32_t *owner)
{
    double all = 0, weights = 0, sum = 0;
    for (uint32_t slot = 0; slot < d->slots; slot++) {
        all += (double)d->size[slot];
    }
    for (uint32_t i = 0; i < d->n; i++) {
        weights += (double)d->weight[i];
    }
    for (uint32_t i = 0; i < d->n; i++) {
        double off = -all * (double)d->weight[i] / weights;
        for (uint32_t slot = 0; slot < d->slots; slot++) {
            off += owner[slot] == i ? (double)d->size[slot] : 0;
        }
        sum += d->weight[i] ? off * off : 0;
    }
    return sum;
}

/* Nobody is drained here, so that unevenness compares. */
static bool bytes_get_evener(struct prop *p)
{
    enum { N = 200, MOST = 8 };
    uint64_t weight[MOST], size[N];
    uint32_t owner[N], to[N], n = 2 + (uint32_t)prop_below(p, MOST - 1);
    bool drained = prop_below(p, 3) == 2, sparse = prop_below(p, 2);
    for (uint32_t i = 0; i < n; i++) {
        weight[i] = 1000000 + 1000000 * prop_below(p, 3);
    }
    weight[0] = drained ? 0 : weight[0];
    for (uint32_t i = 0; i < N; i++) {
        owner[i] = (uint32_t)prop_below(p, 1 + prop_below(p, n));
        size[i] = sparse && prop_below(p, 40) ? 0 : prop_size(p, 0, 100000);
    }
    struct gy_deal d = {
        .n = n, .weight = weight, .owner = owner, .slots = N, .size = size, .by_bytes = true};
    must(gy_deal_slots(&d, to, NULL));
    for (uint32_t i = 0; i < N; i++) {
        PROP(to[i] < n && weight[to[i]]);
    }
    PROP(drained || unevenness(&d, to) <= unevenness(&d, owner));
    /* Nothing is left to gain: no slot of the fullest would make it and the emptiest more alike. */
    memcpy(owner, to, sizeof owner);
    must(gy_deal_slots(&d, to, NULL));
    PROP(unevenness(&d, to) <= unevenness(&d, owner));
    return true;
}

/* ---- whole clusters ---- */

static gyre_topology_t *gen_cluster(struct prop *p, uint32_t n)
{
    gyre_topology_t *t = gyre_topology_new();
    struct gy_buf *slots = calloc(n, sizeof *slots);
    must(t && slots ? gyre_topology_set(t, "like", "redis-cluster", NULL) : GYRE_NOMEM);
    for (uint32_t slot = 0; slot < GY_REDIS_SLOTS;) {
        uint32_t last = slot + (uint32_t)prop_size(p, 1, 6000) - 1;
        struct gy_buf *of = &slots[prop_below(p, n)];
        last = last < GY_REDIS_SLOTS ? last : GY_REDIS_SLOTS - 1;
        gy_buf_printf(of, "%s%u-%u", gy_buf_size(of) ? "," : "slots=", slot, last);
        slot = last + 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        char name[40], zone[32];
        uint64_t kind = prop_below(p, 4);
        snprintf(name, sizeof name, "%s%u:7000",
                 kind == 1   ? "a b"
                 : kind == 2 ? "%"
                             : "10.0.0.",
                 i);
        gen_zone(p, zone);
        struct gyre_node node = {.size = sizeof node,
                                 .name = name,
                                 .weight = 1,
                                 .zone = *zone ? zone : NULL,
                                 .options = gy_buf_size(&slots[i]) ? gy_buf_cstr(&slots[i]) : NULL};
        must(gyre_topology_add(t, &node, NULL));
        gy_buf_fini(&slots[i]);
    }
    free(slots);
    return t;
}

static struct gy_pools *write_and_read(const gyre_topology_t *t, const struct gy_pools *from)
{
    const struct gy_format *f;
    struct gy_written w = {0};
    struct gy_source source = {.file = "f"};
    struct gy_pools *out;
    struct gy_to_write what = {.topology = t,
                               .from = from ? from->list[0] : NULL,
                               .from_format = from ? from->format : NULL};
    must(gy_format_find("redis-plan", &f, NULL));
    must(gy_format_write(f, &what, &w, NULL));
    must(gy_pools_parse((struct gy_slice){gy_buf_head(&w.text), gy_buf_size(&w.text)}, &source,
                        &out, NULL));
    gy_written_fini(&w);
    return out;
}

/* Another weight here, one that goes there, a new one. */
static gyre_topology_t *change(struct prop *p, const gyre_topology_t *t, uint64_t *weights)
{
    gyre_topology_t *next = gyre_topology_clone(t);
    size_t n = gyre_topology_count(t);
    must(next ? GYRE_OK : GYRE_NOMEM);
    if (n > 2 && prop_below(p, 3) == 2) {
        char name[64];
        snprintf(name, sizeof name, "%s", gyre_topology_node(t, n - 1)->name);
        must(gyre_topology_remove(next, name, NULL));
    }
    if (prop_below(p, 3) == 2) {
        struct gyre_node node = {.size = sizeof node, .name = "new:1", .weight = 2};
        must(gyre_topology_add(next, &node, NULL));
    }
    for (size_t i = 0; i < gyre_topology_count(next); i++) {
        double weight = i ? (double)prop_below(p, 4) : 1;
        must(gyre_topology_set_weight(next, gyre_topology_node(next, i)->name, weight, NULL));
        weights[i] = (uint64_t)weight * 1000000;
    }
    return next;
}

static bool plans_are_what_was_planned(struct prop *p)
{
    uint64_t weights[40];
    uint32_t n = 1 + (uint32_t)prop_size(p, 0, 30);
    gyre_topology_t *t = gen_cluster(p, n), *planned;
    struct gy_pools *old = write_and_read(t, NULL);
    gyre_topology_t *next = change(p, t, weights);
    struct gy_slot_plan plan = {.old = t, .next = next, .weights = weights};
    must(gy_slot_plan(&plan, &planned, NULL));
    struct gy_pools *back = write_and_read(planned, old);
    gyre_map_t *a = gen_map(t), *b = gen_map(planned),
               *c = gen_map(back->list[0]->config->topology);
    PROP(gyre_map_same(b, c));
    uint64_t moves = strtoull(gy_pool_fact_of(back->list[0], "moves"), NULL, 10), surplus = 0;
    for (uint32_t i = 0; i < gyre_map_count(a); i++) {
        uint32_t k = gyre_map_find(b, gyre_map_node(a, i)->name);
        double now = k == GYRE_NONE ? 0 : gyre_map_share(b, k), was = gyre_map_share(a, i);
        surplus += was > now ? (uint64_t)((was - now) * GY_REDIS_SLOTS + 0.5) : 0;
    }
    PROP(moves == surplus);
    for (uint32_t i = 0; i < gyre_map_count(b); i++) {
        PROP(gyre_map_node(b, i)->weight != 0 || gyre_map_share(b, i) == 0);
    }
    gyre_map_unref(a);
    gyre_map_unref(b);
    gyre_map_unref(c);
    gy_pools_free(old);
    gy_pools_free(back);
    gyre_topology_free(t);
    gyre_topology_free(next);
    gyre_topology_free(planned);
    return true;
}

/* ---- replicas ---- */

static bool replicas_only_get_better(struct prop *p)
{
    enum { HOSTS = 4, MOST = 24 };
    struct gy_server servers[MOST] = {{0}};
    char names[MOST][16], addresses[MOST][24], zones[MOST][8];
    uint32_t of[MOST], before[MOST], masters = 1 + (uint32_t)prop_below(p, 6);
    uint32_t n = masters + (uint32_t)prop_below(p, MOST - masters + 1);
    bool takes[MOST] = {false};
    uint32_t followers[2][MOST] = {{0}};
    unsigned cost[2] = {0};
    for (uint32_t i = 0; i < n; i++) {
        snprintf(names[i], sizeof names[i], "s%u", i);
        unsigned host = (unsigned)prop_below(p, HOSTS);
        snprintf(addresses[i], sizeof addresses[i], "10.0.0.%u:%u", host, 7000 + i);
        snprintf(zones[i], sizeof zones[i], "z%u", host / 2);
        servers[i] = (struct gy_server){.name = names[i], .address = addresses[i]};
        servers[i].zone = prop_below(p, 2) ? zones[i] : NULL;
        takes[i] = i < masters;
        of[i] = before[i] = i < masters ? 0 : 1 + (uint32_t)prop_below(p, masters);
    }
    struct gy_pool pool = {.servers = servers, .server_count = n};
    must(gy_replica_moves(&pool, takes, of));
    for (uint32_t i = 0; i < n; i++) {
        PROP(!of[i] == !before[i] && of[i] <= masters);
        for (int k = 0; k < 2 && of[i]; k++) {
            uint32_t at = (k ? of : before)[i] - 1;
            followers[k][at]++;
            cost[k] += gy_replica_cost(&servers[i], &servers[at]);
        }
    }
    PROP(cost[1] <= cost[0]);
    for (uint32_t i = 0; i < masters; i++) {
        PROP(!followers[0][i] || followers[1][i]);
    }
    return true;
}

int main(void)
{
    return prop_run("no other deal moves fewer", none_moves_fewer, 300) |
           prop_run("bytes get evener", bytes_get_evener, 100) |
           prop_run("plans are what was planned", plans_are_what_was_planned, 60) |
           prop_run("replicas only get better", replicas_only_get_better, 300);
}
