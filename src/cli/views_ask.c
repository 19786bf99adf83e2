/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views_ask.c - asks the nodes of a live Redis Cluster for their views. A few at a time, each by a
 * thread of its own, so that nodes which do not answer cost the wait of one; what came is compared
 * by the caller's thread. Threads: main only; those started here touch nothing but their question.
 */
#include "cli/live.h"
#include "cli/progress.h"
#include "cli/views.h"
#include "formats/format.h"

#include <pthread.h>
#include <stdlib.h>

enum { AT_ONCE = 16 };

struct question {
    const char *url;
    const struct gy_server *server;
    struct gy_buf text;
    gyre_error_t why;
    int rc;
    pthread_t thread;
    bool started;
};

static void *put(void *arg)
{
    struct question *q = arg;
    q->rc = gy_live_nodes(q->url, q->server->address, &q->text, &q->why);
    return NULL;
}

/* What is wrong, without the address it may begin with: the name says which server it is. */
static const char *why_of(const struct question *q)
{
    size_t n = strlen(q->server->address);
    const char *text = q->why.message;
    bool named = strncmp(text, q->server->address, n) == 0 && strncmp(text + n, ": ", 2) == 0;
    return named ? text + n + 2 : text;
}

static int take(struct question *q, struct gy_pool *mine, gyre_error_t *e)
{
    struct gy_pools *view = NULL;
    struct gy_source from = {.file = q->server->name, .format = "redis-nodes"};
    struct gy_slice text = {gy_buf_head(&q->text), gy_buf_size(&q->text)};
    int rc = q->rc ? q->rc : gy_pools_parse(text, &from, &view, &q->why);
    if (rc == GYRE_NOMEM) {
        *e = q->why;
    } else if (rc) {
        rc = gy_pool_note(mine, GY_LEVEL_WARNING, "not-asked", 0, "%s does not tell its view: %s",
                          q->server->name, why_of(q));
    } else {
        rc = gy_views_add(mine, view->list[0], q->server->name, &q->why);
        if (rc == GYRE_NOMEM) {
            *e = q->why;
        } else if (rc) { /* a node that was reset: the others are heard all the same */
            rc = gy_pool_note(mine, GY_LEVEL_WARNING, "views-differ", 0, "%s's view is of %s",
                              q->server->name, q->why.message);
        }
    }
    gy_pools_free(view);
    return rc;
}

/* Where no thread can be had the question is put here. */
static int ask_some(struct question *list, size_t n, struct gy_pool *mine, gyre_error_t *e)
{
    int rc = GYRE_OK;
    for (size_t i = 0; i < n; i++) {
        list[i].started = n > 1 && pthread_create(&list[i].thread, NULL, put, &list[i]) == 0;
        if (!list[i].started) {
            (void)put(&list[i]);
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (list[i].started) {
            (void)pthread_join(list[i].thread, NULL);
        }
        rc = rc ? rc : take(&list[i], mine, e);
        gy_buf_fini(&list[i].text);
    }
    return rc;
}

int gy_views_ask(const char *url, struct gy_pool *mine, gyre_error_t *e)
{
    static const unsigned silent = GY_STATE_SELF | GY_STATE_DOWN | GY_STATE_NO_ADDRESS;
    struct question list[AT_ONCE];
    size_t n = 0;
    int rc = GYRE_OK;
    gy_progress_begin("asking every node", mine->server_count);
    for (size_t i = 0; i < mine->server_count && !rc; i++) {
        const struct gy_server *s = &mine->servers[i];
        if (s->address && !(s->states & silent)) {
            list[n++] = (struct question){.url = url, .server = s};
        }
        if (n == AT_ONCE || (n && i + 1 == mine->server_count)) {
            rc = ask_some(list, n, mine, e);
            gy_progress_at(i);
            n = 0;
        }
    }
    gy_progress_end();
    return rc;
}
