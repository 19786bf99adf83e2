/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - what the proxy does with each command of Redis 7.0; the table is data (commands.tsv),
 * generated into C. Pure and immutable: any thread.
 */
#ifndef GY_WIRE_COMMAND_H
#define GY_WIRE_COMMAND_H

#include "base/buf.h"

enum gy_cmd_class {
    GY_CMD_KEYED,   /* goes whole to the node of its key(s), which must share one hash input */
    GY_CMD_SPLIT,   /* cut by key, answers merged in order */
    GY_CMD_LOCAL,   /* answered by the proxy */
    GY_CMD_PINNED,  /* needs a connection of its own (blocking, pub/sub, MULTI); not carried yet */
    GY_CMD_FANOUT,  /* asks every node (SCAN, DBSIZE, KEYS ...); not carried yet */
    GY_CMD_REFUSED, /* makes no sense, or is not safe, through a proxy */
};

enum gy_cmd_merge {
    GY_MERGE_NONE,
    GY_MERGE_ARRAY, /* MGET: one element a key, in order */
    GY_MERGE_SUM,   /* DEL UNLINK EXISTS TOUCH: integers added */
    GY_MERGE_OK,    /* MSET: +OK when all are, else the first error */
};

enum gy_cmd_flag {
    GY_CMDF_WRITE = 1,   /* may change a key (EVAL, PFCOUNT, GETEX ... count as writes) */
    GY_CMDF_NUMKEYS = 2, /* number of keys stands at argument `numkeys`, keys follow it */
    GY_CMDF_STREAMS =
        4, /* XREAD, XREADGROUP: keys follow the word STREAMS and are half of what is left */
    GY_CMDF_BLOCKING =
        8, /* may block: refused when it asks to (XREAD BLOCK); pinned when it always may */
    GY_CMDF_STORE = 16,     /* SORT, GEORADIUS: one more key behind the word STORE (or STOREDIST) */
    GY_CMDF_CONTAINER = 32, /* has subcommands: look the pair up */
    GY_CMDF_SCRIPT = 64,    /* EVAL family */
    GY_CMDF_PATTERNS = 128, /* SORT: BY and GET patterns reach other keys: refused when present */
    GY_CMDF_DB = 256,       /* COPY: option DB reaches another database: refused when not 0 */
    GY_CMDF_GROWS = 512,    /* may need memory: a full server refuses it (Redis' flag denyoom) */
};

struct gy_command {
    const char *name;          /* lower case; containers: "object|encoding" */
    int16_t arity;             /* as Redis: n = exactly, -n = at least, command name included */
    uint8_t klass;             /* enum gy_cmd_class */
    uint8_t merge;             /* enum gy_cmd_merge */
    uint16_t flags;            /* enum gy_cmd_flag */
    int16_t first, last, step; /* positions of keys as COMMAND INFO gives them; last < 0 counts from
                                  the end; first 0: none */
    int16_t numkeys;           /* position of the count when NUMKEYS */
    const char *why; /* PINNED, FANOUT, REFUSED: the reason told to the client; it follows the name:
                        "ERR 'SHUTDOWN' would stop a storage node ..." */
    const char *since; /* "1.0.0" */
};

/* The command of these arguments (case-insensitive; the subcommand is looked up for containers).
 * NULL: unknown, command or subcommand. A container alone ("OBJECT") gives the container's row,
 * which its arity refuses (COMMAND excepted). */
const struct gy_command *gy_command_find(const struct gy_slice *argv, size_t argc);
size_t gy_command_count(void);
const struct gy_command *gy_command_at(size_t i);

/* Writes the argument positions of the keys. Returns how many (0: none), or -1 when the arguments
 * are malformed for this command (arity, bad numkeys, odd MSET ...). Positions beyond `cap` are
 * counted, not written: call again with more room. One key may stand there more than once. */
int gy_command_keys(const struct gy_command *c, const struct gy_slice *argv, size_t argc,
                    uint32_t *pos, size_t cap);
/* Do the options ask for what is not carried: XREAD/XREADGROUP BLOCK, SORT BY/GET patterns, COPY
 * DB? Returns the reason, to follow the command's name as `why` does, or NULL. */
const char *gy_command_refusal(const struct gy_command *c, const struct gy_slice *argv,
                               size_t argc);
bool gy_command_arity_ok(const struct gy_command *c, size_t argc);

#endif
