/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_in.h - libyaml's events with everything a topology has no use for refused where it stands:
 * anchors and aliases (so no text can expand), tags, a second document. Errors carry the mark.
 *
 * Invariant: after gy_yaml_open and every gy_yaml_next the current event is y->ev. A reader is
 * called with the first event of its value current and leaves with the last one current. Threads:
 * one thread an object.
 */
#ifndef GY_FORMATS_YAML_IN_H
#define GY_FORMATS_YAML_IN_H

#include "formats/mark.h"

#include <yaml.h>

struct gy_yaml {
    yaml_parser_t parser;
    yaml_event_t ev;
    bool held; /* ev holds something to be deleted */
    const char *file;
    struct gy_slice text;
    gyre_error_t *e; /* may be NULL */
};

/* Stands on the first event of the document's value. Close in every case. */
GYRE_NODISCARD int gy_yaml_open(struct gy_yaml *y, const char *text, size_t len, const char *file,
                                gyre_error_t *e);
void gy_yaml_close(struct gy_yaml *y);
GYRE_NODISCARD int gy_yaml_next(struct gy_yaml *y);
/* Nothing may follow the document's value. */
GYRE_NODISCARD int gy_yaml_end(struct gy_yaml *y);

struct gy_mark gy_yaml_mark(const struct gy_yaml *y);
struct gy_slice gy_yaml_scalar(const struct gy_yaml *y); /* the current event is a scalar */
bool gy_yaml_is_null(const struct gy_yaml *y);           /* nothing, ~ or null, unquoted */
const char *gy_yaml_kind(const struct gy_yaml *y);       /* "a list", for messages */

/* Sets file, line, column, code and message; returns code. */
int gy_yaml_fail(struct gy_yaml *y, int code, struct gy_mark at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for a message the library wrote into y->e already: adds where it stands. */
int gy_yaml_place(struct gy_yaml *y, int code, struct gy_mark at);

#endif
