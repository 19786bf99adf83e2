/* SPDX-License-Identifier: Apache-2.0 */
/* complete.c - see complete.h. */
#include "cli/complete.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/opt.h"

#include <stdio.h>

#define HELP_MAX 100 /* bytes of a description: a list of offers is no manual */

enum source { NOTHING, FILES, NODES, POOLS, FORMATS, ALGORITHMS, HASHES, COMMANDS, SUBS };

/* What stands for an argument: by the option's name where its argument's is too general, else by
 * the argument's. */
static const struct rule {
    const char *option, *arg;
    enum source source;
    const char *suffix; /* goes on behind a name; "": nothing does */
} RULES[] = {
    {"format", NULL, FORMATS, ""},    {"other-format", NULL, FORMATS, ""},
    {"to-format", NULL, FORMATS, ""}, {"pool", NULL, POOLS, ""},
    {"other-pool", NULL, POOLS, ""},  {"remove", NULL, NODES, ""},
    {"down", NULL, NODES, ""},        {"weight", NULL, NODES, "="},
    {"weight-for", NULL, NODES, "="}, {"replace", NULL, NODES, "="},
    {NULL, "FILE", FILES, ""},        {NULL, "TOPOLOGY", FILES, ""},
    {NULL, "OLD", FILES, ""},         {NULL, "NEW", FILES, ""},
    {NULL, "A", FILES, ""},           {NULL, "B", FILES, ""},
    {NULL, "DIRECTORY", FILES, ""},   {NULL, "NODE", NODES, ""},
    {NULL, "FORMAT", FORMATS, ""},    {NULL, "ALGORITHM", ALGORITHMS, ""},
    {NULL, "HASH", HASHES, ""},       {NULL, "COMMAND", COMMANDS, ""},
    {NULL, "SUBCOMMAND", SUBS, ""},
};

/* The line before the cursor, understood. */
struct line {
    struct gy_usage usage;
    const struct gy_cmd *command; /* whose word the line begins with */
    const char *words[2];         /* the first ones that are no options */
    int word_count;
    const char *config, *format, *pool; /* options seen, NULL: not */
    const struct gy_opt *pending;       /* the last word is this option's argument */
    bool options_end;                   /* after "--" */
};

static bool is_clean(const char *text)
{
    struct gy_slice s = gy_str(text);
    uint32_t cp;
    for (size_t i = 0, len; i < s.n; i += len) {
        len = gy_utf8_decode(s.p + i, s.n - i, &cp);
        if (!len || gy_utf8_control(cp)) {
            return false;
        }
    }
    return s.n > 0;
}

void gy_offer_word(const struct gy_offer *o, const char *word, const char *suffix, const char *help)
{
    if (strncmp(word, o->typed, strlen(o->typed)) != 0 || !is_clean(word)) {
        return;
    }
    gy_buf_add(o->out, o->prefix, o->prefix_len);
    gy_buf_puts(o->out, word);
    gy_buf_puts(o->out, suffix);
    if (help && is_clean(help)) {
        gy_buf_printf(o->out, "\t%.*s", HELP_MAX, help);
    }
    gy_buf_putc(o->out, '\n');
}

/* ---- the tables ---- */

static void take_usage(void *ctx, const struct gy_usage *u)
{
    *(struct gy_usage *)ctx = *u;
}

static const char *sub_name(const struct gy_cmd *c, const char *name)
{
    const char *help, *sub;
    for (unsigned i = 0; c->sub && (sub = c->sub(i, &help)) != NULL; i++) {
        if (strcmp(sub, name) == 0) {
            return sub;
        }
    }
    return NULL;
}

/* Of a command, or of its subcommand; .command stays NULL where there is no such. */
static void usage_of(const struct gy_cmd *c, const char *sub, struct gy_usage *out)
{
    char name[32], word[32];
    char *argv[] = {name, word, NULL};
    snprintf(name, sizeof name, "%s", c->name);
    snprintf(word, sizeof word, "%s", sub ? sub : "");
    gy_opt_visit(take_usage, out);
    (void)c->run(sub ? 2 : 1, argv);
    gy_opt_visit(NULL, NULL);
}

