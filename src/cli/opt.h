/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opt.h - a command's options as one table, which gives the parsing (getopt_long), the --help text
 * and the nearest known word for a mistyped option. Every command has -h/--help. Threads: main
 * only.
 */
#ifndef GY_CLI_OPT_H
#define GY_CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gy_opt_kind {
    GY_OPT_FLAG,   /* bool */
    GY_OPT_TEXT,   /* const char * */
    GY_OPT_UINT,   /* uint64_t, min to max */
    GY_OPT_NUMBER, /* double, an exact decimal, min to max in millionths */
    GY_OPT_CALL,   /* take(into + offset, value) */
};

struct gy_opt {
    char letter;      /* 0: none */
    const char *name; /* without the dashes */
    const char *arg;  /* "FILE"; NULL: a flag */
    const char *help;
    enum gy_opt_kind kind;
    size_t offset;
    uint64_t min, max;
    int (*take)(void *into, const char *value); /* 0, or an exit status after reporting why */
};

struct gy_usage {
    const char *command;         /* "gyre locate" */
    const char *words;           /* "TOPOLOGY [KEY...]" */
    const char *about;           /* one paragraph */
    const struct gy_opt *opts;   /* ends with a row without name */
    const char *const *examples; /* ends with NULL; may be NULL */
    int min_words, max_words;    /* max_words -1: any number */
    const char *exits;           /* "0 fine; 2 bad ...": its exit statuses */
};

/* Of every command: what was wrong, or that its answer did not arrive where it was written to. */
#define GY_EXITS_BAD "2 bad input or usage, or the answer cannot be written"

/* What a command that only answers returns. */
#define GY_EXITS       "0 fine; " GY_EXITS_BAD
#define GY_EXITS_ASKED GY_EXITS ";\n3 the server at redis:// could not be reached or asked"

/* The end of the line of one that may also answer no. */
#define GY_EXITS_NO ";\n" GY_EXITS_BAD "; 3 could not be reached"

#define GY_GO_ON (-1)

/* Fills `into`; *words and *count are what is left. GY_GO_ON, or the exit status to return now
 * (0 after --help, 2 after a mistake that has been reported). */
int gy_opt_parse(const struct gy_usage *u, int argc, char **argv, void *into, char ***words,
                 int *count);

/* While there is a visitor, gy_opt_parse only shows it the table and returns 0: a command that
 * parses first, as all do, tells its options without doing anything. NULL: none. */
typedef void gy_usage_fn(void *ctx, const struct gy_usage *u);
void gy_opt_visit(gy_usage_fn *fn, void *ctx);

#endif
