/* SPDX-License-Identifier: Apache-2.0 */
/* replica_set.c - see replica_set.h. */
#include "cli/replica_set.h"
#include "cli/table.h"
#include "cli/term.h"

void gy_replica_set_text(const struct gy_pool *p, const struct gy_server *master,
                         const struct gy_downed *down, struct gy_buf *out)
{
    static const char *const heads[] = {"SERVER", "ADDRESS", "ZONE", "ROLE", "STATE", NULL};
    struct gy_table t;
    gy_buf_putc(out, '\n');
    gy_table_init(&t, heads);
    for (size_t i = 0; i < p->server_count; i++) {
        const struct gy_server *s = &p->servers[i];
        bool replica = s->replica_of && master->id && strcmp(s->replica_of, master->id) == 0;
        if (s != master && !replica) {
            continue;
        }
        bool away = s->states & (GY_STATE_DOWN | GY_STATE_SUSPECT | GY_STATE_NO_ADDRESS);
        gy_table_cell(&t, s->name);
        gy_table_cell(&t, s->address);
        gy_table_cell(&t, s->zone);
        gy_table_cell(&t, gy_role_name(s->role));
        gy_table_cell(&t, away || (down && down->server[i]) ? "down" : "up");
    }
    gy_table_end(&t, out);
}

void gy_standby_text(const struct gy_pool *p, const struct gy_server *master, struct gy_buf *out)
{
    const struct gy_server *s = gy_standby(p, master, NULL);
    if (s) {
        gy_term_encode(out, gy_str(s->name));
        gy_buf_puts(out, "  by failover: it is a replica\n");
    } else {
        gy_buf_puts(out, "nobody: it has no replica that is up\n");
    }
}
