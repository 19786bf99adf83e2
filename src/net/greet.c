/* SPDX-License-Identifier: Apache-2.0 */
/* greet.c - see greet.h. */
#include "net/greet.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void ask(struct gy_greet *g, enum gy_greet_ask what)
{
    g->ask[g->n++] = (uint8_t)what;
}

static void ask_cmd(struct gy_greet *g, struct gy_buf *out, enum gy_greet_ask what, const char *a,
                    const char *b)
{
    gy_resp_cmd(out, a, b, NULL);
    ask(g, what);
}

void gy_greet_begin(struct gy_greet *g, struct gy_buf *out)
{
    g->at = g->n = g->kills = 0;
    g->round = 1;
    g->full = g->made = false;
    g->weak[0] = g->why[0] = '\0';
    if (g->password) {
        if (g->user) {
            gy_resp_cmd(out, "AUTH", g->user, g->password, NULL);
        } else {
            gy_resp_cmd(out, "AUTH", g->password, NULL);
        }
        ask(g, GY_ASK_AUTH);
    }
    if (g->name) {
        gy_resp_cmd(out, "CLIENT", "SETNAME", g->name, NULL);
        ask(g, GY_ASK_NAME);
    }
    ask_cmd(g, out, GY_ASK_ID, "CLIENT", "ID");
    ask_cmd(g, out, GY_ASK_INFO, "INFO", "server");
    if (g->fence) {
        ask_cmd(g, out, GY_ASK_ACL, "ACL", "LIST");
        if (!g->look) {
            gy_fence_delete(g->fence, NULL, (struct gy_slice){NULL, 0}, out);
            ask(g, GY_ASK_ALLOWED);
        }
    }
}

void gy_greet_fini(struct gy_greet *g)
{
    gy_buf_fini(&g->rules);
    gy_buf_fini(&g->clients);
}

/* ---- answers ---- */

static bool refuse(struct gy_greet *g, const char *what, const struct gy_reply *r)
{
    bool said = r->type == '-' && r->text.n;
    snprintf(g->why, sizeof g->why, "%s%s%.*s", what, said ? ": " : "", said ? (int)r->text.n : 0,
             said ? (const char *)r->text.p : "");
    return false;
}

static bool take_info(struct gy_greet *g, const struct gy_reply *r)
{
    static const char word[] = "run_id:";
    size_t len = sizeof word - 1;
    const uint8_t *at =
        r->type == '$' && r->text.n ? memmem(r->text.p, r->text.n, word, len) : NULL;
    if (r->type == '-') {
        return refuse(g, "INFO", r);
    }
    if (!at || (size_t)(r->text.p + r->text.n - at) < len + 40) {
        return refuse(g, "INFO server has no run_id: not a Redis server?", r);
    }
    if (memcmp(g->run_id, at + len, 40) != 0) {
        g->fenced = false; /* another process: what was put away may have come back from a file */
    }
    memcpy(g->run_id, at + len, 40);
    g->run_id[40] = '\0';
    return true;
}

static bool begins(const struct gy_reply *r, const char *word)
{
    size_t n = strlen(word);
    return r->text.n >= n && memcmp(r->text.p, word, n) == 0;
}

/* ACL is not to be had here. A server that is only busy is asked again, by a new hand-shake. */
static bool weaken(struct gy_greet *g, const char *what, const struct gy_reply *r)
{
    if (begins(r, "BUSY") || begins(r, "LOADING") || begins(r, "MASTERDOWN")) {
        return refuse(g, what, r);
    }
    if (!g->weak[0]) {
        snprintf(g->weak, sizeof g->weak, "%s: %.*s", what, (int)r->text.n,
                 (const char *)r->text.p);
    }
    return true;
}

static bool take_acl(struct gy_greet *g, const struct gy_reply *r)
{
    if (r->type == '-') {
        return weaken(g, "ACL LIST", r);
    }
    gy_fence_look(g->fence, r, &g->seen);
    gy_buf_reset(&g->rules);
    if (!gy_fence_rules(g->fence, r, &g->rules) && !g->weak[0]) {
        snprintf(g->weak, sizeof g->weak, "ACL LIST does not show the user %.100s", g->fence->base);
    }
    return true;
}

static bool take_clients(struct gy_greet *g, const struct gy_reply *r, struct gy_buf *out)
{
    if (r->type != '$') {
        return refuse(g, "CLIENT LIST", r);
    }
    gy_buf_reset(&g->clients);
    gy_buf_add(&g->clients, r->text.p, r->text.n);
    g->kills += gy_fence_kill(g->fence, r->text, out);
    return true;
}

static bool take_login(struct gy_greet *g, const struct gy_reply *r)
{
    if (gy_reply_is(r, "OK")) {
        return true;
    }
    g->fenced = false; /* the next hand-shake looks, and makes the user again if it may */
    return refuse(g, "the user made for this process was taken away", r);
}

static struct gy_slice bytes_of(const struct gy_buf *b)
{
    return (struct gy_slice){gy_buf_head(b), gy_buf_size(b)};
}

static bool take_again(struct gy_greet *g, const struct gy_reply *r, struct gy_buf *out)
{
    if (r->type == '-') {
        return refuse(g, "ACL LIST", r);
    }
    struct gy_buf now = {0};
    bool same = gy_fence_rules(g->fence, r, &now) && !gy_buf_failed(&now) &&
                gy_slice_eq(bytes_of(&now), bytes_of(&g->rules));
    gy_buf_fini(&now);
    if (!same) { /* what we made may have put back a right that was just taken away */
        g->fenced = false;
        snprintf(g->why, sizeof g->why, "the rights of the user %.60s changed meanwhile",
                 g->fence->base);
        return false;
    }
    gy_fence_delete(g->fence, r, bytes_of(&g->clients), out);
    return true;
}

