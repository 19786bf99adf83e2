/* SPDX-License-Identifier: Apache-2.0 */
/* arcs.c - see arcs.h. */
#include "cli/arcs.h"
#include "cli/table.h"

#include <stdio.h>

const char *gy_position_text(const gyre_map_t *m, uint64_t hi, uint64_t lo, char out[GY_POSITION])
{
    int digits = (int)(gyre_map_position_bits(m) + 3) / 4;
    if (gyre_map_slots(m)) {
        snprintf(out, GY_POSITION, "%llu", (unsigned long long)lo);
    } else if (digits > 16) {
        snprintf(out, GY_POSITION, "0x%0*llx%016llx", digits - 16, (unsigned long long)hi,
                 (unsigned long long)lo);
    } else {
        snprintf(out, GY_POSITION, "0x%0*llx", digits, (unsigned long long)lo);
    }
    return out;
}

void gy_position_json(const gyre_map_t *m, const char *key, uint64_t hi, uint64_t lo,
                      struct gy_json *j)
{
    char text[GY_POSITION];
    if (gyre_map_slots(m)) {
        gy_json_kuint(j, key, lo);
    } else {
        gy_json_kstring(j, key, gy_position_text(m, hi, lo, text));
    }
}

void gy_arcs_text(const gyre_diff_t *d, const gyre_map_t *from, const gyre_map_t *to,
                  struct gy_buf *out)
{
    const char *heads[] = {">FIRST", ">LAST", ">SHARE", "FROM", "TO", NULL};
    struct gyre_cursor at = {{0}};
    struct gyre_arc a = {.size = sizeof a};
    char first[GY_POSITION], last[GY_POSITION];
    struct gy_table t;
    gy_table_init(&t, heads);
    while (gyre_diff_next(d, &at, &a)) {
        gy_table_cell(&t, gy_position_text(from, a.first_hi, a.first_lo, first));
        gy_table_cell(&t, gy_position_text(from, a.last_hi, a.last_lo, last));
        gy_table_format(&t, "%.6f %%", 100 * a.share);
        gy_table_cell(&t, gyre_map_node(from, a.from)->name);
        gy_table_cell(&t, gyre_map_node(to, a.to)->name);
    }
    gy_table_end(&t, out);
}

void gy_arcs_json(const gyre_diff_t *d, const gyre_map_t *from, const gyre_map_t *to,
                  struct gy_json *j)
{
    struct gyre_cursor at = {{0}};
    struct gyre_arc a = {.size = sizeof a};
    gy_json_key(j, "arcs");
    gy_json_array(j);
    while (gyre_diff_next(d, &at, &a)) {
        gy_json_object(j);
        gy_position_json(from, "first", a.first_hi, a.first_lo, j);
        gy_position_json(from, "last", a.last_hi, a.last_lo, j);
        gy_json_kdouble(j, "share", a.share);
        gy_json_kstring(j, "from", gyre_map_node(from, a.from)->name);
        gy_json_kstring(j, "to", gyre_map_node(to, a.to)->name);
        gy_json_object_end(j);
    }
    gy_json_array_end(j);
}
