/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_status.h - the JSON of GET /v1/move as a struct, and as text for people: one line of
 * progress or the whole table. Pure; one thread an object.
 */
#ifndef GY_CLI_MOVE_STATUS_H
#define GY_CLI_MOVE_STATUS_H

#include "base/buf.h"
#include "gyre.h"
#include "move/unit.h"

struct gy_move_status {
    void *root; /* json_t *: the strings below live in it */
    const char *state;
    const char *last_error; /* NULL: none */
    const char *warning;    /* the same */
    uint64_t version;       /* of the topology that serves */
    uint64_t epoch, from_version, to_version;
    uint64_t units_total, units[GY_UNIT_STATE_COUNT];
    uint64_t keys_moved, keys_on_access, keys_scanned, keys_estimate;
    uint64_t bytes;
    uint64_t keys_limit, bytes_limit; /* a second; 0: none */
    uint64_t longest_hold_ms;
    double keys_per_s, bytes_per_s;
    double eta_s; /* negative: not known */
    double elapsed_s;
    double moved, minimum, ratio; /* the plan's; ratio 0: not told */
};

/* What is missing is 0; what is of the wrong type is SYNTAX, as is text that is not such JSON. */
GYRE_NODISCARD int gy_move_status_parse(const char *text, size_t len, struct gy_move_status *out,
                                        gyre_error_t *e);
void gy_move_status_fini(struct gy_move_status *s);

bool gy_move_idle(const struct gy_move_status *s); /* nothing is under way any more */
bool gy_move_backward(const struct gy_move_status *s);
/* Units that have arrived: at the destination, or going backward at the source again. */
uint64_t gy_move_units_done(const struct gy_move_status *s);

/* "moving  37/160 units  12034/40100 keys ... held 3 ms" (the longest a write had to wait), without
 * a line end. */
void gy_move_line(const struct gy_move_status *s, struct gy_buf *out);
/* "NAME  SIZE" of the i-th big key; false: there are not as many. */
bool gy_move_bigkey(const struct gy_move_status *s, size_t i, struct gy_buf *out);
/* The table of `gyre move status`. */
void gy_move_table(const struct gy_move_status *s, struct gy_buf *out);

/* Text of others (key names, messages) without what a terminal would obey: control bytes become
 * \xNN. */
void gy_move_puts_clean(struct gy_buf *out, const char *text);
void gy_move_put_bytes(struct gy_buf *out, double bytes); /* "52.3 MB", powers of 1024 */

#endif
