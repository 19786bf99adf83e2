/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.c - finding a command in the table, and its arity. Names are compared by ASCII case
 * folding, never by locale. Pure: any thread.
 */
#include "wire/command_table.h"
#include "wire/fold.h"

enum { NAME_MAX_LEN = 32 }; /* longer than any name: such a word is not looked up */

static const struct gy_command *find_name(struct gy_slice word)
{
    if (word.n == 0 || word.n > NAME_MAX_LEN) {
        return NULL;
    }
    uint32_t at = gy_command_hash(word.p, word.n);
    while (gy_command_slots[at]) {
        const struct gy_command *c = &gy_command_table[gy_command_slots[at] - 1];
        if (gy_fold_is(word, c->name)) {
            return c;
        }
        at = (at + 1) % GY_COMMAND_SLOTS;
    }
    return NULL;
}

/* Subcommands stand right behind their container: '|' sorts behind every letter. */
static const struct gy_command *find_sub(const struct gy_command *container, struct gy_slice word)
{
    size_t n = strlen(container->name);
    const struct gy_command *end = gy_command_table + gy_command_rows;
    for (const struct gy_command *c = container + 1; c < end; c++) {
        if (strncmp(c->name, container->name, n) != 0 || c->name[n] != '|') {
            break;
        }
        if (gy_fold_is(word, c->name + n + 1)) {
            return c;
        }
    }
    return NULL;
}

const struct gy_command *gy_command_find(const struct gy_slice *argv, size_t argc)
{
    const struct gy_command *c = argc ? find_name(argv[0]) : NULL;
    if (c && c->flags & GY_CMDF_CONTAINER && argc > 1) {
        return find_sub(c, argv[1]);
    }
    return c;
}

size_t gy_command_count(void)
{
    return gy_command_rows;
}

const struct gy_command *gy_command_at(size_t i)
{
    return i < gy_command_rows ? &gy_command_table[i] : NULL;
}

bool gy_command_arity_ok(const struct gy_command *c, size_t argc)
{
    return c->arity < 0 ? argc >= (size_t)-c->arity : argc == (size_t)c->arity;
}
