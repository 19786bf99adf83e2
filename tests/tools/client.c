/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.c - one client thread: sends batches, judges the answers, survives a lost connection. An
 * error reply is a refusal when it is known to mean "not carried out" and a doubt otherwise; no
 * answer is a doubt.
 */
#include "checker.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUND 64 /* requests at once while loading and at the end */

static const char *const fault_name[CHK_FAULTS] = {"fine", "LOST", "STALE", "RESURRECTED", "WRONG"};

static void nap(int64_t ns)
{
    struct timespec t = {ns / CHK_S, ns % CHK_S};
    nanosleep(&t, NULL);
}

bool chk_client_init(struct chk_client *c, struct chk_world *w, unsigned id)
{
    unsigned n = w->conf.pipeline > ROUND ? w->conf.pipeline : ROUND;
    memset(c, 0, sizeof *c);
    c->w = w;
    c->id = id;
    c->rng.x = chk_mix(w->conf.seed * 1000 + id);
    c->slot = calloc(n, sizeof *c->slot);
    for (unsigned i = 0; c->slot != NULL && i < n; i++) {
        c->slot[i].size = 4096 + (size_t)CHK_OPKEYS * (w->conf.value_size + 64);
        c->slot[i].arena = malloc(c->slot[i].size);
        if (c->slot[i].arena == NULL) {
            return false;
        }
    }
    return c->slot != NULL;
}

void chk_client_fini(struct chk_client *c)
{
    unsigned n = c->w->conf.pipeline > ROUND ? c->w->conf.pipeline : ROUND;
    for (unsigned i = 0; c->slot != NULL && i < n; i++) {
        free(c->slot[i].arena);
    }
    free(c->slot);
    if (c->ctx != NULL) {
        redisFree(c->ctx);
    }
}

/* Counts an error by its text, numbers left out. */
static void count_error(struct chk_client *c, const char *text)
{
    char t[sizeof c->error[0].text];
    size_t n = 0;
    for (const char *p = text; *p != '\0' && n < sizeof t - 1; p++) {
        bool digit = isdigit((unsigned char)*p);
        if (!digit || n == 0 || t[n - 1] != '#') {
            t[n++] = *p == '\r' || *p == '\n' ? ' ' : (digit ? '#' : *p);
        }
    }
    t[n] = '\0';
    atomic_fetch_add(&c->w->errors, 1);
    unsigned i = 0, max = sizeof c->error / sizeof c->error[0];
    while (i < c->nerror && strcmp(c->error[i].text, t) != 0) {
        i++;
    }
    if (i == c->nerror && i < max) {
        memcpy(c->error[c->nerror++].text, t, n + 1);
    }
    c->error[i < max ? i : max - 1].count++;
}

static void print_state(char *out, size_t cap, const struct chk_state *s)
{
    size_t n = (size_t)snprintf(out, cap, "[");
    for (unsigned i = 0; i < CHK_ELEMS && n < cap; i++) {
        n += (size_t)snprintf(out + n, cap - n, "%s%d", i == 0 ? "" : " ", s->e[i]);
    }
    if (n < cap) {
        snprintf(out + n, cap - n, "]");
    }
}

static void fault(struct chk_client *c, enum chk_fault f, const struct chk_op *op,
                  const struct chk_key *k, const struct chk_obs *o, const char *note)
{
    char name[128] = "", got[128], cur[128] = "";
    if (f == CHK_FINE) {
        return;
    }
    atomic_fetch_add(&c->w->fault[f], 1);
    if (c->nfault == sizeof c->fault / sizeof c->fault[0]) {
        return;
    }
    if (k != NULL) {
        chk_name(c->w, k, 0, name, sizeof name);
        print_state(cur, sizeof cur, &k->cur);
    }
    if (o != NULL && o->kind == CHK_SEE_ALL) {
        print_state(got, sizeof got, &o->s);
    } else {
        snprintf(got, sizeof got, "%lld", o != NULL ? (long long)o->number : 0);
    }
    snprintf(c->fault[c->nfault++], sizeof c->fault[0],
             "%s at %.3f s: %s %s: got %s, the writer's last is %s%s%s", fault_name[f],
             (double)(op->sent - c->w->start) / 1e9, op->name, name, got, cur,
             note != NULL ? "; " : "", note != NULL ? note : "");
}

static bool connected(struct chk_client *c)
{
    const struct chk_conf *conf = &c->w->conf;
    struct timeval t = {conf->timeout_ms / 1000, (conf->timeout_ms % 1000) * 1000};
    if (c->ctx != NULL && c->ctx->err == 0) {
        return true;
    }
    if (c->ctx != NULL) {
        redisFree(c->ctx);
    }
    c->ctx = conf->unix_path != NULL ? redisConnectUnixWithTimeout(conf->unix_path, t)
                                     : redisConnectWithTimeout(conf->host, conf->port, t);
    if (c->ctx == NULL || c->ctx->err != 0 || redisSetTimeout(c->ctx, t) != REDIS_OK) {
        char text[160];
        snprintf(text, sizeof text, "connect: %s", c->ctx != NULL ? c->ctx->errstr : "no memory");
        count_error(c, text);
        nap(20 * CHK_MS);
        return false;
    }
    return true;
}

