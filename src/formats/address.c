/* SPDX-License-Identifier: Apache-2.0 */
/* address.c - see address.h. */
#include "formats/address.h"
#include "base/num.h"
#include "base/utf8.h"

#include <arpa/inet.h>
#include <stdio.h>

#define HOST_MAX      253 /* RFC 1035 */
#define UNIX_PATH_MAX 107 /* sun_path of Linux without its NUL */

bool gy_text_check(struct gy_slice text, size_t max, char why[GY_ADDRESS_WHY])
{
    if (text.n == 0) {
        snprintf(why, GY_ADDRESS_WHY, "must not be empty");
        return false;
    }
    if (text.n > max) {
        snprintf(why, GY_ADDRESS_WHY, "is %zu bytes long; at most %zu are allowed", text.n, max);
        return false;
    }
    for (size_t i = 0; i < text.n;) {
        uint32_t cp;
        size_t len = gy_utf8_decode(text.p + i, text.n - i, &cp);
        if (!len) {
            snprintf(why, GY_ADDRESS_WHY, "is not UTF-8 at byte %zu", i + 1);
            return false;
        }
        if (gy_utf8_control(cp)) {
            snprintf(why, GY_ADDRESS_WHY, "holds the control character U+%04X at byte %zu",
                     (unsigned)cp, i + 1);
            return false;
        }
        i += len;
    }
    return true;
}

static bool check_port(struct gy_slice port, bool any_port, char *why)
{
    uint64_t v;
    if (port.n > 5 || gy_num_uint(port, &v) || v > 65535 || (v == 0 && !any_port)) {
        char q[GY_QUOTE];
        snprintf(why, GY_ADDRESS_WHY, "has a bad port %s; ports are %d to 65535",
                 gy_utf8_quote(q, port), any_port ? 0 : 1);
        return false;
    }
    return true;
}

static bool read_ipv6(struct gy_slice host, struct in6_addr *bits)
{
    char text[INET6_ADDRSTRLEN + 1];
    if (host.n >= sizeof text) {
        return false;
    }
    memcpy(text, host.p, host.n);
    text[host.n] = 0;
    return inet_pton(AF_INET6, text, bits) == 1;
}

static bool is_ipv6(struct gy_slice host)
{
    struct in6_addr bits;
    return read_ipv6(host, &bits);
}

static bool check_bracketed(struct gy_slice t, bool any_port, char *why)
{
    const uint8_t *close = memchr(t.p, ']', t.n);
    if (!close) {
        snprintf(why, GY_ADDRESS_WHY, "has '[' without ']'");
        return false;
    }
    struct gy_slice host = {t.p + 1, (size_t)(close - t.p) - 1};
    struct gy_slice rest = {close + 1, t.n - host.n - 2};
    if (!is_ipv6(host)) {
        char q[GY_QUOTE];
        snprintf(why, GY_ADDRESS_WHY, "has %s between brackets, which is no IPv6 address",
                 gy_utf8_quote(q, host));
        return false;
    }
    if (rest.n == 0 || rest.p[0] != ':') {
        snprintf(why, GY_ADDRESS_WHY, "has no port; write \"%.*s:6379\"", (int)(t.n - rest.n), t.p);
        return false;
    }
    return check_port((struct gy_slice){rest.p + 1, rest.n - 1}, any_port, why);
}

/* Several colons and no brackets: an IPv6 address, or something that only looks so. */
static bool refuse_bare_ipv6(struct gy_slice t, const uint8_t *last, char *why)
{
    struct gy_slice before = {t.p, (size_t)(last - t.p)};
    if (is_ipv6(before)) {
        snprintf(why, GY_ADDRESS_WHY,
                 "is ambiguous: an IPv6 address stands in brackets; write \"[%.*s]%.*s\"",
                 (int)before.n, before.p, (int)(t.n - before.n), (const char *)last);
    } else if (is_ipv6(t)) {
        snprintf(why, GY_ADDRESS_WHY,
                 "has no port, and an IPv6 address stands in brackets; write \"[%.*s]:6379\"",
                 (int)t.n, t.p);
    } else {
        snprintf(why, GY_ADDRESS_WHY, "has more than one ':'; write host:port or [ipv6]:port");
    }
    return false;
}

