/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rights.c - may the proxy's user do on a server what a move will do there? Every command of a move
 * is tried by ACL DRYRUN, which executes nothing: with a unit's record names on each server, and
 * with some of the keys that are to move where they are and where they go. A function's own calls
 * are checked against the caller's rights too, so they stand here like the others. An abort changes
 * the roles, hence both sides need all of it. Threads: the admin's.
 */
#include "base/log.h"
#include "base/utf8.h"
#include "lib/error.h"
#include "move/precheck.h"

#include <stdio.h>
#include <stdlib.h>

#define WORDS_MAX   10
#define GRANTS_MAX  500 /* bytes: the message must hold the line whole */
#define KEYS_MAX    32  /* of a source */
#define SCAN_COUNT  "1000"
#define NEEDS_REDIS "moves need Redis 7.0 or later, and there no command renamed or disabled"

/* %r %m %b: record, marks and back-marks of a unit; %k: a key that moves. */
const struct gy_right gy_rights[] = {
    {"CLIENT SETNAME x", "to be told from its predecessors", GY_RIGHT_MOVE},
    {"CLIENT ID", "to know its own connection", GY_RIGHT_MOVE},
    {"CLIENT LIST", "to find earlier processes and other proxies", GY_RIGHT_MOVE},
    {"CLIENT KILL ID 1", "to end what a broken connection has under way", GY_RIGHT_MOVE},
    {"INFO server", "to know which process it is, and its memory", GY_RIGHT_MOVE},
    {"ACL LIST", "to find earlier processes' users", GY_RIGHT_FENCE},
    {"ACL SETUSER x on", "to have a user of its own", GY_RIGHT_FENCE},
    {"ACL DELUSER x", "to fence earlier processes off", GY_RIGHT_FENCE},
    {"ACL DRYRUN x PING", "to try these rights", GY_RIGHT_FENCE},
    {"TIME", "to compare clocks", GY_RIGHT_MOVE},
    {"DBSIZE", "to estimate how much moves", GY_RIGHT_MOVE},
    {"RANDOMKEY", "to estimate how much moves", GY_RIGHT_MOVE},
    {"SCAN 0 COUNT 1000", "to find the keys", GY_RIGHT_MOVE},
    {"FUNCTION LIST", "to know of earlier moves", GY_RIGHT_MOVE},
    {"FUNCTION DUMP", "to know the version of its values", GY_RIGHT_MOVE},
    {"FUNCTION LOAD REPLACE x", "to bring its functions", GY_RIGHT_MOVE},
    {"FCALL gyre_install 3 %r %m %k 1", "to put a key in its new place", GY_RIGHT_MOVE},
    {"FCALL_RO gyre_back 3 %r %m %k 1", "to take a key", GY_RIGHT_MOVE},
    {"EVAL x 3 %r %m %b 1", "to drop records that come back from an old snapshot", GY_RIGHT_MOVE},
    {"HGET %r epoch", "to read its records", GY_RIGHT_MOVE},
    {"HMGET %r epoch st run_id", "to read its records", GY_RIGHT_MOVE},
    {"HSET %r st M", "to write its records", GY_RIGHT_MOVE},
    {"HINCRBY %r bytes 1", "to count what came", GY_RIGHT_MOVE},
    {"SADD %m x", "to mark what has moved", GY_RIGHT_MOVE},
    {"SISMEMBER %m x", "to ask what has moved", GY_RIGHT_MOVE},
    {"SMISMEMBER %m x", "to ask what has moved", GY_RIGHT_MOVE},
    {"SSCAN %m 0", "to take a move back", GY_RIGHT_MOVE},
    {"MEMORY USAGE %k SAMPLES 5", "to know a key's size", GY_RIGHT_MOVE},
    {"DUMP %k", "to take a value", GY_RIGHT_MOVE},
    {"RESTORE %k 0 x", "to put a value", GY_RIGHT_MOVE},
    {"PEXPIRETIME %k", "to keep expiries", GY_RIGHT_MOVE},
    {"EXISTS %k", "to see a key that expires meanwhile", GY_RIGHT_MOVE},
    {"DEL %k", "to take a deleted key back", GY_RIGHT_MOVE},
    {"UNLINK %k", "to clean up behind it", GY_RIGHT_MOVE},
    {"LASTSAVE", "to wait for its snapshot", GY_RIGHT_SNAPSHOT},
    {"BGSAVE SCHEDULE", "to have what came on disk before the source is cleaned",
     GY_RIGHT_SNAPSHOT},
};
const size_t gy_rights_count = sizeof gy_rights / sizeof *gy_rights;

/* ---- one trial ---- */

