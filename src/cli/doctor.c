/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.c - `gyre doctor`: is this fleet whole, and safe to change now? The verdict first, then
 * what was found, the worst first, each with what to do. The checks are in checks.c.
 */
#include "base/json.h"
#include "cli/checks.h"
#include "cli/cmd.h"
#include "cli/down.h"
#include "cli/live.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/source.h"
#include "cli/term.h"
#include "cli/topo.h"
#include "cli/views.h"
#include "formats/format.h"

#include <stdio.h>
#include <stdlib.h>

struct doctor {
    struct gy_topo_from topo_from;
    bool json, checks;
    /* inside */
    struct gy_pools *pools;
    const struct gy_pool *only;
    struct gy_findings *found; /* of each pool */
    size_t counts[GY_SEVERITIES];
};

static const struct gy_opt OPTIONS[] = {
    GY_TOPO_OPTIONS(struct doctor),
    {0, "checks", NULL, "lists what is looked for, and what to do about each", GY_OPT_FLAG,
     offsetof(struct doctor, checks), 0, 0, NULL},
    {0, "json", NULL, "answer in JSON", GY_OPT_FLAG, offsetof(struct doctor, json), 0, 0, NULL},
    {0}};

static const char *const EXAMPLES[] = {
    "gyre doctor redis://127.0.0.1:7001",
    "redis-cli -p 7001 cluster nodes | gyre doctor -",
    "gyre doctor nodes-7001.txt nodes-7002.txt nodes-7003.txt",
    "gyre doctor nutcracker.yml --json",
    "gyre doctor --checks",
    NULL,
};

static const struct gy_usage USAGE = {
    "gyre doctor",
    "TOPOLOGY [VIEW...] | --checks",
    "Is it whole, and safe to change now? An error means that a change now could lose keys, or "
    "could not\nfinish. '-' is stdin; of redis://HOST:PORT every node of its cluster is asked, and "
    "they must agree,\nas must each VIEW: CLUSTER NODES of another node.",
    OPTIONS,
    EXAMPLES,
    0,
    -1,
    "0 safe to change; 1 errors were found" GY_EXITS_NO,
};

/* ---- --checks ---- */

static void check_json(const struct gy_check *c, struct gy_json *j)
{
    gy_json_object(j);
    gy_json_kstring(j, "code", c->code);
    gy_json_kstring(j, "severity", gy_severity_name(c->severity));
    gy_json_kstring(j, "means", c->means);
    gy_json_kstring(j, "todo", c->todo);
    gy_json_object_end(j);
}

static int list_checks(const struct doctor *d)
{
    size_t n;
    const struct gy_check *all = gy_checks(&n);
    struct gy_buf out = {0};
    struct gy_json j;
    gy_json_init(&j, &out);
    if (d->json) {
        gy_json_array(&j);
    }
    for (size_t i = 0; i < n; i++) {
        if (d->json) {
            check_json(&all[i], &j);
        } else {
            gy_buf_printf(&out, "%-8s %s: %s\n", gy_severity_name(all[i].severity), all[i].code,
                          all[i].means);
            if (all[i].todo) {
                gy_buf_printf(&out, "         to do: %s\n", all[i].todo);
            }
        }
    }
    if (d->json) {
        gy_json_array_end(&j);
        gy_buf_putc(&out, '\n');
    }
    return gy_out_end(&out);
}

/* ---- the answer ---- */

static bool is_shown(const struct doctor *d, size_t i)
{
    return !d->only || d->pools->list[i] == d->only;
}

static int examine(struct doctor *d)
{
    d->found = calloc(d->pools->count + 1, sizeof *d->found);
    int rc = d->found ? GY_EXIT_OK : gy_complain_memory();
    for (size_t i = 0; i < d->pools->count && !rc; i++) {
        gyre_map_t *map = NULL;
        if (!is_shown(d, i)) {
            continue;
        }
        rc = gy_topo_judge(d->pools->list[i], &map);
        if (!rc) {
            gy_checks_run(d->pools->list[i], map, &d->found[i]);
            rc = d->found[i].failed ? gy_complain_memory() : GY_EXIT_OK;
        }
        gyre_map_unref(map);
        for (size_t k = 0; k < d->found[i].count; k++) {
            d->counts[d->found[i].list[k].severity]++;
        }
    }
    return rc;
}

static bool is_safe(const struct doctor *d)
{
    return d->counts[GY_FOUND_ERROR] == 0;
}

/* "safe to change now: no, 3 errors, 1 warning" */
static void verdict(const struct doctor *d, struct gy_buf *out)
{
    bool any = false;
    gy_buf_puts(out, "safe to change now: ");
    gy_term_tint(out, is_safe(d) ? GY_TINT_GOOD : GY_TINT_BAD, is_safe(d) ? "yes" : "no");
    for (size_t s = GY_SEVERITIES; s-- > 0;) {
        size_t n = d->counts[s];
        any |= n > 0;
        if (n) {
            gy_buf_printf(out, ", %zu %s%s", n, gy_severity_name((enum gy_severity)s),
                          n == 1 ? "" : "s");
        }
    }
    gy_buf_puts(out, any ? "\n" : ", nothing was found\n");
}

