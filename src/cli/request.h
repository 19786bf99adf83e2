/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - keys made of URLs by a recipe (--key), for caches that are asked by URL. A line is a
 * URL, or a URL and headers after it, parted by tabs: "https://cdn.example/a<TAB>Accept-Language:
 * de". Headers of -H hold for every line that has none of that name. Threads: one thread an object.
 */
#ifndef GY_CLI_REQUEST_H
#define GY_CLI_REQUEST_H

#include "base/buf.h"
#include "gyre.h"

#define GY_REQUEST_HEADERS 16 /* of -H, and of one line */

/* What the options said. */
struct gy_request_from {
    const char *recipe; /* NULL: keys are keys */
    const char *header[GY_REQUEST_HEADERS];
    unsigned headers;
};

/* For option tables: takes one -H into a struct gy_request_from. */
int gy_request_header(void *into, const char *value);

/* Rows for a command's option table; `member` of `type` is a struct gy_request_from. */
#define GY_REQUEST_OPTIONS(type, member)                                               \
    {0,           "key",                                                               \
     "RECIPE",    "keys are URLs, and RECIPE makes the key: 'host+path+query(sort)'",  \
     GY_OPT_TEXT, offsetof(type, member.recipe),                                       \
     0,           0,                                                                   \
     NULL},                                                                            \
    {                                                                                  \
        'H', "header", "LINE", "with --key: a header of every request, 'Name: value'", \
            GY_OPT_CALL, offsetof(type, member), 0, 0, gy_request_header               \
    }

struct gy_requests {
    const struct gy_request_from *from;
    gyre_recipe_t *recipe; /* NULL: keys are keys */
    bool made;             /* there were keys so far, and no mistake */
    uint32_t met;          /* bit i: some request had the recipe's header i; it has at most 32 */
};

/* GY_EXIT_OK, or GY_EXIT_USAGE after reporting what is wrong with the recipe or a header. */
int gy_requests_init(struct gy_requests *r, const struct gy_request_from *from);
/* Warns of each header in the recipe that no request had: then it does nothing, and is perhaps
 * misspelt or was forgotten. */
void gy_requests_fini(struct gy_requests *r);

/* Appends the key of a line to `to`; *url is the line's URL. NULL, or what is wrong with the line.
 * `to` may have failed. */
const char *gy_request_key(struct gy_requests *r, struct gy_slice line, struct gy_buf *to,
                           struct gy_slice *url);

#endif
