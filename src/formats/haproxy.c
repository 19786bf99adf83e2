/* SPDX-License-Identifier: Apache-2.0 */
/*
 * haproxy.c - the sections of haproxy.cfg: each listen or backend with servers is a pool, beginning
 * as a copy of the defaults above it, or of those it names with `from`. What HAProxy 2.6 refuses of
 * the lines that matter is refused for its reasons; the rest is for `haproxy -c`. Threads: one an
 * object.
 */
#include "formats/haproxy.h"
#include "base/utf8.h"
#include "formats/haproxy_proxy.h"

#include <stdlib.h>

#define SECTION_MAX 10000 /* of pools; each name is compared with those before it */

static const char *const OTHERS[] = {
    "global",      "frontend", "peers",     "resolvers",   "userlist", "mailers",
    "cache",       "program",  "ring",      "http-errors", "fcgi-app", "log-forward",
    "log-profile", "traces",   "crt-store", "acme",
};

struct named {
    char *name;
    unsigned line;
    bool backend;
};

enum section { NOWHERE, OTHER, DEFAULTS, FRONTEND, PROXY };

struct state {
    struct gy_reading *r;
    struct gy_haproxy_line l;
    enum section section;
    struct gy_haproxy_proxy now;
    bool backend;                      /* now is a backend, not a listen */
    struct gy_haproxy_proxy *defaults; /* each that was met */
    size_t count, room;
    struct named *names; /* of the backends and listens that were met */
    size_t name_count;
    bool piece; /* no global, no defaults so far */
};

/* ---- recognition ---- */

/* "backend NAME", with nothing, "from" or a comment behind it. */
static bool begins_section(struct gy_slice line)
{
    struct gy_slice rest = line, first, name, third;
    if (!gy_word_next(&rest, &first) || first.p != line.p || !gy_word_next(&rest, &name) ||
        gy_slice_has(name, ":") || gy_slice_has(name, ";")) {
        return false;
    }
    bool more = gy_word_next(&rest, &third);
    return (gy_slice_eq(first, GY_LIT("backend")) || gy_slice_eq(first, GY_LIT("listen"))) &&
           (!more || gy_slice_eq(third, GY_LIT("from")) || third.p[0] == '#');
}

int gy_haproxy_sniff(struct gy_slice head)
{
    static const char *const words[] = {
        "server", "server-template", "balance", "hash-type", "default-server",
        "option", "timeout",         "mode",    "bind",      "stats"};
    bool section = false;
    for (struct gy_lines l = gy_lines_of(head); gy_lines_next(&l);) {
        struct gy_slice rest = l.line, first;
        section = section || begins_section(l.line);
        if (!section || !gy_word_next(&rest, &first) || gy_slice_has(l.line, "{") ||
            gy_slice_has(l.line, ";")) {
            continue;
        }
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            if (gy_slice_eq(first, gy_str(words[i]))) {
                return GY_SURE_YES;
            }
        }
    }
    return section ? GY_SURE_LIKELY : GY_SURE_NOT;
}

/* ---- sections ---- */

static int end_section(struct state *s)
{
    int rc = GYRE_OK;
    if (s->section == PROXY) {
        rc = gy_haproxy_pool(s->r, &s->now, s->piece);
        gy_haproxy_proxy_fini(&s->now);
    } else if (s->section == DEFAULTS) {
        if (s->count == s->room) {
            size_t room = s->room ? s->room * 2 : 4;
            struct gy_haproxy_proxy *grown = realloc(s->defaults, room * sizeof *grown);
            if (!grown) {
                return gy_read_nomem(s->r);
            }
            s->defaults = grown;
            s->room = room;
        }
        s->defaults[s->count++] = s->now; /* with its name */
        gy_haproxy_proxy_init(&s->now);
    }
    s->section = NOWHERE;
    return rc;
}

static int find_defaults(struct state *s, size_t word, const struct gy_haproxy_proxy **out)
{
    char q[2][GY_QUOTE];
    struct gy_slice name = gy_haproxy_word(&s->l, word);
    for (size_t i = s->count; i-- > 0;) {
        if (s->defaults[i].name && gy_slice_eq(gy_str(s->defaults[i].name), name)) {
            *out = &s->defaults[i];
            return GYRE_OK;
        }
    }
    return gy_read_fail(s->r, GYRE_UNKNOWN, gy_haproxy_at(&s->l, word),
                        "defaults section %s not found for %s", gy_utf8_quote(q[0], name),
                        gy_utf8_quote(q[1], gy_haproxy_word(&s->l, 1)));
}

static int check_name(struct state *s, struct gy_slice name)
{
    for (size_t i = 0; i < name.n; i++) {
        if (!gy_haproxy_in_name(name.p[i])) {
            char q[GY_QUOTE];
            return gy_read_fail(s->r, GYRE_SYNTAX, gy_haproxy_at(&s->l, 1),
                                "character %s is not permitted in a section's name",
                                gy_utf8_quote(q, (struct gy_slice){name.p + i, 1}));
        }
    }
    return GYRE_OK;
}

