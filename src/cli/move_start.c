/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_start.c - `gyre move start`: is another under way, the topology that serves, the change, the
 * plan, the question, the request, the progress, what to do next. The plan is made against one
 * version and sent with the next one's number: the proxy refuses it if somebody else changed the
 * topology meanwhile.
 */
#include "base/json.h"
#include "base/utf8.h"
#include "cli/move.h"
#include "cli/move_status.h"
#include "cli/out.h"
#include "cli/topo.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* "drop" or "change"; NULL: it stays as it is. */
static const char *undoing(const struct gyre_node *now, const struct gyre_node *wished)
{
    if (!wished) {
        return "drop";
    }
    bool same = same_text(now->address, wished->address) && same_text(now->zone, wished->zone) &&
                now->weight == wished->weight;
    return same ? NULL : "change";
}

/* A file not written after what serves: what the moves since brought, it does not know. */
static void warn_old(const char *path, const gyre_topology_t *now, const gyre_topology_t *wished)
{
    enum { SHOWN = 10 };
    size_t told = 0;
    unsigned long long says = gyre_topology_version(wished), serves = gyre_topology_version(now);
    if (says == serves) {
        gy_complain("warning: %s says version %llu, which serves already", path, says);
    } else {
        gy_complain("warning: %s says version %llu, but version %llu serves: the changes between "
                    "would be undone",
                    path, says, serves);
    }
    for (size_t i = 0; i < gyre_topology_count(now); i++) {
        const struct gyre_node *n = gyre_topology_node(now, i);
        const char *what = undoing(n, gyre_topology_find(wished, n->name));
        char q[GY_QUOTE];
        if (what && told++ < SHOWN) {
            gy_complain("warning: it would %s node %s", what, gy_utf8_quote(q, gy_str(n->name)));
        }
    }
    if (told > SHOWN) {
        gy_complain("warning: ... and %zu more nodes", told - SHOWN);
    }
    if (told) {
        gy_complain("`gyre move topology -o FILE` writes what serves, to start from");
    }
}

/* The file's nodes and placement, under the version that comes next: its own number says what it
 * was written after, and is told when it is another. */
static int load_wish(const char *path, const gyre_topology_t *now, gyre_topology_t **out,
                     gyre_error_t *e)
{
    gyre_topology_t *following;
    struct gy_config *conf = NULL;
    int err = gyre_plan_apply(now, NULL, 0, &following, e);
    if (err != GYRE_OK) {
        return err;
    }
    uint64_t version = gyre_topology_version(following);
    gyre_topology_free(following);
    gy_complain_about(path);
    err = gy_config_load(path, &conf, e);
    if (err != GYRE_OK) {
        return err;
    }
    gy_complain_secret(conf);
    uint64_t says = gyre_topology_version(conf->topology);
    *out = gyre_topology_clone(conf->topology);
    gy_config_free(conf);
    if (!*out) {
        *e = (gyre_error_t){.code = GYRE_NOMEM, .message = "out of memory"};
        return GYRE_NOMEM;
    }
    if (says < version) {
        warn_old(path, now, *out);
    } else if (says > version) {
        fprintf(stderr, "%s says version %llu; the new topology will be version %llu\n", path,
                (unsigned long long)says, (unsigned long long)version);
    }
    gyre_topology_set_version(*out, version);
    return GYRE_OK;
}

static int wish(const struct gy_move_args *a, const gyre_topology_t *now, gyre_topology_t **out,
                gyre_error_t *e)
{
    *out = NULL;
    if (a->to) {
        return load_wish(a->to, now, out, e);
    }
    return gy_changes_apply(&a->changes, now, out, e);
}

/* The same to the letter, but for the version. False also when memory is short: the proxy asks. */
static bool changes_nothing(const gyre_topology_t *now, const gyre_topology_t *next)
{
    struct gy_buf a = {0}, b = {0};
    gyre_topology_t *same = gyre_topology_clone(now);
    bool nothing = false;
    if (same) {
        gyre_topology_set_version(same, gyre_topology_version(next));
        gy_config_dump(same, NULL, &a);
        gy_config_dump(next, NULL, &b);
        nothing = !gy_buf_failed(&a) && !gy_buf_failed(&b) &&
                  strcmp(gy_buf_cstr(&a), gy_buf_cstr(&b)) == 0;
    }
    gyre_topology_free(same);
    gy_buf_fini(&a);
    gy_buf_fini(&b);
    return nothing;
}

static bool says_yes(void)
{
    char line[64];
    fputs("\nMove? [y/N] ", stderr);
    fflush(stderr);
    if (!fgets(line, sizeof line, stdin)) {
        fputc('\n', stderr);
        return false;
    }
    return line[0] == 'y' || line[0] == 'Y';
}

