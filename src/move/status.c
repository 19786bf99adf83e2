/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.c - the move as JSON, for the admin (docs/admin.md has the fields). Threads: any, under
 * the mover's lock.
 */
#include "base/json.h"
#include "move/journal.h"
#include "move/state.h"

#include <time.h>

#define SAMPLE_MS 1000

static const char *state_word(const struct gy_mover *m)
{
    if (!m->job) {
        return m->preparing ? "preparing" : "idle";
    }
    if (m->abort || m->job->phase == GY_PHASE_ABORT) {
        return "aborting";
    }
    if (m->paused) {
        return "paused";
    }
    return m->job->phase == GY_PHASE_CLEAN ? "cleaning" : "moving";
}

static void sample_rate(struct gy_mover *m, const struct gy_figures *f)
{
    int64_t now = gy_now_ms();
    if (m->sample_at == 0) {
        m->rate_keys = m->rate_bytes = 0;
    } else if (now - m->sample_at >= SAMPLE_MS) {
        double s = (double)(now - m->sample_at) / 1000;
        m->rate_keys = f->moved > m->sample_keys ? (double)(f->moved - m->sample_keys) / s : 0;
        m->rate_bytes = f->bytes > m->sample_bytes ? (double)(f->bytes - m->sample_bytes) / s : 0;
    } else {
        return;
    }
    m->sample_at = now;
    m->sample_keys = f->moved;
    m->sample_bytes = f->bytes;
}

static void write_units(struct gy_json *w, const struct gy_view *v, const struct gy_job *j)
{
    uint64_t in[GY_UNIT_STATE_COUNT] = {0};
    /* The view's states, not the machines': those are the mover's thread's own. */
    for (uint32_t i = 0; i < j->mig->nunits; i++) {
        in[gy_view_state_of(v, j->mig, i)]++;
    }
    gy_json_key(w, "units");
    gy_json_object(w);
    gy_json_kuint(w, "total", j->mig->nunits);
    for (unsigned s = 0; s < GY_UNIT_STATE_COUNT; s++) {
        gy_json_kuint(w, gy_unit_state_name((enum gy_unit_state)s), in[s]);
    }
    gy_json_object_end(w);
}

static void write_keys(struct gy_json *w, const struct gy_job *j, const struct gy_figures *f)
{
    gy_json_key(w, "keys");
    gy_json_object(w);
    gy_json_kuint(w, "moved", f->moved);
    gy_json_kuint(w, "on_access", f->on_access);
    gy_json_kuint(w, "scanned", j->scanned);
    gy_json_kuint(w, "total_estimate", j->estimate > f->moved ? j->estimate : f->moved);
    gy_json_kuint(w, "settled", j->settled.keys);
    gy_json_kuint(w, "minimum", j->settled.minimum);
    gy_json_kuint(w, "returned", j->returned);
    gy_json_kuint(w, "cleaned", j->cleaned);
    gy_json_kuint(w, "audited", j->audited);
    gy_json_kuint(w, "audit_equal", j->audit_equal);
    gy_json_object_end(w);
    gy_json_kuint(w, "bytes", f->bytes);
}

static void write_rate(struct gy_json *w, const struct gy_mover *m, const struct gy_job *j,
                       const struct gy_figures *f)
{
    gy_json_key(w, "rate");
    gy_json_object(w);
    gy_json_kdouble(w, "keys_per_s", m->rate_keys);
    gy_json_kdouble(w, "bytes_per_s", m->rate_bytes);
    gy_json_kuint(w, "keys_limit", m->keys_per_s);
    gy_json_kuint(w, "bytes_limit", m->bytes_per_s);
    gy_json_object_end(w);
    gy_json_key(w, "eta_s");
    if (j->phase == GY_PHASE_MOVE && m->rate_keys > 0 && j->estimate > f->moved) {
        gy_json_double(w, (double)(j->estimate - f->moved) / m->rate_keys);
    } else {
        gy_json_null(w);
    }
    int64_t elapsed = (int64_t)time(NULL) - j->started_at;
    gy_json_kint(w, "elapsed_s", elapsed > 0 ? elapsed : 0);
}

static void write_bigkeys(struct gy_json *w, const struct gy_job *j)
{
    gy_json_key(w, "bigkeys");
    gy_json_array(w);
    for (size_t i = 0; i < j->nbigkeys; i++) {
        gy_json_object(w);
        gy_json_key(w, "name");
        gy_json_bytes(w, j->bigkeys[i].name, j->bigkeys[i].len);
        gy_json_kuint(w, "size", j->bigkeys[i].size);
        gy_json_object_end(w);
    }
    gy_json_array_end(w);
    gy_json_kuint(w, "bigkeys_more", j->bigkeys_more);
}

static void write_servers(struct gy_json *w, const struct gy_mover *m, const struct gy_job *j)
{
    gy_json_key(w, "servers");
    gy_json_array(w);
    for (uint32_t i = 0; i < m->nservers; i++) {
        bool src = false, dst = false;
        for (size_t k = 0; k < j->npairs; k++) {
            src |= j->pairs[k].src == i;
            dst |= j->pairs[k].dst == i;
        }
        if (src || dst) {
            gy_json_object(w);
            gy_json_kstring(w, "name", m->servers[i].name);
            gy_json_kstring(w, "address", m->servers[i].address);
            gy_json_kbool(w, "source", src);
            gy_json_kbool(w, "destination", dst);
            gy_json_object_end(w);
        }
    }
    gy_json_array_end(w);
}

void gy_mover_note_hold(struct gy_mover *m)
{
    struct gy_job *j = m->job;
    uint64_t ms = m->host && m->host->longest_hold ? m->host->longest_hold(m->host->ctx) : 0;
    if (j && ms > j->longest_hold_ms) {
        j->longest_hold_ms = ms;
    }
}

void gy_mover_status(struct gy_mover *m, struct gy_buf *json)
{
    struct gy_json w;
    gy_json_init(&w, json);
    pthread_mutex_lock(&m->lock);
    gy_mover_note_hold(m);
    const struct gy_job *j = m->job;
    gy_json_object(&w);
    gy_json_kstring(&w, "state", state_word(m));
    gy_json_kuint(&w, "version", gyre_topology_version(m->topology));
    if (j) {
        struct gy_figures f = gy_live_figures(m, j);
        sample_rate(m, &f);
        gy_json_kuint(&w, "epoch", j->epoch);
        gy_json_kuint(&w, "from_version", j->from_version);
        gy_json_kuint(&w, "to_version", j->to_version);
        write_units(&w, m->view, j);
        write_keys(&w, j, &f);
        write_rate(&w, m, j, &f);
        write_bigkeys(&w, j);
        gy_json_kdouble(&w, "moved", j->plan_moved);
        gy_json_kdouble(&w, "minimum", j->plan_minimum);
        gy_json_kdouble(&w, "ratio", j->plan_ratio);
        gy_json_kbool(&w, "weak_fencing", j->weak_fencing);
        gy_json_kuint(&w, "longest_hold_ms", j->longest_hold_ms);
        write_servers(&w, m, j);
    }
    gy_json_kstring(&w, "last_error", m->last_error[0] ? m->last_error : NULL);
    gy_json_kstring(&w, "warning", m->warning[0] ? m->warning : NULL);
    gy_leave_write(m, &w);
    gy_json_object_end(&w);
    pthread_mutex_unlock(&m->lock);
}
