/* SPDX-License-Identifier: Apache-2.0 */
/* fence.c - see fence.h. What a server lists is not trusted: a name that is not exactly of our form
 * is nobody of ours. */
#include "net/fence.h"

#include "base/utf8.h"
#include "lib/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#define DIGITS_MAX 18 /* of a generation: leaves room to count on */

/* ---- init ---- */

static int random_secret(struct gy_fence *f, gyre_error_t *e)
{
    uint8_t raw[32];
    if (getrandom(raw, sizeof raw, 0) != (ssize_t)sizeof raw) {
        return gy_fail(e, GYRE_IO, "no random bytes: %s", strerror(errno));
    }
    for (size_t i = 0; i < sizeof raw; i++) {
        snprintf(f->secret + 2 * i, 3, "%02x", raw[i]);
    }
    explicit_bzero(raw, sizeof raw);
    return GYRE_OK;
}

int gy_fence_renumber(struct gy_fence *f, uint64_t generation, gyre_error_t *e)
{
    free(f->user);
    f->generation = generation;
    if (asprintf(&f->user, "%s%" PRIu64, f->prefix, generation) < 0) {
        f->user = NULL;
        return gy_fail_nomem(e);
    }
    return GYRE_OK;
}

int gy_fence_init(struct gy_fence *f, const char *pool, const char *id, uint64_t generation,
                  const char *base, gyre_error_t *e)
{
    struct gy_buf name = {0};
    *f = (struct gy_fence){0};
    gy_utf8_plain(&name, pool); /* neither names nor users may hold spaces */
    bool good = !gy_buf_failed(&name) && (f->base = strdup(base ? base : "default")) != NULL;
    if (good && asprintf(&f->pool, "gyre-%s-", gy_buf_cstr(&name)) < 0) {
        f->pool = NULL;
        good = false;
    }
    if (good && asprintf(&f->prefix, "%s%s-", f->pool, id) < 0) {
        f->prefix = NULL;
        good = false;
    }
    gy_buf_fini(&name);
    int rc = good ? gy_fence_renumber(f, generation, e) : gy_fail_nomem(e);
    return rc == GYRE_OK ? random_secret(f, e) : rc;
}

void gy_fence_fini(struct gy_fence *f)
{
    free(f->pool);
    free(f->prefix);
    free(f->user);
    free(f->base);
    explicit_bzero(f, sizeof *f);
}

/* ---- names ---- */

/* The decimal number at p and where it ends; NULL: there is none, or one too long to be ours. */
static const uint8_t *number(const uint8_t *p, const uint8_t *end, uint64_t *out)
{
    const uint8_t *from = p;
    *out = 0;
    while (p < end && *p >= '0' && *p <= '9' && p - from <= DIGITS_MAX) {
        *out = *out * 10 + (uint64_t)(*p++ - '0');
    }
    return p == from || p - from > DIGITS_MAX ? NULL : p;
}

static bool begins(struct gy_slice s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.n >= n && memcmp(s.p, prefix, n) == 0;
}

/* The word behind `key` in a line of space-separated words, "key=..."; n = 0: it is not there. */
static struct gy_slice field(struct gy_slice line, const char *key)
{
    size_t n = strlen(key);
    const uint8_t *at = line.n ? memmem(line.p, line.n, key, n) : NULL;
    if (!at) {
        return (struct gy_slice){NULL, 0};
    }
    const uint8_t *end = line.p + line.n, *from = at + n;
    const uint8_t *stop = memchr(from, ' ', (size_t)(end - from));
    return (struct gy_slice){from, (size_t)((stop ? stop : end) - from)};
}

/* Is it "<prefix><generation>" and, for a connection, "-..." behind it? */
static bool generation_of(const struct gy_fence *f, struct gy_slice name, bool connection,
                          uint64_t *out)
{
    if (!begins(name, f->prefix)) {
        return false;
    }
    const uint8_t *end = name.p + name.n;
    const uint8_t *stop = number(name.p + strlen(f->prefix), end, out);
    return stop && (connection ? stop < end && *stop == '-' : stop == end);
}

