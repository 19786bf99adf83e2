/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_history.c - see move_history.h.
 */
#include "cli/move_history.h"

#include "base/json.h"
#include "cli/move_status.h"
#include "cli/table.h"
#include "cli/term.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static long long number(const json_t *m, const char *key)
{
    return (long long)json_integer_value(json_object_get(m, key));
}

static void put_time(struct gy_table *t, long long unix_seconds)
{
    char text[32];
    struct tm tm;
    time_t when = (time_t)unix_seconds;
    bool ok = when > 0 && gmtime_r(&when, &tm) &&
              strftime(text, sizeof text, "%Y-%m-%d %H:%M:%SZ", &tm) > 0;
    gy_table_cell(t, ok ? text : NULL);
}

static void put_row(struct gy_table *t, const json_t *m)
{
    long long started = number(m, "started_at"), ended = number(m, "ended_at");
    struct gy_buf bytes = {0}, took = {0};
    gy_move_put_bytes(&bytes, json_number_value(json_object_get(m, "bytes")));
    if (ended >= started && ended > 0) {
        gy_term_seconds(&took, (double)(ended - started));
    }
    gy_table_format(t, "%lld", number(m, "epoch"));
    put_time(t, started);
    gy_table_format(t, "%lld -> %lld", number(m, "from_version"), number(m, "to_version"));
    gy_table_cell(t, json_string_value(json_object_get(m, "result")));
    gy_table_format(t, "%lld", number(m, "keys"));
    gy_table_cell(t, gy_buf_cstr(&bytes));
    gy_table_format(t, "%.3f", json_number_value(json_object_get(m, "ratio")));
    gy_table_cell(t, gy_buf_size(&took) ? gy_buf_cstr(&took) : NULL);
    gy_buf_fini(&bytes);
    gy_buf_fini(&took);
}

/* The moves, newest first; *root is the caller's. */
static int load(const char *text, size_t len, json_t **root, const json_t **moves, gyre_error_t *e)
{
    *root = json_loadb(text, len, 0, NULL);
    *moves = json_object_get(*root, "moves");
    if (json_is_array(*moves)) {
        return GYRE_OK;
    }
    *e = (gyre_error_t){.code = GYRE_SYNTAX};
    snprintf(e->message, sizeof e->message,
             "the proxy's answer is no history; are gyre and the proxy of one version?");
    return GYRE_SYNTAX;
}

int gy_move_history_table(const char *text, size_t len, struct gy_buf *out, gyre_error_t *e)
{
    static const char *const heads[] = {">MOVE",  "STARTED", "VERSIONS", "RESULT", ">KEYS",
                                        ">BYTES", ">RATIO",  "TOOK",     NULL};
    json_t *root;
    const json_t *moves;
    int err = load(text, len, &root, &moves, e);
    if (err == GYRE_OK && json_array_size(moves) == 0) {
        gy_buf_puts(out, "nothing has been moved yet\n");
    } else if (err == GYRE_OK) {
        struct gy_table t;
        gy_table_init(&t, heads);
        for (size_t i = 0; i < json_array_size(moves); i++) {
            put_row(&t, json_array_get(moves, i));
        }
        gy_table_end(&t, out);
    }
    json_decref(root);
    return err;
}

/* The newest move to this version, borrowed; NULL: none. */
static json_t *find(const json_t *moves, uint64_t to_version)
{
    for (size_t i = 0; i < json_array_size(moves); i++) {
        json_t *m = json_array_get(moves, i);
        if (number(m, "to_version") == (long long)to_version) {
            return m;
        }
    }
    return NULL;
}

int gy_move_history_end(const char *text, size_t len, uint64_t to_version, struct gy_move_end *out,
                        gyre_error_t *e)
{
    json_t *root;
    const json_t *moves;
    int err = load(text, len, &root, &moves, e);
    const json_t *found = err == GYRE_OK ? find(moves, to_version) : NULL;
    const char *result = json_string_value(json_object_get(found, "result"));
    if (err == GYRE_OK && !result) {
        *e = (gyre_error_t){.code = GYRE_UNKNOWN};
        snprintf(e->message, sizeof e->message,
                 "the proxy does not remember a move to version %llu",
                 (unsigned long long)to_version);
        err = GYRE_UNKNOWN;
    }
    if (err == GYRE_OK) {
        *out = (struct gy_move_end){
            .moved = strcmp(result, "moved") == 0,
            .serves =
                strcmp(result, "moved") == 0 ? to_version : (uint64_t)number(found, "from_version"),
            .keys = (uint64_t)number(found, "keys"),
            .bytes = (uint64_t)number(found, "bytes"),
            .longest_hold_ms = (uint64_t)number(found, "longest_hold_ms"),
            .seconds = (double)(number(found, "ended_at") - number(found, "started_at")),
        };
    }
    json_decref(root);
    return err;
}

/* One member of an entry, of every kind that is flat, as an entry is; no `default`, so that the
 * compiler misses none. */
static void put_value(struct gy_json *j, const json_t *v)
{
    switch (json_typeof(v)) {
    case JSON_STRING:
        gy_json_string(j, json_string_value(v));
        break;
    case JSON_INTEGER:
        gy_json_int(j, json_integer_value(v));
        break;
    case JSON_REAL:
        gy_json_double(j, json_real_value(v));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        gy_json_bool(j, json_is_true(v));
        break;
    case JSON_NULL:
    case JSON_OBJECT:
    case JSON_ARRAY:
        gy_json_null(j);
        break;
    }
}

/* Through our own writer: jansson would write 0.2 as 0.20000000000000001. */
static void put_entry(struct gy_buf *out, json_t *entry)
{
    struct gy_json j;
    const char *key;
    json_t *v;
    gy_json_init(&j, out);
    gy_json_object(&j);
    json_object_foreach(entry, key, v)
    {
        gy_json_key(&j, key);
        put_value(&j, v);
    }
    gy_json_object_end(&j);
}

void gy_move_history_join(struct gy_buf *status, struct gy_buf *history, uint64_t to_version)
{
    json_t *into = json_loadb(gy_buf_cstr(status), gy_buf_size(status), 0, NULL);
    json_t *root = json_loadb(gy_buf_cstr(history), gy_buf_size(history), 0, NULL);
    json_t *last = find(json_object_get(root, "moves"), to_version);
    if (last && json_object_size(into) > 0) {
        struct gy_buf joined = {0};
        const char *end = strrchr(gy_buf_cstr(status), '}');
        gy_buf_add(&joined, gy_buf_head(status), (size_t)(end - gy_buf_cstr(status)));
        gy_buf_puts(&joined, ",\"last\":");
        put_entry(&joined, last);
        gy_buf_putc(&joined, '}');
        gy_buf_fini(status);
        *status = joined;
    }
    json_decref(root);
    json_decref(into);
}
