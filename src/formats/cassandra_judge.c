/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cassandra_judge.c - which strategy a listing speaks of, and whether what it prints is true. A
 * listing names no keyspace; but the shares it prints ("Owns") add up to 100 % for each replica, by
 * datacenter with NetworkTopologyStrategy, so the factors are known, and a strategy that gives
 * those very shares is the one. Where none does, tokens and print contradict each other, and that
 * is told. See cassandra.h.
 */
#include "base/utf8.h"
#include "formats/cassandra.h"

#include <stdio.h>
#include <stdlib.h>

#define RF_MAX      64   /* replicas in all, of `like: cassandra` */
#define RF_TEXT_MAX 256  /* of the setting */
#define AGREE       0.01 /* shares are printed with one or two decimals, and computed in floats */
#define UNEVEN      1.5  /* times a fair share, for a note */
#define LISTED      32   /* nodes whose shares become facts */

enum printed {
    NO_OWNS,   /* "?", or sums that are no whole number of copies */
    PRIMARY,   /* one copy in all */
    EFFECTIVE, /* so many copies by datacenter */
};

struct judge {
    struct gy_cassandra *c;
    enum printed printed;
    double *held; /* of the node, by its place */
};

/* ---- what is printed ---- */

/* Whole copies, with room for the rounding of n printed shares; 0: they are none. */
static uint32_t copies(double sum, uint32_t n)
{
    double room = 0.02 + 0.0006 * n;
    uint32_t whole = sum < RF_MAX ? (uint32_t)(sum + 0.5) : 0;
    return sum - whole < room && whole - sum < room ? whole : 0;
}

static bool is_counted(const struct gy_cassandra_node *n)
{
    return !(n->states & GY_STATE_JOINING);
}

/* Sums by datacenter; false where a share is not known. */
static bool add_up(struct gy_cassandra *c, double *all)
{
    bool known = true;
    for (uint32_t i = 0; i < c->node_count; i++) {
        double share = 0;
        if (is_counted(&c->nodes[i])) {
            known =
                gy_cassandra_share(c->nodes[i].owns, &share) && !c->nodes[i].owns_differ && known;
            c->dcs[c->nodes[i].dc].owns += share;
            *all += share;
        }
    }
    return known;
}

static enum printed what_is_printed(struct gy_cassandra *c)
{
    double all = 0;
    if (!add_up(c, &all)) {
        return NO_OWNS;
    }
    if (copies(all, c->node_count) == 1) {
        return PRIMARY;
    }
    for (uint32_t i = 0; i < c->dc_count; i++) {
        uint32_t rf = copies(c->dcs[i].owns, c->dcs[i].nodes);
        if (rf == 0 && c->dcs[i].owns > 0.02) {
            return NO_OWNS;
        }
        c->dcs[i].rf = rf;
    }
    return EFFECTIVE;
}

/* ---- strategies ---- */

static uint32_t factors(const struct gy_cassandra *c)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < c->dc_count; i++) {
        all += c->dcs[i].rf;
    }
    return all;
}

/* "dc1:3,dc2:2"; false where the setting has no room or no words for it. */
static bool rf_text(const struct gy_cassandra *c, char out[RF_TEXT_MAX])
{
    size_t w = 0;
    for (uint32_t i = 0; i < c->dc_count; i++) {
        struct gy_slice name = c->dcs[i].name;
        if (memchr(name.p, ':', name.n) || memchr(name.p, ',', name.n) ||
            memchr(name.p, '/', name.n) || name.n > RF_TEXT_MAX / 2) {
            return false;
        }
        w += (size_t)snprintf(out + w, RF_TEXT_MAX - w, "%s%.*s:%u", i ? "," : "", (int)name.n,
                              name.p, c->dcs[i].rf);
        if (w >= RF_TEXT_MAX) {
            return false;
        }
    }
    return factors(c) > 0 && factors(c) <= RF_MAX;
}

