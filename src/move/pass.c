/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pass.c - see pass.h. SCAN returns every key that is there from its beginning to its end, and the
 * keys of the units of a pass are frozen where they are scanned, so one pass sees them all; what it
 * returns twice is found to be done already. On the way back the marks are walked too: a key that
 * is marked and absent was deleted. Threads: the mover's.
 */
#include "move/pass.h"

#include "lib/error.h"

#include <stdio.h>
#include <stdlib.h>

#define COUNT_MIN   64
#define COUNT_START 512
#define COUNT_MAX   4096
#define BATCH_US    20000 /* a SCAN that takes longer asks for less */

static bool near_is_source(enum gy_step step)
{
    return step == GY_STEP_COPY || step == GY_STEP_VERIFY || step == GY_STEP_CLEAN;
}

static uint32_t near_server(const struct gy_pass *p, uint32_t unit)
{
    return p->near_src ? p->j->mig->units[unit].src : p->j->mig->units[unit].dst;
}

static uint32_t far_server(const struct gy_pass *p, uint32_t unit)
{
    return p->near_src ? p->j->mig->units[unit].dst : p->j->mig->units[unit].src;
}

/* ---- failures ---- */

void gy_pass_fail_unit(struct gy_pass *p, uint32_t unit, enum gy_event ev)
{
    if (p->at[unit]) {
        gy_set_fail(p->set, p->at[unit] - 1, ev);
    }
}

void gy_pass_fail_run(struct gy_pass *p, const struct gy_run *r)
{
    for (size_t i = r->from; i < r->to; i++) {
        gy_pass_fail_unit(p, r->keys->v[i].unit, GY_EVENT_AGAIN);
    }
}

size_t gy_run_unit_end(const struct gy_run *r, size_t i)
{
    size_t end = i;
    while (end < r->to && r->keys->v[end].unit == r->keys->v[i].unit) {
        end++;
    }
    return end;
}

enum gy_event gy_pass_event(const struct gy_pass *p, uint32_t unit)
{
    return p->set->ev[p->at[unit] - 1];
}

/* Copying and verifying need both sides; cleaning and purging only the scanned one. */
static bool needs_far(enum gy_step step)
{
    return step != GY_STEP_CLEAN && step != GY_STEP_PURGE;
}

void gy_pass_lost_server(struct gy_pass *p, uint32_t server, const gyre_error_t *e)
{
    gy_mover_complain_down(p->m, server, e);
    p->down[server] = 1;
    for (size_t i = 0; i < p->set->n; i++) {
        uint32_t unit = p->set->units[i];
        if (near_server(p, unit) == server ||
            (needs_far(p->step) && far_server(p, unit) == server)) {
            gy_set_fail(p->set, i, GY_EVENT_AGAIN);
        }
    }
    gy_links_check(&p->m->links, server);
}

struct gy_sync *gy_pass_link(struct gy_pass *p, uint32_t server)
{
    struct gy_sync *c = NULL;
    gyre_error_t e;
    if (p->down[server]) {
        return NULL;
    }
    if (gy_links_get(&p->m->links, server, &p->m->servers[server], true, &c, &e) != GYRE_OK) {
        gy_pass_lost_server(p, server, &e);
        return NULL;
    }
    return c;
}

void gy_pass_refused(struct gy_pass *p, uint32_t server, uint32_t unit, const struct gy_reply *r)
{
    gy_mover_complain_reply(p->m, server, r);
    gy_pass_fail_unit(p, unit, gy_reply_fenced(r) ? GY_EVENT_LOST : GY_EVENT_AGAIN);
}

/* ---- pace ---- */

/* A wish of the admin that this pass must not outlive. */
static bool wished(struct gy_mover *m, enum gy_phase phase)
{
    pthread_mutex_lock(&m->lock);
    bool yes = m->stop || (m->paused && !m->abort) || (m->abort && phase == GY_PHASE_MOVE);
    if (m->rate_changed) {
        gy_bucket_set(&m->keys, m->keys_per_s, gy_now_us());
        gy_bucket_set(&m->bytes, m->bytes_per_s, gy_now_us());
        m->rate_changed = false;
    }
    pthread_mutex_unlock(&m->lock);
    return yes;
}

/* What the workers moved on access is charged, never delayed. Only so far: that work is done, and
 * rest that comes long after it spares no server anything. */
