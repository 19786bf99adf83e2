/* SPDX-License-Identifier: Apache-2.0 */
/* opt.c - see opt.h. */
#include "cli/opt.h"
#include "base/num.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/out.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

#define OPTS_MAX  32
#define FIRST_VAL 256 /* getopt's value of row 0: beyond every letter */

static gy_usage_fn *visitor;
static void *visitor_ctx;

void gy_opt_visit(gy_usage_fn *fn, void *ctx)
{
    visitor = fn;
    visitor_ctx = ctx;
}

static size_t rows(const struct gy_usage *u)
{
    size_t n = 0;
    while (u->opts[n].name && n < OPTS_MAX) {
        n++;
    }
    return n;
}

/* ---- help ---- */

static void help_option(struct gy_buf *out, const struct gy_opt *o)
{
    char left[64];
    snprintf(left, sizeof left, "%c%c%s--%s%s%s", o->letter ? '-' : ' ',
             o->letter ? o->letter : ' ', o->letter ? ", " : "  ", o->name, o->arg ? " " : "",
             o->arg ? o->arg : "");
    int pad = (int)strlen(left) < 28 ? 28 - (int)strlen(left) : 0;
    gy_buf_printf(out, "  %s%s%*s%s\n", left, pad ? "" : "\n", pad ? pad + 1 : 31, "", o->help);
}

static int help(const struct gy_usage *u)
{
    struct gy_buf out = {0};
    gy_buf_printf(&out, "usage: %s%s%s\n\n%s\n\noptions:\n", u->command, *u->words ? " " : "",
                  u->words, u->about);
    for (size_t i = 0; i < rows(u); i++) {
        help_option(&out, &u->opts[i]);
    }
    static const struct gy_opt self = {'h', "help", NULL, "this text", GY_OPT_FLAG, 0, 0, 0, NULL};
    help_option(&out, &self);
    gy_buf_printf(&out, "\nexit status: %s\n", u->exits);
    for (size_t i = 0; u->examples && u->examples[i]; i++) {
        gy_buf_printf(&out, "%s  %s\n", i ? "" : "\nexamples:\n", u->examples[i]);
    }
    return gy_out_end(&out);
}

/* ---- parsing ---- */

/* "locate", for messages that begin with "gyre: " anyway. */
static const char *short_name(const struct gy_usage *u)
{
    return u->command + strlen("gyre ");
}

static int complain(const struct gy_usage *u)
{
    gy_complain("'%s --help' shows how it is used", u->command);
    return GY_EXIT_USAGE;
}

static int unknown(const struct gy_usage *u, const char *word)
{
    const char *names[OPTS_MAX + 1];
    size_t n = rows(u);
    for (size_t i = 0; i < n; i++) {
        names[i] = u->opts[i].name;
    }
    names[n++] = "help";
    char q[GY_QUOTE], bare[64];
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(word + strspn(word, "-"), "="),
             word + strspn(word, "-"));
    const char *near = gyre_nearest(bare, names, n);
    gy_complain("%s: unknown option %s%s%s%s", short_name(u), gy_utf8_quote(q, gy_str(word)),
                near ? "; did you mean '--" : "", near ? near : "", near ? "'?" : "");
    return complain(u);
}

static int bad_number(const struct gy_opt *o, const char *value)
{
    char q[GY_QUOTE], low[GY_NUM_TEXT], high[GY_NUM_TEXT];
    char letter[] = {'-', o->letter, '/', 0}; /* whichever of the two was typed */
    bool whole = o->kind != GY_OPT_NUMBER;
    if (whole) {
        snprintf(low, sizeof low, "%" PRIu64, o->min);
        snprintf(high, sizeof high, "%" PRIu64, o->max);
    } else {
        gy_num_fmt_micros(low, o->min);
        gy_num_fmt_micros(high, o->max);
    }
    gy_complain("%s--%s is %s; it must be a%s number, %s to %s", o->letter ? letter : "", o->name,
                gy_utf8_quote(q, gy_str(value)), whole ? " whole" : "", low, high);
    return GY_EXIT_USAGE;
}

