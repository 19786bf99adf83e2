/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cassandra_status.c - what nodetool status prints, from 1.2 on: a table for each datacenter,
 *
 *   --  Address  Load  Tokens  Owns (effective)  Host ID  Rack
 *
 * whose columns vary: without vnodes the token itself stands before the rack, and then this is a
 * whole ring. Otherwise it says how many tokens each node has, not which: such a pool is not
 * placed, but what its counts let expect is a fact. The legend may be missing or hand-made; a host
 * id is any word; a rack is what is left of the line.
 */
#include "formats/cassandra_status.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/cassandra.h"
#include "formats/lines.h"

#include <stdlib.h>

enum column { LOAD, TOKENS, OWNS, HOST_ID, TOKEN, RACK, COLUMN_COUNT };

struct heading {
    const char *word, *second; /* NULL: one word */
    enum column column;
};

/* The longer ones first. */
static const struct heading HEADINGS[] = {
    {"Owns", "(effective)", OWNS}, {"Owns", NULL, OWNS},
    {"Host", "ID", HOST_ID},       {"Effective-Ownership", NULL, OWNS},
    {"Load", NULL, LOAD},          {"Tokens", NULL, TOKENS},
    {"Token", NULL, TOKEN},        {"Rack", NULL, RACK},
};

struct table {
    struct gy_cassandra *c;
    struct gy_lines *l;
    struct gy_slice dc;
    enum column columns[COLUMN_COUNT];
    size_t column_count;
};

/* ---- the header ---- */

/* The columns behind "--  Address"; false: this is no header. */
static bool take_header(struct gy_slice line, enum column *columns, size_t *count)
{
    struct gy_slice rest = line, word;
    size_t n = 0;
    if (!gy_word_next(&rest, &word) || !gy_slice_eq(word, GY_LIT("--")) ||
        !gy_word_next(&rest, &word) || !gy_slice_eq(word, GY_LIT("Address"))) {
        return false;
    }
    while (gy_word_next(&rest, &word) && n < COLUMN_COUNT) {
        size_t i = 0;
        for (; i < sizeof HEADINGS / sizeof HEADINGS[0]; i++) {
            struct gy_slice ahead = rest, second;
            if (gy_slice_eq(word, gy_str(HEADINGS[i].word)) &&
                (!HEADINGS[i].second || (gy_word_next(&ahead, &second) &&
                                         gy_slice_eq(second, gy_str(HEADINGS[i].second))))) {
                rest = HEADINGS[i].second ? ahead : rest;
                columns[n++] = HEADINGS[i].column;
                break;
            }
        }
        if (i == sizeof HEADINGS / sizeof HEADINGS[0]) {
            return false;
        }
    }
    *count = n;
    return n > 0;
}

int gy_cassandra_status_sniff(struct gy_slice head)
{
    enum column columns[COLUMN_COUNT];
    size_t n;
    for (struct gy_lines l = gy_lines_of(head); gy_lines_next(&l);) {
        if (take_header(l.line, columns, &n)) {
            return GY_SURE_YES;
        }
    }
    return GY_SURE_NOT;
}

/* ---- rows ---- */

/* "UN", "DL", "?J", "DS". */
static bool take_state(struct gy_slice word, unsigned *states)
{
    static const char STATES[] = "NLJMSR";
    static const unsigned BITS[] = {0,
                                    GY_STATE_LEAVING,
                                    GY_STATE_JOINING,
                                    GY_STATE_MOVING,
                                    GY_STATE_DISABLED,
                                    GY_STATE_JOINING};
    if (word.n != 2 || !memchr("UD?", word.p[0], 3)) {
        return false;
    }
    const char *at = memchr(STATES, word.p[1], sizeof STATES - 1);
    if (!at) {
        return false;
    }
    *states = BITS[at - STATES] | (word.p[0] == 'D'   ? GY_STATE_DOWN
                                   : word.p[0] == '?' ? GY_STATE_SUSPECT
                                                      : 0);
    return true;
}

/* "84.58 KiB" is two words, "84.58KiB" and "?" are one. */
static void skip_unit(struct gy_slice *rest)
{
    static const char *const units[] = {"bytes", "byte", "B",   "KB",  "MB",  "GB",  "TB", "PB",
                                        "KiB",   "MiB",  "GiB", "TiB", "PiB", "EiB", NULL};
    struct gy_slice ahead = *rest, word;
    if (!gy_word_next(&ahead, &word)) {
        return;
    }
    for (size_t i = 0; units[i]; i++) {
        if (gy_slice_eq(word, gy_str(units[i]))) {
            *rest = ahead;
            return;
        }
    }
}

