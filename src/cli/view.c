/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.c - `gyre view get|put|watch`: the topology that serves, with its version, for programs that
 * embed libgyre. It is read from, and written to, the store in a state directory, which a proxy may
 * be using; no proxy is asked.
 */
#include "base/json.h"
#include "base/num.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/topo.h"
#include "control/views.h"
#include "formats/format.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LOOK_MS 50 /* the longest that a new version waits for a watcher */

struct view {
    const char *state, *config;
    uint64_t expect, after;
    bool json, moved, expected; /* expect was given: 0 is a version too */
    /* inside */
    uint64_t version; /* of the topology to put */
    uint64_t shown;   /* the version printed last */
    bool any;         /* one was */
    int exit;
};

static int take_expect(void *into, const char *value);

#define STATE                                                                          \
    {0,           "state",                                                             \
     "DIRECTORY", "the state directory that holds the store",                          \
     GY_OPT_TEXT, offsetof(struct view, state),                                        \
     0,           0,                                                                   \
     NULL},                                                                            \
    {                                                                                  \
        0, "config", "TOPOLOGY", "take it from proxy.state of this file", GY_OPT_TEXT, \
            offsetof(struct view, config), 0, 0, NULL                                  \
    }

static const struct gy_opt GET_OPTIONS[] = {
    STATE,
    {0, "json", NULL, "as one JSON object", GY_OPT_FLAG, offsetof(struct view, json), 0, 0, NULL},
    {0}};

static const struct gy_opt PUT_OPTIONS[] = {
    STATE,
    {0, "expect", "VERSION", "the version that FILE is to replace; 0: none serves yet", GY_OPT_CALL,
     0, 0, 0, take_expect},
    {0, "keys-moved", NULL, "of a proxy's store: the keys are already where FILE says", GY_OPT_FLAG,
     offsetof(struct view, moved), 0, 0, NULL},
    {0}};

static const struct gy_opt WATCH_OPTIONS[] = {
    STATE,
    {0, "after", "VERSION", "only versions above that, also those that no longer serve",
     GY_OPT_UINT, offsetof(struct view, after), 0, UINT64_MAX, NULL},
    {0, "json", NULL, "one JSON object a line", GY_OPT_FLAG, offsetof(struct view, json), 0, 0,
     NULL},
    {0}};

static const char *const GET_EXAMPLES[] = {
    "gyre view get --state /var/lib/gyre",
    "gyre view get --config gyre.yaml --json | jq .version",
    NULL,
};

static const char *const PUT_EXAMPLES[] = {
    "gyre view put fleet.yaml --state /var/lib/app --expect 0",
    "gyre view put fleet.yaml --state /var/lib/app --expect 7     (fleet.yaml says version: 8)",
    NULL,
};

static const char *const WATCH_EXAMPLES[] = {
    "gyre view watch --state /var/lib/app --json | follow",
    "gyre view watch --config gyre.yaml --after 7",
    NULL,
};

#define EXITS_STORE ";\n" GY_EXITS_BAD "; 3 the store cannot be read"

static const struct gy_usage GET = {
    "gyre view get",
    "[--json]",
    "Prints the topology that serves, with its version, as gyre's YAML. Nothing is changed, and no "
    "proxy\nis asked: the store says what the proxy would.",
    GET_OPTIONS,
    GET_EXAMPLES,
    0,
    0,
    "0 fine; 1 no topology serves yet" EXITS_STORE,
};

static const struct gy_usage PUT = {
    "gyre view put",
    "FILE",
    "Makes the topology in FILE the one that serves, if the one that does still has the version you "
    "have\nseen (--expect) and FILE's is higher. For fleets that no gyre proxy serves: it moves no "
    "key. A store\nthat a proxy uses, or with a move under way, is refused.",
    PUT_OPTIONS,
    PUT_EXAMPLES,
    1,
    1,
    "0 it serves; 1 refused: another version, a move, a proxy; 2 bad usage, FILE has\n"
    "errors, or the answer cannot be written; 3 the store cannot be used",
};