static const struct gy_opt *option_of(const struct gy_usage *u, const char *word)
{
    size_t name = strcspn(word + 1, "=");
    for (const struct gy_opt *o = u->opts; o->name; o++) {
        bool is_long = word[1] == '-' && strlen(o->name) == name - 1 &&
                       strncmp(word + 2, o->name, name - 1) == 0;
        if (is_long || (o->letter && word[1] == o->letter && !word[2])) {
            return o;
        }
    }
    return NULL;
}

static const struct rule *rule_of(const char *option, const char *arg, size_t arg_len)
{
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++) {
        const struct rule *r = &RULES[i];
        bool fits = r->option ? option && strcmp(r->option, option) == 0
                              : strlen(r->arg) == arg_len && strncmp(r->arg, arg, arg_len) == 0;
        if (fits) {
            return r;
        }
    }
    return NULL;
}

/* ---- the line ---- */

static void remember(struct line *l, const struct gy_opt *o, const char *value)
{
    const struct {
        const char *name, **at;
    } kept[] = {{"config", &l->config}, {"format", &l->format}, {"pool", &l->pool}};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if (strcmp(o->name, kept[i].name) == 0) {
            *kept[i].at = value;
        }
    }
}

static void read_word(struct line *l, const char *word)
{
    const struct gy_opt *o = NULL;
    const char *equals = strchr(word, '=');
    if (l->pending) {
        remember(l, l->pending, word);
        l->pending = NULL;
    } else if (!l->options_end && strcmp(word, "--") == 0) {
        l->options_end = true;
    } else if (!l->options_end && word[0] == '-' && word[1]) {
        o = option_of(&l->usage, word);
        if (o && o->arg && word[1] == '-' && equals) {
            remember(l, o, equals + 1);
        } else if (o && o->arg) {
            l->pending = o;
        }
    } else if (l->word_count++ < 2) {
        l->words[l->word_count - 1] = word;
    }
}

/* ---- the offers ---- */

static void offer_commands(const struct gy_offer *o)
{
    size_t n;
    const struct gy_cmd *all = gy_cmd_all(&n);
    for (size_t i = 0; i < n; i++) {
        gy_offer_word(o, all[i].name, "", all[i].summary);
    }
}

static void offer_subs(const struct gy_offer *o, const struct gy_cmd *c)
{
    const char *help, *sub;
    for (unsigned i = 0; c && c->sub && (sub = c->sub(i, &help)) != NULL; i++) {
        gy_offer_word(o, sub, "", help);
    }
}

static void offer_options(const struct gy_offer *o, const struct gy_usage *u)
{
    char name[64];
    for (const struct gy_opt *row = u->opts; row->name; row++) {
        snprintf(name, sizeof name, "--%s", row->name);
        gy_offer_word(o, name, "", row->help);
    }
    gy_offer_word(o, "--help", "", "how it is used");
}

/* "error|warn|info" */
static void offer_list(const struct gy_offer *o, const char *list, size_t len)
{
    for (size_t at = 0; at < len;) {
        char word[64];
        size_t n = strcspn(list + at, "|");
        n = n < len - at ? n : len - at;
        snprintf(word, sizeof word, "%.*s", (int)n, list + at);
        gy_offer_word(o, word, "", NULL);
        at += n + 1;
    }
}

static void answer(const struct gy_offer *o, const char *kind)
{
    gy_buf_printf(o->out, "%s%s%.*s\n", kind, o->prefix_len ? "\t" : "", (int)o->prefix_len,
                  o->prefix);
}

/* What is read from files: those that the line names. other: of the second one. */
static void offer_from_file(const struct gy_offer *o, const struct line *l, const struct rule *r,
                            bool other)
{
    const char *path = l->config ? l->config : l->word_count ? l->words[0] : NULL;
    path = other && l->word_count > 1 ? l->words[1] : path;
    if (r->source == NODES) {
        gy_offer_nodes(o, path, l->format, l->pool, r->suffix);
    } else if (r->source == POOLS) {
        gy_offer_pools(o, path, l->format);
    }
}

/* --to is for those that gyre writes. */
static void offer_formats(const struct gy_offer *o, const char *option)
{
    gy_offer_formats(o, option && strcmp(option, "to") == 0);
}

