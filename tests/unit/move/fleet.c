/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.c - see fleet.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fleet.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- servers ---- */

static void be_server(const struct fleet *f, unsigned i)
{
    char sock[128], dir[128];
    snprintf(sock, sizeof sock, "%s/%s.sock", f->dir, f->node[i].name);
    snprintf(dir, sizeof dir, "%s/%s", f->dir, f->node[i].name);
    mkdir(dir, 0700);
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(null, 1);
    dup2(null, 2);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", sock, "--dir", dir,
           "--save", "", "--appendonly", f->persist ? "yes" : "no", "--appendfsync", "always",
           "--enable-debug-command", "yes", "--daemonize", "no", (char *)NULL);
    _exit(127);
}

static bool connect_node(struct fleet_node *n)
{
    struct gy_addr a;
    struct gy_sync_opts o = {.connect_ms = 1000, .timeout_ms = 30000};
    assert_int_equal(gy_addr_parse(n->address, 0, &a, NULL), GYRE_OK);
    return gy_sync_connect(&a, &o, &n->c, NULL) == GYRE_OK;
}

void fleet_start(struct fleet *f, unsigned i)
{
    struct fleet_node *n = &f->node[i];
    fflush(NULL);
    n->pid = fork();
    assert_true(n->pid >= 0);
    if (n->pid == 0) {
        be_server(f, i);
    }
    for (int k = 0; k < 500 && !connect_node(n); k++) {
        usleep(10000);
    }
    assert_non_null(n->c);
}

void fleet_kill(struct fleet *f, unsigned i)
{
    gy_sync_close(f->node[i].c);
    f->node[i].c = NULL;
    kill(f->node[i].pid, SIGKILL);
    waitpid(f->node[i].pid, NULL, 0);
}

void fleet_up(struct fleet *f, unsigned n, bool persist)
{
    memset(f, 0, sizeof *f);
    f->persist = persist;
    f->n = n;
    snprintf(f->dir, sizeof f->dir, "/tmp/gyre-move-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    for (unsigned i = 0; i < n; i++) {
        snprintf(f->node[i].name, sizeof f->node[i].name, "cache-%u", i);
        snprintf(f->node[i].address, sizeof f->node[i].address, "unix:%s/cache-%u.sock", f->dir, i);
        fleet_start(f, i);
    }
}

