/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_move.c - whole moves on real redis-servers: 20 000 keys of every type, added to, drained,
 * re-weighted, replaced and taken back, with what clients do in between.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ride.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define KEYS 20000

static struct fleet fleet;

static int up(void **state)
{
    (void)state;
    fleet_up(&fleet, 5, false);
    return 0;
}

static int down(void **state)
{
    (void)state;
    fleet_down(&fleet);
    return 0;
}

static void forget_state(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s/state'", fleet.dir);
    assert_int_equal(system(command), 0);
    fleet_flush(&fleet);
    fleet_forget_moves(&fleet);
}

static void begin(struct ride *r, gyre_topology_t *next, const struct gy_move_options *o)
{
    gyre_error_t e;
    if (gy_mover_begin(r->mover, gyre_topology_clone(next), o, &e) != GYRE_OK) {
        fail_msg("%s", e.message);
    }
}

static void refused(struct ride *r, gyre_topology_t *next, const struct gy_move_options *o,
                    const char *why)
{
    gyre_error_t e;
    assert_int_equal(gy_mover_begin(r->mover, gyre_topology_clone(next), o, &e), GYRE_REFUSED);
    if (!strstr(e.message, why)) {
        fail_msg("'%s' does not say '%s'", e.message, why);
    }
}

/* Runs the move from `from` to `to` and checks everything. */
static void whole(gyre_topology_t *from, gyre_topology_t *to, size_t keys)
{
    struct ride r = {0};
    struct model m;
    forget_state();
    model_fill(&m, &fleet, from, keys);
    ride_open(&r, fleet.dir, from);
    ride_start(&r);
    begin(&r, to, NULL);
    ride_wait(&r, "idle");
    gyre_topology_t *now = ride_topology(&r);
    assert_int_equal(gyre_topology_version(now), gyre_topology_version(from) + 1);
    model_verify(&m, &fleet, now);
    model_verify(&m, &fleet, to);
    struct gy_buf history = {0};
    assert_int_equal(gy_mover_history(r.mover, &history, NULL), GYRE_OK);
    const char *text = gy_buf_cstr(&history);
    assert_non_null(strstr(text, "\"result\":\"moved\""));
    unsigned long long moved = 0, minimum = 1;
    assert_int_equal(sscanf(strstr(text, "\"keys\":"), "\"keys\":%llu", &moved), 1);
    assert_int_equal(sscanf(strstr(text, "\"keys_minimum\":"), "\"keys_minimum\":%llu", &minimum),
                     1);
    assert_true(moved > 0);
    assert_int_equal(moved, minimum);
    gy_buf_fini(&history);
    gyre_topology_free(now);
    ride_close(&r);
    model_fini(&m);
}

static void test_add(void **state)
{
    (void)state;
    gyre_topology_t *a = fleet_topology(&fleet, 0, 4, 7), *b = fleet_topology(&fleet, 0, 5, 0);
    whole(a, b, KEYS);
    gyre_topology_free(a);
    gyre_topology_free(b);
}

static void test_remove(void **state)
{
    (void)state;
    gyre_topology_t *a = fleet_topology(&fleet, 0, 4, 7), *b = fleet_topology(&fleet, 1, 4, 0);
    whole(a, b, 5000);
    gyre_topology_free(a);
    gyre_topology_free(b);
}

static void test_weight(void **state)
{
    (void)state;
    gyre_topology_t *a = fleet_topology(&fleet, 0, 3, 7), *b = fleet_topology(&fleet, 0, 3, 0);
    assert_int_equal(gyre_topology_set_weight(b, "cache-1", 3, NULL), GYRE_OK);
    whole(a, b, 5000);
    gyre_topology_free(a);
    gyre_topology_free(b);
}

static void test_replace(void **state)
{
    (void)state;
    gyre_topology_t *a = fleet_topology(&fleet, 0, 3, 7), *b = fleet_topology(&fleet, 0, 3, 0);
    assert_int_equal(gyre_topology_set_address(b, "cache-2", fleet.node[4].address, NULL), GYRE_OK);
    whole(a, b, 5000);
    gyre_topology_free(a);
    gyre_topology_free(b);
}

