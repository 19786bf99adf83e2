/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.c - `gyre completion`: the script for a shell, and the offers it asks for at each Tab.
 */
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/complete.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/scripts.h"

static const struct gy_opt OPTIONS[] = {{0}};

static const char *const EXAMPLES[] = {
    "source <(gyre completion bash)     in ~/.bashrc; zsh: the same in ~/.zshrc, after compinit",
    "gyre completion fish > ~/.config/fish/completions/gyre.fish",
    "gyre completion offer -- locate --f",
    NULL,
};

static const struct gy_usage USAGE = {
    "gyre completion",
    "bash|zsh|fish|offer [WORD...]",
    "Prints the completion script for a shell: commands, options, their values, files, and the "
    "names of\nnodes and pools in the topology file on the line. 'make install' puts the scripts "
    "where the shells\nlook for them. The scripts ask 'gyre completion offer -- WORD...' what can "
    "stand at the end of the\nline; its first line says what follows: words, more (words that go "
    "on) or files.",
    OPTIONS,
    EXAMPLES,
    1,
    -1,
    GY_EXITS,
};

static int no_such(const char *word)
{
    char q[GY_QUOTE];
    gy_complain("completion: no script for %s; there are: bash, zsh, fish",
                gy_utf8_quote(q, gy_str(word)));
    return GY_EXIT_USAGE;
}

int gy_cmd_completion(int argc, char **argv)
{
    char **words;
    int count;
    int rc = gy_opt_parse(&USAGE, argc, argv, NULL, &words, &count);
    if (rc != GY_GO_ON) {
        return rc;
    }
    struct gy_buf out = {0};
    if (strcmp(words[0], "offer") == 0) {
        gy_complete(words + 1, count - 1, &out);
        return gy_out_end(&out);
    }
    if (count > 1) {
        char q[GY_QUOTE];
        gy_complain("completion: one shell at a time, not %s too",
                    gy_utf8_quote(q, gy_str(words[1])));
        return GY_EXIT_USAGE;
    }
    for (const struct gy_script *s = gy_scripts; s->shell; s++) {
        if (strcmp(words[0], s->shell) == 0) {
            gy_buf_puts(&out, s->text);
            return gy_out_end(&out);
        }
    }
    return no_such(words[0]);
}
