/* SPDX-License-Identifier: Apache-2.0 */
/*
 * twemproxy_write.c - one pool of nutcracker.yml. Each server has its name behind it, unless its
 * address says it already; hash and distribution are always written, for a default is what the next
 * reader forgets. Threads: one an object.
 */
#include "base/utf8.h"
#include "formats/dump.h"
#include "formats/format.h"
#include "formats/twemproxy.h"

#define LISTEN "127.0.0.1:22121" /* as in nutcracker's own examples */

static void put(struct gy_writing *w, const char *key, const char *value)
{
    gy_buf_printf(w->out, "  %s: ", key);
    gy_dump_scalar(w->out, value);
    gy_buf_putc(w->out, '\n');
}

static void put_settings(struct gy_writing *w)
{
    const char *listen = gy_write_fact(w, "listen"), *redis = gy_write_fact(w, "redis");
    const char *eject = gy_write_fact(w, "auto_eject_hosts");
    if (!listen) {
        gy_write_choice(w, "nothing says where nutcracker listens: %s is written", LISTEN);
    }
    put(w, "listen", listen ? listen : LISTEN);
    put(w, "hash", gy_write_get(w, "hash"));
    if (*gy_write_get(w, "hash_tag")) {
        put(w, "hash_tag", gy_write_get(w, "hash_tag"));
    }
    put(w, "distribution", gy_write_get(w, "distribution"));
    if (!redis && w->what->from_format != w->format) {
        gy_write_choice(w, "nothing says which protocol the servers speak: redis: true is written");
        redis = "true";
    }
    if (redis) { /* true or false, as these are */
        gy_buf_printf(w->out, "  redis: %s\n", redis);
    }
    if (eject) {
        gy_buf_printf(w->out, "  auto_eject_hosts: %s\n", eject);
    }
}

static int put_server(struct gy_writing *w, const struct gyre_node *node)
{
    struct gy_slice host, port;
    struct gy_buf line = {0}, own = {0};
    char q[GY_QUOTE];
    int rc = gy_write_address(w, node, &host, &port);
    if (!rc && strchr(node->name, ' ')) {
        rc = gy_write_refuse(w, "node %s: in nutcracker.yml a name ends at a blank",
                             gy_utf8_quote(q, gy_str(node->name)));
    }
    if (!rc) {
        bool socket = port.n == 0;
        gy_buf_add(&line, host.p, host.n);
        gy_buf_printf(&line, socket ? ":" : ":%.*s:", (int)port.n, port.p);
        gy_write_weight(&line, node->weight);
        gy_twemproxy_point_name(host, port, &own);
        if (strcmp(gy_buf_cstr(&own), node->name) != 0) {
            gy_buf_printf(&line, " %s", node->name);
        }
        gy_buf_puts(w->out, "    - ");
        gy_dump_scalar(w->out, gy_buf_cstr(&line));
        gy_buf_putc(w->out, '\n');
    }
    w->out->failed |= line.failed || own.failed;
    gy_buf_fini(&line);
    gy_buf_fini(&own);
    return rc;
}

int gy_twemproxy_write(struct gy_writing *w)
{
    const struct gyre_node *node;
    gy_dump_scalar(w->out, w->name);
    gy_buf_puts(w->out, ":\n");
    put_settings(w);
    gy_buf_puts(w->out, "  servers:\n");
    int rc = GYRE_OK;
    for (size_t i = 0; !rc && (node = gy_write_next(w, &i)) != NULL;) {
        rc = put_server(w, node);
    }
    return rc;
}
