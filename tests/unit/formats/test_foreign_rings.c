/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_foreign_rings.c - rings whose owners stand in the file (Cassandra): what is no such ring is
 * refused where it stands and for that reason; tokens, states and printed shares of odd listings.
 * What comes out of good files is in tests/corpus.
 */
#include "foreign.h"

#define RING   "Address Rack Status State Load Owns Token\n"
#define STATUS "--  Address  Load  Tokens  Owns (effective)  Host ID  Rack\n"
#define RANGE(from, to, of)                                                                     \
    "TokenRange(start_token:" from ", end_token:" to ", endpoints:[" of "], rpc_endpoints:[" of \
    "], endpoint_details:[EndpointDetails(host:" of ", datacenter:d, rack:r)])\n"

static const struct refusal REFUSALS[] = {
    /* nodetool ring */
    {NULL, RING, 1, 1, "there is no node in it"},
    {NULL, RING "10.0.0.1 r1 Up Normal 1 GB 33% x1\n10.0.0.2 r1 Up Normal 1 GB 33% 5\n", 2, 32,
     "'x1' is no token: tokens are whole numbers"},
    {NULL, RING "10.0.0.1 r1 Up Normal 1 GB 33% 5\n10.0.0.2 r1 Up Normal 1 GB 33% 5\n", 3, 32,
     "token 5 belongs to '10.0.0.1' (line 2) and to '10.0.0.2'"},
    {NULL, RING "10.0.0.1 r1 Up Normal ? ? -5\n10.0.0.2 r1 Up Normal ? ? 9223372036854775808\n", 3,
     27, "too great for Murmur3Partitioner, and the one on line 2 is below 0"},
    {NULL, RING "10.0.0.1 r1 Up Normal ? ? -9223372036854775809\n", 2, 27, "is no token"},
    {NULL, RING "10.0.0.1 r1 Up Normal ? ? 170141183460469231731687303715884105729\n", 2, 27,
     "0 to 2^127 with RandomPartitioner"},
    {NULL, RING "10.0.0.1 r1 Up Normal 5\n", 2, 23, "a row ends with load, owns and token"},
    {NULL, RING "10.0.0.1 r1 Up Sleeping 1 GB 33% 5\n", 2, 1, "a row without its status"},
    {NULL, RING "10.0.0.1 r1 Up Normal ? ? 5\n10.0.0.1 r2 Up Normal ? ? 6\n", 3, 1,
     "stands in another datacenter or rack than on line 2"},
    {NULL, RING "10.0.0.1 r1 Up Normal ? ? Token(bytes[61])\n10.0.0.2 r1 Up Normal ? ? apple\n", 2,
     0, "its tokens are text"},
    {NULL, RING "10.0.0.1 r1 Up Normal ? ? 3a\n10.0.0.2 r1 Up Normal ? ? 40\n", 2, 0,
     "no hash places them"},
    /* nodetool status */
    {NULL, STATUS, 1, 1, "there is no node in it"},
    {NULL, STATUS "UN 10.0.0.1 5 KB many 3% id r1\n", 2, 18, "'many' stands where the number"},
    {NULL, STATUS "UN 10.0.0.1 5 KB\n", 2, 1, "fewer columns than the header"},
    {NULL, STATUS "UN\n", 2, 1, "a row without an address"},
    {NULL, STATUS "XN 10.0.0.1 5 KB 8 3% id r1\n", 2, 1, "unknown state 'XN'"},
    {NULL, STATUS "UN 10.0.0.1 ? 8 3% id r1\nDN 10.0.0.1 ? 8 3% id r1\n", 3, 4,
     "node '10.0.0.1' stands twice; first on line 2"},
    {NULL, STATUS "UN 10.0.0.1 ? 8 3% id r1\n", 2, 0, "nodetool ring prints them"},
    {NULL, "--  Address  Load  Owns  Host ID  Token  Rack\nUN a 1 KB ? i 1.5 r\n", 2, 15,
     "'1.5' is no token"},
    /* nodetool describering */
    {NULL, RANGE("1", "5", "a") RANGE("5", "9", "b"), 2, 24, "no range begins at '9'"},
    {NULL, RANGE("1", "5", "a") RANGE("5", "1", "b") RANGE("5", "1", "b"), 3, 24,
     "two ranges begin at '5'; the first on line 2"},
    {NULL, RANGE("1", "1", ""), 1, 1, "has no endpoints"},
    {NULL, "TokenRange(start_token:1, end_token:5\n", 1, 1, "has no end_token: cut off?"},
    {NULL, "TokenRange(start_token:1, end_token:5, endpoints:[a\n", 1, 1, "has no endpoints"},
    {NULL, RANGE("1", "1", ",a"), 1, 51, "endpoints are 1 to 64 addresses"},
    {NULL, RANGE("x", "x", "a"), 1, 37, "'x' is no token"},
};

