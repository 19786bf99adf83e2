/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_status.c - see move_status.h. docs/admin.md says what each field means.
 */
#include "cli/move_status.h"

#include "cli/term.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* jansson's own unpacking wants each member there; these take what is there. */
static bool take_uint(const json_t *object, const char *key, uint64_t *out)
{
    const json_t *v = json_object_get(object, key);
    if (!v || json_is_null(v)) {
        return true;
    }
    if (!json_is_integer(v) || json_integer_value(v) < 0) {
        return false;
    }
    *out = (uint64_t)json_integer_value(v);
    return true;
}

static bool take_number(const json_t *object, const char *key, double *out)
{
    const json_t *v = json_object_get(object, key);
    if (!v || json_is_null(v)) {
        return true;
    }
    *out = json_number_value(v);
    return json_is_number(v);
}

static bool take_string(const json_t *object, const char *key, const char **out)
{
    const json_t *v = json_object_get(object, key);
    if (!v || json_is_null(v)) {
        return true;
    }
    *out = json_string_value(v);
    return *out;
}

static bool take_units(struct gy_move_status *s)
{
    const json_t *units = json_object_get(s->root, "units");
    bool ok = take_uint(units, "total", &s->units_total);
    for (unsigned i = 0; i < GY_UNIT_STATE_COUNT; i++) {
        ok = ok && take_uint(units, gy_unit_state_name((enum gy_unit_state)i), &s->units[i]);
    }
    return ok;
}

static bool take_counts(struct gy_move_status *s)
{
    const json_t *root = s->root;
    const json_t *keys = json_object_get(root, "keys");
    const json_t *rate = json_object_get(root, "rate");
    return take_uint(root, "epoch", &s->epoch) && take_uint(root, "version", &s->version) &&
           take_uint(root, "from_version", &s->from_version) &&
           take_uint(root, "to_version", &s->to_version) && take_uint(root, "bytes", &s->bytes) &&
           take_uint(keys, "moved", &s->keys_moved) &&
           take_uint(keys, "on_access", &s->keys_on_access) &&
           take_uint(keys, "scanned", &s->keys_scanned) &&
           take_uint(keys, "total_estimate", &s->keys_estimate) &&
           take_uint(rate, "keys_limit", &s->keys_limit) &&
           take_uint(rate, "bytes_limit", &s->bytes_limit) &&
           take_uint(root, "longest_hold_ms", &s->longest_hold_ms) &&
           take_number(rate, "keys_per_s", &s->keys_per_s) &&
           take_number(rate, "bytes_per_s", &s->bytes_per_s) && take_units(s);
}

int gy_move_status_parse(const char *text, size_t len, struct gy_move_status *out, gyre_error_t *e)
{
    *out = (struct gy_move_status){.eta_s = -1, .root = json_loadb(text, len, 0, NULL)};
    const json_t *root = out->root;
    if (json_is_object(root) && take_string(root, "state", &out->state) && out->state &&
        take_string(root, "last_error", &out->last_error) &&
        take_string(root, "warning", &out->warning) && take_counts(out) &&
        take_number(root, "eta_s", &out->eta_s) &&
        take_number(root, "elapsed_s", &out->elapsed_s) &&
        take_number(root, "moved", &out->moved) && take_number(root, "minimum", &out->minimum) &&
        take_number(root, "ratio", &out->ratio)) {
        return GYRE_OK;
    }
    gy_move_status_fini(out);
    *e = (gyre_error_t){.code = GYRE_SYNTAX};
    snprintf(e->message, sizeof e->message,
             "the proxy's answer is no status of a move; are gyre and the proxy of one version?");
    return GYRE_SYNTAX;
}

void gy_move_status_fini(struct gy_move_status *s)
{
    json_decref(s->root);
    *s = (struct gy_move_status){0};
}

bool gy_move_idle(const struct gy_move_status *s)
{
    return strcmp(s->state, "idle") == 0;
}

bool gy_move_backward(const struct gy_move_status *s)
{
    for (unsigned i = GY_UNIT_ABORT_PREPARE; i < GY_UNIT_STATE_COUNT; i++) {
        if (s->units[i]) {
            return true;
        }
    }
    return strcmp(s->state, "aborting") == 0;
}

