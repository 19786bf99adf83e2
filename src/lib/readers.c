/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readers.c - see readers.h. Copies (replicas, spread), the hash of the key and its tag are
 * everybody's; the secret has its own check, as it belongs to a hash.
 */
#include "lib/readers.h"

#include <stdio.h>
#include <string.h>

#include "lib/error.h"
#include "lib/topology.h"

#define OF(word)  (1u << GY_ALGORITHM_##word)
#define LIKE_ONLY (1u << 31)

struct readers {
    enum gy_setting id;
    uint32_t algorithms;
};

static const struct readers table[] = {
    {GY_SET_POINTS, OF(RING)},
    {GY_SET_TABLE, OF(MAGLEV) | OF(SLOTS)},
    {GY_SET_CAPACITY, OF(DX)},
    {GY_SET_HEAVIEST, OF(DX)},
    {GY_SET_LEVEL, OF(RING) | OF(RENDEZVOUS) | OF(MAGLEV) | OF(SLOTS)},
    {GY_SET_MODE, LIKE_ONLY},
    {GY_SET_VNODES, LIKE_ONLY},
};

/* The words of the algorithms of the mask, parted by commas. */
static void name_all(const char *words, uint32_t mask, char *out, size_t size)
{
    size_t w = 0;
    out[0] = '\0';
    for (unsigned i = 0; *words; i++) {
        size_t n = strcspn(words, "|");
        if (mask & 1u << i && w < size) {
            w += (size_t)snprintf(out + w, size - w, "%s%.*s", w ? ", " : "", (int)n, words);
        }
        words += n + (words[n] == '|');
    }
}

int gy_readers_check(const gyre_topology_t *t, const char *key, gyre_error_t *e)
{
    const struct gyre_setting *all = gyre_settings(NULL);
    uint64_t algorithm = t->settings.value[GY_SET_ALGORITHM];
    char names[128];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct readers *r = &table[i];
        if (strcmp(all[r->id].key, key) != 0 || t->settings.value[GY_SET_LIKE] ||
            r->algorithms & 1u << algorithm) {
            continue;
        }
        if (r->algorithms == LIKE_ONLY) {
            return gy_fail(e, GYRE_UNKNOWN, "%s is a setting of like: sample, not of algorithm: %s",
                           key, t->settings.text[GY_SET_ALGORITHM]);
        }
        name_all(all[GY_SET_ALGORITHM].values, r->algorithms, names, sizeof names);
        return gy_fail(e, GYRE_UNKNOWN, "%s is a setting of algorithm: %s, not of %s", key, names,
                       t->settings.text[GY_SET_ALGORITHM]);
    }
    return GYRE_OK;
}