static bool check_host(struct gy_slice host, char *why)
{
    if (host.n == 0 || host.n > HOST_MAX) {
        snprintf(why, GY_ADDRESS_WHY,
                 host.n ? "has a host name longer than 253 bytes" : "has no host before the ':'");
        return false;
    }
    for (size_t i = 0; i < host.n; i++) {
        uint8_t c = host.p[i];
        bool ok = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '.' || c == '-' || c == '_';
        if (!ok) {
            char q[GY_QUOTE];
            snprintf(why, GY_ADDRESS_WHY, "has the host %s; hosts are letters, digits, '.', '-'",
                     gy_utf8_quote(q, host));
            return false;
        }
    }
    return true;
}

static bool check_unix(struct gy_slice path, char *why)
{
    if (path.n == 0) {
        snprintf(why, GY_ADDRESS_WHY, "has no path after 'unix:'");
        return false;
    }
    if (!gy_text_check(path, SIZE_MAX, why)) {
        return false;
    }
    if (path.n > UNIX_PATH_MAX) {
        snprintf(why, GY_ADDRESS_WHY, "has a socket path of %zu bytes; the system allows %d",
                 path.n, UNIX_PATH_MAX);
        return false;
    }
    return true;
}

bool gy_address_check(struct gy_slice t, bool any_port, char why[GY_ADDRESS_WHY])
{
    static const char scheme[] = "unix:";
    if (t.n >= sizeof scheme - 1 && memcmp(t.p, scheme, sizeof scheme - 1) == 0) {
        return check_unix((struct gy_slice){t.p + sizeof scheme - 1, t.n - (sizeof scheme - 1)},
                          why);
    }
    if (t.n && t.p[0] == '[') {
        return check_bracketed(t, any_port, why);
    }
    const uint8_t *first = t.n ? memchr(t.p, ':', t.n) : NULL;
    if (!first) {
        snprintf(why, GY_ADDRESS_WHY, "has no port; write host:port, [ipv6]:port or unix:/path");
        return false;
    }
    const uint8_t *last = memrchr(t.p, ':', t.n);
    if (first != last) {
        return refuse_bare_ipv6(t, last, why);
    }
    struct gy_slice host = {t.p, (size_t)(first - t.p)};
    return check_host(host, why) &&
           check_port((struct gy_slice){first + 1, t.n - host.n - 1}, any_port, why);
}

struct gy_slice gy_address_host(const char *address)
{
    if (strncmp(address, "unix:", 5) == 0) {
        return GY_LIT("unix");
    }
    const char *close = *address == '[' ? strchr(address, ']') : NULL;
    if (close) {
        return (struct gy_slice){(const uint8_t *)address + 1, (size_t)(close - address) - 1};
    }
    const char *colon = strrchr(address, ':');
    return (struct gy_slice){(const uint8_t *)address,
                             colon ? (size_t)(colon - address) : strlen(address)};
}

void gy_address_parts(const char *address, struct gy_slice *host, struct gy_slice *port)
{
    const char *colon = strrchr(address, ':');
    *host = gy_address_host(address);
    *port = gy_str(colon ? colon + 1 : "");
    if (strncmp(address, "unix:", 5) == 0) {
        *host = gy_str(address + 5);
        *port = GY_LIT("");
    }
}

bool gy_address_same(const char *a, const char *b)
{
    struct gy_slice host[2], port[2];
    struct in6_addr bits[2];
    gy_address_parts(a, &host[0], &port[0]);
    gy_address_parts(b, &host[1], &port[1]);
    return gy_slice_eq(port[0], port[1]) &&
           (gy_slice_eq(host[0], host[1]) ||
            (read_ipv6(host[0], &bits[0]) && read_ipv6(host[1], &bits[1]) &&
             memcmp(&bits[0], &bits[1], sizeof bits[0]) == 0));
}

bool gy_address_join(struct gy_buf *out, struct gy_slice host, struct gy_slice port)
{
    char why[GY_ADDRESS_WHY];
    struct gy_buf b = {0};
    bool socket = host.n && host.p[0] == '/', brackets = is_ipv6(host);
    gy_buf_puts(&b, socket ? "unix:" : brackets ? "[" : "");
    gy_buf_add(&b, host.p, host.n);
    if (!socket) {
        gy_buf_puts(&b, brackets ? "]:" : ":");
        gy_buf_add(&b, port.p, port.n);
    }
    bool good = !b.failed &&
                gy_address_check((struct gy_slice){gy_buf_head(&b), gy_buf_size(&b)}, false, why);
    if (good) {
        gy_buf_add(out, gy_buf_head(&b), gy_buf_size(&b));
    }
    out->failed = out->failed || b.failed;
    gy_buf_fini(&b);
    return good;
}
