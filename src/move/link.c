/* SPDX-License-Identifier: Apache-2.0 */
/* link.c - see link.h. */
#include "move/link.h"

#include "base/log.h"
#include "lib/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define VISIT_MAX_MS   500
#define VISIT_MIN_MS   50
#define MIN_TIMEOUT_MS 2000 /* the mover is patient: a big key takes a while to be dumped */

static int read_password(const char *path, char **out, gyre_error_t *e)
{
    char line[1024];
    FILE *f = fopen(path, "re");
    if (!f) {
        return gy_fail(e, GYRE_IO, "%s: cannot read the password: %s", path, strerror(errno));
    }
    bool got = fgets(line, sizeof line, f) != NULL;
    fclose(f);
    if (!got) {
        return gy_fail(e, GYRE_IO, "%s: the password file is empty", path);
    }
    line[strcspn(line, "\r\n")] = '\0';
    *out = strdup(line);
    return *out ? GYRE_OK : gy_fail_nomem(e);
}

int gy_link_conf_renumber(struct gy_link_conf *c, uint64_t generation, gyre_error_t *e)
{
    int rc = gy_fence_renumber(&c->fence, generation, e);
    free(c->name);
    if (rc != GYRE_OK || asprintf(&c->name, "%s-mover", c->fence.user) < 0) {
        c->name = NULL;
        return rc != GYRE_OK ? rc : gy_fail_nomem(e);
    }
    return GYRE_OK;
}

int gy_link_conf_init(struct gy_link_conf *c, const struct gy_proxy_conf *proxy, const char *pool,
                      const char *id, uint64_t generation, gyre_error_t *e)
{
    memset(c, 0, sizeof *c);
    c->connect_ms = proxy->connect_ms ? (int)proxy->connect_ms : 500;
    c->timeout_ms = proxy->timeout_ms > MIN_TIMEOUT_MS ? (int)proxy->timeout_ms : MIN_TIMEOUT_MS;
    if (proxy->user && !(c->user = strdup(proxy->user))) {
        return gy_fail_nomem(e);
    }
    int rc = gy_fence_init(&c->fence, pool, id, generation, proxy->user, e);
    if (rc == GYRE_OK) {
        rc = gy_link_conf_renumber(c, generation, e);
    }
    return rc == GYRE_OK && proxy->password_file
               ? read_password(proxy->password_file, &c->password, e)
               : rc;
}

void gy_link_conf_fini(struct gy_link_conf *c)
{
    free(c->user);
    free(c->password);
    free(c->name);
    gy_fence_fini(&c->fence);
    memset(c, 0, sizeof *c);
}

int gy_link_visit(const struct gy_link_conf *c, const struct gy_server *server, int64_t ms,
                  struct gy_sync **out, gyre_error_t *e)
{
    struct gy_addr addr;
    struct gy_sync_opts o = {
        .user = c->user,
        .password = c->password,
        .client_name = c->name,
        .connect_ms = (int)(ms > VISIT_MAX_MS   ? VISIT_MAX_MS
                            : ms < VISIT_MIN_MS ? VISIT_MIN_MS
                                                : ms),
        .fence = &c->fence,
        .look = true,
    };
    o.timeout_ms = o.connect_ms;
    *out = NULL;
    int rc = gy_addr_parse(server->address, 6379, &addr, e);
    return rc == GYRE_OK ? gy_sync_connect(&addr, &o, out, e) : rc;
}

/* Our users there go, of this generation and the older ones. */
static int unmake(struct gy_sync *c, const struct gy_fence *f,
                  bool (*may)(void *ctx, const char *run_id), void *ctx, gyre_error_t *e)
{
    struct gy_reply *acl = NULL, *done = NULL;
    size_t argc;
    int rc = gy_sync_call(c, &acl, e, "ACL", "LIST", NULL);
    struct gy_slice *argv = rc == GYRE_OK ? gy_fence_unmake(f, acl, &argc) : NULL;
    if (argv && (!may || may(ctx, gy_sync_run_id(c)))) {
        gy_sync_add(c, argc, argv);
        rc = gy_sync_read(c, &done, e);
    }
    if (rc == GYRE_OK && done && done->type == '-') {
        rc = gy_fail(e, GYRE_REFUSED, "ACL DELUSER: %.*s", (int)done->text.n,
                     (const char *)done->text.p);
    }
    free(argv);
    gy_reply_free(done);
    gy_reply_free(acl);
    return rc;
}

int gy_link_retire(const struct gy_link_conf *c, const struct gy_server *server, int64_t ms,
                   bool weak, bool (*may)(void *ctx, const char *run_id), void *ctx,
                   gyre_error_t *e)
{
    struct gy_sync *s = NULL;
    int rc = gy_link_visit(c, server, ms, &s, e);
    const char *why = rc == GYRE_OK ? gy_sync_greeting(s)->weak : "";
    if (rc == GYRE_OK && !*why) {
        rc = unmake(s, &c->fence, may, ctx, e);
    } else if (strstr(why, "NOPERM") && !weak) {
        rc = gy_fail(e, GYRE_REFUSED, "%s", why);
    }
    gy_sync_close(s);
    return rc;
}

