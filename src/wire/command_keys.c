/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_keys.c - which arguments of a command are keys, and which options the proxy cannot carry.
 *
 * The options are read as the server's own parser reads them (sort.c, geo.c, t_stream.c, db.c of
 * Redis 7.0): a word that is the value of an option is never taken for an option. Where a request
 * is malformed the server would refuse it; here it is -1 or an answer that is safe to forward.
 * Pure: any thread.
 */
#include "wire/command.h"
#include "wire/fold.h"
#include "wire/number.h"

/* Where positions go: counted all, written while there is room. */
struct keys {
    uint32_t *pos;
    size_t cap;
    size_t count;
};

static void add(struct keys *k, size_t pos)
{
    if (k->count < k->cap) {
        k->pos[k->count] = (uint32_t)pos;
    }
    k->count++;
}

static bool add_range(struct keys *k, const struct gy_command *c, size_t argc)
{
    int64_t last = c->last < 0 ? (int64_t)argc + c->last : c->last;
    if (last >= (int64_t)argc) {
        return false;
    }
    /* MSET: a key without its value. */
    if (last >= c->first && (last - c->first + 1) % c->step != 0) {
        return false;
    }
    for (int64_t i = c->first; i <= last; i += c->step) {
        add(k, (size_t)i);
    }
    return true;
}

static bool add_counted(struct keys *k, const struct gy_command *c, const struct gy_slice *argv,
                        size_t argc)
{
    size_t at = (size_t)c->numkeys;
    int64_t n = 0;
    if (at >= argc || !gy_number(argv[at], &n) || n < 0 || (uint64_t)n > argc - at - 1) {
        return false;
    }
    if (n == 0 && !(c->flags & GY_CMDF_SCRIPT)) {
        return false;
    }
    for (size_t i = 1; i <= (size_t)n; i++) {
        add(k, at + i);
    }
    return true;
}

/* Options and how many values follow each. */
struct option {
    const char *word;
    uint8_t values;
};

static const struct option *option_of(const struct option *known, struct gy_slice word)
{
    for (; known->word; known++) {
        if (gy_fold_is(word, known->word)) {
            return known;
        }
    }
    return NULL;
}

static const struct option stream_options[] = {{"count", 1}, {"block", 1},   {"group", 2},
                                               {"noack", 0}, {"streams", 0}, {NULL, 0}};
/* SORT's and GEORADIUS' together: each refuses the other's. */
static const struct option store_options[] = {
    {"limit", 2}, {"by", 1}, {"get", 1}, {"count", 1}, {"store", 1}, {"storedist", 1}, {NULL, 0}};

/* XREAD, XREADGROUP: the position of STREAMS, 0 when there is none; *block: BLOCK was seen. */
static size_t find_streams(const struct gy_slice *argv, size_t argc, bool *block)
{
    *block = false;
    for (size_t i = 1; i < argc; i++) {
        const struct option *o = option_of(stream_options, argv[i]);
        if (!o) {
            return 0;
        }
        if (o->word[0] == 's') {
            return i;
        }
        *block |= o->word[0] == 'b';
        i += o->values;
    }
    return 0;
}

static bool add_streams(struct keys *k, const struct gy_slice *argv, size_t argc)
{
    bool block;
    size_t at = find_streams(argv, argc, &block);
    size_t rest = at ? argc - at - 1 : 0;
    if (rest == 0 || rest % 2 != 0) {
        return false;
    }
    for (size_t i = 1; i <= rest / 2; i++) {
        add(k, at + i);
    }
    return true;
}

/* The key behind STORE or STOREDIST; of several the last counts, as in the server. Options start
 * behind the arguments every call must have, which is what a negative arity says. */
static void add_store(struct keys *k, const struct gy_command *c, const struct gy_slice *argv,
                      size_t argc)
{
    size_t store = 0;
    for (size_t i = (size_t)-c->arity; i < argc; i++) {
        const struct option *o = option_of(store_options, argv[i]);
        if (!o || i + o->values >= argc) {
            continue;
        }
        if (o->word[0] == 's') {
            store = i + 1;
        }
        i += o->values;
    }
    if (store) {
        add(k, store);
    }
}

int gy_command_keys(const struct gy_command *c, const struct gy_slice *argv, size_t argc,
                    uint32_t *pos, size_t cap)
{
    struct keys k = {.pos = pos, .cap = cap};
    bool ok = gy_command_arity_ok(c, argc) && argc <= INT32_MAX;
    if (ok && c->first) {
        ok = add_range(&k, c, argc);
    }
    if (ok && c->flags & GY_CMDF_NUMKEYS) {
        ok = add_counted(&k, c, argv, argc);
    }
    if (ok && c->flags & GY_CMDF_STREAMS) {
        ok = add_streams(&k, argv, argc);
    }
    if (ok && c->flags & GY_CMDF_STORE) {
        add_store(&k, c, argv, argc);
    }
    return ok ? (int)k.count : -1;
}

/* SORT: does a BY or GET pattern name other keys? One without '*' does not (BY nosort, GET #). */
static bool reaches_other_keys(const struct gy_slice *argv, size_t argc)
{
    for (size_t i = 2; i + 1 < argc; i++) {
        const struct option *o = option_of(store_options, argv[i]);
        if (!o) {
            continue;
        }
        bool pattern = o->word[0] == 'b' || o->word[0] == 'g';
        if (pattern && memchr(argv[i + 1].p, '*', argv[i + 1].n)) {
            return true;
        }
        i += o->values;
    }
    return false;
}

static bool other_db(const struct gy_slice *argv, size_t argc)
{
    for (size_t i = 3; i + 1 < argc; i++) {
        if (gy_fold_is(argv[i], "db")) {
            if (!gy_slice_eq(argv[i + 1], GY_LIT("0"))) {
                return true;
            }
            i++;
        }
    }
    return false;
}

const char *gy_command_refusal(const struct gy_command *c, const struct gy_slice *argv, size_t argc)
{
    bool block = false;
    if (c->flags & GY_CMDF_PATTERNS && reaches_other_keys(argv, argc)) {
        return "with a BY or GET pattern reads keys of other nodes; fetch and sort in the client";
    }
    if (c->flags & GY_CMDF_DB && other_db(argv, argc)) {
        return "with DB is refused: only database 0 is carried";
    }
    if (c->flags & GY_CMDF_STREAMS) {
        find_streams(argv, argc, &block);
    }
    return block ? "with BLOCK waits on a connection of its own, which is not carried yet; poll "
                   "without BLOCK"
                 : NULL;
}
