/* SPDX-License-Identifier: Apache-2.0 */
/* envoy_policy.c - see envoy_cluster.h. The limits are those of Envoy's messages. */
#include "base/utf8.h"
#include "formats/envoy_cluster.h"
#include "formats/lines.h"

enum { RING_MAX = 8388608, TABLE_MAX = 5000011 };

static bool is_prime(uint64_t n)
{
    for (uint64_t i = 2; i * i <= n; i++) {
        if (n % i == 0) {
            return false;
        }
    }
    return n > 1;
}

static int check_ring(struct gy_reading *r, const struct gy_tree *t,
                      const struct gy_envoy_policy *p)
{
    uint64_t minimum = p->minimum ? p->minimum : 1024, most = p->maximum ? p->maximum : RING_MAX;
    return minimum > most ? gy_read_fail(r, GYRE_RANGE, t->key_at,
                                         "ring hash: minimum_ring_size (%llu) > maximum_ring_size "
                                         "(%llu)",
                                         (unsigned long long)minimum, (unsigned long long)most)
                          : GYRE_OK;
}

/* The numbers of either ring hash message; words are those of its hash_function. */
static int read_ring(struct gy_reading *r, const struct gy_tree *t, const char *const *words,
                     struct gy_envoy_policy *p)
{
    int rc = gy_envoy_number(r, t, "minimum_ring_size", 1, RING_MAX, &p->minimum);
    rc = rc ? rc : gy_envoy_number(r, t, "maximum_ring_size", 1, RING_MAX, &p->maximum);
    rc = rc ? rc : gy_envoy_enum(r, t, "hash_function", words, &p->murmur);
    return rc ? rc : check_ring(r, t, p);
}

static int read_maglev(struct gy_reading *r, const struct gy_tree *t, struct gy_envoy_policy *p)
{
    int rc = gy_envoy_number(r, t, "table_size", 2, TABLE_MAX, &p->table);
    return rc || !p->table || is_prime(p->table)
               ? rc
               : gy_read_fail(r, GYRE_RANGE, gy_envoy_get(t, "table_size")->at,
                              "the table size of maglev must be a prime number, and %llu is none",
                              (unsigned long long)p->table);
}

/* consistent_hashing_lb_config, and locality_weighted_lb_config beside it. */
static int read_common(struct gy_reading *r, const struct gy_tree *t, struct gy_envoy_policy *p)
{
    static const char *const fields[] = {"use_hostname_for_hashing", "hash_balance_factor",
                                         "hash_policy", NULL};
    const struct gy_tree *hashing, *locality;
    int rc = gy_envoy_map(r, t, "consistent_hashing_lb_config", &hashing);
    rc = rc ? rc : gy_envoy_map(r, t, "locality_weighted_lb_config", &locality);
    if (rc) {
        return rc;
    }
    p->by_locality = p->by_locality || locality;
    if (hashing) {
        rc = gy_envoy_check(r, hashing, "ConsistentHashingLbConfig", fields, false);
        rc = rc ? rc : gy_envoy_bool(r, hashing, "use_hostname_for_hashing", &p->by_hostname);
        rc = rc ? rc
                : gy_envoy_number(r, hashing, "hash_balance_factor", 100, UINT32_MAX, &p->factor);
    }
    return rc;
}

/* ---- lb_policy ---- */

static int read_named(struct gy_reading *r, const struct gy_tree *cluster,
                      struct gy_envoy_policy *p)
{
    static const char *const policies[] = {"ROUND_ROBIN",
                                           "LEAST_REQUEST",
                                           "RING_HASH",
                                           "RANDOM",
                                           "ORIGINAL_DST_LB",
                                           "MAGLEV",
                                           "CLUSTER_PROVIDED",
                                           "LOAD_BALANCING_POLICY_CONFIG",
                                           NULL};
    static const char *const functions[] = {"XX_HASH", "MURMUR_HASH_2", NULL};
    static const char *const ring_fields[] = {"minimum_ring_size", "maximum_ring_size",
                                              "hash_function", NULL};
    static const char *const maglev_fields[] = {"table_size", NULL};
    const struct gy_tree *ring, *maglev, *common, *t = gy_envoy_get(cluster, "lb_policy");
    unsigned policy = 0;
    int rc = gy_envoy_enum(r, cluster, "lb_policy", policies, &policy);
    rc = rc ? rc : gy_envoy_map(r, cluster, "ring_hash_lb_config", &ring);
    rc = rc ? rc : gy_envoy_map(r, cluster, "maglev_lb_config", &maglev);
    rc = rc ? rc : gy_envoy_map(r, cluster, "common_lb_config", &common);
    if (rc) {
        return rc;
    }
    if (ring && maglev) {
        return gy_read_fail(r, GYRE_INVALID, maglev->key_at,
                            "ring_hash_lb_config and maglev_lb_config exclude each other");
    }
    p->name = policies[policy];
    p->at = t ? t->at : p->at;
    p->ring = policy == 2;
    p->maglev = policy == 5;
    if (ring) {
        rc = gy_envoy_check(r, ring, "RingHashLbConfig", ring_fields, false);
        rc = rc ? rc : read_ring(r, ring, functions, p);
    }
    if (!rc && maglev) {
        rc = gy_envoy_check(r, maglev, "MaglevLbConfig", maglev_fields, false);
        rc = rc ? rc : read_maglev(r, maglev, p);
    }
    return rc || !common ? rc : read_common(r, common, p);
}