/* ---- what clients do meanwhile ---- */

struct client {
    struct model *m;
    bool written, reborn;
    size_t changed, deleted, born;
    bool abort_at_complete, abort_at_migrating, aborted;
};

static struct gy_sync *at(const struct gy_view *v, uint32_t server)
{
    for (unsigned i = 0; i < fleet.n; i++) {
        if (strcmp(fleet.node[i].address, v->servers[server].address) == 0) {
            return fleet.node[i].c;
        }
    }
    return NULL;
}

/* ensure_moved as the proxy does it (migration.md 3.2). */
static void ensure_moved(struct ride *r, const struct gy_view *v, const struct gy_route *w,
                         const char *key)
{
    char epoch[24], expire[24];
    const struct gy_unit_names *n = &v->move->names[w->unit];
    struct gy_reply *x, *y;
    struct gy_sync *s = at(v, w->src), *d = at(v, w->dst);
    if (fleet_int(d, "SISMEMBER", n->marks, key, NULL) == 1) {
        return;
    }
    assert_int_equal(gy_sync_call(s, &x, NULL, "FCALL_RO", "gyre_dump", "1", key, NULL), GYRE_OK);
    snprintf(epoch, sizeof epoch, "%llu", (unsigned long long)v->move->epoch);
    snprintf(expire, sizeof expire, "%lld", (long long)x->item[1].integer);
    bool there = x->item[0].type == '$';
    struct gy_slice argv[] = {GY_LIT("FCALL"),
                              GY_LIT("gyre_install"),
                              GY_LIT("3"),
                              gy_str(n->rec),
                              gy_str(n->marks),
                              gy_str(key),
                              gy_str(epoch),
                              gy_str(expire),
                              there ? GY_LIT("D") : GY_LIT("N"),
                              there ? x->item[0].text : GY_LIT("")};
    gy_sync_add(d, 10, argv);
    assert_int_equal(gy_sync_read(d, &y, NULL), GYRE_OK);
    assert_true(gy_reply_is(y, "OK") || gy_reply_is(y, "DONE"));
    r->access_keys += there;
    r->access_bytes += there ? x->item[0].text.n : 0;
    gy_reply_free(x);
    gy_reply_free(y);
}

/* An existing key of a unit in this state, of a kind that SET may follow. */
static size_t pick(const struct client *c, const struct gy_view *v, enum gy_unit_state s,
                   size_t after, struct gy_route *w)
{
    for (size_t i = after; i < c->m->n; i++) {
        *w = gy_view_route(v, c->m->key[i], strlen(c->m->key[i]));
        if (w->unit != GY_NO_UNIT && w->state == s && c->m->digest[i][0]) {
            return i;
        }
    }
    return c->m->n;
}

/* A name nobody has, in a unit of this state. */
static size_t invent(struct client *c, const struct gy_view *v, enum gy_unit_state s,
                     struct gy_route *w)
{
    char key[48];
    for (unsigned i = 0; i < 100000; i++) {
        snprintf(key, sizeof key, "born:%u:%d", i, (int)s);
        *w = gy_view_route(v, key, strlen(key));
        if (w->unit != GY_NO_UNIT && w->state == s) {
            return model_append(c->m, key);
        }
    }
    fail_msg("no such unit");
    return 0;
}

