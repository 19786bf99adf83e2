/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc.c - memory of the library from libc's heap; see alloc.h for why it stands alone.
 */
#include "lib/alloc.h"

#include <stdint.h>
#include <stdlib.h>

/* malloc(0) may answer NULL without having failed, so nothing of size 0 is ever asked for. */
void *gy_mem_alloc(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) {
        return NULL;
    }
    size_t bytes = count * size;
    return malloc(bytes ? bytes : 1);
}

void *gy_mem_grow(void *p, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) {
        return NULL;
    }
    size_t bytes = count * size;
    return realloc(p, bytes ? bytes : 1);
}

void gy_mem_free(void *p)
{
    free(p);
}
