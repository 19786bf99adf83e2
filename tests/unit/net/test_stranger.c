/* SPDX-License-Identifier: Apache-2.0 */
/* test_stranger.c - the blocking client against peers that are no Redis: cut, lie, or say nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/sync.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char dir[64];

static int up(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/gyre-stranger-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int down(void **state)
{
    char path[80];
    (void)state;
    snprintf(path, sizeof path, "%s/liar", dir);
    unlink(path);
    return rmdir(dir);
}

struct liar {
    int fd;
    const char *says;
    bool drips; /* then a byte at a time */
};

static void *lie(void *arg)
{
    struct liar *l = arg;
    char in[4096];
    int c = accept(l->fd, NULL, NULL);
    if (c >= 0) {
        (void)!read(c, in, sizeof in);
        (void)!write(c, l->says, strlen(l->says));
        struct pollfd gone = {.fd = c, .events = POLLRDHUP};
        for (int i = 0; i < 15 && poll(&gone, 1, 20) == 0; i++) {
            (void)!(l->drips ? send(c, "x", 1, MSG_NOSIGNAL) : 0);
        }
        close(c);
    }
    return NULL;
}

static void stranger_says(const char *text, bool drips, size_t most, int code, const char *why)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    struct gy_addr a = {.is_unix = true};
    struct gy_sync_opts o = {
        .connect_ms = 500, .timeout_ms = 150, .most = most, .whole_ms = most ? 100 : 0};
    struct gy_sync *s;
    gyre_error_t e;
    pthread_t t;
    snprintf(a.host, sizeof a.host, "%s/liar", dir);
    memcpy(un.sun_path, a.host, strlen(a.host) + 1);
    struct liar l = {.fd = socket(AF_UNIX, SOCK_STREAM, 0), .says = text, .drips = drips};
    unlink(a.host);
    assert_int_equal(bind(l.fd, (struct sockaddr *)&un, sizeof un), 0);
    assert_int_equal(listen(l.fd, 1), 0);
    pthread_create(&t, NULL, lie, &l);
    assert_int_equal(gy_sync_connect(&a, &o, &s, &e), code);
    if (!strstr(e.message, why)) {
        fail_msg("'%s' does not say '%s'", e.message, why);
    }
    pthread_join(t, NULL);
    close(l.fd);
}

static void liar_says(const char *text, int code, const char *why)
{
    stranger_says(text, false, 0, code, why);
}

/* Who is asked by URL may be anybody: neither memory nor time is his to take. */
static void test_strangers(void **state)
{
    (void)state;
    char many[10 + 4 * 40] = "*40\r\n";
    for (int i = 0; i < 40; i++) {
        strcat(many, ":1\r\n");
    }
    stranger_says(":12\r\n$1073741824\r\nab", false, 1000, GYRE_IO, "more than 0 MB");
    stranger_says(many, false, 1000, GYRE_IO, "more than 15 parts");
    stranger_says("+twenty bytes of a line", false, 10, GYRE_IO, "more than 0 MB");
    stranger_says(":12\r\n$100\r\n", true, 1000, GYRE_TIMEOUT, "not whole within 100 ms");
    stranger_says(":12\r\n$2\r\nab\r\n", false, 1000, GYRE_REFUSED, "no run_id");
}

static void test_liars(void **state)
{
    (void)state;
    liar_says("HTTP/1.1 400 Bad Request\r\n\r\n", GYRE_IO, "not RESP: 'HTTP/1.1 400");
    liar_says("\x15\x03\x01", GYRE_IO, "is this a TLS port?");
    liar_says("", GYRE_TIMEOUT, "no answer within 150 ms");
    liar_says(":12\r\n$5\r\nab", GYRE_TIMEOUT, "no answer");
    liar_says(":12\r\n$2\r\nab\r\n", GYRE_REFUSED, "no run_id");
    liar_says("-NOAUTH Authentication required.\r\n", GYRE_REFUSED, "NOAUTH");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_liars),
    };
    return cmocka_run_group_tests(tests, up, down);
}