struct trial {
    struct gy_checks *k;
    struct gy_sync *c;
    uint32_t server;
    const char *user; /* who is tried */
    struct gy_unit_names names;
    struct gy_slice key; /* n = 0: the record stands for it, whose rights are needed anyway */
    bool moving;         /* the key is one that moves */
};

static struct gy_slice word_of(const struct trial *t, struct gy_slice word)
{
    if (word.n != 2 || word.p[0] != '%') {
        return word;
    }
    return word.p[1] == 'm'               ? gy_str(t->names.marks)
           : word.p[1] == 'b'             ? gy_str(t->names.back)
           : word.p[1] == 'k' && t->key.n ? t->key
                                          : gy_str(t->names.rec);
}

static void queue(const struct trial *t, const char *command)
{
    struct gy_slice argv[3 + WORDS_MAX] = {GY_LIT("ACL"), GY_LIT("DRYRUN"), gy_str(t->user)};
    size_t n = 3;
    for (const char *p = command; *p && n < 3 + WORDS_MAX; p += strspn(p, " ")) {
        size_t len = strcspn(p, " ");
        argv[n++] = word_of(t, (struct gy_slice){(const uint8_t *)p, len});
        p += len;
    }
    gy_sync_add(t->c, n, argv);
}

/* What stands in quotes behind `before` in a refusal; n = 0: it is not there. */
static struct gy_slice quoted(struct gy_slice text, const char *before)
{
    size_t n = strlen(before);
    const uint8_t *at = text.n ? memmem(text.p, text.n, before, n) : NULL;
    if (!at) {
        return (struct gy_slice){NULL, 0};
    }
    const uint8_t *from = at + n, *end = text.p + text.n;
    const uint8_t *stop = from < end ? memchr(from, '\'', (size_t)(end - from)) : NULL;
    return (struct gy_slice){from, stop ? (size_t)(stop - from) : 0};
}

/* "... no permissions to run the 'client|kill' command": Redis and Valkey differ before that. */
static struct gy_slice denied_command(struct gy_slice text)
{
    return quoted(text, "run the '");
}

/* ---- what was found ---- */

struct lack {
    struct gy_buf grants; /* " +client|kill +dump" */
    char command[64];     /* the first of them */
    const char *why;
    unsigned n, more; /* in the line; did not fit */
};

static void add_lack(struct lack *l, struct gy_slice command, const char *why)
{
    if (!l->n) {
        snprintf(l->command, sizeof l->command, "%.*s", (int)command.n, (const char *)command.p);
        l->why = why;
    }
    if (gy_buf_size(&l->grants) + command.n > GRANTS_MAX) {
        l->more++;
        return;
    }
    l->n++;
    gy_buf_puts(&l->grants, " +");
    gy_buf_add(&l->grants, command.p, command.n);
}

static const char *name_of(const struct trial *t, char out[GY_SHOW])
{
    return gy_show(t->k->c->view->servers[t->server].name, out);
}

static const char *base_of(const struct gy_checks *k, char out[GY_SHOW])
{
    return gy_show(k->c->m->link_conf.fence.base, out);
}

static int refuse_commands(const struct trial *t, struct lack *l, gyre_error_t *e)
{
    char name[GY_SHOW], user[GY_SHOW], more[48] = "";
    if (gy_buf_failed(&l->grants)) {
        return gy_fail_nomem(e);
    }
    if (l->n + l->more > 1) {
        snprintf(more, sizeof more, ", and %u more", l->n + l->more - 1);
    }
    return gy_fail(e, GYRE_REFUSED,
                   "%s: the proxy's user %s may not run %s there, which a move does %s%s: "
                   "ACL SETUSER %s%s",
                   name_of(t, name), base_of(t->k, user), l->command, l->why, more, user,
                   gy_buf_cstr(&l->grants));
}

static int refuse_key(const struct trial *t, const struct gy_right *r, gyre_error_t *e)
{
    char name[GY_SHOW], user[GY_SHOW], key[GY_QUOTE];
    const char *prefix = t->k->c->m->prefix;
    int word = (int)strcspn(r->command, " ");
    if (!t->moving) {
        return gy_fail(e, GYRE_REFUSED,
                       "%s: the proxy's user %s may not use keys like %s there by %.*s, which a "
                       "move does %s: ACL SETUSER %s ~%s*",
                       name_of(t, name), base_of(t->k, user), t->names.rec, word, r->command,
                       r->why, user, prefix);
    }
    return gy_fail(e, GYRE_REFUSED,
                   "%s: the proxy's user %s may not use the key %s there by %.*s%s, which a move "
                   "does %s: ACL SETUSER %s ~%s* ~PATTERN, with a PATTERN of such keys; one rule "
                   "has both, a selector for each is not enough",
                   name_of(t, name), base_of(t->k, user), gy_utf8_quote(key, t->key), word,
                   r->command, strstr(r->command, "%r") ? " together with records" : "", r->why,
                   user, prefix);
}

