/* SPDX-License-Identifier: Apache-2.0 */
/* alloc.c - see alloc.h. */
#include "base/alloc.h"

#include "base/log.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *p, size_t n, size_t size)
{
    if (!p) {
        gy_error("out of memory allocating %zu x %zu bytes", n, size);
        abort();
    }
    return p;
}

void *gy_xcalloc(size_t n, size_t size)
{
    return checked(calloc(n ? n : 1, size ? size : 1), n, size);
}

void *gy_xrealloc(void *p, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size) {
        checked(NULL, n, size);
    }
    return checked(realloc(p, n && size ? n * size : 1), n, size);
}

char *gy_xstrdup(const char *s)
{
    return checked(strdup(s), 1, strlen(s) + 1);
}
