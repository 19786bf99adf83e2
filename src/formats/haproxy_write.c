/* SPDX-License-Identifier: Apache-2.0 */
/*
 * haproxy_write.c - one backend of HAProxy. Ids are written where nodes have some; where they are
 * counted, the order of the nodes gives the same ones. mode is written where the method needs it;
 * elsewhere the defaults of the file it goes into decide. Threads: one an object.
 */
#include "base/utf8.h"
#include "formats/format.h"
#include "formats/haproxy.h"
#include "formats/haproxy_words.h"

/* What stands behind `balance` for each way to cut a key, where the file itself does not say. */
static const struct {
    const char *setting, *words;
} BALANCES[] = {
    {"fhdr", "hash req.fhdr(x-key)"}, {"hdr", "hdr(x-key)"},          {"uri", "uri"},
    {"uri_whole", "uri whole"},       {"url_param", "url_param key"},
};

static void put_letter(struct gy_buf *out, char c)
{
    static const char protect[] = " \\#'\"", from[] = "\r\n\t", to[] = "rnt";
    const char *other = c ? strchr(from, c) : NULL;
    if (other) {
        gy_buf_putc(out, '\\');
        gy_buf_putc(out, to[other - from]);
        return;
    }
    gy_buf_puts(out, strchr(protect, c) ? "\\" : "");
    gy_buf_putc(out, c);
}

static void put_word(struct gy_buf *out, struct gy_slice text)
{
    gy_buf_putc(out, ' ');
    for (size_t i = 0; i < text.n; i++) {
        put_letter(out, (char)text.p[i]);
    }
}

static void put_words(struct gy_buf *out, const char *text)
{
    for (struct gy_slice rest = gy_str(text), word; gy_word_next(&rest, &word);) {
        put_word(out, word);
    }
}

static bool is_name(const char *text)
{
    size_t i = 0;
    while (gy_haproxy_in_name((uint8_t)text[i])) {
        i++;
    }
    return i > 0 && !text[i];
}

static void put_head(struct gy_writing *w)
{
    const char *balance = gy_write_fact(w, "balance");
    const char *factor = gy_write_fact(w, "hash_balance_factor");
    for (size_t i = 0; !balance && i < sizeof BALANCES / sizeof BALANCES[0]; i++) {
        if (gy_write_is(w, "balance", BALANCES[i].setting)) {
            balance = BALANCES[i].words;
            gy_write_choice(w, "nothing says what HAProxy is to hash: 'balance %s' is written",
                            balance);
        }
    }
    if (!is_name(w->name)) {
        gy_write_choice(w, "HAProxy takes no such name for a backend: '%s' is written",
                        GY_WRITE_NAME);
    }
    gy_buf_printf(w->out, "backend %s\n", is_name(w->name) ? w->name : GY_WRITE_NAME);
    if (!gy_slice_starts(gy_str(balance), "hash") && !gy_slice_starts(gy_str(balance), "rdp")) {
        gy_buf_puts(w->out, "    mode http\n");
    }
    gy_buf_puts(w->out, "    balance");
    put_words(w->out, balance ? balance : "");
    gy_buf_printf(w->out, "\n    hash-type %s %s%s\n", gy_write_get(w, "hash_type"),
                  gy_write_get(w, "hash"), gy_write_is(w, "avalanche", "1") ? " avalanche" : "");
    if (factor) {
        gy_buf_printf(w->out, "    hash-balance-factor %s\n", factor);
    }
}

static int put_server(struct gy_writing *w, const struct gyre_node *node)
{
    static const char *const valued[] = {"id", "guid"};
    struct gy_slice host, port, value;
    char q[GY_QUOTE];
    int rc = gy_write_address(w, node, &host, &port);
    if (!rc && !is_name(node->name)) {
        rc = gy_write_refuse(w,
                             "node %s: HAProxy takes letters, digits, '.', ':', '_' and '-' in a "
                             "server's name",
                             gy_utf8_quote(q, gy_str(node->name)));
    }
    if (rc) {
        return rc;
    }
    gy_buf_printf(w->out, "    server %s", node->name);
    put_word(w->out, port.n ? gy_str(node->address) : host);
    gy_buf_puts(w->out, " weight ");
    gy_write_weight(w->out, node->weight);
    for (size_t i = 0; i < 2; i++) {
        if (gy_write_option(node, valued[i], &value)) {
            gy_buf_printf(w->out, " %s", valued[i]);
            put_word(w->out, value);
        }
    }
    if (gy_write_is(w, "hash_type", "consistent") && !gy_write_is(w, "hash_key", "id")) {
        gy_buf_printf(w->out, " hash-key %s", gy_write_get(w, "hash_key"));
    }
    gy_buf_puts(w->out, gy_write_option(node, "disabled", &value) ? " disabled\n" : "\n");
    return GYRE_OK;
}

int gy_haproxy_write(struct gy_writing *w)
{
    const struct gyre_node *node;
    if (gy_write_is(w, "hash_type", "consistent") && !gy_write_is(w, "id_base", "plain")) {
        return gy_write_refuse(w,
                               "id_base: %s is what HAProxy 3.0 to 3.2 did by mistake; no line of "
                               "haproxy.cfg asks for it",
                               gy_write_get(w, "id_base"));
    }
    put_head(w);
    int rc = GYRE_OK;
    for (size_t i = 0; !rc && (node = gy_write_next(w, &i)) != NULL;) {
        rc = put_server(w, node);
    }
    return rc;
}
