/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c - the placement settings checked against their tables. Which table counts depends on
 * `like`; before it is named, what any system permits is kept, and checked when it is. Threads:
 * any; the tables are constant.
 */
#include "lib/settings.h"

#include <string.h>

#include "lib/error.h"
#include "lib/like/like.h"

static const struct gyre_setting table[] = {
#define ROW(id, key, fallback, kind, values, help) {key, fallback, values, help},
    GY_SETTINGS(ROW)
#undef ROW
};

static const enum gy_value_kind kinds[] = {
#define KIND(id, key, fallback, kind, values, help) GY_VALUE_##kind,
    GY_SETTINGS(KIND)
#undef KIND
};

const struct gyre_setting *gyre_settings(size_t *count)
{
    if (count) {
        *count = GY_SET_COUNT;
    }
    return table;
}

static size_t find_key(const char *key)
{
    size_t i = 0;
    while (i < GY_SET_COUNT && strcmp(table[i].key, key) != 0) {
        i++;
    }
    return i;
}

/* Has a topology with this `like` the setting at all? */
static bool belongs(const struct gy_like *like, size_t id)
{
    switch (id) {
    case GY_SET_LIKE:
    case GY_SET_REPLICAS:
    case GY_SET_SPREAD:
        return true; /* about copies, which every placement can give */
    default:
        break;
    }
    if (like && like->build) {
        return gy_like_setting(like, (enum gy_setting)id) != NULL;
    }
    return kinds[id] != GY_VALUE_LIKE;
}

