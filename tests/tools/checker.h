/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checker.h - a load generator that proves what it reads.
 *
 * Every key (or tag group) is a register with one writer thread and any number of readers. The
 * writer records each write's invocation and acknowledgement; a read is right when it shows a
 * version that was current at some instant between its sending and its answer, and no version that
 * had already been replaced for sure. Expiry is a write like any other, dated in advance. A write
 * whose fate is unknown (no answer) leaves its key parked: both outcomes are legal until a read
 * settles it. Threads: the model is shared and locked per key; everything else is per thread.
 */
#ifndef CHECKER_H
#define CHECKER_H

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHK_ELEMS 8
#define CHK_NEVER INT64_MAX
#define CHK_MS    INT64_C(1000000)
#define CHK_S     INT64_C(1000000000)

enum chk_type {
    CHK_STR,  /* e[0..n-1]: generations of the chunks the string is made of */
    CHK_CTR,  /* e[0]: the number */
    CHK_TTL,  /* e[0]: generation; every write sets an expiry */
    CHK_HASH, /* e[i]: generation of field i */
    CHK_LIST, /* e[0..n-1]: generations in order */
    CHK_SET,  /* e[0..n-1]: generations, ascending */
    CHK_ZSET, /* e[i]: score of member i */
    CHK_GRP,  /* e[0..3]: generations of {tag}a..{tag}d */
    CHK_TYPES
};

/* What a key holds; all zero: there is no such key. */
struct chk_state {
    uint32_t n;
    int32_t e[CHK_ELEMS];
};

struct chk_version {
    struct chk_state s;
    int64_t invoke;  /* not current before */
    int64_t settled; /* nothing older is current after: acknowledged, or seen by a finished read */
};

struct chk_key {
    uint32_t id;
    enum chk_type type;
    int32_t gen;
    bool pending, parked;
    bool expires; /* the last write brought an expiry version along */
    int64_t parked_at;
    int64_t ttl_lo, ttl_hi; /* when the last written value may, and must, be gone */
    struct chk_state cur, prev;
    struct chk_version *v;
    uint32_t nv, cap;
};

enum chk_seen { CHK_SEE_ALL, CHK_SEE_ELEM, CHK_SEE_COUNT, CHK_SEE_EXISTS, CHK_SEE_LENGTH };

/* What one read says about one key. */
struct chk_obs {
    enum chk_seen kind;
    uint32_t index;     /* of the element, CHK_SEE_ELEM */
    int64_t number;     /* CHK_SEE_COUNT, _EXISTS, _LENGTH; the generation for CHK_SEE_ELEM */
    struct chk_state s; /* CHK_SEE_ALL */
    bool garbage;       /* not a value this run wrote to this key */
};

enum chk_fault { CHK_FINE, CHK_LOST, CHK_STALE, CHK_RESURRECTED, CHK_WRONG, CHK_FAULTS };

struct chk_conf {
    const char *host, *unix_path, *prefix, *json;
    int port;
    unsigned clients, keys, pipeline, seconds, settle_ms, timeout_ms, final_s, value_size, rate,
        progress_ms;
    uint64_t ops, seed;
    double write_ratio, multi_ratio;
    bool fill, final;
    const char **definite; /* beginnings of error replies that mean "not carried out" */
    unsigned ndefinite;
};

#define CHK_SHARED 16 /* counters all clients increment */
struct chk_shared {
    _Atomic int64_t invoked, acked, doubt;
};

struct chk_world {
    struct chk_conf conf;
    struct chk_key *keys;
    uint32_t by_type[CHK_TYPES]; /* keys of each type; key id = index; type = id % CHK_TYPES */
    struct chk_shared shared[CHK_SHARED];
    pthread_mutex_t locks[256];
    _Atomic int64_t *inflight; /* of each client: start of its oldest unfinished request */
    uint32_t nonce;            /* of the run, in every value: an earlier run's value is wrong */
    int64_t start;
    atomic_bool stop;
    _Atomic uint64_t fault[CHK_FAULTS], ops, errors;
};

/* model.c */
int64_t chk_now(void);
uint64_t chk_mix(uint64_t x);
bool chk_missing(const struct chk_state *s);
uint32_t chk_count(const struct chk_state *s);
void chk_reset(struct chk_world *w, struct chk_key *k, int64_t now);
bool chk_begin(struct chk_world *w, struct chk_key *k, const struct chk_state *s, int64_t now,
               int64_t ttl_ms);