/* In MIGRATING: one key is changed, one deleted, one born, all before the mover comes by. */
static void write_some(struct ride *r, struct client *c, const struct gy_view *v)
{
    struct gy_route w;
    c->changed = pick(c, v, GY_UNIT_MIGRATING, 0, &w);
    assert_true(c->changed < c->m->n);
    ensure_moved(r, v, &w, c->m->key[c->changed]);
    fleet_do(at(v, w.dst), "SET", c->m->key[c->changed], "changed", NULL);
    model_note(c->m, c->changed, at(v, w.dst));
    c->deleted = pick(c, v, GY_UNIT_MIGRATING, c->changed + 1, &w);
    assert_true(c->deleted < c->m->n);
    ensure_moved(r, v, &w, c->m->key[c->deleted]);
    fleet_do(at(v, w.dst), "DEL", c->m->key[c->deleted], NULL);
    model_absent(c->m, c->deleted);
    c->born = invent(c, v, GY_UNIT_MIGRATING, &w);
    ensure_moved(r, v, &w, c->m->key[c->born]);
    fleet_do(at(v, w.dst), "SET", c->m->key[c->born], "new", NULL);
    model_note(c->m, c->born, at(v, w.dst));
    c->written = true;
}

/* In COMPLETE a write goes to the destination without ado. */
static void write_complete(struct client *c, const struct gy_view *v)
{
    struct gy_route w;
    size_t i = invent(c, v, GY_UNIT_COMPLETE, &w);
    fleet_do(at(v, w.dst), "SET", c->m->key[i], "late", NULL);
    model_note(c->m, i, at(v, w.dst));
    i = pick(c, v, GY_UNIT_COMPLETE, 0, &w);
    if (i < c->m->n) {
        fleet_do(at(v, w.dst), "DEL", c->m->key[i], NULL);
        model_absent(c->m, i);
    }
    c->reborn = true;
}

static void client(struct ride *r, const struct gy_view *v)
{
    struct client *c = r->ctx;
    unsigned migrating = ride_count(v, GY_UNIT_MIGRATING),
             complete = ride_count(v, GY_UNIT_COMPLETE);
    if (migrating && !c->written) {
        write_some(r, c, v);
    }
    if (complete && !c->reborn) {
        write_complete(c, v);
    }
    bool now = (c->abort_at_migrating && c->written && migrating) ||
               (c->abort_at_complete && c->reborn && complete);
    if (now && !c->aborted) {
        c->aborted = true;
        assert_int_equal(gy_mover_abort(r->mover, NULL), GYRE_OK);
    }
}

static void with_client(struct client *c, bool back)
{
    struct ride r = {.at_view = client, .ctx = c};
    struct model m;
    gyre_topology_t *a = fleet_topology(&fleet, 0, 4, 1), *b = fleet_topology(&fleet, 0, 5, 0);
    forget_state();
    model_fill(&m, &fleet, a, 5000);
    c->m = &m;
    ride_open(&r, fleet.dir, a);
    ride_start(&r);
    begin(&r, b, NULL);
    ride_wait(&r, "idle");
    assert_true(c->written);
    model_verify(&m, &fleet, back ? a : b);
    gyre_topology_t *now = ride_topology(&r);
    assert_int_equal(gyre_topology_version(now), back ? 1 : 2);
    gyre_topology_free(now);
    ride_close(&r);
    model_fini(&m);
    gyre_topology_free(a);
    gyre_topology_free(b);
}

static void test_clients(void **state)
{
    (void)state;
    struct client c = {0};
    with_client(&c, false);
    assert_true(c.reborn);
}

static void test_abort_migrating(void **state)
{
    (void)state;
    struct client c = {.abort_at_migrating = true};
    with_client(&c, true);
}

static void test_abort_complete(void **state)
{
    (void)state;
    struct client c = {.abort_at_complete = true};
    with_client(&c, true);
    assert_true(c.reborn);
}

/* ---- barriers that are not acked, pause, rate, refusals ---- */

static void test_holds_give_up(void **state)
{
    (void)state;
    struct ride r = {.refuse_barriers = true};
    struct model m;
    gyre_topology_t *a = fleet_topology(&fleet, 0, 3, 1), *b = fleet_topology(&fleet, 0, 4, 0);
    forget_state();
    model_fill(&m, &fleet, a, 1000);
    ride_open(&r, fleet.dir, a);
    ride_start(&r);
    begin(&r, b, NULL);
    while (r.barriers < 3) {
        usleep(1000);
    }
    r.refuse_barriers = false;
    ride_wait(&r, "idle");
    model_verify(&m, &fleet, b);
    ride_close(&r);
    model_fini(&m);
    gyre_topology_free(a);
    gyre_topology_free(b);
}