static void refusals(void **state)
{
    (void)state;
    refuse_all(REFUSALS, sizeof REFUSALS / sizeof REFUSALS[0]);
}

static struct gy_pools *read_text(const char *text)
{
    struct gy_source from = {.file = "f"};
    struct gy_pools *f;
    gyre_error_t e = {0};
    if (gy_pools_parse(gy_str(text), &from, &f, &e)) {
        fail_msg("%s\n%s", text, e.message);
    }
    return f;
}

static bool has_note(const struct gy_pool *p, const char *code)
{
    for (size_t i = 0; i < p->note_count; i++) {
        if (strcmp(p->notes[i].code, code) == 0) {
            return true;
        }
    }
    return false;
}

/* The oldest table, without place; a load of one word; an IPv6 node; CR LF. */
static void old_ring(void **state)
{
    (void)state;
    struct gy_pools *f = read_text("$ nodetool ring\r\n"
                                   "Address Status State Load Owns Token\r\n"
                                   "        85070591730234615865843651857942052864\r\n"
                                   "::1 ? Normal ? 50.00% 0\r\n"
                                   "10.0.0.2:7000 Down Leaving 12.5MB 50,00% "
                                   "85070591730234615865843651857942052864\r\n");
    const struct gy_pool *p = f->list[0];
    assert_string_equal(gyre_topology_get(p->config->topology, "partitioner"), "RandomPartitioner");
    assert_int_equal(p->server_count, 2);
    assert_int_equal(p->servers[0].states, GY_STATE_SUSPECT);
    assert_null(p->servers[0].address);
    assert_string_equal(p->servers[0].zone, "datacenter1");
    assert_int_equal(p->servers[1].states, GY_STATE_DOWN | GY_STATE_LEAVING);
    assert_string_equal(p->servers[1].address, "10.0.0.2:7000");
    assert_string_equal(p->servers[1].reported, "50,00%");
    assert_false(has_note(p, "owns-contradict-tokens"));
    gy_pools_free(f);
}

/* One copy is printed, and tokens that do not give it. */
static void contradiction(void **state)
{
    (void)state;
    struct gy_pools *f = read_text(RING "a.x r1 Up Normal 1 KB 50.00% -9223372036854775808\n"
                                        "b.x r1 Up Normal 1 KB 50.00% 1\n");
    assert_false(has_note(f->list[0], "owns-contradict-tokens"));
    gy_pools_free(f);
    f = read_text(RING "a.x r1 Up Normal 1 KB 50.00% -9223372036854775808\n"
                       "b.x r1 Up Normal 1 KB 50.00% 4611686018427387904\n");
    assert_true(has_note(f->list[0], "owns-contradict-tokens"));
    gy_pools_free(f);
    f = read_text(RING "a.x r1 Up Normal 1 KB 50.00% -9223372036854775808\n"
                       "b.x r1 Up Normal 1 KB 30.00% 4611686018427387904\n");
    assert_true(has_note(f->list[0], "owns-incomplete"));
    gy_pools_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals),
        cmocka_unit_test(old_ring),
        cmocka_unit_test(contradiction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
