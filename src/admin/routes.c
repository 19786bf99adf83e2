/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routes.c - see routes.h. A handler fills the reply or returns an error, which becomes one.
 */
#include "admin/routes.h"

#include "admin/body.h"
#include "move/mover.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

typedef int handler_fn(const struct gy_admin_ops *ops, const void *body, size_t len,
                       struct gy_reply_http *r, gyre_error_t *e);

struct gy_route_http {
    const char *method, *path;
    handler_fn *answer;
    size_t body_max;
    bool needs_mover;
};

static int get_health(const struct gy_admin_ops *ops, const void *body, size_t len,
                      struct gy_reply_http *r, gyre_error_t *e)
{
    r->type = "text/plain; charset=utf-8";
    gy_buf_puts(&r->body, "ok\n");
    return GYRE_OK;
}

static int get_status(const struct gy_admin_ops *ops, const void *body, size_t len,
                      struct gy_reply_http *r, gyre_error_t *e)
{
    ops->info(ops->ctx, &r->body);
    return GYRE_OK;
}

static int get_topology(const struct gy_admin_ops *ops, const void *body, size_t len,
                        struct gy_reply_http *r, gyre_error_t *e)
{
    r->type = "application/yaml";
    return gy_mover_topology(ops->mover, &r->body, e);
}

static int get_move(const struct gy_admin_ops *ops, const void *body, size_t len,
                    struct gy_reply_http *r, gyre_error_t *e)
{
    gy_mover_status(ops->mover, &r->body);
    return GYRE_OK;
}

static int get_history(const struct gy_admin_ops *ops, const void *body, size_t len,
                       struct gy_reply_http *r, gyre_error_t *e)
{
    return gy_mover_history(ops->mover, &r->body, e);
}

static bool is_idle(struct gy_mover *m)
{
    struct gy_buf text = {0};
    gy_mover_status(m, &text);
    json_t *root = json_loadb(gy_buf_cstr(&text), gy_buf_size(&text), 0, NULL);
    const char *state = json_string_value(json_object_get(root, "state"));
    bool idle = state && strcmp(state, "idle") == 0;
    json_decref(root);
    gy_buf_fini(&text);
    return idle;
}

/* Before anything of the wish is looked at. */
static int check_idle(struct gy_mover *m, gyre_error_t *e)
{
    return is_idle(m)
               ? GYRE_OK
               : gy_admin_fail(e, GYRE_CONFLICT, "a move is under way: see `gyre move status`");
}

/* A wish names the version it was planned against by being the next one: made against an older
 * topology, it would undo what has changed since. No lock is needed: the version changes when a
 * move ends, and none begins but in this thread. */
static int check_version(struct gy_mover *m, const gyre_topology_t *next, gyre_error_t *e)
{
    struct gy_buf text = {0};
    struct gy_config *now = NULL;
    int err = gy_mover_topology(m, &text, e);
    if (err == GYRE_OK) {
        err = gy_config_parse_own(gy_buf_cstr(&text), gy_buf_size(&text), "the serving topology",
                                  &now, e);
    }
    gy_buf_fini(&text);
    if (err != GYRE_OK) {
        return err;
    }
    uint64_t serves = gyre_topology_version(now->topology);
    gy_config_free(now);
    if (gyre_topology_version(next) != serves + 1) {
        return gy_admin_fail(e, GYRE_CONFLICT,
                             "the wished topology says version %llu; version %llu serves, so the "
                             "next one is %llu: plan again against what serves now",
                             (unsigned long long)gyre_topology_version(next),
                             (unsigned long long)serves, (unsigned long long)serves + 1);
    }
    return GYRE_OK;
}

static int post_move(const struct gy_admin_ops *ops, const void *body, size_t len,
                     struct gy_reply_http *r, gyre_error_t *e)
{
    gyre_topology_t *next = NULL;
    struct gy_move_options options = {0};
    int err = check_idle(ops->mover, e);
    if (err == GYRE_OK) {
        err = gy_body_move(body, len, &next, &options, e);
    }
    if (err == GYRE_OK) {
        err = check_version(ops->mover, next, e);
    }
    if (err == GYRE_OK) {
        err = gy_mover_begin(ops->mover, next, &options, e);
        next = NULL; /* taken over, whatever came */
    }
    gyre_topology_free(next);
    if (err == GYRE_OK) {
        r->status = 202;
        gy_mover_status(ops->mover, &r->body);
    }
    return err;
}