void fleet_down(struct fleet *f)
{
    char command[128];
    for (unsigned i = 0; i < f->n; i++) {
        fleet_kill(f, i);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", f->dir);
    assert_int_equal(system(command), 0);
}

void fleet_flush(struct fleet *f)
{
    for (unsigned i = 0; i < f->n; i++) {
        fleet_do(f->node[i].c, "FLUSHALL", NULL);
    }
}

void fleet_forget_moves(struct fleet *f)
{
    for (unsigned i = 0; i < f->n; i++) {
        fleet_do(f->node[i].c, "FUNCTION", "FLUSH", NULL);
    }
}

gyre_topology_t *fleet_topology(const struct fleet *f, unsigned from, unsigned to, uint64_t version)
{
    gyre_topology_t *t = gyre_topology_new();
    assert_non_null(t);
    gyre_topology_set_version(t, version);
    for (unsigned i = from; i < to; i++) {
        struct gyre_node n = {
            .size = sizeof n, .name = f->node[i].name, .address = f->node[i].address, .weight = 1};
        assert_int_equal(gyre_topology_add(t, &n, NULL), GYRE_OK);
    }
    return t;
}

/* ---- commands ---- */

static struct gy_reply *good(struct gy_sync *c)
{
    struct gy_reply *r;
    gyre_error_t e;
    if (gy_sync_read(c, &r, &e) != GYRE_OK) {
        fail_msg("%s", e.message);
    }
    if (r->type == '-') {
        fail_msg("%.*s", (int)r->text.n, (const char *)r->text.p);
    }
    return r;
}

void fleet_do(struct gy_sync *c, ...)
{
    struct gy_slice argv[16];
    size_t n = 0;
    const char *a;
    va_list ap;
    va_start(ap, c);
    while ((a = va_arg(ap, const char *)) != NULL) {
        argv[n++] = gy_str(a);
    }
    va_end(ap);
    gy_sync_add(c, n, argv);
    gy_reply_free(good(c));
}

int64_t fleet_int(struct gy_sync *c, const char *a, const char *b, const char *d, const char *e)
{
    gy_sync_cmd(c, a, b, d, e, NULL);
    struct gy_reply *r = good(c);
    int64_t v = r->integer;
    gy_reply_free(r);
    return v;
}

/* ---- the model ---- */

static struct gy_sync *owner(struct fleet *f, const gyre_map_t *map, const char *key)
{
    uint32_t at = gyre_map_locate(map, key, strlen(key));
    const char *address = gyre_map_node(map, at)->address;
    for (unsigned i = 0; i < f->n; i++) {
        if (strcmp(f->node[i].address, address) == 0) {
            return f->node[i].c;
        }
    }
    fail_msg("no server at %s", address);
    return NULL;
}

static unsigned make(struct gy_sync *c, const char *key, size_t i)
{
    char a[32], b[32];
    unsigned n = 1;
    snprintf(a, sizeof a, "value-%zu", i);
    snprintf(b, sizeof b, "%zu-1", i + 1);
    switch (i % 10) {
    case 0:
        gy_sync_cmd(c, "SET", key, a, NULL);
        break;
    case 1:
        gy_sync_cmd(c, "RPUSH", key, a, "two", "three", NULL);
        break;
    case 2:
        gy_sync_cmd(c, "HSET", key, "f", a, "g", "2", NULL);
        break;
    case 3:
        gy_sync_cmd(c, "SADD", key, a, "x", "y", NULL);
        break;
    case 4:
        gy_sync_cmd(c, "ZADD", key, "1.5", a, "2", "b", NULL);
        break;
    case 5:
        gy_sync_cmd(c, "XADD", key, b, "field", a, NULL);
        gy_sync_cmd(c, "XGROUP", "CREATE", key, "group", "0", NULL);
        n = 2;
        break;
    case 6:
        gy_sync_cmd(c, "PFADD", key, a, "p", "q", NULL);
        break;
    case 7:
        gy_sync_cmd(c, "SETBIT", key, "77", "1", NULL);
        break;
    case 8:
        gy_sync_cmd(c, "SET", key, "", NULL); /* a value of no length */
        break;
    default:
        gy_sync_cmd(c, "SET", key, a, NULL);
        gy_sync_cmd(c, "PEXPIRE", key, "3600000", NULL);
        n = 2;
    }
    return n;
}

void model_note(struct model *m, size_t i, struct gy_sync *c)
{
    gy_sync_cmd(c, "DEBUG", "DIGEST-VALUE", m->key[i], NULL);
    struct gy_reply *r = good(c);
    assert_int_equal(r->count, 1);
    snprintf(m->digest[i], sizeof m->digest[i], "%.*s", (int)r->item[0].text.n,
             (const char *)r->item[0].text.p);
    gy_reply_free(r);
}

void model_absent(struct model *m, size_t i)
{
    m->digest[i][0] = '\0';
}

size_t model_append(struct model *m, const char *key)
{
    m->key = realloc(m->key, (m->n + 1) * sizeof *m->key);
    m->digest = realloc(m->digest, (m->n + 1) * sizeof *m->digest);
    assert_true(m->key && m->digest);
    snprintf(m->key[m->n], sizeof m->key[m->n], "%s", key);
    m->digest[m->n][0] = '\0';
    return m->n++;
}

void model_fill(struct model *m, struct fleet *f, const gyre_topology_t *t, size_t n)
{
    gyre_map_t *map;
    unsigned due[FLEET_MAX] = {0};
    assert_int_equal(gyre_map_build(t, &map, NULL), GYRE_OK);
    memset(m, 0, sizeof *m);
    m->key = calloc(n, sizeof *m->key);
    m->digest = calloc(n, sizeof *m->digest);
    m->n = n;
    for (size_t i = 0; i < n; i++) {
        /* Tags, braces without end, and names that look like ours but are a user's. */
        static const char *const form[] = {"user:", "{tag}:", "brace{", "gyre:"};
        snprintf(m->key[i], sizeof m->key[i], "%s%zu", form[i / 10 % 4], i);
        struct gy_sync *c = owner(f, map, m->key[i]);
        for (unsigned k = 0; k < f->n; k++) {
            due[k] += f->node[k].c == c ? make(c, m->key[i], i) : 0;
        }
    }
    for (unsigned k = 0; k < f->n; k++) {
        for (; due[k]; due[k]--) {
            gy_reply_free(good(f->node[k].c));
        }
    }
    for (size_t i = 0; i < n; i++) {
        model_note(m, i, owner(f, map, m->key[i]));
    }
    gyre_map_unref(map);
}

void model_verify(const struct model *m, struct fleet *f, const gyre_topology_t *t)
{
    gyre_map_t *map;
    int64_t expected[FLEET_MAX] = {0};
    assert_int_equal(gyre_map_build(t, &map, NULL), GYRE_OK);
    for (size_t i = 0; i < m->n; i++) {
        gy_sync_cmd(owner(f, map, m->key[i]), "DEBUG", "DIGEST-VALUE", m->key[i], NULL);
    }
    for (size_t i = 0; i < m->n; i++) {
        struct gy_sync *c = owner(f, map, m->key[i]);
        struct gy_reply *r = good(c);
        static const char none[] = "0000000000000000000000000000000000000000";
        const char *want = m->digest[i][0] ? m->digest[i] : none;
        if (!gy_slice_eq(r->item[0].text, gy_str(want))) {
            fail_msg("key %s is not what it was: %.*s, not %s", m->key[i], (int)r->item[0].text.n,
                     (const char *)r->item[0].text.p, want);
        }
        gy_reply_free(r);
        for (unsigned k = 0; k < f->n; k++) {
            expected[k] += f->node[k].c == c && m->digest[i][0];
        }
    }
    for (unsigned k = 0; k < f->n; k++) {
        int64_t there = fleet_int(f->node[k].c, "DBSIZE", NULL, NULL, NULL);
        if (there != expected[k]) {
            fail_msg("%s holds %lld keys, not %lld", f->node[k].name, (long long)there,
                     (long long)expected[k]);
        }
    }
    gyre_map_unref(map);
}

void model_fini(struct model *m)
{
    free(m->key);
    free(m->digest);
    memset(m, 0, sizeof *m);
}