static void finding_text(const struct gy_finding *f, struct gy_buf *out)
{
    const char *name = gy_severity_name(f->severity);
    if (f->severity == GY_FOUND_NOTE) {
        gy_buf_puts(out, name);
    } else {
        gy_term_tint(out, GY_TINT_BAD, name);
    }
    gy_buf_printf(out, " %s", f->code);
    if (f->line) {
        gy_buf_printf(out, ", line %u", f->line);
    }
    gy_buf_puts(out, ": ");
    gy_term_text(out, gy_str(f->text));
    gy_buf_putc(out, '\n');
    if (f->todo) {
        gy_buf_printf(out, "    to do: %s\n", f->todo);
    }
}

static void as_text(const struct doctor *d, struct gy_buf *out)
{
    verdict(d, out);
    for (size_t i = 0; i < d->pools->count; i++) {
        const char *name = d->pools->list[i]->name;
        if (*name && d->found[i].count) {
            gy_buf_puts(out, "\npool ");
            gy_term_tint(out, GY_TINT_BOLD, name);
            gy_buf_putc(out, '\n');
        }
        for (size_t k = 0; k < d->found[i].count; k++) {
            finding_text(&d->found[i].list[k], out);
        }
    }
}

static void finding_json(const struct gy_pool *p, const struct gy_finding *f, struct gy_json *j)
{
    gy_json_object(j);
    gy_json_kstring(j, "severity", gy_severity_name(f->severity));
    gy_json_kstring(j, "code", f->code);
    gy_json_kuint(j, "line", f->line);
    gy_json_kstring(j, "text", f->text);
    gy_json_kstring(j, "todo", f->todo);
    gy_json_key(j, "servers");
    gy_json_array(j);
    for (size_t i = 0; i < f->server_count; i++) {
        gy_json_string(j, p->servers[f->servers[i]].name);
    }
    gy_json_array_end(j);
    gy_json_object_end(j);
}

static void as_json(const struct doctor *d, struct gy_buf *out)
{
    struct gy_json j;
    gy_json_init(&j, out);
    gy_json_object(&j);
    gy_json_kbool(&j, "safe", is_safe(d));
    gy_json_kuint(&j, "errors", d->counts[GY_FOUND_ERROR]);
    gy_json_kuint(&j, "warnings", d->counts[GY_FOUND_WARNING]);
    gy_json_kuint(&j, "notes", d->counts[GY_FOUND_NOTE]);
    gy_json_kstring(&j, "format", d->pools->format->name);
    gy_json_key(&j, "pools");
    gy_json_array(&j);
    for (size_t i = 0; i < d->pools->count; i++) {
        if (!is_shown(d, i)) {
            continue;
        }
        gy_json_object(&j);
        gy_json_kstring(&j, "name", d->pools->list[i]->name);
        gy_json_key(&j, "findings");
        gy_json_array(&j);
        for (size_t k = 0; k < d->found[i].count; k++) {
            finding_json(d->pools->list[i], &d->found[i].list[k], &j);
        }
        gy_json_array_end(&j);
        gy_json_object_end(&j);
    }
    gy_json_array_end(&j);
    gy_json_object_end(&j);
    gy_buf_putc(out, '\n');
}

static void fini(struct doctor *d)
{
    for (size_t i = 0; d->found && i < d->pools->count; i++) {
        gy_findings_fini(&d->found[i]);
    }
    free(d->found);
    gy_pools_free(d->pools);
}

/* The other nodes of the cluster say what they see; *from is what was read last. */
static int hear_others(struct doctor *d, char **words, int count, const char **from,
                       gyre_error_t *e)
{
    struct gy_pool *mine = d->pools->list[0];
    int rc = GYRE_OK;
    if (gy_live_is(words[0]) && gy_is_cluster(mine)) {
        rc = gy_views_ask(words[0], mine, e);
    }
    for (int i = 1; i < count && !rc; i++) {
        struct gy_pools *view = NULL;
        *from = words[i];
        rc = gy_source_read(words[i], d->topo_from.format, &view, e);
        rc = rc ? rc : gy_views_add(mine, view->list[0], words[i], e);
        gy_pools_free(view);
    }
    if (!rc && count > 1 && gy_views_unheard(mine)) {
        rc = gy_format_fail(e, GYRE_NOMEM, NULL, "out of memory");
    }
    return rc;
}

int gy_cmd_doctor(int argc, char **argv)
{
    struct doctor d = {0};
    char **words;
    int count;
    int rc = gy_opt_parse(&USAGE, argc, argv, &d, &words, &count);
    if (rc != GY_GO_ON) {
        return rc;
    }
    if (d.checks) {
        return list_checks(&d);
    }
    if (count == 0) {
        gy_complain("doctor: which file? usage: gyre doctor %s", USAGE.words);
        return GY_EXIT_USAGE;
    }
    struct gy_buf out = {0};
    gyre_error_t e = {0};
    rc = gy_source_read(words[0], d.topo_from.format, &d.pools, &e);
    if (!rc) {
        rc = gy_topo_some(d.pools, d.topo_from.pool, words[0], &d.only, &e);
    }
    const char *from = words[0];
    rc = rc ? rc : hear_others(&d, words, count, &from, &e);
    rc = rc ? gy_source_complain(from, &e) : examine(&d);
    if (!rc) {
        (d.json ? as_json : as_text)(&d, &out);
        rc = gy_out_flush(&out);
    }
    if (!rc && !is_safe(&d)) {
        rc = GY_EXIT_NO;
    }
    gy_buf_fini(&out);
    fini(&d);
    return rc;
}
