/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skew.c - preloaded into a real server, sets its wall clock SKEW_MS milliseconds apart from ours;
 * the monotonic clock stays. The kernel is asked directly: what would look the real function up
 * needs memory, and the server's allocator asks for the time (which is why faketime cannot do it).
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int now(clockid_t clock, struct timespec *t)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, t);
    const char *skew = clock == CLOCK_REALTIME ? getenv("SKEW_MS") : NULL;
    if (rc == 0 && skew) {
        long ns = t->tv_nsec + strtol(skew, NULL, 10) % 1000 * 1000000;
        t->tv_sec += strtol(skew, NULL, 10) / 1000 + (ns >= 1000000000) - (ns < 0);
        t->tv_nsec = ns + (ns < 0 ? 1000000000 : ns >= 1000000000 ? -1000000000 : 0);
    }
    return rc;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    return now(clock, t);
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec s;
    (void)zone;
    int rc = now(CLOCK_REALTIME, &s);
    if (rc == 0) {
        t->tv_sec = s.tv_sec;
        t->tv_usec = s.tv_nsec / 1000;
    }
    return rc;
}

time_t time(time_t *out)
{
    struct timespec s;
    (void)now(CLOCK_REALTIME, &s);
    if (out) {
        *out = s.tv_sec;
    }
    return s.tv_sec;
}
