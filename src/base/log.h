/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - one line an event on stderr, logfmt: time, level, message, then key=value pairs the
 * caller writes itself. No formatting when the level is off. Threads: any (one write(2) a line).
 */
#ifndef GY_BASE_LOG_H
#define GY_BASE_LOG_H

#include <stdbool.h>

enum gy_log_level { GY_LOG_ERROR, GY_LOG_WARN, GY_LOG_INFO, GY_LOG_DEBUG };

extern enum gy_log_level gy_log_max; /* set once at start; default INFO */

void gy_log_write(enum gy_log_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
bool gy_log_level_parse(const char *word,
                        enum gy_log_level *out); /* "error", "warn", "info", "debug" */

#define gy_log(level, ...)                      \
    do {                                        \
        if ((level) <= gy_log_max) {            \
            gy_log_write((level), __VA_ARGS__); \
        }                                       \
    } while (0)
#define gy_error(...) gy_log(GY_LOG_ERROR, __VA_ARGS__)
#define gy_warn(...)  gy_log(GY_LOG_WARN, __VA_ARGS__)
#define gy_info(...)  gy_log(GY_LOG_INFO, __VA_ARGS__)
#define gy_debug(...) gy_log(GY_LOG_DEBUG, __VA_ARGS__)

#endif