static bool is_hex(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Is it a user of this pool under another id, "gyre-<pool>-<8 hex>-<number>", or a connection's
 * name, with "-..." behind it? */
static bool is_others(const struct gy_fence *f, struct gy_slice name, bool connection)
{
    size_t n = strlen(f->pool);
    uint64_t any;
    if (!begins(name, f->pool) || begins(name, f->prefix) || name.n < n + GY_FENCE_ID + 2) {
        return false;
    }
    for (size_t i = 0; i < GY_FENCE_ID; i++) {
        if (!is_hex(name.p[n + i])) {
            return false;
        }
    }
    const uint8_t *end = name.p + name.n, *dash = name.p + n + GY_FENCE_ID;
    const uint8_t *stop = *dash == '-' ? number(dash + 1, end, &any) : NULL;
    return stop && (connection ? stop < end && *stop == '-' : stop == end);
}

/* ---- ACL LIST ---- */

/* "user NAME on #hash ~* ..."; name.n = 0: not such a line. */
static struct gy_slice user_name(const struct gy_reply *line)
{
    return line->type == '$' && begins(line->text, "user ") ? field(line->text, "user ")
                                                            : (struct gy_slice){NULL, 0};
}

static bool next_word(struct gy_slice *rest, struct gy_slice *word)
{
    while (rest->n && *rest->p == ' ') {
        rest->p++;
        rest->n--;
    }
    const uint8_t *stop = rest->n ? memchr(rest->p, ' ', rest->n) : NULL;
    *word = (struct gy_slice){rest->p, stop ? (size_t)(stop - rest->p) : rest->n};
    rest->p += word->n;
    rest->n -= word->n;
    return word->n > 0;
}

/* Passwords, and whether the user may log in, are ours to say. */
static bool is_right(struct gy_slice word)
{
    return word.p[0] != '#' && !gy_slice_eq(word, GY_LIT("on")) &&
           !gy_slice_eq(word, GY_LIT("off")) && !gy_slice_eq(word, GY_LIT("nopass"));
}

static bool next_right(struct gy_slice *rest, struct gy_slice *word)
{
    bool any;
    do {
        any = next_word(rest, word);
    } while (any && !is_right(*word));
    return any;
}

/* What stands behind the name in this user's line; p NULL: the user is not listed. */
static struct gy_slice line_of(const struct gy_reply *acl, const char *user)
{
    for (size_t i = 0; i < acl->count; i++) {
        struct gy_slice name = user_name(&acl->item[i]), line = acl->item[i].text;
        if (gy_slice_eq(name, gy_str(user))) {
            size_t head = (size_t)(name.p - line.p) + name.n;
            return (struct gy_slice){line.p + head, line.n - head};
        }
    }
    return (struct gy_slice){NULL, 0};
}

/* The order of the words counts. Redis 7.0 may list one set of rights in two orders: then they are
 * taken for others, and our user is made once more. */
static bool same_rights(struct gy_slice a, struct gy_slice b)
{
    struct gy_slice x, y;
    bool more;
    do {
        more = next_right(&a, &x);
        if (next_right(&b, &y) != more || (more && !gy_slice_eq(x, y))) {
            return false;
        }
    } while (more);
    return true;
}

void gy_fence_look(const struct gy_fence *f, const struct gy_reply *acl, struct gy_fence_seen *out)
{
    *out = (struct gy_fence_seen){0};
    for (size_t i = 0; i < acl->count; i++) {
        uint64_t generation;
        if (generation_of(f, user_name(&acl->item[i]), false, &generation)) {
            out->own |= generation == f->generation;
            out->older |= generation < f->generation;
            out->newest = generation > out->newest ? generation : out->newest;
        }
    }
    struct gy_slice base = line_of(acl, f->base);
    out->stale = out->own && base.p && !same_rights(base, line_of(acl, f->user));
}

bool gy_fence_rules(const struct gy_fence *f, const struct gy_reply *acl, struct gy_buf *out)
{
    struct gy_slice word, line = line_of(acl, f->base);
    if (!line.p) {
        return false;
    }
    while (next_right(&line, &word)) {
        gy_buf_add(out, word.p, word.n);
        gy_buf_putc(out, ' ');
    }
    return true;
}

/* ---- commands ---- */

bool gy_fence_make(const struct gy_fence *f, struct gy_slice rules, struct gy_buf *out)
{
    char secret[sizeof f->secret + 1];
    struct gy_slice word, rest = rules;
    size_t n = 6; /* ACL SETUSER name reset on >secret */
    while (next_word(&rest, &word)) {
        n++;
    }
    struct gy_slice *argv = calloc(n, sizeof *argv);
    if (!argv) {
        return false;
    }
    snprintf(secret, sizeof secret, ">%s", f->secret);
    argv[0] = GY_LIT("ACL");
    argv[1] = GY_LIT("SETUSER");
    argv[2] = gy_str(f->user);
    argv[3] = GY_LIT("reset");
    argv[4] = GY_LIT("on");
    argv[5] = gy_str(secret);
    rest = rules;
    for (size_t i = 6; i < n; i++) {
        (void)next_word(&rest, &argv[i]);
    }
    gy_resp_command(out, n, argv);
    explicit_bzero(secret, sizeof secret);
    free(argv);
    return true;
}

struct gy_slice *gy_fence_unmake(const struct gy_fence *f, const struct gy_reply *acl, size_t *argc)
{
    struct gy_slice *argv = calloc(acl->count + 2, sizeof *argv);
    *argc = 0;
    if (!argv) {
        return NULL;
    }
    argv[(*argc)++] = GY_LIT("ACL");
    argv[(*argc)++] = GY_LIT("DELUSER");
    for (size_t i = 0; i < acl->count; i++) {
        struct gy_slice user = user_name(&acl->item[i]);
        uint64_t generation;
        if (generation_of(f, user, false, &generation) && generation <= f->generation) {
            argv[(*argc)++] = user;
        }
    }
    if (*argc == 2) {
        free(argv);
        return NULL;
    }
    return argv;
}

void gy_fence_login(const struct gy_fence *f, struct gy_buf *out)
{
    gy_resp_cmd(out, "AUTH", f->user, f->secret, NULL);
}

/* Calls for each line of CLIENT LIST; fn returns false to stop. */
static bool each_line(struct gy_slice clients, bool (*fn)(void *ctx, struct gy_slice line),
                      void *ctx)
{
    const uint8_t *p = clients.p, *end = clients.n ? p + clients.n : p;
    while (p < end) {
        const uint8_t *eol = memchr(p, '\n', (size_t)(end - p));
        eol = eol ? eol : end;
        if (!fn(ctx, (struct gy_slice){p, (size_t)(eol - p)})) {
            return false;
        }
        p = eol < end ? eol + 1 : end;
    }
    return true;
}

struct kill {
    const struct gy_fence *f;
    struct gy_buf *out;
    unsigned n;
};

/* "id=12 addr=... name=gyre-main-1f2e3d4c-3-w0 ... user=..." */
static bool kill_line(void *ctx, struct gy_slice line)
{
    struct kill *k = ctx;
    uint64_t generation, id;
    if (begins(line, "id=") && number(line.p + 3, line.p + line.n, &id) &&
        generation_of(k->f, field(line, " name="), true, &generation) &&
        generation < k->f->generation) {
        char text[24];
        snprintf(text, sizeof text, "%" PRIu64, id);
        gy_resp_cmd(k->out, "CLIENT", "KILL", "ID", text, NULL);
        k->n++;
    }
    return true;
}

unsigned gy_fence_kill(const struct gy_fence *f, struct gy_slice clients, struct gy_buf *out)
{
    struct kill k = {f, out, 0};
    (void)each_line(clients, kill_line, &k);
    return k.n;
}

static bool is_not_user(void *ctx, struct gy_slice line)
{
    const struct gy_slice *user = ctx;
    return !gy_slice_eq(field(line, " user="), *user);
}

struct count {
    struct gy_slice user;
    unsigned n;
};

static bool count_line(void *ctx, struct gy_slice line)
{
    struct count *c = ctx;
    c->n += gy_slice_eq(field(line, " user="), c->user);
    return true;
}

unsigned gy_fence_count(const struct gy_fence *f, struct gy_slice clients)
{
    struct count c = {gy_str(f->user), 0};
    (void)each_line(clients, count_line, &c);
    return c.n;
}

struct other {
    const struct gy_fence *f;
    struct gy_slice name, from; /* n = 0: none yet */
};

/* By name too: where ACL may not be used there are no users. */
static bool is_not_other(void *ctx, struct gy_slice line)
{
    struct other *o = ctx;
    struct gy_slice user = field(line, " user="), name = field(line, " name=");
    bool by_user = is_others(o->f, user, false);
    if (by_user || is_others(o->f, name, true)) {
        o->name = by_user ? user : name;
        o->from = field(line, " addr=");
    }
    return !o->name.n;
}

bool gy_fence_other(const struct gy_fence *f, struct gy_slice clients, char id[GY_FENCE_ID + 1],
                    struct gy_slice *from)
{
    struct other o = {.f = f};
    if (each_line(clients, is_not_other, &o)) {
        return false;
    }
    memcpy(id, o.name.p + strlen(f->pool), GY_FENCE_ID);
    id[GY_FENCE_ID] = '\0';
    *from = o.from;
    return true;
}

static bool must_go(const struct gy_fence *f, struct gy_slice user, struct gy_slice clients)
{
    uint64_t generation;
    if (generation_of(f, user, false, &generation)) {
        return generation < f->generation;
    }
    /* A proxy that lives makes it again when it next connects. */
    return is_others(f, user, false) && each_line(clients, is_not_user, &user);
}

void gy_fence_delete(const struct gy_fence *f, const struct gy_reply *acl, struct gy_slice clients,
                     struct gy_buf *out)
{
    char nobody[400];
    size_t count = acl ? acl->count : 0, n = 0;
    struct gy_slice *argv = calloc(count + 3, sizeof *argv);
    if (!argv) {
        out->failed = true;
        return;
    }
    snprintf(nobody, sizeof nobody, "%s0", f->prefix); /* generations begin at 1 */
    argv[n++] = GY_LIT("ACL");
    argv[n++] = GY_LIT("DELUSER");
    argv[n++] = gy_str(nobody);
    for (size_t i = 0; i < count; i++) {
        struct gy_slice user = user_name(&acl->item[i]);
        if (user.n && must_go(f, user, clients)) {
            argv[n++] = user;
        }
    }
    gy_resp_command(out, n, argv);
    free(argv);
}
