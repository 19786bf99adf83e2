/* SPDX-License-Identifier: Apache-2.0 */
/*
 * carry.c - keys from one server to another, forward (gyre_dump at S, gyre_install at D) or back
 * (gyre_back at D, gyre_unmove at S); and the check that nothing was left behind. Every step is a
 * pipeline, cut so that it never holds more than about 8 MB, except for one single big key.
 * Threads: the mover's.
 */
#include "lib/error.h"
#include "move/pass.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SLICE_BYTES (8u << 20)
#define SLICE_KEYS  256
/* What a large key takes at both ends, at the least and at the most; SLOW_COPY bytes a millisecond.
 * A node that is frozen meanwhile is called down this late. */
#define PATIENT_MIN_MS 10000
#define PATIENT_MAX_MS 120000
#define SLOW_COPY      20000

static const struct gy_unit_names *names_of(const struct gy_pass *p, uint32_t unit)
{
    return &p->j->mig->names[unit];
}

static bool read_or_lose(struct gy_pass *p, struct gy_sync *c, uint32_t server,
                         struct gy_reply **out)
{
    gyre_error_t e;
    if (gy_sync_read(c, out, &e) == GYRE_OK) {
        return true;
    }
    gy_pass_lost_server(p, server, &e);
    return false;
}

/* ---- which are done already ---- */

/* SMISMEMBER of the marks (forward) or back-marks at the far side, one a unit; items that are
 * members become done. False: the server failed. */
static bool ask_marks(struct gy_pass *p, struct gy_run *r)
{
    bool forward = p->near_src;
    struct gy_slice *argv = calloc(r->to - r->from + 2, sizeof *argv);
    if (!argv) {
        gy_pass_fail_run(p, r);
        return false;
    }
    for (size_t i = r->from, end; i < r->to; i = end) {
        const struct gy_unit_names *n = names_of(p, r->keys->v[i].unit);
        size_t argc = 0;
        end = gy_run_unit_end(r, i);
        argv[argc++] = GY_LIT("SMISMEMBER");
        argv[argc++] = gy_str(forward ? n->marks : n->back);
        for (size_t k = i; k < end; k++) {
            argv[argc++] = gy_keyset_key(r->keys, k);
        }
        gy_sync_add(r->farc, argc, argv);
    }
    free(argv);
    for (size_t i = r->from, end; i < r->to; i = end) {
        struct gy_reply *a;
        end = gy_run_unit_end(r, i);
        if (!read_or_lose(p, r->farc, r->far, &a)) {
            return false;
        }
        bool good = a->type == '*' && a->count == end - i;
        for (size_t k = i; k < end; k++) {
            r->keys->v[k].done = !good || a->item[k - i].integer == 1;
        }
        if (!good) {
            gy_pass_refused(p, r->far, r->keys->v[i].unit, a);
        }
        gy_reply_free(a);
    }
    return true;
}

/* ---- sizes ---- */

static void note_bigkey(struct gy_pass *p, struct gy_slice key, uint64_t size)
{
    struct gy_job *j = p->j;
    for (size_t i = 0; i < j->nbigkeys; i++) {
        if (gy_slice_eq((struct gy_slice){(uint8_t *)j->bigkeys[i].name, j->bigkeys[i].len}, key)) {
            return;
        }
    }
    pthread_mutex_lock(&p->m->lock);
    struct gy_bigkey *v =
        j->nbigkeys < GY_BIGKEYS ? realloc(j->bigkeys, (j->nbigkeys + 1) * sizeof *v) : NULL;
    if (v) {
        j->bigkeys = v;
    }
    char *name = v ? malloc(key.n ? key.n : 1) : NULL;
    if (name) {
        memcpy(name, key.p, key.n);
        v[j->nbigkeys++] = (struct gy_bigkey){name, key.n, size};
    } else {
        j->bigkeys_more++;
    }
    pthread_mutex_unlock(&p->m->lock);
}

