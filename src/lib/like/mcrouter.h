/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcrouter.h - WeightedCh3, a function of the whole key. Threads: any.
 */
#ifndef GY_LIB_LIKE_MCROUTER_H
#define GY_LIB_LIKE_MCROUTER_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of key and salt that are hashed; memcached's keys have at most 250. */
enum { GY_MCROUTER_KEY = 4096 };

/* The server among n, each with a weight from 0 to 1. */
uint32_t gy_mcrouter_wch3(const void *key, size_t len, const double *weight, uint32_t n);

#endif
