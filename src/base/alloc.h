/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc.h - allocation for the proxy's small, fixed-size objects: out of memory there is the end of
 * the process, said plainly. Buffers that grow with what a client sends never come from here; they
 * fail and shed that client (buf.h).
 */
#ifndef GY_BASE_ALLOC_H
#define GY_BASE_ALLOC_H

#include <stddef.h>

void *gy_xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *gy_xrealloc(void *p, size_t n, size_t size) __attribute__((returns_nonnull));
char *gy_xstrdup(const char *s) __attribute__((malloc, returns_nonnull));

#endif
