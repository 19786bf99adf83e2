/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.c - what a move leaves in the store, and how it is read back. Keys:
 *   view              the topology that serves, as YAML with its version
 *   view/<version>    each one that ever served
 *   epoch             of the last move
 *   proxy/id          of this state directory; proxy/gen: number of the last process
 *   move              the move under way (job.c has the document), move/unit/<index>
 *   move/hold         the longest a write waited in it, ms; written along with units
 *   history/<epoch>   how each move ended
 *   strays/<epoch>/<n>  a source that might come back with older data (strays.h)
 *   leave/<address>   a server that does not serve and may have our user (leave.h)
 * A unit's value is "state attempt from_complete keys bytes minimum". Threads: under the mover's
 * lock.
 */
#include "move/journal.h"

#include "base/log.h"
#include "control/views.h"
#include "lib/error.h"
#include "move/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define HOLD_KEY  "move/hold"
#define UNIT_KEY  40
#define UNIT_TEXT 112

static struct gy_slice bytes_of(struct gy_buf *b)
{
    return (struct gy_slice){gy_buf_head(b), gy_buf_size(b)};
}

static struct gy_store_op put(const char *key, struct gy_slice value)
{
    return (struct gy_store_op){.key = key, .expect = GY_EXPECT_ANY, .value = value};
}

/* ---- counters ---- */

static int read_counter(struct gy_store *s, const char *key, uint64_t *out, gyre_error_t *e)
{
    struct gy_buf b = {0};
    *out = 0;
    int rc = gy_store_get(s, key, &b, NULL, e);
    if (rc == GYRE_OK) {
        *out = strtoull(gy_buf_cstr(&b), NULL, 10);
    }
    gy_buf_fini(&b);
    return rc == GYRE_UNKNOWN ? GYRE_OK : rc;
}

static int write_counter(struct gy_store *s, const char *key, uint64_t value, gyre_error_t *e)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    struct gy_store_op op = put(key, gy_str(text));
    return gy_store_txn(s, &op, 1, NULL, e);
}

int gy_journal_raise_generation(struct gy_store *s, uint64_t generation, gyre_error_t *e)
{
    return write_counter(s, "proxy/gen", generation, e);
}

static uint64_t time_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

int gy_journal_identity(struct gy_store *s, char id[GY_FENCE_ID + 1], uint64_t *generation,
                        bool *kept, gyre_error_t *e)
{
    uint32_t word;
    struct gy_buf b = {0};
    int rc = gy_store_get(s, GY_PROXY_KEY, &b, NULL, e);
    if (rc == GYRE_OK) {
        snprintf(id, GY_FENCE_ID + 1, "%s", gy_buf_cstr(&b));
    } else if (rc == GYRE_UNKNOWN && getrandom(&word, sizeof word, 0) == (ssize_t)sizeof word) {
        snprintf(id, GY_FENCE_ID + 1, "%08" PRIx32, word);
        struct gy_store_op op = put(GY_PROXY_KEY, gy_str(id));
        rc = gy_store_txn(s, &op, 1, NULL, e);
    }
    gy_buf_fini(&b);
    if (rc == GYRE_OK) {
        rc = read_counter(s, "proxy/gen", generation, e);
    }
    if (rc == GYRE_OK) {
        rc = gy_journal_raise_generation(s, ++*generation, e);
        *kept = rc == GYRE_OK;
        if (rc != GYRE_OK && gy_store_full(s)) {
            uint64_t now = time_ms();
            *generation = now > *generation ? now : *generation;
            return GYRE_OK;
        }
    }
    return rc;
}

int gy_journal_epoch(struct gy_store *s, uint64_t *out, gyre_error_t *e)
{
    return read_counter(s, "epoch", out, e);
}

int gy_journal_raise_epoch(struct gy_store *s, uint64_t epoch, gyre_error_t *e)
{
    return write_counter(s, "epoch", epoch, e);
}

int gy_journal_next_epoch(struct gy_mover *m, uint64_t *out, gyre_error_t *e)
{
    int rc = read_counter(m->store, "epoch", out, e);
    (*out)++;
    return rc;
}

