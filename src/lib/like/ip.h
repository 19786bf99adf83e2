/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip.h - numeric IP addresses as bytes, for systems that hash a server's address. (The library
 * calls no network function, not even inet_pton.) Threads: any.
 */
#ifndef GY_LIB_LIKE_IP_H
#define GY_LIB_LIKE_IP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gy_ip {
    bool six;
    uint8_t bytes[16]; /* in network order; the first 4 of IPv4 */
    uint32_t port;
};

/* "127.0.0.1:80" or "[::1]:80"; false for anything else. */
bool gy_ip_read(const char *text, struct gy_ip *out);

#endif