static int post_rate(const struct gy_admin_ops *ops, const void *body, size_t len,
                     struct gy_reply_http *r, gyre_error_t *e)
{
    uint64_t keys = 0, bytes = 0;
    int err = gy_body_rate(body, len, &keys, &bytes, e);
    if (err == GYRE_OK) {
        err = gy_mover_rate(ops->mover, keys, bytes, e);
    }
    if (err == GYRE_OK) {
        gy_mover_status(ops->mover, &r->body);
    }
    return err;
}

static int post_forget(const struct gy_admin_ops *ops, const void *body, size_t len,
                       struct gy_reply_http *r, gyre_error_t *e)
{
    char *address;
    int err = gy_body_address(body, len, &address, e);
    if (err == GYRE_OK) {
        err = gy_mover_forget(ops->mover, address, e);
    }
    if (err == GYRE_OK) {
        gy_mover_status(ops->mover, &r->body);
    }
    free(address);
    return err;
}

static int steer(int (*call)(struct gy_mover *, gyre_error_t *), const struct gy_admin_ops *ops,
                 struct gy_reply_http *r, gyre_error_t *e)
{
    int err = call(ops->mover, e);
    if (err == GYRE_OK) {
        gy_mover_status(ops->mover, &r->body);
    }
    return err;
}

static int post_pause(const struct gy_admin_ops *ops, const void *body, size_t len,
                      struct gy_reply_http *r, gyre_error_t *e)
{
    return steer(gy_mover_pause, ops, r, e);
}

static int post_resume(const struct gy_admin_ops *ops, const void *body, size_t len,
                       struct gy_reply_http *r, gyre_error_t *e)
{
    return steer(gy_mover_resume, ops, r, e);
}

static int post_abort(const struct gy_admin_ops *ops, const void *body, size_t len,
                      struct gy_reply_http *r, gyre_error_t *e)
{
    return steer(gy_mover_abort, ops, r, e);
}

enum { SMALL_BODY = 4096 };

static const struct gy_route_http routes[] = {
    {"GET", "/healthz", get_health, 0, false},
    {"GET", "/v1/status", get_status, 0, false},
    {"GET", "/v1/topology", get_topology, 0, true},
    {"GET", "/v1/move", get_move, 0, true},
    {"POST", "/v1/move", post_move, GY_ADMIN_BODY_MAX, true},
    {"POST", "/v1/move/pause", post_pause, SMALL_BODY, true},
    {"POST", "/v1/move/resume", post_resume, SMALL_BODY, true},
    {"POST", "/v1/move/abort", post_abort, SMALL_BODY, true},
    {"POST", "/v1/move/rate", post_rate, SMALL_BODY, true},
    {"POST", "/v1/move/forget", post_forget, SMALL_BODY, true},
    {"GET", "/v1/move/history", get_history, 0, true},
};
enum { NROUTES = sizeof routes / sizeof routes[0] };

const struct gy_route_http *gy_admin_route(const char *method, const char *path,
                                           struct gy_reply_http *r)
{
    bool get = false, post = false;
    /* HEAD is GET without the body, which the server library leaves out by itself. */
    if (strcmp(method, "HEAD") == 0) {
        method = "GET";
    }
    for (size_t i = 0; i < NROUTES; i++) {
        if (strcmp(routes[i].path, path) != 0) {
            continue;
        }
        if (strcmp(routes[i].method, method) == 0) {
            return &routes[i];
        }
        get = get || routes[i].method[0] == 'G';
        post = post || routes[i].method[0] == 'P';
    }
    if (get || post) {
        gy_reply_problem(r, 405, "METHOD", "this path does not take that method");
        r->allow = get && post ? "GET, HEAD, POST" : get ? "GET, HEAD" : "POST";
    } else {
        gy_reply_problem(r, 404, "NOT_FOUND", "no such path; docs/admin.md lists them");
    }
    return NULL;
}

size_t gy_admin_route_body(const struct gy_route_http *route)
{
    return route->body_max;
}

bool gy_admin_route_changes(const struct gy_route_http *route)
{
    return strcmp(route->method, "POST") == 0;
}

void gy_admin_answer(const struct gy_route_http *route, const struct gy_admin_ops *ops,
                     const void *body, size_t len, struct gy_reply_http *r)
{
    gyre_error_t e = {0};
    int err;
    r->status = 200;
    r->type = "application/json";
    if (route->needs_mover && !ops->mover) {
        err = gy_admin_fail(&e, GYRE_REFUSED,
                            "this proxy keeps no state, so nothing can be moved; give it a "
                            "proxy.state directory");
    } else {
        err = route->answer(ops, body, len, r, &e);
    }
    if (err == GYRE_OK && gy_buf_failed(&r->body)) {
        err = GYRE_NOMEM;
    }
    if (err != GYRE_OK) {
        e.code = err; /* what was returned counts, should the detail have been left empty */
        gy_reply_error(r, &e);
    }
}
