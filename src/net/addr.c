/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addr.c - see addr.h. A bare IPv6 address is refused rather than guessed at: in "::1:6379" nobody
 * can tell where the host ends. Threads: any; getaddrinfo is the only thing here that may block.
 */
#include "net/addr.h"

#include "base/num.h"
#include "base/utf8.h"
#include "lib/error.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

static int bad(gyre_error_t *e, const char *text, const char *why)
{
    char quoted[GY_QUOTE];
    return gy_fail(e, GYRE_INVALID, "address %s: %s", gy_utf8_quote(quoted, gy_str(text)), why);
}

static int parse_unix(const char *text, struct gy_addr *out, gyre_error_t *e)
{
    const char *path = text + strlen("unix:");
    size_t len = strlen(path);
    if (len == 0) {
        return bad(e, text, "the path of the socket is missing");
    }
    if (path[len - 1] == '/') {
        return bad(e, text, "the path of the socket ends in '/', as a folder's does");
    }
    if (len >= sizeof((struct sockaddr_un *)NULL)->sun_path) {
        return bad(e, text, "the path of a socket may have at most 107 bytes");
    }
    out->is_unix = true;
    memcpy(out->host, path, len + 1);
    return GYRE_OK;
}

/* Cuts text into host and port; port is NULL when there is none. Returns the reason when it
 * cannot. */
static const char *cut(const char *text, const char **host, size_t *host_len, const char **port)
{
    const char *colon = strchr(text, ':');
    *port = NULL;
    if (text[0] == '[') {
        const char *end = strchr(text, ']');
        if (!end) {
            return "']' is missing";
        }
        if (end[1] != '\0' && end[1] != ':') {
            return "after ']' comes ':' and the port";
        }
        *host = text + 1;
        *host_len = (size_t)(end - text) - 1;
        *port = end[1] ? end + 2 : NULL;
    } else if (colon && strchr(colon + 1, ':')) {
        return "write an IPv6 address in brackets: \"[::1]:6379\"";
    } else {
        *host = text;
        *host_len = colon ? (size_t)(colon - text) : strlen(text);
        *port = colon ? colon + 1 : NULL;
    }
    return *host_len ? NULL : "the host is missing";
}

int gy_addr_parse(const char *text, uint16_t default_port, struct gy_addr *out, gyre_error_t *e)
{
    const char *host, *port;
    size_t len;
    memset(out, 0, sizeof *out);
    if (!text || !*text) {
        return gy_fail(e, GYRE_INVALID, "the address is empty");
    }
    if (strncmp(text, "unix:", strlen("unix:")) == 0) {
        return parse_unix(text, out, e);
    }
    const char *why = cut(text, &host, &len, &port);
    if (why) {
        return bad(e, text, why);
    }
    if (len >= sizeof out->host) {
        return bad(e, text, "a host may have at most 255 bytes");
    }
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)host[i] <= ' ' || host[i] == 0x7f) {
            return bad(e, text, "a host has no blanks or control characters");
        }
    }
    uint64_t number = default_port;
    if (port && (gy_num_uint(gy_str(port), &number) != GYRE_OK || number > UINT16_MAX)) {
        return bad(e, text, "the port is not a number from 1 to 65535");
    }
    if (number == 0 && !port) {
        return bad(e, text, "the port is missing");
    }
    memcpy(out->host, host, len);
    out->port = (uint16_t)number;
    return GYRE_OK;
}

int gy_addr_resolve(const struct gy_addr *a, struct sockaddr_storage *out, socklen_t *len,
                    gyre_error_t *e)
{
    memset(out, 0, sizeof *out);
    if (a->is_unix) {
        struct sockaddr_un un = {.sun_family = AF_UNIX};
        memcpy(un.sun_path, a->host, strlen(a->host) + 1);
        memcpy(out, &un, sizeof un);
        *len = sizeof un;
        return GYRE_OK;
    }
    char port[8];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *list = NULL;
    snprintf(port, sizeof port, "%u", a->port);
    int rc = getaddrinfo(a->host, port, &hints, &list);
    if (rc != 0) {
        char quoted[GY_QUOTE];
        return gy_fail(e, GYRE_IO, "cannot resolve %s: %s", gy_utf8_quote(quoted, gy_str(a->host)),
                       gai_strerror(rc));
    }
    memcpy(out, list->ai_addr, list->ai_addrlen);
    *len = list->ai_addrlen;
    freeaddrinfo(list);
    return GYRE_OK;
}

bool gy_addr_literal(const struct gy_addr *a, struct sockaddr_storage *out)
{
    struct gy_addr known = *a;
    struct in6_addr six;
    struct in_addr four;
    socklen_t len;
    if (!a->is_unix && strcmp(a->host, "localhost") == 0) {
        memcpy(known.host, "127.0.0.1", sizeof "127.0.0.1");
    }
    return (a->is_unix || inet_pton(AF_INET, known.host, &four) == 1 ||
            inet_pton(AF_INET6, known.host, &six) == 1) &&
           gy_addr_resolve(&known, out, &len, NULL) == GYRE_OK;
}
