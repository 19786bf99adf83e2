/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump.c - gy_config_dump: a topology as gyre YAML. Settings and values at their default are left
 * out, so what is written is what somebody chose; the algorithm (or `like`) is always written, so
 * that a file says what it means.
 */
#include "formats/dump.h"
#include "base/num.h"
#include "lib/readers.h"

/* Words YAML 1.1 readers take for something else than text. */
static bool is_reserved(const char *s)
{
    static const char *const words[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(s, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_plain(const char *s)
{
    static const char letters[] = "/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char more[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    return *s && strchr(letters, *s) && s[strspn(s, more)] == 0 && !is_reserved(s);
}

void gy_dump_setting(struct gy_buf *out, const char *value)
{
    if (*value && value[strspn(value, "0123456789")] == 0) {
        gy_buf_puts(out, value);
    } else {
        gy_dump_scalar(out, value);
    }
}

void gy_dump_scalar(struct gy_buf *out, const char *text)
{
    if (is_plain(text)) {
        gy_buf_puts(out, text);
        return;
    }
    gy_buf_putc(out, '"');
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\') {
            gy_buf_putc(out, '\\');
        }
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            gy_buf_printf(out, "\\x%02x", (unsigned char)*c);
        } else {
            gy_buf_putc(out, *c);
        }
    }
    gy_buf_putc(out, '"');
}

static void dump_listen(struct gy_buf *out, const struct gy_proxy_conf *p)
{
    gy_buf_putc(out, '[');
    for (size_t i = 0; i < p->listen_count; i++) {
        gy_buf_puts(out, i ? ", " : "");
        gy_dump_scalar(out, p->listen[i]);
    }
    gy_buf_putc(out, ']');
}

static const void *at(const struct gy_key *k, const void *base)
{
    return (const char *)base + k->offset;
}

static void dump_word(struct gy_buf *out, const char *words, unsigned i)
{
    for (; i; i--) {
        words += strcspn(words, "|") + 1;
    }
    gy_buf_add(out, words, strcspn(words, "|"));
}

bool gy_dump_value(struct gy_buf *out, const struct gy_key *k, const void *base)
{
    char text[GY_NUM_TEXT];
    const char *s;
    switch (k->kind) {
    case GY_KIND_PLACEMENT:
    case GY_KIND_NODES:
    case GY_KIND_SECTION:
        return false;
    case GY_KIND_UINT:
        gy_buf_printf(out, "%llu", (unsigned long long)*(const uint64_t *)at(k, base));
        return true;
    case GY_KIND_UINT32:
        gy_buf_printf(out, "%u", *(const unsigned *)at(k, base));
        return true;
    case GY_KIND_MICROS:
        gy_buf_puts(out, gy_num_fmt_micros(text, *(const uint64_t *)at(k, base)));
        return true;
    case GY_KIND_SIZE:
        gy_buf_puts(out, gy_num_fmt_size(text, *(const uint64_t *)at(k, base)));
        return true;
    case GY_KIND_DURATION:
        gy_buf_puts(out, gy_num_fmt_duration(text, *(const unsigned *)at(k, base)));
        return true;
    case GY_KIND_TEXT:
    case GY_KIND_ADDRESS:
        s = *(char *const *)at(k, base);
        if (s) {
            gy_dump_scalar(out, s);
        }
        return s != NULL;
    case GY_KIND_LISTEN:
        dump_listen(out, base);
        return ((const struct gy_proxy_conf *)base)->listen_count > 0;
    case GY_KIND_DOWN:
        dump_word(out, k->words, *(const enum gy_down *)at(k, base));
        return true;
    }
    return false;
}

/* Does the value stand as the schema's default would? Texts are compared before quoting. */
static bool is_default(const struct gy_key *k, const void *base, const char *written)
{
    bool text = k->kind == GY_KIND_TEXT || k->kind == GY_KIND_ADDRESS;
    return k->fallback && strcmp(text ? *(char *const *)at(k, base) : written, k->fallback) == 0;
}

/* Every chosen value of a section, one a line. */
static void dump_section(struct gy_buf *out, enum gy_section section, const void *base, int indent)
{
    size_t n;
    const struct gy_key *keys = gy_schema(&n);
    for (size_t i = 0; i < n; i++) {
        struct gy_buf value = {0};
        if (keys[i].section == section && keys[i].kind == GY_KIND_SECTION) {
            dump_section(&value, keys[i].sub, base, indent + 2);
            if (gy_buf_size(&value)) {
                gy_buf_printf(out, "%*s%s:\n%s", indent, "", keys[i].name, gy_buf_cstr(&value));
            }
        } else if (keys[i].section == section && gy_dump_value(&value, &keys[i], base)) {
            const char *text = gy_buf_cstr(&value);
            if (!is_default(&keys[i], base, text)) {
                gy_buf_printf(out, "%*s%s: %s\n", indent, "", keys[i].name, text);
            }
        }
        out->failed = out->failed || value.failed;
        gy_buf_fini(&value);
    }
}

