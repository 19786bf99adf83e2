/* SPDX-License-Identifier: Apache-2.0 */
/* value.c - see value.h. */
#include "formats/value.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/address.h"

#include <stdio.h>
#include <stdlib.h>

static int store_text(char **at, struct gy_slice text)
{
    char *copy = gy_slice_dup(text);
    if (!copy) {
        return GYRE_NOMEM;
    }
    free(*at);
    *at = copy;
    return GYRE_OK;
}

static int store_listen(void *base, struct gy_slice text)
{
    struct gy_proxy_conf *p = base;
    char **grown = realloc(p->listen, (p->listen_count + 1) * sizeof *grown);
    if (!grown) {
        return GYRE_NOMEM;
    }
    p->listen = grown;
    p->listen[p->listen_count] = NULL;
    int rc = store_text(&p->listen[p->listen_count], text);
    p->listen_count += rc == GYRE_OK;
    return rc;
}

/* Which of "a|b|c" text is, or the words' number. */
static unsigned word_index(const char *words, struct gy_slice text)
{
    unsigned i = 0;
    for (const char *w = words; *w; i++) {
        size_t n = strcspn(w, "|");
        if (gy_slice_eq((struct gy_slice){(const uint8_t *)w, n}, text)) {
            return i;
        }
        w += n + (w[n] == '|');
    }
    return i;
}

static int read_number(const struct gy_key *k, struct gy_slice text, uint64_t *v)
{
    int rc;
    if (k->kind == GY_KIND_MICROS) {
        rc = gy_num_micros(text, v);
    } else if (k->kind == GY_KIND_SIZE) {
        rc = gy_num_size(text, v);
    } else if (k->kind == GY_KIND_DURATION) {
        rc = gy_num_duration(text, v);
    } else {
        rc = gy_num_uint(text, v);
    }
    if (rc) {
        return rc;
    }
    /* A weight may also be 0, which is not a small weight but none. */
    bool drained = k->kind == GY_KIND_MICROS && *v == 0;
    return drained || (*v >= k->min && *v <= k->max) ? GYRE_OK : GYRE_RANGE;
}

static int set_number(const struct gy_key *k, struct gy_slice text, void *base, char *why)
{
    uint64_t v;
    int rc = read_number(k, text, &v);
    if (rc) {
        char wants[200], q[GY_QUOTE];
        snprintf(why, GY_VALUE_WHY, "%s is %s; it must be %s", k->name, gy_utf8_quote(q, text),
                 gy_key_wants(k, wants, sizeof wants));
        return rc;
    }
    if (k->kind == GY_KIND_UINT32 || k->kind == GY_KIND_DURATION) {
        *(unsigned *)gy_key_at(k, base) = (unsigned)v;
    } else {
        *(uint64_t *)gy_key_at(k, base) = v;
    }
    return GYRE_OK;
}

static int set_word(const struct gy_key *k, struct gy_slice text, void *base, char *why)
{
    unsigned i = word_index(k->words, text);
    if (i > GY_DOWN_SPILL) {
        char q[GY_QUOTE];
        snprintf(why, GY_VALUE_WHY, "%s is %s; it must be one of %s", k->name,
                 gy_utf8_quote(q, text), k->words);
        return GYRE_UNKNOWN;
    }
    *(enum gy_down *)gy_key_at(k, base) = (enum gy_down)i;
    return GYRE_OK;
}

static int set_text(const struct gy_key *k, struct gy_slice text, void *base, char *why)
{
    char reason[GY_ADDRESS_WHY], q[GY_QUOTE];
    bool is_text = k->kind == GY_KIND_TEXT;
    bool ok = is_text ? gy_text_check(text, (size_t)k->max, reason)
                      : gy_address_check(text, k->kind == GY_KIND_LISTEN, reason);
    if (!ok) {
        if (is_text) {
            snprintf(why, GY_VALUE_WHY, "%s %s", k->name, reason);
        } else {
            snprintf(why, GY_VALUE_WHY, "%s %s %s", k->name, gy_utf8_quote(q, text), reason);
        }
        return is_text ? GYRE_RANGE : GYRE_SYNTAX;
    }
    if (k->kind != GY_KIND_LISTEN) {
        return store_text(gy_key_at(k, base), text);
    }
    if (((struct gy_proxy_conf *)base)->listen_count >= GY_LISTEN_MAX) {
        snprintf(why, GY_VALUE_WHY, "listen has more than %d addresses", GY_LISTEN_MAX);
        return GYRE_RANGE;
    }
    return store_listen(base, text);
}

int gy_value_set(const struct gy_key *k, struct gy_slice text, void *base, char why[GY_VALUE_WHY])
{
    int rc = GYRE_OK;
    why[0] = 0;
    switch (k->kind) {
    case GY_KIND_PLACEMENT:
    case GY_KIND_NODES:
    case GY_KIND_SECTION:
        break;
    case GY_KIND_UINT:
    case GY_KIND_UINT32:
    case GY_KIND_MICROS:
    case GY_KIND_SIZE:
    case GY_KIND_DURATION:
        rc = set_number(k, text, base, why);
        break;
    case GY_KIND_TEXT:
    case GY_KIND_ADDRESS:
    case GY_KIND_LISTEN:
        rc = set_text(k, text, base, why);
        break;
    case GY_KIND_DOWN:
        rc = set_word(k, text, base, why);
        break;
    }
    if (rc == GYRE_NOMEM) {
        snprintf(why, GY_VALUE_WHY, "out of memory");
    }
    return rc;
}

int gy_value_defaults(enum gy_section section, void *base)
{
    size_t n;
    const struct gy_key *keys = gy_schema(&n);
    char why[GY_VALUE_WHY];
    for (size_t i = 0; i < n; i++) {
        if (keys[i].section != section) {
            continue;
        }
        int rc = GYRE_OK;
        if (keys[i].kind == GY_KIND_SECTION && keys[i].sub != GY_SEC_PROXY) {
            rc = gy_value_defaults(keys[i].sub, base);
        } else if (keys[i].fallback) {
            rc = gy_value_set(&keys[i], gy_str(keys[i].fallback), base, why);
        }
        if (rc) {
            return rc;
        }
    }
    return GYRE_OK;
}

void gy_proxy_conf_fini(struct gy_proxy_conf *p)
{
    for (size_t i = 0; i < p->listen_count; i++) {
        free(p->listen[i]);
    }
    free(p->listen);
    free(p->state);
    free(p->admin);
    free(p->pool);
    free(p->prefix);
    free(p->user);
    free(p->password_file);
    *p = (struct gy_proxy_conf){0};
}

void gy_node_draft_fini(struct gy_node_draft *n)
{
    free(n->name);
    free(n->address);
    free(n->zone);
    free(n->options);
    *n = (struct gy_node_draft){0};
}
