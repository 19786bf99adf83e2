/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_precheck.c - may values travel between two servers? What a real one says of itself, and the
 * decision from any such facts: servers of two RDB versions are not to be had on one machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "move/precheck.h"
#include "ride.h"

#include <stdio.h>
#include <stdlib.h>

static void test_facts_of_a_server(void **state)
{
    (void)state;
    struct fleet fleet;
    struct ride r = {0};
    gyre_error_t e;
    fleet_up(&fleet, 1, false);
    gyre_topology_t *t = fleet_topology(&fleet, 0, 1, 1);
    ride_open(&r, fleet.dir, t);
    struct gy_node_facts f = {0};
    struct gy_precheck c = {.m = r.mover, .view = r.view};
    struct gy_checks k = {.c = &c, .facts = &f};
    gy_links_init(&k.links, &r.mover->link_conf);
    fleet_do(fleet.node[0].c, "SET", "k", "v", NULL);
    assert_int_equal(gy_check_look(&k, 0, &e), GYRE_OK);

    /* The version behind every value of this server is the one found without a key. */
    struct gy_reply *d;
    assert_int_equal(gy_sync_call(fleet.node[0].c, &d, NULL, "DUMP", "k", NULL), GYRE_OK);
    const uint8_t *foot = d->text.p + d->text.n - 10;
    assert_int_equal(f.rdb, foot[0] | foot[1] << 8);
    assert_true(f.rdb >= 10);
    gy_reply_free(d);

    assert_true(f.known && f.master && !f.loading && !f.cluster && !f.other_dbs);
    assert_int_equal(f.keys, 1);
    assert_string_equal(f.policy, "noeviction");
    assert_in_range(f.clock + 50000, 0, 100000); /* one machine, one clock */
    assert_int_equal(strlen(f.replid), 40);
    gy_links_fini(&k.links);
    ride_close(&r);
    gyre_topology_free(t);
    fleet_down(&fleet);
}

static void decide(unsigned rdb, const char *policy, int64_t skew, const char *why)
{
    gyre_error_t e = {0};
    struct gy_node_facts s = {.rdb = 11, .policy = "allkeys-lru", .clock = 7000000};
    struct gy_node_facts d = {.rdb = rdb, .clock = s.clock + skew};
    snprintf(d.policy, sizeof d.policy, "%s", policy);
    int rc = gy_check_pair("'s'", &s, "'d'", &d, &e);
    assert_int_equal(rc, why ? GYRE_REFUSED : GYRE_OK);
    if (why && !strstr(e.message, why)) {
        fail_msg("'%s' does not say '%s'", e.message, why);
    }
}

static void test_pairs(void **state)
{
    (void)state;
    decide(11, "noeviction", 0, NULL);
    decide(12, "volatile-ttl", -100000, NULL); /* up to the limit; what is newer reads older */
    decide(10, "noeviction", 0, "'d': it is older than 's' (RDB version 10, not 11)");
    decide(0, "noeviction", 0, "upgrade it first");
    decide(11, "allkeys-random", 0, "'d': maxmemory-policy allkeys-random");
    decide(11, "noeviction", 100001, "'d': its clock is 0.100 s away from that of 's'");
    decide(11, "noeviction", -3600000000, "3600.000 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts_of_a_server),
        cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