static int read_count(struct table *t, struct gy_slice word, struct gy_cassandra_node *n)
{
    char q[GY_QUOTE];
    if (gy_num_uint(word, &n->counted) || n->counted > UINT32_MAX) {
        return gy_read_fail(t->c->r, GYRE_SYNTAX, gy_lines_mark(t->l, word),
                            "%s stands where the number of tokens belongs", gy_utf8_quote(q, word));
    }
    return GYRE_OK;
}

static int read_columns(struct table *t, struct gy_slice rest, struct gy_cassandra_node *n,
                        struct gy_slice *token)
{
    int rc = GYRE_OK;
    for (size_t i = 0; i < t->column_count && !rc; i++) {
        struct gy_slice word = gy_slice_trim(rest);
        if (t->columns[i] == RACK) { /* the last one, blanks and all */
            n->rack = word;
            break;
        }
        if (!gy_word_next(&rest, &word)) {
            return gy_read_fail(t->c->r, GYRE_SYNTAX, (struct gy_mark){n->at.line, 1},
                                "this row has fewer columns than the header: cut off?");
        }
        if (t->columns[i] == LOAD) {
            skip_unit(&rest);
        } else if (t->columns[i] == TOKENS) {
            rc = read_count(t, word, n);
        } else {
            *(t->columns[i] == OWNS ? &n->owns : t->columns[i] == HOST_ID ? &n->id : token) = word;
        }
    }
    return rc;
}

static int read_row(struct table *t, struct gy_slice rest, unsigned states)
{
    struct gy_cassandra_node node = {.states = states};
    struct gy_slice token = {NULL, 0};
    char q[GY_QUOTE];
    uint32_t i, before = t->c->node_count;
    if (!gy_word_next(&rest, &node.name)) {
        return gy_read_fail(t->c->r, GYRE_SYNTAX, (struct gy_mark){t->l->number, 1},
                            "a row without an address");
    }
    node.at = gy_lines_mark(t->l, node.name);
    int rc = gy_cassandra_dc(t->c, node.at, t->dc, &node.dc);
    rc = rc ? rc : read_columns(t, rest, &node, &token);
    rc = rc ? rc : gy_cassandra_node(t->c, &node, &i);
    if (!rc && t->c->node_count == before) {
        return gy_read_fail(t->c->r, GYRE_DUPLICATE, node.at,
                            "node %s stands twice; first on line %u", gy_utf8_quote(q, node.name),
                            t->c->nodes[i].at.line);
    }
    return rc || !token.n ? rc : gy_cassandra_token(t->c, gy_lines_mark(t->l, token), token, i);
}

static int read_line(struct table *t)
{
    struct gy_slice rest = t->l->line, word;
    unsigned states;
    if (take_header(rest, t->columns, &t->column_count)) {
        return GYRE_OK;
    }
    struct gy_slice text = gy_slice_trim(rest);
    if (gy_slice_starts(text, "Datacenter:")) {
        t->dc = gy_slice_trim((struct gy_slice){text.p + 11, text.n - 11});
        return GYRE_OK;
    }
    if (!t->column_count || !gy_word_next(&rest, &word)) {
        return GYRE_OK;
    }
    if (take_state(word, &states)) {
        return read_row(t, rest, states);
    }
    if (word.n == 2 && word.p[0] >= 'A' && word.p[0] <= 'Z' && gy_slice_has(rest, ".")) {
        char q[GY_QUOTE];
        return gy_read_fail(t->c->r, GYRE_UNKNOWN, gy_lines_mark(t->l, word),
                            "unknown state %s; known: U, D or ? and N, L, J, M, S or R",
                            gy_utf8_quote(q, word));
    }
    return GYRE_OK;
}

/* ---- what the counts let expect ---- */

static double expected(const struct gy_cassandra_node *n, uint64_t counted)
{
    return counted && !(n->states & GY_STATE_JOINING) ? (double)n->counted / (double)counted : 0;
}

static int tell_expected(struct table *t)
{
    struct gy_cassandra *c = t->c;
    struct gy_buf text = {0};
    uint64_t all = 0;
    for (uint32_t i = 0; i < c->node_count; i++) {
        all += c->nodes[i].states & GY_STATE_JOINING ? 0 : c->nodes[i].counted;
    }
    for (uint32_t i = 0; i < c->node_count; i++) {
        gy_buf_puts(&text, i ? ", " : "");
        gy_buf_add(&text, c->nodes[i].name.p, c->nodes[i].name.n);
        gy_buf_printf(&text, " %.2f%%", 100 * expected(&c->nodes[i], all));
    }
    int rc = text.failed ? gy_read_nomem(c->r)
                         : gy_read_fact(c->r, c->p, "expected_share", "%s", gy_buf_cstr(&text));
    gy_buf_fini(&text);
    return rc;
}