static int take_number(const struct gy_opt *o, void *at, const char *value)
{
    uint64_t v;
    bool exact = o->kind == GY_OPT_NUMBER;
    int rc = exact ? gy_num_micros(gy_str(value), &v) : gy_num_uint(gy_str(value), &v);
    if (rc || v < o->min || v > o->max) {
        return bad_number(o, value);
    }
    if (exact) {
        *(double *)at = gy_num_from_micros(v);
    } else {
        *(uint64_t *)at = v;
    }
    return GY_GO_ON;
}

static int take(const struct gy_opt *o, void *into, const char *value)
{
    void *at = (char *)into + o->offset;
    int rc;
    switch (o->kind) {
    case GY_OPT_FLAG:
        *(bool *)at = true;
        return GY_GO_ON;
    case GY_OPT_TEXT:
        *(const char **)at = value;
        return GY_GO_ON;
    case GY_OPT_UINT:
    case GY_OPT_NUMBER:
        return take_number(o, at, value);
    case GY_OPT_CALL:
        rc = o->take((char *)into + o->offset, value);
        return rc ? rc : GY_GO_ON;
    }
    return GY_GO_ON;
}

/* getopt's two tables from ours. */
static void tables(const struct gy_usage *u, struct option *longs, char *letters)
{
    size_t n = rows(u);
    *letters++ = ':'; /* a missing argument is told apart from an unknown option */
    for (size_t i = 0; i < n; i++) {
        const struct gy_opt *o = &u->opts[i];
        longs[i] = (struct option){o->name, o->arg ? required_argument : no_argument, NULL,
                                   (int)(FIRST_VAL + i)};
        if (o->letter) {
            *letters++ = o->letter;
            if (o->arg) {
                *letters++ = ':';
            }
        }
    }
    longs[n] = (struct option){"help", no_argument, NULL, 'h'};
    longs[n + 1] = (struct option){0};
    *letters++ = 'h';
    *letters = 0;
}

static const struct gy_opt *row_of(const struct gy_usage *u, int c)
{
    if (c >= FIRST_VAL) {
        return &u->opts[c - FIRST_VAL];
    }
    size_t i = 0;
    while (u->opts[i].letter != c) {
        i++;
    }
    return &u->opts[i];
}

static int check_words(const struct gy_usage *u, int count)
{
    if (count < u->min_words) {
        gy_complain("%s: too few arguments; usage: %s %s", short_name(u), u->command, u->words);
        return complain(u);
    }
    if (u->max_words >= 0 && count > u->max_words) {
        gy_complain("%s: too many arguments; usage: %s%s%s", short_name(u), u->command,
                    *u->words ? " " : "", u->words);
        return complain(u);
    }
    return GY_GO_ON;
}

int gy_opt_parse(const struct gy_usage *u, int argc, char **argv, void *into, char ***words,
                 int *count)
{
    struct option longs[OPTS_MAX + 2];
    char letters[2 * OPTS_MAX + 4];
    if (visitor) {
        visitor(visitor_ctx, u);
        return GY_EXIT_OK;
    }
    tables(u, longs, letters);
    opterr = 0;
    optind = 0; /* glibc: start afresh */
    for (int c; (c = getopt_long(argc, argv, letters, longs, NULL)) != -1;) {
        const char *word = argv[optind > 1 ? optind - 1 : 1];
        if (c == 'h') {
            return help(u);
        }
        if (c == '?') {
            return unknown(u, word);
        }
        if (c == ':') {
            gy_complain("%s: option '%s' needs a value", short_name(u), word);
            return complain(u);
        }
        int rc = take(row_of(u, c), into, optarg);
        if (rc != GY_GO_ON) {
            return rc;
        }
    }
    *words = argv + optind;
    *count = argc - optind;
    return check_words(u, *count);
}
