/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body.c - see body.h. The options are a table: name, kind, where it goes, how large it may be.
 */
#include "admin/body.h"

#include "admin/reply.h"
#include "formats/config.h"

#include <jansson.h>
#include <string.h>

enum kind { BOOL, U32, U64 };

struct field {
    const char *name;
    enum kind kind;
    size_t offset; /* in struct gy_move_options */
    uint64_t max;
};

#define OPTION(member) offsetof(struct gy_move_options, member)
static const struct field fields[] = {
    {"purge_destination", BOOL, OPTION(purge_destination), 1},
    {"same_data", BOOL, OPTION(same_data), 1},
    {"weak_fencing", BOOL, OPTION(weak_fencing), 1},
    {"keys_per_s", U64, OPTION(keys_per_s), INT64_MAX},
    {"bytes_per_s", U64, OPTION(bytes_per_s), INT64_MAX},
    {"chunks", U32, OPTION(chunks), 65536},
    {"wave", U32, OPTION(wave), 65536},
};
enum { NFIELDS = sizeof fields / sizeof fields[0] };

static int load_object(const void *body, size_t len, json_t **out, gyre_error_t *e)
{
    json_error_t je;
    *out = NULL;
    json_t *root = json_loadb(len ? body : "", len, JSON_REJECT_DUPLICATES, &je);
    if (!root) {
        int err = gy_admin_fail(e, GYRE_SYNTAX, "the body is not JSON: %s", je.text);
        if (e && je.line > 0 && je.column >= 0) {
            e->line = (unsigned)je.line;
            e->column = (unsigned)je.column;
        }
        return err;
    }
    if (!json_is_object(root)) {
        json_decref(root);
        return gy_admin_fail(e, GYRE_INVALID, "the body is not a JSON object");
    }
    *out = root;
    return GYRE_OK;
}

static int read_number(const char *name, const json_t *v, uint64_t max, uint64_t *out,
                       gyre_error_t *e)
{
    if (!json_is_integer(v)) {
        return gy_admin_fail(e, GYRE_INVALID, "\"%s\" is not a whole number", name);
    }
    json_int_t n = json_integer_value(v);
    if (n < 0 || (uint64_t)n > max) {
        return gy_admin_fail(e, GYRE_RANGE, "\"%s\" is not between 0 and %llu", name,
                             (unsigned long long)max);
    }
    *out = (uint64_t)n;
    return GYRE_OK;
}

static int read_option(const struct field *f, const json_t *v, struct gy_move_options *o,
                       gyre_error_t *e)
{
    char *at = (char *)o + f->offset;
    if (f->kind == BOOL) {
        if (!json_is_boolean(v)) {
            return gy_admin_fail(e, GYRE_INVALID, "\"%s\" is not true or false", f->name);
        }
        bool b = json_is_true(v);
        memcpy(at, &b, sizeof b);
        return GYRE_OK;
    }
    uint64_t n = 0;
    int err = read_number(f->name, v, f->max, &n, e);
    if (err != GYRE_OK) {
        return err;
    }
    if (f->kind == U32) {
        uint32_t n32 = (uint32_t)n; /* max is below 2^32 */
        memcpy(at, &n32, sizeof n32);
    } else {
        memcpy(at, &n, sizeof n);
    }
    return GYRE_OK;
}

static int unknown_field(const char *name, const char *const *known, size_t n, gyre_error_t *e)
{
    const char *near = gyre_nearest(name, known, n);
    if (near) {
        return gy_admin_fail(e, GYRE_UNKNOWN, "unknown field \"%.64s\"; did you mean \"%s\"?", name,
                             near);
    }
    return gy_admin_fail(e, GYRE_UNKNOWN, "unknown field \"%.64s\"", name);
}

static int read_options(json_t *root, struct gy_move_options *o, gyre_error_t *e)
{
    const char *known[NFIELDS + 1] = {"to"};
    for (size_t i = 0; i < NFIELDS; i++) {
        known[i + 1] = fields[i].name;
    }
    const char *name;
    json_t *value;
    json_object_foreach(root, name, value)
    {
        const struct field *f = NULL;
        for (size_t i = 0; i < NFIELDS; i++) {
            f = strcmp(fields[i].name, name) == 0 ? &fields[i] : f;
        }
        int err = GYRE_OK;
        if (f) {
            err = read_option(f, value, o, e);
        } else if (strcmp(name, "to") != 0) {
            err = unknown_field(name, known, NFIELDS + 1, e);
        }
        if (err != GYRE_OK) {
            return err;
        }
    }
    return GYRE_OK;
}

static int read_topology(const json_t *to, gyre_topology_t **next, gyre_error_t *e)
{
    if (!json_is_string(to)) {
        return gy_admin_fail(e, GYRE_INVALID, "\"to\" must be the wished topology as YAML text");
    }
    struct gy_config *conf = NULL;
    int err = gy_config_parse(json_string_value(to), json_string_length(to), "to", &conf, e);
    if (err != GYRE_OK) {
        return err;
    }
    *next = gyre_topology_clone(conf->topology);
    gy_config_free(conf);
    return *next ? GYRE_OK : gy_admin_fail(e, GYRE_NOMEM, "out of memory");
}

int gy_body_move(const void *body, size_t len, gyre_topology_t **next,
                 struct gy_move_options *options, gyre_error_t *e)
{
    json_t *root;
    *next = NULL;
    *options = (struct gy_move_options){0};
    int err = load_object(body, len, &root, e);
    if (err != GYRE_OK) {
        return err;
    }
    err = read_options(root, options, e);
    if (err == GYRE_OK) {
        err = read_topology(json_object_get(root, "to"), next, e);
    }
    json_decref(root);
    return err;
}

int gy_body_rate(const void *body, size_t len, uint64_t *keys_per_s, uint64_t *bytes_per_s,
                 gyre_error_t *e)
{
    static const char *const known[] = {"keys_per_s", "bytes_per_s"};
    uint64_t *const out[] = {keys_per_s, bytes_per_s};
    json_t *root;
    int err = load_object(body, len, &root, e);
    if (err != GYRE_OK) {
        return err;
    }
    const char *name;
    json_t *value;
    json_object_foreach(root, name, value)
    {
        if (strcmp(name, known[0]) != 0 && strcmp(name, known[1]) != 0) {
            err = unknown_field(name, known, 2, e);
            goto out;
        }
    }
    for (size_t i = 0; i < 2 && err == GYRE_OK; i++) {
        value = json_object_get(root, known[i]);
        err = value ? read_number(known[i], value, INT64_MAX, out[i], e)
                    : gy_admin_fail(e, GYRE_INVALID, "\"%s\" is missing (0: unlimited)", known[i]);
    }
out:
    json_decref(root);
    return err;
}

int gy_body_address(const void *body, size_t len, char **address, gyre_error_t *e)
{
    static const char *const known[] = {"address"};
    json_t *root, *value;
    const char *name;
    *address = NULL;
    int err = load_object(body, len, &root, e);
    if (err != GYRE_OK) {
        return err;
    }
    json_object_foreach(root, name, value)
    {
        if (strcmp(name, known[0]) != 0) {
            err = unknown_field(name, known, 1, e);
            goto out;
        }
    }
    const char *text = json_string_value(json_object_get(root, known[0]));
    if (!text) {
        err = gy_admin_fail(e, GYRE_INVALID, "\"address\" must be a text: host:port or unix:/path");
        goto out;
    }
    *address = strdup(text);
    err = *address ? GYRE_OK : gy_admin_fail(e, GYRE_NOMEM, "out of memory");
out:
    json_decref(root);
    return err;
}
