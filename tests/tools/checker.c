/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checker.c - the program: options, phases (load, run, final read), progress, signals.
 *
 *   checker --port 6380 --seconds 10 --json -
 *
 * Exit status: 0 nothing lost, stale or wrong; 1 something was, or a key could not be read at the
 * end; 2 usage; 3 no memory or no threads. SIGTERM and SIGINT end the run, the final read and the
 * report still follow.
 */
#include "checker.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct chk_world world;

static const char usage[] =
    "usage: checker [options]\n"
    "  --host H --port P | --unix PATH   where (127.0.0.1 6379)\n"
    "  --clients N        threads, one connection each (8)\n"
    "  --keys N           keys or tag groups in all (8000)\n"
    "  --key-prefix S     of every key (chk:)\n"
    "  --write-ratio F    share of writes (0.4)\n"
    "  --multi-ratio F    share of multi-key requests, half of one tag, half across tags (0.1)\n"
    "  --pipeline N       requests sent together (1)\n"
    "  --value-size N     greatest padding of a value in bytes (64)\n"
    "  --seconds N | --ops N             how long (5 s); 0: until SIGTERM\n"
    "  --rate N           requests per second in all (no limit)\n"
    "  --timeout MS       of an answer (5000)\n"
    "  --settle MS        after which an unanswered write that is not seen did not happen (2000)\n"
    "  --final S          how long the first and the last pass may take (30)\n"
    "  --definite A[*B]   error replies that begin with A and contain B were not carried out;\n"
    "                     may be given again (NODEDOWN*is down, TRYAGAIN, OOM, ... are known)\n"
    "  --seed N           of the random sequence\n"
    "  --fill             only load the keys\n"
    "  --no-final         leave out the last read of every key\n"
    "  --progress[=MS]    a line each second, or each MS, on stderr\n"
    "  --json FILE        the report as JSON (- is stdout)\n";

static void on_signal(int sig)
{
    (void)sig;
    atomic_store(&world.stop, true);
}

enum {
    O_HOST = 256,
    O_PORT,
    O_UNIX,
    O_CLIENTS,
    O_KEYS,
    O_PREFIX,
    O_WRITE,
    O_MULTI,
    O_PIPELINE,
    O_VALUE,
    O_SECONDS,
    O_OPS,
    O_RATE,
    O_TIMEOUT,
    O_SETTLE,
    O_FINAL,
    O_DEFINITE,
    O_SEED,
    O_FILL,
    O_NOFINAL,
    O_PROGRESS,
    O_JSON,
    O_HELP
};

static const struct option options[] = {
    {"host", 1, NULL, O_HOST},         {"port", 1, NULL, O_PORT},
    {"unix", 1, NULL, O_UNIX},         {"clients", 1, NULL, O_CLIENTS},
    {"keys", 1, NULL, O_KEYS},         {"key-prefix", 1, NULL, O_PREFIX},
    {"write-ratio", 1, NULL, O_WRITE}, {"multi-ratio", 1, NULL, O_MULTI},
    {"pipeline", 1, NULL, O_PIPELINE}, {"value-size", 1, NULL, O_VALUE},
    {"seconds", 1, NULL, O_SECONDS},   {"ops", 1, NULL, O_OPS},
    {"rate", 1, NULL, O_RATE},         {"timeout", 1, NULL, O_TIMEOUT},
    {"settle", 1, NULL, O_SETTLE},     {"final", 1, NULL, O_FINAL},
    {"definite", 1, NULL, O_DEFINITE}, {"seed", 1, NULL, O_SEED},
    {"fill", 0, NULL, O_FILL},         {"no-final", 0, NULL, O_NOFINAL},
    {"progress", 2, NULL, O_PROGRESS}, {"json", 1, NULL, O_JSON},
    {"help", 0, NULL, O_HELP},         {NULL, 0, NULL, 0}};

static bool set_number(unsigned *to, const char *text, unsigned min, unsigned max)
{
    char *end = NULL;
    errno = 0;
    unsigned long v = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || v < min || v > max) {
        return false;
    }
    *to = (unsigned)v;
    return true;
}

static bool set_ratio(double *to, const char *text)
{
    char *end = NULL;
    *to = strtod(text, &end);
    return end != text && *end == '\0' && *to >= 0 && *to <= 1;
}

