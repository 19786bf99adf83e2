/* SPDX-License-Identifier: Apache-2.0 */
/* write.c - see write.h: what all writers share. The reading back is in write_back.c. */
#include "formats/write.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/address.h"
#include "formats/format.h"
#include "formats/lines.h"
#include "formats/write_back.h"

#include <stdio.h>

#define LISTED 5 /* names in a line */

void gy_written_fini(struct gy_written *w)
{
    gy_buf_fini(&w->text);
    gy_buf_fini(&w->losses);
    gy_buf_fini(&w->choices);
}

/* ---- for writers ---- */

int gy_write_refuse(struct gy_writing *w, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    gy_format_vfail(w->e, GYRE_INVALID, NULL, (struct gy_mark){0, 0}, fmt, ap);
    va_end(ap);
    return GYRE_INVALID;
}

static void tell(struct gy_buf *out, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));
static void tell(struct gy_buf *out, const char *fmt, va_list ap)
{
    gy_buf_vprintf(out, fmt, ap);
    gy_buf_putc(out, '\n');
}

void gy_write_loss(struct gy_writing *w, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    tell(&w->told->losses, fmt, ap);
    va_end(ap);
}

void gy_write_choice(struct gy_writing *w, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    tell(&w->told->choices, fmt, ap);
    va_end(ap);
}

const char *gy_write_get(const struct gy_writing *w, const char *key)
{
    const char *v = gyre_topology_get(w->t, key);
    return v ? v : "";
}

static const struct gy_pool *same_file(const struct gy_writing *w)
{
    return w->what->from_format == w->format ? w->what->from : NULL;
}

const char *gy_write_fact(const struct gy_writing *w, const char *key)
{
    const struct gy_pool *p = same_file(w);
    return p ? gy_pool_fact_of(p, key) : NULL;
}

const struct gy_server *gy_write_server(const struct gy_writing *w, const struct gyre_node *node)
{
    const struct gy_pool *p = same_file(w);
    return p ? gy_pool_find(p, node->name) : NULL;
}

const struct gyre_node *gy_write_next(const struct gy_writing *w, size_t *i)
{
    bool drained = w->format->writer->keeps & GY_KEEPS_DRAINED;
    const struct gyre_node *node;
    do {
        node = gyre_topology_node(w->t, (*i)++);
    } while (node && node->weight == 0 && !drained);
    return node;
}

int gy_write_address(struct gy_writing *w, const struct gyre_node *node, struct gy_slice *host,
                     struct gy_slice *port)
{
    char why[GY_ADDRESS_WHY], q[2][GY_QUOTE];
    if (!node->address) {
        return gy_write_refuse(w, "node %s has no address, and %s needs one",
                               gy_utf8_quote(q[0], gy_str(node->name)), w->format->writer->system);
    }
    if (!gy_address_check(gy_str(node->address), false, why)) {
        return gy_write_refuse(w, "node %s: the address %s %s",
                               gy_utf8_quote(q[0], gy_str(node->name)),
                               gy_utf8_quote(q[1], gy_str(node->address)), why);
    }
    gy_address_parts(node->address, host, port);
    return GYRE_OK;
}

bool gy_write_option(const struct gyre_node *node, const char *word, struct gy_slice *value)
{
    size_t n = strlen(word);
    struct gy_slice rest = gy_str(node->options ? node->options : ""), option;
    while (gy_word_next(&rest, &option)) {
        bool valued = gy_slice_starts(option, word) && option.n > n && option.p[n] == '=';
        if (valued || gy_slice_eq(option, gy_str(word))) {
            *value = (struct gy_slice){option.p + n + valued, option.n - n - valued};
            return true;
        }
    }
    return false;
}

void gy_write_weight(struct gy_buf *out, double weight)
{
    char text[GY_NUM_TEXT];
    gy_buf_puts(out, gy_num_fmt_micros(text, gy_num_to_micros(weight)));
}

/* ---- what holds for every format ---- */

int gy_format_not_written(const struct gy_format *f, gyre_error_t *e)
{
    size_t count, w = 0;
    const struct gy_format *all = gy_formats(&count);
    char words[300] = "";
    for (size_t i = 0; i < count; i++) {
        if (all[i].writer && w < sizeof words) {
            w += (size_t)snprintf(words + w, sizeof words - w, "%s%s", w ? ", " : "", all[i].name);
        }
    }
    return gy_format_fail(e, GYRE_UNSUPPORTED, NULL,
                          "gyre reads %s and does not write it; it "
                          "writes %s",
                          f->name, words);
}

static bool stands_for(const struct gy_writer *writer, const char *like)
{
    for (struct gy_slice rest = gy_str(writer->like); rest.n;) {
        if (gy_slice_eq(gy_slice_cut(&rest, '|'), gy_str(like))) {
            return true;
        }
    }
    return !writer->like;
}