/* MEMORY USAGE is a guess from a few elements; it only cuts the pipelines and names big keys. */
static bool ask_sizes(struct gy_pass *p, struct gy_run *r)
{
    for (size_t i = r->from; i < r->to; i++) {
        if (!r->keys->v[i].done) {
            struct gy_slice argv[] = {GY_LIT("MEMORY"), GY_LIT("USAGE"), gy_keyset_key(r->keys, i),
                                      GY_LIT("SAMPLES"), GY_LIT("5")};
            gy_sync_add(r->nearc, 5, argv);
        }
    }
    for (size_t i = r->from; i < r->to; i++) {
        struct gy_item *it = &r->keys->v[i];
        struct gy_reply *a;
        if (it->done) {
            continue;
        }
        if (!read_or_lose(p, r->nearc, r->near, &a)) {
            return false;
        }
        it->size = a->type == ':' && a->integer > 0 ? (uint64_t)a->integer : 0;
        gy_reply_free(a);
        if (it->size > p->m->bigkey_bytes) {
            note_bigkey(p, gy_keyset_key(r->keys, i), it->size);
        }
    }
    return true;
}

/* ---- one slice ---- */

struct slice {
    struct gy_run *r;
    size_t item[SLICE_KEYS];
    size_t n;
    bool sent[SLICE_KEYS]; /* an answer of the far side is due */
    uint64_t bytes[SLICE_KEYS];
};

static void queue_take(struct gy_pass *p, struct slice *s)
{
    for (size_t k = 0; k < s->n; k++) {
        const struct gy_item *it = &s->r->keys->v[s->item[k]];
        const struct gy_unit_names *n = names_of(p, it->unit);
        struct gy_slice key = gy_keyset_key(s->r->keys, s->item[k]);
        if (p->near_src) {
            struct gy_slice argv[] = {GY_LIT("FCALL_RO"), GY_LIT("gyre_dump"), GY_LIT("1"), key};
            gy_sync_add(s->r->nearc, 4, argv);
        } else {
            struct gy_slice all = p->j->unit[it->unit].from_complete ? GY_LIT("1") : GY_LIT("0");
            struct gy_slice argv[] = {GY_LIT("FCALL_RO"),
                                      GY_LIT("gyre_back"),
                                      GY_LIT("3"),
                                      gy_str(n->rec),
                                      gy_str(n->marks),
                                      key,
                                      all};
            gy_sync_add(s->r->nearc, 7, argv);
        }
    }
}

/* Makes the far side's command from the near side's answer; false: nothing is to be sent. */
static bool queue_put(struct gy_pass *p, const struct gy_run *r, size_t i, const struct gy_reply *a,
                      uint64_t *bytes)
{
    char epoch[24], expire[24];
    const struct gy_item *it = &r->keys->v[i];
    const struct gy_unit_names *n = names_of(p, it->unit);
    size_t shift = p->near_src ? 0 : 1; /* gyre_back says first whether the key had moved */
    if (a->type != '*' || a->count != 2 + shift) {
        gy_pass_refused(p, r->near, it->unit, a);
        return false;
    }
    const struct gy_reply *payload = &a->item[shift];
    bool there = payload->type == '$';
    snprintf(epoch, sizeof epoch, "%" PRIu64, p->j->epoch);
    snprintf(expire, sizeof expire, "%" PRId64, a->item[shift + 1].integer);
    *bytes = there ? payload->text.n : 0;
    struct gy_slice value = there ? payload->text : GY_LIT("");
    struct gy_slice key = gy_keyset_key(r->keys, i);
    if (p->near_src) {
        if (!there) { /* it expired on the way here: absent on both sides, no mark needed */
            return false;
        }
        struct gy_slice argv[] = {GY_LIT("FCALL"),  GY_LIT("gyre_install"),
                                  GY_LIT("3"),      gy_str(n->rec),
                                  gy_str(n->marks), key,
                                  gy_str(epoch),    gy_str(expire),
                                  GY_LIT("D"),      value};
        gy_sync_add(r->farc, 10, argv);
        return true;
    }
    if (a->item[0].integer == 0) { /* never moved: the source's copy is the value */
        return false;
    }
    struct gy_slice argv[] = {GY_LIT("FCALL"), GY_LIT("gyre_unmove"),
                              GY_LIT("3"),     gy_str(n->rec),
                              gy_str(n->back), key,
                              gy_str(epoch),   GY_LIT("1"),
                              gy_str(expire),  value};
    gy_sync_add(r->farc, 10, argv);
    return true;
}

