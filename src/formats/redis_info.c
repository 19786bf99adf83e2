/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_info.c - what INFO says of one server that is no cluster: a primary that owns every key,
 * and its replicas. A replica names its primary, which then is the node. INFO does not say at which
 * host the server was asked; without GY_INFO_ASKED_AT it is called by its port. Threads: one an
 * object.
 */
#include "formats/redis_info.h"
#include "formats/lines.h"
#include "formats/redis_slots.h"

struct info {
    struct gy_slice asked_at, role, port, primary_host, primary_port, link;
};

int gy_redis_info_sniff(struct gy_slice head)
{
    for (struct gy_lines l = gy_lines_of(head); gy_lines_next(&l);) {
        if (gy_slice_starts(l.line, "role:master") || gy_slice_starts(l.line, "role:slave")) {
            return GY_SURE_YES;
        }
    }
    return GY_SURE_NOT;
}

static struct info gather(struct gy_slice text)
{
    struct info in = {0};
    const struct {
        const char *name;
        struct gy_slice *into;
    } fields[] = {{GY_INFO_ASKED_AT, &in.asked_at},
                  {"role", &in.role},
                  {"tcp_port", &in.port},
                  {"master_host", &in.primary_host},
                  {"master_port", &in.primary_port},
                  {"master_link_status", &in.link}};
    for (struct gy_lines l = gy_lines_of(text); gy_lines_next(&l);) {
        struct gy_slice value = l.line, name = gy_slice_cut(&value, ':');
        for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
            if (gy_slice_eq(name, gy_str(fields[i].name))) {
                *fields[i].into = value;
            }
        }
    }
    return in;
}

/* Host and port of "host:port". */
static void split(struct gy_slice s, struct gy_slice *host, struct gy_slice *port)
{
    const uint8_t *colon = s.n ? memrchr(s.p, ':', s.n) : NULL;
    *host = (struct gy_slice){s.p, colon ? (size_t)(colon - s.p) : 0};
    *port = colon ? (struct gy_slice){colon + 1, s.n - host->n - 1} : s;
}

static int add(struct gy_reading *r, struct gy_pool *p, struct gy_mark at, struct gy_slice host,
               struct gy_slice port, enum gy_role role, struct gy_server **out)
{
    int rc = gy_read_server(r, p, at, GY_LIT("server"), out);
    rc = rc ? rc : gy_redis_endpoint(r, *out, at, host, GY_LIT(""), port);
    if (!rc) {
        (*out)->role = role;
    }
    return rc;
}

/* "slave0:ip=10.0.0.2,port=6379,state=online,offset=1,lag=0" */
static int add_replica(struct gy_reading *r, struct gy_pool *p, const struct gy_lines *l)
{
    struct gy_slice rest = l->line, host = GY_LIT(""), port = GY_LIT("0"), state = GY_LIT("online");
    struct gy_server *s;
    gy_slice_cut(&rest, ':');
    while (rest.n) {
        struct gy_slice value = gy_slice_cut(&rest, ','), name = gy_slice_cut(&value, '=');
        host = gy_slice_eq(name, GY_LIT("ip")) ? value : host;
        port = gy_slice_eq(name, GY_LIT("port")) ? value : port;
        state = gy_slice_eq(name, GY_LIT("state")) ? value : state;
    }
    int rc = add(r, p, (struct gy_mark){l->number, 1}, host, port, GY_ROLE_REPLICA, &s);
    if (!rc && !gy_slice_eq(state, GY_LIT("online"))) {
        s->states |= GY_STATE_LOADING;
    }
    return rc ? rc : gy_read_text(r, &s->replica_of, gy_str(p->servers[0].name));
}

static int add_replicas(struct gy_reading *r, struct gy_pool *p)
{
    int rc = GYRE_OK;
    for (struct gy_lines l = gy_lines_of(r->text); gy_lines_next(&l) && !rc;) {
        bool numbered = l.line.n > 5 && l.line.p[5] >= '0' && l.line.p[5] <= '9';
        if (numbered && gy_slice_starts(l.line, "slave") && gy_slice_has(l.line, "port=")) {
            rc = add_replica(r, p, &l);
        }
    }
    return rc;
}

/* The one that was asked, and if that is a replica, first the one that owns the keys. */
static int add_servers(struct gy_reading *r, struct gy_pool *p, const struct info *in)
{
    struct gy_mark at = {1, 1};
    struct gy_server *s;
    struct gy_slice host, port;
    bool replica = gy_slice_eq(in->role, GY_LIT("slave"));
    split(in->asked_at.n ? in->asked_at : in->port, &host, &port);
    if (host.n > 2 && host.p[0] == '[') {
        host = (struct gy_slice){host.p + 1, host.n - 2};
    }
    int rc = GYRE_OK;
    if (replica) {
        rc = add(r, p, at, in->primary_host, in->primary_port, GY_ROLE_PRIMARY, &s);
        if (!rc && gy_slice_eq(in->link, GY_LIT("down"))) {
            s->states |= GY_STATE_DISCONNECTED;
        }
    }
    rc = rc ? rc : add(r, p, at, host, port, replica ? GY_ROLE_REPLICA : GY_ROLE_PRIMARY, &s);
    if (!rc) {
        s->states |= GY_STATE_SELF;
    }
    if (!rc && replica) {
        rc = gy_read_text(r, &s->replica_of, gy_str(p->servers[0].name));
    }
    return rc ? rc : add_replicas(r, p);
}

int gy_redis_info_parse(struct gy_reading *r)
{
    struct info in = gather(r->text);
    struct gy_pool *p;
    if (!in.role.n || (!in.asked_at.n && !in.port.n)) {
        return gy_read_fail(r, GYRE_SYNTAX, (struct gy_mark){1, 1},
                            "INFO must have role and tcp_port: give all of it, not one section");
    }
    int rc = gy_read_pool(r, GY_LIT(""), (struct gy_mark){1, 1}, &p);
    rc = rc ? rc : add_servers(r, p, &in);
    if (!rc) {
        struct gyre_node node = {.size = sizeof node,
                                 .name = p->servers[0].name,
                                 .address = p->servers[0].address,
                                 .weight = 1};
        p->servers[0].is_node = true;
        rc = gy_read_node(r, p, (struct gy_mark){1, 1}, &node);
    }
    return rc;
}
