/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command table against a live redis-server 7.0: every command it knows, with its arity, keys,
 * write flag and version; and the keys of the calls in invocations.txt (the argument).
 */
#include "live.h"
#include "wire/command.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { EXTRA = 1 /* rows of later versions: client|setinfo */ };

static struct live redis;
static const char *invocations;

static struct gy_reply *ask(size_t argc, const struct gy_slice *argv)
{
    struct gy_reply *r = live_ask(&redis, argc, argv);
    assert_non_null(r);
    return r;
}

static const struct gy_command *row_of(struct gy_slice name)
{
    const uint8_t *bar = name.n ? memchr(name.p, '|', name.n) : NULL;
    struct gy_slice argv[2] = {name, {NULL, 0}};
    if (bar) {
        argv[0].n = (size_t)(bar - name.p);
        argv[1] = (struct gy_slice){bar + 1, name.n - argv[0].n - 1};
    }
    return gy_command_find(argv, bar ? 2 : 1);
}

static bool has_flag(const struct gy_reply *flags, const char *flag)
{
    for (size_t i = 0; i < flags->count; i++) {
        if (gy_reply_is(&flags->item[i], flag)) {
            return true;
        }
    }
    return false;
}

/* COMMAND's array for one command: name arity flags first last step acl tips specs subcommands. */
static size_t compare_row(const struct gy_reply *r)
{
    size_t seen = 1;
    const struct gy_command *c = row_of(r->item[0].text);
    if (!c) {
        fail_msg("not in the table: %.*s", (int)r->item[0].text.n, r->item[0].text.p);
    }
    assert_true(gy_slice_eq(gy_str(c->name), r->item[0].text));
    const struct gy_reply *subs = &r->item[9];
    bool same = c->arity == r->item[1].integer && c->first == r->item[3].integer &&
                c->last == r->item[4].integer && c->step == r->item[5].integer;
    bool write_known = !has_flag(&r->item[2], "write") || c->flags & GY_CMDF_WRITE;
    bool blocking_known = has_flag(&r->item[2], "blocking") == !!(c->flags & GY_CMDF_BLOCKING);
    bool container_known = (subs->count > 0) == !!(c->flags & GY_CMDF_CONTAINER);
    bool growth_known = has_flag(&r->item[2], "denyoom") == !!(c->flags & GY_CMDF_GROWS);
    if (!growth_known || !same || !write_known || !blocking_known || !container_known) {
        fail_msg("differs from the server: %s", c->name);
    }
    for (size_t i = 0; i < subs->count; i++) {
        seen += compare_row(&subs->item[i]);
    }
    return seen;
}

static void test_all_of_redis_is_known(void **state)
{
    size_t seen = 0;
    struct gy_reply *all = ask(1, &GY_LIT("COMMAND"));
    for (size_t i = 0; i < all->count; i++) {
        seen += compare_row(&all->item[i]);
    }
    assert_true(seen > 300);
    assert_int_equal(seen + EXTRA, gy_command_count());
    gy_reply_free(all);
}

/* COMMAND DOCS: a map of name to a map with "since", and "subcommands" of the same form. */
static void compare_docs(const struct gy_reply *docs)
{
    for (size_t i = 0; i + 1 < docs->count; i += 2) {
        const struct gy_command *c = row_of(docs->item[i].text);
        const struct gy_reply *fields = &docs->item[i + 1];
        assert_non_null(c);
        for (size_t j = 0; j + 1 < fields->count; j += 2) {
            if (gy_reply_is(&fields->item[j], "since")) {
                assert_true(gy_reply_is(&fields->item[j + 1], c->since));
            } else if (gy_reply_is(&fields->item[j], "subcommands")) {
                compare_docs(&fields->item[j + 1]);
            }
        }
    }
}

static void test_since(void **state)
{
    struct gy_slice argv[] = {GY_LIT("COMMAND"), GY_LIT("DOCS")};
    struct gy_reply *docs = ask(2, argv);
    assert_true(docs->count > 400);
    compare_docs(docs);
    gy_reply_free(docs);
}

/* ---- the keys of calls ---- */

static void add_key(struct gy_buf *b, struct gy_slice key)
{
    if (gy_buf_size(b)) {
        gy_buf_putc(b, '|');
    }
    gy_buf_add(b, key.p, key.n);
}

/* "a|b", or "!" for no keys as for refused; returns what gy_command_keys did. */
static int our_keys(const struct gy_command *c, const struct gy_request *r, struct gy_buf *out)
{
    uint32_t pos[16];
    int n = gy_command_keys(c, r->argv, r->argc, pos, 16);
    assert_true(n <= 16);
    for (int i = 0; i < n; i++) {
        assert_in_range(pos[i], 1, r->argc - 1);
        add_key(out, r->argv[pos[i]]);
    }
    if (n <= 0) {
        gy_buf_putc(out, '!');
    }
    return n;
}

