/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_args.c - see move_args.h. One table holds the options; the long ones that getopt_long(3)
 * needs are made from it for the subcommand at hand, so that an option of another one is unknown.
 */
#include "cli/move_args.h"

#include "base/num.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum kind {
    FLAG, /* bool at the offset */
    TEXT, /* const char * */
    U32,
    U64,
    SIZE, /* uint64_t with a unit */
    CHANGE,
};

struct option_row {
    const char *name;
    unsigned subs;
    enum kind kind;
    size_t offset;       /* in struct gy_move_args; of a CHANGE: its enum gyre_change_kind */
    size_t given_offset; /* bool set when it was given; 0: none */
    char letter;
};

#define AT(member) offsetof(struct gy_move_args, member)
#define ALL        0xFFu
#define RATED      (GY_MOVE_START | GY_MOVE_RATE)
static const struct option_row rows[] = {
    {"admin", ALL, TEXT, AT(admin), 0, 0},
    {"config", ALL, TEXT, AT(config), 0, 0},
    {"json", ALL, FLAG, AT(json), 0, 0},
    {"help", ALL, FLAG, AT(help), 0, 'h'},
    {"detach", GY_MOVE_START | GY_MOVE_ABORT, FLAG, AT(detach), 0, 0},
    {"yes", GY_MOVE_START, FLAG, AT(yes), 0, 'y'},
    {"to", GY_MOVE_START, TEXT, AT(to), 0, 0},
    {"add", GY_MOVE_START, CHANGE, GYRE_ADD, 0, 0},
    {"remove", GY_MOVE_START, CHANGE, GYRE_REMOVE, 0, 0},
    {"weight", GY_MOVE_START, CHANGE, GYRE_WEIGHT, 0, 0},
    {"replace", GY_MOVE_START, CHANGE, GYRE_REPLACE, 0, 0},
    {"purge-destination", GY_MOVE_START, FLAG, AT(options.purge_destination), 0, 0},
    {"same-data", GY_MOVE_START, FLAG, AT(options.same_data), 0, 0},
    {"chunks", GY_MOVE_START, U32, AT(options.chunks), 0, 0},
    {"wave", GY_MOVE_START, U32, AT(options.wave), 0, 0},
    {"keys-per-second", RATED, U64, AT(options.keys_per_s), AT(has_keys), 0},
    {"bytes-per-second", RATED, SIZE, AT(options.bytes_per_s), AT(has_bytes), 0},
};
enum { NROWS = sizeof rows / sizeof rows[0], CHUNKS_MAX = 65536 };

static int fail(gyre_error_t *e, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static int fail(gyre_error_t *e, int code, const char *fmt, ...)
{
    *e = (gyre_error_t){.code = code};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->message, sizeof e->message, fmt, ap);
    va_end(ap);
    return code;
}

static int take_number(const struct option_row *row, const char *text, char *at, gyre_error_t *e)
{
    uint64_t n = 0;
    struct gy_slice s = gy_str(text);
    int err = row->kind == SIZE ? gy_num_size(s, &n) : gy_num_uint(s, &n);
    if (err == GYRE_SYNTAX) {
        return fail(e, GYRE_INVALID, "--%s: \"%.64s\" is no %s", row->name, text,
                    row->kind == SIZE ? "size such as 500000, 512KB or 10MB" : "whole number");
    }
    if (err != GYRE_OK || n > INT64_MAX || (row->kind == U32 && n > CHUNKS_MAX)) {
        return fail(e, GYRE_RANGE, "--%s: %.64s is too large", row->name, text);
    }
    if (row->kind == U32) {
        uint32_t small = (uint32_t)n;
        memcpy(at, &small, sizeof small);
    } else {
        memcpy(at, &n, sizeof n);
    }
    return GYRE_OK;
}

