/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - the program: the table of commands, and `help` and `version`, which need it. Everything
 * else is in the command's own file.
 */
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/move_args.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "formats/config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static int cmd_help(int argc, char **argv);
static int cmd_version(int argc, char **argv);

static const struct gy_cmd COMMANDS[] = {
    {"show", gy_cmd_show, "what does this file say?"},
    {"doctor", gy_cmd_doctor, "is it whole, and safe to change now?"},
    {"locate", gy_cmd_locate, "where is this key?"},
    {"explain", gy_cmd_explain, "why is it there, and where would it be if that node were down?"},
    {"balance", gy_cmd_balance, "does every node hold its share?"},
    {"ranges", gy_cmd_ranges, "what does each node hold, and who can feed its replacement?"},
    {"check", gy_cmd_check,
     "do two configurations send every key to the same server, and why not?"},
    {"convert", gy_cmd_convert, "the same topology in another format"},
    {"diff", gy_cmd_diff, "what moves between two topologies?"},
    {"plan", gy_cmd_plan, "what would move if nodes were added, removed or re-weighted?"},
    {"move", gy_cmd_move, "do it, on a running proxy", gy_move_sub},
    {"view", gy_cmd_view, "the topology that serves, for programs that embed libgyre", gy_view_sub},
    {"proxy", gy_cmd_proxy, "serve a topology as one address"},
    {"study", gy_cmd_study, "reproducible experiments: balance, movement, failures, hashes, ...",
     gy_study_sub},
    {"completion", gy_cmd_completion,
     "commands and options at the Tab key, for bash, zsh and fish"},
    {"bench", gy_cmd_bench, "every placement on this machine, in one table"},
    {"help", cmd_help, "this text; 'help COMMAND', 'help move start', 'help topology'"},
    {"version", cmd_version, "which gyre this is"},
};

#define COMMAND_COUNT (sizeof COMMANDS / sizeof COMMANDS[0])

const struct gy_cmd *gy_cmd_all(size_t *count)
{
    *count = COMMAND_COUNT;
    return COMMANDS;
}

const struct gy_cmd *gy_cmd_find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(COMMANDS[i].name, name) == 0) {
            return &COMMANDS[i];
        }
    }
    return NULL;
}

static int unknown(const char *name)
{
    const char *names[COMMAND_COUNT];
    char q[GY_QUOTE];
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        names[i] = COMMANDS[i].name;
    }
    const char *near = gyre_nearest(name, names, COMMAND_COUNT);
    gy_complain("unknown command %s%s%s%s", gy_utf8_quote(q, gy_str(name)),
                near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    gy_complain("'gyre help' lists them");
    return GY_EXIT_USAGE;
}

static void overview(struct gy_buf *out)
{
    gy_buf_puts(out, "usage: gyre COMMAND ...\n\nConsistent hashing, whole: which node holds a "
                     "key, what a change moves, and the change itself.\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        gy_buf_printf(out, "  %-11s %s\n", COMMANDS[i].name, COMMANDS[i].summary);
    }
    gy_buf_puts(out, "\n'gyre COMMAND --help' has the options and examples; 'gyre help topology' "
                     "prints an annotated\ntopology file.\n\nexit status: 0 fine; 1 the answer is "
                     "no; " GY_EXITS_BAD ";\n3 could not be reached\n");
}

static const struct gy_opt NO_OPTIONS[] = {{0}};

static int show_overview(void)
{
    struct gy_buf out = {0};
    overview(&out);
    return gy_out_end(&out);
}

/* "help COMMAND [WORD]" is "COMMAND [WORD] --help": only the words of a command that has some. */
static int help_of(const struct gy_cmd *c, const char *sub)
{
    char name[32], word[32] = "", option[] = "--help";
    snprintf(name, sizeof name, "%s", c->name);
    if (sub && !c->sub) {
        char q[GY_QUOTE];
        gy_complain("help: '%s' has no commands of its own, so no %s", name,
                    gy_utf8_quote(q, gy_str(sub)));
        return GY_EXIT_USAGE;
    }
    snprintf(word, sizeof word, "%s", sub ? sub : option);
    char *words[] = {name, word, option, NULL};
    return c->run(sub ? 3 : 2, words);
}

static int cmd_help(int argc, char **argv)
{
    static const char *const examples[] = {"gyre help plan", "gyre help move start", NULL};
    static const struct gy_usage usage = {
        "gyre help",
        "[COMMAND [SUBCOMMAND] | topology]",
        "Lists the commands, or says how one is used; 'topology' prints an annotated topology "
        "file.",
        NO_OPTIONS,
        examples,
        0,
        2,
        GY_EXITS,
    };
    char **words;
    int count;
    int rc = gy_opt_parse(&usage, argc, argv, NULL, &words, &count);
    if (rc != GY_GO_ON) {
        return rc;
    }
    if (count == 0) {
        return show_overview();
    }
    if (count == 1 && strcmp(words[0], "topology") == 0) {
        struct gy_buf out = {0};
        gy_config_sample(&out);
        return gy_out_end(&out);
    }
    const struct gy_cmd *c = gy_cmd_find(words[0]);
    return c ? help_of(c, count > 1 ? words[1] : NULL) : unknown(words[0]);
}

static int cmd_version(int argc, char **argv)
{
    static const struct gy_usage usage = {
        "gyre version", "", "Says which gyre this is.", NO_OPTIONS, NULL, 0, 0, GY_EXITS,
    };
    char **words;
    int count;
    int rc = gy_opt_parse(&usage, argc, argv, NULL, &words, &count);
    if (rc != GY_GO_ON) {
        return rc;
    }
    struct gy_buf out = {0};
    gy_buf_printf(&out, "gyre %s\n", gyre_version());
    return gy_out_end(&out);
}

/* With a closed standard stream the next file that is opened would take its place, and be written
 * to as the answer. What stands here instead fails: 0 cannot be read, 1 and 2 not be written. */
static void hold_streams(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            (void)open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
        }
    }
}

int main(int argc, char **argv)
{
    hold_streams();
    /* A reader that goes away is a failed write, which every writer looks at. */
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2) {
        struct gy_buf out = {0};
        overview(&out);
        fputs(gy_buf_cstr(&out), stderr);
        gy_buf_fini(&out);
        return GY_EXIT_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        word = "help";
    } else if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        word = "version";
    }
    const struct gy_cmd *c = gy_cmd_find(word);
    return c ? c->run(argc - 1, argv + 1) : unknown(word);
}
