/* SPDX-License-Identifier: Apache-2.0 */
/* test_addr.c - addresses as text, good and bad. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/addr.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

static void good(const char *text, const char *host, unsigned port, bool is_unix)
{
    struct gy_addr a;
    gyre_error_t e;
    if (gy_addr_parse(text, 6379, &a, &e) != GYRE_OK) {
        fail_msg("%s: %s", text, e.message);
    }
    assert_string_equal(a.host, host);
    assert_int_equal(a.port, port);
    assert_int_equal(a.is_unix, is_unix);
}

static void bad(const char *text, const char *why)
{
    struct gy_addr a;
    gyre_error_t e;
    assert_int_equal(gy_addr_parse(text, 0, &a, &e), GYRE_INVALID);
    if (!strstr(e.message, why)) {
        fail_msg("'%s' does not say '%s'", e.message, why);
    }
}

static void test_good(void **state)
{
    (void)state;
    good("127.0.0.1:7000", "127.0.0.1", 7000, false);
    good("localhost", "localhost", 6379, false);
    good("[::1]:65535", "::1", 65535, false);
    good("[fe80::1%eth0]", "fe80::1%eth0", 6379, false);
    good("unix:/run/x.sock", "/run/x.sock", 0, true);
    good("h:0", "h", 0, false); /* any port: for listeners */
}

static void test_bad(void **state)
{
    char longer[600];
    (void)state;
    bad("", "empty");
    bad("::1:6379", "brackets");
    bad("fe80::1", "brackets");
    bad("[::1", "']' is missing");
    bad("[::1]6379", "after ']'");
    bad("[]:1", "host is missing");
    bad(":6379", "host is missing");
    bad("host", "port is missing");
    bad("host:", "port");
    bad("host:x", "port");
    bad("host:65536", "port");
    bad("host:-1", "port");
    bad("host: 1", "port");
    bad("ho st:1", "blanks");
    bad("ho\nst:1", "blanks");
    bad("unix:", "path");
    bad("unix:/run/x/", "ends in '/'");
    memset(longer, 'a', sizeof longer);
    longer[300] = ':';
    longer[301] = '1';
    longer[302] = '\0';
    bad(longer, "255");
    memcpy(longer, "unix:", 5);
    bad(longer, "107");
}

static void test_resolve(void **state)
{
    (void)state;
    struct gy_addr a;
    struct sockaddr_storage sa;
    socklen_t len;
    gyre_error_t e;
    assert_int_equal(gy_addr_parse("127.0.0.1:7000", 0, &a, &e), GYRE_OK);
    assert_int_equal(gy_addr_resolve(&a, &sa, &len, &e), GYRE_OK);
    assert_int_equal(sa.ss_family, AF_INET);
    assert_int_equal(ntohs(((struct sockaddr_in *)&sa)->sin_port), 7000);
    assert_int_equal(gy_addr_parse("[::1]:7000", 0, &a, &e), GYRE_OK);
    assert_int_equal(gy_addr_resolve(&a, &sa, &len, &e), GYRE_OK);
    assert_int_equal(sa.ss_family, AF_INET6);
    assert_int_equal(gy_addr_parse("unix:/run/x", 0, &a, &e), GYRE_OK);
    assert_int_equal(gy_addr_resolve(&a, &sa, &len, &e), GYRE_OK);
    assert_string_equal(((struct sockaddr_un *)&sa)->sun_path, "/run/x");
    assert_int_equal(gy_addr_parse("no-such-host.invalid:1", 0, &a, &e), GYRE_OK);
    assert_int_equal(gy_addr_resolve(&a, &sa, &len, &e), GYRE_IO);
    assert_non_null(strstr(e.message, "no-such-host.invalid"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_resolve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
