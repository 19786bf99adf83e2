/* SPDX-License-Identifier: Apache-2.0 */
/* term.c - see term.h. */
#include "cli/term.h"
#include "base/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool gy_term_is(int fd)
{
    return isatty(fd) == 1;
}

bool gy_term_cursor(int fd)
{
    const char *term = getenv("TERM");
    return gy_term_is(fd) && !(term && strcmp(term, "dumb") == 0);
}

bool gy_term_colour(int fd)
{
    const char *no = getenv("NO_COLOR");
    return gy_term_cursor(fd) && !(no && *no);
}

unsigned gy_term_columns(int fd)
{
    struct winsize w;
    return gy_term_is(fd) && ioctl(fd, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
}

void gy_term_seconds(struct gy_buf *out, double seconds)
{
    if (!(seconds < 1e9)) { /* not a number, or more than thirty years: the same to a reader */
        gy_buf_puts(out, "very long");
        return;
    }
    unsigned s = (unsigned)ceil(seconds > 0 ? seconds : 0);
    if (s < 60) {
        gy_buf_printf(out, "%u s", s);
    } else if (s < 3600) {
        gy_buf_printf(out, "%u min %u s", s / 60, s % 60);
    } else {
        gy_buf_printf(out, "%u h %u min", s / 3600, s / 60 % 60);
    }
}

void gy_term_tint(struct gy_buf *out, enum gy_tint tint, const char *text)
{
    static const char *const codes[] = {
        [GY_TINT_BOLD] = "\033[1m",
        [GY_TINT_DIM] = "\033[2m",
        [GY_TINT_GOOD] = "\033[32m",
        [GY_TINT_BAD] = "\033[1;31m",
    };
    bool on = gy_term_colour(STDOUT_FILENO);
    gy_buf_puts(out, on ? codes[tint] : "");
    gy_buf_puts(out, text);
    gy_buf_puts(out, on ? "\033[0m" : "");
}

static void encode(struct gy_buf *out, struct gy_slice s, bool percent)
{
    for (size_t i = 0; i < s.n;) {
        uint32_t cp;
        size_t len = gy_utf8_decode(s.p + i, s.n - i, &cp);
        if (len && !gy_utf8_control(cp) && !(percent && cp == '%')) {
            gy_buf_add(out, s.p + i, len);
            i += len;
            continue;
        }
        for (len = len ? len : 1; len; len--) {
            gy_buf_printf(out, "%%%02X", s.p[i++]);
        }
    }
}

void gy_term_encode(struct gy_buf *out, struct gy_slice text)
{
    encode(out, text, true);
}

void gy_term_text(struct gy_buf *out, struct gy_slice text)
{
    static int terminal = -1;
    if (terminal < 0) {
        terminal = gy_term_is(STDOUT_FILENO);
    }
    if (terminal) {
        encode(out, text, false);
    } else {
        gy_buf_add(out, text.p, text.n);
    }
}

static int hex(uint8_t c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool gy_term_decode(uint8_t *text, size_t *len)
{
    size_t w = 0;
    for (size_t i = 0; i < *len; i++) {
        if (text[i] != '%') {
            text[w++] = text[i];
            continue;
        }
        int high = i + 2 < *len ? hex(text[i + 1]) : -1;
        int low = i + 2 < *len ? hex(text[i + 2]) : -1;
        if (high < 0 || low < 0) {
            return false;
        }
        text[w++] = (uint8_t)(high << 4 | low);
        i += 2;
    }
    *len = w;
    return true;
}
