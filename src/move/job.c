/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.c - a move as an object and as a document (the store's key `move`). The document holds what
 * makes the units' indices the same in the next process: the servers in their order, the pairs and
 * the number of chunks. Threads: under the mover's lock.
 */
#include "base/json.h"
#include "control/views.h"
#include "lib/error.h"
#include "move/journal.h"
#include "move/state.h"

#include <jansson.h>
#include <stdlib.h>

#define JOB_FORMAT 2

static const char *const phase_names[] = {"move", "clean", "abort"};

void gy_job_free(struct gy_job *j)
{
    if (!j) {
        return;
    }
    for (size_t i = 0; i < j->nbigkeys; i++) {
        free(j->bigkeys[i].name);
    }
    free(j->bigkeys);
    free(j->unit);
    free(j->retry_at);
    free(j->tries);
    free(j->cleaned_run_id);
    free(j->census);
    free(j->counted);
    free(j->own);
    free(j->pairs);
    gy_migration_unref(j->mig);
    gyre_topology_free(j->next);
    free(j);
}

/* ---- building ---- */

static void plan_figures(struct gy_job *j, const struct gy_view *v, gyre_map_t *next)
{
    gyre_diff_t *d = NULL;
    if (gyre_diff_build(v->map, next, 0, &d, NULL) == GYRE_OK) {
        j->plan_moved = gyre_diff_moved(d);
        j->plan_minimum = gyre_diff_minimum(d);
        j->plan_ratio = gyre_diff_ratio(d);
    }
    gyre_diff_free(d);
}

int gy_job_build(const struct gy_mover *m, struct gy_job *j, const struct gy_view *v,
                 const uint32_t *next_server, gyre_map_t *next, uint32_t nchunks, gyre_error_t *e)
{
    int rc = gy_migration_new(v, next, next_server, j->pairs, j->npairs, j->epoch, nchunks,
                              m->prefix, m->pool, &j->mig, e);
    if (rc != GYRE_OK) {
        return rc;
    }
    plan_figures(j, v, next);
    size_t n = j->mig->nunits ? j->mig->nunits : 1;
    j->unit = calloc(n, sizeof *j->unit);
    j->retry_at = calloc(n, sizeof *j->retry_at);
    j->tries = calloc(n, sizeof *j->tries);
    j->census = calloc(n, sizeof *j->census);
    j->counted = calloc(n, sizeof *j->counted);
    j->own = calloc(n, sizeof *j->own);
    if (!j->unit || !j->retry_at || !j->tries || !j->census || !j->counted || !j->own) {
        return gy_fail_nomem(e);
    }
    for (uint32_t i = 0; i < j->mig->nunits; i++) {
        gy_machine_resume(&j->unit[i], GY_UNIT_STABLE, 0, false, false);
    }
    return GYRE_OK;
}

/* ---- writing ---- */

static void write_fleet(struct gy_json *w, const struct gy_mover *m, const struct gy_job *j)
{
    gy_json_key(w, "servers");
    gy_json_array(w);
    for (uint32_t i = 0; i < m->nservers; i++) {
        gy_json_object(w);
        gy_json_kstring(w, "name", m->servers[i].name);
        gy_json_kstring(w, "address", m->servers[i].address);
        gy_json_object_end(w);
    }
    gy_json_array_end(w);
    gy_json_key(w, "pairs");
    gy_json_array(w);
    for (size_t i = 0; i < j->npairs; i++) {
        gy_json_array(w);
        gy_json_uint(w, j->pairs[i].src);
        gy_json_uint(w, j->pairs[i].dst);
        gy_json_array_end(w);
    }
    gy_json_array_end(w);
}

/* An abort that was asked for is on record before it is answered; the driver comes to it at its
 * next step. */
static enum gy_phase phase_on_record(const struct gy_mover *m, const struct gy_job *j)
{
    return m->abort && j->phase == GY_PHASE_MOVE ? GY_PHASE_ABORT : j->phase;
}

void gy_job_write(const struct gy_mover *m, const struct gy_job *j, struct gy_buf *out)
{
    struct gy_json w;
    struct gy_buf yaml = {0};
    gy_config_dump(j->next, NULL, &yaml);
    gy_json_init(&w, out);
    gy_json_object(&w);
    gy_json_kuint(&w, "format", JOB_FORMAT);
    gy_json_kuint(&w, "epoch", j->epoch);
    gy_json_kuint(&w, "from_version", j->from_version);
    gy_json_kuint(&w, "to_version", j->to_version);
    gy_json_kint(&w, "started_at", j->started_at);
    gy_json_kstring(&w, "phase", phase_names[phase_on_record(m, j)]);
    gy_json_kbool(&w, "paused", m->paused);
    gy_json_kuint(&w, "keys_per_s", m->keys_per_s);
    gy_json_kuint(&w, "bytes_per_s", m->bytes_per_s);
    gy_json_kbool(&w, "weak_fencing", j->weak_fencing);
    gy_json_kuint(&w, "chunks", j->mig->nchunks);
    gy_json_kuint(&w, "wave", j->wave);
    gy_json_kuint(&w, "estimate", j->estimate);
    write_fleet(&w, m, j);
    gy_json_kstring(&w, "next", gy_buf_cstr(&yaml));
    gy_json_object_end(&w);
    if (gy_buf_failed(&yaml)) {
        out->failed = true;
    }
    gy_buf_fini(&yaml);
}

void gy_job_write_history(const struct gy_job *j, bool moved, int64_t ended_at, struct gy_buf *out)
{
    struct gy_json w;
    gy_json_init(&w, out);
    gy_json_object(&w);
    gy_json_kuint(&w, "epoch", j->epoch);
    gy_json_kuint(&w, "from_version", j->from_version);
    gy_json_kuint(&w, "to_version", j->to_version);
    gy_json_kstring(&w, "result", moved ? "moved" : "aborted");
    gy_json_kbool(&w, "weak_fencing", j->weak_fencing);
    gy_json_kint(&w, "started_at", j->started_at);
    gy_json_kint(&w, "ended_at", ended_at);
    gy_json_kuint(&w, "keys", j->settled.keys);
    gy_json_kuint(&w, "bytes", j->settled.bytes);
    if (moved) {
        gy_json_kuint(&w, "keys_minimum", j->settled.minimum);
    } else {
        gy_json_key(&w, "keys_minimum");
        gy_json_null(&w); /* what never was verified was not counted at its source */
    }
    gy_json_kdouble(&w, "moved", j->plan_moved);
    gy_json_kdouble(&w, "minimum", j->plan_minimum);
    gy_json_kdouble(&w, "ratio", j->plan_ratio);
    gy_json_kuint(&w, "longest_hold_ms", j->longest_hold_ms);
    gy_json_object_end(&w);
}

/* ---- reading back ---- */

static bool take(const json_t *doc, const char *key, uint64_t *out)
{
    const json_t *v = json_object_get(doc, key);
    if (!json_is_integer(v) || json_integer_value(v) < 0) {
        return false;
    }
    *out = (uint64_t)json_integer_value(v);
    return true;
}

static bool take_phase(const json_t *doc, enum gy_phase *out)
{
    const char *word = json_string_value(json_object_get(doc, "phase"));
    for (size_t i = 0; word && i < sizeof phase_names / sizeof *phase_names; i++) {
        if (strcmp(word, phase_names[i]) == 0) {
            *out = (enum gy_phase)i;
            return true;
        }
    }
    return false;
}

static bool read_figures(struct gy_mover *m, struct gy_job *j, const json_t *doc)
{
    uint64_t format, started, wave;
    if (!take(doc, "format", &format) || format != JOB_FORMAT || !take(doc, "epoch", &j->epoch) ||
        !take(doc, "from_version", &j->from_version) || !take(doc, "to_version", &j->to_version) ||
        !take(doc, "started_at", &started) || !take(doc, "wave", &wave) ||
        !take(doc, "estimate", &j->estimate) || !take(doc, "keys_per_s", &m->keys_per_s) ||
        !take(doc, "bytes_per_s", &m->bytes_per_s) || !take_phase(doc, &j->phase)) {
        return false;
    }
    j->started_at = (int64_t)started;
    j->wave = (uint32_t)wave;
    m->paused = json_is_true(json_object_get(doc, "paused"));
    j->weak_fencing = json_is_true(json_object_get(doc, "weak_fencing"));
    return true;
}

static bool read_servers(struct gy_mover *m, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *s = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(s, "name"));
        const char *address = json_string_value(json_object_get(s, "address"));
        if (!name || !address ||
            gy_fleet_append(&m->servers, &m->nservers, name, address, NULL) != GYRE_OK) {
            return false;
        }
    }
    return m->nservers > 0;
}