/* By the counts that stand at both ends. */
static int note_counts(struct table *t)
{
    const struct gy_cassandra_node *low = t->c->nodes, *high = t->c->nodes;
    char q[2][GY_QUOTE];
    for (uint32_t i = 1; i < t->c->node_count; i++) {
        const struct gy_cassandra_node *n = &t->c->nodes[i];
        low = n->counted < low->counted ? n : low;
        high = n->counted > high->counted ? n : high;
    }
    return low->counted == high->counted
               ? GYRE_OK
               : gy_read_note(t->c->r, t->c->p, GY_LEVEL_WARNING, "mixed-num-tokens", low->at,
                              "%s has %ju tokens and %s %ju: num_tokens is a weight, so shares "
                              "are that unequal",
                              gy_utf8_quote(q[0], low->name), (uintmax_t)low->counted,
                              gy_utf8_quote(q[1], high->name), (uintmax_t)high->counted);
}

/* Printed shares far from even, with equal counts: that is the chance of few tokens. */
static int note_spread(struct table *t)
{
    struct gy_cassandra *c = t->c;
    const struct gy_cassandra_node *low = NULL, *high = NULL;
    double least = 0, most = 0, sum = 0, share;
    uint32_t known = 0;
    for (uint32_t i = 0; i < c->node_count; i++) {
        const struct gy_cassandra_node *n = &c->nodes[i];
        if (n->counted != c->nodes[0].counted || n->dc != 0 ||
            !gy_cassandra_share(n->owns, &share)) {
            return GYRE_OK;
        }
        least = !low || share < least ? share : least;
        low = share <= least ? n : low;
        most = !high || share > most ? share : most;
        high = share >= most ? n : high;
        sum += share;
        known++;
    }
    double fair = known ? sum / known : 0;
    if (known < 2 || most - least < 0.1 * fair) {
        return GYRE_OK;
    }
    char q[2][GY_QUOTE];
    return gy_read_note(c->r, c->p, GY_LEVEL_WARNING, "few-tokens", high->at,
                        "%s owns %.1f%% and %s %.1f%%, where %.1f%% would be even: %ju tokens a "
                        "node, chosen at random, spread that far",
                        gy_utf8_quote(q[0], high->name), 100 * most, gy_utf8_quote(q[1], low->name),
                        100 * least, 100 * fair, (uintmax_t)low->counted);
}

/* Copies in all, as far as the printed shares add up to whole ones. */
static int tell_fair(struct table *t)
{
    struct gy_cassandra *c = t->c;
    double sum = 0, share;
    for (uint32_t i = 0; i < c->node_count; i++) {
        if (!gy_cassandra_share(c->nodes[i].owns, &share)) {
            return GYRE_OK;
        }
        sum += share;
    }
    uint32_t whole = sum < 64 ? (uint32_t)(sum + 0.5) : 0;
    double off = sum > whole ? sum - whole : whole - sum;
    if (c->dc_count != 1 || !whole || off > 0.02 + 0.0006 * c->node_count) {
        return GYRE_OK;
    }
    int rc = gy_read_fact(c->r, c->p, "copies", "%u", whole);
    return rc ? rc
              : gy_read_fact(c->r, c->p, "fair_share", "%.2f%%", 100.0 * whole / c->node_count);
}

static int settle(struct table *t)
{
    struct gy_cassandra *c = t->c;
    int rc = gy_cassandra_settle(c);
    if (rc || c->token_count) {
        return rc;
    }
    rc = tell_expected(t);
    rc = rc ? rc : tell_fair(t);
    rc = rc ? rc : note_counts(t);
    rc = rc ? rc : note_spread(t);
    return rc ? rc
              : gy_read_unplaced(c->r, c->p, c->nodes[0].at,
                                 "nodetool status says how many tokens each node has, not which; "
                                 "nodetool ring prints them");
}

int gy_cassandra_status_parse(struct gy_reading *r)
{
    struct gy_cassandra *c;
    int rc = gy_cassandra_new(r, &c);
    struct gy_lines l = gy_lines_of(r->text);
    struct table t = {.c = c, .l = &l};
    while (!rc && gy_lines_next(&l)) {
        rc = read_line(&t);
    }
    rc = rc ? rc : settle(&t);
    gy_cassandra_free(c);
    return rc;
}
