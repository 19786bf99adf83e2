/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door.h - makes the admin's listening socket: a unix socket file that only its owner may open,
 * or TCP on loopback. Threads: one thread an object.
 */
#ifndef GY_ADMIN_DOOR_H
#define GY_ADMIN_DOOR_H

#include "gyre.h"

#include <sys/types.h>
#include <time.h>

struct gy_door {
    int fd;
    bool is_unix;
    char address[288]; /* as a client would write it */
    /* The socket file we made, so that only that one is removed. A number is given out again as
     * soon as a file is gone, hence the time. */
    dev_t dev;
    ino_t ino;
    struct timespec made;
};

/* Errors as gy_admin_start. */
GYRE_NODISCARD int gy_door_open(const char *address, struct gy_door *out, gyre_error_t *e);
/* What of that can be said without opening anything, nor asking a name server or a process. */
GYRE_NODISCARD int gy_door_check(const char *address, gyre_error_t *e);
/* Removes the socket file if it is still the one gy_door_open made; the fd is the caller's. */
void gy_door_unlink(const struct gy_door *d);

#endif