static int set(struct gy_cassandra *c, const char *key, const char *value)
{
    return gy_read_set(c->r, c->p, (struct gy_mark){1, 1}, key, value);
}

static int set_strategy(struct gy_cassandra *c, bool network, const char *rf, uint32_t replicas)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%u", replicas < 1 ? 1 : replicas < RF_MAX ? replicas : RF_MAX);
    int rc = set(c, "distribution", network ? "NetworkTopologyStrategy" : "SimpleStrategy");
    rc = rc ? rc : set(c, "rf", network ? rf : "");
    return rc ? rc : set(c, "replicas", digits);
}

/* Shares under the strategy that is set: of the first copy, or of all. False: not to be had. */
static int measure(struct judge *j, size_t replicas, bool *known)
{
    struct gy_cassandra *c = j->c;
    gyre_map_t *map = NULL;
    gyre_holdings_t *h = NULL;
    *known = false;
    int rc = gyre_map_build(c->p->config->topology, &map, NULL);
    rc = rc ? rc : gyre_holdings_build(map, replicas, 0, &h, NULL);
    for (uint32_t i = 0; i < c->node_count && !rc; i++) { /* servers stand in the same order */
        struct gyre_holding of = {.size = sizeof of};
        rc = gyre_holdings_node(h, gyre_map_find(map, c->p->servers[i].name), &of);
        j->held[i] = of.held;
        *known = !rc;
    }
    gyre_holdings_free(h);
    gyre_map_unref(map);
    return rc == GYRE_NOMEM ? gy_read_nomem(c->r) : GYRE_OK;
}

/* The node whose printed share is farthest off, or node_count where all agree. */
static uint32_t worst(const struct judge *j)
{
    const struct gy_cassandra *c = j->c;
    uint32_t at = c->node_count;
    double far = AGREE;
    for (uint32_t i = 0; i < c->node_count; i++) {
        double share, off;
        if (is_counted(&c->nodes[i]) && gy_cassandra_share(c->nodes[i].owns, &share)) {
            off = share > j->held[i] ? share - j->held[i] : j->held[i] - share;
            at = off > far ? i : at;
            far = off > far ? off : far;
        }
    }
    return at;
}

static int note_contradiction(struct judge *j, uint32_t at, uint32_t copies_all)
{
    const struct gy_cassandra_node *n = &j->c->nodes[at];
    char q[GY_QUOTE];
    return gy_read_note(j->c->r, j->c->p, GY_LEVEL_WARNING, "owns-contradict-tokens", n->at,
                        "%s owns %.*s by what is printed, but %.2f%% by its tokens (%u %s, %s): "
                        "one of them is not this ring's",
                        gy_utf8_quote(q, n->name), (int)n->owns.n, n->owns.p, 100 * j->held[at],
                        copies_all, copies_all == 1 ? "copy" : "copies",
                        gyre_topology_get(j->c->p->config->topology, "distribution"));
}

/* ---- facts ---- */

static int tell_shares(struct judge *j, const char *key)
{
    struct gy_cassandra *c = j->c;
    struct gy_buf text = {0};
    for (uint32_t i = 0; i < c->node_count; i++) {
        const struct gy_slice name = c->nodes[i].name;
        gy_buf_puts(&text, i ? ", " : "");
        gy_buf_add(&text, name.p, name.n);
        gy_buf_printf(&text, " %.2f%%", 100 * j->held[i]);
    }
    int rc =
        text.failed ? gy_read_nomem(c->r) : gy_read_fact(c->r, c->p, key, "%s", gy_buf_cstr(&text));
    gy_buf_fini(&text);
    return rc;
}

