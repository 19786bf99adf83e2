/* SPDX-License-Identifier: Apache-2.0 */
/* zone_list.c - see zone_list.h. */
#include "formats/zone_list.h"
#include "base/utf8.h"
#include "formats/address.h"
#include "formats/lines.h"

#include <stdlib.h>

#define ZONE_MAX 1024

/* Does the line's first word speak of this server? whole: by its whole address. */
static bool speaks_of(const struct gy_server *s, struct gy_slice word, bool whole)
{
    return s->address && (whole ? gy_slice_eq(gy_str(s->address), word)
                                : gy_slice_eq(gy_address_host(s->address), word));
}

static int apply_line(const struct gy_lines *l, const char *file, struct gy_pool *p, bool whole,
                      bool *any, gyre_error_t *e)
{
    struct gy_slice rest = l->line, word, zone, more;
    char why[GY_ADDRESS_WHY], q[GY_QUOTE];
    bool known = false;
    if (!gy_word_next(&rest, &word) || word.p[0] == '#') {
        return GYRE_OK;
    }
    *any = true;
    if (!gy_word_next(&rest, &zone) || gy_word_next(&rest, &more) ||
        !gy_text_check(zone, ZONE_MAX, why)) {
        return gy_format_fail_at(e, GYRE_SYNTAX, file, gy_lines_mark(l, word),
                                 "a line is HOST ZONE, or HOST:PORT ZONE");
    }
    for (size_t i = 0; i < p->server_count; i++) {
        struct gy_server *s = &p->servers[i];
        known = known || speaks_of(s, word, true) || speaks_of(s, word, false);
        if (speaks_of(s, word, whole)) {
            char *copy = gy_slice_dup(zone);
            if (!copy) {
                return gy_format_fail(e, GYRE_NOMEM, file, "out of memory");
            }
            free(s->zone);
            s->zone = copy;
        }
    }
    return known ? GYRE_OK
                 : gy_format_fail_at(e, GYRE_UNKNOWN, file, gy_lines_mark(l, word),
                                     "no server is at %s", gy_utf8_quote(q, word));
}

int gy_zone_list_apply(struct gy_slice text, const char *file, struct gy_pool *p, gyre_error_t *e)
{
    int rc = GYRE_OK;
    bool any = false;
    for (int whole = 0; whole < 2; whole++) { /* hosts first, so that whole addresses win */
        for (struct gy_lines l = gy_lines_of(text); !rc && gy_lines_next(&l);) {
            rc = apply_line(&l, file, p, whole, &any, e);
        }
    }
    return rc || any ? rc
                     : gy_format_fail_at(e, GYRE_EMPTY, file, (struct gy_mark){1, 1},
                                         "there is no server's zone in it");
}