static bool read_pairs(const struct gy_mover *m, struct gy_job *j, const json_t *list)
{
    size_t n = json_array_size(list);
    j->pairs = calloc(n ? n : 1, sizeof *j->pairs);
    for (size_t i = 0; j->pairs && i < n; i++) {
        const json_t *p = json_array_get(list, i);
        json_int_t a = json_integer_value(json_array_get(p, 0));
        json_int_t b = json_integer_value(json_array_get(p, 1));
        if (a < 0 || b < 0 || a >= m->nservers || b >= m->nservers) {
            return false;
        }
        j->pairs[j->npairs++] = (struct gy_pair){(uint32_t)a, (uint32_t)b};
    }
    return j->pairs != NULL && json_is_array(list);
}

/* The view over m->servers and the migration over it. */
static int rebuild(struct gy_mover *m, struct gy_job *j, uint32_t nchunks, gyre_error_t *e)
{
    gyre_map_t *map = NULL, *next = NULL;
    uint32_t *server = NULL, *next_server = NULL;
    int rc = gyre_map_build(m->topology, &map, e);
    if (rc == GYRE_OK) {
        rc = gyre_map_build(j->next, &next, e);
    }
    if (rc == GYRE_OK) {
        rc = gy_fleet_place(map, &m->servers, &m->nservers, &server, e);
    }
    if (rc == GYRE_OK) {
        rc = gy_fleet_place(next, &m->servers, &m->nservers, &next_server, e);
    }
    if (rc == GYRE_OK) {
        m->view = gy_view_new(map, m->servers, m->nservers, server);
        rc =
            m->view ? gy_job_build(m, j, m->view, next_server, next, nchunks, e) : gy_fail_nomem(e);
    }
    gyre_map_unref(map);
    gyre_map_unref(next);
    free(server);
    free(next_server);
    return rc;
}

