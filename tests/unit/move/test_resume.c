/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_resume.c - the mover's process is killed at every failpoint, in a move and in one that is
 * taken back; started again it goes on, and in the end every key is whole and in its place. Then
 * each step fails once without a crash. A scenario that does not pass one of its points fails.
 * (rec_rearm_* need a server that restarts: test_restart.c.)
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

enum scenario { FORWARD, BACK_EARLY, BACK_LATE };
static const char *const names[] = {"move", "abort while migrating", "abort when complete"};

static struct fleet fleet;

/* The steps that a scenario takes, each with a point before and one after. */
static const char *const forward[] = {"begin",        "cas_stable",    "cas_prepare",
                                      "cas_flipping", "cas_migrating", "cas_completing",
                                      "cas_complete", "cas_cleaning",  "cas_moved",
                                      "phase",        "finish",        "rec_arm_dst",
                                      "rec_arm_src",  "rec_flip",      "rec_complete",
                                      "rec_clean",    "drop_dst",      "drop_src",
                                      "install",      "clean",         NULL};
static const char *const back[] = {"cas_abort_prepare",
                                   "cas_abort_release",
                                   "cas_abort_flipping",
                                   "cas_aborting",
                                   "cas_purging",
                                   "cas_returned",
                                   "phase",
                                   "finish",
                                   "rec_back",
                                   "rec_freeze",
                                   "rec_open",
                                   "rec_purge",
                                   "drop_dst",
                                   "drop_src",
                                   "unmove",
                                   "purge",
                                   NULL};

static bool takes(enum scenario s, enum gy_failpoint p)
{
    const char *step = strchr(gy_fail_name(p), '_') + 1;
    for (const char *const *k = s == FORWARD ? forward : back; *k; k++) {
        if (strcmp(*k, step) == 0) {
            return true;
        }
    }
    return false;
}

static int up(void **state)
{
    (void)state;
    gy_log_max = getenv("LOUD") ? GY_LOG_DEBUG : GY_LOG_ERROR;
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
    if (*s == BACK_LATE && ride_count(v, GY_UNIT_COMPLETE)) {
        gyre_error_t e;
        (void)!gy_mover_abort(r->mover, &e); /* REFUSED: it is cleaning already */
    }
}

/* A crawling move is taken back when its first keys have arrived. */
static void abort_early(struct ride *r)
{
    for (;;) {
        char *text = ride_status(r);
        bool over = strstr(text, "\"idle\"") || strstr(text, "\"state\":\"aborting\"");
        free(text);
        if (over || ride_number(r, "keys.moved") > 0) {
            break;
        }
        usleep(1000);
    }
    gyre_error_t e;
    (void)!gy_mover_abort(r->mover, &e);
    (void)!gy_mover_rate(r->mover, 0, 0, &e);
}

/* The child: a process like the proxy, which begins the move or finds one under way. */
static void live(enum scenario s, bool fresh)
{
    struct ride r = {.at_view = at_view, .ctx = &s, .stubborn = true};
    gyre_topology_t *a = fleet_topology(&fleet, 0, 2, 1), *b = fleet_topology(&fleet, 0, 3, 0);
    struct gy_move_options o = {.chunks = 4, .wave = 2, .keys_per_s = s == BACK_EARLY ? 5 : 0};
    alarm(60);
    ride_open(&r, fleet.dir, a);
    ride_start(&r);
    char *text = ride_status(&r);
    if (fresh && strstr(text, "\"idle\"")) {
        gyre_error_t e;
        if (gy_mover_begin(r.mover, b, &o, &e) != GYRE_OK && !strstr(e.message, "already")) {
            fprintf(stderr, "begin: %s\n", e.message);
            _exit(3);
        }
    }
    free(text);
    if (s == BACK_EARLY) {
        abort_early(&r);
    }
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
    fleet_forget_moves(&fleet);
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
    if (killed != (strcmp(action, "kill") == 0)) {
        fail_msg("%s is not passed in '%s'", text, names[s]);
    }
    if (killed) {
        status = run_child(s, true, NULL);
        if (status != 0) {
            fail_msg("%s in '%s': starting again ended with %d", text, names[s], status);
        }
    }
    model_verify(&m, &fleet, moved(a) ? b : a);
    model_fini(&m);
    gyre_topology_free(a);
    gyre_topology_free(b);
}

static void kill_at_each(enum scenario s)
{
    for (int p = 0; p < GY_FAIL_COUNT; p++) {
        if (takes(s, (enum gy_failpoint)p)) {
            one(s, (enum gy_failpoint)p, "kill", 1);
        }
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
        for (enum scenario s = FORWARD; s <= BACK_LATE; s += BACK_LATE) {
            if (takes(s, (enum gy_failpoint)p)) {
                one(s, (enum gy_failpoint)p, "error", 1);
            }
        }
    }
}

/* An argument names the one test to run, so that the build can run them side by side. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward),
        cmocka_unit_test(test_back_early),
        cmocka_unit_test(test_back_late),
        cmocka_unit_test(test_errors),
    };
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests(tests, up, down);
}