/* An error "begins*contains" of the list, the second part optional. */
static bool not_carried_out(const struct chk_world *w, const char *text)
{
    for (unsigned i = 0; i < w->conf.ndefinite; i++) {
        const char *pattern = w->conf.definite[i], *star = strchr(pattern, '*');
        size_t n = star != NULL ? (size_t)(star - pattern) : strlen(pattern);
        if (strncmp(text, pattern, n) == 0 &&
            (star == NULL || strstr(text + n, star + 1) != NULL)) {
            return true;
        }
    }
    return false;
}

/* A write without an answer, or with an error. */
static void write_failed(struct chk_client *c, struct chk_op *op, const char *text, int64_t now)
{
    bool refused = text != NULL && !op->each && not_carried_out(c->w, text);
    c->ambiguous += !refused;
    if (op->shared != NULL && !refused) {
        atomic_fetch_add(&op->shared->doubt, 1);
    }
    for (unsigned i = 0; i < op->nkeys; i++) {
        if (refused) {
            fault(c, chk_refuse(c->w, op->key[i]), op, op->key[i], NULL, text);
        } else {
            chk_doubt(c->w, op->key[i], now);
        }
    }
}

static void error_reply(struct chk_client *c, struct chk_op *op, const char *text, int64_t now)
{
    /* What only a damaged or missing key makes a server say. */
    static const char *const telling[] = {"WRONGTYPE", "ERR value is not", "ERR hash value",
                                          "ERR no such key", "ERR index out of range"};
    count_error(c, text);
    for (size_t i = 0; i < sizeof telling / sizeof telling[0]; i++) {
        if (strncmp(text, telling[i], strlen(telling[i])) == 0) {
            fault(c, i < 3 ? CHK_WRONG : CHK_LOST, op, op->key[0], NULL, text);
        }
    }
    if (op->write) {
        write_failed(c, op, text, now);
    }
}

static void shared_reply(struct chk_client *c, struct chk_op *op, const redisReply *r)
{
    int64_t most = atomic_load(&op->shared->invoked);
    atomic_fetch_add(&op->shared->acked, 1);
    if (r->type != REDIS_REPLY_INTEGER || r->integer > most) {
        fault(c, CHK_WRONG, op, NULL, NULL, "a counter above all increments sent");
    } else if (r->integer <= op->base) {
        fault(c, CHK_LOST, op, NULL, NULL, "a counter below the increments acknowledged");
    }
}

static bool answer_fits(struct chk_client *c, struct chk_op *op, const redisReply *r,
                        struct chk_obs *got)
{
    *got = (struct chk_obs){.kind = op->obs.kind, .number = r->integer};
    switch (op->expect) {
    case CHK_EXPECT_OK:
        return r->type == REDIS_REPLY_STATUS && strcmp(r->str, "OK") == 0;
    case CHK_EXPECT_INT:
        got->kind = CHK_SEE_COUNT;
        return r->type == REDIS_REPLY_INTEGER && r->integer == op->number;
    case CHK_EXPECT_VALUE:
        chk_read(c->w, op->key[0], r, got);
        return !got->garbage && got->number == op->obs.number &&
               memcmp(&got->s, &op->obs.s, sizeof got->s) == 0;
    case CHK_EXPECT_ANY:
    case CHK_EXPECT_READ:
        return true;
    }
    return false;
}

static void read_reply(struct chk_client *c, struct chk_op *op, const redisReply *r, int64_t now)
{
    if (op->each && (r->type != REDIS_REPLY_ARRAY || r->elements != op->nkeys)) {
        fault(c, CHK_WRONG, op, op->key[0], NULL, "not as many answers as keys");
        return;
    }
    for (unsigned i = 0; i < op->nkeys; i++) {
        const redisReply *x = op->each ? r->element[i] : r;
        struct chk_obs o = op->obs;
        if (x->type == REDIS_REPLY_ERROR) {
            count_error(c, x->str);
            continue;
        }
        chk_read(c->w, op->key[i], x, &o);
        fault(c, chk_observe(c->w, op->key[i], &o, op->sent, now), op, op->key[i], &o, NULL);
        if (op->settle) {
            chk_settle(c->w, op->key[i], &o, op->sent, now);
        }
    }
}