/* A ring that is even as a whole need not be so in one datacenter, which is what counts there. */
static int note_uneven(struct judge *j)
{
    struct gy_cassandra *c = j->c;
    uint32_t at = c->node_count;
    double far = UNEVEN;
    for (uint32_t i = 0; i < c->node_count; i++) {
        double times = j->held[i] * c->dcs[c->nodes[i].dc].nodes;
        at = times > far ? i : at;
        far = times > far ? times : far;
    }
    if (at == c->node_count) {
        return GYRE_OK;
    }
    char q[2][GY_QUOTE];
    const struct gy_cassandra_dc *dc = &c->dcs[c->nodes[at].dc];
    return gy_read_note(c->r, c->p, GY_LEVEL_WARNING, "datacenter-uneven", c->nodes[at].at,
                        "%s owns %.2f%% of its datacenter %s, where %.2f%% would be even: tokens "
                        "are to be balanced inside each datacenter, not around the whole ring",
                        gy_utf8_quote(q[0], c->nodes[at].name), 100 * j->held[at],
                        gy_utf8_quote(q[1], dc->name), 100.0 / dc->nodes);
}

/* One copy in each datacenter: what a node holds is its share of its own. */
static int tell_datacenters(struct judge *j)
{
    struct gy_cassandra *c = j->c;
    char rf[RF_TEXT_MAX];
    uint32_t kept[GY_CASSANDRA_DCS];
    bool known = false;
    for (uint32_t i = 0; i < c->dc_count; i++) {
        kept[i] = c->dcs[i].rf;
        c->dcs[i].rf = 1;
    }
    int rc = GYRE_OK;
    if (rf_text(c, rf)) {
        rc = set_strategy(c, true, rf, c->dc_count);
        rc = rc ? rc : measure(j, c->dc_count, &known);
    }
    if (!rc && known && c->node_count <= LISTED) {
        rc = tell_shares(j, "share_of_datacenter");
    }
    rc = rc || !known ? rc : note_uneven(j);
    for (uint32_t i = 0; i < c->dc_count; i++) {
        c->dcs[i].rf = kept[i];
    }
    return rc;
}

static int tell_counts(struct gy_cassandra *c)
{
    int rc = gy_read_fact(c->r, c->p, "datacenters", "%u", c->dc_count);
    return rc || !c->token_count ? rc : gy_read_fact(c->r, c->p, "tokens", "%u", c->token_count);
}

/* ---- the choice ---- */

static bool by_racks(const struct gy_cassandra *c)
{
    for (uint32_t i = 0; i < c->dc_count; i++) {
        if (c->dcs[i].racks > 1) {
            return true;
        }
    }
    return c->dc_count > 1;
}

/* By datacenter and rack does not give what is printed; if around the ring does, *at says so, and
 * otherwise the first stays. */
static int try_simple(struct judge *j, const char *rf, uint32_t all, uint32_t *at)
{
    bool known = false;
    int rc = set_strategy(j->c, false, "", all);
    rc = rc ? rc : measure(j, all, &known);
    if (!rc && known && worst(j) == j->c->node_count) {
        *at = j->c->node_count;
        return GYRE_OK;
    }
    rc = rc ? rc : set_strategy(j->c, true, rf, all);
    return rc ? rc : measure(j, all, &known);
}

/* With the factors set (told: they are not assumed): by datacenter and rack, or else around the
 * ring, if that is what is printed. */
static int choose_known(struct judge *j, bool compare, bool told)
{
    struct gy_cassandra *c = j->c;
    char rf[RF_TEXT_MAX] = "";
    bool network = by_racks(c) && rf_text(c, rf), known = false;
    uint32_t all = factors(c), at = c->node_count;
    int rc = set_strategy(c, network, rf, all);
    if (!rc && c->node_count <= GY_CASSANDRA_JUDGED && all <= RF_MAX) {
        rc = measure(j, all, &known);
    }
    if (rc || !known) {
        return rc;
    }
    at = compare ? worst(j) : at;
    if (at < c->node_count && network) {
        rc = try_simple(j, rf, all, &at);
    }
    if (!rc && at < c->node_count) {
        rc = note_contradiction(j, at, all);
    }
    bool tell = told && all > 1 && c->node_count <= LISTED;
    return rc || !tell ? rc : tell_shares(j, "effective_share");
}