static void charge_on_access(struct gy_mover *m, int64_t now)
{
    uint64_t keys = 0, bytes = 0;
    m->host->on_access(m->host->ctx, &keys, &bytes);
    gy_bucket_charge(&m->keys, keys > m->charged_keys ? keys - m->charged_keys : 0, now);
    gy_bucket_charge(&m->bytes, bytes > m->charged_bytes ? bytes - m->charged_bytes : 0, now);
    m->charged_keys = keys;
    m->charged_bytes = bytes;
}

bool gy_pass_throttle(struct gy_pass *p, uint64_t keys, uint64_t bytes)
{
    struct gy_mover *m = p->m;
    for (;;) {
        if (wished(m, p->j->phase)) {
            p->set->interrupted = true;
            return true;
        }
        int64_t now = gy_now_us();
        charge_on_access(m, now);
        int64_t a = gy_bucket_wait(&m->keys, now), b = gy_bucket_wait(&m->bytes, now);
        int64_t us = a > b ? a : b;
        if (us == 0) {
            gy_bucket_take(&m->keys, keys, now);
            gy_bucket_take(&m->bytes, bytes, now);
            return false;
        }
        gy_mover_rest(m, us / 1000 + 1);
    }
}

/* ---- batches ---- */

static void run_batch(struct gy_pass *p, uint32_t server, struct gy_keyset *keys)
{
    gy_keyset_sort(keys);
    struct gy_run r = {.keys = keys, .near = server};
    /* Units are sorted by (source, destination), so keys with one far server stand together. */
    for (r.from = 0; r.from < keys->n && !p->set->interrupted; r.from = r.to) {
        r.far = far_server(p, keys->v[r.from].unit);
        for (r.to = r.from; r.to < keys->n && far_server(p, keys->v[r.to].unit) == r.far; r.to++) {
        }
        r.nearc = gy_pass_link(p, r.near);
        r.farc = needs_far(p->step) ? gy_pass_link(p, r.far) : NULL;
        if (!r.nearc || (needs_far(p->step) && !r.farc)) {
            continue;
        }
        if (p->step == GY_STEP_VERIFY) {
            gy_verify_run(p, &r);
        } else if (needs_far(p->step)) {
            gy_carry_run(p, &r);
        } else {
            gy_sweep_run(p, &r);
        }
    }
}

/* The unit of a key if this pass cares for it; GY_NO_UNIT otherwise. */
static uint32_t wanted(const struct gy_pass *p, uint32_t server, struct gy_slice key)
{
    if (gy_unit_is_record(p->m->prefix, key)) {
        return GY_NO_UNIT;
    }
    struct gy_route r = gy_view_route(p->m->view, key.p, key.n);
    if (r.unit == GY_NO_UNIT || !p->at[r.unit] || near_server(p, r.unit) != server) {
        return GY_NO_UNIT;
    }
    return r.unit;
}

static bool take_keys(struct gy_pass *p, uint32_t server, const struct gy_reply *list,
                      struct gy_keyset *keys)
{
    bool copying = p->step == GY_STEP_COPY, verifying = p->step == GY_STEP_VERIFY;
    gy_keyset_reset(keys);
    for (size_t i = 0; i < list->count; i++) {
        struct gy_slice key = list->item[i].text;
        uint32_t unit = wanted(p, server, key);
        if (unit == GY_NO_UNIT) {
            continue;
        }
        if (gy_pass_event(p, unit) != GY_EVENT_OK && gy_pass_event(p, unit) != GY_EVENT_DIRTY) {
            continue;
        }
        if (!gy_keyset_add(keys, key, unit)) {
            return false;
        }
        keys->v[keys->n - 1].fresh = verifying && gy_seen_add(&p->seen, key);
    }
    pthread_mutex_lock(&p->m->lock);
    p->j->scanned += copying ? list->count : 0;
    pthread_mutex_unlock(&p->m->lock);
    return true;
}

/* ---- scanning ---- */

