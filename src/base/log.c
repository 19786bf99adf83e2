/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - see log.h. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/utf8.h"

enum gy_log_level gy_log_max = GY_LOG_INFO;

static const char *const level_names[] = {"error", "warn", "info", "debug"};

void gy_log_write(enum gy_log_level level, const char *fmt, ...)
{
    char line[2048];
    struct timespec now;
    struct tm tm;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    size_t n = strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%S", &tm);
    n += (size_t)snprintf(line + n, sizeof line - n, ".%03ldZ %-5s ", now.tv_nsec / 1000000,
                          level_names[level]);
    va_list ap;
    va_start(ap, fmt);
    int m = vsnprintf(line + n, sizeof line - n - 1, fmt, ap);
    va_end(ap);
    n += m < 0 ? 0 : (size_t)m;
    if (n > sizeof line - 2) {
        n = sizeof line - 2;
    }
    for (size_t i = 0; i < n;) { /* a name with a newline must not forge a log line */
        uint32_t cp;
        size_t len = gy_utf8_decode((const uint8_t *)line + i, n - i, &cp);
        if (!len || gy_utf8_control(cp)) {
            memset(line + i, '?', len ? len : 1);
        }
        i += len ? len : 1;
    }
    line[n++] = '\n';
    ssize_t rc = write(STDERR_FILENO, line, n);
    (void)rc; /* nowhere left to complain */
}

bool gy_log_level_parse(const char *word, enum gy_log_level *out)
{
    for (size_t i = 0; i < sizeof level_names / sizeof *level_names; i++) {
        if (strcmp(word, level_names[i]) == 0) {
            *out = (enum gy_log_level)i;
            return true;
        }
    }
    return false;
}
