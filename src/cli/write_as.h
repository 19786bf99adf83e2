/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_as.h - a topology to a file of some format: the options --to, --lossy and --force, and what
 * is said on stderr about it. For `gyre convert` and `gyre plan`. Threads: main only.
 */
#ifndef GY_CLI_WRITE_AS_H
#define GY_CLI_WRITE_AS_H

#include "cli/opt.h"
#include "cli/topo.h"

struct gy_write_as {
    const char *to; /* NULL: gyre */
    bool lossy, force;
    const uint64_t *slot_sizes; /* see formats/write.h; no option */
};

/* Rows for a command's option table; `type` has a member `as`. */
/* clang-format off */
#define GY_WRITE_AS_OPTIONS(type)                                                              \
    {0, "to", "FORMAT", "write that format ('gyre show --formats' lists them; gyre)",          \
     GY_OPT_TEXT, offsetof(type, as.to), 0, 0, NULL},                                          \
    {0, "lossy", NULL, "leave out what the format has no word for, and say what",              \
     GY_OPT_FLAG, offsetof(type, as.lossy), 0, 0, NULL},                                       \
    {0, "force", NULL, "write over a file that is there already",                              \
     GY_OPT_FLAG, offsetof(type, as.force), 0, 0, NULL}
/* clang-format on */

/* GY_EXIT_OK when the options go together and gyre writes that format: before any work is done.
 * output: as -o has it. */
int gy_write_as_check(const struct gy_write_as *as, const char *output);
/* The text of topology t, which is `from` itself or was planned from it. GY_EXIT_OK, or
 * GY_EXIT_USAGE after reporting. */
int gy_write_as(const struct gy_write_as *as, const struct gy_topo *from, const gyre_topology_t *t,
                struct gy_buf *out);
/* To stdout (path NULL or "-"), or to a file that is not there yet. */
int gy_write_as_save(const struct gy_write_as *as, const char *path, struct gy_buf *text);

#endif