static void put_body(const gyre_topology_t *next, const struct gy_move_args *a, struct gy_buf *body)
{
    struct gy_buf yaml = {0};
    struct gy_json j;
    gy_config_dump(next, NULL, &yaml);
    body->failed = gy_buf_failed(&yaml);
    gy_json_init(&j, body);
    gy_json_object(&j);
    gy_json_key(&j, "to");
    gy_json_bytes(&j, gy_buf_head(&yaml), gy_buf_size(&yaml));
    gy_json_kbool(&j, "purge_destination", a->purge_destination);
    gy_json_kbool(&j, "same_data", a->same_data);
    gy_json_kbool(&j, "weak_fencing", a->weak_fencing);
    gy_json_kuint(&j, "keys_per_s", a->keys_per_s);
    gy_json_kuint(&j, "bytes_per_s", a->bytes_per_s);
    gy_json_kuint(&j, "chunks", a->chunks);
    gy_json_kuint(&j, "wave", a->wave);
    gy_json_object_end(&j);
    gy_buf_fini(&yaml);
}

/* Asks for the move and, unless --detach, follows it. */
static int carry_out(struct gy_client *c, const struct gy_move_args *a, const gyre_topology_t *next)
{
    struct gy_buf body = {0};
    gyre_error_t e = {0};
    put_body(next, a, &body);
    if (gy_buf_failed(&body)) {
        gy_buf_fini(&body);
        e = (gyre_error_t){.code = GYRE_NOMEM, .message = "out of memory"};
        return gy_move_failed(c, &e);
    }
    fprintf(stderr, "checking the nodes ...\n");
    gy_move_catch_interrupt(c);
    int err = gy_client_post(c, "/v1/move", gy_buf_cstr(&body), &e);
    gy_buf_fini(&body);
    if (gy_move_interrupted()) {
        fprintf(stderr, "\nleft before the proxy answered: the move may begin nevertheless; see "
                        "`gyre move status`\n");
        return GY_EXIT_LEFT;
    }
    if (err != GYRE_OK) {
        return gy_move_failed(c, &e);
    }
    if (!a->detach) {
        return gy_move_follow(c, GY_MOVE_FORTH, gyre_topology_version(next), a);
    }
    if (a->json) {
        return gy_move_print_json(&c->body);
    }
    return gy_out_line(false, "under way to version %llu; `gyre move watch` shows it",
                       (unsigned long long)gyre_topology_version(next));
}

/* GY_EXIT_OK: the plan was shown and may be carried out. */
static int agree(struct gy_client *c, const struct gy_move_args *a, const gyre_topology_t *now,
                 const gyre_topology_t *next)
{
    if (changes_nothing(now, next)) {
        gy_complain("nothing to do: version %llu, which serves, is what is wished",
                    (unsigned long long)gyre_topology_version(now));
        return GY_EXIT_NO;
    }
    struct gy_buf plan = {0};
    int exit_code = gy_move_show_plan(&plan, now, next, a->same_data);
    if (exit_code != GY_EXIT_OK) {
        gy_buf_fini(&plan);
        return exit_code;
    }
    if (a->json) { /* stdout is for the final status alone */
        fputs(gy_buf_cstr(&plan), stderr);
        gy_buf_reset(&plan);
    }
    exit_code = gy_out_end(&plan);
    if (exit_code != GY_EXIT_OK || a->yes) {
        return exit_code;
    }
    gy_move_catch_interrupt(c);
    if (!says_yes()) {
        fprintf(stderr, "nothing was moved\n");
        exit_code = gy_move_interrupted() ? GY_EXIT_LEFT : GY_EXIT_NO;
    }
    return exit_code;
}

/* Only one move at a time: better said before a plan is read and agreed to. */
static int check_idle(struct gy_client *c)
{
    struct gy_move_status st;
    gyre_error_t e = {0};
    if (gy_client_get(c, "/v1/move", &e) != GYRE_OK ||
        gy_move_status_parse(gy_buf_cstr(&c->body), gy_buf_size(&c->body), &st, &e) != GYRE_OK) {
        return gy_move_failed(c, &e);
    }
    bool idle = gy_move_idle(&st);
    if (!idle && st.to_version) {
        gy_complain("a move to version %llu is under way: `gyre move watch` shows it, `gyre move "
                    "abort` takes it back",
                    (unsigned long long)st.to_version);
    } else if (!idle) {
        gy_complain("a move is under way: `gyre move status` shows it");
    }
    gy_move_status_fini(&st);
    return idle ? GY_EXIT_OK : GY_EXIT_NO;
}

int gy_move_start(struct gy_client *c, const struct gy_move_args *a)
{
    gyre_topology_t *now = NULL, *next = NULL;
    gyre_error_t e = {0};
    int exit_code;
    if (!a->yes && !isatty(STDIN_FILENO)) {
        gy_complain("nobody can be asked here (stdin is not a terminal); give --yes to move "
                    "without asking");
        return GY_EXIT_USAGE;
    }
    exit_code = check_idle(c);
    if (exit_code != GY_EXIT_OK) {
        goto out;
    }
    if (gy_move_current(c, &now, &e) != GYRE_OK) {
        exit_code = gy_move_failed(c, &e);
        goto out;
    }
    if (wish(a, now, &next, &e) != GYRE_OK) {
        gy_move_complain(&e);
        exit_code = GY_EXIT_USAGE;
        goto out;
    }
    exit_code = gy_topo_check_shared(next, true, "the new topology");
    if (exit_code == GY_EXIT_OK) {
        exit_code = agree(c, a, now, next);
    }
    if (exit_code == GY_EXIT_OK) {
        exit_code = carry_out(c, a, next);
    }
out:
    gyre_topology_free(now);
    gyre_topology_free(next);
    return exit_code;
}
