/* SPDX-License-Identifier: Apache-2.0 */
/* ride.c - see ride.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ride.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void publish(void *ctx, struct gy_view *v)
{
    struct ride *r = ctx;
    v->seq = ++r->seq;
    gy_view_unref(r->view);
    r->view = v;
    if (r->at_view) {
        r->at_view(r, v);
    }
}

static bool refuse_once(struct ride *r, enum gy_unit_state s, bool *refused)
{
    bool now = r->stubborn && !*refused && ride_count(r->view, s);
    *refused |= now;
    return now;
}

static bool barrier(void *ctx, uint64_t seq, int timeout_ms)
{
    struct ride *r = ctx;
    r->barriers++;
    if (r->refuse_barriers) {
        usleep((unsigned)timeout_ms * 100); /* a tenth: nobody is really waited for */
        return false;
    }
    return !refuse_once(r, GY_UNIT_PREPARE, &r->refused_prepare) &&
           !refuse_once(r, GY_UNIT_ABORT_PREPARE, &r->refused_abort) && r->seq >= seq;
}

static void on_access(void *ctx, uint64_t *keys, uint64_t *bytes)
{
    struct ride *r = ctx;
    *keys = r->access_keys;
    *bytes = r->access_bytes;
}

static uint64_t longest_hold(void *ctx)
{
    struct ride *r = ctx;
    return atomic_exchange(&r->hold_ms, 0);
}

void ride_open(struct ride *r, const char *dir, gyre_topology_t *t)
{
    char path[128];
    gyre_error_t e;
    snprintf(path, sizeof path, "%s/state", dir);
    static char pool[] = "main", prefix[] = "gyre:";
    r->conf.topology = t;
    r->conf.proxy.pool = pool;
    r->conf.proxy.prefix = prefix;
    r->conf.proxy.connect_ms = 500;
    r->conf.proxy.timeout_ms = 1000;
    r->conf.proxy.bigkey_bytes = 64 << 10;
    r->host = (struct gy_move_host){.ctx = r,
                                    .publish = publish,
                                    .barrier = barrier,
                                    .on_access = on_access,
                                    .longest_hold = longest_hold};
    if (gy_store_open(path, GY_STORE_EXCLUSIVE, &r->store, &e) != GYRE_OK ||
        gy_mover_create(&r->conf, r->store, &r->mover, &r->view, NULL, &e) != GYRE_OK) {
        fail_msg("%s", e.message);
    }
}

void ride_start(struct ride *r)
{
    assert_int_equal(gy_mover_start(r->mover, &r->host, NULL), GYRE_OK);
}

void ride_close(struct ride *r)
{
    gy_mover_stop(r->mover);
    gy_mover_destroy(r->mover);
    gy_store_close(r->store);
    gy_view_unref(r->view);
    r->mover = NULL;
    r->store = NULL;
    r->view = NULL;
}

char *ride_status(struct ride *r)
{
    struct gy_buf b = {0};
    gy_mover_status(r->mover, &b);
    char *text = strdup(gy_buf_cstr(&b));
    gy_buf_fini(&b);
    return text;
}

void ride_wait(struct ride *r, const char *state)
{
    char want[64];
    snprintf(want, sizeof want, "\"state\":\"%s\"", state);
    for (int i = 0; i < 30000; i++) {
        char *text = ride_status(r);
        bool there = strstr(text, want) != NULL;
        if (i == 29999) {
            fail_msg("never %s: %s", state, text);
        }
        free(text);
        if (there) {
            return;
        }
        usleep(1000);
    }
}

double ride_number(struct ride *r, const char *path)
{
    char *text = ride_status(r), copy[64], *save = NULL;
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    const json_t *v = root;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *p = strtok_r(copy, ".", &save); p; p = strtok_r(NULL, ".", &save)) {
        v = json_object_get(v, p);
    }
    double out = json_number_value(v);
    json_decref(root);
    free(text);
    return out;
}

gyre_topology_t *ride_topology(struct ride *r)
{
    struct gy_buf yaml = {0};
    struct gy_config *c;
    assert_int_equal(gy_mover_topology(r->mover, &yaml, NULL), GYRE_OK);
    assert_int_equal(
        gy_config_parse((const char *)gy_buf_head(&yaml), gy_buf_size(&yaml), "stored", &c, NULL),
        GYRE_OK);
    gyre_topology_t *t = gyre_topology_clone(c->topology);
    gy_config_free(c);
    gy_buf_fini(&yaml);
    return t;
}

unsigned ride_count(const struct gy_view *v, enum gy_unit_state s)
{
    unsigned n = 0;
    for (uint32_t i = 0; v->move && i < v->move->nunits; i++) {
        n += v->state[i] == s;
    }
    return n;
}
