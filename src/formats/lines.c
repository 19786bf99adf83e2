/* SPDX-License-Identifier: Apache-2.0 */
/* lines.c - see lines.h. */
#include "formats/lines.h"

bool gy_lines_next(struct gy_lines *l)
{
    if (l->rest.n == 0) {
        return false;
    }
    l->line = gy_slice_cut(&l->rest, '\n');
    if (l->line.n && l->line.p[l->line.n - 1] == '\r') {
        l->line.n--;
    }
    l->number++;
    return true;
}

static bool blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

bool gy_word_next(struct gy_slice *rest, struct gy_slice *word)
{
    size_t i = 0, from;
    while (i < rest->n && blank(rest->p[i])) {
        i++;
    }
    from = i;
    while (i < rest->n && !blank(rest->p[i])) {
        i++;
    }
    *word = (struct gy_slice){rest->p + from, i - from};
    *rest = (struct gy_slice){rest->p + i, rest->n - i};
    return word->n > 0;
}

struct gy_slice gy_slice_cut(struct gy_slice *rest, char c)
{
    const uint8_t *at = rest->n ? memchr(rest->p, c, rest->n) : NULL;
    struct gy_slice head = *rest;
    if (at) {
        head.n = (size_t)(at - rest->p);
        *rest = (struct gy_slice){at + 1, rest->n - head.n - 1};
    } else {
        *rest = (struct gy_slice){rest->n ? rest->p + rest->n : rest->p, 0};
    }
    return head;
}

struct gy_slice gy_slice_trim(struct gy_slice s)
{
    while (s.n && blank(s.p[0])) {
        s = (struct gy_slice){s.p + 1, s.n - 1};
    }
    while (s.n && blank(s.p[s.n - 1])) {
        s.n--;
    }
    return s;
}

bool gy_slice_starts(struct gy_slice s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.n >= n && memcmp(s.p, prefix, n) == 0;
}

bool gy_slice_has(struct gy_slice s, const char *text)
{
    return s.n && memmem(s.p, s.n, text, strlen(text)) != NULL;
}
