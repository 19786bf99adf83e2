/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply.c - see reply.h. An error is the caller's (400), the moment's (409: not now, or not in this
 * state) or ours (500).
 */
#include "admin/reply.h"

#include "base/json.h"

#include <stdio.h>

static const struct {
    int code;
    unsigned status;
} http_status[] = {
    {GYRE_INVALID, 400}, {GYRE_SYNTAX, 400},   {GYRE_DUPLICATE, 400},   {GYRE_UNKNOWN, 400},
    {GYRE_RANGE, 400},   {GYRE_EMPTY, 400},    {GYRE_UNSUPPORTED, 400}, {GYRE_MISMATCH, 400},
    {GYRE_REFUSED, 409}, {GYRE_CONFLICT, 409},
};

int gy_admin_fail(gyre_error_t *e, int code, const char *fmt, ...)
{
    if (e) {
        *e = (gyre_error_t){.code = code};
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(e->message, sizeof e->message, fmt, ap);
        va_end(ap);
    }
    return code;
}

static void error_open(struct gy_json *j, struct gy_reply_http *r, unsigned status,
                       const char *code, const char *message)
{
    r->status = status;
    r->type = "application/json";
    gy_buf_reset(&r->body);
    gy_json_init(j, &r->body);
    gy_json_object(j);
    gy_json_key(j, "error");
    gy_json_object(j);
    gy_json_kstring(j, "code", code);
    gy_json_kstring(j, "message", message);
}

static void error_close(struct gy_json *j, struct gy_reply_http *r)
{
    gy_json_object_end(j);
    gy_json_object_end(j);
    gy_buf_putc(&r->body, '\n');
}

void gy_reply_error(struct gy_reply_http *r, const gyre_error_t *e)
{
    unsigned status = 500;
    for (size_t i = 0; i < sizeof http_status / sizeof http_status[0]; i++) {
        if (http_status[i].code == e->code) {
            status = http_status[i].status;
        }
    }
    struct gy_json j;
    error_open(&j, r, status, gyre_err_name(e->code),
               e->message[0] ? e->message : gyre_err_text(e->code));
    if (e->line) {
        gy_json_kuint(&j, "line", e->line);
        gy_json_kuint(&j, "column", e->column);
    }
    error_close(&j, r);
}

void gy_reply_problem(struct gy_reply_http *r, unsigned status, const char *code,
                      const char *message)
{
    struct gy_json j;
    error_open(&j, r, status, code, message);
    error_close(&j, r);
}
