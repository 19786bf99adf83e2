/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move.c - `gyre move SUBCOMMAND`: finds the proxy, asks it, shows the answer. Starting a move is
 * move_start.c, following one move_watch.c.
 */
#include "cli/move.h"

#include "base/json.h"
#include "base/utf8.h"
#include "cli/move_history.h"
#include "cli/move_status.h"
#include "cli/out.h"
#include "formats/config.h"

#include <stdio.h>
#include <string.h>

void gy_move_complain(const gyre_error_t *e)
{
    gyre_error_t shown = *e;
    struct gy_buf b = {0};
    gy_move_puts_clean(&b, e->message);
    snprintf(shown.message, sizeof shown.message, "%s", gy_buf_cstr(&b));
    gy_complain_error(&shown);
    gy_buf_fini(&b);
}

int gy_move_failed(const struct gy_client *c, const gyre_error_t *e)
{
    gy_move_complain(e);
    return gy_client_exit(c, e->code);
}

int gy_move_current(struct gy_client *c, gyre_topology_t **out, gyre_error_t *e)
{
    struct gy_config *conf = NULL;
    *out = NULL;
    int err = gy_client_get(c, "/v1/topology", e);
    if (err == GYRE_OK) {
        err = gy_config_parse_own(gy_buf_cstr(&c->body), gy_buf_size(&c->body),
                                  "the proxy's topology", &conf, e);
    }
    if (err != GYRE_OK) {
        return err;
    }
    *out = gyre_topology_clone(conf->topology);
    gy_config_free(conf);
    if (!*out) {
        *e = (gyre_error_t){.code = GYRE_NOMEM, .message = "out of memory"};
        return GYRE_NOMEM;
    }
    return GYRE_OK;
}

/* Prints the answer in c->body: as it is, or as a table. */
static int show_status(struct gy_client *c, bool json)
{
    struct gy_move_status st;
    gyre_error_t e = {0};
    if (json) {
        return gy_move_print_json(&c->body);
    }
    if (gy_move_status_parse(gy_buf_cstr(&c->body), gy_buf_size(&c->body), &st, &e) != GYRE_OK) {
        return gy_move_failed(c, &e);
    }
    struct gy_buf table = {0};
    gy_move_table(&st, &table);
    gy_move_status_fini(&st);
    return gy_out_end(&table);
}

static int show_history(struct gy_client *c, bool json)
{
    gyre_error_t e = {0};
    struct gy_buf table = {0};
    if (json) {
        return gy_move_print_json(&c->body);
    }
    int err = gy_move_history_table(gy_buf_cstr(&c->body), gy_buf_size(&c->body), &table, &e);
    if (err != GYRE_OK) {
        return gy_move_failed(c, &e);
    }
    return gy_out_end(&table);
}

/* What is not given stays as the status says it is. */
static int post_rate(struct gy_client *c, const struct gy_move_args *a, gyre_error_t *e)
{
    struct gy_move_status st;
    int err = gy_client_get(c, "/v1/move", e);
    if (err == GYRE_OK) {
        err = gy_move_status_parse(gy_buf_cstr(&c->body), gy_buf_size(&c->body), &st, e);
    }
    if (err != GYRE_OK) {
        return err;
    }
    char body[128];
    snprintf(body, sizeof body, "{\"keys_per_s\": %llu, \"bytes_per_s\": %llu}",
             (unsigned long long)(a->has_keys ? a->keys_per_s : st.keys_limit),
             (unsigned long long)(a->has_bytes ? a->bytes_per_s : st.bytes_limit));
    gy_move_status_fini(&st);
    return gy_client_post(c, "/v1/move/rate", body, e);
}

static int post_forget(struct gy_client *c, const struct gy_move_args *a, gyre_error_t *e)
{
    struct gy_buf body = {0};
    struct gy_json w;
    gy_json_init(&w, &body);
    gy_json_object(&w);
    gy_json_kstring(&w, "address", a->server);
    gy_json_object_end(&w);
    int err = gy_buf_failed(&body) ? GYRE_NOMEM
                                   : gy_client_post(c, "/v1/move/forget", gy_buf_cstr(&body), e);
    gy_buf_fini(&body);
    return err;
}

