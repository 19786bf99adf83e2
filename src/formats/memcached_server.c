/* SPDX-License-Identifier: Apache-2.0 */
/* memcached_server.c - see memcached_server.h. */
#include "formats/memcached_server.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/address.h"

#define DEFAULT_PORT "11211"

bool gy_mc_split(struct gy_slice s, struct gy_mc_server *out)
{
    *out = (struct gy_mc_server){.name = s, .host = s, .port = GY_LIT(""), .weight = 1000000};
    const uint8_t *colon = s.n ? memrchr(s.p, ':', s.n) : NULL;
    if (!s.n || s.p[0] == '/' || !colon || (s.p[0] == '[' && s.p[s.n - 1] == ']')) {
        return s.n > 0;
    }
    out->host.n = (size_t)(colon - s.p);
    out->port = (struct gy_slice){colon + 1, s.n - out->host.n - 1};
    if (out->host.n > 2 && s.p[0] == '[' && out->host.p[out->host.n - 1] == ']') {
        out->host = (struct gy_slice){s.p + 1, out->host.n - 2};
    }
    uint64_t port;
    return out->host.n && gy_num_uint(out->port, &port) == GYRE_OK && port > 0 && port < 65536;
}

int gy_mc_bad(struct gy_reading *r, struct gy_mark at, struct gy_slice text)
{
    char q[GY_QUOTE];
    return gy_read_fail(r, GYRE_SYNTAX, at, "server %s is not host:port, with a port of 1 to 65535",
                        gy_utf8_quote(q, text));
}

int gy_mc_add(struct gy_reading *r, struct gy_pool *p, struct gy_mark at,
              const struct gy_mc_server *e)
{
    struct gy_buf address = {0}, name = {0};
    struct gy_server *server;
    bool dialled = gy_address_join(&address, e->host, e->port.n ? e->port : GY_LIT(DEFAULT_PORT));
    gy_buf_add(&name, e->name.p, e->name.n);
    struct gyre_node node = {.size = sizeof node,
                             .name = gy_buf_cstr(&name),
                             .address = dialled ? gy_buf_cstr(&address) : NULL,
                             .weight = gy_num_from_micros(e->weight),
                             .options = e->options};
    int rc =
        name.failed || address.failed ? gy_read_nomem(r) : gy_read_both(r, p, at, &node, &server);
    gy_buf_fini(&address);
    gy_buf_fini(&name);
    return rc;
}

int gy_mc_weight(struct gy_reading *r, struct gy_mark at, struct gy_slice text, uint64_t *out)
{
    char q[GY_QUOTE];
    uint64_t whole;
    if (gy_num_uint(text, &whole) || whole > INT32_MAX) {
        return gy_read_fail(r, GYRE_SYNTAX, at, "the weight %s is no whole number",
                            gy_utf8_quote(q, text));
    }
    *out = whole * 1000000;
    return GYRE_OK;
}

int gy_mc_begin(struct gy_reading *r, struct gy_mark at, const char *like, struct gy_pool **out)
{
    int rc = gy_read_pool(r, GY_LIT(""), at, out);
    return rc ? rc : gy_read_set(r, *out, at, "like", like);
}

int gy_mc_end(struct gy_reading *r, struct gy_pool *p, const char *client)
{
    if (p->server_count == 0) {
        return gy_read_fail(r, GYRE_EMPTY, (struct gy_mark){p->line, 1},
                            "there is no server in it");
    }
    int rc = gy_read_note(r, p, GY_LEVEL_NOTE, "client-assumed", (struct gy_mark){0, 0},
                          "the file does not say which client reads it; placed as %s does", client);
    return rc ? rc : gy_read_shared(r, p);
}

int gy_mc_unused(struct gy_reading *r, struct gy_pool *p)
{
    const char *d = gyre_topology_get(p->config->topology, "distribution");
    for (size_t i = 0; i < p->server_count && d && strcmp(d, "modula") == 0; i++) {
        if (p->servers[i].weight != 1) {
            return gy_read_note(
                r, p, GY_LEVEL_WARNING, "weight-unused", (struct gy_mark){p->servers[i].line, 0},
                "weights are given, but libmemcached's default distribution, modula, "
                "does not look at them");
        }
    }
    return GYRE_OK;
}

bool gy_mc_remark(struct gy_slice line)
{
    struct gy_slice t = gy_slice_trim(line);
    return t.n == 0 || t.p[0] == '#';
}
