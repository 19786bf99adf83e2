/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.c - see secret.h. Whatever a topology names is opened without waiting and must be a plain
 * file: a pipe or a terminal would block its reader, and a topology may come from anybody.
 */
#include "formats/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BYTES = 16, DIGITS = 32, ROOM = DIGITS + 3 };

#define HOW_TO_MAKE "; make one with: openssl rand -hex 16"

static int digit(unsigned char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* False unless text is 16 bytes, or 32 digits with or without a line end. */
static bool decode(const unsigned char *text, size_t n, unsigned char secret[BYTES])
{
    if (n == BYTES) {
        memcpy(secret, text, BYTES);
        return true;
    }
    size_t end = n > DIGITS && text[DIGITS] == '\r' ? DIGITS + 1 : DIGITS;
    if (n < DIGITS || (n > DIGITS && (n != end + 1 || text[end] != '\n'))) {
        return false;
    }
    for (size_t i = 0; i < BYTES; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        secret[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

static int read_file(int fd, const char *path, unsigned char text[ROOM], size_t *n, bool *exposed,
                     char why[GY_SECRET_WHY])
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        snprintf(why, GY_SECRET_WHY, "secret_file %s: not a plain file", path);
        return GYRE_IO;
    }
    *exposed = (st.st_mode & (S_IROTH | S_IWOTH)) != 0;
    ssize_t got;
    for (*n = 0; (got = read(fd, text + *n, ROOM - *n)) > 0;) {
        *n += (size_t)got;
    }
    if (got < 0) {
        snprintf(why, GY_SECRET_WHY, "secret_file %s: cannot be read: %s", path, strerror(errno));
        return GYRE_IO;
    }
    return GYRE_OK;
}

int gy_secret_load(const char *path, gyre_topology_t *t, bool *exposed, char why[GY_SECRET_WHY])
{
    static const unsigned char zeros[BYTES];
    unsigned char text[ROOM], secret[BYTES] = {0};
    gyre_error_t e = {0};
    size_t n = 0;
    *exposed = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        snprintf(why, GY_SECRET_WHY, "secret_file %s: cannot be opened: %s", path, strerror(errno));
        return GYRE_IO;
    }
    int rc = read_file(fd, path, text, &n, exposed, why);
    close(fd);
    if (!rc && !decode(text, n, secret)) {
        rc = GYRE_SYNTAX;
        snprintf(why, GY_SECRET_WHY,
                 "secret_file %s: neither 16 bytes nor 32 hexadecimal digits" HOW_TO_MAKE, path);
    } else if (!rc && memcmp(secret, zeros, BYTES) == 0) {
        rc = GYRE_SYNTAX;
        snprintf(why, GY_SECRET_WHY, "secret_file %s: all zeros, which is no secret" HOW_TO_MAKE,
                 path);
    } else if (!rc && (rc = gyre_topology_set_secret(t, secret, BYTES, &e)) != GYRE_OK) {
        snprintf(why, GY_SECRET_WHY, "secret_file %s: %.300s", path, e.message);
    }
    explicit_bzero(text, sizeof text);
    explicit_bzero(secret, sizeof secret);
    return rc;
}