/* ---- the view ---- */

int gy_journal_put_view(struct gy_store *s, const gyre_topology_t *t, gyre_error_t *e)
{
    struct gy_buf yaml = {0};
    char version[40];
    gy_config_dump(t, NULL, &yaml);
    snprintf(version, sizeof version, GY_VIEWS_KEY "%" PRIu64, gyre_topology_version(t));
    struct gy_store_op ops[] = {put(GY_VIEW_KEY, bytes_of(&yaml)), put(version, bytes_of(&yaml))};
    int rc = gy_buf_failed(&yaml) ? gy_fail_nomem(e) : gy_store_txn(s, ops, 2, NULL, e);
    gy_buf_fini(&yaml);
    return rc;
}

int gy_journal_get_view(struct gy_store *s, gyre_topology_t **out, gyre_error_t *e)
{
    struct gy_buf b = {0};
    *out = NULL;
    int rc = gy_views_get(s, &b, e);
    if (rc == GYRE_OK) {
        rc = gy_views_parse(bytes_of(&b), "view (in the store)", out, e);
    }
    gy_buf_fini(&b);
    return rc;
}

/* ---- units ---- */

static void unit_key(char out[UNIT_KEY], uint32_t i)
{
    snprintf(out, UNIT_KEY, "move/unit/%" PRIu32, i);
}

static void unit_text(char out[UNIT_TEXT], enum gy_unit_state s, uint32_t attempt, bool complete,
                      const struct gy_totals *t)
{
    snprintf(out, UNIT_TEXT, "%s %" PRIu32 " %d %" PRIu64 " %" PRIu64 " %" PRIu64,
             gy_unit_state_name(s), attempt, complete, t->keys, t->bytes, t->minimum);
}

/* The totals are nothing but the sum of the units'. */
static void own(struct gy_job *j, uint32_t i, const struct gy_totals *t)
{
    struct gy_totals *old = &j->own[i], *sum = &j->settled;
    sum->keys += t->keys - old->keys;
    sum->bytes += t->bytes - old->bytes;
    sum->minimum += t->minimum - old->minimum;
    *old = *t;
}

static int read_unit(struct gy_mover *m, struct gy_job *j, uint32_t i, gyre_error_t *e)
{
    char key[UNIT_KEY], word[24];
    struct gy_buf b = {0};
    enum gy_unit_state state;
    uint32_t attempt;
    int complete;
    struct gy_totals t;
    unit_key(key, i);
    int rc = gy_store_get(m->store, key, &b, NULL, e);
    if (rc == GYRE_OK) {
        if (sscanf(gy_buf_cstr(&b), "%23s %" SCNu32 " %d %" SCNu64 " %" SCNu64 " %" SCNu64, word,
                   &attempt, &complete, &t.keys, &t.bytes, &t.minimum) != 6 ||
            !gy_unit_state_parse(word, &state)) {
            rc = gy_fail(e, GYRE_SYNTAX, "store: %s is damaged", key);
        } else {
            own(j, i, &t);
            gy_machine_resume(&j->unit[i], state, attempt, complete != 0,
                              j->phase == GY_PHASE_ABORT);
        }
    }
    gy_buf_fini(&b);
    return rc;
}

int gy_journal_read_units(struct gy_mover *m, struct gy_job *j, gyre_error_t *e)
{
    int rc = read_counter(m->store, HOLD_KEY, &j->stored_hold_ms, e);
    if (rc == GYRE_OK && j->stored_hold_ms > j->longest_hold_ms) {
        j->longest_hold_ms = j->stored_hold_ms;
    }
    for (uint32_t i = 0; i < j->mig->nunits && rc == GYRE_OK; i++) {
        rc = read_unit(m, j, i, e);
    }
    return rc;
}

