/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nginx_write.c - one upstream block of nginx. What nginx hashes is what stands behind `server`, so
 * a node's name is written there: a node whose address is another than its name says cannot be
 * written. Threads: one an object.
 */
#include "formats/format.h"
#include "formats/nginx.h"

#define KEY "$request_uri"

/* Bare, or in quotes, in which a backslash protects. */
static void put_word(struct gy_buf *out, const char *text)
{
    static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_.:/$@%+=,~[]-";
    if (*text && text[strspn(text, bare)] == '\0') {
        gy_buf_puts(out, text);
        return;
    }
    gy_buf_putc(out, '"');
    for (; *text; text++) {
        gy_buf_puts(out, *text == '"' || *text == '\\' ? "\\" : "");
        gy_buf_putc(out, *text);
    }
    gy_buf_putc(out, '"');
}

static void put_server(struct gy_writing *w, const struct gyre_node *node)
{
    struct gy_slice none;
    gy_buf_puts(w->out, "    server ");
    put_word(w->out, node->name);
    if (node->weight != 1) {
        gy_buf_puts(w->out, " weight=");
        gy_write_weight(w->out, node->weight);
    }
    gy_buf_puts(w->out, gy_write_option(node, "down", &none) ? " down;\n" : ";\n");
}

int gy_nginx_write(struct gy_writing *w)
{
    const struct gyre_node *node;
    const char *key = gy_write_fact(w, "key");
    if (!key) {
        gy_write_choice(w, "nothing says what nginx is to hash: %s is written", KEY);
    }
    gy_buf_puts(w->out, "upstream ");
    put_word(w->out, w->name);
    gy_buf_puts(w->out, " {\n    hash ");
    put_word(w->out, key ? key : KEY);
    gy_buf_puts(w->out, gy_write_is(w, "distribution", "consistent") ? " consistent;\n" : ";\n");
    for (size_t i = 0; (node = gy_write_next(w, &i)) != NULL;) {
        put_server(w, node);
    }
    gy_buf_puts(w->out, "}\n");
    return GYRE_OK;
}
