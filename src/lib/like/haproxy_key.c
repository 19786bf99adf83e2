/* SPDX-License-Identifier: Apache-2.0 */
/*
 * haproxy_key.c - see haproxy.h. Source: behaviour of 2.6.12, docs/compat/SPEC-servers.md section
 * 4. Threads: any.
 */
#include <string.h>

#include "lib/like/haproxy.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* hdr(X): the first of the values parted by commas. A backslash protects only inside quotes, and
 * quotes stay. */
static void header_part(const gyre_map_t *m, const void *key, size_t len, const void **part,
                        size_t *part_len)
{
    (void)m;
    const char *p = key;
    size_t begin = 0, end;
    bool quoted = false;
    while (begin < len && is_blank(p[begin])) {
        begin++;
    }
    for (end = begin; end < len && (quoted || p[end] != ','); end++) {
        if (p[end] == '"') {
            quoted = !quoted;
        } else if (quoted && p[end] == '\\' && end + 1 < len) {
            end++;
        }
    }
    while (end > begin && is_blank(p[end - 1])) {
        end--;
    }
    *part = len ? p + begin : key;
    *part_len = end - begin;
}

static void cut_at(char stop, const void *key, size_t len, const void **part, size_t *part_len)
{
    const char *end = len ? memchr(key, stop, len) : NULL;
    *part = key;
    *part_len = end ? (size_t)(end - (const char *)key) : len;
}

/* uri: the request target without its query. */
static void path_part(const gyre_map_t *m, const void *key, size_t len, const void **part,
                      size_t *part_len)
{
    (void)m;
    cut_at('?', key, len, part, part_len);
}

/* url_param: a parameter ends where the next begins. */
static void parameter_part(const gyre_map_t *m, const void *key, size_t len, const void **part,
                           size_t *part_len)
{
    (void)m;
    cut_at('&', key, len, part, part_len);
}

gy_part_fn *gy_haproxy_part(const char *balance)
{
    static const struct {
        const char *word;
        gy_part_fn *part;
    } rows[] = {{"hdr", header_part}, {"uri", path_part}, {"url_param", parameter_part}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].word, balance) == 0) {
            return rows[i].part;
        }
    }
    return NULL;
}