static int take(const struct option_row *row, struct gy_move_args *a, gyre_error_t *e)
{
    static const bool yes = true;
    const char *text = optarg;
    char *at = (char *)a + row->offset;
    if (row->given_offset) {
        memcpy((char *)a + row->given_offset, &yes, sizeof yes);
    }
    switch (row->kind) {
    case FLAG:
        memcpy(at, &yes, sizeof yes);
        return GYRE_OK;
    case TEXT:
        memcpy(at, &text, sizeof text);
        return GYRE_OK;
    case CHANGE:
        return gy_changes_add(&a->changes, (enum gyre_change_kind)row->offset, text, e);
    case U32:
    case U64:
    case SIZE:
        break;
    }
    return take_number(row, text, at, e);
}

static int unknown(enum gy_move_sub sub, const char *word, gyre_error_t *e)
{
    const char *known[NROWS];
    size_t n = 0;
    for (size_t i = 0; i < NROWS; i++) {
        if (rows[i].subs & sub) {
            known[n++] = rows[i].name;
        }
    }
    char bare[64];
    const char *start = word + strspn(word, "-");
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(start, "="), start);
    const char *near = gyre_nearest(bare, known, n);
    if (near) {
        return fail(e, GYRE_UNKNOWN, "unknown option %.64s; did you mean --%s?", word, near);
    }
    return fail(e, GYRE_UNKNOWN, "unknown option %.64s", word);
}

/* What the options say together. */
static int check(const struct gy_move_args *a, gyre_error_t *e)
{
    if (a->sub == GY_MOVE_START && !a->to && a->changes.count == 0) {
        return fail(e, GYRE_INVALID,
                    "what is to change? Give --add, --remove, --weight, --replace or --to FILE");
    }
    if (a->to && a->changes.count) {
        return fail(e, GYRE_INVALID,
                    "--to FILE is the whole wish; it does not go with --add, "
                    "--remove, --weight or --replace");
    }
    if (a->sub == GY_MOVE_RATE && !a->has_keys && !a->has_bytes) {
        return fail(e, GYRE_INVALID, "give --keys-per-second, --bytes-per-second or both");
    }
    return GYRE_OK;
}

static int parse(int argc, char **argv, struct gy_move_args *a, gyre_error_t *e)
{
    struct option longs[NROWS + 1] = {0};
    const struct option_row *of[NROWS];
    int n = 0;
    for (size_t i = 0; i < NROWS; i++) {
        if (rows[i].subs & a->sub) {
            longs[n] = (struct option){rows[i].name, rows[i].kind == FLAG ? 0 : 1, NULL, 256 + n};
            of[n++] = &rows[i];
        }
    }
    opterr = 0;
    optind = 0; /* glibc: begin anew, whatever was parsed before */
    int found;
    while ((found = getopt_long(argc, argv, ":hy", longs, NULL)) != -1) {
        const struct option_row *row = found >= 256 ? of[found - 256] : NULL;
        for (int i = 0; !row && i < n; i++) {
            row = of[i]->letter == found ? of[i] : NULL;
        }
        /* optind stands after a long option; a letter may share its word with others. */
        const char *word = argv[optind > 1 ? optind - 1 : 1];
        if (found == ':') {
            return fail(e, GYRE_INVALID, "%.64s needs a value", word);
        }
        if (!row) {
            return unknown(a->sub, word, e);
        }
        int err = take(row, a, e);
        if (err != GYRE_OK || a->help) {
            return err;
        }
    }
    if (optind < argc) {
        return fail(e, GYRE_INVALID, "\"%.64s\" is one word too many", argv[optind]);
    }
    return check(a, e);
}

int gy_move_args_parse(enum gy_move_sub sub, int argc, char **argv, struct gy_move_args *out,
                       gyre_error_t *e)
{
    *out = (struct gy_move_args){.sub = sub};
    int err = parse(argc, argv, out, e);
    if (err != GYRE_OK) {
        gy_move_args_fini(out);
    }
    return err;
}

void gy_move_args_fini(struct gy_move_args *a)
{
    gy_changes_fini(&a->changes);
}