/* ---- load_balancing_policy ---- */

static const struct {
    const char *type; /* the end of its "@type" */
    bool ring, maglev;
} TYPES[] = {
    {"RingHash", true, false},
    {"Maglev", false, true},
    {"RoundRobin", false, false},
    {"LeastRequest", false, false},
    {"Random", false, false},
    {"PickFirst", false, false},
    {"WrrLocality", false, false},
    {"Subset", false, false},
    {"OverrideHost", false, false},
    {"ClusterProvided", false, false},
    {"ClientSideWeightedRoundRobin", false, false},
};

static int find_type(const struct gy_tree *config)
{
    const struct gy_tree *t = config ? gy_tree_get(config, "@type") : NULL;
    for (size_t i = 0; t && i < sizeof TYPES / sizeof TYPES[0]; i++) {
        size_t n = strlen(TYPES[i].type);
        if (t->text.n > n && memcmp(t->text.p + t->text.n - n, TYPES[i].type, n) == 0 &&
            t->text.p[t->text.n - n - 1] == '.') {
            return (int)i;
        }
    }
    return -1;
}

/* Envoy takes the first policy that it knows. */
static int read_typed(struct gy_reading *r, const struct gy_tree *policy, struct gy_envoy_policy *p)
{
    static const char *const functions[] = {"DEFAULT_HASH", "XX_HASH", "MURMUR_HASH_2", NULL};
    const struct gy_tree *list, *config = NULL;
    int rc = gy_envoy_list(r, policy, "policies", &list), type = -1;
    for (const struct gy_tree *t = list && !rc ? list->first : NULL; t && type < 0; t = t->next) {
        config = gy_envoy_get(gy_envoy_get(t, "typed_extension_config"), "typed_config");
        type = find_type(config);
    }
    if (rc || type < 0) {
        return rc ? rc
                  : gy_read_fail(r, GYRE_UNSUPPORTED, policy->key_at,
                                 "load_balancing_policy: there is no policy in it that gyre knows");
    }
    p->name = TYPES[type].type;
    p->at = config->at;
    p->ring = TYPES[type].ring;
    p->maglev = TYPES[type].maglev;
    if (p->ring) {
        rc = read_ring(r, config, functions, p);
        p->murmur = p->murmur == 2;
    } else if (p->maglev) {
        rc = read_maglev(r, config, p);
    }
    if (!rc && (p->ring || p->maglev)) { /* of the ring once without the message around them */
        rc = gy_envoy_bool(r, config, "use_hostname_for_hashing", &p->by_hostname);
        rc = rc ? rc
                : gy_envoy_number(r, config, "hash_balance_factor", 100, UINT32_MAX, &p->factor);
        rc = rc ? rc : read_common(r, config, p);
    }
    return rc;
}

int gy_envoy_policy_read(struct gy_reading *r, const struct gy_tree *cluster,
                         struct gy_envoy_policy *out)
{
    const struct gy_tree *policy, *subsets;
    *out = (struct gy_envoy_policy){.at = cluster->at};
    int rc = gy_envoy_map(r, cluster, "load_balancing_policy", &policy);
    rc = rc ? rc : gy_envoy_map(r, cluster, "lb_subset_config", &subsets);
    if (!rc) {
        const struct gy_tree *selectors = gy_envoy_get(subsets, "subset_selectors");
        out->subsets = selectors && selectors->count;
        rc = policy ? read_typed(r, policy, out) : read_named(r, cluster, out);
    }
    return rc;
}