/* The answer to one trial: OK, a denial, or an error. */
static int take(struct trial *t, const struct gy_right *r, struct lack *l, gyre_error_t *e)
{
    struct gy_reply *a = NULL;
    char name[GY_SHOW];
    int rc = gy_sync_read(t->c, &a, e);
    if (rc != GYRE_OK) {
        return rc;
    }
    struct gy_slice command = denied_command(a->text);
    if (a->type == '-') { /* not of the rights: no such command, no such user */
        rc = gy_fail(e, GYRE_REFUSED, "%s: %s: %.*s", name_of(t, name), NEEDS_REDIS,
                     (int)(a->text.n > 200 ? 200 : a->text.n), (const char *)a->text.p);
    } else if (command.n) {
        add_lack(l, command, r->why);
    } else if (!gy_reply_is(a, "OK")) {
        rc = refuse_key(t, r, e);
    }
    gy_reply_free(a);
    return rc;
}

/* All answers are read, or the next command would take them for its own. */
static int run(struct trial *t, bool (*which)(const struct trial *t, const struct gy_right *r),
               gyre_error_t *e)
{
    struct lack l = {.why = ""};
    int rc = GYRE_OK;
    for (size_t i = 0; i < gy_rights_count; i++) {
        if (which(t, &gy_rights[i])) {
            queue(t, gy_rights[i].command);
        }
    }
    for (size_t i = 0; i < gy_rights_count; i++) {
        if (which(t, &gy_rights[i])) {
            int one = take(t, &gy_rights[i], &l, rc == GYRE_OK ? e : NULL);
            rc = rc == GYRE_OK ? one : rc;
        }
    }
    if (l.n && (rc == GYRE_OK || rc == GYRE_REFUSED)) { /* a command before the key it is used on */
        rc = refuse_commands(t, &l, e);
    }
    gy_buf_fini(&l.grants);
    return rc;
}

/* Who is logged in there? Its own user, or where ACL cannot be had the configured one. */
static int begin(struct gy_checks *k, uint32_t server, uint32_t dst, struct trial *t,
                 gyre_error_t *e)
{
    const struct gy_fence *f = &k->c->m->link_conf.fence;
    const struct gy_server *s = &k->c->view->servers[server], *d = &k->c->view->servers[dst];
    struct gy_sync *c = k->facts[server].sync;
    *t = (struct trial){.k = k, .c = c, .server = server};
    t->user = *gy_sync_greeting(c)->weak ? f->base : f->user;
    return gy_unit_names_init(&t->names, k->c->m->prefix, k->c->m->pool, s->name, s->address,
                              d->name, d->address, 0)
               ? GYRE_OK
               : gy_fail_nomem(e);
}

/* ---- the servers ---- */

static bool always(const struct trial *t, const struct gy_right *r)
{
    bool weak = *gy_sync_greeting(t->c)->weak;
    return r->when == GY_RIGHT_MOVE || (r->when == GY_RIGHT_FENCE && !weak);
}

static bool with_snapshots(const struct trial *t, const struct gy_right *r)
{
    (void)t;
    return r->when == GY_RIGHT_SNAPSHOT;
}

/* May it try at all? *can: yes. Where ACL cannot be had and the weak form was wished, there is no
 * way to know. */
static int can_try(struct trial *t, bool *can, gyre_error_t *e)
{
    struct gy_reply *a = NULL;
    char name[GY_SHOW], user[GY_SHOW];
    bool weak = *gy_sync_greeting(t->c)->weak;
    queue(t, "PING");
    int rc = gy_sync_read(t->c, &a, e);
    *can = rc == GYRE_OK && a->type != '-';
    if (rc == GYRE_OK && !*can && weak) {
        gy_warn("%s: whether the user %s has the rights that a move needs cannot be tried: %.*s",
                name_of(t, name), base_of(t->k, user), (int)a->text.n, (const char *)a->text.p);
    } else if (rc == GYRE_OK && !*can && denied_command(a->text).n) {
        rc = gy_fail(e, GYRE_REFUSED,
                     "%s: the proxy's user %s may not run acl|dryrun there, by which a move tries "
                     "its rights before it begins: ACL SETUSER %s +acl|dryrun",
                     name_of(t, name), base_of(t->k, user), user);
    } else if (rc == GYRE_OK && !*can) {
        rc = gy_fail(e, GYRE_REFUSED, "%s: %s: ACL DRYRUN: %.*s", name_of(t, name), NEEDS_REDIS,
                     (int)a->text.n, (const char *)a->text.p);
    }
    gy_reply_free(a);
    return rc;
}

