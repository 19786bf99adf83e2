/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_batch.c - MD5 of many messages at once against MD5 of each: every number of messages, every
 * length about the ends of one block and of two, at each level of vector instructions the machine
 * has, and nothing read before a message or past its end (unmapped pages stand on both sides). The
 * widest kernel is also tried where the machine cannot run it, compiled from the same source
 * without the instructions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/hash/digest.h"
#include "lib/hash/functions.h"
#include "lib/hash/md5.h"
#include "lib/hash/md5_block.h"
#include "lib/hash/md5_tables.h"
#include "prop.h"

enum { LEN_MAX = 130 };

struct guarded {
    uint8_t *start, *end; /* of the page one may read */
    size_t page;
};

struct messages {
    struct guarded memory;
    const void *data[GY_MD5_MOST];
    size_t len[GY_MD5_MOST];
    uint64_t random;
};

static int set_up(void **state)
{
    static struct messages m = {.random = 1};
    m.memory.page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *all = mmap(NULL, 3 * m.memory.page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(all, MAP_FAILED);
    m.memory.start = all + m.memory.page;
    m.memory.end = m.memory.start + m.memory.page;
    assert_int_equal(mprotect(m.memory.start, m.memory.page, PROT_READ | PROT_WRITE), 0);
    for (size_t i = 0; i < m.memory.page; i++) {
        m.memory.start[i] = (uint8_t)prop_next(&m.random);
    }
    *state = &m;
    return 0;
}

static int tear_down(void **state)
{
    struct messages *m = *state;
    return munmap(m->memory.start - m->memory.page, 3 * m->memory.page);
}

/* At the page's end, at its start, or anywhere. */
static void draw(struct messages *m, size_t i, size_t len)
{
    const uint8_t *places[3] = {m->memory.end - len, m->memory.start,
                                m->memory.start + prop_next(&m->random) % (m->memory.page - len)};
    m->data[i] = places[prop_next(&m->random) % 3];
    m->len[i] = len;
}

static void check_digest(const struct gy_md5_words *words, size_t i, const void *data, size_t len)
{
    uint8_t digest[16];
    gy_md5_pieces(&(struct gy_piece){data, len}, 1, digest);
    for (unsigned k = 0; k < sizeof digest; k++) {
        if ((uint8_t)(words->word[k / 4][i] >> 8 * (k % 4)) != digest[k]) {
            fail_msg("message %zu, %zu bytes: not its MD5", i, len);
        }
    }
}

static void check_batch(const struct messages *m, size_t n)
{
    for (int level = GY_SIMD_NONE; level <= (int)gy_simd_best(); level++) {
        struct gy_md5_words words;
        memset(&words, 0xee, sizeof words);
        gy_md5_batch((enum gy_simd)level, m->data, m->len, n, &words);
        for (size_t i = 0; i < n; i++) {
            check_digest(&words, i, m->data[i], m->len[i]);
        }
    }
}

static void test_every_number(void **state)
{
    static const size_t most[] = {GY_MD5_CHUNK - 1, GY_MD5_ONE, LEN_MAX};
    struct messages *m = *state;
    for (size_t k = 0; k < sizeof most / sizeof most[0]; k++) {
        for (size_t n = 0; n <= GY_MD5_MOST; n++) {
            for (size_t i = 0; i < n; i++) {
                draw(m, i, prop_next(&m->random) % (most[k] + 1));
            }
            check_batch(m, n);
        }
    }
}

/* All of one length; and one longer than the rest, which changes how those are hashed. */
static void test_every_length(void **state)
{
    struct messages *m = *state;
    for (size_t len = 0; len <= LEN_MAX; len++) {
        for (size_t other = 0; other < 2; other++) {
            for (size_t i = 0; i < 40; i++) {
                draw(m, i, i % 40 == 17 && other ? prop_next(&m->random) % LEN_MAX : len);
            }
            check_batch(m, 40);
        }
    }
}

#ifdef GY_SIMD_X86
#define HOLD(x) (void)0
#define NAME    wide
#define LANES   16
#define VECTORS 2
#define TERNARY true
#define TARGET  __attribute__((noinline))
#include "lib/hash/md5_lanes.h"

static void test_wide_kernel(void **state)
{
    struct messages *m = *state;
    for (size_t from = 0; from <= GY_MD5_ONE; from++) {
        uint32_t word[16][GY_MD5_LANES];
        struct gy_md5_words out;
        for (size_t i = 0; i < GY_MD5_LANES; i++) {
            struct gy_md5_block block;
            draw(m, i, (from + i) % (GY_MD5_ONE + 1));
            gy_md5_fill(&block, m->data[i], m->len[i]);
            for (unsigned w = 0; w < 16; w++) {
                word[w][i] = block.word[w];
            }
        }
        wide((const uint32_t(*)[GY_MD5_LANES])word, &out, 0);
        for (size_t i = 0; i < GY_MD5_LANES; i++) {
            check_digest(&out, i, m->data[i], m->len[i]);
        }
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_number),
        cmocka_unit_test(test_every_length),
#ifdef GY_SIMD_X86
        cmocka_unit_test(test_wide_kernel),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