static const struct gy_usage WATCH = {
    "gyre view watch",
    "[--json]",
    "Prints the topology that serves and then each new version, within 50 ms of the change, until "
    "it is\nstopped (SIGINT, SIGTERM) or its reader goes away. YAML documents begin with '---'.",
    WATCH_OPTIONS,
    WATCH_EXAMPLES,
    0,
    0,
    "0 stopped" EXITS_STORE " any more",
};

static int take_expect(void *into, const char *value)
{
    struct view *v = into;
    char q[GY_QUOTE];
    if (gy_num_uint(gy_str(value), &v->expect) != GYRE_OK) {
        gy_complain("--expect is %s; it must be a version, a whole number",
                    gy_utf8_quote(q, gy_str(value)));
        return GY_EXIT_USAGE;
    }
    v->expected = true;
    return 0;
}

/* ---- the store ---- */

static int failed(const gyre_error_t *e)
{
    (void)gy_complain_error(e);
    switch (e->code) {
    case GYRE_CONFLICT:
    case GYRE_REFUSED:
        return GY_EXIT_NO;
    case GYRE_NOMEM:
        return GY_EXIT_USAGE;
    default:
        return GY_EXIT_UNREACHABLE;
    }
}

/* A look before put opens the store for good: for a topology that would be refused none is made. */
static int look_first(const struct view *v, const char *dir)
{
    gyre_error_t e = {0};
    struct gy_store *s = NULL;
    int rc = gy_store_open(dir, GY_STORE_LOOK, &s, &e);
    gy_store_close(s);
    if (rc == GYRE_UNKNOWN) {
        rc = gy_views_check_first(v->expect, v->version, &e);
    }
    return rc == GYRE_OK ? GY_EXIT_OK : failed(&e);
}

static int open_at(const struct view *v, const char *dir, enum gy_store_open_mode mode,
                   struct gy_store **out)
{
    gyre_error_t e = {0};
    int rc = mode == GY_STORE_BESIDE ? look_first(v, dir) : GY_EXIT_OK;
    if (rc) {
        return rc;
    }
    return gy_store_open(dir, mode, out, &e) == GYRE_OK ? GY_EXIT_OK : failed(&e);
}

static int open_store(const struct view *v, enum gy_store_open_mode mode, struct gy_store **out)
{
    gyre_error_t e = {0};
    *out = NULL;
    if (v->state) {
        return open_at(v, v->state, mode, out);
    }
    if (!v->config) {
        gy_complain("view: which store? Give --state DIRECTORY, or --config TOPOLOGY with its "
                    "proxy.state");
        return GY_EXIT_USAGE;
    }
    struct gy_config *c = NULL;
    gy_complain_about(v->config);
    if (gy_config_load(v->config, &c, &e) != GYRE_OK) {
        return gy_complain_error(&e);
    }
    int rc = GY_EXIT_USAGE;
    if (c->proxy.state) {
        rc = open_at(v, c->proxy.state, mode, out);
    } else {
        gy_complain("view: %s names no proxy.state; give --state DIRECTORY", v->config);
    }
    gy_config_free(c);
    return rc;
}

/* ---- get ---- */

static int put_view(struct gy_slice yaml, const struct view *v, bool document, struct gy_buf *out)
{
    gyre_topology_t *t = NULL;
    gyre_error_t e = {0};
    struct gy_json j;
    if (!v->json) {
        gy_buf_puts(out, document ? "---\n" : "");
        gy_buf_add(out, yaml.p, yaml.n);
        return GY_EXIT_OK;
    }
    if (gy_views_parse(yaml, "view (in the store)", &t, &e) != GYRE_OK) {
        return failed(&e);
    }
    gy_json_init(&j, out);
    gy_topo_json(t, &j);
    gy_buf_putc(out, '\n');
    gyre_topology_free(t);
    return GY_EXIT_OK;
}

