/* SPDX-License-Identifier: Apache-2.0 */
/* info.c - INFO for clients and the same figures as JSON for the admin server; see info.h. */
#include "proxy/info.h"

#include "base/json.h"
#include "proxy/proxy.h"

#include <inttypes.h>
#include <stdio.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

static const char *const state_names[] = {"idle", "connecting", "connecting", "up", "down"};

static uint64_t now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* All workers' figures added up, as of their last summary. Lock held. */
static struct gy_worker_stats total(const struct gy_proxy *p)
{
    struct gy_worker_stats t = {0};
    for (unsigned i = 0; i < p->nworkers; i++) {
        const struct gy_worker_stats *s = &p->workers[i].summary;
        t.clients += s->clients;
        t.requests += s->requests;
        t.errors += s->errors;
        t.held += s->held;
        t.moved_keys += s->moved_keys;
        t.moved_bytes += s->moved_bytes;
        t.known += s->known;
        t.waited += s->waited;
        t.memory += s->memory;
        if (s->longest_hold_ms > t.longest_hold_ms) {
            t.longest_hold_ms = s->longest_hold_ms;
        }
    }
    return t;
}

static void server(const struct gy_proxy *p, struct gy_buf *out)
{
    gy_buf_printf(
        out,
        "# Server\r\nredis_version:%s\r\nredis_mode:standalone\r\ngyre_version:%s\r\nprocess_id:%ld\r\n"
        "uptime_in_seconds:%" PRIu64 "\r\ngyre_workers:%u\r\ngyre_generation:%" PRIu64 "\r\n",
        GY_REDIS_VERSION, gyre_version(), (long)getpid(), (now_ms() - p->started_ms) / 1000,
        p->nworkers, p->fence->generation);
}

static void clients(const struct gy_proxy *p, struct gy_buf *out)
{
    struct gy_worker_stats t = total(p);
    gy_buf_printf(out, "# Clients\r\nconnected_clients:%" PRIu64 "\r\nmaxclients:%u\r\n", t.clients,
                  p->config->proxy.max_clients);
}

static void memory(const struct gy_proxy *p, struct gy_buf *out)
{
    gy_buf_printf(out, "# Memory\r\ngyre_client_buffers:%" PRIu64 "\r\nmaxmemory:%" PRIu64 "\r\n",
                  total(p).memory, p->config->proxy.max_memory);
}

static void stats(const struct gy_proxy *p, struct gy_buf *out)
{
    struct gy_worker_stats t = total(p);
    gy_buf_printf(out,
                  "# Stats\r\ntotal_commands_processed:%" PRIu64 "\r\ntotal_error_replies:%" PRIu64
                  "\r\ngyre_held_writes:%" PRIu64 "\r\ngyre_longest_hold_ms:%" PRIu64
                  "\r\ngyre_keys_moved_on_access:%" PRIu64
                  "\r\ngyre_commands_on_known_moved:%" PRIu64
                  "\r\ngyre_commands_behind_a_carry:%" PRIu64 "\r\n",
                  t.requests, t.errors, t.held, t.longest_hold_ms, t.moved_keys, t.known, t.waited);
}

static void replication(const struct gy_proxy *p, struct gy_buf *out)
{
    (void)p;
    gy_buf_puts(out, "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n");
}

static void nodes(const struct gy_proxy *p, struct gy_buf *out)
{
    gy_buf_puts(out, "# Nodes\r\n");
    const struct gy_worker *w = &p->workers[0];
    for (uint32_t i = 0; i < w->nnodes; i++) {
        const struct gy_backend_summary *s = &w->nodes[i];
        if (s->left) {
            continue;
        }
        gy_buf_printf(out,
                      "node%" PRIu32 ":name=%s,address=%s,state=%s,requests=%" PRIu64
                      ",failures=%" PRIu64 "\r\n",
                      i, s->name, s->address, state_names[s->state], s->requests, s->failures);
    }
}

