/* SPDX-License-Identifier: Apache-2.0 */
/* talk.c - see talk.h. */
#include "talk.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

int talk_dial(const char *address)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    struct sockaddr_in in = {.sin_family = AF_INET};
    bool is_unix = strncmp(address, "unix:", 5) == 0;
    if (is_unix) {
        snprintf(un.sun_path, sizeof un.sun_path, "%s", address + 5);
    } else {
        in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        in.sin_port = htons((uint16_t)strtoul(strrchr(address, ':') + 1, NULL, 10));
    }
    int fd = socket(is_unix ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval limit = {.tv_sec = 10};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    int rc = is_unix ? connect(fd, (struct sockaddr *)&un, sizeof un)
                     : connect(fd, (struct sockaddr *)&in, sizeof in);
    if (rc != 0) {
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

int talk(const char *address, const char *text, size_t len, struct gy_buf *all, struct gy_buf *body)
{
    struct gy_buf answer = {0};
    char chunk[4096];
    int fd = talk_dial(address), status = 0;
    if (fd < 0) {
        return -1;
    }
    for (size_t sent = 0; sent < len;) {
        ssize_t n = send(fd, text + sent, len - sent, MSG_NOSIGNAL);
        if (n <= 0) {
            break; /* refused in the middle: the answer says why */
        }
        sent += (size_t)n;
    }
    for (ssize_t n; (n = recv(fd, chunk, sizeof chunk, 0)) > 0;) {
        gy_buf_add(&answer, chunk, (size_t)n);
    }
    close(fd);
    const char *got = gy_buf_cstr(&answer), *end = strstr(got, "\r\n\r\n");
    if (strncmp(got, "HTTP/1.1 ", 9) == 0) {
        status = atoi(got + 9);
    }
    if (body) {
        gy_buf_reset(body);
        gy_buf_puts(body, end ? end + 4 : "");
    }
    if (all) {
        gy_buf_reset(all);
        gy_buf_puts(all, got);
    }
    gy_buf_fini(&answer);
    return status;
}

int talk_http(const char *address, const char *method, const char *path, const char *body,
              struct gy_buf *answer)
{
    struct gy_buf text = {0};
    gy_buf_printf(&text, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Gyre: 1\r\nConnection: close\r\n",
                  method, path);
    if (body) {
        gy_buf_printf(&text, "Content-Length: %zu\r\n", strlen(body));
    }
    gy_buf_printf(&text, "\r\n%s", body ? body : "");
    int status = talk(address, gy_buf_cstr(&text), gy_buf_size(&text), NULL, answer);
    gy_buf_fini(&text);
    return status;
}
