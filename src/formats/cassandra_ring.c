/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cassandra_ring.c - what nodetool ring prints, from 0.7 on: a row a token,
 *
 *   Address [DC] [Rack] Status State Load Owns Token
 *
 * with one table for all or one for each datacenter, and above the rows the token before the first
 * alone on its line (that of the last row, so it is not read). Load is one word or two. Status and
 * state part the row: what stands before is place, what stands behind is counted from the end.
 * Rows may stand in any order; prompts, notes and warnings around them are passed over.
 */
#include "formats/cassandra_ring.h"
#include "base/num.h"
#include "formats/cassandra.h"
#include "formats/lines.h"

#include <stdlib.h>

#define WORDS_MAX 16

struct row {
    struct gy_slice word[WORDS_MAX];
    size_t n, status; /* where Up or Down stands */
};

struct table {
    struct gy_cassandra *c;
    struct gy_lines *l;
    struct gy_slice dc; /* of the table, "Datacenter: dc1" */
    bool has_dc, header;
};

struct word_state {
    const char *word;
    unsigned state;
};

static const struct word_state STATUS[] = {
    {"Up", 0}, {"Down", GY_STATE_DOWN}, {"?", GY_STATE_SUSPECT}, {NULL, 0}};
static const struct word_state STATE[] = {{"Normal", 0},
                                          {"Joining", GY_STATE_JOINING},
                                          {"Leaving", GY_STATE_LEAVING},
                                          {"Moving", GY_STATE_MOVING},
                                          {"Stopped", GY_STATE_DISABLED},
                                          {NULL, 0}};

static const struct word_state *state_of(const struct word_state *all, struct gy_slice word)
{
    while (all->word && !gy_slice_eq(gy_str(all->word), word)) {
        all++;
    }
    return all->word ? all : NULL;
}

static struct row split(struct gy_slice line)
{
    struct row row = {.n = 0};
    struct gy_slice rest = line;
    while (row.n < WORDS_MAX && gy_word_next(&rest, &row.word[row.n])) {
        row.n++;
    }
    return row;
}

static bool has_word(const struct row *row, const char *word)
{
    for (size_t i = 0; i < row->n; i++) {
        if (gy_slice_eq(row->word[i], gy_str(word))) {
            return true;
        }
    }
    return false;
}

static bool is_header(const struct row *row)
{
    return row->n >= 5 && gy_slice_eq(row->word[0], GY_LIT("Address")) &&
           gy_slice_eq(row->word[row->n - 1], GY_LIT("Token")) && has_word(row, "Status") &&
           has_word(row, "State");
}

int gy_cassandra_ring_sniff(struct gy_slice head)
{
    for (struct gy_lines l = gy_lines_of(head); gy_lines_next(&l);) {
        struct row row = split(l.line);
        if (is_header(&row)) {
            return GY_SURE_YES;
        }
    }
    return GY_SURE_NOT;
}

/* ---- rows ---- */

/* Status and state stand side by side, and at least three words behind them. */
static bool find_status(struct row *row)
{
    for (size_t i = 1; i + 1 < row->n; i++) {
        if (state_of(STATUS, row->word[i]) && state_of(STATE, row->word[i + 1])) {
            row->status = i;
            return true;
        }
    }
    return false;
}

/* From the words between address and status; a rack may have blanks. */
static struct gy_slice join(const struct row *row, size_t from)
{
    struct gy_slice last = row->word[row->status - 1];
    return from >= row->status ? (struct gy_slice){NULL, 0}
                               : (struct gy_slice){row->word[from].p,
                                                   (size_t)(last.p + last.n - row->word[from].p)};
}

static int read_row(struct table *t, const struct row *row)
{
    struct gy_mark at = gy_lines_mark(t->l, row->word[0]);
    size_t behind = row->n - row->status - 2; /* load, owns, token */
    if (behind < 3 || behind > 4) {
        return gy_read_fail(t->c->r, GYRE_SYNTAX, gy_lines_mark(t->l, row->word[row->n - 1]),
                            "a row ends with load, owns and token; here are %zu words behind the "
                            "state",
                            behind);
    }
    bool own_dc = t->has_dc && row->status > 1;
    struct gy_cassandra_node node = {.name = row->word[0],
                                     .rack = join(row, own_dc ? 2 : 1),
                                     .owns = row->word[row->n - 2],
                                     .at = at,
                                     .states = state_of(STATUS, row->word[row->status])->state |
                                               state_of(STATE, row->word[row->status + 1])->state};
    uint32_t i;
    int rc = gy_cassandra_dc(t->c, at, own_dc ? row->word[1] : t->dc, &node.dc);
    rc = rc ? rc : gy_cassandra_node(t->c, &node, &i);
    if (rc) {
        return rc;
    }
    struct gy_cassandra_node *n = &t->c->nodes[i];
    n->owns_differ = n->owns_differ || !gy_slice_eq(n->owns, node.owns);
    n->states |= node.states;
    struct gy_slice token = row->word[row->n - 1];
    return gy_cassandra_token(t->c, gy_lines_mark(t->l, token), token, i);
}

/* "Datacenter: dc1" */
static bool take_datacenter(struct table *t, struct gy_slice line)
{
    struct gy_slice text = gy_slice_trim(line);
    if (!gy_slice_starts(text, "Datacenter:")) {
        return false;
    }
    t->dc = gy_slice_trim((struct gy_slice){text.p + 11, text.n - 11});
    return true;
}

static bool take_replicas(struct table *t, struct gy_slice line)
{
    struct gy_slice text = gy_slice_trim(line);
    uint64_t n;
    if (!gy_slice_starts(text, "Replicas:")) {
        return false;
    }
    if (!gy_num_uint(gy_slice_trim((struct gy_slice){text.p + 9, text.n - 9}), &n) && n <= 64) {
        t->c->replicas = (uint32_t)n;
    }
    return true;
}

/* A line below the header that could be meant as a row. */
static bool looks_like_row(const struct row *row)
{
    struct gy_slice last = row->n ? row->word[row->n - 1] : (struct gy_slice){NULL, 0};
    return row->n >= 5 && last.n && last.p[last.n - 1] >= '0' && last.p[last.n - 1] <= '9' &&
           memchr(row->word[0].p, '.', row->word[0].n);
}

static int read_line(struct table *t)
{
    struct row row = split(t->l->line);
    if (is_header(&row)) {
        t->has_dc = has_word(&row, "DC");
        t->header = true;
        return GYRE_OK;
    }
    if (take_datacenter(t, t->l->line) || take_replicas(t, t->l->line)) {
        return GYRE_OK;
    }
    if (t->header && find_status(&row)) {
        return read_row(t, &row);
    }
    if (t->header && looks_like_row(&row)) {
        return gy_read_fail(t->c->r, GYRE_SYNTAX, gy_lines_mark(t->l, row.word[0]),
                            "a row without its status (Up, Down, ?) and state (Normal, Joining, "
                            "Leaving, Moving)");
    }
    return GYRE_OK;
}

int gy_cassandra_ring_parse(struct gy_reading *r)
{
    struct gy_cassandra *c;
    int rc = gy_cassandra_new(r, &c);
    struct gy_lines l = gy_lines_of(r->text);
    struct table t = {.c = c, .l = &l};
    while (!rc && gy_lines_next(&l)) {
        rc = read_line(&t);
    }
    rc = rc ? rc : gy_cassandra_settle(c);
    gy_cassandra_free(c);
    return rc;
}