static const struct {
    const char *name;
    void (*write)(const struct gy_proxy *p, struct gy_buf *out);
} sections[] = {{"server", server}, {"clients", clients},         {"memory", memory},
                {"stats", stats},   {"replication", replication}, {"nodes", nodes}};

static bool asked_for(const struct gy_request *rq, const char *name)
{
    bool some = rq->argc > 1;
    for (uint32_t i = 1; i < rq->argc; i++) {
        struct gy_slice s = rq->argv[i];
        const char *const all[] = {name, "all", "everything", "default"};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            if (s.n == strlen(all[k]) && strncasecmp((const char *)s.p, all[k], s.n) == 0) {
                return true;
            }
        }
    }
    return !some;
}

void gy_info_reply(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out)
{
    struct gy_proxy *p = c->worker->proxy;
    struct gy_buf text = {0};
    gy_worker_summarise(c->worker); /* the asking client must find itself in it */
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (asked_for(rq, sections[i].name)) {
            if (gy_buf_size(&text)) {
                gy_buf_puts(&text, "\r\n");
            }
            sections[i].write(p, &text);
        }
    }
    pthread_mutex_unlock(&p->lock);
    gy_resp_bulk(out, gy_buf_head(&text), gy_buf_size(&text));
    gy_buf_fini(&text);
}

/* A node as all workers see it: up only if none has it down; the reason of the first that has. */
static void node_json(const struct gy_proxy *p, uint32_t i, struct gy_json *j)
{
    uint64_t requests = 0, failures = 0, inflight = 0;
    const struct gy_backend_summary *shown = &p->workers[0].nodes[i];
    for (unsigned k = 0; k < p->nworkers; k++) {
        if (i >= p->workers[k].nnodes) {
            continue;
        }
        const struct gy_backend_summary *s = &p->workers[k].nodes[i];
        requests += s->requests;
        failures += s->failures;
        inflight += s->inflight;
        if (s->state == GY_BACKEND_DOWN) {
            shown = s;
        }
    }
    gy_json_object(j);
    gy_json_kstring(j, "name", shown->name);
    gy_json_kstring(j, "address", shown->address);
    gy_json_kstring(j, "state", state_names[shown->state]);
    gy_json_kstring(j, "why", shown->why[0] ? shown->why : NULL);
    gy_json_kuint(j, "requests", requests);
    gy_json_kuint(j, "failures", failures);
    gy_json_kuint(j, "in_flight", inflight);
    gy_json_object_end(j);
}

void gy_proxy_info(void *proxy, struct gy_buf *json)
{
    struct gy_proxy *p = proxy;
    struct gy_json j;
    gy_json_init(&j, json);
    pthread_mutex_lock(&p->lock);
    struct gy_worker_stats t = total(p);
    gy_json_object(&j);
    gy_json_kstring(&j, "version", gyre_version());
    gy_json_kuint(&j, "pid", (uint64_t)getpid());
    gy_json_kdouble(&j, "uptime_s", (double)(now_ms() - p->started_ms) / 1000);
    gy_json_kuint(&j, "workers", p->nworkers);
    gy_json_kuint(&j, "generation", p->fence->generation);
    gy_json_kuint(&j, "clients", t.clients);
    gy_json_kuint(&j, "requests", t.requests);
    gy_json_kuint(&j, "errors", t.errors);
    gy_json_kuint(&j, "held_writes", t.held);
    gy_json_kuint(&j, "longest_hold_ms", t.longest_hold_ms);
    gy_json_kuint(&j, "client_buffers", t.memory);
    gy_json_key(&j, "nodes");
    gy_json_array(&j);
    for (uint32_t i = 0; i < p->workers[0].nnodes; i++) {
        if (!p->workers[0].nodes[i].left) {
            node_json(p, i, &j);
        }
    }
    gy_json_array_end(&j);
    gy_json_object_end(&j);
    pthread_mutex_unlock(&p->lock);
}
