/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_resume.c - the mover's process is killed at every failpoint, in a move and in one that is
 * taken back; started again it goes on, and in the end every key is whole and in its place. A run
 * in which the point was never passed must end by itself; which points each scenario passes is
 * printed, and all of them must have been passed by some scenario.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fail.h"
#include "base/log.h"
#include "ride.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEYS 300

enum scenario { FORWARD, BACK_EARLY, BACK_LATE, SCENARIOS };
static const char *const names[] = {"move", "abort while migrating", "abort when complete"};

static struct fleet fleet;
static bool passed[GY_FAIL_COUNT];

static int up(void **state)
{
    (void)state;
    gy_log_max = GY_LOG_ERROR;
    fleet_up(&fleet, 3, false);
    return 0;
}

static int down(void **state)
{
    (void)state;
    fleet_down(&fleet);
    return 0;
}

static void at_view(struct ride *r, const struct gy_view *v)
{
    enum scenario *s = r->ctx;
    bool now = (*s == BACK_EARLY && ride_count(v, GY_UNIT_MIGRATING)) ||
               (*s == BACK_LATE && ride_count(v, GY_UNIT_COMPLETE));
    if (now) {
        gyre_error_t e;
        (void)!gy_mover_abort(r->mover, &e); /* REFUSED: it is cleaning already */
    }
}

/* The child: a process like the proxy, which begins the move or finds one under way. */
static void live(enum scenario s, bool fresh)
{
    struct ride r = {.at_view = at_view, .ctx = &s};
    gyre_topology_t *a = fleet_topology(&fleet, 0, 2, 1), *b = fleet_topology(&fleet, 0, 3, 0);
    struct gy_move_options o = {.chunks = 4, .wave = 2};
    alarm(60);
    ride_open(&r, fleet.dir, a);
    ride_start(&r);
    char *text = ride_status(&r);
    if (fresh && strstr(text, "\"idle\"")) {
        gyre_error_t e;
        if (gy_mover_begin(r.mover, b, &o, &e) != GYRE_OK) {
            fprintf(stderr, "begin: %s\n", e.message);
            _exit(3);
        }
    }
    free(text);
    ride_wait(&r, "idle");
    ride_close(&r);
    _exit(0);
}

/* Its wait status. */
static int run_child(enum scenario s, bool fresh, const char *point)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        setenv("GYRE_FAIL", point ? point : "", 1);
        live(s, fresh);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* What the store says after it all. */
static bool moved(gyre_topology_t *a)
{
    struct ride r = {0};
    ride_open(&r, fleet.dir, a);
    gyre_topology_t *t = ride_topology(&r);
    bool yes = gyre_topology_count(t) == 3;
    gyre_topology_free(t);
    ride_close(&r);
    return yes;
}

static void reset(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s/state'", fleet.dir);
    assert_int_equal(system(command), 0);
    fleet_flush(&fleet);
}

static void one(enum scenario s, enum gy_failpoint p, const char *action, unsigned nth)
{
    char text[64];
    struct model m;
    gyre_topology_t *a = fleet_topology(&fleet, 0, 2, 1), *b = fleet_topology(&fleet, 0, 3, 0);
    reset();
    model_fill(&m, &fleet, a, KEYS);
    snprintf(text, sizeof text, "%s:%u:%s", gy_fail_name(p), nth, action);
    int status = run_child(s, true, text);
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (!killed && !(WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
        fail_msg("%s in '%s': the process ended with %d", text, names[s], status);
    }
    passed[p] |= killed;
    if (killed) {
        status = run_child(s, true, NULL);
        if (status != 0) {
            fail_msg("%s in '%s': starting again ended with %d", text, names[s], status);
        }
    }
    print_message("%s %s\n", text, killed ? "killed, resumed" : "not passed");
    model_verify(&m, &fleet, moved(a) ? b : a);
    model_fini(&m);
    gyre_topology_free(a);
    gyre_topology_free(b);
}

static void kill_at_each(enum scenario s)
{
    for (int p = 0; p < GY_FAIL_COUNT; p++) {
        one(s, (enum gy_failpoint)p, "kill", 1);
    }
}

static void test_forward(void **state)
{
    (void)state;
    kill_at_each(FORWARD);
}

static void test_back_early(void **state)
{
    (void)state;
    kill_at_each(BACK_EARLY);
}

static void test_back_late(void **state)
{
    (void)state;
    kill_at_each(BACK_LATE);
}

/* Every step fails once without a crash: it is tried again. */
static void test_errors(void **state)
{
    (void)state;
    for (int p = 2; p < GY_FAIL_COUNT; p++) { /* `begin` is told to the one who asked */
        one(FORWARD, (enum gy_failpoint)p, "error", 1);
        one(BACK_LATE, (enum gy_failpoint)p, "error", 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward),
        cmocka_unit_test(test_back_early),
        cmocka_unit_test(test_back_late),
        cmocka_unit_test(test_errors),
    };
    int rc = cmocka_run_group_tests(tests, up, down);
    for (int p = 0; p < GY_FAIL_COUNT; p++) {
        if (!passed[p]) {
            print_message("never passed: %s\n", gy_fail_name((enum gy_failpoint)p));
        }
    }
    return rc;
}
