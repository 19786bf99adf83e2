/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_history.c - see move_history.h.
 */
#include "cli/move_history.h"

#include "cli/move_status.h"

#include <jansson.h>
#include <stdio.h>
#include <time.h>

static void put_time(struct gy_buf *out, const json_t *unix_seconds)
{
    char text[32];
    struct tm tm;
    time_t t = (time_t)json_integer_value(unix_seconds);
    if (!json_is_integer(unix_seconds) || !gmtime_r(&t, &tm) ||
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%SZ", &tm) == 0) {
        snprintf(text, sizeof text, "-");
    }
    gy_buf_printf(out, "%-20s", text);
}

static void put_row(struct gy_buf *out, const json_t *m)
{
    json_int_t started = json_integer_value(json_object_get(m, "started_at"));
    json_int_t ended = json_integer_value(json_object_get(m, "ended_at"));
    const char *result = json_string_value(json_object_get(m, "result"));
    struct gy_buf cell = {0};
    gy_buf_printf(out, "%4lld  ", (long long)json_integer_value(json_object_get(m, "epoch")));
    put_time(out, json_object_get(m, "started_at"));
    gy_buf_printf(&cell, "%lld -> %lld",
                  (long long)json_integer_value(json_object_get(m, "from_version")),
                  (long long)json_integer_value(json_object_get(m, "to_version")));
    gy_buf_printf(out, "  %-12s", gy_buf_cstr(&cell));
    gy_buf_reset(&cell);
    gy_move_puts_clean(&cell, result ? result : "-");
    gy_buf_printf(out, "  %-8s", gy_buf_cstr(&cell));
    gy_buf_reset(&cell);
    gy_move_put_bytes(&cell, json_number_value(json_object_get(m, "bytes")));
    gy_buf_printf(out, "  %10lld  %9s  %6.3f  ",
                  (long long)json_integer_value(json_object_get(m, "keys")), gy_buf_cstr(&cell),
                  json_number_value(json_object_get(m, "ratio")));
    if (ended >= started && ended > 0) {
        gy_move_put_seconds(out, (double)(ended - started));
    } else {
        gy_buf_putc(out, '-');
    }
    gy_buf_putc(out, '\n');
    gy_buf_fini(&cell);
}

int gy_move_history_table(const char *text, size_t len, struct gy_buf *out, gyre_error_t *e)
{
    json_t *root = json_loadb(text, len, 0, NULL);
    const json_t *moves = json_object_get(root, "moves");
    if (!json_is_array(moves)) {
        json_decref(root);
        *e = (gyre_error_t){.code = GYRE_SYNTAX};
        snprintf(e->message, sizeof e->message,
                 "the proxy's answer is no history; are gyre and the proxy of one version?");
        return GYRE_SYNTAX;
    }
    if (json_array_size(moves) == 0) {
        gy_buf_puts(out, "nothing has been moved yet\n");
    } else {
        gy_buf_printf(out, "%4s  %-20s  %-12s  %-8s  %10s  %9s  %6s  %s\n", "MOVE", "STARTED",
                      "VERSIONS", "RESULT", "KEYS", "BYTES", "RATIO", "TOOK");
        for (size_t i = 0; i < json_array_size(moves); i++) {
            put_row(out, json_array_get(moves, i));
        }
    }
    json_decref(root);
    return GYRE_OK;
}
