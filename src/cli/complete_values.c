/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complete_values.c - see complete.h. A file is read only if it is a plain one of moderate size:
 * the Tab key must not wait for a pipe, a server or a gigabyte.
 */
#include "cli/complete.h"
#include "cli/source.h"
#include "formats/format.h"

#include <stdio.h>
#include <sys/stat.h>

#define FILE_MAX ((off_t)8 << 20)

void gy_offer_formats(const struct gy_offer *o, bool written)
{
    size_t n;
    const struct gy_format *all = gy_formats(&n);
    for (size_t i = 0; i < n; i++) {
        if (all[i].writer || !written) {
            gy_offer_word(o, all[i].name, "", all[i].about);
        }
    }
}

void gy_offer_setting(const struct gy_offer *o, const char *key)
{
    size_t n;
    const struct gyre_setting *all = gyre_settings(&n);
    for (size_t i = 0; i < n; i++) {
        const char *p = strcmp(all[i].key, key) == 0 ? all[i].values : "";
        while (*p) {
            char word[64];
            int len = (int)strcspn(p, "|");
            snprintf(word, sizeof word, "%.*s", len, p);
            gy_offer_word(o, word, "", NULL);
            p += len + (p[len] == '|');
        }
    }
}

static struct gy_pools *read_pools(const char *path, const char *format)
{
    struct stat st;
    struct gy_pools *pools = NULL;
    gyre_error_t e = {0};
    if (!path || stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX) {
        return NULL;
    }
    return gy_source_read(path, format, &pools, &e) == GYRE_OK ? pools : NULL;
}

void gy_offer_pools(const struct gy_offer *o, const char *path, const char *format)
{
    struct gy_pools *pools = read_pools(path, format);
    for (size_t i = 0; pools && i < pools->count; i++) {
        if (*pools->list[i]->name) {
            gy_offer_word(o, pools->list[i]->name, "", NULL);
        }
    }
    gy_pools_free(pools);
}

void gy_offer_nodes(const struct gy_offer *o, const char *path, const char *format,
                    const char *pool, const char *suffix)
{
    struct gy_pools *pools = read_pools(path, format);
    for (size_t i = 0; pools && i < pools->count; i++) {
        const struct gy_pool *p = pools->list[i];
        const gyre_topology_t *t = p->config ? p->config->topology : NULL;
        if (pool && strcmp(pool, p->name) != 0) {
            continue;
        }
        for (size_t k = 0; t && k < gyre_topology_count(t); k++) {
            const struct gyre_node *n = gyre_topology_node(t, k);
            gy_offer_word(o, n->name, suffix, n->address);
        }
    }
    gy_pools_free(pools);
}
