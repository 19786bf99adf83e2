/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_http.c - the admin as a client meets it, over real sockets: paths, methods, refusals,
 * limits, and bytes that are no HTTP at all. The proxy behind it keeps no state, so a move is
 * refused here; test_steer.c has a real mover.
 */
#include "admin/admin.h"
#include "talk.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static struct gy_admin *admin;
static char address[64];

static void info(void *ctx, struct gy_buf *json)
{
    gy_buf_puts(json, ctx);
}

static char told[] = "{\"clients\": 3}";

static int start(void **state)
{
    struct gy_admin_ops ops = {.ctx = told, .info = info};
    gyre_error_t e = {0};
    if (gy_admin_start("127.0.0.1:0", &ops, &admin, &e) != GYRE_OK) {
        print_error("%s\n", e.message);
        return -1;
    }
    snprintf(address, sizeof address, "%s", gy_admin_address(admin));
    return 0;
}

static int stop(void **state)
{
    gy_admin_stop(admin);
    return talk_dial(address) >= 0; /* nobody may be left there */
}

static void assert_error(struct gy_buf *body, const char *code)
{
    json_t *root = json_loads(gy_buf_cstr(body), 0, NULL);
    const char *got = NULL, *message = NULL;
    assert_int_equal(json_unpack(root, "{s:{s:s,s:s}}", "error", "code", &got, "message", &message),
                     0);
    assert_string_equal(got, code);
    assert_true(message[0]);
    json_decref(root);
}

static void the_paths(void **state)
{
    static const struct {
        const char *method, *path, *body;
        int status;
        const char *code; /* NULL: not an error */
    } cases[] = {
        {"GET", "/healthz", NULL, 200, NULL},
        {"HEAD", "/healthz", NULL, 200, NULL},
        {"GET", "/v1/status", NULL, 200, NULL},
        {"GET", "/v1/move", NULL, 409, "REFUSED"},
        {"GET", "/v1/topology", NULL, 409, "REFUSED"},
        {"GET", "/v1/move/history", NULL, 409, "REFUSED"},
        {"POST", "/v1/move", "{}", 409, "REFUSED"},
        {"POST", "/v1/move/abort", "", 409, "REFUSED"},
        {"POST", "/v1/move/forget", "{}", 409, "REFUSED"},
        {"GET", "/v1/move/forget", NULL, 405, "METHOD"},
        {"POST", "/v1/status", "", 405, "METHOD"},
        {"DELETE", "/v1/move", NULL, 405, "METHOD"},
        {"PUT", "/v1/move", "{}", 405, "METHOD"},
        {"OPTIONS", "/v1/move", NULL, 405, "METHOD"},
        {"GET", "/v1/move/pause", NULL, 405, "METHOD"},
        {"GET", "/", NULL, 404, "NOT_FOUND"},
        {"GET", "/v1/move/", NULL, 404, "NOT_FOUND"},
        {"GET", "/v1/../healthz", NULL, 404, "NOT_FOUND"},
        {"GET", "/v1/move/history/x", NULL, 404, "NOT_FOUND"},
        {"BREW", "/coffee", NULL, 404, "NOT_FOUND"},
    };
    struct gy_buf body = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int got = talk_http(address, cases[i].method, cases[i].path, cases[i].body, &body);
        if (got != cases[i].status) {
            fail_msg("%s %s: %d %s", cases[i].method, cases[i].path, got, gy_buf_cstr(&body));
        }
        if (cases[i].code) {
            assert_error(&body, cases[i].code);
        }
    }
    assert_int_equal(talk_http(address, "GET", "/v1/status?x=1", NULL, &body), 200);
    assert_string_equal(gy_buf_cstr(&body), told);
    gy_buf_fini(&body);
}

static void not_allowed_says_what_is(void **state)
{
    static const char text[] =
        "DELETE /v1/move HTTP/1.1\r\nHost: [::1]:1\r\nConnection: close\r\n\r\n";
    struct gy_buf all = {0};
    assert_int_equal(talk(address, text, strlen(text), &all, NULL), 405);
    assert_non_null(strstr(gy_buf_cstr(&all), "Allow: GET, HEAD, POST\r\n"));
    assert_non_null(strstr(gy_buf_cstr(&all), "Cache-Control: no-store\r\n"));
    gy_buf_fini(&all);
}

/* A page in the operator's browser can send POSTs without X-Gyre, and, through a name of its own
 * that it points to 127.0.0.1, requests with that name as Host. */
