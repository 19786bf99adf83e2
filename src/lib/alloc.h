/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc.h - the only way libgyre gets memory. alloc.c is an object of its own in the archive, so a
 * test that defines these three functions itself replaces them at link time and can make the Nth
 * call fail; the library as shipped has no hook, no global and no cost. Threads: any.
 */
#ifndef GY_LIB_ALLOC_H
#define GY_LIB_ALLOC_H

#include <stddef.h>

/* Room for count items of size bytes, not cleared; NULL when out of memory or on overflow. */
void *gy_mem_alloc(size_t count, size_t size);
/* The same, contents kept; on failure NULL and the old block stays as it was. */
void *gy_mem_grow(void *p, size_t count, size_t size);
void gy_mem_free(void *p);

#endif