static int check_like(const struct gy_writing *w)
{
    const struct gy_writer *writer = w->format->writer;
    const char *like = gy_write_get(w, "like");
    char words[120] = "";
    size_t n = 0;
    if (stands_for(writer, like)) {
        return GYRE_OK;
    }
    for (struct gy_slice rest = gy_str(writer->like); rest.n && n < sizeof words;) {
        struct gy_slice word = gy_slice_cut(&rest, '|');
        n += (size_t)snprintf(words + n, sizeof words - n, "%s%.*s", n ? " or " : "", (int)word.n,
                              word.p);
    }
    return gy_format_fail(w->e, GYRE_UNSUPPORTED, NULL,
                          "keys are placed by %s: %s, and %s can only place them as `like: %s` "
                          "does: they would be elsewhere",
                          *like ? "like" : "algorithm", *like ? like : gy_write_get(w, "algorithm"),
                          writer->system, words);
}

/* "'a', 'b', ... (7 in all)" */
struct list {
    struct gy_buf text;
    size_t count;
};

static void list_add(struct list *l, const char *name)
{
    char q[GY_QUOTE];
    if (l->count++ < LISTED) {
        gy_buf_printf(&l->text, "%s%s", l->count > 1 ? ", " : "", gy_utf8_quote(q, gy_str(name)));
    }
}

static void tell_list(struct gy_writing *w, struct list *l, const char *what)
{
    if (l->count > LISTED) {
        gy_buf_printf(&l->text, ", ... (%zu in all)", l->count);
    }
    if (l->count) {
        gy_write_loss(w, "%s: %s", what, gy_buf_cstr(&l->text));
    }
    w->told->losses.failed |= l->text.failed;
    gy_buf_fini(&l->text);
}

/* Of gyre's own form: it places every key as before, so this asks for no --lossy; but who plans for
 * machines must know that they are not all there. */
static void note_list(struct gy_writing *w, struct list *l, const char *what)
{
    if (l->count) {
        gy_write_choice(w, "%zu %s%s left out, since no key is placed there: %s%s", l->count, what,
                        l->count > 1 ? "s are" : " is", gy_buf_cstr(&l->text),
                        l->count > LISTED ? ", ..." : "");
    }
    w->told->choices.failed |= l->text.failed;
    gy_buf_fini(&l->text);
}

static void note_others(struct gy_writing *w, const struct gy_pool *from)
{
    struct list replicas = {0}, others = {0};
    for (size_t i = 0; i < from->server_count; i++) {
        const struct gy_server *s = &from->servers[i];
        if (!s->is_node) {
            list_add(s->role == GY_ROLE_REPLICA ? &replicas : &others, s->name);
        }
    }
    note_list(w, &replicas, "replica");
    note_list(w, &others, "server");
}

static void tell_settings(struct gy_writing *w)
{
    unsigned keeps = w->format->writer->keeps;
    const char *system = w->format->writer->system;
    if (!(keeps & GY_KEEPS_REPLICAS) && !gy_write_is(w, "replicas", "1")) {
        gy_write_loss(w, "replicas: %s: %s sends a key to one node", gy_write_get(w, "replicas"),
                      system);
    }
    if (keeps != GY_KEEPS_ALL && !gy_write_is(w, "spread", "none")) {
        gy_write_loss(w, "spread: %s: %s has no word for it", gy_write_get(w, "spread"), system);
    }
    if (keeps != GY_KEEPS_ALL && w->what->proxy) {
        gy_write_loss(w, "the proxy section: it is gyre's own");
    }
}

static void tell_nodes(struct gy_writing *w)
{
    unsigned keeps = w->format->writer->keeps;
    struct list zoned = {0}, drained = {0}, others = {0};
    for (size_t i = 0; i < gyre_topology_count(w->t); i++) {
        const struct gyre_node *node = gyre_topology_node(w->t, i);
        if (node->zone && !(keeps & GY_KEEPS_ZONES)) {
            list_add(&zoned, node->name);
        }
        if (node->weight == 0 && !(keeps & GY_KEEPS_DRAINED)) {
            list_add(&drained, node->name);
        }
    }
    if (keeps == GY_KEEPS_ALL && w->what->from) {
        note_others(w, w->what->from);
    }
    const struct gy_pool *from = keeps & GY_KEEPS_SERVERS ? NULL : w->what->from;
    for (size_t i = 0; from && i < from->server_count; i++) {
        if (!from->servers[i].is_node) {
            list_add(&others, from->servers[i].name);
        }
    }
    tell_list(w, &zoned, "zones of nodes");
    tell_list(w, &drained, "nodes of weight 0, which take no keys");
    tell_list(w, &others, "servers that are no nodes (replicas, backups)");
}

int gy_format_write(const struct gy_format *f, const struct gy_to_write *what,
                    struct gy_written *out, gyre_error_t *e)
{
    const char *name = what->from && *what->from->name ? what->from->name : GY_WRITE_NAME;
    struct gy_writing w = {.what = what,
                           .format = f,
                           .t = what->topology,
                           .name = name,
                           .out = &out->text,
                           .told = out,
                           .e = e};
    if (!f->writer) {
        return gy_format_not_written(f, e);
    }
    int rc = check_like(&w);
    if (rc) {
        return rc;
    }
    tell_settings(&w);
    tell_nodes(&w);
    if (what->from && what->from_format == f && f->writer->others) {
        gy_write_choice(&w, "only what places keys is written: %s are not", f->writer->others);
    }
    rc = f->writer->write(&w);
    if (!rc && (out->text.failed || out->losses.failed || out->choices.failed)) {
        rc = gy_format_fail(e, GYRE_NOMEM, NULL, "out of memory");
    }
    return rc ? rc : gy_write_back(&w);
}