static int ask(struct gy_client *c, enum gy_move_sub sub, const struct gy_move_args *a,
               gyre_error_t *e)
{
    static const char *const posts[GY_MOVE_SUBS] = {
        [GY_MOVE_PAUSE] = "/v1/move/pause",
        [GY_MOVE_RESUME] = "/v1/move/resume",
        [GY_MOVE_ABORT] = "/v1/move/abort",
    };
    if (sub == GY_MOVE_RATE) {
        return post_rate(c, a, e);
    }
    if (sub == GY_MOVE_FORGET) {
        return post_forget(c, a, e);
    }
    if (posts[sub]) {
        return gy_client_post(c, posts[sub], "", e);
    }
    return gy_client_get(c, sub == GY_MOVE_HISTORY ? "/v1/move/history" : "/v1/move", e);
}

/* The abort's answer says which move it is; it may be back before the first look. */
static int follow_back(struct gy_client *c, const struct gy_move_args *a)
{
    struct gy_move_status st;
    gyre_error_t e = {0};
    if (gy_move_status_parse(gy_buf_cstr(&c->body), gy_buf_size(&c->body), &st, &e) != GYRE_OK) {
        return gy_move_failed(c, &e);
    }
    uint64_t to_version = st.to_version;
    if (!st.keys_limit && !st.bytes_limit) {
        fprintf(stderr, "everything goes back, without a limit; `gyre move rate` sets one\n");
    }
    gy_move_status_fini(&st);
    return gy_move_follow(c, GY_MOVE_BACK, to_version, a);
}

static int run(struct gy_client *c, enum gy_move_sub sub, const struct gy_move_args *a)
{
    gyre_error_t e = {0};
    if (sub == GY_MOVE_START) {
        return gy_move_start(c, a);
    }
    if (sub == GY_MOVE_TOPOLOGY) {
        return gy_move_topology(c, a);
    }
    if (sub == GY_MOVE_WATCH) {
        return gy_move_follow(c, GY_MOVE_FORTH, 0, a);
    }
    if (ask(c, sub, a, &e) != GYRE_OK) {
        return gy_move_failed(c, &e);
    }
    if (sub == GY_MOVE_ABORT && !a->detach) {
        return follow_back(c, a);
    }
    return sub == GY_MOVE_HISTORY ? show_history(c, a->json) : show_status(c, a->json);
}

static int run_sub(enum gy_move_sub sub, int argc, char **argv)
{
    struct gy_move_args a;
    struct gy_client c = {0};
    gyre_error_t e = {0};
    char *address = NULL;
    int exit_code = gy_move_args_parse(sub, argc, argv, &a);
    if (exit_code != GY_GO_ON) {
        goto out;
    }
    if (gy_client_find(a.admin, a.config, &address, &e) != GYRE_OK ||
        gy_client_init(&c, address, &e) != GYRE_OK) {
        gy_move_complain(&e);
        exit_code = GY_EXIT_USAGE;
        goto out;
    }
    exit_code = run(&c, sub, &a);
out:
    gy_client_fini(&c);
    gy_move_args_fini(&a);
    return exit_code;
}

static int overview(void)
{
    struct gy_buf out = {0};
    gy_move_overview(&out);
    return gy_out_end(&out);
}

static int no_such(const char *word)
{
    const char *known[GY_MOVE_SUBS];
    char q[GY_QUOTE];
    for (unsigned i = 0; i < GY_MOVE_SUBS; i++) {
        known[i] = gy_move_sub_name((enum gy_move_sub)i);
    }
    const char *near = gyre_nearest(word, known, GY_MOVE_SUBS);
    gy_complain("move: no command %s%s%s%s", gy_utf8_quote(q, gy_str(word)),
                near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    gy_complain("'gyre move --help' lists them");
    return GY_EXIT_USAGE;
}

int gy_cmd_move(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "--help";
    for (unsigned i = 0; i < GY_MOVE_SUBS; i++) {
        if (strcmp(word, gy_move_sub_name((enum gy_move_sub)i)) == 0) {
            return run_sub((enum gy_move_sub)i, argc - 1, argv + 1);
        }
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        int rc = overview();
        return argc > 1 ? rc : GY_EXIT_USAGE;
    }
    return no_such(word);
}
