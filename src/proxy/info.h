/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.h - what the proxy tells about itself: INFO, COMMAND, and JSON for the admin server.
 * Threads: the replies are the worker's; gy_proxy_info (proxy.h) takes the proxy's lock and is for
 * any thread.
 */
#ifndef GY_PROXY_INFO_H
#define GY_PROXY_INFO_H

#include "proxy/client.h"

/* The version whose command table we carry; clients look at it to know what they may send. */
#define GY_REDIS_VERSION "7.0.15"

void gy_info_reply(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out);

void gy_command_reply(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out);
void gy_command_count_reply(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out);
void gy_command_docs_reply(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out);
void gy_command_getkeys_reply(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out);
void gy_command_info_reply(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out);
void gy_command_list_reply(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out);

#endif
