/* SPDX-License-Identifier: Apache-2.0 */
/* parts.c - see parts.h. Open addressing, at most half full. */
#include "cli/parts.h"

#include <stdlib.h>

static struct gy_part *place_of(struct gy_part *table, size_t room, uint64_t print)
{
    size_t i = (size_t)print & (room - 1);
    while (table[i].print && table[i].print != print) {
        i = (i + 1) & (room - 1);
    }
    return &table[i];
}

static int grow(struct gy_parts *p)
{
    size_t room = p->room ? p->room * 2 : 1024;
    struct gy_part *table = calloc(room, sizeof *table);
    if (!table) {
        return GYRE_NOMEM;
    }
    for (size_t i = 0; i < p->room; i++) {
        if (p->table[i].print) {
            *place_of(table, room, p->table[i].print) = p->table[i];
        }
    }
    free(p->table);
    p->table = table;
    p->room = room;
    return GYRE_OK;
}

int gy_parts_add(struct gy_parts *p, const gyre_map_t *m, const void *key, size_t len,
                 uint32_t node)
{
    const void *part;
    size_t n;
    gyre_map_hash_input(m, key, len, &part, &n);
    uint64_t print = gyre_hash_xxh3(part, n) | 1;
    uint64_t whole = n == len ? print : gyre_hash_xxh3(key, len);
    if (p->used * 2 >= p->room && p->used < GY_PARTS_MOST && grow(p)) {
        return GYRE_NOMEM;
    }
    struct gy_part *at = place_of(p->table, p->room, print);
    if (at->print) {
        at->count++;
        at->tag |= at->key != whole;
        return GYRE_OK;
    }
    if (p->used >= GY_PARTS_MOST) {
        return GYRE_OK;
    }
    size_t shown = n < GY_PART_SHOWN ? n : GY_PART_SHOWN;
    *at = (struct gy_part){print, whole, 1, node, (uint32_t)shown, gy_buf_size(&p->texts), false};
    gy_buf_add(&p->texts, part, shown);
    p->used++;
    return p->texts.failed ? GYRE_NOMEM : GYRE_OK;
}

void gy_parts_fini(struct gy_parts *p)
{
    free(p->table);
    gy_buf_fini(&p->texts);
    *p = (struct gy_parts){0};
}

struct gy_slice gy_part_text(const struct gy_parts *p, const struct gy_part *part)
{
    return (struct gy_slice){gy_buf_head(&p->texts) + part->text, part->len};
}