static bool take_answers(struct gy_pass *p, struct slice *s)
{
    for (size_t k = 0; k < s->n; k++) {
        struct gy_reply *a;
        if (!read_or_lose(p, s->r->nearc, s->r->near, &a)) {
            return false;
        }
        s->sent[k] = queue_put(p, s->r, s->item[k], a, &s->bytes[k]);
        gy_reply_free(a);
    }
    return true;
}

static bool put_answers(struct gy_pass *p, struct slice *s, uint64_t *keys, uint64_t *bytes)
{
    for (size_t k = 0; k < s->n; k++) {
        struct gy_reply *a;
        if (!s->sent[k]) {
            continue;
        }
        if (!read_or_lose(p, s->r->farc, s->r->far, &a)) {
            return false;
        }
        if (a->type == '-') {
            gy_pass_refused(p, s->r->far, s->r->keys->v[s->item[k]].unit, a);
        } else if (gy_reply_is(a, "OK")) {
            *keys += 1;
            *bytes += s->bytes[k];
        }
        gy_reply_free(a);
    }
    return true;
}

static void count(struct gy_pass *p, uint64_t keys, uint64_t bytes)
{
    pthread_mutex_lock(&p->m->lock);
    if (p->near_src) {
        p->j->live_keys += keys;
        p->j->live_bytes += bytes;
    } else {
        p->j->returned += keys;
    }
    pthread_mutex_unlock(&p->m->lock);
}

/* False: stop with this run (a server failed, or a wish came in). */
static bool carry_slice(struct gy_pass *p, struct slice *s, uint64_t guess)
{
    uint64_t keys = 0, bytes = 0;
    enum gy_failpoint before = p->near_src ? GY_FAIL_before_install : GY_FAIL_before_unmove;
    if (gy_pass_throttle(p, s->n, guess)) {
        return false;
    }
    if (gy_failpoint(before)) {
        gy_pass_fail_run(p, s->r);
        return false;
    }
    queue_take(p, s);
    bool good = take_answers(p, s);
    good = put_answers(p, s, &keys, &bytes) && good;
    count(p, keys, bytes);
    /* The guess was paid in advance; what it was short of is owed. */
    if (bytes > guess) {
        gy_bucket_take(&p->m->bytes, bytes - guess, gy_now_us());
    }
    if (gy_failpoint(before + 1)) {
        gy_pass_fail_run(p, s->r);
        return false;
    }
    return good;
}

static void warn_host(struct gy_pass *p, const struct gy_run *r, uint32_t ms)
{
    const struct gy_move_host *h = p->m->host;
    if (h->patience) {
        h->patience(h->ctx, r->near, r->far, ms);
    }
}

uint32_t gy_carry_patience(uint64_t bytes)
{
    uint64_t ms = bytes / SLOW_COPY;
    if (bytes <= SLICE_BYTES) {
        return 0;
    }
    return ms < PATIENT_MAX_MS - PATIENT_MIN_MS ? (uint32_t)(PATIENT_MIN_MS + ms) : PATIENT_MAX_MS;
}