/* The failpoints around a CAS, by what it writes; an attempt given up has names of its own. */
static enum gy_failpoint cas_point(const struct gy_machine *u)
{
    static const enum gy_failpoint points[GY_UNIT_STATE_COUNT] = {
        [GY_UNIT_STABLE] = GY_FAIL_before_cas_stable,
        [GY_UNIT_PREPARE] = GY_FAIL_before_cas_prepare,
        [GY_UNIT_FLIPPING] = GY_FAIL_before_cas_flipping,
        [GY_UNIT_MIGRATING] = GY_FAIL_before_cas_migrating,
        [GY_UNIT_COMPLETING] = GY_FAIL_before_cas_completing,
        [GY_UNIT_COMPLETE] = GY_FAIL_before_cas_complete,
        [GY_UNIT_CLEANING] = GY_FAIL_before_cas_cleaning,
        [GY_UNIT_MOVED] = GY_FAIL_before_cas_moved,
        [GY_UNIT_ABORT_PREPARE] = GY_FAIL_before_cas_abort_prepare,
        [GY_UNIT_ABORT_FLIPPING] = GY_FAIL_before_cas_abort_flipping,
        [GY_UNIT_ABORTING] = GY_FAIL_before_cas_aborting,
        [GY_UNIT_PURGING] = GY_FAIL_before_cas_purging,
        [GY_UNIT_RETURNED] = GY_FAIL_before_cas_returned,
    };
    return u->step == GY_STEP_ABORT_RELEASE ? GY_FAIL_before_cas_abort_release
                                            : points[gy_machine_target(u)];
}

struct cas {
    char key[UNIT_KEY], old[UNIT_TEXT], text[UNIT_TEXT];
};

/* What a unit counts for after its CAS: what was just counted, when it was verified or, if it never
 * was, when it has gone back; nothing, when it is copied again. */
static const struct gy_totals *next_own(const struct gy_job *j, uint32_t i)
{
    static const struct gy_totals none;
    enum gy_step step = j->unit[i].step;
    bool counted =
        step == GY_STEP_TO_COMPLETING || (step == GY_STEP_TO_PURGING && !j->unit[i].from_complete);
    return counted ? &j->counted[i] : step == GY_STEP_RETREAT ? &none : &j->own[i];
}

static struct gy_store_op cas_op(struct cas *c, const struct gy_job *j, uint32_t i)
{
    const struct gy_machine *u = &j->unit[i];
    unit_key(c->key, i);
    unit_text(c->old, gy_machine_state(u), u->attempt, u->from_complete, &j->own[i]);
    unit_text(c->text, gy_machine_target(u), gy_machine_target_attempt(u),
              gy_machine_target_from_complete(u), next_own(j, i));
    return (struct gy_store_op){
        .key = c->key, .expect = GY_EXPECT_VALUE, .old = gy_str(c->old), .value = gy_str(c->text)};
}

int gy_journal_cas(struct gy_mover *m, struct gy_job *j, const uint32_t *units, size_t n,
                   gyre_error_t *e)
{
    int rc;
    char hold[24];
    size_t nops = n;
    uint64_t hold_ms = j->longest_hold_ms;
    struct cas *c = calloc(n, sizeof *c);
    struct gy_store_op *ops = calloc(n + 1, sizeof *ops);
    if (!c || !ops) {
        rc = gy_fail_nomem(e);
        goto out;
    }
    for (size_t i = 0; i < n; i++) {
        ops[i] = cas_op(&c[i], j, units[i]);
    }
    if (hold_ms > j->stored_hold_ms) {
        snprintf(hold, sizeof hold, "%" PRIu64, hold_ms);
        ops[nops++] = put(HOLD_KEY, gy_str(hold));
    }
    enum gy_failpoint before = cas_point(&j->unit[units[0]]);
    rc = gy_failpoint(before) ? gy_fail(e, GYRE_IO, "failpoint %s", gy_fail_name(before))
                              : gy_store_txn(m->store, ops, nops, NULL, e);
    j->stored_hold_ms = rc == GYRE_OK ? hold_ms : j->stored_hold_ms;
    for (size_t i = 0; rc == GYRE_OK && i < n; i++) {
        own(j, units[i], next_own(j, units[i]));
    }
    if (rc == GYRE_OK) {
        /* Written is written: an "error" here is what a lost answer would be, a conflict next. */
        rc = gy_failpoint(before + 1) ? gy_fail(e, GYRE_CONFLICT, "failpoint") : GYRE_OK;
    }
out:
    free(c);
    free(ops);
    return rc;
}