/* A write waits 57 ms at the first hold. */
static void one_waits(struct ride *r, const struct gy_view *v)
{
    if (ride_count(v, GY_UNIT_PREPARE)) {
        r->at_view = NULL;
        r->hold_ms = 57;
    }
}

static void test_pause_and_rate(void **state)
{
    (void)state;
    struct ride r = {0};
    struct model m;
    gyre_topology_t *a = fleet_topology(&fleet, 0, 3, 1), *b = fleet_topology(&fleet, 0, 4, 0);
    struct gy_move_options o = {.keys_per_s = 500};
    forget_state();
    model_fill(&m, &fleet, a, 4000);
    ride_open(&r, fleet.dir, a);
    ride_start(&r);
    assert_int_equal(gy_mover_pause(r.mover, NULL), GYRE_REFUSED);
    r.hold_ms = 99; /* before the move: none of its own */
    r.at_view = one_waits;
    begin(&r, b, &o);
    assert_int_equal(gy_mover_begin(r.mover, gyre_topology_clone(b), NULL, NULL), GYRE_CONFLICT);
    for (int i = 0; i < 5000 && ride_number(&r, "units.migrating") == 0; i++) {
        usleep(1000);
    }
    assert_int_equal(gy_mover_pause(r.mover, NULL), GYRE_OK);
    ride_wait(&r, "paused");
    double before = 0, moved = -1;
    for (int i = 0; i < 100 && before != moved; i++) { /* the batch in hand is finished */
        before = moved;
        sleep(1);
        moved = ride_number(&r, "keys.moved");
    }
    assert_true(before == moved && moved < 1000);
    for (int process = 0; process < 2; process++) { /* the next one knows of it too */
        assert_int_equal((int)ride_number(&r, "longest_hold_ms"), 57);
        ride_close(&r);
        ride_open(&r, fleet.dir, a);
        ride_start(&r);
    }
    r.hold_ms = 12;
    assert_int_equal((int)ride_number(&r, "longest_hold_ms"), 57);
    assert_int_equal(gy_mover_resume(r.mover, NULL), GYRE_OK);
    assert_int_equal(gy_mover_rate(r.mover, 0, 0, NULL), GYRE_OK);
    ride_wait(&r, "idle");
    model_verify(&m, &fleet, b);
    ride_close(&r);
    model_fini(&m);
    gyre_topology_free(a);
    gyre_topology_free(b);
}

