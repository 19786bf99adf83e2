/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memcached_write.c - servers of memcached in the form that tells which client places the keys:
 * libmemcached's configuration, JSON for the npm package memcached, libketama's file. These clients
 * know a server by its address, so a node's name is what is written. Threads: one an object.
 */
#include "base/json.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/format.h"
#include "formats/memcached.h"

static bool has_blank(const char *name)
{
    return name[strcspn(name, " \t\r\n\v\f")] != '\0';
}

static int refuse_name(struct gy_writing *w, const struct gyre_node *node, const char *why)
{
    char q[GY_QUOTE];
    return gy_write_refuse(w, "node %s: %s", gy_utf8_quote(q, gy_str(node->name)), why);
}

/* ---- libmemcached ---- */

static bool is_weighted(const struct gy_writing *w)
{
    const struct gyre_node *node;
    bool weighted = false;
    for (size_t i = 0; (node = gy_write_next(w, &i)) != NULL;) {
        weighted = weighted || node->weight > 1;
    }
    return weighted;
}

/* The configuration knows two of the distributions; of the others one is what `consistent` becomes
 * by itself as soon as a server has weight. */
static int put_distribution(struct gy_writing *w)
{
    const char *d = gy_write_get(w, "distribution"), *hash = gy_write_get(w, "hash");
    const char *point_hash = gy_write_get(w, "point_hash");
    bool modula = strcmp(d, "modula") == 0, consistent = strcmp(d, "consistent") == 0;
    bool weighted = is_weighted(w);
    if (!modula && !consistent && !(weighted && strcmp(d, "ketama_weighted") == 0)) {
        return gy_write_refuse(w,
                               "distribution: %s: libmemcached's configuration has words for "
                               "modula and consistent only; a program sets it by a call",
                               d);
    }
    if (*point_hash && strcmp(point_hash, *hash ? hash : "default") != 0 && !modula && !weighted) {
        return gy_write_refuse(w, "point_hash: %s: no configuration sets it apart from the hash",
                               point_hash);
    }
    gy_buf_printf(w->out, "--DISTRIBUTION=%s\n", modula ? "modula" : "consistent");
    hash = *hash || modula || consistent ? hash : "md5";
    if (*hash && strcmp(hash, "default") != 0) {
        gy_buf_puts(w->out, "--HASH=");
        for (; *hash; hash++) {
            gy_buf_putc(w->out, (char)(*hash >= 'a' && *hash <= 'z' ? *hash - 'a' + 'A' : *hash));
        }
        gy_buf_putc(w->out, '\n');
    }
    gy_buf_puts(w->out, gy_write_is(w, "sort_hosts", "1") ? "--SORT-HOSTS\n" : "");
    return GYRE_OK;
}

static int put_configuration(struct gy_writing *w)
{
    const struct gyre_node *node;
    int rc = put_distribution(w);
    for (size_t i = 0; !rc && (node = gy_write_next(w, &i)) != NULL;) {
        bool socket = *node->name == '/';
        if (has_blank(node->name) || strchr(node->name, '"') || strstr(node->name, "/?")) {
            return refuse_name(w, node,
                               "in libmemcached's configuration a server has no blank, no '\"' "
                               "and no '/?' in it");
        }
        gy_buf_printf(w->out, socket ? "--SOCKET=\"%s/?" : "--SERVER=%s/?", node->name);
        gy_write_weight(w->out, node->weight);
        gy_buf_puts(w->out, socket ? "\"\n" : "\n");
    }
    return rc;
}

/* ---- the npm package ---- */

static int put_json(struct gy_writing *w)
{
    static const char *const fixed[][2] = {
        {"hash", "md5"}, {"vnode_count", "40"}, {"digest_points", "4"}, {"default_port", "11211"}};
    const struct gyre_node *node;
    struct gy_json j;
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        if (!gy_write_is(w, fixed[i][0], fixed[i][1])) {
            return gy_write_refuse(w,
                                   "%s: %s: the list of servers cannot say it; it is given to the "
                                   "client beside the list",
                                   fixed[i][0], gy_write_get(w, fixed[i][0]));
        }
    }
    gy_json_init(&j, w->out);
    gy_json_object(&j);
    for (size_t i = 0; (node = gy_write_next(w, &i)) != NULL;) {
        struct gy_slice text;
        uint64_t vnodes, weight = gy_num_to_micros(node->weight) / 1000000;
        gy_json_key(&j, node->name);
        if (gy_write_option(node, "vnodes", &text) && gy_num_uint(text, &vnodes) == GYRE_OK) {
            gy_json_object(&j);
            gy_json_kuint(&j, "weight", weight);
            gy_json_kuint(&j, "vnodes", vnodes);
            gy_json_object_end(&j);
        } else {
            gy_json_uint(&j, weight);
        }
    }
    gy_json_object_end(&j);
    gy_buf_putc(w->out, '\n');
    return GYRE_OK;
}

/* ---- libketama ---- */

static int put_ketama(struct gy_writing *w)
{
    const struct gyre_node *node;
    for (size_t i = 0; (node = gy_write_next(w, &i)) != NULL;) {
        if (has_blank(node->name) || strpbrk(node->name, ",#")) {
            return refuse_name(w, node,
                               "in libketama's file a server has no blank, no ',' and no '#'");
        }
        gy_buf_printf(w->out, "%s\t", node->name);
        gy_write_weight(w->out, node->weight);
        gy_buf_putc(w->out, '\n');
    }
    return GYRE_OK;
}

int gy_memcached_write(struct gy_writing *w)
{
    return gy_write_is(w, "like", "libmemcached")    ? put_configuration(w)
           : gy_write_is(w, "like", "npm-memcached") ? put_json(w)
                                                     : put_ketama(w);
}
