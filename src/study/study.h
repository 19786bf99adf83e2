/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study.h - the experiments of `gyre study`: one table of them, each a function from a seed and a
 * few numbers to a result. They do no I/O and know no clock but the one they are handed, so the
 * same seed gives the same result everywhere, columns marked as measured aside. Threads: any, a lab
 * each.
 */
#ifndef GY_STUDY_STUDY_H
#define GY_STUDY_STUDY_H

#include "gyre.h"
#include "study/model.h"

#define GY_STUDY_PARAMS 5

/* A number that the user may choose. */
struct gy_param {
    const char *name; /* an option, without the dashes; NULL ends the list */
    const char *help;
    uint64_t usual, full, min, max; /* full: with --full */
};

/* What a study is given. */
struct gy_lab {
    uint64_t seed;
    uint64_t value[GY_STUDY_PARAMS];          /* of its params, in their order */
    uint64_t (*now)(void);                    /* nanoseconds that only grow */
    void (*progress)(void *ctx, double done); /* 0 to 1 */
    void *ctx;
    gyre_error_t error; /* why run failed */
};

struct gy_study {
    const char *name;
    const char *question; /* one line */
    const char *about;    /* what is done, and how to read it */
    const char *claims;   /* of docs/articles.md: which it answers */
    struct gy_param params[GY_STUDY_PARAMS + 1];
    /* GYRE_OK, or what lab->error says. */
    int (*run)(struct gy_lab *lab, struct gy_result *r);
    bool flat; /* its JSON is its figures and nothing else */
};

/* All of them; ends with NULL. */
extern const struct gy_study *const gy_studies[];

const struct gy_study *gy_study_find(const char *name);
/* Runs it; NOMEM too where the result could not be kept. r is to be finished in any case. */
int gy_study_run(const struct gy_study *s, struct gy_lab *lab, struct gy_result *r);

#endif