int gy_job_read(struct gy_mover *m, struct gy_slice doc, struct gy_job **out, gyre_error_t *e)
{
    json_error_t why;
    uint64_t nchunks = 0;
    int rc = GYRE_OK;
    *out = NULL;
    struct gy_job *j = calloc(1, sizeof *j);
    json_t *root = json_loadb((const char *)doc.p, doc.n, 0, &why);
    if (!j) {
        rc = gy_fail_nomem(e);
    } else if (!root || !read_figures(m, j, root) || !take(root, "chunks", &nchunks) ||
               nchunks == 0 || nchunks > UINT32_MAX ||
               !read_servers(m, json_object_get(root, "servers")) ||
               !read_pairs(m, j, json_object_get(root, "pairs"))) {
        rc = gy_fail(e, GYRE_SYNTAX,
                     "store: the document of the move under way is damaged, or of "
                     "another version of gyre");
    } else {
        const char *yaml = json_string_value(json_object_get(root, "next"));
        rc = gy_views_parse(gy_str(yaml), "move (in the store)", &j->next, e);
    }
    if (rc == GYRE_OK) {
        rc = rebuild(m, j, (uint32_t)nchunks, e);
    }
    json_decref(root);
    if (rc != GYRE_OK) {
        gy_job_free(j);
        return rc;
    }
    *out = j;
    return GYRE_OK;
}