/* A backend's name is its own among backends, a listen's among listens; the second pool of a name
 * is called by its line, too. */
static int name_proxy(struct state *s, struct gy_slice name)
{
    char q[GY_QUOTE];
    struct gy_buf own = {0};
    bool again = false;
    for (size_t i = 0; i < s->name_count; i++) {
        const struct named *n = &s->names[i];
        if (gy_slice_eq(gy_str(n->name), name) && n->backend == s->backend) {
            return gy_read_fail(s->r, GYRE_DUPLICATE, s->now.at,
                                "%s has the same name as the section declared at line %u",
                                gy_utf8_quote(q, name), n->line);
        }
        again = again || gy_slice_eq(gy_str(n->name), name);
    }
    if (!s->names) {
        s->names = calloc(SECTION_MAX, sizeof *s->names);
    }
    if (!s->names || s->name_count == SECTION_MAX) {
        return s->names
                   ? gy_read_fail(s->r, GYRE_RANGE, s->now.at, "more than %d sections", SECTION_MAX)
                   : gy_read_nomem(s->r);
    }
    struct named *n = &s->names[s->name_count++];
    n->line = s->now.at.line;
    n->backend = s->backend;
    int rc = gy_read_text(s->r, &n->name, name);
    gy_buf_add(&own, name.p, name.n);
    if (again) {
        gy_buf_printf(&own, "@%u", s->now.at.line);
    }
    rc = rc           ? rc
         : own.failed ? gy_read_nomem(s->r)
                      : gy_read_text(s->r, &s->now.name, gy_str(gy_buf_cstr(&own)));
    gy_buf_fini(&own);
    return rc;
}

/* "defaults [NAME] [from NAME]", "backend NAME [from NAME]". */
static int begin_proxy(struct state *s, bool defaults)
{
    const struct gy_haproxy_line *l = &s->l;
    const struct gy_haproxy_proxy *from = NULL;
    bool named = l->count > 1 && !(defaults && gy_haproxy_is(l, 1, "from"));
    size_t at = named ? 2 : 1;
    int rc = GYRE_OK;
    if (!named && !defaults) {
        return gy_read_fail(s->r, GYRE_SYNTAX, gy_haproxy_at(l, 0), "'%s' expects an <id> argument",
                            (const char *)gy_haproxy_word(l, 0).p);
    }
    if (l->count > at && !(gy_haproxy_is(l, at, "from") && l->count == at + 2)) {
        return gy_read_fail(s->r, GYRE_SYNTAX, gy_haproxy_at(l, at),
                            "behind the section's name only 'from NAME' may stand");
    }
    if (l->count > at) {
        rc = find_defaults(s, at + 1, &from);
    } else if (!defaults && s->count) {
        from = &s->defaults[s->count - 1];
    }
    if (!rc && named) {
        rc = check_name(s, gy_haproxy_word(l, 1));
    }
    if (rc) {
        return rc;
    }
    gy_haproxy_proxy_init(&s->now);
    if (from) {
        s->now.lb = from->lb;
        s->now.defaults = from->defaults;
        s->now.mode = from->mode;
    }
    s->now.at = gy_haproxy_at(l, 0);
    s->section = defaults ? DEFAULTS : PROXY;
    s->backend = gy_haproxy_is(l, 0, "backend");
    s->piece = s->piece && !defaults;
    if (!defaults) {
        return name_proxy(s, gy_haproxy_word(l, 1));
    }
    return named ? gy_read_text(s->r, &s->now.name, gy_haproxy_word(l, 1)) : GYRE_OK;
}

/* ---- lines ---- */

static int read_mode(struct state *s)
{
    static const char *const modes[] = {"http", "tcp", "health", "log", "haterm", "spop", NULL};
    size_t i = 0;
    while (modes[i] && !gy_haproxy_is(&s->l, 1, modes[i])) {
        i++;
    }
    if (!modes[i]) {
        return gy_read_unknown(s->r, gy_haproxy_at(&s->l, 1), "proxy mode",
                               gy_haproxy_word(&s->l, 1), modes);
    }
    s->now.mode = i == 0 ? GY_HAPROXY_MODE_HTTP : GY_HAPROXY_MODE_TCP;
    return GYRE_OK;
}

/* Only a word that looks like one of these is judged: new versions have new words. */
static int misspelt(struct state *s)
{
    static const char *const ours[] = {"server",  "default-server", "server-template",
                                       "balance", "hash-type",      "hash-balance-factor",
                                       "mode"};
    static const char *const known[] = {"log",
                                        "use-server",
                                        "source",
                                        "bind",
                                        "acl",
                                        "monitor",
                                        "load-server-state-from-file",
                                        "server-state-file-name",
                                        "id",
                                        "cookie",
                                        "guid",
                                        "stats",
                                        "errorloc",
                                        "option",
                                        "no",
                                        "hash-preserve-affinity",
                                        "rate-limit",
                                        "backlog",
                                        "maxconn",
                                        "retries",
                                        "tcp-check",
                                        "disabled",
                                        "enabled"};
    const char *word = (const char *)gy_haproxy_word(&s->l, 0).p;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(word, known[i]) == 0) {
            return GYRE_OK;
        }
    }
    const char *near = gyre_nearest(word, ours, sizeof ours / sizeof ours[0]);
    char q[GY_QUOTE];
    return near ? gy_read_fail(s->r, GYRE_UNKNOWN, gy_haproxy_at(&s->l, 0),
                               "unknown keyword %s; did you mean '%s'?",
                               gy_utf8_quote(q, gy_str(word)), near)
                : GYRE_OK;
}