/* ---- begin, update, finish ---- */

static int guarded_txn(struct gy_mover *m, enum gy_failpoint before, struct gy_store_op *ops,
                       size_t n, gyre_error_t *e)
{
    if (gy_failpoint(before)) {
        return gy_fail(e, GYRE_IO, "failpoint %s", gy_fail_name(before));
    }
    int rc = gy_store_txn(m->store, ops, n, NULL, e);
    if (rc == GYRE_OK) {
        (void)gy_failpoint(before + 1);
    }
    return rc;
}

int gy_journal_begin(struct gy_mover *m, struct gy_job *j, gyre_error_t *e)
{
    char epoch[24], text[UNIT_TEXT];
    struct gy_buf doc = {0};
    int rc;
    size_t n = j->mig->nunits, k = 0;
    struct cas *c = calloc(n ? n : 1, sizeof *c);
    struct gy_store_op *ops = calloc(n + 2, sizeof *ops);
    if (!c || !ops) {
        rc = gy_fail_nomem(e);
        goto out;
    }
    gy_job_write(m, j, &doc);
    snprintf(epoch, sizeof epoch, "%" PRIu64, j->epoch);
    unit_text(text, GY_UNIT_STABLE, 0, false, &j->settled);
    ops[k] = put(GY_MOVE_KEY, bytes_of(&doc));
    ops[k++].expect = GY_EXPECT_ABSENT;
    ops[k++] = put("epoch", gy_str(epoch));
    for (uint32_t i = 0; i < n; i++) {
        unit_key(c[i].key, i);
        ops[k++] = put(c[i].key, gy_str(text));
    }
    rc = gy_buf_failed(&doc) ? gy_fail_nomem(e) : guarded_txn(m, GY_FAIL_before_begin, ops, k, e);
out:
    gy_buf_fini(&doc);
    free(c);
    free(ops);
    return rc;
}

int gy_journal_update(struct gy_mover *m, struct gy_job *j, gyre_error_t *e)
{
    struct gy_buf doc = {0};
    gy_job_write(m, j, &doc);
    struct gy_store_op op = put(GY_MOVE_KEY, bytes_of(&doc));
    int rc =
        gy_buf_failed(&doc) ? gy_fail_nomem(e) : guarded_txn(m, GY_FAIL_before_phase, &op, 1, e);
    gy_buf_fini(&doc);
    return rc;
}

struct note {
    char key[56];
    struct gy_buf doc;
};

/* Sources that stay may come back with what they gave away. */
static bool add_notes(const struct gy_mover *m, const struct gy_job *j, struct note *notes,
                      struct gy_store_op *ops, size_t *k)
{
    for (uint32_t i = 0; i < m->nservers; i++) {
        if (!gy_strays_note(m, j, i, &notes[i].doc)) {
            continue;
        }
        if (gy_buf_failed(&notes[i].doc)) {
            return false;
        }
        snprintf(notes[i].key, sizeof notes[i].key, GY_STRAYS_PREFIX "%020" PRIu64 "/%" PRIu32,
                 j->epoch, i);
        ops[(*k)++] = put(notes[i].key, bytes_of(&notes[i].doc));
    }
    return true;
}

/* Servers that serve in the move's view and not behind it. */
static int add_leaving(const struct gy_mover *m, const struct gy_job *j,
                       const struct gy_view *after, struct gy_leave_ops *out, gyre_error_t *e)
{
    bool *goes = calloc(m->nservers, sizeof *goes);
    for (uint32_t i = 0; goes && i < m->nservers; i++) {
        goes[i] = gy_view_serves(m->view, i) && !gy_view_serves(after, i);
    }
    int rc = goes ? gy_leave_ops_init(m, m->servers, m->nservers, goes, j->weak_fencing, out, e)
                  : gy_fail_nomem(e);
    free(goes);
    return rc;
}