void gy_links_init(struct gy_links *l, const struct gy_link_conf *conf)
{
    *l = (struct gy_links){.conf = conf};
}

void gy_links_fini(struct gy_links *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        gy_sync_close(l->v[i].sync);
    }
    free(l->v);
    *l = (struct gy_links){0};
}

static int name_it(const struct gy_server *server, int rc, gyre_error_t *e)
{
    if (rc != GYRE_OK && e) {
        gyre_error_t inner = *e;
        char name[GY_SHOW];
        return gy_fail(e, rc, "%s: %s", gy_show(server->name, name), inner.message);
    }
    return rc;
}

static int open_link(struct gy_links *l, struct gy_link *k, const struct gy_server *server,
                     gyre_error_t *e)
{
    struct gy_addr addr;
    struct gy_sync_opts o = {
        .user = l->conf->user,
        .password = l->conf->password,
        .client_name = l->conf->name,
        .connect_ms = l->conf->connect_ms,
        .timeout_ms = l->conf->timeout_ms,
        .fence = &l->conf->fence,
        .made = &k->made,
        .kill_id = k->dead_id,
        .kill_run_id = k->dead_run_id,
    };
    k->loaded = false;
    int rc = gy_addr_parse(server->address, 6379, &addr, e);
    if (rc == GYRE_OK) {
        rc = gy_sync_connect(&addr, &o, &k->sync, e);
    }
    if (rc == GYRE_OK && k->dead_id) {
        const char *run_id = gy_sync_run_id(k->sync);
        bool other = strcmp(k->dead_run_id, run_id) != 0;
        k->dead_id = 0;
        if (other && l->restarted) {
            l->restarted(l->ctx, (uint32_t)(k - l->v), run_id);
        }
    }
    return rc;
}

int gy_links_get(struct gy_links *l, uint32_t i, const struct gy_server *server, bool library,
                 struct gy_sync **out, gyre_error_t *e)
{
    *out = NULL;
    if (i >= l->n) {
        struct gy_link *v = realloc(l->v, (i + 1) * sizeof *v);
        if (!v) {
            return gy_fail_nomem(e);
        }
        memset(v + l->n, 0, (i + 1 - l->n) * sizeof *v);
        l->v = v;
        l->n = i + 1;
    }
    char user[GY_SHOW];
    struct gy_link *k = &l->v[i];
    int rc = k->sync ? GYRE_OK : open_link(l, k, server, e);
    if (rc == GYRE_OK && !l->weak_ok && *gy_links_weak(l, i)) {
        rc = gy_fail(e, GYRE_REFUSED,
                     "no predecessor can be fenced by ACL there (%s), and the move was not begun "
                     "with --weak-fencing: " GY_FENCE_GRANT,
                     gy_links_weak(l, i), gy_show(l->conf->fence.base, user));
        gy_links_drop(l, i); /* asked again, it may have been granted */
    }
    if (rc == GYRE_OK && library && !k->loaded) {
        rc = gy_stamp_load(k->sync, l->pool, &l->stamp, e);
        k->loaded = rc == GYRE_OK;
        gy_links_check(l, i);
    }
    if (rc == GYRE_OK) {
        *out = k->sync;
    }
    return name_it(server, rc, e);
}

const char *gy_links_run_id(const struct gy_links *l, uint32_t i)
{
    return i < l->n && l->v[i].sync ? gy_sync_run_id(l->v[i].sync) : "";
}

const char *gy_links_weak(const struct gy_links *l, uint32_t i)
{
    return i < l->n && l->v[i].sync ? gy_sync_greeting(l->v[i].sync)->weak : "";
}

bool gy_links_made(const struct gy_links *l, uint32_t i)
{
    return i < l->n && l->v[i].made;
}

void gy_links_check(struct gy_links *l, uint32_t i)
{
    if (i < l->n && l->v[i].sync && gy_sync_broken(l->v[i].sync)) {
        struct gy_link *k = &l->v[i];
        k->dead_id = gy_sync_client_id(k->sync);
        snprintf(k->dead_run_id, sizeof k->dead_run_id, "%s", gy_sync_run_id(k->sync));
        gy_sync_close(k->sync);
        k->sync = NULL;
    }
}

void gy_links_unload(struct gy_links *l, uint32_t i)
{
    if (i < l->n) {
        l->v[i].loaded = false;
    }
}

void gy_links_seal(struct gy_links *l)
{
    gyre_error_t e;
    l->stamp.ended = true;
    for (uint32_t i = 0; i < l->n; i++) {
        if (l->v[i].sync && l->v[i].loaded &&
            gy_stamp_load(l->v[i].sync, l->pool, &l->stamp, &e) != GYRE_OK) {
            gy_debug("move: not told that it ended: %s", e.message);
        }
    }
}

void gy_links_drop(struct gy_links *l, uint32_t i)
{
    if (i < l->n) {
        gy_sync_close(l->v[i].sync);
        l->v[i] = (struct gy_link){0};
    }
}