static bool set_words(struct chk_conf *c, int o, char *arg)
{
    switch (o) {
    case O_HOST:
        c->host = arg;
        return true;
    case O_UNIX:
        c->unix_path = arg;
        return true;
    case O_PREFIX:
        c->prefix = arg;
        return strlen(arg) < 32;
    case O_JSON:
        c->json = arg;
        return true;
    case O_DEFINITE:
        c->definite[c->ndefinite++] = arg;
        return true;
    case O_FILL:
        c->fill = true;
        return true;
    case O_NOFINAL:
        c->final = false;
        return true;
    case O_PROGRESS:
        c->progress_ms = 1000;
        return arg == NULL || set_number(&c->progress_ms, arg, 10, 3600000);
    default:
        return false;
    }
}

static bool set_option(struct chk_conf *c, int o, char *arg)
{
    unsigned n = 0;
    bool ok;
    switch (o) {
    case O_PORT:
        ok = set_number(&n, arg, 1, 65535);
        c->port = (int)n;
        return ok;
    case O_CLIENTS:
        return set_number(&c->clients, arg, 1, 1024);
    case O_KEYS:
        return set_number(&c->keys, arg, 1, 50000000);
    case O_WRITE:
        return set_ratio(&c->write_ratio, arg);
    case O_MULTI:
        return set_ratio(&c->multi_ratio, arg);
    case O_PIPELINE:
        return set_number(&c->pipeline, arg, 1, 10000);
    case O_VALUE:
        return set_number(&c->value_size, arg, 0, 1U << 20);
    case O_SECONDS:
        return set_number(&c->seconds, arg, 0, 1U << 30);
    case O_OPS:
        ok = set_number(&n, arg, 1, UINT32_MAX);
        c->ops = n;
        return ok;
    case O_RATE:
        return set_number(&c->rate, arg, 0, 100000000);
    case O_TIMEOUT:
        return set_number(&c->timeout_ms, arg, 1, 600000);
    case O_SETTLE:
        return set_number(&c->settle_ms, arg, 0, 600000);
    case O_FINAL:
        return set_number(&c->final_s, arg, 1, 3600);
    case O_SEED:
        ok = set_number(&n, arg, 0, UINT32_MAX);
        c->seed = n;
        return ok;
    default:
        return set_words(c, o, arg);
    }
}

static int configure(struct chk_conf *c, int argc, char **argv)
{
    static const char *definite[64] = {
        "TRYAGAIN", "WRONGTYPE", "OOM ",  "READONLY",   "LOADING",         "NOAUTH",
        "NOPERM",   "MISCONF",   "BUSY ", "MASTERDOWN", "NODEDOWN*is down"};
    int o;
    *c = (struct chk_conf){.host = "127.0.0.1",
                           .port = 6379,
                           .prefix = "chk:",
                           .clients = 8,
                           .keys = 8000,
                           .pipeline = 1,
                           .seconds = 5,
                           .settle_ms = 2000,
                           .timeout_ms = 5000,
                           .final_s = 30,
                           .value_size = 64,
                           .seed = (uint64_t)chk_now(),
                           .write_ratio = 0.4,
                           .multi_ratio = 0.1,
                           .final = true,
                           .definite = definite,
                           .ndefinite = 11};
    while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (o == O_HELP) {
            fputs(usage, stdout);
            exit(0);
        }
        if (o == '?' || c->ndefinite == 64 || !set_option(c, o, optarg)) {
            fprintf(stderr, "checker: bad option or value%s%s\n%s", optarg != NULL ? ": " : "",
                    optarg != NULL ? optarg : "", usage);
            return 2;
        }
    }
    if (optind < argc) {
        fputs(usage, stderr);
        return 2;
    }
    uint32_t row = c->clients * CHK_TYPES; /* every client owns as many keys of every type */
    c->keys = (c->keys + row - 1) / row * row;
    return 0;
}

static bool world_init(struct chk_world *w)
{
    w->keys = calloc(w->conf.keys, sizeof *w->keys);
    w->inflight = calloc(w->conf.clients, sizeof *w->inflight);
    w->nonce = (uint32_t)chk_mix((uint64_t)time(NULL) ^ (uint64_t)chk_now());
    w->start = chk_now();
    if (w->keys == NULL || w->inflight == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < w->conf.keys; i++) {
        w->keys[i].id = i;
        w->keys[i].type = (enum chk_type)(i % CHK_TYPES);
        w->by_type[i % CHK_TYPES]++;
    }
    for (unsigned i = 0; i < w->conf.clients; i++) {
        atomic_store(&w->inflight[i], CHK_NEVER);
    }
    for (unsigned i = 0; i < 256; i++) {
        pthread_mutex_init(&w->locks[i], NULL);
    }
    return true;
}