int gy_journal_finish(struct gy_mover *m, struct gy_job *j, bool moved, const struct gy_view *after,
                      gyre_error_t *e)
{
    char history[48], version[40];
    struct gy_buf entry = {0}, yaml = {0};
    int rc;
    size_t n = j->mig->nunits, k = 0;
    struct cas *c = calloc(n ? n : 1, sizeof *c);
    struct note *notes = calloc(m->nservers, sizeof *notes);
    struct gy_store_op *ops = calloc(n + 5 + 2 * (size_t)m->nservers, sizeof *ops);
    struct gy_leave_ops leaving = {0};
    if (!c || !ops || !notes) {
        rc = gy_fail_nomem(e);
        goto out;
    }
    rc = add_leaving(m, j, after, &leaving, e);
    if (rc != GYRE_OK) {
        goto out;
    }
    gy_job_write_history(j, moved, (int64_t)time(NULL), &entry);
    gy_config_dump(j->next, NULL, &yaml);
    snprintf(history, sizeof history, "history/%020" PRIu64, j->epoch);
    snprintf(version, sizeof version, GY_VIEWS_KEY "%" PRIu64, j->to_version);
    if (moved) {
        ops[k++] = put(GY_VIEW_KEY, bytes_of(&yaml));
        ops[k++] = put(version, bytes_of(&yaml));
    }
    ops[k++] = put(history, bytes_of(&entry));
    ops[k++] = (struct gy_store_op){.key = GY_MOVE_KEY, .remove = true};
    ops[k++] = (struct gy_store_op){.key = HOLD_KEY, .remove = true};
    for (uint32_t i = 0; i < n; i++) {
        unit_key(c[i].key, i);
        ops[k++] = (struct gy_store_op){.key = c[i].key, .remove = true};
    }
    for (size_t i = 0; i < leaving.n; i++) {
        ops[k++] = leaving.op[i];
    }
    bool noted = !moved || add_notes(m, j, notes, ops, &k);
    rc = gy_buf_failed(&entry) || gy_buf_failed(&yaml) || !noted
             ? gy_fail_nomem(e)
             : guarded_txn(m, GY_FAIL_before_finish, ops, k, e);
    if (rc == GYRE_OK && gy_leave_load(m, NULL) != GYRE_OK) {
        gy_warn("store: who leaves could not be read back; the next process sees to it");
    }
out:
    gy_leave_ops_fini(&leaving);
    for (uint32_t i = 0; notes && i < m->nservers; i++) {
        gy_buf_fini(&notes[i].doc);
    }
    free(notes);
    gy_buf_fini(&entry);
    gy_buf_fini(&yaml);
    free(c);
    free(ops);
    return rc;
}

/* ---- history ---- */

static bool prepend(void *ctx, const char *key, struct gy_slice value, uint64_t revision)
{
    (void)key;
    (void)revision;
    struct gy_buf *all = ctx, older = *all;
    *all = (struct gy_buf){.failed = older.failed};
    gy_buf_add(all, value.p, value.n);
    if (gy_buf_size(&older)) {
        gy_buf_putc(all, ',');
        gy_buf_add(all, gy_buf_head(&older), gy_buf_size(&older));
    }
    gy_buf_fini(&older);
    return true;
}

int gy_journal_history(struct gy_mover *m, struct gy_buf *json, gyre_error_t *e)
{
    struct gy_buf all = {0};
    int rc = gy_store_list(m->store, "history/", prepend, &all, e);
    if (rc == GYRE_OK) {
        gy_buf_puts(json, "{\"moves\":[");
        gy_buf_add(json, gy_buf_head(&all), gy_buf_size(&all));
        gy_buf_puts(json, "]}");
        rc = gy_buf_failed(&all) || gy_buf_failed(json) ? gy_fail_nomem(e) : GYRE_OK;
    }
    gy_buf_fini(&all);
    return rc;
}
