/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c - see schema.h. */
#include "formats/schema.h"
#include "base/num.h"

#include <limits.h>
#include <stdio.h>

#define KB           (UINT64_C(1) << 10)
#define MB           (UINT64_C(1) << 20)
#define GB           (UINT64_C(1) << 30)
#define TB           (UINT64_C(1) << 40)
#define ROOT(field)  offsetof(struct gy_root_draft, field)
#define NODE(field)  offsetof(struct gy_node_draft, field)
#define PROXY(field) offsetof(struct gy_proxy_conf, field)

/* clang-format off: one key a line reads as the table it is. */
static const struct gy_key KEYS[] = {
    {GY_SEC_ROOT, "gyre", GY_KIND_UINT, ROOT(format), NULL, 1, 1, NULL, "1", 0,
     "The file's format; this gyre reads format 1."},
    {GY_SEC_ROOT, "version", GY_KIND_UINT, ROOT(version), "1", 0, INT64_MAX, NULL, NULL, 0,
     "Grows with every change; 'gyre plan' raises it by one."},
    {GY_SEC_ROOT, "placement", GY_KIND_PLACEMENT, 0, NULL, 0, 0, NULL, NULL, 0,
     "The rule that turns a key into nodes."},
    {GY_SEC_ROOT, "removed", GY_KIND_TEXT, ROOT(removed), NULL, 1, 10 * MB, NULL, "3 1", 0,
     "Slots given up and not taken again, in that order; 'gyre plan' keeps the list."},
    {GY_SEC_ROOT, "nodes", GY_KIND_NODES, 0, NULL, 0, 0, NULL, NULL, 0,
     "The storage servers. The order they stand in never changes an answer."},
    {GY_SEC_ROOT, "proxy", GY_KIND_SECTION, 0, NULL, 0, 0, NULL, NULL, GY_SEC_PROXY,
     "How 'gyre proxy' serves this topology; not needed for anything else."},

    {GY_SEC_NODE, "name", GY_KIND_TEXT, NODE(name), NULL, 1, 4096, NULL, "cache-0", 0,
     "Decides placement; keep it when the machine is replaced."},
    {GY_SEC_NODE, "address", GY_KIND_ADDRESS, NODE(address), NULL, 0, 0, NULL, "127.0.0.1:6379", 0,
     "Where it is: host:port, [ipv6]:port or unix:/path. Takes no part in placement."},
    {GY_SEC_NODE, "weight", GY_KIND_MICROS, NODE(weight), "1", 1, UINT64_C(1000000000000), NULL,
     NULL, 0, "Its share relative to the others; 0 drains it."},
    {GY_SEC_NODE, "zone", GY_KIND_TEXT, NODE(zone), NULL, 1, 1024, NULL, "eu/a/r1", 0,
     "Where it stands: region/zone/rack, as deep as you like."},
    {GY_SEC_NODE, "slot", GY_KIND_UINT32, NODE(slot), NULL, 1, 1048576, NULL, "1", 0,
     "Its number for life, where nodes are placed by number; 'gyre plan' gives it out."},
    {GY_SEC_NODE, "options", GY_KIND_TEXT, NODE(options), NULL, 1, 65536, NULL, "id=7", 0,
     "With placement.like: what that system's own file says of the server besides."},

    {GY_SEC_PROXY, "listen", GY_KIND_LISTEN, PROXY(listen), NULL, 0, 0, NULL, "127.0.0.1:6380", 0,
     "Where clients connect: one address or a list; host:port, [ipv6]:port or unix:/path."},
    {GY_SEC_PROXY, "state", GY_KIND_TEXT, PROXY(state), NULL, 1, 4000, NULL, "/var/lib/gyre", 0,
     "Directory of the durable state: the topology in force and the progress of moves."},
    {GY_SEC_PROXY, "admin", GY_KIND_ADDRESS, PROXY(admin), NULL, 0, 0, NULL,
     "unix:/run/gyre/admin.sock", 0,
     "Where 'gyre move' finds the proxy. Without it nothing can be moved."},
    {GY_SEC_PROXY, "pool", GY_KIND_TEXT, PROXY(pool), "main", 1, 64, NULL, NULL, 0,
     "Names this fleet in its records, so that two fleets may share servers' record space."},
    {GY_SEC_PROXY, "prefix", GY_KIND_TEXT, PROXY(prefix), "gyre:", 1, 64, NULL, NULL, 0,
     "What the proxy's own record keys on the servers begin with."},
    {GY_SEC_PROXY, "workers", GY_KIND_UINT32, PROXY(workers), "1", 1, 256, NULL, NULL, 0,
     "Threads that serve clients."},
    {GY_SEC_PROXY, "down", GY_KIND_DOWN, PROXY(down), "fail", 0, 0, "fail|replica|spill", NULL, 0,
     "What becomes of the keys of a node that is down."},
    {GY_SEC_PROXY, "backend", GY_KIND_SECTION, 0, NULL, 0, 0, NULL, NULL, GY_SEC_BACKEND,
     "How the proxy talks to the nodes."},
    {GY_SEC_PROXY, "limits", GY_KIND_SECTION, 0, NULL, 0, 0, NULL, NULL, GY_SEC_LIMITS,
     "What one client, and all together, may use."},
    {GY_SEC_PROXY, "move", GY_KIND_SECTION, 0, NULL, 0, 0, NULL, NULL, GY_SEC_MOVE,
     "The pace of live moves."},

    {GY_SEC_BACKEND, "user", GY_KIND_TEXT, PROXY(user), NULL, 1, 1024, NULL, "gyre", 0,
     "ACL user on the nodes."},
    {GY_SEC_BACKEND, "password_file", GY_KIND_TEXT, PROXY(password_file), NULL, 1, 4000, NULL,
     "/etc/gyre/redis.pass", 0, "File whose first line is the password."},
    {GY_SEC_BACKEND, "connections", GY_KIND_UINT32, PROXY(connections), "1", 1, 64, NULL, NULL, 0,
     "Connections to each node, for each worker."},
    {GY_SEC_BACKEND, "timeout", GY_KIND_DURATION, PROXY(timeout_ms), "1s", 1, 3600000, NULL, NULL,
     0, "How long a node may take to answer."},
    {GY_SEC_BACKEND, "connect_timeout", GY_KIND_DURATION, PROXY(connect_ms), "500ms", 1, 3600000,
     NULL, NULL, 0, "How long connecting may take."},

    {GY_SEC_LIMITS, "max_clients", GY_KIND_UINT32, PROXY(max_clients), "10000", 1, 1000000, NULL,
     NULL, 0, "Client connections; one more is told so and closed."},
    {GY_SEC_LIMITS, "max_request", GY_KIND_SIZE, PROXY(max_request), "64MB", KB, 512 * MB, NULL,
     NULL, 0, "Largest request."},
    {GY_SEC_LIMITS, "max_client_unread", GY_KIND_SIZE, PROXY(max_client_unread), "32MB", 64 * KB,
     16 * GB, NULL, NULL, 0,
     "Replies a client may leave unread before the proxy stops reading from it."},
    {GY_SEC_LIMITS, "max_memory", GY_KIND_SIZE, PROXY(max_memory), "1GB", 16 * MB, TB, NULL, NULL,
     0, "All buffers together."},
    {GY_SEC_LIMITS, "client_stall", GY_KIND_DURATION, PROXY(client_stall_ms), "1m", 100, 86400000,
     NULL, NULL, 0, "A client that reads none of its replies that long is closed."},

    {GY_SEC_MOVE, "keys_per_second", GY_KIND_UINT, PROXY(move_keys), "0", 0, UINT32_MAX, NULL, NULL,
     0, "Keys moved in a second at most; 0: no limit."},
    {GY_SEC_MOVE, "bytes_per_second", GY_KIND_SIZE, PROXY(move_bytes), "0", 0, TB, NULL, NULL, 0,
     "Bytes moved in a second at most; 0: no limit."},
    {GY_SEC_MOVE, "bigkey_bytes", GY_KIND_SIZE, PROXY(bigkey_bytes), "256KB", KB, 512 * MB, NULL,
     NULL, 0, "A moved key above this is reported by name and size."},
};
/* clang-format on */

