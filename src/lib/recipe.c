/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe.c - reads how a key is made of a request: parts joined by '+', each a word with options in
 * parentheses.
 *
 *     recipe = part { "+" part }          option = "port" | "normal" | "sort"
 *     part   = word [ "(" option               | "drop=" name | "keep=" name
 *                     { "," option } ")" ]     | the name, for header
 *
 * Blanks around any of them are skipped. A mistake is told with its column and the nearest word.
 * Threads: any.
 */
#include "lib/recipe.h"

#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"

struct reader {
    gyre_recipe_t *r;
    const char *at;
    gyre_error_t *e;
};

static int fail_at(const struct reader *in, const char *where, int code, const char *said,
                   const char *hint)
{
    gy_fail(in->e, code, "%s%s%s%s", said, hint ? "; did you mean '" : "", hint ? hint : "",
            hint ? "'?" : "");
    if (in->e) {
        in->e->line = 1;
        in->e->column = (unsigned)(where - in->r->text) + 1;
    }
    return code;
}

static void blanks(struct reader *in)
{
    in->at += strspn(in->at, " \t");
}

static bool take(struct reader *in, char c)
{
    blanks(in);
    if (*in->at != c) {
        return false;
    }
    in->at++;
    blanks(in);
    return true;
}

/* Letters of a word; *len may be 0. */
static const char *word(struct reader *in, size_t *len)
{
    blanks(in);
    const char *start = in->at;
    *len = strspn(start, "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
    in->at += *len;
    return start;
}

static int unknown(const struct reader *in, const char *where, size_t len, const char *what,
                   const char *const *known, size_t n)
{
    char given[GY_SHOW], shown[GY_SHOW], said[GY_SHOW * 2];
    size_t cut = len < sizeof given - 1 ? len : sizeof given - 1;
    memcpy(given, where, cut);
    given[cut] = '\0';
    gyre_error_t text;
    gy_fail(&text, GYRE_UNKNOWN, "%s '%s'", what, gy_show(given, shown));
    memcpy(said, text.message, strnlen(text.message, sizeof said - 1) + 1);
    return fail_at(in, where, GYRE_UNKNOWN, said, gyre_nearest(given, known, n));
}

/* A name up to `,` or `)`, with at most a '*' at its end. */
static int read_name(struct reader *in, struct gy_part_name *out, bool may_end_in_star)
{
    blanks(in);
    const char *start = in->at;
    size_t len = strcspn(start, ",)");
    in->at += len;
    while (len && (start[len - 1] == ' ' || start[len - 1] == '\t')) {
        len--;
    }
    bool star = len && start[len - 1] == '*';
    *out = (struct gy_part_name){start, len - star, star};
    if (!len) {
        return fail_at(in, start, GYRE_SYNTAX, "a name is missing here", NULL);
    }
    const char *wrong = memchr(start, '*', len - star);
    if (wrong || (star && !may_end_in_star)) {
        return fail_at(in, wrong ? wrong : start + len - 1, GYRE_SYNTAX,
                       may_end_in_star ? "'*' stands at the end of a name only"
                                       : "the name of a header has no '*'",
                       NULL);
    }
    return GYRE_OK;
}

/* drop=NAME and keep=NAME; a query has one kind or the other. */
static int add_name(struct reader *in, struct gy_part *p, const char *where, bool keep)
{
    gyre_recipe_t *r = in->r;
    if (p->names && p->keep != keep) {
        return fail_at(in, where, GYRE_INVALID, "a query either drops names or keeps them", NULL);
    }
    if (r->names == GY_RECIPE_PARTS) {
        return fail_at(in, where, GYRE_RANGE, "more than 32 names", NULL);
    }
    p->keep = keep;
    p->names++;
    return read_name(in, &r->name[r->names++], true);
}

static const char *const query_options[] = {"sort", "normal", "drop", "keep"};
static const char *const path_options[] = {"normal"};
static const char *const host_options[] = {"port"};

static const struct {
    const char *word;
    const char *const *options;
    size_t count;
} parts[] = {
    [GY_PART_HOST] = {"host", host_options, 1},
    [GY_PART_PATH] = {"path", path_options, 1},
    [GY_PART_QUERY] = {"query", query_options, 4},
    [GY_PART_HEADER] = {"header", NULL, 0},
};

static int read_option(struct reader *in, struct gy_part *p)
{
    size_t len, i = 0, count = parts[p->kind].count;
    const char *const *known = parts[p->kind].options;
    const char *start = word(in, &len);
    while (i < count && !(strlen(known[i]) == len && memcmp(known[i], start, len) == 0)) {
        i++;
    }
    if (i == count) {
        len = len ? len : strcspn(start, "),+");
        return unknown(in, start, len, "unknown option", known, count);
    }
    bool value = take(in, '=');
    if (value != (p->kind == GY_PART_QUERY && i >= 2)) {
        return fail_at(in, start, GYRE_SYNTAX,
                       value ? "this option takes no value" : "write drop=NAME or keep=NAME", NULL);
    }
    if (value) {
        return add_name(in, p, start, i == 3);
    }
    p->port = p->port || p->kind == GY_PART_HOST;
    p->sort = p->sort || (p->kind == GY_PART_QUERY && i == 0);
    p->normal = p->normal || p->kind == GY_PART_PATH || (p->kind == GY_PART_QUERY && i == 1);
    return GYRE_OK;
}

static int read_options(struct reader *in, struct gy_part *p)
{
    const char *open = in->at;
    if (!take(in, '(')) {
        return p->kind == GY_PART_HEADER
                   ? fail_at(in, open, GYRE_SYNTAX, "write header(NAME)", NULL)
                   : GYRE_OK;
    }
    int err;
    if (p->kind == GY_PART_HEADER) {
        err = read_name(in, &p->header, false);
    } else {
        do {
            err = read_option(in, p);
        } while (!err && take(in, ','));
    }
    if (!err && !take(in, ')')) {
        err = fail_at(in, in->at, GYRE_SYNTAX, "')' is missing here", NULL);
    }
    return err;
}

static int read_part(struct reader *in)
{
    static const char *const words[] = {"host", "path", "query", "header"};
    size_t len, kind = 0, count = sizeof words / sizeof words[0];
    const char *start = word(in, &len);
    if (in->r->parts == GY_RECIPE_PARTS) {
        return fail_at(in, start, GYRE_RANGE, "more than 32 parts", NULL);
    }
    while (kind < count && !(strlen(words[kind]) == len && memcmp(words[kind], start, len) == 0)) {
        kind++;
    }
    if (!len && (!*start || *start == '+')) {
        return fail_at(in, start, GYRE_SYNTAX,
                       "a part is missing here: host, path, query or header(NAME)", NULL);
    }
    if (kind == count) {
        return unknown(in, start, len ? len : 1, "unknown part", words, count);
    }
    struct gy_part *p = &in->r->part[in->r->parts++];
    *p = (struct gy_part){.kind = (enum gy_part_kind)kind, .first = in->r->names};
    return read_options(in, p);
}

int gyre_recipe_parse(const char *text, gyre_recipe_t **out, gyre_error_t *e)
{
    *out = NULL;
    size_t len = strnlen(text, GY_RECIPE_TEXT);
    if (len == GY_RECIPE_TEXT) {
        int err = gy_fail(e, GYRE_RANGE, "a key recipe has at most %u bytes", GY_RECIPE_TEXT - 1);
        if (e) {
            e->column = GY_RECIPE_TEXT; /* the first that is too many */
        }
        return err;
    }
    gyre_recipe_t *r = gy_mem_alloc(1, sizeof *r);
    if (!r) {
        return gy_fail_nomem(e);
    }
    memcpy(r->text, text, len + 1);
    r->parts = r->names = 0;
    struct reader in = {r, r->text, e};
    int err;
    do {
        err = read_part(&in);
    } while (!err && take(&in, '+'));
    if (!err && *in.at) {
        err = fail_at(&in, in.at, GYRE_SYNTAX, "'+' or the end is expected here", NULL);
    }
    if (err) {
        gy_mem_free(r);
        return err;
    }
    *out = r;
    return GYRE_OK;
}

void gyre_recipe_free(gyre_recipe_t *r)
{
    gy_mem_free(r);
}

const char *gyre_recipe_header(const gyre_recipe_t *r, size_t i, size_t *len)
{
    *len = 0;
    for (const struct gy_part *p = r->part; p < r->part + r->parts; p++) {
        if (p->kind == GY_PART_HEADER && i-- == 0) {
            *len = p->header.len;
            return p->header.text;
        }
    }
    return NULL;
}
