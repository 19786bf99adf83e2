/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_client.h - asks a running proxy's admin over HTTP: finds its address, sends one request at a
 * time, turns its error answers into gyre_error_t. docs/admin.md has the paths. Threads: one thread
 * an object.
 */
#ifndef GY_CLI_MOVE_CLIENT_H
#define GY_CLI_MOVE_CLIENT_H

#include "base/buf.h"
#include "gyre.h"

#include <signal.h>

struct gy_client {
    void *curl;                        /* CURL *, kept so that the connection is */
    void *headers;                     /* struct curl_slist * */
    char *address;                     /* as given, for messages */
    char *base;                        /* "http://host:port" */
    bool reached;                      /* the last request got an answer, be it an error */
    const volatile sig_atomic_t *stop; /* not NULL: a request in flight is dropped when it is set */
    struct gy_buf body;                /* of the last answer */
};

/* Where the admin is: `admin` (--admin), else proxy.admin of the topology file `config`, else
 * GYRE_ADMIN. malloc'ed. Errors: INVALID when none says, those of the file. */
GYRE_NODISCARD int gy_client_find(const char *admin, const char *config, char **address,
                                  gyre_error_t *e);
/* Takes address over. Errors: INVALID, NOMEM. */
GYRE_NODISCARD int gy_client_init(struct gy_client *c, char *address, gyre_error_t *e);
void gy_client_fini(struct gy_client *c);

/* GET without a body, POST with one ("" for none). On success c->body is the answer. Errors: IO or
 * TIMEOUT with c->reached false when there was no answer (the message names the address and says
 * how to give another); otherwise the proxy's own code and message. */
GYRE_NODISCARD int gy_client_get(struct gy_client *c, const char *path, gyre_error_t *e);
GYRE_NODISCARD int gy_client_post(struct gy_client *c, const char *path, const char *body,
                                  gyre_error_t *e);

/* The exit status an error of gy_client_* means: 1 the proxy says no, 2 bad input, 3 no answer. */
int gy_client_exit(const struct gy_client *c, int err);

#endif
