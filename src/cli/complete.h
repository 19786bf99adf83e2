/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complete.h - what could stand at the end of a command line: the answer to the Tab key. All comes
 * from the tables of options: an option's argument ("FILE", "NAME") and a command's words
 * ("TOPOLOGY [NODE]") say what is offered there. Names of nodes and pools come from the topology
 * file that the line names; nothing is asked over the network. Threads: main only.
 */
#ifndef GY_CLI_COMPLETE_H
#define GY_CLI_COMPLETE_H

#include "base/buf.h"

/* What has been typed of the word at the cursor, and where what fits it goes. */
struct gy_offer {
    struct gy_buf *out;
    const char *prefix; /* stands before the value in the same word, "--format="; "" elsewhere */
    size_t prefix_len;
    const char *typed; /* of the value */
};

/*
 * words: the line without the program's name, the last one as far as it is typed. The first line of
 * the answer is "words", "more" (the word goes on behind what is offered) or "files"; where only
 * the end of the word is a value, as in --keys=FILE, a tab and what stands before that. Then, but
 * for files, one offer a line, perhaps with a tab and what it is for.
 */
void gy_complete(char **words, int count, struct gy_buf *out);

/* Adds a word if it begins with what was typed and can stand on one line. help may be NULL. */
void gy_offer_word(const struct gy_offer *o, const char *word, const char *suffix,
                   const char *help);

/* ---- complete_values.c: words that are not in the tables of options ---- */

/* Those that gyre writes, or all. */
void gy_offer_formats(const struct gy_offer *o, bool written);
/* The values of a placement setting, as of "algorithm". */
void gy_offer_setting(const struct gy_offer *o, const char *key);
/* Of the file at path (NULL: none): nothing if it cannot be read. */
void gy_offer_pools(const struct gy_offer *o, const char *path, const char *format);
void gy_offer_nodes(const struct gy_offer *o, const char *path, const char *format,
                    const char *pool, const char *suffix);

#endif
