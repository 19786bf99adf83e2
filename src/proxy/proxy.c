/* SPDX-License-Identifier: Apache-2.0 */
/* proxy.c - start and stop; see proxy.h. Publishing views: view_publish.c. */
#include "proxy/proxy.h"

#include "base/alloc.h"
#include "base/log.h"
#include "move/mover.h"
#include "net/listen.h"
#include "proxy/client.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- before anything is opened ---- */

/* The first line of the file; the proxy holds it, it is in no log. */
static int read_password(const struct gy_config *config, char **password, gyre_error_t *e)
{
    const char *path = config->proxy.password_file;
    if (!path) {
        return GYRE_OK;
    }
    FILE *f = fopen(path, "re");
    char line[1024];
    if (!f || !fgets(line, sizeof line, f)) {
        *e = (gyre_error_t){.code = GYRE_IO};
        snprintf(e->message, sizeof e->message, "proxy.backend.password_file %s: %s", path,
                 f ? "it is empty" : strerror(errno));
        if (f) {
            fclose(f);
        }
        return GYRE_IO;
    }
    fclose(f);
    line[strcspn(line, "\r\n")] = 0;
    *password = gy_xstrdup(line);
    explicit_bzero(line, sizeof line);
    return GYRE_OK;
}

static void forget(char *password)
{
    if (password) {
        explicit_bzero(password, strlen(password));
        free(password);
    }
}

/* Clients, nodes and a few files each take a descriptor. */
static void raise_file_limit(const struct gy_proxy *p)
{
    struct rlimit r;
    rlim_t want = (rlim_t)p->config->proxy.max_clients + 1024;
    if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur >= want) {
        return;
    }
    r.rlim_cur = want < r.rlim_max ? want : r.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur < want) {
        gy_warn("max_clients=%u but only %llu files may be open (ulimit -n)",
                p->config->proxy.max_clients, (unsigned long long)r.rlim_cur);
    }
}

/* ---- listeners ---- */

static int listen_on(struct gy_proxy *p, const char *text, gyre_error_t *e)
{
    struct gy_addr addr;
    int *fds = gy_xcalloc(p->nworkers, sizeof *fds);
    int rc = gy_addr_parse(text, 0, &addr, e);
    if (!rc) {
        rc = gy_listen(&addr, p->nworkers, fds, e);
    }
    struct gy_listener_events ev = {gy_client_accept};
    for (unsigned i = 0; !rc && i < p->nworkers; i++) {
        rc = gy_listener_add(p->workers[i].loop, fds[i], addr.is_unix, &ev, &p->workers[i], e);
    }
    free(fds);
    return rc;
}

static int check_doors(const struct gy_proxy_conf *c, gyre_error_t *e)
{
    struct gy_addr addr;
    int rc = GYRE_OK;
    for (size_t i = 0; i < c->listen_count && !rc; i++) {
        rc = gy_addr_parse(c->listen[i], 0, &addr, e);
        rc = rc ? rc : gy_listen_check(&addr, e);
    }
    return rc;
}

/* A socket file must not outlive its listener. */
static void remove_sockets(const struct gy_proxy *p)
{
    struct gy_addr addr;
    for (size_t i = 0; i < p->config->proxy.listen_count; i++) {
        if (gy_addr_parse(p->config->proxy.listen[i], 0, &addr, NULL) == GYRE_OK && addr.is_unix) {
            unlink(addr.host);
        }
    }
}

static int open_doors(struct gy_proxy *p, gyre_error_t *e)
{
    for (size_t i = 0; i < p->config->proxy.listen_count; i++) {
        int rc = listen_on(p, p->config->proxy.listen[i], e);
        if (rc) {
            return rc;
        }
    }
    return GYRE_OK;
}

/* ---- life ---- */

static void init(struct gy_proxy *p, const struct gy_config *config)
{
    struct timespec now;
    pthread_condattr_t attr;
    clock_gettime(CLOCK_REALTIME, &now);
    p->config = config;
    p->nworkers = config->proxy.workers;
    p->workers = gy_xcalloc(p->nworkers, sizeof *p->workers);
    p->started_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    p->prefix = gy_str(config->proxy.prefix);
    p->next_client_id = 1;
    p->host = (struct gy_move_host){p,
                                    gy_proxy_publish,
                                    gy_proxy_barrier,
                                    gy_proxy_on_access,
                                    gy_proxy_patience,
                                    gy_proxy_longest_hold};
    pthread_mutex_init(&p->lock, NULL);
    pthread_mutex_init(&p->ack_lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&p->acked, &attr);
    pthread_condattr_destroy(&attr);
}

