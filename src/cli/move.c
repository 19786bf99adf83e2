/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move.c - `gyre move SUBCOMMAND`: finds the proxy, asks it, shows the answer. Starting a move is
 * move_start.c, following one move_watch.c.
 */
#include "cli/move.h"

#include "base/json.h"
#include "cli/move_history.h"
#include "cli/move_status.h"
#include "formats/config.h"

#include <string.h>

static const struct {
    const char *name;
    enum gy_move_sub sub;
} subs[] = {
    {"start", GY_MOVE_START}, {"status", GY_MOVE_STATUS},   {"watch", GY_MOVE_WATCH},
    {"pause", GY_MOVE_PAUSE}, {"resume", GY_MOVE_RESUME},   {"rate", GY_MOVE_RATE},
    {"abort", GY_MOVE_ABORT}, {"history", GY_MOVE_HISTORY},
};
enum { NSUBS = sizeof subs / sizeof subs[0] };

void gy_move_complain(const gyre_error_t *e)
{
    struct gy_buf b = {0};
    if (e->file[0]) {
        gy_move_puts_clean(&b, e->file);
        gy_buf_puts(&b, ":");
    }
    if (e->line) {
        gy_buf_printf(&b, "%u:%u:", e->line, e->column);
    }
    gy_buf_puts(&b, gy_buf_size(&b) ? " " : "");
    gy_move_puts_clean(&b, e->message[0] ? e->message : gyre_err_text(e->code));
    fprintf(stderr, "gyre move: %s\n", gy_buf_cstr(&b));
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
        err = gy_config_parse(gy_buf_cstr(&c->body), gy_buf_size(&c->body), "the proxy's topology",
                              &conf, e);
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
        gy_move_print_json(&c->body);
        return GY_EXIT_OK;
    }
    if (gy_move_status_parse(gy_buf_cstr(&c->body), gy_buf_size(&c->body), &st, &e) != GYRE_OK) {
        return gy_move_failed(c, &e);
    }
    struct gy_buf table = {0};
    gy_move_table(&st, &table);
    fputs(gy_buf_cstr(&table), stdout);
    gy_buf_fini(&table);
    gy_move_status_fini(&st);
    return GY_EXIT_OK;
}

static int show_history(struct gy_client *c, bool json)
{
    gyre_error_t e = {0};
    struct gy_buf table = {0};
    if (json) {
        gy_move_print_json(&c->body);
        return GY_EXIT_OK;
    }
    int err = gy_move_history_table(gy_buf_cstr(&c->body), gy_buf_size(&c->body), &table, &e);
    if (err != GYRE_OK) {
        return gy_move_failed(c, &e);
    }
    fputs(gy_buf_cstr(&table), stdout);
    gy_buf_fini(&table);
    return GY_EXIT_OK;
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
             (unsigned long long)(a->has_keys ? a->options.keys_per_s : st.keys_limit),
             (unsigned long long)(a->has_bytes ? a->options.bytes_per_s : st.bytes_limit));
    gy_move_status_fini(&st);
    return gy_client_post(c, "/v1/move/rate", body, e);
}

static int ask(struct gy_client *c, const struct gy_move_args *a, gyre_error_t *e)
{
    switch (a->sub) {
    case GY_MOVE_PAUSE:
        return gy_client_post(c, "/v1/move/pause", "", e);
    case GY_MOVE_RESUME:
        return gy_client_post(c, "/v1/move/resume", "", e);
    case GY_MOVE_ABORT:
        return gy_client_post(c, "/v1/move/abort", "", e);
    case GY_MOVE_RATE:
        return post_rate(c, a, e);
    case GY_MOVE_HISTORY:
        return gy_client_get(c, "/v1/move/history", e);
    case GY_MOVE_STATUS:
    case GY_MOVE_START:
    case GY_MOVE_WATCH:
        break;
    }
    return gy_client_get(c, "/v1/move", e);
}

static int run(struct gy_client *c, const struct gy_move_args *a)
{
    gyre_error_t e = {0};
    if (a->sub == GY_MOVE_START) {
        return gy_move_start(c, a);
    }
    if (a->sub == GY_MOVE_WATCH) {
        return gy_move_follow(c, GY_MOVE_FORTH, a->json);
    }
    if (ask(c, a, &e) != GYRE_OK) {
        return gy_move_failed(c, &e);
    }
    if (a->sub == GY_MOVE_ABORT && !a->detach) {
        return gy_move_follow(c, GY_MOVE_BACK, a->json);
    }
    return a->sub == GY_MOVE_HISTORY ? show_history(c, a->json) : show_status(c, a->json);
}

static int run_sub(enum gy_move_sub sub, int argc, char **argv)
{
    struct gy_move_args a;
    struct gy_client c = {0};
    gyre_error_t e = {0};
    char *address = NULL;
    int exit_code = GY_EXIT_USAGE;
    if (gy_move_args_parse(sub, argc, argv, &a, &e) != GYRE_OK) {
        gy_move_complain(&e);
        fprintf(stderr, "`gyre move %s --help` tells more.\n", argv[0]);
        return GY_EXIT_USAGE;
    }
    if (a.help) {
        fputs(gy_move_help((int)sub), stdout);
        exit_code = GY_EXIT_OK;
    } else if (gy_client_find(a.admin, a.config, &address, &e) != GYRE_OK ||
               gy_client_init(&c, address, &e) != GYRE_OK) {
        gy_move_complain(&e);
    } else {
        exit_code = run(&c, &a);
    }
    gy_client_fini(&c);
    gy_move_args_fini(&a);
    return exit_code;
}

int gy_cmd_move(int argc, char **argv)
{
    const char *known[NSUBS];
    const char *word = argc > 1 ? argv[1] : NULL;
    for (size_t i = 0; i < NSUBS; i++) {
        known[i] = subs[i].name;
        if (word && strcmp(word, subs[i].name) == 0) {
            return run_sub(subs[i].sub, argc - 1, argv + 1);
        }
    }
    if (word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
        fputs(gy_move_help(0), stdout);
        return GY_EXIT_OK;
    }
    if (!word) {
        fputs(gy_move_help(0), stderr);
        return GY_EXIT_USAGE;
    }
    const char *near = gyre_nearest(word, known, NSUBS);
    gyre_error_t e = {.code = GYRE_UNKNOWN};
    snprintf(e.message, sizeof e.message,
             near ? "no \"%.64s\"; did you mean \"%s\"?"
                  : "no \"%.64s\"; `gyre move --help` lists what there is",
             word, near);
    gy_move_complain(&e);
    return GY_EXIT_USAGE;
}
