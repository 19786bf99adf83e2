/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_reads.c - what must hold of every function in the table: nothing outside the message is
 * read (unmapped pages stand on both sides), where it lies in memory is no matter, every byte of it
 * counts, and the answers are those kept here, on whatever machine this runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/hash/table.h"
#include "prop.h"

enum { LEN_MAX = 300 };

static uint8_t message[LEN_MAX + 1];

/* Half of them from 0x80 up, or all. */
static void fill(bool all_high)
{
    uint64_t state = 7;
    for (size_t i = 0; i < sizeof message; i++) {
        message[i] = (uint8_t)((uint8_t)prop_next(&state) | (all_high ? 0x80 : 0));
    }
}

struct guarded {
    uint8_t *start, *end; /* of the page one may read */
    size_t page;
};

static void guard(struct guarded *g)
{
    g->page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *all = mmap(NULL, 3 * g->page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(all, MAP_FAILED);
    g->start = all + g->page;
    g->end = g->start + g->page;
    assert_int_equal(mprotect(g->start, g->page, PROT_READ | PROT_WRITE), 0);
}

static void test_place_in_memory(void **state)
{
    (void)state;
    struct guarded g;
    guard(&g);
    for (unsigned high = 0; high < 2; high++) {
        fill(high);
        for (size_t len = 0; len <= LEN_MAX; len++) {
            memcpy(g.end - len, message, len);
            memcpy(g.start + len % 16, message, len);
            for (size_t i = 0; i < gy_hash_count; i++) {
                const struct gy_hash *h = gy_hashes[i];
                gy_u128 value = h->value(message, len);
                if (h->value(g.end - len, len) != value ||
                    h->value(g.start + len % 16, len) != value) {
                    fail_msg("%s, %zu bytes: another place, another value", h->name, len);
                }
            }
        }
    }
    munmap(g.start - g.page, 3 * g.page);
}

static void test_values_fit_their_bits(void **state)
{
    (void)state;
    fill(true);
    for (size_t i = 0; i < gy_hash_count; i++) {
        gy_u128 seen = 0;
        for (size_t len = 0; len <= LEN_MAX; len++) {
            seen |= gy_hashes[i]->value(message, len);
        }
        /* 300 values leave no bit of a hash unset. */
        if (seen != gy_ring_last(gy_hashes[i]->bits)) {
            fail_msg("%s: not all of its %u bits occur, or more", gy_hashes[i]->name,
                     gy_hashes[i]->bits);
        }
    }
}

/* Flips one byte after the other; the 15- and 16-bit functions may meet the same value by chance.
 */
static void test_every_byte_counts(void **state)
{
    (void)state;
    fill(false);
    for (size_t i = 0; i < gy_hash_count; i++) {
        const struct gy_hash *h = gy_hashes[i];
        gy_u128 value = h->value(message, LEN_MAX);
        unsigned same = 0;
        for (size_t at = 0; at < LEN_MAX; at++) {
            message[at] ^= 0x81;
            same += h->value(message, LEN_MAX) == value;
            message[at] ^= 0x81;
        }
        if (same > (h->bits <= 16 ? 2u : 0u)) {
            fail_msg("%s: %u bytes of %d make no difference", h->name, same, LEN_MAX);
        }
    }
}

static void test_empty_message_may_be_null(void **state)
{
    (void)state;
    for (size_t i = 0; i < gy_hash_count; i++) {
        assert_true(gy_hashes[i]->value(NULL, 0) == gy_hashes[i]->value("", 0));
    }
}

static void test_seeds_and_keys_count(void **state)
{
    (void)state;
    uint8_t key[16] = {0};
    fill(false);
    for (size_t i = 0; i < gy_hash_count; i++) {
        const struct gy_hash *h = gy_hashes[i];
        assert_true(!h->seeded || h->seeded(message, 30, 1) != h->seeded(message, 30, 2));
        if (h->keyed) {
            assert_true(h->keyed(message, 30, key) == h->value(message, 30));
            for (unsigned k = 0; k < 16; k++) {
                key[k] = 1;
                assert_true(h->keyed(message, 30, key) != h->value(message, 30));
                key[k] = 0;
            }
        }
    }
}

/* Over lengths 0 to 300 of both messages: the values joined by times 31 plus the next. Made on
 * x86-64 when every function had passed its vectors. */
static const struct {
    const char *name;
    uint64_t sum;
} kept[] = {
    {"city64", 0xf78b431aab54968f},
    {"crc16", 0xd5da2fda507f895d},
    {"crc16_wide", 0xce1e6afbdb63895d},
    {"crc32", 0xb0b3bbdeb4dc0ce9},
    {"crc32_15", 0xd10dacf872a005ae},
    {"crc32c", 0x856000941d31248c},
    {"djb2", 0x75547a341f7bce7e},
    {"fnv1_32", 0x51ea66d161767e7a},
    {"fnv1_32_signed", 0x9dcf4f0066737d7a},
    {"fnv1_64", 0x4aba01ffe64b41ba},
    {"fnv1_64_signed_low", 0x9e3be6b4a14df2ba},
    {"fnv1a_32", 0xfc70cfd3d7def5b2},
    {"fnv1a_32_signed", 0x6ca746806404cab2},
    {"fnv1a_64", 0x83565369b84e6772},
    {"fnv1a_64_signed_cut", 0x72711fe03c550072},
    {"hsieh", 0xad508a99a3660977},
    {"lookup3", 0x85875980fea49e37},
    {"lookup3_13", 0x736fe90394c0db5f},
    {"md5", 0x73e9ae50bde8911f},
    {"md5_be64", 0x79dc35766c8124ed},
    {"md5_le32", 0x239df8203b6e8f35},
    {"md5_le64", 0x6a4242aa3b6e8f35},
    {"murmur2_32", 0x988ea4ab8200b60a},
    {"murmur2_32_kafka", 0xce5e90129967af5b},
    {"murmur2_64a", 0xcadad801bc5d6628},
    {"murmur2_64a_envoy", 0x07204dc08cc0344a},
    {"murmur2_64a_mcrouter", 0x443343dfcbcd6b3b},
    {"murmur2_length", 0x4e5633354ac4a837},
    {"murmur3_128", 0x01dad8163085a440},
    {"murmur3_128_xor", 0x00d71b90c42bf79e},
    {"murmur3_32", 0x3c9d954481cb8644},
    {"murmur3_cassandra", 0x361bb26d655d9e6d},
    {"murmur3_length", 0xc1b4f557bd268653},
    {"one_at_a_time", 0x40764c6ec5cbd02e},
    {"one_at_a_time_signed", 0xdc484decc06e4e35},
    {"ripemd160", 0xb388a8be914de9fa},
    {"sdbm", 0x47caf5444586abb4},
    {"sha1", 0xf0da896345c4e57a},
    {"sha1_le32", 0xe838976e3cfb420a},
    {"sha256", 0x7e155df4eee80c5f},
    {"siphash24", 0xdfbd601a5bec16aa},
    {"siphash24_halves", 0x38d10c8aa2059e2a},
    {"spooky128", 0xae7eefa77147d77a},
    {"spooky32_mcrouter", 0x12e626f7f5a97285},
    {"wt6", 0xd7853ad6776df694},
    {"xxh3", 0x5829ad289df99b8a},
    {"xxh32", 0x2b3cc82c7ffa6851},
    {"xxh3_128", 0xd1b5abaaaa641dd2},
    {"xxh64", 0x758a9a406105ee0d},
};

static uint64_t sum_of(const struct gy_hash *h)
{
    uint64_t sum = 0;
    for (unsigned high = 0; high < 2; high++) {
        fill(high);
        for (size_t len = 0; len <= LEN_MAX; len++) {
            gy_u128 x = h->value(message, len);
            sum = (sum * 31 + (uint64_t)(x >> 64)) * 31 + (uint64_t)x;
        }
    }
    return sum;
}

static void test_values_are_those_kept(void **state)
{
    (void)state;
    assert_int_equal(sizeof kept / sizeof kept[0], gy_hash_count);
    for (size_t i = 0; i < gy_hash_count; i++) {
        assert_string_equal(kept[i].name, gy_hashes[i]->name);
        uint64_t sum = sum_of(gy_hashes[i]);
        if (sum != kept[i].sum) {
            fail_msg("%s: the sum is 0x%016llx, not 0x%016llx", kept[i].name,
                     (unsigned long long)sum, (unsigned long long)kept[i].sum);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place_in_memory),
        cmocka_unit_test(test_values_fit_their_bits),
        cmocka_unit_test(test_every_byte_counts),
        cmocka_unit_test(test_empty_message_may_be_null),
        cmocka_unit_test(test_seeds_and_keys_count),
        cmocka_unit_test(test_values_are_those_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