void gy_carry_run(struct gy_pass *p, struct gy_run *r)
{
    if (!ask_marks(p, r) || !ask_sizes(p, r)) {
        return;
    }
    size_t i = r->from;
    bool going = true;
    while (i < r->to && going) {
        struct slice s = {.r = r};
        uint64_t guess = 0;
        for (; i < r->to && s.n < SLICE_KEYS; i++) {
            const struct gy_item *it = &r->keys->v[i];
            if (it->done) {
                continue;
            }
            if (s.n && guess + it->size > SLICE_BYTES) {
                break;
            }
            guess += it->size;
            s.item[s.n++] = i;
        }
        uint32_t patience = gy_carry_patience(guess);
        int timeout_ms = patience ? (int)patience : p->m->link_conf.timeout_ms;
        gy_sync_timeout(r->nearc, timeout_ms);
        gy_sync_timeout(r->farc, timeout_ms);
        warn_host(p, r, patience);
        going = s.n == 0 || carry_slice(p, &s, guess);
        warn_host(p, r, 0);
    }
}

/* ---- verification ---- */

static bool dump_at(struct gy_pass *p, struct gy_sync *c, uint32_t server, struct gy_slice key,
                    struct gy_buf *out)
{
    struct gy_reply *a;
    struct gy_slice argv[] = {GY_LIT("DUMP"), key};
    gy_sync_add(c, 2, argv);
    if (!read_or_lose(p, c, server, &a)) {
        return false;
    }
    bool good = a->type != '-';
    if (!good) {
        gy_mover_complain_reply(p->m, server, a); /* and nothing is compared */
    }
    gy_buf_reset(out);
    gy_buf_add(out, a->text.p, a->type == '$' ? a->text.n : 0);
    gy_reply_free(a);
    return good && !gy_buf_failed(out);
}

/* One small key a run is compared byte for byte. They may differ: it may have been written since.
 */
static void audit(struct gy_pass *p, struct gy_run *r)
{
    struct gy_buf a = {0}, b = {0};
    struct gy_slice key = gy_keyset_key(r->keys, r->from);
    if (dump_at(p, r->nearc, r->near, key, &a) && dump_at(p, r->farc, r->far, key, &b)) {
        bool same = gy_buf_size(&a) == gy_buf_size(&b) &&
                    memcmp(gy_buf_head(&a), gy_buf_head(&b), gy_buf_size(&a)) == 0;
        pthread_mutex_lock(&p->m->lock);
        p->j->audited++;
        p->j->audit_equal += same;
        pthread_mutex_unlock(&p->m->lock);
    }
    gy_buf_fini(&a);
    gy_buf_fini(&b);
}

/* Counts what had to be moved, by its expiry: see gy_records_count. One that has expired since SCAN
 * saw it is none of them (-2). */
static bool take_census(struct gy_pass *p, struct gy_run *r)
{
    for (size_t i = r->from; i < r->to; i++) {
        if (r->keys->v[i].fresh) {
            struct gy_slice argv[] = {GY_LIT("PEXPIRETIME"), gy_keyset_key(r->keys, i)};
            gy_sync_add(r->nearc, 2, argv);
        }
    }
    for (size_t i = r->from; i < r->to; i++) {
        const struct gy_item *it = &r->keys->v[i];
        struct gy_census *c = &p->j->census[it->unit];
        struct gy_reply *a;
        if (!it->fresh) {
            continue;
        }
        if (!read_or_lose(p, r->nearc, r->near, &a)) {
            return false;
        }
        if (a->type != ':') {
            gy_pass_refused(p, r->near, it->unit, a);
        } else {
            c->lasting += a->integer == -1;
            c->expiring += a->integer >= 0;
        }
        gy_reply_free(a);
    }
    return true;
}

void gy_verify_run(struct gy_pass *p, struct gy_run *r)
{
    if (!ask_marks(p, r) || !take_census(p, r)) {
        return;
    }
    for (size_t i = r->from; i < r->to; i++) {
        if (!r->keys->v[i].done) {
            gy_pass_fail_unit(p, r->keys->v[i].unit, GY_EVENT_DIRTY);
        }
    }
    struct gy_run one = *r;
    one.to = r->from + 1;
    r->keys->v[r->from].done = false;
    if (ask_sizes(p, &one) && r->keys->v[r->from].size <= p->m->bigkey_bytes) {
        audit(p, r);
    }
}