static void fini(struct gy_proxy *p)
{
    for (unsigned i = 0; i < p->nworkers; i++) {
        if (p->workers[i].loop) {
            gy_worker_fini(&p->workers[i]);
        }
    }
    free(p->workers);
    gy_view_unref(p->view);
    forget(p->password);
    pthread_cond_destroy(&p->acked);
    pthread_mutex_destroy(&p->ack_lock);
    pthread_mutex_destroy(&p->lock);
}

static int start_workers(struct gy_proxy *p, gyre_error_t *e)
{
    int rc = GYRE_OK;
    for (unsigned i = 0; !rc && i < p->nworkers; i++) {
        rc = gy_worker_init(&p->workers[i], p, i, e);
    }
    if (!rc) {
        rc = open_doors(p, e);
    }
    for (unsigned i = 0; !rc && i < p->nworkers; i++) {
        rc = gy_worker_start(&p->workers[i], e);
    }
    return rc;
}

static void stop_workers(struct gy_proxy *p)
{
    for (unsigned i = 0; i < p->nworkers; i++) {
        if (p->workers[i].started) {
            gy_loop_stop(p->workers[i].loop);
        }
    }
    for (unsigned i = 0; i < p->nworkers; i++) {
        gy_worker_join(&p->workers[i]);
    }
}

/* nodes, version: of the first view, which may be gone by now. */
static void tell_ready(const struct gy_proxy *p, uint32_t nodes, uint64_t version)
{
    struct gy_buf text = {0};
    for (size_t i = 0; i < p->config->proxy.listen_count; i++) {
        gy_buf_printf(&text, " listen=%s", p->config->proxy.listen[i]);
    }
    if (p->config->proxy.admin) {
        gy_buf_printf(&text, " admin=%s", p->config->proxy.admin);
    }
    gy_info("ready%s nodes=%u version=%llu workers=%u pid=%ld", gy_buf_cstr(&text), nodes,
            (unsigned long long)version, p->nworkers, (long)getpid());
    gy_buf_fini(&text);
}

static void wait_for_signal(const sigset_t *set)
{
    for (;;) {
        int sig = 0;
        if (sigwait(set, &sig) != 0) {
            continue;
        }
        if (sig == SIGHUP) {
            gy_info(
                "SIGHUP: a topology file never moves data; change the fleet with 'gyre move start'");
            continue;
        }
        gy_info("stopping signal=%s", sig == SIGINT ? "SIGINT" : "SIGTERM");
        return;
    }
}

static int serve(struct gy_proxy *p, struct gy_mover *mover, const struct gy_proxy_hooks *hooks,
                 const sigset_t *set, gyre_error_t *e)
{
    uint32_t nodes = gyre_map_count(p->view->map);
    uint64_t version = gyre_map_version(p->view->map);
    int rc = start_workers(p, e);
    if (!rc) {
        rc = hooks->serving(hooks->ctx, p, mover, e);
    }
    if (!rc) {
        rc = gy_mover_start(mover, &p->host, e);
    }
    if (!rc) {
        tell_ready(p, nodes, version);
        wait_for_signal(set);
    }
    hooks->stopping(hooks->ctx);
    gy_mover_stop(mover);
    stop_workers(p);
    remove_sockets(p);
    return rc;
}

static void block_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, set, NULL); /* inherited by every thread started from here */
    signal(SIGPIPE, SIG_IGN);
}

int gy_proxy_run(const struct gy_config *config, const struct gy_proxy_hooks *hooks,
                 gyre_error_t *e)
{
    struct gy_proxy p = {0};
    struct gy_store *store = NULL;
    struct gy_mover *mover = NULL;
    struct gy_view *view = NULL;
    char *note = NULL;
    sigset_t set;
    block_signals(&set);
    init(&p, config);
    int rc = read_password(config, &p.password, e);
    if (!rc) {
        raise_file_limit(&p);
        rc = gy_store_open(config->proxy.state, GY_STORE_EXCLUSIVE, &store, e);
    }
    if (!rc) {
        rc = gy_mover_create(config, store, &mover, &view, &note, e);
    }
    if (!rc) {
        if (note) {
            gy_warn("%s", note);
        }
        view->seq = p.view_seq = 1;
        atomic_init(&p.view, view);
        p.fence = gy_mover_fence(mover);
        rc = serve(&p, mover, hooks, &set, e);
        gy_mover_retire(mover);
    }
    free(note);
    fini(&p);
    gy_mover_destroy(mover);
    gy_store_close(store);
    return rc;
}

int gy_proxy_check(const struct gy_config *config, gyre_error_t *e)
{
    char *password = NULL;
    int rc = read_password(config, &password, e);
    forget(password);
    if (!rc) {
        rc = check_doors(&config->proxy, e);
    }
    if (!rc) {
        rc = gy_store_check(config->proxy.state, e);
    }
    return rc;
}