static int fail_key(const struct gy_like *like, const char *key, gyre_error_t *e)
{
    const char *known[GY_SET_COUNT];
    char shown[GY_SHOW];
    size_t n = 0;
    for (size_t i = 0; i < GY_SET_COUNT; i++) {
        if (!like || belongs(like, i)) {
            known[n++] = table[i].key;
        }
    }
    const char *near = gyre_nearest(key, known, n);
    return gy_fail(e, GYRE_UNKNOWN, "%s'%s'%s%s%s%s%s",
                   like ? "no such setting: " : "unknown placement setting ", gy_show(key, shown),
                   like ? " with like: " : "", like ? like->name : "",
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* Reads a value as the system `like` (NULL: none) understands it. */
static int read_as(const struct gy_like *like, size_t id, const char *given, uint64_t *value,
                   char text[GY_SETTING_TEXT], gyre_error_t *e)
{
    const struct gy_like_setting *row =
        like && like->build ? gy_like_setting(like, (enum gy_setting)id) : NULL;
    if (row) {
        return gy_value_read(table[id].key, row->kind, row->values, given, value, text, e);
    }
    if (!belongs(like, id)) { /* what get answers for it may be set again */
        bool same = strcmp(given, id == GY_SET_HASH_TAG && like && like->tag ? like->tag : "") == 0;
        if (same) {
            memcpy(text, given, strlen(given) + 1);
        }
        return same ? GYRE_OK : fail_key(like, table[id].key, e);
    }
    return gy_value_read(table[id].key, kinds[id], table[id].values, given, value, text, e);
}

/* Without `like`, for what may still wait for it: does any system permit the value? So "", which is
 * what get answers for a setting that a system has not, may come before the system does. */
static bool read_as_any(size_t id, const char *given, char text[GY_SETTING_TEXT])
{
    uint64_t value;
    for (unsigned i = GY_LIKE_NOTHING + 1; i < GY_LIKE_COUNT; i++) {
        if (read_as(gy_like_of(i), id, given, &value, text, NULL) == GYRE_OK) {
            return true;
        }
    }
    return false;
}

/* Is "" how it reads when it is not set? */
static bool is_unset(const struct gy_like *like, size_t id)
{
    const struct gy_like_setting *row = like ? gy_like_setting(like, (enum gy_setting)id) : NULL;
    return row ? !*row->fallback : kinds[id] == GY_VALUE_LIKE;
}

/* Does what was set fit the system? */
static int check_all(const struct gy_settings *s, const struct gy_like *like, gyre_error_t *e)
{
    for (size_t id = 0; id < GY_SET_COUNT; id++) {
        char text[GY_SETTING_TEXT];
        uint64_t value;
        bool reads = s->chosen[id] && (*s->text[id] || !is_unset(like, id));
        int err = reads ? read_as(like, id, s->text[id], &value, text, e) : GYRE_OK;
        if (err) {
            return err;
        }
    }
    return GYRE_OK;
}

int gy_settings_check(const struct gy_settings *s, gyre_error_t *e)
{
    const struct gy_like *like = gy_like_of(s->value[GY_SET_LIKE]);
    for (size_t id = 0; !like && id < GY_SET_COUNT; id++) {
        if (s->chosen[id] && kinds[id] == GY_VALUE_LIKE) {
            return gy_fail(e, GYRE_INVALID, "%s: is for imitated systems, and `like` names none",
                           table[id].key);
        }
    }
    return check_all(s, like, e);
}

/* A unit test reads every default back. */
static void take_default(struct gy_settings *s, size_t id)
{
    (void)gy_value_read(table[id].key, kinds[id], table[id].values, table[id].fallback,
                        &s->value[id], s->text[id], NULL);
}

void gy_settings_init(struct gy_settings *s)
{
    memset(s, 0, sizeof *s);
    for (size_t id = 0; id < GY_SET_COUNT; id++) {
        take_default(s, id);
    }
}

/* What the system has not, or what "" leaves to it, is as before it was ever set; also once `like`
 * is taken away again. */
static void forget_unset(struct gy_settings *s, const struct gy_like *like)
{
    for (size_t id = 0; id < GY_SET_COUNT; id++) {
        bool unset = !belongs(like, id) || (!*s->text[id] && is_unset(like, id));
        if (s->chosen[id] && unset) {
            s->chosen[id] = false;
            take_default(s, id);
        }
    }
}

static int set_like(struct gy_settings *s, const char *given, gyre_error_t *e)
{
    char text[GY_SETTING_TEXT];
    uint64_t value;
    int err = read_as(NULL, GY_SET_LIKE, given, &value, text, e);
    if (!err && value) {
        err = check_all(s, gy_like_of(value), e);
    }
    if (!err) {
        s->value[GY_SET_LIKE] = value;
        memcpy(s->text[GY_SET_LIKE], text, strlen(text) + 1);
    }
    if (!err && value) {
        forget_unset(s, gy_like_of(value));
    }
    return err;
}

/* Without `like`: as Gyre's own, or else as what some system may be named for later. */
static int read_early(size_t id, const char *given, uint64_t *value, char text[GY_SETTING_TEXT],
                      gyre_error_t *e)
{
    char shown[GY_SHOW], waiting[GY_SETTING_TEXT];
    bool waits = read_as_any(id, given, waiting);
    int err = GYRE_UNKNOWN;
    if (kinds[id] != GY_VALUE_LIKE) {
        err = read_as(NULL, id, given, value, text, waits ? NULL : e);
    } else if (!waits) {
        gy_fail(e, err, "%s: no imitated system knows the value '%s'", table[id].key,
                gy_show(given, shown));
    }
    if (err && waits) {
        memcpy(text, waiting, strlen(waiting) + 1);
        err = GYRE_OK;
    }
    return err;
}

int gy_settings_set(struct gy_settings *s, const char *key, const char *given, gyre_error_t *e)
{
    const struct gy_like *like = gy_like_of(s->value[GY_SET_LIKE]);
    size_t id = find_key(key);
    char text[GY_SETTING_TEXT];
    uint64_t value = s->value[id < GY_SET_COUNT ? id : 0];
    if (id == GY_SET_COUNT) {
        return fail_key(like, key, e);
    }
    if (id == GY_SET_LIKE) {
        return set_like(s, given, e);
    }
    if (like && !belongs(like, id)) {
        return read_as(like, id, given, &value, text, e);
    }
    if (!*given && is_unset(like, id)) { /* as before it was ever set */
        s->chosen[id] = false;
        take_default(s, id);
        return GYRE_OK;
    }
    int err =
        like ? read_as(like, id, given, &value, text, e) : read_early(id, given, &value, text, e);
    if (!err) {
        s->value[id] = value;
        memcpy(s->text[id], text, strlen(text) + 1);
        s->chosen[id] = true;
    }
    return err;
}

const char *gy_settings_text(const struct gy_settings *s, enum gy_setting id)
{
    const struct gy_like *like = gy_like_of(s->value[GY_SET_LIKE]);
    const struct gy_like_setting *row = like ? gy_like_setting(like, id) : NULL;
    if (row) {
        return s->chosen[id] ? s->text[id] : row->fallback;
    }
    return belongs(like, id) || s->chosen[id] ? s->text[id] : "";
}

/* The imitated systems hash the whole key, so with `like` the tag has to be asked for. */
const char *gy_settings_tag(const struct gy_settings *s)
{
    const struct gy_like *like = gy_like_of(s->value[GY_SET_LIKE]);
    if (like && like->build && !gy_like_setting(like, GY_SET_HASH_TAG)) {
        return like->tag ? like->tag : "";
    }
    if (like && !s->chosen[GY_SET_HASH_TAG]) {
        return "";
    }
    return s->text[GY_SET_HASH_TAG];
}

const char *gy_settings_get(const struct gy_settings *s, const char *key)
{
    size_t id = find_key(key);
    if (id == GY_SET_COUNT) {
        return NULL;
    }
    return id == GY_SET_HASH_TAG ? gy_settings_tag(s) : gy_settings_text(s, (enum gy_setting)id);
}