static void waited(struct chk_client *c, const struct chk_op *op, int64_t now)
{
    int64_t ns = now - op->sent;
    if (!c->timed) {
        return;
    }
    chk_hist_add(&c->hist, ns);
    if (ns > c->worst) {
        char name[64] = "";
        if (op->nkeys > 0) {
            chk_name(c->w, op->key[0], 0, name, sizeof name);
        }
        c->worst = ns;
        c->worst_at = op->sent - c->w->start;
        snprintf(c->worst_op, sizeof c->worst_op, "%s %s", op->name, name);
    }
}

static void reply(struct chk_client *c, struct chk_op *op, const redisReply *r)
{
    int64_t now = chk_now();
    struct chk_obs got;
    waited(c, op, now);
    if (r->type == REDIS_REPLY_ERROR) {
        error_reply(c, op, r->str, now);
        return;
    }
    op->done = true;
    if (op->shared != NULL) {
        shared_reply(c, op, r);
        return;
    }
    if (op->expect == CHK_EXPECT_READ) {
        read_reply(c, op, r, now);
    } else if (!answer_fits(c, op, r, &got)) {
        fault(c, CHK_WRONG, op, op->key[0], &got, "the answer to the write");
    }
    for (unsigned i = 0; op->write && i < op->nkeys; i++) {
        chk_commit(c->w, op->key[i], now, op->ttl_ms);
    }
}

/* Called before the request is handed to the socket. */
static void announce(struct chk_client *c, struct chk_op *op)
{
    op->done = false;
    op->sent = chk_now();
    if (op->shared != NULL) {
        op->base = atomic_load(&op->shared->acked);
        atomic_fetch_add(&op->shared->invoked, 1);
    }
    for (unsigned i = 0; op->write && i < op->nkeys; i++) {
        if (!chk_begin(c->w, op->key[i], &op->next[i], op->sent, op->ttl_ms)) {
            abort();
        }
    }
    if (redisAppendCommandArgv(c->ctx, op->argc, op->argv, op->len) != REDIS_OK) {
        abort();
    }
}

static void collect(struct chk_client *c, unsigned n)
{
    bool alive = true;
    for (unsigned i = 0; i < n; i++) {
        void *r = NULL;
        alive = alive && redisGetReply(c->ctx, &r) == REDIS_OK && r != NULL;
        if (alive) {
            reply(c, &c->slot[i], r);
            freeReplyObject(r);
            continue;
        }
        int64_t now = chk_now();
        if (i == 0 || c->slot[i - 1].done) {
            char text[160];
            snprintf(text, sizeof text, "no answer: %s", c->ctx->errstr);
            count_error(c, text);
        }
        waited(c, &c->slot[i], now);
        if (c->slot[i].write) {
            write_failed(c, &c->slot[i], NULL, now);
        }
    }
    if (!alive) {
        redisFree(c->ctx);
        c->ctx = NULL;
    }
}

static void oldest(struct chk_client *c, int64_t t)
{
    atomic_store(&c->w->inflight[c->id], t);
}

typedef void maker(struct chk_client *c, struct chk_key *k, struct chk_op *op);

static void make_delete(struct chk_client *c, struct chk_key *k, struct chk_op *op)
{
    chk_make_delete(c->w, k, op);
}

static void make_create(struct chk_client *c, struct chk_key *k, struct chk_op *op)
{
    chk_make_create(c->w, &c->rng, k, op);
}

static void make_read(struct chk_client *c, struct chk_key *k, struct chk_op *op)
{
    chk_make_read(c->w, k, op);
}

static uint32_t own_count(const struct chk_client *c)
{
    return c->w->conf.keys / c->w->conf.clients;
}

static struct chk_key *own_at(const struct chk_client *c, uint32_t i)
{
    const struct chk_world *w = c->w;
    uint32_t t = i % CHK_TYPES, row = i / CHK_TYPES;
    return &w->keys[(row * w->conf.clients + c->id) * CHK_TYPES + t];
}

/* The requests `make` gives for all own keys, failed ones again until the deadline. Returns how
 * many were given up. `then` is called for each that was answered. */
static uint64_t over_own(struct chk_client *c, maker *make, bool again,
                         void (*then)(struct chk_client *c, struct chk_op *op))
{
    int64_t deadline = chk_now() + (int64_t)c->w->conf.final_s * CHK_S;
    uint32_t total = own_count(c), at = 0;
    uint64_t given_up = 0;
    while (at < total) {
        unsigned n = total - at < ROUND ? total - at : ROUND, bad = 0;
        if (!connected(c)) {
            if (chk_now() > deadline) {
                return given_up + total - at;
            }
            continue;
        }
        oldest(c, chk_now());
        for (unsigned i = 0; i < n; i++) {
            make(c, own_at(c, at + i), &c->slot[i]);
            announce(c, &c->slot[i]);
        }
        collect(c, n);
        for (unsigned i = 0; i < n; i++) {
            bad += !c->slot[i].done;
            if (c->slot[i].done && then != NULL) {
                then(c, &c->slot[i]);
            }
        }
        oldest(c, CHK_NEVER);
        if (bad > 0 && again && chk_now() < deadline) {
            nap(50 * CHK_MS);
            continue;
        }
        given_up += bad;
        at += n;
    }
    return given_up;
}

