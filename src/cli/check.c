/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - `gyre check`: do two configurations, of any two systems, send each key to the same
 * server; if not, which keys differ, and why? What the command says, and in which form; pairs.h
 * and reasons.h have the answer.
 */
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/keys.h"

#include "cli/opt.h"
#include "cli/out.h"
#include "cli/reasons.h"
#include "cli/table.h"
#include "cli/term.h"
#include "cli/topo.h"
#include "formats/format.h"

#include <stdlib.h>

struct example {
    char *key;
    size_t len;
    uint32_t a, b;
};

struct check {
    struct gy_topo_from topo_from;
    struct gy_keys_from from;
    const char *other_format, *other_pool;
    uint64_t samples, most;
    bool json;
    /* the answer */
    struct gy_topo a, b;
    struct gy_pairs pairs;
    struct gy_reasons reasons;
    struct gy_disagreement all;
    bool measured;
    uint64_t keys_total, keys_differ;
    struct example *examples;
    size_t count;
};

static const struct gy_opt OPTIONS[] = {
    GY_KEYS_OPTIONS(struct check),
    {0, "samples", "N", "generated keys, where no exact answer exists (200000)", GY_OPT_UINT,
     offsetof(struct check, samples), 1, 1000000000, NULL},
    {0, "examples", "N", "show N keys that differ (5)", GY_OPT_UINT, offsetof(struct check, most),
     0, 100000, NULL},
    GY_TOPO_OPTIONS(struct check),
    {0, "other-format", "NAME", "what B is, if it is not what --format says", GY_OPT_TEXT,
     offsetof(struct check, other_format), 0, 0, NULL},
    {0, "other-pool", "NAME", "the pool of B, if it is not what --pool says", GY_OPT_TEXT,
     offsetof(struct check, other_pool), 0, 0, NULL},
    {0, "json", NULL, "answer in JSON", GY_OPT_FLAG, offsetof(struct check, json), 0, 0, NULL},
    {0}};

static const char *const EXAMPLES[] = {
    "gyre check nutcracker.yml servers.json",
    "gyre check nutcracker.yml nutcracker.yml --pool alpha --other-pool beta",
    "gyre check old.yaml new.yaml --keys keys.txt --json",
    NULL,
};

static const struct gy_usage USAGE = {
    "gyre check",
    "A B",
    "Says whether two configurations, of any formats, send every key to the same server; if not, "
    "which share\nof the keys differs, why, and some of those keys. Servers are matched by address, "
    "else by name.",
    OPTIONS,
    EXAMPLES,
    2,
    2,
    "0 they agree; 1 they do not" GY_EXITS_NO,
};