const struct gy_key *gy_schema(size_t *count)
{
    *count = sizeof KEYS / sizeof KEYS[0];
    return KEYS;
}

const struct gy_key *gy_schema_find(enum gy_section section, struct gy_slice name)
{
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        if (KEYS[i].section == section && gy_slice_eq(gy_str(KEYS[i].name), name)) {
            return &KEYS[i];
        }
    }
    return NULL;
}

size_t gy_schema_names(enum gy_section section, const char *out[GY_SECTION_KEYS])
{
    size_t n = 0;
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0] && n < GY_SECTION_KEYS; i++) {
        if (KEYS[i].section == section) {
            out[n++] = KEYS[i].name;
        }
    }
    return n;
}

const char *gy_section_name(enum gy_section section)
{
    static const char *const names[] = {
        [GY_SEC_ROOT] = "",
        [GY_SEC_NODE] = "node",
        [GY_SEC_PROXY] = "proxy",
        [GY_SEC_BACKEND] = "proxy.backend",
        [GY_SEC_LIMITS] = "proxy.limits",
        [GY_SEC_MOVE] = "proxy.move",
    };
    return names[section];
}

char *gy_key_wants(const struct gy_key *k, char *out, size_t size)
{
    char low[GY_NUM_TEXT], high[GY_NUM_TEXT];
    switch (k->kind) {
    case GY_KIND_PLACEMENT:
    case GY_KIND_SECTION:
        snprintf(out, size, "a mapping");
        break;
    case GY_KIND_NODES:
        snprintf(out, size, "a list of mappings");
        break;
    case GY_KIND_UINT:
    case GY_KIND_UINT32:
        if (k->min == k->max) {
            snprintf(out, size, "%llu", (unsigned long long)k->min);
            break;
        }
        snprintf(out, size, "a whole number, %llu to %llu", (unsigned long long)k->min,
                 (unsigned long long)k->max);
        break;
    case GY_KIND_MICROS:
        snprintf(out, size, "a number: 0, or %s to %s", gy_num_fmt_micros(low, k->min),
                 gy_num_fmt_micros(high, k->max));
        break;
    case GY_KIND_SIZE:
        snprintf(out, size, "a size like 64MB, %s to %s", gy_num_fmt_size(low, k->min),
                 gy_num_fmt_size(high, k->max));
        break;
    case GY_KIND_DURATION:
        snprintf(out, size, "a time like 500ms or 2s, %s to %s", gy_num_fmt_duration(low, k->min),
                 gy_num_fmt_duration(high, k->max));
        break;
    case GY_KIND_TEXT:
        snprintf(out, size, "text, 1 to %llu bytes", (unsigned long long)k->max);
        break;
    case GY_KIND_ADDRESS:
        snprintf(out, size, "host:port, [ipv6]:port or unix:/path");
        break;
    case GY_KIND_LISTEN:
        snprintf(out, size, "an address or a list of them");
        break;
    case GY_KIND_DOWN:
        snprintf(out, size, "one of %s", k->words);
        break;
    }
    return out;
}
