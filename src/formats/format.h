/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.h - the table of file formats, and the seam for each of them.
 *
 * To add a format:
 *   1. a row in FORMATS (format.c): the word for --format, one line of what it is, sniff, parse;
 *   2. SYSTEM.c here, with both. `sniff` sees at most the first 64 KB and says how sure it is: 0,
 *      or one of GY_SURE_*; it must be cheap, and never claim what another system writes. `parse`
 *      gets a gy_reading and fills r->into with pools: gy_read_pool, then gy_read_set (placement:
 *      `like` first, then that system's words), gy_read_node, gy_read_server, gy_read_note,
 *      gy_read_fact. Text comes by lines.h (words of a line) or tree.h (YAML, JSON, XML, each value
 *      with its place); files that the text names come by gy_read_include;
 *   3. everything the real system refuses is refused, where it stands, for that reason
 *      (gy_read_fail: file, line, column); what it takes but should not is a note. A pool that the
 *      system accepts but no ring places (round robin) gets gy_read_unplaced, not an error;
 *   4. a writer, where people would want one: SYSTEM_write.c and write.h;
 *   5. its files into tests/corpus with facts.tsv, small ones into tests/fuzz/formats/corpus-any,
 *      refusals into tests/unit/formats, the row into docs/formats.md.
 *
 * Limits: a text has at most GY_TEXT_MAX bytes, after gunzip GY_GUNZIP_MAX. The readers below
 * return GYRE_OK or an error already told to r->e. Threads: one thread an object.
 */
#ifndef GY_FORMATS_FORMAT_H
#define GY_FORMATS_FORMAT_H

#include "formats/write.h"

#define GY_TEXT_MAX   ((size_t)64 << 20)
#define GY_GUNZIP_MAX ((size_t)256 << 20)
#define GY_SNIFF_MAX  ((size_t)64 << 10)

enum {
    GY_SURE_NOT = 0,
    GY_SURE_GUESS = 10,  /* no better idea */
    GY_SURE_MAYBE = 20,  /* nothing speaks against it: a plain list of addresses */
    GY_SURE_LIKELY = 60, /* words of this system, of which some are common */
    GY_SURE_YES = 90,    /* what no other system writes */
};

/* Hands one included file to the parser: its name for messages, its text. */
typedef int gy_included_fn(void *arg, const char *file, struct gy_slice text);
/* Reads what `pattern` names (a path or a glob, relative to the folder of the file `from`), in
 * order, and calls each for every file. IO, RANGE with the reason in e, or what each returned. */
typedef int gy_include_fn(void *self, const char *from, const char *pattern, gy_included_fn *each,
                          void *arg, gyre_error_t *e);

/* What a parser is given. file and text change while an included file is read. */
struct gy_reading {
    struct gy_slice text;
    const char *file;
    const char *root; /* the file it began with: what includes are relative to */
    struct gy_pools *into;
    gyre_error_t *e;        /* may be NULL */
    gy_include_fn *include; /* NULL: nothing can be included */
    void *include_self;
    unsigned depth; /* of inclusion */
};

struct gy_format {
    const char *name;
    const char *about;
    int (*sniff)(struct gy_slice head);
    int (*parse)(struct gy_reading *r);
    const struct gy_writer *writer; /* NULL: gyre only reads it */
};

const struct gy_format *gy_formats(size_t *count);
/* UNKNOWN, with the nearest word. */
GYRE_NODISCARD int gy_format_find(const char *name, const struct gy_format **out, gyre_error_t *e);

struct gy_source {
    const char *file;   /* for messages, and what includes are relative to */
    const char *format; /* NULL: recognised by content */
    gy_include_fn *include;
    void *include_self;
};

/* Reads bytes (gzip too) of any format. Errors carry file, line, column and reason. */
GYRE_NODISCARD int gy_pools_parse(struct gy_slice bytes, const struct gy_source *from,
                                  struct gy_pools **out, gyre_error_t *e);

/* ---- for parsers ---- */

int gy_read_fail(struct gy_reading *r, int code, struct gy_mark at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
int gy_read_nomem(struct gy_reading *r);
/* "unknown X 'wrd' ...; did you mean 'word'?", or the words there are; words ends with NULL. */
int gy_read_unknown(struct gy_reading *r, struct gy_mark at, const char *what, struct gy_slice word,
                    const char *const *words);

/* A new pool; name is copied. Pools live until all are freed: *out stays good. */
GYRE_NODISCARD int gy_read_pool(struct gy_reading *r, struct gy_slice name, struct gy_mark at,
                                struct gy_pool **out);
/* A placement setting. */
GYRE_NODISCARD int gy_read_set(struct gy_reading *r, struct gy_pool *p, struct gy_mark at,
                               const char *key, const char *value);
/* A node of the topology; a name that stands twice is told with the line of the first. */
GYRE_NODISCARD int gy_read_node(struct gy_reading *r, struct gy_pool *p, struct gy_mark at,
                                const struct gyre_node *node);
/* A server; zeroed but for name (copied), line, weight 1. *out is good until the next one. */
GYRE_NODISCARD int gy_read_server(struct gy_reading *r, struct gy_pool *p, struct gy_mark at,
                                  struct gy_slice name, struct gy_server **out);
/* Replaces a text of a server (or any malloc'ed text) by a copy of s. */
GYRE_NODISCARD int gy_read_text(struct gy_reading *r, char **at, struct gy_slice s);
/* The same node and server in one, which is the usual case: is_node is set. */
GYRE_NODISCARD int gy_read_both(struct gy_reading *r, struct gy_pool *p, struct gy_mark at,
                                const struct gyre_node *node, struct gy_server **out);
GYRE_NODISCARD int gy_read_open(struct gy_reading *r, struct gy_server *s, uint32_t slot,
                                bool importing, struct gy_slice peer);
GYRE_NODISCARD int gy_read_note(struct gy_reading *r, struct gy_pool *p, enum gy_level level,
                                const char *code, struct gy_mark at, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
/* A note where servers share an address. */
GYRE_NODISCARD int gy_read_shared(struct gy_reading *r, struct gy_pool *p);
GYRE_NODISCARD int gy_read_fact(struct gy_reading *r, struct gy_pool *p, const char *key,
                                const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* This pool is fine for its system, but its keys cannot be placed, for this reason. */
GYRE_NODISCARD int gy_read_unplaced(struct gy_reading *r, struct gy_pool *p, struct gy_mark at,
                                    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Calls parse for each file that pattern names, with r->file and r->text being that file's. */
GYRE_NODISCARD int gy_read_include(struct gy_reading *r, struct gy_mark at, const char *pattern,
                                   int (*parse)(struct gy_reading *r, void *arg), void *arg);

#endif