/* What is printed is the first copy only, and one for all strategies. */
static int compare_primary(struct judge *j)
{
    struct gy_cassandra *c = j->c;
    bool known = false;
    int rc = set_strategy(c, false, "", 1);
    if (!rc && c->node_count <= GY_CASSANDRA_JUDGED) {
        rc = measure(j, 1, &known);
    }
    uint32_t at = !rc && known ? worst(j) : c->node_count;
    return at < c->node_count ? note_contradiction(j, at, 1) : rc;
}

static int choose(struct judge *j)
{
    struct gy_cassandra *c = j->c;
    bool known = c->exact_rf || j->printed == EFFECTIVE;
    int rc = GYRE_OK;
    if (j->printed == PRIMARY) {
        rc = compare_primary(j);
    }
    for (uint32_t i = 0; i < c->dc_count && !known; i++) {
        c->dcs[i].rf = c->replicas ? c->replicas : 1;
    }
    rc = rc ? rc : choose_known(j, j->printed == EFFECTIVE, known || c->replicas);
    if (!rc && (known || c->replicas)) {
        char rf[RF_TEXT_MAX] = "";
        rc = rf_text(c, rf) ? gy_read_fact(c->r, c->p, "replication_factor", "%s", rf) : GYRE_OK;
    }
    if (!rc && by_racks(c)) {
        rc = gy_read_note(c->r, c->p, GY_LEVEL_NOTE, "strategy-assumed", (struct gy_mark){0, 0},
                          "the listing names no keyspace: %s with %u %s is assumed",
                          gyre_topology_get(c->p->config->topology, "distribution"), factors(c),
                          factors(c) == 1 ? "copy" : "copies");
    }
    return rc;
}

static int note_states(struct gy_cassandra *c)
{
    int rc = GYRE_OK;
    for (uint32_t i = 0; i < c->node_count && !rc; i++) {
        const struct gy_cassandra_node *n = &c->nodes[i];
        char q[GY_QUOTE];
        if (n->states & GY_STATE_DOWN && n->token_count) {
            rc = gy_read_note(c->r, c->p, GY_LEVEL_WARNING, "owner-down", n->at,
                              "%s is down and still owns %u token%s", gy_utf8_quote(q, n->name),
                              n->token_count, n->token_count == 1 ? "" : "s");
        } else if (n->states & GY_STATE_JOINING && n->token_count) {
            rc = gy_read_note(c->r, c->p, GY_LEVEL_NOTE, "joining", n->at,
                              "%s joins: until then it serves nothing, so it has weight 0 here; "
                              "with weight 1 it takes the keys of its tokens",
                              gy_utf8_quote(q, n->name));
        }
    }
    return rc;
}

static int note_sums(struct judge *j)
{
    double all = 0;
    for (uint32_t i = 0; i < j->c->dc_count; i++) {
        all += j->c->dcs[i].owns;
    }
    return j->printed != NO_OWNS || all <= 0
               ? GYRE_OK
               : gy_read_note(j->c->r, j->c->p, GY_LEVEL_NOTE, "owns-incomplete", j->c->nodes[0].at,
                              "the printed shares add up to %.1f%%, no whole number of copies: "
                              "they are not compared with the tokens",
                              100 * all);
}

int gy_cassandra_judge(struct gy_cassandra *c)
{
    struct judge j = {.c = c, .held = calloc(c->node_count, sizeof(double))};
    int rc = j.held ? tell_counts(c) : gy_read_nomem(c->r);
    j.printed = c->exact_rf ? NO_OWNS : what_is_printed(c);
    if (!rc && c->token_count) {
        rc = note_sums(&j);
        if (!rc && c->dc_count > 1 && c->node_count <= GY_CASSANDRA_JUDGED) {
            rc = tell_datacenters(&j);
        }
        rc = rc ? rc : choose(&j);
    }
    rc = rc ? rc : note_states(c);
    free(j.held);
    return rc;
}
