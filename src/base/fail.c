/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fail.c - see fail.h. The environment is read once, by whichever thread comes first; a name that
 * is not a failpoint ends the process, because a test that sets it would otherwise prove nothing.
 */
#include "base/fail.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum action { ACT_KILL, ACT_STOP, ACT_ERROR };

static const char *const names[] = {
#define FAIL_NAME(step) "before_" #step, "after_" #step,
    GY_FAIL_STEPS(FAIL_NAME)
#undef FAIL_NAME
};

static const char list[] =
#define FAIL_LINE(step) "before_" #step "\nafter_" #step "\n"
    GY_FAIL_STEPS(FAIL_LINE)
#undef FAIL_LINE
    ;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int armed = -1; /* the point, once read */
static enum action act;
static _Atomic long left; /* passes until it fires; relaxed order is enough, it only counts */

static void refuse(const char *text)
{
    fprintf(stderr, "GYRE_FAIL=%s: wanted name:N[:kill|stop|error], a name of --list-failpoints\n",
            text);
    exit(2);
}

static void read_environment(void)
{
    const char *text = getenv("GYRE_FAIL");
    if (!text || !*text) {
        return;
    }
    size_t len = strcspn(text, ":");
    for (int i = 0; i < GY_FAIL_COUNT; i++) {
        if (strlen(names[i]) == len && memcmp(names[i], text, len) == 0) {
            armed = i;
        }
    }
    char *end = NULL;
    long n = text[len] == ':' ? strtol(text + len + 1, &end, 10) : 1;
    const char *word = end && *end == ':' ? end + 1 : "kill";
    if (armed < 0 || n < 1 || (end && *end != '\0' && *end != ':')) {
        refuse(text);
    }
    if (strcmp(word, "kill") == 0) {
        act = ACT_KILL;
    } else if (strcmp(word, "stop") == 0) {
        act = ACT_STOP;
    } else if (strcmp(word, "error") == 0) {
        act = ACT_ERROR;
    } else {
        refuse(text);
    }
    atomic_store_explicit(&left, n, memory_order_relaxed);
}

bool gy_failpoint(enum gy_failpoint p)
{
    pthread_once(&once, read_environment);
    if (armed != (int)p || atomic_fetch_sub_explicit(&left, 1, memory_order_relaxed) != 1) {
        return false;
    }
    switch (act) {
    case ACT_KILL:
        kill(getpid(), SIGKILL);
        break;
    case ACT_STOP:
        kill(getpid(), SIGSTOP);
        break;
    case ACT_ERROR:
        return true;
    }
    return false;
}

const char *gy_fail_name(enum gy_failpoint p)
{
    return names[p];
}

const char *gy_fail_list(void)
{
    return list;
}
