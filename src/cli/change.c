/* SPDX-License-Identifier: Apache-2.0 */
/* change.c - see change.h. */
#include "cli/change.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/schema.h"
#include "formats/value.h"
#include "formats/yaml_in.h"

#include <stdio.h>
#include <stdlib.h>

/* What each kind wants, and its option's name for messages. */
static const struct {
    const char *option, *form;
} KINDS[] = {
    [GYRE_ADD] = {"--add", "NAME=ADDRESS[,weight=W][,zone=Z]"},
    [GYRE_REMOVE] = {"--remove", "NAME"},
    [GYRE_WEIGHT] = {"--weight", "NAME=W"},
    [GYRE_REPLACE] = {"--replace", "NAME=ADDRESS"},
};

static int fail(gyre_error_t *e, int code, enum gyre_change_kind kind, const char *text,
                const char *why)
{
    char q[GY_QUOTE];
    return gy_format_fail(e, code, NULL, "%s %s: %s", KINDS[kind].option,
                          gy_utf8_quote(q, gy_str(text)), why);
}

/* One property of the node, read by the schema of the file. */
static int set(struct gy_node_draft *d, const char *key, struct gy_slice value,
               char why[GY_VALUE_WHY])
{
    return gy_value_set(gy_schema_find(GY_SEC_NODE, gy_str(key)), value, d, why);
}

/* The name before the first bare '='; *text goes to what follows it, NULL when there is no '='. */
static int split_name(const char **text, struct gy_buf *name)
{
    const char *c = *text;
    for (; *c && *c != '='; c++) {
        if (*c == '\\' && c[1]) {
            c++;
        }
        gy_buf_putc(name, *c);
    }
    *text = *c ? c + 1 : NULL;
    return gy_buf_failed(name) ? GYRE_NOMEM : GYRE_OK;
}

/* "weight=2" or "zone=eu/a" of --add. */
static int set_property(struct gy_node_draft *d, struct gy_slice word, char why[GY_VALUE_WHY])
{
    static const char *const known[] = {"weight", "zone"};
    const uint8_t *eq = memchr(word.p, '=', word.n);
    size_t n = eq ? (size_t)(eq - word.p) : word.n;
    for (size_t i = 0; eq && i < 2; i++) {
        if (gy_slice_eq(gy_str(known[i]), (struct gy_slice){word.p, n})) {
            return set(d, known[i], (struct gy_slice){eq + 1, word.n - n - 1}, why);
        }
    }
    char q[GY_QUOTE];
    snprintf(why, GY_VALUE_WHY, "unknown property %s; known: weight=W, zone=Z",
             gy_utf8_quote(q, word));
    return GYRE_UNKNOWN;
}

/* "ADDRESS[,weight=W][,zone=Z]" */
static int set_address_and_more(struct gy_node_draft *d, const char *text, char why[GY_VALUE_WHY])
{
    size_t n = strcspn(text, ",");
    int rc = set(d, "address", (struct gy_slice){(const uint8_t *)text, n}, why);
    while (!rc && text[n]) {
        text += n + 1;
        n = strcspn(text, ",");
        rc = set_property(d, (struct gy_slice){(const uint8_t *)text, n}, why);
    }
    return rc;
}

static int read_change(enum gyre_change_kind kind, const char *text, struct gy_node_draft *d,
                       char why[GY_VALUE_WHY])
{
    if (kind == GYRE_REMOVE) {
        return set(d, "name", gy_str(text), why);
    }
    struct gy_buf name = {0};
    int rc = split_name(&text, &name);
    if (!rc && !text) {
        snprintf(why, GY_VALUE_WHY, "there is no '='; write %s %s", KINDS[kind].option,
                 KINDS[kind].form);
        rc = GYRE_SYNTAX;
    }
    if (!rc) {
        rc = set(d, "name", (struct gy_slice){name.data, name.len}, why);
    }
    if (!rc && kind == GYRE_ADD) {
        rc = set_address_and_more(d, text, why);
    } else if (!rc) {
        rc = set(d, kind == GYRE_WEIGHT ? "weight" : "address", gy_str(text), why);
    }
    gy_buf_fini(&name);
    return rc;
}

int gy_changes_add(struct gy_changes *c, enum gyre_change_kind kind, const char *text,
                   gyre_error_t *e)
{
    struct gy_node_draft d = {.weight = 1000000};
    char why[GY_VALUE_WHY] = "out of memory";
    int rc = read_change(kind, text, &d, why);
    struct gyre_change *grown = NULL;
    if (!rc) {
        grown = realloc(c->list, (c->count + 1) * sizeof *grown);
        rc = grown ? GYRE_OK : GYRE_NOMEM;
    }
    if (rc) {
        gy_node_draft_fini(&d);
        return fail(e, rc, kind, text, why);
    }
    c->list = grown;
    c->list[c->count++] = (struct gyre_change){
        .size = sizeof(struct gyre_change),
        .kind = kind,
        .node = {.size = sizeof(struct gyre_node),
                 .name = d.name,
                 .address = d.address,
                 .zone = d.zone,
                 .weight = gy_num_from_micros(d.weight)},
    };
    return GYRE_OK;
}

/* The first change that cannot be made; c->count when each of them can, or none could. Only after a
 * failure. */
static size_t culprit(const struct gy_changes *c, const gyre_topology_t *t)
{
    gyre_topology_t *next = NULL;
    gyre_error_t e = {0};
    size_t i = 0;
    if (gyre_plan_apply(t, NULL, 0, &next, &e) != GYRE_OK) {
        return c->count;
    }
    gyre_topology_free(next);
    while (i < c->count && gyre_plan_apply(t, c->list, i + 1, &next, &e) == GYRE_OK) {
        gyre_topology_free(next);
        i++;
    }
    return i;
}

int gy_changes_apply(const struct gy_changes *c, const gyre_topology_t *t, gyre_topology_t **out,
                     gyre_error_t *e)
{
    int rc = gyre_plan_apply(t, c->list, c->count, out, e);
    size_t i = rc && rc != GYRE_NOMEM ? culprit(c, t) : c->count;
    if (i == c->count) {
        return rc;
    }
    char why[sizeof e->message];
    snprintf(why, sizeof why, "%s",
             rc == GYRE_DUPLICATE ? "there is a node of that name already" : e->message);
    return fail(e, rc, c->list[i].kind, c->list[i].node.name, why);
}

/* The library's struct holds its texts as const; they are this object's own. */
static void drop(const char *text)
{
    free((void *)(uintptr_t)text);
}

void gy_changes_fini(struct gy_changes *c)
{
    for (size_t i = 0; i < c->count; i++) {
        drop(c->list[i].node.name);
        drop(c->list[i].node.address);
        drop(c->list[i].node.zone);
    }
    free(c->list);
    *c = (struct gy_changes){0};
}