static struct gy_slice bytes_of(const struct gy_buf *b)
{
    return (struct gy_slice){gy_buf_head(b), gy_buf_size(b)};
}

static int get(struct gy_store *s, const struct view *v)
{
    gyre_error_t e = {0};
    struct gy_buf yaml = {0}, out = {0};
    int err = gy_views_get(s, &yaml, &e), rc = GY_EXIT_OK;
    if (err == GYRE_UNKNOWN) {
        gy_complain("no topology serves yet");
        rc = GY_EXIT_NO;
    } else if (err != GYRE_OK) {
        rc = failed(&e);
    } else {
        rc = put_view(bytes_of(&yaml), v, false, &out);
    }
    int wrote = gy_out_end(&out);
    gy_buf_fini(&yaml);
    return rc ? rc : wrote;
}

/* ---- put ---- */

static int put(struct gy_store *s, const struct view *v, const struct gy_topo *topo)
{
    gyre_error_t e = {0};
    struct gy_buf out = {0};
    if (gy_views_put(s, topo->config->topology, v->expect, v->moved, &e) != GYRE_OK) {
        return failed(&e);
    }
    gy_buf_printf(&out, "version %llu serves\n", (unsigned long long)gyre_map_version(topo->map));
    return gy_out_end(&out);
}

/* The file first: nothing is made for one that has errors. */
static int load_and_put(struct view *v, const char *path)
{
    static const struct gy_topo_from any = {0};
    struct gy_topo topo;
    struct gy_store *s = NULL;
    int rc = GY_EXIT_USAGE;
    if (!v->expected) {
        gy_complain("view put: give --expect VERSION, the one that %s is to replace ('gyre view "
                    "get'; 0: none serves yet)",
                    path);
        return rc;
    }
    rc = gy_topo_load(path, &any, &topo);
    if (!rc && strcmp(topo.pools->format->name, "gyre") != 0) {
        gy_complain("view put: %s has no version, as it is no topology of gyre's own ('gyre "
                    "convert' makes one)",
                    path);
        rc = GY_EXIT_USAGE;
    }
    if (!rc) {
        v->version = gyre_map_version(topo.map);
        rc = open_store(v, GY_STORE_BESIDE, &s);
    }
    if (!rc) {
        rc = put(s, v, &topo);
    }
    gy_store_close(s);
    gy_topo_fini(&topo);
    return rc;
}

/* ---- watch ---- */

static volatile sig_atomic_t stopped;

static void on_stop(int sig)
{
    stopped = sig;
}

static bool show_version(void *ctx, uint64_t version, struct gy_slice yaml)
{
    struct view *v = ctx;
    struct gy_buf out = {0};
    v->exit = put_view(yaml, v, true, &out);
    int wrote = gy_out_end(&out); /* at once: a version is for whoever waits for it */
    v->exit = v->exit ? v->exit : wrote;
    v->shown = version;
    v->any = true;
    return v->exit == GY_EXIT_OK;
}

/* The one that serves is the first to be shown, and whatever came before it is not. */
static int start_from(struct gy_store *s, struct view *v, gyre_error_t *e)
{
    struct gy_buf yaml = {0};
    gyre_topology_t *t = NULL;
    int rc = gy_views_get(s, &yaml, e);
    if (rc == GYRE_OK) {
        rc = gy_views_parse(bytes_of(&yaml), "view (in the store)", &t, e);
    }
    if (rc == GYRE_OK) {
        (void)show_version(v, gyre_topology_version(t), bytes_of(&yaml));
    }
    gyre_topology_free(t);
    gy_buf_fini(&yaml);
    return rc == GYRE_UNKNOWN ? GYRE_OK : rc;
}

