/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libketama.c - libketama as of commit 18cf9a7. Weights are memory sizes. Adding, removing or
 * re-weighting a server changes everyone's number of points, so some keys move between servers
 * that stay. Keys are C strings: what follows a NUL does not count. Source: behaviour of that
 * commit, docs/compat/SPEC-servers.md section 6. Threads: any.
 */
#include <string.h>

#include "lib/error.h"
#include "lib/hash/table.h"
#include "lib/like/ketama.h"

enum { ADDRESS_MAX = 22 };

static void key_part(const gyre_map_t *m, const void *key, size_t len, const void **part,
                     size_t *part_len)
{
    (void)m;
    const char *end = len ? memchr(key, '\0', len) : NULL;
    *part = key;
    *part_len = end ? (size_t)(end - (const char *)key) : len;
}

static int build(const struct gy_like_job *job)
{
    struct gy_ketama k = {.name = gy_ketama_plain_name,
                          .count = gy_ketama_libketama,
                          .hash = &gy_hash_md5,
                          .per_digest = 4};
    job->m->hash = &gy_hash_md5_le32;
    job->m->hash_bits = 32;
    job->m->key_part = key_part;
    for (uint32_t i = 0; i < job->n; i++) {
        const char *name = job->m->nodes[job->list[i]].name;
        char shown[GY_SHOW];
        if (strlen(name) > ADDRESS_MAX) {
            return gy_fail(job->e, GYRE_RANGE, "node '%s': libketama has room for %d bytes of name",
                           gy_show(name, shown), ADDRESS_MAX);
        }
    }
    int err = gy_like_whole_weights(job, UINT32_MAX);
    return err ? err : gy_ketama_build(job, &k);
}

const struct gy_like gy_like_libketama = {.name = "libketama", .build = build};