static void test_refusals(void **state)
{
    (void)state;
    struct ride r = {0};
    gyre_topology_t *a = fleet_topology(&fleet, 0, 3, 1), *b = fleet_topology(&fleet, 0, 4, 0);
    struct gy_sync *d = fleet.node[3].c;
    forget_state();
    ride_open(&r, fleet.dir, a);
    ride_start(&r);
    refused(&r, a, NULL, "no owner changes");
    gyre_topology_set_version(b, (uint64_t)INT64_MAX + 1); /* no store could give it back */
    refused(&r, b, NULL, "the highest there is");
    gyre_topology_set_version(b, 0);
    fleet_do(d, "SET", "stranger", "1", NULL);
    refused(&r, b, NULL, "1 keys that are not its own ('stranger')");
    fleet_do(d, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru", NULL);
    refused(&r, b, NULL, "allkeys-lru");
    fleet_do(d, "CONFIG", "SET", "maxmemory-policy", "noeviction", NULL);
    fleet_do(d, "REPLICAOF", "127.0.0.1", "1", NULL);
    refused(&r, b, NULL, "replica");
    fleet_do(d, "REPLICAOF", "NO", "ONE", NULL);
    gyre_topology_t *c = fleet_topology(&fleet, 0, 4, 0);
    assert_int_equal(gyre_topology_set_address(c, "cache-3", "unix:/nowhere", NULL), GYRE_OK);
    refused(&r, c, NULL, "cache-3");
    gyre_topology_free(c);
    struct gy_sync *s = fleet.node[0].c;
    gyre_topology_t *leave = fleet_topology(&fleet, 1, 3, 0);
    fleet_do(s, "SELECT", "5", NULL);
    fleet_do(s, "SET", "elsewhere", "1", NULL);
    refused(&r, leave, NULL, "databases other than 0");
    fleet_do(s, "FLUSHALL", NULL);
    fleet_do(s, "SELECT", "0", NULL);
    gyre_topology_free(leave);
    struct gy_move_options purge = {.purge_destination = true};
    begin(&r, b, &purge);
    ride_wait(&r, "idle");
    assert_int_equal(fleet_int(d, "DBSIZE", NULL, NULL, NULL), 0);
    ride_close(&r);
    gyre_topology_free(a);
    gyre_topology_free(b);
}

/* What moves no key still becomes the topology that serves. */
static void test_zones_alone(void **state)
{
    (void)state;
    struct ride r = {0};
    gyre_topology_t *a = fleet_topology(&fleet, 0, 2, 1), *b = fleet_topology(&fleet, 0, 1, 0);
    struct gyre_node n = {.size = sizeof n,
                          .name = fleet.node[1].name,
                          .address = fleet.node[1].address,
                          .weight = 1,
                          .zone = "eu/a/r1"};
    struct model m;
    assert_int_equal(gyre_topology_add(b, &n, NULL), GYRE_OK);
    forget_state();
    model_fill(&m, &fleet, a, 200);
    ride_open(&r, fleet.dir, a);
    ride_start(&r);
    begin(&r, b, NULL);
    ride_wait(&r, "idle");
    refused(&r, b, NULL, "no owner changes");
    gyre_topology_t *now = ride_topology(&r);
    assert_string_equal(gyre_topology_find(now, n.name)->zone, "eu/a/r1");
    assert_int_equal(gyre_topology_version(now), 2);
    gyre_topology_free(now);
    model_verify(&m, &fleet, b);
    ride_close(&r);
    model_fini(&m);
    gyre_topology_free(a);
    gyre_topology_free(b);
}

/* One server under a new name: nothing is copied, the view changes. */
static void test_same_server(void **state)
{
    (void)state;
    struct ride r = {0};
    gyre_topology_t *a = fleet_topology(&fleet, 0, 2, 1), *b = fleet_topology(&fleet, 0, 1, 0);
    struct gyre_node n = {
        .size = sizeof n, .name = "other", .address = fleet.node[1].address, .weight = 1};
    struct model m;
    assert_int_equal(gyre_topology_add(b, &n, NULL), GYRE_OK);
    forget_state();
    model_fill(&m, &fleet, a, 500);
    ride_open(&r, fleet.dir, a);
    ride_start(&r);
    begin(&r, b, NULL);
    ride_wait(&r, "idle");
    model_verify(&m, &fleet, b);
    ride_close(&r);
    model_fini(&m);
    gyre_topology_free(a);
    gyre_topology_free(b);
}

/* --same-data: refused for a stranger; where the old server is gone, the view changes alone. */
static void test_same_data(void **state)
{
    (void)state;
    struct ride r = {0};
    struct gy_move_options o = {.same_data = true};
    char key[48];
    gyre_map_t *map;
    gyre_topology_t *a = fleet_topology(&fleet, 0, 3, 1), *b = fleet_topology(&fleet, 0, 3, 0);
    assert_int_equal(gyre_topology_set_address(b, "cache-2", fleet.node[4].address, NULL), GYRE_OK);
    forget_state();
    assert_int_equal(gyre_map_build(a, &map, NULL), GYRE_OK);
    for (unsigned i = 0; i == 0 || gyre_map_locate(map, key, strlen(key)) != 2; i++) {
        snprintf(key, sizeof key, "kept:%u", i);
    }
    gyre_map_unref(map);
    fleet_do(fleet.node[4].c, "SET", key, "as it is", NULL);
    ride_open(&r, fleet.dir, a);
    ride_start(&r);
    refused(&r, b, &o, "no replica of the old one");
    fleet_kill(&fleet, 2);
    refused(&r, b, NULL, "cache-2"); /* without it the old server would be needed */
    begin(&r, b, &o);
    ride_wait(&r, "idle");
    gyre_topology_t *now = ride_topology(&r);
    assert_string_equal(gyre_topology_find(now, "cache-2")->address, fleet.node[4].address);
    assert_int_equal(fleet_int(fleet.node[4].c, "DBSIZE", NULL, NULL, NULL), 1);
    gyre_topology_free(now);
    ride_close(&r);
    fleet_start(&fleet, 2);
    gyre_topology_free(a);
    gyre_topology_free(b);
}

/* A joining node gets the users' function libraries, and keeps its own of the same name. */
static void test_functions(void **state)
{
    (void)state;
    static const char mine[] = "#!lua name=mine\nredis.register_function('one', function() "
                               "return 1 end)";
    static const char other[] = "#!lua name=other\nredis.register_function('two', function() "
                                "return 2 end)";
    struct ride r = {0};
    gyre_topology_t *a = fleet_topology(&fleet, 0, 2, 1), *b = fleet_topology(&fleet, 0, 3, 0);
    forget_state();
    for (unsigned i = 0; i < fleet.n; i++) {
        fleet_do(fleet.node[i].c, "FUNCTION", "FLUSH", NULL);
    }
    fleet_do(fleet.node[0].c, "FUNCTION", "LOAD", mine, NULL);
    fleet_do(fleet.node[1].c, "FUNCTION", "LOAD", mine, NULL);
    fleet_do(fleet.node[1].c, "FUNCTION", "LOAD", other, NULL);
    ride_open(&r, fleet.dir, a);
    ride_start(&r);
    begin(&r, b, NULL);
    ride_wait(&r, "idle");
    assert_int_equal(fleet_int(fleet.node[2].c, "FCALL", "one", "0", NULL), 1);
    assert_int_equal(fleet_int(fleet.node[2].c, "FCALL", "two", "0", NULL), 2);
    ride_close(&r);
    gyre_topology_free(a);
    gyre_topology_free(b);
}

/* What would not fit is refused before anything moves. */
static void test_memory(void **state)
{
    (void)state;
    struct ride r = {0};
    struct model m;
    gyre_topology_t *a = fleet_topology(&fleet, 0, 2, 1), *b = fleet_topology(&fleet, 0, 3, 0);
    forget_state();
    model_fill(&m, &fleet, a, 2000);
    ride_open(&r, fleet.dir, a);
    ride_start(&r);
    fleet_do(fleet.node[2].c, "CONFIG", "SET", "maxmemory", "1mb", NULL);
    refused(&r, b, NULL, "maxmemory");
    fleet_do(fleet.node[2].c, "CONFIG", "SET", "maxmemory", "0", NULL);
    begin(&r, b, NULL);
    ride_wait(&r, "idle");
    model_verify(&m, &fleet, b);
    ride_close(&r);
    model_fini(&m);
    gyre_topology_free(a);
    gyre_topology_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add),
        cmocka_unit_test(test_remove),
        cmocka_unit_test(test_weight),
        cmocka_unit_test(test_replace),
        cmocka_unit_test(test_clients),
        cmocka_unit_test(test_abort_migrating),
        cmocka_unit_test(test_abort_complete),
        cmocka_unit_test(test_holds_give_up),
        cmocka_unit_test(test_pause_and_rate),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_zones_alone),
        cmocka_unit_test(test_same_server),
        cmocka_unit_test(test_same_data),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, up, down);
}