static void a_web_page_is_kept_out(void **state)
{
    static const struct {
        const char *text;
        int status;
    } cases[] = {
        {"POST /v1/move/abort HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n", 403},
        {"POST /v1/move/abort HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Gyre: 0\r\nContent-Length: 0\r\n",
         403},
        {"GET /v1/status HTTP/1.1\r\nHost: evil.example\r\n", 403},
        {"GET /v1/status HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n", 403},
        {"GET /v1/status HTTP/1.1\r\nHost: localhost.evil.example:80\r\n", 403},
        {"GET /v1/status HTTP/1.1\r\nHost: \r\n", 403},
        {"GET /v1/status HTTP/1.0\r\n", 403},
        {"GET /v1/status HTTP/1.1\r\nHost: localhost:7380\r\n", 200},
        {"GET /v1/status HTTP/1.1\r\nHost: 127.0.0.1:7380\r\n", 200},
        {"GET /v1/status HTTP/1.1\r\nHost: [::1]:7380\r\n", 200},
    };
    struct gy_buf text = {0}, body = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gy_buf_reset(&text);
        gy_buf_printf(&text, "%sConnection: close\r\n\r\n", cases[i].text);
        int got = talk(address, gy_buf_cstr(&text), gy_buf_size(&text), NULL, &body);
        if (got != cases[i].status) {
            fail_msg("%s: %d", cases[i].text, got);
        }
        if (got == 403) {
            assert_error(&body, "FORBIDDEN");
        }
    }
    gy_buf_fini(&text);
    gy_buf_fini(&body);
}

static int post_sized(const char *path, const char *length, struct gy_buf *body)
{
    char text[256];
    snprintf(text, sizeof text,
             "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Gyre: 1\r\nContent-Length: %s\r\n"
             "Connection: close\r\n\r\n",
             path, length);
    return talk(address, text, strlen(text), NULL, body);
}

static void large_bodies_are_refused_unread(void **state)
{
    struct gy_buf body = {0};
    assert_int_equal(post_sized("/v1/move", "16777217", &body), 413);
    assert_error(&body, "TOO_LARGE");
    assert_int_equal(post_sized("/v1/move", "18446744073709551614", &body), 413);
    assert_int_equal(post_sized("/v1/move/pause", "4097", &body), 413);
    int got = post_sized("/v1/move", "99999999999999999999999", &body);
    assert_true(got == 413 || got == 400);
    assert_int_equal(post_sized("/v1/move", "-1", &body), 400);
    gy_buf_fini(&body);
}

/* Headers first, the body later, as many clients do: the refusal must still be read. */
static void a_refusal_waits_for_the_body(void **state)
{
    static const char *const heads[] = {
        "POST /v1/move HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        "POST /v1/nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Gyre: 1\r\n",
        "PUT /v1/move HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Gyre: 1\r\n",
    };
    static const int wanted[] = {403, 404, 405};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        struct gy_buf text = {0};
        char answer[64] = "";
        int fd = talk_dial(address);
        assert_true(fd >= 0);
        gy_buf_printf(&text, "%sContent-Length: 200000\r\nConnection: close\r\n\r\n", heads[i]);
        assert_true(write(fd, gy_buf_head(&text), gy_buf_size(&text)) > 0);
        usleep(20000);
        gy_buf_reset(&text);
        gy_buf_printf(&text, "%0200000d", 0);
        assert_int_equal(send(fd, gy_buf_head(&text), gy_buf_size(&text), MSG_NOSIGNAL), 200000);
        assert_true(recv(fd, answer, sizeof answer - 1, MSG_WAITALL) > 12);
        assert_int_equal(atoi(answer + 9), wanted[i]);
        close(fd);
        gy_buf_fini(&text);
    }
}

/* Chunked, a body does not say how long it will be. */
static void an_endless_body_is_cut_off(void **state)
{
    static const char head[] = "POST /v1/move/pause HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Gyre: 1\r\n"
                               "Transfer-Encoding: chunked\r\n\r\n";
    struct gy_buf text = {0};
    gy_buf_puts(&text, head);
    for (int i = 0; i < 2000; i++) {
        gy_buf_printf(&text, "400\r\n%01024d\r\n", i);
    }
    assert_true(talk(address, gy_buf_cstr(&text), gy_buf_size(&text), NULL, NULL) <= 0);
    gy_buf_fini(&text);
}