static int read_proxy_line(struct state *s)
{
    const struct gy_haproxy_line *l = &s->l;
    bool server = gy_haproxy_is(l, 0, "server") || gy_haproxy_is(l, 0, "server-template");
    if (server && s->section != PROXY) {
        return gy_read_fail(s->r, GYRE_SYNTAX, gy_haproxy_at(l, 0), "'%s' not allowed in %s",
                            (const char *)gy_haproxy_word(l, 0).p,
                            s->section == DEFAULTS ? "'defaults' section"
                                                   : "a frontend: it has no backend capability");
    }
    if (s->section == FRONTEND) {
        return GYRE_OK;
    }
    if (server || gy_haproxy_is(l, 0, "default-server")) {
        return gy_haproxy_server_line(l, &s->now);
    }
    if (gy_haproxy_is(l, 0, "balance")) {
        return gy_haproxy_balance(l, &s->now.lb);
    }
    if (gy_haproxy_is(l, 0, "hash-type")) {
        return gy_haproxy_hash_type(l, &s->now.lb);
    }
    if (gy_haproxy_is(l, 0, "hash-balance-factor")) {
        return gy_haproxy_factor(l, &s->now.lb);
    }
    return gy_haproxy_is(l, 0, "mode") ? read_mode(s) : misspelt(s);
}

/* ".if" and the like: what holds is known to HAProxy only. */
static int read_macro(struct state *s)
{
    static const char *const harmless[] = {".notice", ".warning", ".diag"};
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++) {
        if (gy_haproxy_is(&s->l, 0, harmless[i])) {
            return GYRE_OK;
        }
    }
    char q[GY_QUOTE];
    return gy_read_fail(s->r, GYRE_UNSUPPORTED, gy_haproxy_at(&s->l, 0),
                        "%s: which lines are in force is decided where HAProxy starts; take the "
                        "conditions out",
                        gy_utf8_quote(q, gy_haproxy_word(&s->l, 0)));
}

static int read_line(struct state *s)
{
    const struct gy_haproxy_line *l = &s->l;
    struct gy_slice word = gy_haproxy_word(l, 0);
    bool defaults = gy_haproxy_is(l, 0, "defaults");
    int rc;
    if (word.n && word.p[0] == '.') {
        return read_macro(s);
    }
    if (defaults || gy_haproxy_is(l, 0, "backend") || gy_haproxy_is(l, 0, "listen")) {
        rc = end_section(s);
        return rc ? rc : begin_proxy(s, defaults);
    }
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
        if (gy_haproxy_is(l, 0, OTHERS[i])) {
            rc = end_section(s);
            s->piece = s->piece && !gy_haproxy_is(l, 0, "global");
            s->section = gy_haproxy_is(l, 0, "frontend") ? FRONTEND : OTHER;
            return rc;
        }
    }
    if (s->section == NOWHERE) {
        char q[GY_QUOTE];
        return gy_read_fail(s->r, GYRE_SYNTAX, gy_haproxy_at(l, 0),
                            "unknown keyword %s out of section", gy_utf8_quote(q, word));
    }
    return s->section == OTHER ? GYRE_OK : read_proxy_line(s);
}

int gy_haproxy_parse(struct gy_reading *r)
{
    struct state s = {.r = r, .piece = true};
    bool more = true;
    int rc = GYRE_OK;
    gy_haproxy_line_init(&s.l, r);
    gy_haproxy_proxy_init(&s.now);
    if (r->text.n && r->text.p[r->text.n - 1] != '\n') {
        size_t from = r->text.n;
        rc = gy_read_fail(r, GYRE_SYNTAX, gy_mark_of(r->text, from),
                          "missing LF on last line: the file might have been truncated");
    }
    while (!rc) {
        rc = gy_haproxy_line_next(&s.l, &more);
        if (rc || !more) {
            break;
        }
        rc = read_line(&s);
    }
    rc = rc ? rc : end_section(&s);
    gy_haproxy_proxy_fini(&s.now);
    for (size_t i = 0; i < s.count; i++) {
        gy_haproxy_proxy_fini(&s.defaults[i]);
    }
    free(s.defaults);
    for (size_t i = 0; i < s.name_count; i++) {
        free(s.names[i].name);
    }
    free(s.names);
    gy_haproxy_line_fini(&s.l);
    return rc;
}
