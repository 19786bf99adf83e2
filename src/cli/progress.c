/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - see progress.h. */
#include "cli/progress.h"
#include "cli/term.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 1000 /* shorter work needs no word */
#define LOOK_MS     250

static struct {
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows, and of stderr while a line stands there */
    pthread_cond_t wake;
    unsigned depth;
    bool running, stop, dirty;
    const char *what;
    uint64_t total;
    int64_t began_ms;
} p = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Only a number to be looked at: no other memory hangs on it. */
static atomic_uint_fast64_t done;

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void wipe(void)
{
    if (p.dirty) {
        fputs("\r\033[K", stderr);
        p.dirty = false;
    }
}

static void show(void)
{
    struct gy_buf line = {0};
    double passed = (double)(now_ms() - p.began_ms) / 1000;
    uint64_t n = atomic_load_explicit(&done, memory_order_relaxed);
    gy_term_encode(&line, gy_str(p.what));
    if (p.total && n && n <= p.total) {
        double part = (double)n / (double)p.total;
        gy_buf_printf(&line, ": %.0f %%, ", 100 * part);
        gy_term_seconds(&line, passed / part - passed);
        gy_buf_puts(&line, " to go");
    } else {
        gy_buf_puts(&line, ": ");
        gy_term_seconds(&line, passed);
        gy_buf_puts(&line, " so far");
    }
    /* One column stays free: a full line would wrap, and could not be rewritten. */
    unsigned columns = gy_term_columns(STDERR_FILENO);
    fprintf(stderr, "\r%.*s\033[K", (int)(columns ? columns - 1 : 79), gy_buf_cstr(&line));
    fflush(stderr);
    p.dirty = true;
    gy_buf_fini(&line);
}

static void *watch(void *arg)
{
    pthread_mutex_lock(&p.lock);
    while (!p.stop) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOOK_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&p.wake, &p.lock, &until);
        if (!p.stop && now_ms() - p.began_ms >= PATIENCE_MS) {
            show();
        }
    }
    wipe();
    pthread_mutex_unlock(&p.lock);
    return arg;
}

void gy_progress_begin(const char *what, uint64_t total)
{
    if (p.depth++ || !gy_term_cursor(STDERR_FILENO)) {
        return;
    }
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&p.wake, &attr);
    pthread_condattr_destroy(&attr);
    p.what = what;
    p.total = total;
    p.began_ms = now_ms();
    p.stop = false;
    atomic_store_explicit(&done, 0, memory_order_relaxed);
    p.running = pthread_create(&p.thread, NULL, watch, NULL) == 0; /* else: no line */
}

void gy_progress_at(uint64_t n)
{
    if (p.depth == 1) {
        atomic_store_explicit(&done, n, memory_order_relaxed);
    }
}

void gy_progress_end(void)
{
    if (--p.depth || !p.running) {
        return;
    }
    pthread_mutex_lock(&p.lock);
    p.stop = true;
    pthread_cond_signal(&p.wake);
    pthread_mutex_unlock(&p.lock);
    pthread_join(p.thread, NULL);
    pthread_cond_destroy(&p.wake);
    p.running = false;
}

void gy_progress_hush(void)
{
    pthread_mutex_lock(&p.lock);
    wipe();
    fflush(stderr);
    pthread_mutex_unlock(&p.lock);
}