uint64_t gy_move_units_done(const struct gy_move_status *s)
{
    if (gy_move_backward(s)) {
        return s->units[GY_UNIT_RETURNED] + s->units[GY_UNIT_STABLE];
    }
    return s->units[GY_UNIT_COMPLETE] + s->units[GY_UNIT_CLEANING] + s->units[GY_UNIT_MOVED];
}

void gy_move_puts_clean(struct gy_buf *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p;
        /* U+0080..U+009F, in UTF-8 C2 80..C2 9F, are the 8-bit forms of the escape sequences. */
        bool c1 = c == 0xC2 && (unsigned char)p[1] >= 0x80 && (unsigned char)p[1] <= 0x9F;
        if (c1) {
            gy_buf_printf(out, "\\x%02X\\x%02X", c, (unsigned char)*++p);
        } else if (c < 0x20 || c == 0x7F) {
            gy_buf_printf(out, "\\x%02X", c);
        } else {
            gy_buf_putc(out, *p);
        }
    }
}

void gy_move_put_bytes(struct gy_buf *out, double bytes)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    size_t i = 0;
    while (bytes >= 1024 && i + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1024;
        i++;
    }
    gy_buf_printf(out, i == 0 || bytes >= 100 ? "%.0f %s" : "%.1f %s", bytes, units[i]);
}

static void put_rate(const struct gy_move_status *s, struct gy_buf *out)
{
    gy_buf_printf(out, "%.0f keys/s  ", s->keys_per_s);
    gy_move_put_bytes(out, s->bytes_per_s);
    gy_buf_puts(out, "/s");
}

void gy_move_line(const struct gy_move_status *s, struct gy_buf *out)
{
    gy_move_puts_clean(out, s->state);
    gy_buf_printf(out, "  %llu/%llu units  %llu", (unsigned long long)gy_move_units_done(s),
                  (unsigned long long)s->units_total, (unsigned long long)s->keys_moved);
    if (s->keys_estimate) {
        gy_buf_printf(out, "/%llu", (unsigned long long)s->keys_estimate);
    }
    gy_buf_puts(out, " keys  ");
    gy_move_put_bytes(out, (double)s->bytes);
    gy_buf_puts(out, "  ");
    put_rate(s, out);
    if (s->eta_s >= 0) {
        gy_buf_puts(out, "  ETA ");
        gy_term_seconds(out, s->eta_s);
    }
    gy_buf_printf(out, "  held %llu ms", (unsigned long long)s->longest_hold_ms);
}

static void label(struct gy_buf *out, const char *name)
{
    gy_buf_printf(out, "%-13s ", name);
}

static void table_units(const struct gy_move_status *s, struct gy_buf *out)
{
    label(out, "units");
    gy_buf_printf(out, "%llu of %llu done", (unsigned long long)gy_move_units_done(s),
                  (unsigned long long)s->units_total);
    const char *sep = ": ";
    for (unsigned i = 0; i < GY_UNIT_STATE_COUNT; i++) {
        if (s->units[i]) {
            gy_buf_printf(out, "%s%llu %s", sep, (unsigned long long)s->units[i],
                          gy_unit_state_name((enum gy_unit_state)i));
            sep = ", ";
        }
    }
    gy_buf_putc(out, '\n');
}

static void table_keys(const struct gy_move_status *s, struct gy_buf *out)
{
    label(out, "keys");
    gy_buf_printf(out, "%llu moved", (unsigned long long)s->keys_moved);
    if (s->keys_estimate) {
        gy_buf_printf(out, " of about %llu", (unsigned long long)s->keys_estimate);
    }
    gy_buf_printf(out, ", %llu of them on access; %llu scanned\n",
                  (unsigned long long)s->keys_on_access, (unsigned long long)s->keys_scanned);
    label(out, "bytes");
    gy_move_put_bytes(out, (double)s->bytes);
    gy_buf_putc(out, '\n');
}