static int look(struct gy_store *s, struct view *v)
{
    gyre_error_t e = {0};
    bool changed = false;
    int err = gy_store_changed(s, &changed, &e);
    if (err == GYRE_OK && changed) {
        err = v->any || v->after ? gy_views_after(s, v->shown, show_version, v, &e)
                                 : start_from(s, v, &e);
    }
    return err == GYRE_OK ? v->exit : failed(&e);
}

/* Sleeps until the next look; true when the reader has gone. */
static bool sleep_or_gone(void)
{
    struct pollfd reader = {.fd = STDOUT_FILENO}; /* without events: only that it broke */
    return poll(&reader, 1, LOOK_MS) > 0 && (reader.revents & (POLLERR | POLLHUP | POLLNVAL));
}

static int watch(struct gy_store *s, struct view *v)
{
    struct sigaction act = {.sa_handler = on_stop};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    v->shown = v->after;
    while (!stopped) {
        int rc = look(s, v);
        if (rc) {
            return rc;
        }
        if (sleep_or_gone()) {
            break;
        }
    }
    return GY_EXIT_OK;
}

/* ---- the three ---- */

static const struct sub {
    const char *name, *summary;
    const struct gy_usage *usage;
} SUBS[] = {
    {"get", "the topology that serves, with its version", &GET},
    {"put", "replace it, if nobody else did meanwhile", &PUT},
    {"watch", "it, and each new version as it comes", &WATCH},
};

#define SUB_COUNT (sizeof SUBS / sizeof SUBS[0])

const char *gy_view_sub(unsigned i, const char **summary)
{
    *summary = i < SUB_COUNT ? SUBS[i].summary : NULL;
    return i < SUB_COUNT ? SUBS[i].name : NULL;
}

static int run(const struct sub *sub, int argc, char **argv)
{
    struct view v = {0};
    struct gy_store *s = NULL;
    char **words;
    int count;
    int rc = gy_opt_parse(sub->usage, argc, argv, &v, &words, &count);
    if (rc != GY_GO_ON) {
        return rc;
    }
    if (sub->usage == &PUT) {
        return load_and_put(&v, words[0]);
    }
    rc = open_store(&v, GY_STORE_LOOK, &s);
    if (!rc) {
        rc = sub->usage == &GET ? get(s, &v) : watch(s, &v);
    }
    gy_store_close(s);
    return rc;
}

static int overview(void)
{
    struct gy_buf out = {0};
    gy_buf_puts(&out, "usage: gyre view COMMAND [OPTIONS]\n\nThe topology that serves, with its "
                      "version, for programs that embed libgyre.\n\ncommands:\n");
    for (size_t i = 0; i < SUB_COUNT; i++) {
        gy_buf_printf(&out, "  %-9s %s\n", SUBS[i].name, SUBS[i].summary);
    }
    gy_buf_puts(&out, "\nWhich store: --state DIRECTORY, else --config TOPOLOGY (its "
                      "proxy.state).\n\nexit status: 0 fine; 1 the answer is no; " GY_EXITS_BAD
                      ";\n3 the store cannot be used\n\nexamples:\n"
                      "  gyre view get --config gyre.yaml\n"
                      "  gyre view put fleet.yaml --state /var/lib/app --expect 0\n"
                      "  gyre view put --help\n");
    return gy_out_end(&out);
}

int gy_cmd_view(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "--help", *known[SUB_COUNT];
    for (size_t i = 0; i < SUB_COUNT; i++) {
        if (strcmp(word, SUBS[i].name) == 0) {
            return run(&SUBS[i], argc - 1, argv + 1);
        }
        known[i] = SUBS[i].name;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        int rc = overview();
        return argc > 1 ? rc : GY_EXIT_USAGE;
    }
    char q[GY_QUOTE];
    const char *near = gyre_nearest(word, known, SUB_COUNT);
    gy_complain("view: no command %s%s%s%s", gy_utf8_quote(q, gy_str(word)),
                near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    gy_complain("'gyre view --help' lists them");
    return GY_EXIT_USAGE;
}