static bool differs(const char *value, const char *from)
{
    return value && (!from || strcmp(value, from) != 0);
}

/* Nothing is what a setting holds that the imitated system has not; only a tag may be empty. */
static bool in_force(const gyre_topology_t *t, const char *key, const char *value)
{
    return value && (*value || strcmp(key, "hash_tag") == 0) &&
           gy_readers_check(t, key, NULL) == GYRE_OK;
}

/* A default may depend on other settings (`hash_tag` on `like`), so each is asked for its default
 * from a topology that has only the plainly different ones. */
static gyre_topology_t *probe(const gyre_topology_t *t, const struct gyre_setting *all, size_t n)
{
    gyre_topology_t *p = gyre_topology_new();
    for (size_t i = 0; p && i < n; i++) {
        const char *v = gyre_topology_get(t, all[i].key);
        if (in_force(t, all[i].key, v) && differs(v, all[i].fallback) &&
            gyre_topology_set(p, all[i].key, v, NULL)) {
            gyre_topology_free(p);
            p = NULL;
        }
    }
    return p;
}

static void dump_placement(struct gy_buf *out, const gyre_topology_t *t)
{
    size_t n;
    const struct gyre_setting *all = gyre_settings(&n);
    gyre_topology_t *p = probe(t, all, n);
    const char *like = gyre_topology_get(t, "like");
    const char *head = "placement:\n";
    out->failed = out->failed || !p;
    for (size_t i = 0; p && i < n; i++) {
        const char *v = gyre_topology_get(t, all[i].key);
        bool named = strcmp(all[i].key, "algorithm") == 0 && (!like || !*like);
        if (in_force(t, all[i].key, v) && (named || differs(v, all[i].fallback) ||
                                           differs(v, gyre_topology_get(p, all[i].key)))) {
            gy_buf_printf(out, "%s  %s: ", head, all[i].key);
            gy_dump_setting(out, v);
            gy_buf_putc(out, '\n');
            head = "";
        }
    }
    gyre_topology_free(p);
}

static void dump_node(struct gy_buf *out, const struct gyre_node *node)
{
    char weight[GY_NUM_TEXT];
    gy_buf_puts(out, "  - {name: ");
    gy_dump_scalar(out, node->name);
    if (node->address) {
        gy_buf_puts(out, ", address: ");
        gy_dump_scalar(out, node->address);
    }
    gy_buf_printf(out, ", weight: %s", gy_num_fmt_micros(weight, gy_num_to_micros(node->weight)));
    if (node->zone) {
        gy_buf_puts(out, ", zone: ");
        gy_dump_scalar(out, node->zone);
    }
    if (node->slot) {
        gy_buf_printf(out, ", slot: %u", node->slot);
    }
    if (node->options) {
        gy_buf_puts(out, ", options: ");
        gy_dump_scalar(out, node->options);
    }
    gy_buf_puts(out, "}\n");
}

static void dump_removed(struct gy_buf *out, const gyre_topology_t *t)
{
    size_t n;
    const uint32_t *slots = gyre_topology_removed(t, &n);
    for (size_t i = 0; i < n; i++) {
        gy_buf_printf(out, "%s%u", i ? " " : "removed: \"", slots[i]);
    }
    gy_buf_puts(out, n ? "\"\n" : "");
}

void gy_config_dump(const gyre_topology_t *t, const struct gy_proxy_conf *proxy, struct gy_buf *out)
{
    gy_buf_printf(out, "gyre: 1\nversion: %llu\n", (unsigned long long)gyre_topology_version(t));
    dump_placement(out, t);
    dump_removed(out, t);
    size_t n = gyre_topology_count(t);
    gy_buf_puts(out, "nodes:\n");
    for (size_t i = 0; i < n; i++) {
        dump_node(out, gyre_topology_node(t, i));
    }
    if (proxy && proxy->present) {
        struct gy_buf section = {0};
        dump_section(&section, GY_SEC_PROXY, proxy, 2);
        gy_buf_printf(out, "proxy:%s\n", gy_buf_size(&section) ? "" : " {}");
        gy_buf_add(out, gy_buf_head(&section), gy_buf_size(&section));
        out->failed = out->failed || section.failed;
        gy_buf_fini(&section);
    }
}