static void *load_main(void *c)
{
    chk_client_load(c);
    return NULL;
}

static void *run_main(void *c)
{
    chk_client_run(c);
    return NULL;
}

static void *final_main(void *c)
{
    chk_client_final(c);
    return NULL;
}

static void progress(const struct chk_world *w, int64_t now)
{
    static uint64_t before;
    static int64_t told;
    uint64_t ops = w->ops;
    double since = (double)(now - (told != 0 ? told : w->start)) / 1e9;
    fprintf(stderr,
            "%7.1f s  %10llu ops  %8.0f/s  lost %llu  stale %llu  wrong %llu  errors %llu\n",
            (double)(now - w->start) / 1e9, (unsigned long long)ops, (double)(ops - before) / since,
            (unsigned long long)w->fault[CHK_LOST],
            (unsigned long long)(w->fault[CHK_STALE] + w->fault[CHK_RESURRECTED]),
            (unsigned long long)w->fault[CHK_WRONG], (unsigned long long)w->errors);
    before = ops;
    told = now;
}

/* Sleeps through the run; wakes each 20 ms to see whether it is over. */
static void watch(struct chk_world *w)
{
    const struct chk_conf *c = &w->conf;
    int64_t next = w->start + (int64_t)c->progress_ms * CHK_MS;
    while (!atomic_load(&w->stop)) {
        struct timespec t = {0, 20 * CHK_MS};
        nanosleep(&t, NULL);
        int64_t now = chk_now();
        if (c->progress_ms > 0 && now >= next) {
            progress(w, now);
            next += (int64_t)c->progress_ms * CHK_MS;
        }
        if (c->seconds > 0 && c->ops == 0 && now - w->start >= (int64_t)c->seconds * CHK_S) {
            atomic_store(&w->stop, true);
        }
    }
}

static bool phase(struct chk_world *w, struct chk_client *clients, void *(*fn)(void *),
                  void (*meanwhile)(struct chk_world *w))
{
    pthread_t *t = calloc(w->conf.clients, sizeof *t);
    unsigned n = 0;
    while (t != NULL && n < w->conf.clients && pthread_create(&t[n], NULL, fn, &clients[n]) == 0) {
        n++;
    }
    bool ok = t != NULL && n == w->conf.clients;
    if (!ok) {
        atomic_store(&w->stop, true);
    }
    if (meanwhile != NULL) {
        meanwhile(w);
    }
    while (n > 0) {
        pthread_join(t[--n], NULL);
    }
    free(t);
    return ok;
}

static uint64_t unreadable(const struct chk_world *w, const struct chk_client *clients)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < w->conf.clients; i++) {
        n += clients[i].unreadable;
    }
    return n;
}

int main(int argc, char **argv)
{
    struct chk_world *w = &world;
    int rc = configure(&w->conf, argc, argv);
    if (rc != 0) {
        return rc;
    }
    struct chk_client *clients = calloc(w->conf.clients, sizeof *clients);
    bool ok = clients != NULL && world_init(w);
    for (unsigned i = 0; ok && i < w->conf.clients; i++) {
        ok = chk_client_init(&clients[i], w, i);
    }
    struct sigaction on = {.sa_handler = on_signal};
    sigaction(SIGTERM, &on, NULL);
    sigaction(SIGINT, &on, NULL);
    signal(SIGPIPE, SIG_IGN);
    ok = ok && phase(w, clients, load_main, NULL);
    w->start = chk_now();
    double seconds = 0;
    if (ok && !w->conf.fill && unreadable(w, clients) == 0) {
        if (w->conf.progress_ms > 0) {
            fprintf(stderr, "loaded %u keys\n", w->conf.keys);
        }
        ok = phase(w, clients, run_main, watch);
        seconds = (double)(chk_now() - w->start) / 1e9;
    }
    if (ok && w->conf.final && unreadable(w, clients) == 0) {
        ok = phase(w, clients, final_main, NULL);
    }
    rc = ok ? chk_report(w, clients, seconds) : 3;
    for (unsigned i = 0; clients != NULL && i < w->conf.clients; i++) {
        chk_client_fini(&clients[i]);
    }
    for (uint32_t i = 0; w->keys != NULL && i < w->conf.keys; i++) {
        free(w->keys[i].v);
    }
    free(w->keys);
    free(w->inflight);
    free(clients);
    return rc;
}