/* One SCAN or SSCAN; cursor in and out. */
static int scan_once(struct gy_sync *c, const char *set, char cursor[24], unsigned count,
                     struct gy_reply **out, gyre_error_t *e)
{
    char text[16];
    snprintf(text, sizeof text, "%u", count);
    int rc = set ? gy_sync_call(c, out, e, "SSCAN", set, cursor, "COUNT", text, NULL)
                 : gy_sync_call(c, out, e, "SCAN", cursor, "COUNT", text, NULL);
    if (rc != GYRE_OK) {
        return rc;
    }
    const struct gy_reply *r = *out;
    if (r->type != '*' || r->count != 2 || r->item[0].text.n >= 24 || r->item[1].type != '*') {
        gy_reply_free(*out);
        *out = NULL;
        return gy_fail(e, GYRE_IO, "SCAN answered something else");
    }
    memcpy(cursor, r->item[0].text.p, r->item[0].text.n);
    cursor[r->item[0].text.n] = '\0';
    return GYRE_OK;
}

static unsigned adapt(unsigned count, int64_t us)
{
    if (us > BATCH_US) {
        return count / 2 > COUNT_MIN ? count / 2 : COUNT_MIN;
    }
    return us < BATCH_US / 4 && count < COUNT_MAX ? count * 2 : count;
}

/* The whole key space of a server, or (set) one set of names on it. */
static void scan(struct gy_pass *p, uint32_t server, const char *set)
{
    char cursor[24] = "0";
    unsigned count = COUNT_START;
    struct gy_keyset keys = {0};
    do {
        gyre_error_t e;
        struct gy_reply *r = NULL;
        struct gy_sync *c = gy_pass_throttle(p, 0, 0) ? NULL : gy_pass_link(p, server);
        if (!c) {
            break;
        }
        int64_t begun = gy_now_us();
        int rc = scan_once(c, set, cursor, count, &r, &e);
        count = adapt(count, gy_now_us() - begun);
        if (rc == GYRE_OK && !take_keys(p, server, &r->item[1], &keys)) {
            rc = gy_fail_nomem(&e);
        }
        gy_reply_free(r);
        if (rc != GYRE_OK) {
            gy_pass_lost_server(p, server, &e);
            break;
        }
        run_batch(p, server, &keys);
    } while (strcmp(cursor, "0") != 0 && !p->set->interrupted && !p->down[server]);
    gy_keyset_fini(&keys);
}

/* ---- the pass ---- */

static void begin(struct gy_pass *p)
{
    for (size_t i = 0; i < p->set->n; i++) {
        p->at[p->set->units[i]] = (uint32_t)i + 1;
        if (p->step == GY_STEP_VERIFY) {
            p->j->census[p->set->units[i]] = (struct gy_census){0};
        }
    }
    /* The records first: they may be those of before a restart. */
    if (p->step == GY_STEP_COPY || p->step == GY_STEP_VERIFY) {
        gy_records_check(p->m, p->j, p->set);
    } else {
        gy_records_step(p->m, p->j, p->step, p->set);
    }
}

static bool any_left(const struct gy_pass *p, uint32_t server)
{
    for (size_t i = 0; i < p->set->n; i++) {
        if (near_server(p, p->set->units[i]) == server && p->set->ev[i] == GY_EVENT_OK) {
            return true;
        }
    }
    return false;
}

static void scan_all(struct gy_pass *p)
{
    for (uint32_t server = 0; server < p->m->nservers && !p->set->interrupted; server++) {
        if (any_left(p, server)) {
            scan(p, server, NULL);
        }
    }
    for (size_t i = 0; p->step == GY_STEP_BACK && i < p->set->n && !p->set->interrupted; i++) {
        if (p->set->ev[i] == GY_EVENT_OK) {
            uint32_t unit = p->set->units[i];
            scan(p, near_server(p, unit), p->j->mig->names[unit].marks);
        }
    }
    for (size_t i = 0; p->set->interrupted && i < p->set->n; i++) {
        gy_set_fail(p->set, i, GY_EVENT_AGAIN);
    }
}

void gy_pass_run(struct gy_mover *m, struct gy_job *j, enum gy_step step, struct gy_set *s)
{
    struct gy_pass p = {.m = m, .j = j, .step = step, .set = s, .near_src = near_is_source(step)};
    p.at = calloc(j->mig->nunits, sizeof *p.at);
    p.down = calloc(m->nservers, sizeof *p.down);
    if (p.at && p.down) {
        begin(&p);
        scan_all(&p);
    } else {
        for (size_t i = 0; i < s->n; i++) {
            gy_set_fail(s, i, GY_EVENT_AGAIN);
        }
    }
    free(p.at);
    free(p.down);
    gy_seen_fini(&p.seen);
}