static void server_keys(const struct gy_request *r, struct gy_buf *out)
{
    struct gy_slice argv[32] = {GY_LIT("COMMAND"), GY_LIT("GETKEYS")};
    assert_true(r->argc <= 30);
    memcpy(argv + 2, r->argv, r->argc * sizeof *argv);
    struct gy_reply *keys = ask(r->argc + 2, argv);
    for (size_t i = 0; i < keys->count; i++) {
        add_key(out, keys->item[i].text);
    }
    if (keys->count == 0) {
        gy_buf_putc(out, '!');
    }
    gy_reply_free(keys);
}

/* One line of invocations.txt; marks its command as seen. */
static void compare_line(char *line, bool *seen)
{
    static const struct gy_req_limits limits = {
        .bulk = 1024, .total = 1024, .args = 30, .inline_line = 1024};
    struct gy_req_parser p;
    struct gy_request r;
    struct gy_buf ours = {0}, theirs = {0};
    char kind = *line == '?' || *line == '=' ? *line++ : ' ';
    char *want = strstr(line, " => ");
    if (want) {
        want[strcspn(want, "\n")] = 0;
        *want = '\n';
    }
    gy_req_init(&p, &limits);
    assert_int_equal(gy_req_parse(&p, (uint8_t *)line, strlen(line), &r), GY_PARSE_DONE);
    const struct gy_command *c = gy_command_find(r.argv, r.argc);
    assert_non_null(c);
    int n = our_keys(c, &r, &ours);
    if (n == -1) { /* only what the server itself would refuse */
        struct gy_reply *answer = ask(r.argc, r.argv);
        assert_int_equal(answer->type, '-');
        gy_reply_free(answer);
    }
    if (kind == '=') {
        gy_buf_puts(&theirs, want + 4);
    } else if (kind == '?' && n == -1) {
        gy_buf_puts(&theirs, "!");
    } else {
        server_keys(&r, &theirs);
    }
    if (strcmp(gy_buf_cstr(&ours), gy_buf_cstr(&theirs)) != 0 ||
        (kind != '=' && (kind == '?') != (n <= 0))) {
        fail_msg("keys '%s', not '%s': %s", gy_buf_cstr(&ours), gy_buf_cstr(&theirs), line);
    }
    for (size_t i = 0; i < gy_command_count(); i++) {
        seen[i] |= gy_command_at(i) == c && kind != '?';
    }
    gy_req_fini(&p);
    gy_buf_fini(&ours);
    gy_buf_fini(&theirs);
}

static void test_keys_of_calls(void **state)
{
    bool seen[1024] = {false};
    char *line = NULL;
    size_t cap = 0;
    FILE *f = fopen(invocations, "r");
    assert_non_null(f);
    while (getline(&line, &cap, f) > 0) {
        if (*line != '#') {
            compare_line(line, seen);
        }
    }
    fclose(f);
    free(line);
    for (size_t i = 0; i < gy_command_count(); i++) {
        const struct gy_command *c = gy_command_at(i);
        if ((c->first || c->flags & (GY_CMDF_NUMKEYS | GY_CMDF_STREAMS)) && !seen[i]) {
            fail_msg("no call of it in invocations.txt: %s", c->name);
        }
    }
}

/* ---- without the server ---- */

static const struct gy_command *find(const char *line, struct gy_req_parser *p,
                                     struct gy_request *r)
{
    static const struct gy_req_limits limits = {
        .bulk = 1024, .total = 1024, .args = 30, .inline_line = 1024};
    gy_req_init(p, &limits);
    assert_int_equal(gy_req_parse(p, (const uint8_t *)line, strlen(line), r), GY_PARSE_DONE);
    return gy_command_find(r->argv, r->argc);
}