static bool take_one(struct gy_greet *g, enum gy_greet_ask what, const struct gy_reply *r,
                     struct gy_buf *out)
{
    /* What is said where the answer is not OK, and what an error means that ACL is not to be had.
     */
    static const char *const wrong[GY_ASK_COUNT] = {
        [GY_ASK_AUTH] = "the node refuses the password",
        [GY_ASK_NAME] = "the node refuses the hand-shake",
    };
    static const char *const weak[GY_ASK_COUNT] = {
        [GY_ASK_ALLOWED] = "ACL DELUSER",
        [GY_ASK_MAKE] = "ACL SETUSER",
    };
    if (wrong[what]) {
        return gy_reply_is(r, "OK") || refuse(g, wrong[what], r);
    }
    if (weak[what]) {
        return r->type != '-' || weaken(g, weak[what], r);
    }
    if (what == GY_ASK_ID) {
        g->client_id = r->integer;
        return r->type == ':' || refuse(g, "the node refuses the hand-shake", r);
    }
    return what == GY_ASK_INFO        ? take_info(g, r)
           : what == GY_ASK_ACL       ? take_acl(g, r)
           : what == GY_ASK_CLIENTS   ? take_clients(g, r, out)
           : what == GY_ASK_ACL_AGAIN ? take_again(g, r, out)
           : what == GY_ASK_DELETE    ? r->type != '-' || refuse(g, "ACL DELUSER", r)
           : what == GY_ASK_LOGIN     ? take_login(g, r)
                                      : true; /* of a kill: "No such client" is as good */
}

/* ---- rounds ---- */

/* After the first: is this process still the one to be here? */
static bool may_go_on(struct gy_greet *g)
{
    const struct gy_fence *f = g->fence;
    g->full = !g->fenced;
    if (g->weak[0]) {
        return true;
    }
    if (g->seen.newest > f->generation) {
        snprintf(g->why, sizeof g->why,
                 "generation %" PRIu64 " of this proxy came after this process, generation %" PRIu64
                 ", which is fenced: stop it",
                 g->seen.newest, f->generation);
        return false;
    }
    g->full |= !g->seen.own || g->seen.older || g->seen.stale;
    if (g->full && f->holds && !f->holds(f->ctx)) {
        snprintf(g->why, sizeof g->why,
                 "the state directory of this process was removed or replaced: another may serve "
                 "by it, so no new user is made for this one; stop it");
        return false;
    }
    return true;
}

static bool round_two(struct gy_greet *g, struct gy_buf *out)
{
    if (!g->fence || g->look) {
        return true;
    }
    if (!may_go_on(g)) {
        return false;
    }
    if (g->full && !g->weak[0]) {
        if (!gy_fence_make(g->fence, bytes_of(&g->rules), out)) {
            snprintf(g->why, sizeof g->why, "out of memory");
            return false;
        }
        ask(g, GY_ASK_MAKE);
        g->made = true;
    }
    if (g->full) {
        ask_cmd(g, out, GY_ASK_CLIENTS, "CLIENT", "LIST");
    }
    return true;
}

/* The commands against each connection are written already. */
static void round_three(struct gy_greet *g, struct gy_buf *out)
{
    if (g->kill_id && g->kill_run_id && strcmp(g->kill_run_id, g->run_id) == 0) {
        char id[24];
        snprintf(id, sizeof id, "%" PRId64, g->kill_id);
        gy_resp_cmd(out, "CLIENT", "KILL", "ID", id, NULL);
        g->kills++;
    }
    if (g->kills) {
        ask(g, GY_ASK_KILL);
    }
    if (g->full && !g->weak[0]) {
        ask_cmd(g, out, GY_ASK_ACL_AGAIN, "ACL", "LIST");
    }
}

static void round_four(struct gy_greet *g, struct gy_buf *out)
{
    if (!g->fence || g->look || g->weak[0]) {
        return;
    }
    if (g->full) { /* written when the list came */
        ask(g, GY_ASK_DELETE);
    }
    gy_fence_login(g->fence, out);
    ask(g, GY_ASK_LOGIN);
}

/* Writes rounds until one awaits an answer. */
static enum gy_greeting go_on(struct gy_greet *g, struct gy_buf *out)
{
    while (g->at == g->n && g->round < 4) {
        g->at = g->n = 0;
        g->round++;
        if (g->round == 2 && !round_two(g, out)) {
            return GY_GREETING_FAILED;
        }
        if (g->round == 3) {
            round_three(g, out);
        }
        if (g->round == 4) {
            round_four(g, out);
        }
    }
    if (g->at < g->n) {
        return GY_GREETING_MORE;
    }
    g->fenced |= g->full;
    return GY_GREETING_DONE;
}

enum gy_greeting gy_greet_take(struct gy_greet *g, const struct gy_reply *r, struct gy_buf *out)
{
    enum gy_greet_ask what = g->ask[g->at];
    if (!take_one(g, what, r, out)) {
        return GY_GREETING_FAILED;
    }
    if (what != GY_ASK_KILL || --g->kills == 0) {
        g->at++;
    }
    return go_on(g, out);
}
