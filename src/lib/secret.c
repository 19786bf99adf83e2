/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.c - keys hashed by SipHash-2-4 under a secret (Aumasson, Bernstein, "SipHash: a fast
 * short-input PRF", 2012), so that who chooses keys cannot choose their node. Where points and
 * nodes stand is no secret. The check is one more output of the same function: whoever reads it
 * learns nothing of the others. Threads: as secret.h.
 */
#include "lib/secret.h"

#include <stdio.h>
#include <string.h>

#include "lib/error.h"
#include "lib/like/like.h"
#include "lib/map.h"
#include "lib/topology.h"

static const char checked[] = "gyre secret_check 1";

uint64_t gy_secret_check(const struct gy_secret *s)
{
    return (uint64_t)gy_hash_siphash24.keyed(checked, sizeof checked - 1, s->key);
}

void gy_secret_wipe(struct gy_secret *s)
{
    volatile uint8_t *p = s->key; /* volatile: a memset before a free is left out by compilers */
    for (size_t i = 0; i < sizeof s->key; i++) {
        p[i] = 0;
    }
    s->given = false;
}

static bool is_check(const char *text)
{
    return strnlen(text, 17) == 16 && strspn(text, "0123456789abcdef") == 16;
}

static int other_secret(const char *is, const char *should, gyre_error_t *e)
{
    return gy_fail(e, GYRE_INVALID,
                   "this is another secret than the topology was made with (its check is %s, not "
                   "%s): with it nearly every key would be looked for on a wrong node",
                   is, should);
}

int gyre_topology_set_secret(gyre_topology_t *t, const void *secret, size_t len, gyre_error_t *e)
{
    char check[24];
    if (len == 0) {
        gy_secret_wipe(&t->secret);
        return gy_settings_set(&t->settings, "secret_check", "", NULL) ? GYRE_INVALID : GYRE_OK;
    }
    if (len != GY_SECRET_BYTES) {
        return gy_fail(e, GYRE_RANGE, "a secret has %u bytes, not %zu", GY_SECRET_BYTES, len);
    }
    struct gy_secret given = {.given = true};
    memcpy(given.key, secret, len);
    snprintf(check, sizeof check, "%016llx", (unsigned long long)gy_secret_check(&given));
    const char *expected = gy_settings_get(&t->settings, "secret_check");
    int err = GYRE_OK;
    if (*expected && strcmp(expected, check) != 0) {
        err = other_secret(check, expected, e);
    } else {
        err = gy_settings_set(&t->settings, "secret_check", check, e);
    }
    if (!err) {
        t->secret = given;
    }
    gy_secret_wipe(&given);
    return err;
}

int gyre_topology_set(gyre_topology_t *t, const char *key, const char *value, gyre_error_t *e)
{
    char shown[GY_SHOW];
    if (strcmp(key, "secret_check") == 0 && *value && !is_check(value)) {
        return gy_fail(e, GYRE_INVALID, "secret_check: '%s' is not 16 digits of 0-9a-f",
                       gy_show(value, shown));
    }
    const char *now = gy_settings_get(&t->settings, "secret_check");
    if (strcmp(key, "secret_check") == 0 && t->secret.given && strcmp(value, now) != 0) {
        return *value ? other_secret(now, value, e) : GYRE_OK; /* it follows from the secret */
    }
    return gy_settings_set(&t->settings, key, value, e);
}

static gy_u128 keyed_hash(const gyre_map_t *m, const void *part, size_t len)
{
    return gy_hash_siphash24.keyed(part, len, m->secret.key);
}

int gy_secret_take(struct gyre_map *m, const gyre_topology_t *t, gyre_error_t *e)
{
    const struct gy_settings *s = &t->settings;
    bool own = s->value[GY_SET_LIKE] == GY_LIKE_NOTHING;
    bool wanted = own && s->value[GY_SET_HASH] == GY_HASH_SIPHASH;
    bool named = *gy_settings_get(s, "secret_file") || *gy_settings_get(s, "secret_check");
    if (!own && s->value[GY_SET_LIKE] == GY_LIKE_SAMPLE && s->chosen[GY_SET_HASH] &&
        s->value[GY_SET_HASH] == GY_HASH_SIPHASH) {
        return gy_fail(e, GYRE_UNSUPPORTED, "hash: siphash is not for `like`: its mode says how");
    }
    if (!wanted && (t->secret.given || named)) {
        return gy_fail(e, GYRE_INVALID,
                       "there is a secret, but `hash` is not siphash: nothing "
                       "would be hashed with it");
    }
    if (wanted && !t->secret.given) {
        return gy_fail(e, GYRE_INVALID,
                       "hash: siphash needs its secret: name a secret_file, or "
                       "call gyre_topology_set_secret");
    }
    if (wanted) {
        m->secret = t->secret;
        m->hash = &gy_hash_siphash24;
        m->key_hash = keyed_hash;
        m->key_rule = gy_secret_check(&m->secret);
    }
    return GYRE_OK;
}