static void table_rate(const struct gy_move_status *s, struct gy_buf *out)
{
    label(out, "rate");
    put_rate(s, out);
    gy_buf_puts(out, s->keys_limit || s->bytes_limit ? "  (limit " : "");
    if (s->keys_limit) {
        gy_buf_printf(out, "%llu keys/s", (unsigned long long)s->keys_limit);
    }
    if (s->bytes_limit) {
        gy_buf_puts(out, s->keys_limit ? ", " : "");
        gy_move_put_bytes(out, (double)s->bytes_limit);
        gy_buf_puts(out, "/s");
    }
    gy_buf_puts(out, s->keys_limit || s->bytes_limit ? ")\n" : "\n");
    label(out, "time");
    gy_term_seconds(out, s->elapsed_s);
    gy_buf_puts(out, " so far");
    if (s->eta_s >= 0) {
        gy_buf_puts(out, ", about ");
        gy_term_seconds(out, s->eta_s);
        gy_buf_puts(out, " to go");
    }
    gy_buf_putc(out, '\n');
    label(out, "longest hold");
    gy_buf_printf(out, "%llu ms\n", (unsigned long long)s->longest_hold_ms);
}

bool gy_move_bigkey(const struct gy_move_status *s, size_t i, struct gy_buf *out)
{
    const json_t *entry = json_array_get(json_object_get(s->root, "bigkeys"), i);
    const char *name = json_string_value(json_object_get(entry, "name"));
    if (!entry) {
        return false;
    }
    gy_term_encode(out, gy_str(name ? name : "?"));
    gy_buf_puts(out, "  ");
    gy_move_put_bytes(out, json_number_value(json_object_get(entry, "size")));
    return true;
}

static void table_bigkeys(const struct gy_move_status *s, struct gy_buf *out)
{
    struct gy_buf text = {0};
    for (size_t i = 0; gy_move_bigkey(s, i, &text); i++) {
        label(out, i == 0 ? "big keys" : "");
        gy_buf_puts(out, gy_buf_cstr(&text));
        gy_buf_putc(out, '\n');
        gy_buf_reset(&text);
    }
    gy_buf_fini(&text);
}

/* Servers that left and still have a user of the proxy's. */
static void table_leaving(const struct gy_move_status *s, struct gy_buf *out)
{
    const json_t *all = json_object_get(s->root, "leaving"), *one;
    size_t i;
    json_array_foreach(all, i, one)
    {
        const char *part[4];
        static const char *const keys[] = {"name", "address", "users", "error"};
        for (size_t k = 0; k < 4; k++) {
            const char *text = json_string_value(json_object_get(one, keys[k]));
            part[k] = text ? text : "?";
        }
        label(out, i == 0 ? "leaving" : "");
        gy_move_puts_clean(out, part[0]);
        gy_buf_puts(out, " at ");
        gy_move_puts_clean(out, part[1]);
        gy_buf_puts(out, ": the proxy's users ");
        gy_move_puts_clean(out, part[2]);
        gy_buf_puts(out, " are to be deleted there, for ");
        gy_term_seconds(
            out, difftime(time(NULL), (time_t)json_integer_value(json_object_get(one, "since"))));
        if (json_integer_value(json_object_get(one, "tries")) > 0) {
            gy_buf_puts(out, " now: ");
            gy_move_puts_clean(out, part[3]);
            gy_buf_puts(out, "; if it is gone for good: gyre move forget ");
            gy_move_puts_clean(out, part[1]);
        }
        gy_buf_putc(out, '\n');
    }
}

static void table_text(const char *name, const char *text, struct gy_buf *out)
{
    if (text) {
        label(out, name);
        gy_move_puts_clean(out, text);
        gy_buf_putc(out, '\n');
    }
}

void gy_move_table(const struct gy_move_status *s, struct gy_buf *out)
{
    label(out, "state");
    gy_move_puts_clean(out, s->state);
    gy_buf_putc(out, '\n');
    if (s->to_version) {
        label(out, "versions");
        gy_buf_printf(out, "%llu -> %llu (move %llu)\n", (unsigned long long)s->from_version,
                      (unsigned long long)s->to_version, (unsigned long long)s->epoch);
    } else {
        label(out, "version");
        gy_buf_printf(out, "%llu serves\n", (unsigned long long)s->version);
    }
    if (s->ratio > 0) {
        label(out, "plan");
        gy_buf_printf(out, "%.2f %% of the keys; minimum %.2f %%, ratio %.3f\n", 100 * s->moved,
                      100 * s->minimum, s->ratio);
    }
    if (s->units_total) {
        table_units(s, out);
        table_keys(s, out);
        table_rate(s, out);
        table_bigkeys(s, out);
    }
    table_leaving(s, out);
    table_text("warning", s->warning, out);
    table_text("last error", s->last_error, out);
}