int gy_check_rights(struct gy_checks *k, uint32_t i, bool destination, gyre_error_t *e)
{
    struct trial t;
    bool saves = false;
    if (k->facts[i].tried) {
        return GYRE_OK;
    }
    int rc = begin(k, i, i, &t, e);
    if (rc == GYRE_OK) {
        rc = can_try(&t, &k->facts[i].may_try, e);
    }
    if (rc == GYRE_OK && k->facts[i].may_try) {
        rc = run(&t, always, e);
    }
    if (rc == GYRE_OK && destination) {
        rc = gy_persist_saves(t.c, &saves, e);
    }
    if (rc == GYRE_OK && saves && k->facts[i].may_try) {
        rc = run(&t, with_snapshots, e);
    }
    k->facts[i].tried = rc == GYRE_OK;
    gy_unit_names_fini(&t.names);
    return rc;
}

/* The hand-shake itself was refused a command: what would grant it. */
int gy_rights_advise(const struct gy_checks *k, int rc, gyre_error_t *e)
{
    char user[GY_SHOW];
    if (rc != GYRE_REFUSED || !e || !strstr(e->message, "NOPERM")) {
        return rc;
    }
    gyre_error_t inner = *e;
    struct gy_slice command = denied_command(gy_str(inner.message));
    return command.n ? gy_fail(e, rc, "%.500s: ACL SETUSER %s +%.*s", inner.message,
                               base_of(k, user), (int)command.n, (const char *)command.p)
                     : rc;
}

/* ---- the keys ---- */

static bool with_key(const struct trial *t, const struct gy_right *r)
{
    (void)t;
    return strstr(r->command, "%k") != NULL;
}

struct sample {
    struct gy_buf key;
    uint32_t dst;
};

/* Does this key move from src to a server that is asked? */
static bool moves(const struct gy_checks *k, uint32_t src, struct gy_slice key, uint32_t *dst)
{
    const struct gy_precheck *c = k->c;
    uint32_t a = gyre_map_locate(c->view->map, key.p, key.n);
    uint32_t b = gyre_map_locate(c->next, key.p, key.n);
    if (a == GYRE_NONE || b == GYRE_NONE || c->view->server[a] != src || !key.n) {
        return false;
    }
    *dst = c->next_server[b];
    return *dst != src && k->facts[*dst].tried;
}

/* The answer's bytes go with the next command, so the keys are copied. */
static int take_samples(struct gy_checks *k, uint32_t src, struct sample *v, size_t *n,
                        gyre_error_t *e)
{
    struct gy_reply *r = NULL;
    int rc = gy_sync_call(k->facts[src].sync, &r, e, "SCAN", "0", "COUNT", SCAN_COUNT, NULL);
    bool good = rc == GYRE_OK && r->count == 2;
    for (size_t i = 0; good && i < r->item[1].count && *n < KEYS_MAX; i++) {
        struct gy_slice key = r->item[1].item[i].text;
        if (moves(k, src, key, &v[*n].dst)) {
            gy_buf_add(&v[*n].key, key.p, key.n);
            rc = gy_buf_failed(&v[(*n)++].key) ? gy_fail_nomem(e) : rc;
        }
    }
    gy_reply_free(r);
    return rc;
}

static int try_key(struct gy_checks *k, uint32_t server, uint32_t src, const struct sample *s,
                   gyre_error_t *e)
{
    struct trial t;
    if (!k->facts[server].may_try) {
        return GYRE_OK;
    }
    int rc = begin(k, server, server == src ? s->dst : src, &t, e);
    if (rc == GYRE_OK) {
        t.key = (struct gy_slice){gy_buf_head(&s->key), gy_buf_size(&s->key)};
        t.moving = true;
        rc = run(&t, with_key, e);
    }
    gy_unit_names_fini(&t.names);
    return rc;
}

int gy_check_key_rights(struct gy_checks *k, uint32_t src, gyre_error_t *e)
{
    struct sample v[KEYS_MAX] = {0};
    size_t n = 0;
    int rc = take_samples(k, src, v, &n, e);
    for (size_t i = 0; i < n && rc == GYRE_OK; i++) {
        rc = try_key(k, src, src, &v[i], e);
        if (rc == GYRE_OK) {
            rc = try_key(k, v[i].dst, src, &v[i], e);
        }
    }
    for (size_t i = 0; i < n; i++) {
        gy_buf_fini(&v[i].key);
    }
    return rc;
}
