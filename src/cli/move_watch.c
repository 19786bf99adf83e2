/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_watch.c - follows a move until its end. On a terminal one line is rewritten; elsewhere a
 * line comes every few seconds. Progress is stderr's: stdout is for what a script reads.
 *
 * A proxy that is restarted in the middle resumes the move, so a short silence is waited out.
 */
#include "cli/move.h"
#include "cli/move_history.h"
#include "cli/move_status.h"
#include "cli/out.h"
#include "cli/term.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    POLL_MS = 250,
    LINE_MS = 5000,     /* between lines where there is no terminal */
    PATIENCE_MS = 30000 /* without an answer from a proxy that answered before */
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
    interrupted = sig;
}

void gy_move_catch_interrupt(struct gy_client *c)
{
    /* Without SA_RESTART: the sleep between two looks ends at once. A second Ctrl-C is the
     * default's, should an answer never come. */
    struct sigaction act = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &act, NULL);
    c->stop = &interrupted;
}

bool gy_move_interrupted(void)
{
    return interrupted != 0;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct screen {
    bool terminal;
    bool dirty; /* a progress line stands there without its end */
    int64_t next_ms;
    char state[24];
    char error[512], warning[512]; /* the last ones shown */
    size_t bigkeys;                /* shown */
};

static void screen_end(struct screen *s)
{
    if (s->dirty) {
        fputc('\n', stderr);
        s->dirty = false;
    }
}

/* What the mover could not do (it tries again by itself), or what must be known; once each. */
static void screen_tell(struct screen *s, char shown[512], const char *mark, const char *news)
{
    if (!news || strncmp(shown, news, 511) == 0) {
        return;
    }
    struct gy_buf text = {0};
    snprintf(shown, 512, "%s", news);
    gy_move_puts_clean(&text, news);
    screen_end(s);
    gy_complain("%s%s", mark, gy_buf_cstr(&text));
    gy_buf_fini(&text);
}

/* Keys so big that their move may have been felt, once each. */
static void screen_bigkeys(struct screen *s, const struct gy_move_status *st)
{
    struct gy_buf text = {0};
    while (gy_move_bigkey(st, s->bigkeys, &text)) {
        screen_end(s);
        fprintf(stderr, "big key: %s\n", gy_buf_cstr(&text));
        gy_buf_reset(&text);
        s->bigkeys++;
    }
    gy_buf_fini(&text);
}

static void screen_line(struct screen *s, const struct gy_move_status *st)
{
    bool changed = strncmp(s->state, st->state, sizeof s->state - 1) != 0;
    if (!s->terminal && !changed && now_ms() < s->next_ms) {
        return;
    }
    s->next_ms = now_ms() + LINE_MS;
    snprintf(s->state, sizeof s->state, "%s", st->state);
    struct gy_buf line = {0};
    gy_move_line(st, &line);
    const char *text = gy_buf_cstr(&line);
    if (!s->terminal) {
        fprintf(stderr, "%s\n", text);
    } else {
        /* One column stays free: a full line would wrap, and could not be rewritten. */
        unsigned columns = gy_term_columns(STDERR_FILENO);
        fprintf(stderr, "\r%.*s\033[K", (int)(columns ? columns - 1 : 79), text);
        s->dirty = true;
    }
    fflush(stderr);
    gy_buf_fini(&line);
}

static void pause_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* One look; when an earlier one succeeded, through a proxy's restart. */
static int look(struct gy_client *c, bool seen, struct screen *s, struct gy_move_status *st,
                gyre_error_t *e)
{
    int64_t until = now_ms() + PATIENCE_MS;
    bool told = false;
    for (;;) {
        int err = gy_client_get(c, "/v1/move", e);
        if (err == GYRE_OK) {
            return gy_move_status_parse(gy_buf_cstr(&c->body), gy_buf_size(&c->body), st, e);
        }
        if (c->reached || !seen || interrupted || now_ms() > until) {
            return err;
        }
        if (!told) {
            screen_end(s);
            fprintf(stderr, "no answer from the proxy; waiting for it to come back\n");
            told = true;
        }
        pause_ms(POLL_MS);
    }
}

int gy_move_print_json(struct gy_buf *json)
{
    /* Inside a JSON string a line end is written as two characters, so those in the text are only
     * layout. */
    struct gy_buf line = {0};
    for (const char *p = gy_buf_cstr(json); *p; p++) {
        if (*p != '\n' && *p != '\r') {
            gy_buf_putc(&line, *p);
        }
    }
    gy_buf_putc(&line, '\n');
    return gy_out_end(&line);
}

static int left(struct screen *s, enum gy_move_goal goal)
{
    screen_end(s);
    fprintf(stderr, "left; the move goes on%s: `gyre move watch` looks again, `gyre move %s\n",
            goal == GY_MOVE_BACK ? " backwards" : "",
            goal == GY_MOVE_BACK ? "status` says where it stands" : "abort` takes it back");
    return GY_EXIT_LEFT;
}

static int print_end(const struct gy_move_end *end, bool json)
{
    struct gy_buf b = {0};
    gy_buf_printf(&b, "%s: version %llu serves; ", end->moved ? "moved" : "taken back",
                  (unsigned long long)end->serves);
    if (end->moved) {
        gy_buf_printf(&b, "%llu keys, ", (unsigned long long)end->keys);
        gy_move_put_bytes(&b, (double)end->bytes);
        gy_buf_puts(&b, " in ");
    } else {
        gy_buf_puts(&b, "it took ");
    }
    gy_term_seconds(&b, end->seconds);
    gy_buf_printf(&b, ", longest hold %llu ms", (unsigned long long)end->longest_hold_ms);
    int rc = gy_out_line(json, "%s", gy_buf_cstr(&b));
    gy_buf_fini(&b);
    return rc;
}

/* Idle again: the history says how it ended. */
static int ended(struct gy_client *c, enum gy_move_goal goal, bool json, uint64_t to_version)
{
    gyre_error_t e = {0};
    struct gy_move_end end;
    if (!to_version) {
        int written = gy_out_line(json, "nothing is moving");
        return json ? gy_move_print_json(&c->body) : written;
    }
    struct gy_buf status = c->body; /* the next request fills another */
    c->body = (struct gy_buf){0};
    int err = gy_client_get(c, "/v1/move/history", &e);
    if (err == GYRE_OK) {
        err =
            gy_move_history_end(gy_buf_cstr(&c->body), gy_buf_size(&c->body), to_version, &end, &e);
    }
    int exit_code = GY_EXIT_OK;
    if (err != GYRE_OK) {
        gy_move_failed(c, &e);
        exit_code = c->reached ? GY_EXIT_NO : GY_EXIT_UNREACHABLE;
    } else {
        int written = print_end(&end, json);
        exit_code = written                                ? written
                    : end.moved == (goal == GY_MOVE_FORTH) ? GY_EXIT_OK
                                                           : GY_EXIT_NO;
    }
    if (json) {
        gy_move_history_join(&status, &c->body, to_version);
        int written = gy_move_print_json(&status);
        exit_code = written == GY_EXIT_OK ? exit_code : written;
    }
    gy_buf_fini(&status);
    return exit_code;
}

/* What one look means: GOING, or the exit status. last: the newest status of a move under way. */
enum { GOING = -1 };
static int step(struct gy_client *c, enum gy_move_goal goal, bool json, struct screen *screen,
                struct gy_move_status *last)
{
    struct gy_move_status st = {0};
    gyre_error_t e = {0};
    bool seen = last->state;
    int err = look(c, seen, screen, &st, &e);
    int exit_code = GOING;
    if (interrupted) {
        exit_code = left(screen, goal);
    } else if (err != GYRE_OK) {
        screen_end(screen);
        exit_code = gy_move_failed(c, &e);
        if (!c->reached && seen) {
            fprintf(stderr, "The move goes on when the proxy is started again.\n");
        }
    } else if (gy_move_idle(&st)) {
        screen_end(screen);
        exit_code = ended(c, goal, json, last->to_version);
    } else {
        screen_tell(screen, screen->warning, "warning: ", st.warning);
        screen_tell(screen, screen->error, "", st.last_error);
        screen_bigkeys(screen, &st);
        screen_line(screen, &st);
        gy_move_status_fini(last);
        *last = st;
        st = (struct gy_move_status){0};
    }
    gy_move_status_fini(&st);
    return exit_code;
}

int gy_move_follow(struct gy_client *c, enum gy_move_goal goal, uint64_t to_version,
                   const struct gy_move_args *a)
{
    struct screen screen = {.terminal = gy_term_cursor(STDERR_FILENO)};
    struct gy_move_status last = {.to_version = to_version};
    int exit_code;
    gy_move_catch_interrupt(c);
    while ((exit_code = step(c, goal, a->json, &screen, &last)) == GOING) {
        pause_ms(POLL_MS);
    }
    if (exit_code == GY_EXIT_OK && goal == GY_MOVE_FORTH && last.to_version) {
        exit_code = gy_move_say_topology(a, last.to_version);
    }
    gy_move_status_fini(&last);
    return exit_code;
}