static int keep(struct check *c, const void *key, size_t len, uint32_t a, uint32_t b)
{
    if (c->count >= c->most) {
        return GY_EXIT_OK;
    }
    char *copy = gy_slice_dup((struct gy_slice){key, len});
    struct example *grown = copy ? realloc(c->examples, (c->count + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(copy);
        return gy_complain_memory();
    }
    c->examples = grown;
    c->examples[c->count++] = (struct example){copy, len, a, b};
    return GY_EXIT_OK;
}

static int count_keys(struct check *c, struct gy_keys *k)
{
    int rc = GY_EXIT_OK;
    while (!rc && !(rc = gy_keys_next(k)) && k->count) {
        uint32_t a[GY_KEYS_BATCH], b[GY_KEYS_BATCH];
        gyre_map_locate_batch(c->a.map, k->key, k->len, k->count, a);
        gyre_map_locate_batch(c->b.map, k->key, k->len, k->count, b);
        for (size_t i = 0; i < k->count && !rc; i++) {
            if (!gy_pairs_same(&c->pairs, a[i], b[i])) {
                c->keys_differ++;
                rc = keep(c, k->key[i], k->len[i], a[i], b[i]);
            }
        }
        c->keys_total += k->count;
    }
    return rc;
}

/* Generated keys, only until there are examples enough. */
static int find_examples(struct check *c)
{
    int rc = GY_EXIT_OK;
    for (uint64_t i = 0; c->all.share > 0 && i < c->samples && c->count < c->most && !rc; i++) {
        char key[GY_SAMPLE_ROOM];
        size_t n = gy_sample_key(key, i);
        uint32_t a = gyre_map_locate(c->a.map, key, n), b = gyre_map_locate(c->b.map, key, n);
        rc = gy_pairs_same(&c->pairs, a, b) ? GY_EXIT_OK : keep(c, key, n, a, b);
    }
    return rc;
}

static int read_keys(struct check *c)
{
    c->measured = c->from.lines || c->from.nul;
    if (!c->measured) {
        int rc = gy_keys_none(&c->from);
        return rc ? rc : find_examples(c);
    }
    struct gy_keys k = {.fd = -1};
    int rc = gy_keys_open(&k, &c->from, NULL, 0, true);
    if (!rc) {
        rc = count_keys(c, &k);
    }
    gy_keys_close(&k);
    return rc;
}

static int compare(struct check *c)
{
    int rc = gy_pairs_make(&c->pairs, c->a.map, c->b.map);
    if (!rc) {
        rc = gy_pairs_compare(&c->pairs, c->samples, &c->all);
    }
    if (!rc) {
        rc = gy_reasons_find(&c->reasons, &c->pairs, c->a.config->topology, c->b.config->topology,
                             c->samples);
    }
    if (rc == GYRE_NOMEM) {
        return gy_complain_memory();
    }
    if (rc) {
        gy_complain("check: %s", gyre_err_text(rc));
        return GY_EXIT_USAGE;
    }
    return read_keys(c);
}

static bool agrees(const struct check *c)
{
    return c->all.share == 0 && c->keys_differ == 0;
}

static size_t renamed(const struct check *c)
{
    size_t n = 0;
    for (uint32_t i = 0; i < gyre_map_count(c->a.map); i++) {
        const struct gyre_node *b = gyre_map_node(c->b.map, c->pairs.to[i]);
        n += b && strcmp(gyre_map_node(c->a.map, i)->name, b->name) != 0;
    }
    return n;
}

/* ---- as text ---- */

static void side(const char *which, const char *path, const struct gy_topo *t, struct gy_buf *out)
{
    gy_buf_printf(out, "%s  ", which);
    gy_term_encode(out, gy_str(path));
    if (*t->pool->name) {
        gy_buf_puts(out, ", pool ");
        gy_term_encode(out, gy_str(t->pool->name));
    }
    gy_buf_printf(out, " (%s): %u servers\n", t->pools->format->name, gyre_map_count(t->map));
}

static void verdict(const struct check *c, struct gy_buf *out)
{
    const struct gy_disagreement *d = &c->all;
    unsigned long long samples = c->samples;
    gy_buf_putc(out, '\n');
    if (agrees(c)) {
        gy_term_tint(out, GY_TINT_GOOD, "they agree");
        gy_buf_puts(out, renamed(c) ? ": only names differ; " : ": ");
    } else {
        gy_term_tint(out, GY_TINT_BAD, "they disagree");
        gy_buf_putc(out, ' ');
    }
    if (d->exact && agrees(c)) {
        gy_buf_puts(out, "every key is on the same server (exact)\n");
    } else if (d->exact) {
        gy_buf_printf(out, "on %.4f %% of the keys (exact)\n", 100 * d->share);
    } else if (agrees(c)) {
        gy_buf_printf(out,
                      "%llu generated keys are on the same servers, so at most %.4f %% of all "
                      "keys are not (95 %%);\nno exact answer exists for these two\n",
                      samples, 100 * d->error);
    } else {
        gy_buf_printf(out,
                      "on %.4f %% of the keys (± %.4f at 95 %%: %llu generated keys, for no exact "
                      "answer exists)\n",
                      100 * d->share, 100 * d->error, samples);
    }
    if (c->measured) {
        gy_buf_printf(out, "of %llu keys given %llu differ\n", (unsigned long long)c->keys_total,
                      (unsigned long long)c->keys_differ);
    }
}

static const char *name_in(const gyre_map_t *m, uint32_t i)
{
    const struct gyre_node *n = gyre_map_node(m, i);
    return n ? n->name : "(none)";
}

static void remains(const struct check *c, const struct gy_reason *r, struct gy_buf *out)
{
    if (r->remains > 0) {
        gy_buf_printf(out, "  %-9s  with A's, B would disagree on %.4f %%\n", "", 100 * r->remains);
    } else if (r->remains == 0 && r->exact) {
        gy_buf_printf(out, "  %-9s  with A's, B would agree\n", "");
    } else if (r->remains == 0) {
        gy_buf_printf(out, "  %-9s  with A's, B would agree on all of the %llu generated keys\n",
                      "", (unsigned long long)c->samples);
    }
}

static void as_text(const struct check *c, char **paths, struct gy_buf *out)
{
    side("A", paths[0], &c->a, out);
    side("B", paths[1], &c->b, out);
    verdict(c, out);
    gy_buf_puts(out, c->reasons.count ? "\nwhat differs\n" : "");
    for (size_t i = 0; i < c->reasons.count; i++) {
        const struct gy_reason *r = &c->reasons.list[i];
        gy_buf_printf(out, "  %-9s  %s\n", r->code, r->text);
        if (!agrees(c)) {
            remains(c, r, out);
        }
    }
    if (!c->count) {
        return;
    }
    static const char *const heads[] = {"KEY", "IN A", "IN B", NULL};
    struct gy_table t;
    gy_buf_putc(out, '\n');
    gy_table_init(&t, heads);
    for (size_t i = 0; i < c->count; i++) {
        struct gy_buf key = {0};
        gy_term_encode(&key,
                       (struct gy_slice){(const uint8_t *)c->examples[i].key, c->examples[i].len});
        gy_table_cell(&t, gy_buf_cstr(&key));
        gy_table_cell(&t, name_in(c->a.map, c->examples[i].a));
        gy_table_cell(&t, name_in(c->b.map, c->examples[i].b));
        out->failed = out->failed || key.failed;
        gy_buf_fini(&key);
    }
    gy_table_end(&t, out);
}

/* ---- as JSON ---- */

static void json_examples(const struct check *c, struct gy_json *j, struct gy_buf *out)
{
    gy_json_key(j, "examples");
    gy_json_array(j);
    for (size_t i = 0; i < c->count; i++) {
        const struct example *x = &c->examples[i];
        struct gy_slice key = {(const uint8_t *)x->key, x->len};
        gy_json_object(j);
        gy_json_key(j, "key");
        gy_json_bytes(j, key.p, key.n);
        if (c->from.encoded || !gy_utf8_valid(key)) {
            struct gy_buf encoded = {0};
            gy_term_encode(&encoded, key);
            gy_json_kstring(j, "key_encoded", gy_buf_cstr(&encoded));
            out->failed = out->failed || encoded.failed;
            gy_buf_fini(&encoded);
        }
        gy_json_kstring(j, "a", x->a == GYRE_NONE ? NULL : name_in(c->a.map, x->a));
        gy_json_kstring(j, "b", x->b == GYRE_NONE ? NULL : name_in(c->b.map, x->b));
        gy_json_object_end(j);
    }
    gy_json_array_end(j);
}

static void as_json(const struct check *c, struct gy_buf *out)
{
    struct gy_json j;
    gy_json_init(&j, out);
    gy_json_object(&j);
    gy_json_kbool(&j, "agree", agrees(c));
    gy_json_kdouble(&j, "share", c->all.share);
    gy_json_kbool(&j, "exact", c->all.exact);
    if (!c->all.exact) {
        gy_json_kuint(&j, "samples", c->samples);
        gy_json_kdouble(&j, "share_error", c->all.error);
    }
    gy_json_kuint(&j, "renamed", renamed(c));
    if (c->measured) {
        gy_json_kuint(&j, "keys_total", c->keys_total);
        gy_json_kuint(&j, "keys_differ", c->keys_differ);
    }
    gy_json_key(&j, "reasons");
    gy_json_array(&j);
    for (size_t i = 0; i < c->reasons.count; i++) {
        gy_json_object(&j);
        gy_json_kstring(&j, "code", c->reasons.list[i].code);
        gy_json_kstring(&j, "text", c->reasons.list[i].text);
        gy_json_kdouble(&j, "remains", c->reasons.list[i].remains);
        gy_json_kbool(&j, "remains_exact", c->reasons.list[i].exact);
        gy_json_object_end(&j);
    }
    gy_json_array_end(&j);
    json_examples(c, &j, out);
    gy_json_object_end(&j);
    gy_buf_putc(out, '\n');
}

static void fini(struct check *c)
{
    for (size_t i = 0; i < c->count; i++) {
        free(c->examples[i].key);
    }
    free(c->examples);
    gy_reasons_fini(&c->reasons);
    gy_pairs_fini(&c->pairs);
    gy_topo_fini(&c->a);
    gy_topo_fini(&c->b);
}

int gy_cmd_check(int argc, char **argv)
{
    struct check c = {.samples = 200000, .most = 5};
    char **words;
    int count;
    int rc = gy_opt_parse(&USAGE, argc, argv, &c, &words, &count);
    if (rc != GY_GO_ON) {
        return rc;
    }
    struct gy_topo_from other = {c.other_format ? c.other_format : c.topo_from.format,
                                 c.other_pool ? c.other_pool : c.topo_from.pool};
    struct gy_buf out = {0};
    rc = gy_topo_load(words[0], &c.topo_from, &c.a);
    if (!rc) {
        rc = gy_topo_load(words[1], &other, &c.b);
    }
    if (!rc) {
        rc = compare(&c);
    }
    if (!rc) {
        if (c.json) {
            as_json(&c, &out);
        } else {
            as_text(&c, words, &out);
        }
        rc = gy_out_flush(&out);
    }
    if (!rc && !agrees(&c)) {
        rc = GY_EXIT_NO;
    }
    gy_buf_fini(&out);
    fini(&c);
    return rc;
}
