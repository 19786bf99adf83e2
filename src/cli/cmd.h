/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd.h - the subcommands of `gyre`. Each takes its own words (argv[0] is its name), prints to
 * stdout through out.h, reports what is wrong on stderr and returns an exit status. Threads: main
 * only.
 */
#ifndef GY_CLI_CMD_H
#define GY_CLI_CMD_H

#include <stddef.h>

enum gy_exit {
    GY_EXIT_OK = 0,
    GY_EXIT_NO = 1,          /* the answer is "no": out of balance, not minimal */
    GY_EXIT_USAGE = 2,       /* bad input or usage, or output that could not be written */
    GY_EXIT_UNREACHABLE = 3, /* could not reach or ask */
};

struct gy_cmd {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
    /* Its i-th subcommand and what that is for; NULL: no more. NULL itself where it has none. */
    const char *(*sub)(unsigned i, const char **summary);
};

const struct gy_cmd *gy_cmd_all(size_t *count);
const struct gy_cmd *gy_cmd_find(const char *name); /* NULL: none */

int gy_cmd_locate(int argc, char **argv);
int gy_cmd_explain(int argc, char **argv);
int gy_cmd_balance(int argc, char **argv);
int gy_cmd_ranges(int argc, char **argv);
int gy_cmd_check(int argc, char **argv);
int gy_cmd_convert(int argc, char **argv);
int gy_cmd_diff(int argc, char **argv);
int gy_cmd_plan(int argc, char **argv);
int gy_cmd_show(int argc, char **argv);
int gy_cmd_doctor(int argc, char **argv);
int gy_cmd_bench(int argc, char **argv);
int gy_cmd_study(int argc, char **argv);
const char *gy_study_sub(unsigned i, const char **summary);
int gy_cmd_proxy(int argc, char **argv);
int gy_cmd_move(int argc, char **argv);
int gy_cmd_view(int argc, char **argv);
const char *gy_view_sub(unsigned i, const char **summary); /* for struct gy_cmd */
int gy_cmd_completion(int argc, char **argv);

#endif