void chk_commit(struct chk_world *w, struct chk_key *k, int64_t now, int64_t ttl_ms);
/* The write was refused; WRONG when somebody has seen it all the same. */
enum chk_fault chk_refuse(struct chk_world *w, struct chk_key *k);
void chk_doubt(struct chk_world *w, struct chk_key *k, int64_t now);
/* Can the writer use the key? A parked one becomes free when its last write was seen. */
bool chk_free(struct chk_world *w, struct chk_key *k);
enum chk_fault chk_observe(struct chk_world *w, struct chk_key *k, const struct chk_obs *o,
                           int64_t r0, int64_t r1);
/* After a full read of a parked key begun at r0: decides that the doubtful write never happened. */
void chk_settle(struct chk_world *w, struct chk_key *k, const struct chk_obs *o, int64_t r0,
                int64_t r1);

/* value.c */
size_t chk_name(const struct chk_world *w, const struct chk_key *k, int member, char *out,
                size_t cap);
size_t chk_value(const struct chk_world *w, const struct chk_key *k, int32_t gen, char *out,
                 size_t cap);
size_t chk_length(const struct chk_world *w, const struct chk_key *k, const struct chk_state *s);
void chk_read(const struct chk_world *w, const struct chk_key *k, const redisReply *r,
              struct chk_obs *o);

/* ops.c */
#define CHK_ARGS   24
#define CHK_OPKEYS 8
enum chk_expect {
    CHK_EXPECT_OK,
    CHK_EXPECT_INT,
    CHK_EXPECT_ANY,
    CHK_EXPECT_VALUE,
    CHK_EXPECT_READ
};

struct chk_op {
    const char *name;
    bool write;
    bool each; /* several keys, each a register of its own (split by the proxy) */
    bool settle;
    bool done; /* answered, not with an error */
    struct chk_shared *shared;
    int64_t base; /* shared: acknowledged before this one was sent */
    struct chk_key *key[CHK_OPKEYS];
    unsigned nkeys;
    struct chk_state next[CHK_OPKEYS];
    struct chk_obs obs; /* what a read will tell; CHK_EXPECT_VALUE: the value that must come */
    enum chk_expect expect;
    int64_t number;
    int64_t ttl_ms;
    int64_t sent;
    int argc;
    const char *argv[CHK_ARGS];
    size_t len[CHK_ARGS];
    char *arena;
    size_t used, size;
};

struct chk_rng {
    uint64_t x;
};
uint64_t chk_rand(struct chk_rng *r);
uint32_t chk_below(struct chk_rng *r, uint32_t n);

void chk_arg(struct chk_op *op, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A random request of client `id`. False: nothing fit (all keys busy), try again. */
bool chk_make(struct chk_world *w, struct chk_rng *r, unsigned id, struct chk_op *op);
void chk_make_create(struct chk_world *w, struct chk_rng *r, struct chk_key *k, struct chk_op *op);
void chk_make_delete(struct chk_world *w, struct chk_key *k, struct chk_op *op);
void chk_make_read(struct chk_world *w, struct chk_key *k, struct chk_op *op);

/* hist.c */
struct chk_hist {
    uint64_t bucket[64 * 32];
    uint64_t count;
};
void chk_hist_add(struct chk_hist *h, int64_t ns);
void chk_hist_merge(struct chk_hist *to, const struct chk_hist *from);
double chk_hist_ms(const struct chk_hist *h, double quantile);

/* client.c */
struct chk_error {
    char text[96];
    uint64_t count;
};
struct chk_client {
    struct chk_world *w;
    unsigned id;
    struct chk_rng rng;
    redisContext *ctx;
    struct chk_op *slot;
    struct chk_hist hist;
    uint64_t reads, writes, multi, ambiguous, unreadable, ttl_checked;
    bool timed; /* the run, not the load or the last pass */
    int64_t worst, worst_at;
    char worst_op[96];
    struct chk_error error[32];
    unsigned nerror;
    char fault[8][256];
    unsigned nfault;
};
bool chk_client_init(struct chk_client *c, struct chk_world *w, unsigned id);
void chk_client_fini(struct chk_client *c);
void chk_client_load(struct chk_client *c);
void chk_client_run(struct chk_client *c);
void chk_client_final(struct chk_client *c);

/* report.c */
int chk_report(struct chk_world *w, struct chk_client *clients, double seconds);

#endif
