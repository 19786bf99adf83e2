/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cassandra_tokens_write.c - the lists of tokens. Nodes that have none get those that they own
 * here: evenly spaced, one each, which is what a new cluster without virtual nodes wants. Threads:
 * one an object.
 */
#include "formats/cassandra_tokens.h"
#include "formats/dump.h"
#include "formats/lines.h"

enum { DIGITS = 40 };
__extension__ typedef unsigned __int128 wide; /* RandomPartitioner's tokens have 128 bits */

static void put(struct gy_buf *out, const char *head, struct gy_slice value)
{
    struct gy_buf text = {0};
    gy_buf_add(&text, value.p, value.n);
    gy_buf_puts(out, head);
    gy_dump_scalar(out, gy_buf_cstr(&text));
    gy_buf_putc(out, '\n');
    out->failed |= text.failed;
    gy_buf_fini(&text);
}

/* Token i of n evenly spaced ones: from the lowest on, 2^64 / n or 2^127 / n apart. */
static void space_evenly(bool random, uint64_t i, uint64_t n, struct gy_buf *out)
{
    char digits[DIGITS];
    size_t at = sizeof digits;
    wide v = random ? ((wide)1 << 127) / n * i : ((wide)i << 64) / n;
    const wide zero = (wide)1 << 63;
    bool minus = !random && v < zero;
    v = random ? v : minus ? zero - v : v - zero;
    do {
        digits[--at] = (char)('0' + (unsigned)(v % 10));
        v /= 10;
    } while (v);
    gy_buf_puts(out, minus ? "-" : "");
    gy_buf_add(out, digits + at, sizeof digits - at);
}

static void put_tokens(struct gy_writing *w, const struct gyre_node *node, bool any, uint64_t i,
                       uint64_t n)
{
    struct gy_buf own = {0};
    struct gy_slice tokens = {NULL, 0};
    if (!gy_write_option(node, "tokens", &tokens) && !any && node->weight != 0) {
        space_evenly(gy_write_is(w, "partitioner", "RandomPartitioner"), i, n, &own);
        tokens = (struct gy_slice){gy_buf_head(&own), gy_buf_size(&own)};
    }
    size_t count = tokens.n > 0;
    for (size_t k = 0; k < tokens.n; k++) {
        count += tokens.p[k] == ',';
    }
    gy_buf_printf(w->out, "    num_tokens: %zu\n", count);
    if (count) {
        put(w->out, "    initial_token: ", tokens);
    }
    w->out->failed |= own.failed;
    gy_buf_fini(&own);
}

static void put_node(struct gy_writing *w, const struct gyre_node *node)
{
    put(w->out, "  - node: ", gy_str(node->name));
    if (node->address) {
        put(w->out, "    address: ", gy_str(node->address));
    }
    struct gy_slice rack = gy_str(node->zone), dc = gy_slice_cut(&rack, '/');
    if (dc.n) {
        put(w->out, "    dc: ", dc);
    }
    if (rack.n) {
        put(w->out, "    rack: ", rack);
    }
    if (node->weight != 1) {
        gy_buf_puts(w->out, "    weight: ");
        gy_write_weight(w->out, node->weight);
        gy_buf_putc(w->out, '\n');
    }
}

int gy_cassandra_tokens_write(struct gy_writing *w)
{
    static const char *const settings[][2] = {
        {"partitioner", "partitioner"}, {"strategy", "distribution"}, {"rf", "rf"}};
    const struct gyre_node *node;
    struct gy_slice none;
    uint64_t n = 0, turn = 0;
    bool any = false;
    for (size_t i = 0; (node = gy_write_next(w, &i)) != NULL;) {
        n += node->weight != 0;
        any = any || (node->weight != 0 && gy_write_option(node, "tokens", &none));
    }
    gy_buf_puts(w->out, "# initial_token and num_tokens are lines for each node's cassandra.yaml\n"
                        "cassandra_tokens: 1\n");
    for (size_t i = 0; i < 3; i++) {
        if (*gy_write_get(w, settings[i][1])) {
            gy_buf_printf(w->out, "%s: ", settings[i][0]);
            gy_dump_scalar(w->out, gy_write_get(w, settings[i][1]));
            gy_buf_putc(w->out, '\n');
        }
    }
    gy_buf_printf(w->out, "replicas: %s\nnodes:\n", gy_write_get(w, "replicas"));
    for (size_t i = 0; (node = gy_write_next(w, &i)) != NULL;) {
        put_node(w, node);
        put_tokens(w, node, any, turn, n);
        turn += node->weight != 0;
    }
    return GYRE_OK;
}