static void after_delete(struct chk_client *c, struct chk_op *op)
{
    chk_reset(c->w, op->key[0], chk_now());
}

/* Begins with no key at all, so that whatever is read was written by this run. */
void chk_client_load(struct chk_client *c)
{
    c->unreadable += over_own(c, make_delete, true, after_delete);
    for (unsigned i = 0; c->id == 0 && i < CHK_SHARED && connected(c); i++) {
        freeReplyObject(redisCommand(c->ctx, "DEL %sshared:%u", c->w->conf.prefix, i));
    }
    if (c->unreadable == 0) {
        (void)over_own(c, make_create, false, NULL);
    }
}

void chk_client_run(struct chk_client *c)
{
    struct chk_world *w = c->w;
    int64_t next = chk_now();
    c->timed = true;
    int64_t pace = w->conf.rate == 0 ? 0
                                     : CHK_S * (int64_t)w->conf.pipeline *
                                           (int64_t)w->conf.clients / (int64_t)w->conf.rate;
    while (!atomic_load(&w->stop)) {
        unsigned n = 0;
        if (!connected(c)) {
            continue;
        }
        oldest(c, chk_now());
        while (n < w->conf.pipeline) {
            struct chk_op *op = &c->slot[n];
            if (!chk_make(w, &c->rng, c->id, op)) {
                continue;
            }
            announce(c, op);
            n++;
            c->writes += op->write;
            c->reads += !op->write;
            c->multi += op->each || (op->nkeys > 0 && op->key[0]->type == CHK_GRP);
        }
        collect(c, n);
        oldest(c, CHK_NEVER);
        if (atomic_fetch_add(&w->ops, n) + n >= w->conf.ops && w->conf.ops > 0) {
            atomic_store(&w->stop, true);
        }
        next += pace;
        int64_t now = chk_now();
        if (next > now) {
            nap(next - now);
        } else if (now - next > 100 * CHK_MS) {
            next = now; /* a stall is not made up for */
        }
    }
}

/* The remaining life of one expiring key against what was asked for. */
static void check_ttl(struct chk_client *c, struct chk_key *k)
{
    char name[128];
    struct chk_op op = {.name = "PTTL", .sent = chk_now()};
    struct chk_obs o = {.kind = CHK_SEE_COUNT};
    chk_name(c->w, k, 0, name, sizeof name);
    redisReply *r = connected(c) ? redisCommand(c->ctx, "PTTL %s", name) : NULL;
    int64_t now = chk_now();
    if (r != NULL && r->type == REDIS_REPLY_INTEGER && r->integer != -2) {
        int64_t end = now + r->integer * CHK_MS;
        o.number = r->integer;
        c->ttl_checked++;
        if (r->integer < 0 || end < k->ttl_lo || end > k->ttl_hi) {
            fault(c, CHK_WRONG, &op, k, &o, "not the time to live that was set");
        }
    }
    freeReplyObject(r);
}

static void check_shared(struct chk_client *c)
{
    for (unsigned i = 0; i < CHK_SHARED; i++) {
        struct chk_shared *s = &c->w->shared[i];
        struct chk_op op = {.name = "GET shared", .sent = chk_now()};
        redisReply *r =
            connected(c) ? redisCommand(c->ctx, "GET %sshared:%u", c->w->conf.prefix, i) : NULL;
        struct chk_obs o = {.kind = CHK_SEE_COUNT};
        o.number = r != NULL && r->type == REDIS_REPLY_STRING ? strtoll(r->str, NULL, 10) : 0;
        if (r == NULL || r->type == REDIS_REPLY_ERROR) {
            c->unreadable++;
        } else if (o.number < s->acked) {
            fault(c, CHK_LOST, &op, NULL, &o, "a counter below its acknowledged increments");
        } else if (o.number > s->acked + s->doubt) {
            fault(c, CHK_WRONG, &op, NULL, &o, "a counter above its increments");
        }
        freeReplyObject(r);
    }
}

void chk_client_final(struct chk_client *c)
{
    c->timed = false;
    c->unreadable += over_own(c, make_read, true, NULL);
    for (uint32_t i = 0; i < own_count(c); i++) {
        struct chk_key *k = own_at(c, i);
        if (k->type == CHK_TTL && !k->parked && !chk_missing(&k->cur)) {
            check_ttl(c, k);
        }
    }
    if (c->id == 0) {
        check_shared(c);
    }
}
