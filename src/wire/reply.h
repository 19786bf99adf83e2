/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply.h - the types of a reply, as reply_scan.c and reply_tree.c both see them (so that they
 * agree); users include resp.h. Pure: any thread.
 */
#ifndef GY_WIRE_REPLY_H
#define GY_WIRE_REPLY_H

#include "wire/resp.h"

/* Types that are one line: status, error, integer, null, boolean, double, big number. */
static inline bool gy_reply_is_line(uint8_t type)
{
    return type == '+' || type == '-' || type == ':' || type == '_' || type == '#' || type == ',' ||
           type == '(';
}

static inline bool gy_reply_is_bulk(uint8_t type)
{
    return type == '$' || type == '!' || type == '=';
}

/* Types whose line is a count. */
static inline bool gy_reply_is_counted(uint8_t type)
{
    return gy_reply_is_bulk(type) || type == '*' || type == '~' || type == '>' || type == '%' ||
           type == '|';
}

/* What a count means: bytes of a bulk, or how many elements follow. An attribute stands in front of
 * the reply it belongs to: both together are one element made of 2n + 1. False: not a valid count
 * (or type). -1 is RESP2's nil, for '$' and '*' only. */
static inline bool gy_reply_count(uint8_t type, int64_t v, uint64_t *elements, bool *is_bulk)
{
    *is_bulk = gy_reply_is_bulk(type);
    *elements = 0;
    if (v < 0) {
        return v == -1 && (type == '$' || type == '*');
    }
    switch (type) {
    case '$':
    case '!':
    case '=':
        return true;
    case '*':
    case '~':
    case '>':
        *elements = (uint64_t)v;
        return true;
    case '%':
        *elements = (uint64_t)v * 2;
        return true;
    case '|':
        *elements = (uint64_t)v * 2 + 1;
        return true;
    default:
        return false;
    }
}

#endif
