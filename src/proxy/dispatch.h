/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch.h - from a parsed command to who answers it: the node of its key, several nodes, or the
 * proxy itself. Threads: the worker's.
 */
#ifndef GY_PROXY_DISPATCH_H
#define GY_PROXY_DISPATCH_H

#include "move/view.h"
#include "proxy/client.h"
#include "wire/command.h"

/* raw: the bytes the request took from the input; forwarded as they are where they are RESP. Always
 * leads to one answer; but false: not now, c->behind says which node is to catch up first. */
bool gy_dispatch(struct gy_client *c, const struct gy_request *rq, struct gy_slice raw);

/* Where a route goes raw; false: the unit is on the move and takes a task. */
bool gy_route_settled(const struct gy_route *r, uint32_t *server);

/* split.c: MGET MSET DEL UNLINK EXISTS TOUCH over several nodes. */
bool gy_split(struct gy_client *c, const struct gy_command *cmd, const struct gy_request *rq,
              const uint32_t *pos, uint32_t nkeys);
/* local.c: answered by the proxy. */
void gy_local(struct gy_client *c, const struct gy_command *cmd, const struct gy_request *rq);

#endif