static void what_is_no_http_is_answered_or_cut_off(void **state)
{
    static const char *const texts[] = {
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET /healthz\r\n\r\n",
        "*1\r\n$4\r\nPING\r\n",
        "GET /healthz HTTP/9.9\r\nHost: 127.0.0.1\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        int fd = talk_dial(address);
        assert_true(fd >= 0);
        assert_true(write(fd, texts[i], strlen(texts[i])) > 0);
        close(fd); /* in the middle of it */
    }
    /* A header that never ends. */
    struct gy_buf text = {0};
    gy_buf_puts(&text, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ");
    for (int i = 0; i < 100000; i++) {
        gy_buf_putc(&text, 'x');
    }
    int got = talk(address, gy_buf_cstr(&text), gy_buf_size(&text), NULL, NULL);
    assert_true(got == 0 || got == 400 || got == 413 || got == 431);
    gy_buf_reset(&text);
    assert_int_equal(talk_http(address, "GET", "/healthz", NULL, &text), 200);
    gy_buf_fini(&text);
}

/* docs/admin.md, Errors: what is answered before the request is ours has the status, and no JSON.
 */
static void what_is_not_whole_http_has_a_status_only(void **state)
{
    static const struct {
        const char *text;
        size_t padding; /* of x, before the end of the head */
        int status;     /* 0: closed */
    } cases[] = {
        {"GET", 0, 0},
        {"*1\r\n$4\r\nPING", 0, 0},
        {"GET /healthz", 0, 400},
        {"GET /healthz HTTP/9.9\r\nHost: 127.0.0.1", 0, 505},
        {"GET /healthz HTTP/1.1\r\nno colon\r\nHost: 127.0.0.1", 0, 400},
        {"GET /healthz HTTP/1.1\r\nX: ", 40000, 431},
        {"GET /", 40000, 414},
        {"POST /v1/move HTTP/1.1\r\nContent-Length: -1", 0, 400},
        {"POST /v1/move HTTP/1.1\r\nContent-Length: 99999999999999999999999", 0, 413},
        {"POST /v1/move HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Gyre: 1\r\nTransfer-Encoding: "
         "chunked\r\n\r\nzz",
         0, 400},
    };
    struct gy_buf text = {0}, body = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gy_buf_reset(&text);
        gy_buf_puts(&text, cases[i].text);
        for (size_t k = 0; k < cases[i].padding; k++) {
            gy_buf_putc(&text, 'x');
        }
        gy_buf_puts(&text, "\r\n\r\n");
        int got = talk(address, gy_buf_cstr(&text), gy_buf_size(&text), NULL, &body);
        if (got != cases[i].status) {
            fail_msg("%s: %d", cases[i].text, got);
        }
        assert_null(json_loads(gy_buf_cstr(&body), 0, NULL));
        assert_int_equal(talk_http(address, "GET", "/healthz", NULL, &body), 200);
    }
    gy_buf_fini(&text);
    gy_buf_fini(&body);
}

static void silent_connections_do_not_keep_others_out(void **state)
{
    /* Nothing, half a head, half a body: 100 of each, where 64 may be. */
    static const char *const halves[] = {
        "", "GET /healthz HT",
        "POST /v1/move HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Gyre: 1\r\nContent-Length: 100\r\n\r\n{"};
    int fds[100];
    struct gy_buf body = {0};
    for (size_t k = 0; k < sizeof halves / sizeof *halves; k++) {
        time_t start = time(NULL);
        for (size_t i = 0; i < 100; i++) {
            fds[i] = talk_dial(address);
            assert_true(fds[i] >= 0);
            assert_int_equal(write(fds[i], halves[k], strlen(halves[k])), strlen(halves[k]));
        }
        assert_int_equal(talk_http(address, "GET", "/healthz", NULL, &body), 200);
        assert_true(time(NULL) - start <= 3); /* not one of the time-outs */
        for (size_t i = 0; i < 100; i++) {
            close(fds[i]);
        }
    }
    gy_buf_fini(&body);
}

static void a_unix_socket_comes_and_goes(void **state)
{
    char dir[] = "/tmp/gyre-admin-XXXXXX", where[64];
    struct gy_admin_ops ops = {.ctx = told, .info = info};
    struct gy_admin *a, *second;
    struct gy_buf body = {0};
    struct stat st;
    gyre_error_t e;
    assert_non_null(mkdtemp(dir));
    snprintf(where, sizeof where, "unix:%s/s", dir);
    assert_int_equal(gy_admin_start(where, &ops, &a, &e), GYRE_OK);
    assert_int_equal(gy_admin_start(where, &ops, &second, &e), GYRE_CONFLICT);
    assert_null(second);
    static const char any_host[] =
        "GET /v1/status HTTP/1.1\r\nHost: gyre\r\nConnection: close\r\n\r\n";
    assert_int_equal(talk(where, any_host, strlen(any_host), NULL, &body), 200);
    assert_string_equal(gy_buf_cstr(&body), told);
    gy_admin_stop(a);
    assert_int_equal(lstat(where + 5, &st), -1);
    assert_int_equal(rmdir(dir), 0);
    gy_buf_fini(&body);
    gy_admin_stop(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_paths),
        cmocka_unit_test(not_allowed_says_what_is),
        cmocka_unit_test(a_web_page_is_kept_out),
        cmocka_unit_test(large_bodies_are_refused_unread),
        cmocka_unit_test(a_refusal_waits_for_the_body),
        cmocka_unit_test(an_endless_body_is_cut_off),
        cmocka_unit_test(what_is_no_http_is_answered_or_cut_off),
        cmocka_unit_test(what_is_not_whole_http_has_a_status_only),
        cmocka_unit_test(silent_connections_do_not_keep_others_out),
        cmocka_unit_test(a_unix_socket_comes_and_goes),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
