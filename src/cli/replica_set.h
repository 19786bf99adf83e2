/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replica_set.h - a master of a Redis Cluster and its replicas, which alone have its slots: who
 * they are, and who takes over. Threads: any.
 */
#ifndef GY_CLI_REPLICA_SET_H
#define GY_CLI_REPLICA_SET_H

#include "cli/down.h"

/* A table of them; down NULL: only the file says who is down. */
void gy_replica_set_text(const struct gy_pool *p, const struct gy_server *master,
                         const struct gy_downed *down, struct gy_buf *out);
/* One line: who takes over when the master is down. */
void gy_standby_text(const struct gy_pool *p, const struct gy_server *master, struct gy_buf *out);

#endif