/* What an argument of that name may be; option NULL: it is one of the command's own words. */
static void offer_argument(const struct gy_offer *o, const struct line *l, const char *option,
                           const char *arg, size_t len)
{
    static const struct rule none = {NULL, NULL, NOTHING, ""};
    const struct rule *r = rule_of(option, arg, len);
    r = r ? r : &none;
    answer(o, r->source == FILES ? "files" : *r->suffix ? "more" : "words");
    switch (r->source) {
    case FILES: /* the shell knows them */
        break;
    case NODES:
    case POOLS:
        offer_from_file(o, l, r, option && strncmp(option, "other-", 6) == 0);
        break;
    case FORMATS:
        offer_formats(o, option);
        break;
    case ALGORITHMS:
    case HASHES:
        gy_offer_setting(o, r->source == HASHES ? "hash" : "algorithm");
        break;
    case COMMANDS:
        offer_commands(o);
        gy_offer_word(o, "topology", "", "an annotated topology file");
        break;
    case SUBS:
        offer_subs(o, l->word_count ? gy_cmd_find(l->words[0]) : NULL);
        break;
    case NOTHING:
        if (memchr(arg, '|', len) || (!option && len && *arg >= 'a')) { /* words themselves */
            offer_list(o, arg, len);
        }
        break;
    }
}

/* The name of the command's i-th word in "TOPOLOGY [KEY...]", its last one if that repeats. What
 * stands behind " | " is another way to call it. */
static size_t word_name(const struct gy_usage *u, int i, const char **out)
{
    const char *end = strstr(u->words, " | "), *p = u->words;
    end = end ? end : p + strlen(p);
    for (size_t n; p < end; p += n) {
        p += strspn(p, " []");
        n = strcspn(p, " []");
        bool option = *p == '-' || (n == 7 && strncmp(p, "OPTIONS", n) == 0);
        bool repeats = n > 3 && strncmp(p + n - 3, "...", 3) == 0;
        if (n && !option && (repeats || i-- == 0)) {
            *out = p;
            return n - (repeats ? 3 : 0);
        }
    }
    return 0;
}

static void offer_here(struct gy_offer *o, const struct line *l)
{
    const char *word = o->typed, *equals = strchr(word, '='), *name = "";
    bool option = !l->options_end && word[0] == '-';
    if (l->pending) {
        offer_argument(o, l, l->pending->name, l->pending->arg, strlen(l->pending->arg));
    } else if (option && word[1] == '-' && equals) {
        const struct gy_opt *row = option_of(&l->usage, word);
        o->prefix_len = (size_t)(equals + 1 - word);
        o->typed = equals + 1;
        if (row && row->arg) {
            offer_argument(o, l, row->name, row->arg, strlen(row->arg));
        }
    } else if (option) {
        answer(o, "words");
        offer_options(o, &l->usage);
    } else if (l->usage.max_words < 0 || l->word_count < l->usage.max_words) {
        size_t len = word_name(&l->usage, l->word_count, &name);
        offer_argument(o, l, NULL, name, len);
    } else {
        answer(o, "words");
        offer_options(o, &l->usage);
    }
}

void gy_complete(char **words, int count, struct gy_buf *out)
{
    struct line l = {0};
    if (count < 1) {
        return;
    }
    const char *last = words[count - 1];
    struct gy_offer o = {.out = out, .prefix = last, .typed = last};
    int used = 1;
    l.command = count > 1 ? gy_cmd_find(words[0]) : NULL;
    if (count == 1) {
        answer(&o, "words");
        offer_commands(&o);
        return;
    }
    if (l.command && l.command->sub) {
        if (count == 2) {
            answer(&o, "words");
            offer_subs(&o, l.command);
            return;
        }
        used = 2;
    }
    if (!l.command || (used == 2 && !sub_name(l.command, words[1]))) {
        return;
    }
    usage_of(l.command, used == 2 ? words[1] : NULL, &l.usage);
    for (int i = used; i < count - 1 && l.usage.command; i++) {
        read_word(&l, words[i]);
    }
    if (l.usage.command) {
        offer_here(&o, &l);
    }
}
