/* SPDX-License-Identifier: Apache-2.0 */
/* What is found in a pool by search is what a look at each server finds; slots grouped by owner. */
#include "formats/format.h"
#include "formats/redis_slots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define SERVERS 500

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % below;
}

/* Masters first and replicas of some of them; ids without order. */
static void write_nodes(struct gy_buf *out)
{
    for (uint32_t i = 0; i < SERVERS; i++) {
        gy_buf_printf(out, "%08x%032x 10.0.0.1:%u@1 ", i * 2654435761u, i, i + 1);
        if (i < SERVERS / 2) {
            gy_buf_printf(out, "master - 0 0 1 connected %u\n", i);
        } else {
            uint32_t of = i * i % (SERVERS / 2);
            gy_buf_printf(out, "slave %08x%032x 0 0 1 connected\n", of * 2654435761u, of);
        }
    }
}

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void check_server(const struct gy_pool *p, const struct gy_server *s)
{
    const struct gy_server *name = NULL, *id = NULL;
    size_t count, met = 0;
    const struct gy_server *const *r = gy_pool_replicas(p, s->id, &count);
    for (size_t i = 0; i < p->server_count; i++) {
        const struct gy_server *other = &p->servers[i];
        name = name || !same(other->name, s->name) ? name : other;
        id = id || !same(other->id, s->id) ? id : other;
        if (same(other->replica_of, s->id)) {
            assert_true(met < count);
            assert_ptr_equal(r[met++], other);
        }
    }
    assert_int_equal(met, count);
    assert_ptr_equal(gy_pool_find(p, s->name), name);
    assert_ptr_equal(gy_pool_find_id(p, s->id), id);
}

static void test_search(void **state)
{
    (void)state;
    struct gy_buf text = {0};
    struct gy_pools *f;
    struct gy_source from = {.file = "f", .format = "redis-nodes"};
    size_t count;
    write_nodes(&text);
    assert_int_equal(
        gy_pools_parse((struct gy_slice){gy_buf_head(&text), gy_buf_size(&text)}, &from, &f, NULL),
        GYRE_OK);
    struct gy_pool *p = f->list[0];
    assert_int_equal(p->server_count, SERVERS);
    for (size_t i = 0; i < SERVERS; i++) {
        check_server(p, &p->servers[i]);
    }
    static const char *const strangers[] = {"", "0", "10.0.0.1:0", "z",
                                            "ffffffffffffffffffffffffffffffffffffffff"};
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        assert_null(gy_pool_find(p, strangers[i]));
        assert_null(gy_pool_find_id(p, strangers[i]));
        (void)gy_pool_replicas(p, strangers[i], &count);
        assert_int_equal(count, 0);
    }
    /* One that is taken away is not found any more. */
    struct gy_slice last = gy_str(p->servers[SERVERS - 1].name);
    char *name = gy_slice_dup(last);
    gy_pool_drop_last(p);
    assert_null(gy_pool_find(p, name));
    assert_ptr_equal(gy_pool_find(p, p->servers[3].name), &p->servers[3]);
    free(name);
    gy_pools_free(f);
    gy_buf_fini(&text);
}

/* "0-2,5" of one owner, by a look at every slot. */
static uint32_t look(const struct gy_slot_owners *o, uint32_t owner, struct gy_buf *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0, first; i < GY_REDIS_SLOTS; i++) {
        if (o->server[i] != owner) {
            continue;
        }
        for (first = i; i + 1 < GY_REDIS_SLOTS && o->server[i + 1] == owner; i++) {
        }
        gy_buf_printf(out, count ? ",%u" : "%u", first);
        if (i > first) {
            gy_buf_printf(out, "-%u", i);
        }
        count += i - first + 1;
    }
    return count;
}

static void test_groups(void **state)
{
    (void)state;
    static struct gy_slot_owners o;
    uint64_t seed = 1;
    for (uint32_t owners = 0; owners < 40; owners += 3) {
        struct gy_slot_groups g;
        for (uint32_t slot = 0; slot < GY_REDIS_SLOTS;) {
            uint32_t owner = draw(&seed, owners + 1), end = slot + 1 + draw(&seed, 300);
            for (; slot < end && slot < GY_REDIS_SLOTS; slot++) {
                o.server[slot] = owner;
            }
        }
        assert_int_equal(gy_slot_groups_init(&g, &o, owners), GYRE_OK);
        for (uint32_t i = 0; i <= owners; i++) {
            struct gy_buf got = {0}, want = {0};
            assert_int_equal(gy_redis_ranges(&g, i, &got), look(&o, i, &want));
            assert_string_equal(gy_buf_cstr(&got), gy_buf_cstr(&want));
            gy_buf_fini(&got);
            gy_buf_fini(&want);
        }
        gy_slot_groups_fini(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