static void test_find(void **state)
{
    struct gy_slice set_nul[] = {{(const uint8_t *)"set\0", 4}};
    struct gy_slice empty[] = {{(const uint8_t *)"", 0}};
    struct gy_slice bar[] = {GY_LIT("object|encoding")};
    struct gy_slice sub[] = {GY_LIT("OBJECT"), GY_LIT("ENCODING"), GY_LIT("k")};
    struct gy_slice no_sub[] = {GY_LIT("object"), GY_LIT("encodin")};
    assert_null(gy_command_find(set_nul, 1));
    assert_null(gy_command_find(empty, 1));
    assert_null(gy_command_find(empty, 0));
    assert_null(gy_command_find(bar, 1));
    assert_null(gy_command_find(no_sub, 2));
    assert_string_equal(gy_command_find(sub, 3)->name, "object|encoding");
    assert_string_equal(gy_command_find(sub, 1)->name, "object");
    assert_false(gy_command_arity_ok(gy_command_find(sub, 1), 1));
    assert_null(gy_command_at(gy_command_count()));
    /* every row is found by its own name, in either case, and not by a longer one */
    for (size_t i = 0; i < gy_command_count(); i++) {
        const struct gy_command *c = gy_command_at(i);
        char name[64], longer[66];
        snprintf(name, sizeof name, "%s", c->name);
        snprintf(longer, sizeof longer, "%sx", c->name);
        assert_ptr_equal(row_of(gy_str(name)), c);
        assert_ptr_not_equal(row_of(gy_str(longer)), c); /* LPUSH, LPUSHX */
        for (char *s = name; *s; s++) {
            *s = (char)toupper((unsigned char)*s);
        }
        assert_ptr_equal(row_of(gy_str(name)), c);
    }
}

static void test_refusals(void **state)
{
    static const struct {
        const char *line;
        bool refused;
    } calls[] = {
        {"sort k\n", false},
        {"sort k by nosort get #\n", false},
        {"sort k by w_*\n", true},
        {"sort_ro k GET # Get o_*\n", true},
        {"sort k limit by w_* get #\n", false}, /* "by" and "w_*" are LIMIT's values */
        {"sort k store by\n", false},
        {"xread streams a 0\n", false},
        {"xread block 0 streams a 0\n", true},
        {"xread count block streams a 0\n", false},
        {"xreadgroup group block block streams a >\n", false},
        {"xreadgroup group g c Block 1 streams a >\n", true},
        {"copy a b\n", false},
        {"copy a b db 0\n", false},
        {"copy a b replace DB 3\n", true},
        {"copy db db\n", false},
        {"get by\n", false},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct gy_req_parser p;
        struct gy_request r;
        const struct gy_command *c = find(calls[i].line, &p, &r);
        if (!!gy_command_refusal(c, r.argv, r.argc) != calls[i].refused) {
            fail_msg("%s", calls[i].line);
        }
        gy_req_fini(&p);
    }
}

static void test_short_room_for_keys(void **state)
{
    struct gy_req_parser p;
    struct gy_request r;
    uint32_t pos[3] = {9, 9, 9};
    const struct gy_command *c = find("mget a b c\n", &p, &r);
    assert_int_equal(gy_command_keys(c, r.argv, r.argc, pos, 2), 3);
    assert_int_equal(pos[1], 2);
    assert_int_equal(pos[2], 9);
    assert_int_equal(gy_command_keys(c, r.argv, r.argc, NULL, 0), 3);
    assert_int_equal(gy_command_keys(c, r.argv, 1, pos, 2), -1);
    gy_req_fini(&p);
}

/* What a class promises, whatever the server says. */
static void test_classes(void **state)
{
    for (size_t i = 0; i < gy_command_count(); i++) {
        const struct gy_command *c = gy_command_at(i);
        bool keys = c->first || c->flags & (GY_CMDF_NUMKEYS | GY_CMDF_STREAMS);
        bool told =
            c->klass == GY_CMD_PINNED || c->klass == GY_CMD_FANOUT || c->klass == GY_CMD_REFUSED;
        assert_true(told == (c->why != NULL));
        assert_true(keys || (c->klass != GY_CMD_KEYED && c->klass != GY_CMD_SPLIT));
        assert_true((c->klass == GY_CMD_SPLIT) == (c->merge != GY_MERGE_NONE));
    }
}

static int start(void **state)
{
    struct gy_slice info[] = {GY_LIT("INFO"), GY_LIT("server")};
    if (!live_start(&redis)) {
        return -1;
    }
    struct gy_reply *r = live_ask(&redis, 2, info);
    bool is_70 = r && memmem(r->text.p, r->text.n, "redis_version:7.0.", 18);
    gy_reply_free(r);
    if (!is_70) {
        fprintf(stderr, "this redis-server is not 7.0, which the table is made of\n");
    }
    return is_70 ? 0 : -1;
}

static int stop(void **state)
{
    live_stop(&redis);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_short_room_for_keys),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_all_of_redis_is_known),
        cmocka_unit_test(test_since),
        cmocka_unit_test(test_keys_of_calls),
    };
    if (argc != 2) {
        fprintf(stderr, "usage: %s INVOCATIONS\n", argv[0]);
        return 2;
    }
    invocations = argv[1];
    return cmocka_run_group_tests_name("command", tests, start, stop);
}
