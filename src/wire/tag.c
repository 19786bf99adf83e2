/* SPDX-License-Identifier: Apache-2.0 */
/* tag.c - the part of a key that is hashed: see resp.h. Pure: any thread. */
#include "wire/resp.h"

struct gy_slice gy_hash_tag(struct gy_slice key, char open, char close)
{
    const uint8_t *from = open && key.n ? memchr(key.p, open, key.n) : NULL;
    if (!from) {
        return key;
    }
    from++;
    size_t left = (size_t)(key.p + key.n - from);
    const uint8_t *to = left ? memchr(from, close, left) : NULL;
    if (!to || to == from) {
        return key;
    }
    return (struct gy_slice){from, (size_t)(to - from)};
}
