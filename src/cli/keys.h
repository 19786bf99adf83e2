/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.h - keys from arguments, a file or stdin, in batches: one a line (--keys, stdin), or
 * NUL-separated (--keys0), percent-encoded on request (--encoded). A key is the exact bytes of its
 * line; a carriage return is part of it (and warned of once). With a recipe (--key) a line is a
 * URL, and the key is made of it. Memory is one read buffer, and as much as the longest key, at
 * most KEY_MAX; with a recipe a batch of keys besides. Threads: one thread an object.
 */
#ifndef GY_CLI_KEYS_H
#define GY_CLI_KEYS_H

#include "base/buf.h"
#include "cli/request.h"

#define GY_KEYS_BATCH 256

/* What the options said. */
struct gy_keys_from {
    const char *lines, *nul; /* --keys, --keys0 */
    bool encoded;
    struct gy_request_from request; /* --key, --header */
};

/* Rows for a command's option table; `type` has a member `from`. */
#define GY_KEYS_OPTIONS(type)                                                      \
    {0,           "keys",                                                          \
     "FILE",      "keys from FILE, one a line ('-': stdin)",                       \
     GY_OPT_TEXT, offsetof(type, from.lines),                                      \
     0,           0,                                                               \
     NULL},                                                                        \
        {0,           "keys0",                                                     \
         "FILE",      "keys from FILE, separated by NUL",                          \
         GY_OPT_TEXT, offsetof(type, from.nul),                                    \
         0,           0,                                                           \
         NULL},                                                                    \
        GY_REQUEST_OPTIONS(type, from.request),                                    \
    {                                                                              \
        0, "encoded", NULL, "keys are percent-encoded, and shown so", GY_OPT_FLAG, \
            offsetof(type, from.encoded), 0, 0, NULL                               \
    }

struct gy_keys {
    const void *key[GY_KEYS_BATCH];
    size_t len[GY_KEYS_BATCH];
    struct gy_slice given[GY_KEYS_BATCH]; /* what was read: the key, or the URL it is made of */
    size_t count;                         /* of this batch */
    uint64_t number;                      /* of keys handed out before this batch */
    /* inside */
    struct gy_keys_from from;
    char **args;
    int arg_count;
    int fd;
    const char *name; /* of the file, for messages */
    char separator;
    struct gy_requests requests;
    struct gy_buf made; /* keys of this batch, with a recipe; key holds offsets until it is whole */
    struct gy_buf buf;
    size_t used, seen; /* bytes of buf the last batch took; bytes of it without a separator */
    bool ended, warned;
    bool shown;    /* progress may be: no answers stand on the terminal meanwhile */
    char *doing;   /* "reading keys.txt", while that is shown */
    uint64_t read; /* bytes */
};

/* With no file and no arguments: stdin, unless it is a terminal and `optional` is false, which is
 * an error; with `optional`, no keys at all. The argument "-" alone is stdin. GY_EXIT_OK or
 * GY_EXIT_USAGE after reporting. */
int gy_keys_open(struct gy_keys *k, const struct gy_keys_from *from, char **args, int count,
                 bool optional);
/* For a command that was given no keys: GY_EXIT_USAGE, after reporting, if there is a recipe. */
int gy_keys_none(const struct gy_keys_from *from);
/* The next batch; count 0 at the end. GY_EXIT_OK, or GY_EXIT_USAGE after reporting. The keys live
 * until the next call. */
int gy_keys_next(struct gy_keys *k);
/* The next batch can be had without waiting for whoever writes the keys. */
bool gy_keys_more(const struct gy_keys *k);
void gy_keys_close(struct gy_keys *k);

#endif
