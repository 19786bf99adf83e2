/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_reply.c - see redis_reply.h; the form on the wire is in redis_wire.c. In redis-cli's form a
 * line begins with the numbers of the elements it belongs to; those of one array stand at one
 * column, so a stack of columns tells where an element goes.
 */
#include "formats/redis_reply.h"
#include "base/utf8.h"
#include "formats/lines.h"
#include "formats/redis_wire.h"

enum gy_reply_form gy_reply_form(struct gy_slice text)
{
    size_t i = 0;
    while (i < text.n && memchr(" \t\r\n", text.p[i], 4)) {
        i++;
    }
    if (i == text.n) {
        return GY_REPLY_NONE;
    }
    struct gy_slice t = {text.p + i, text.n - i};
    bool digit = t.n > 1 && t.p[1] >= '0' && t.p[1] <= '9';
    if (t.p[0] == '[' || t.p[0] == '{') {
        return GY_REPLY_JSON;
    }
    if (gy_slice_starts(t, "1) ") || gy_slice_starts(t, "1# ") || gy_slice_starts(t, "(empty ") ||
        gy_slice_starts(t, "(error) ")) {
        return GY_REPLY_CLI;
    }
    return digit && memchr("*%~", t.p[0], 3) ? GY_REPLY_WIRE
           : t.p[0] == '-'                   ? GY_REPLY_WIRE
                                             : GY_REPLY_NONE;
}

static int hex(uint8_t c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The byte that an escape stands for; *used characters of it. */
static int escape(struct gy_slice s, size_t *used)
{
    static const char letters[] = "nrtab", bytes[] = "\n\r\t\a\b";
    const char *at = s.n > 1 ? memchr(letters, s.p[1], sizeof letters - 1) : NULL;
    *used = 2;
    if (s.n < 2) {
        return -1;
    }
    if (s.p[1] == 'x') {
        int high = s.n > 3 ? hex(s.p[2]) : -1, low = s.n > 3 ? hex(s.p[3]) : -1;
        *used = 4;
        return high < 0 || low < 0 ? -1 : high * 16 + low;
    }
    return at ? bytes[at - letters] : s.p[1];
}

bool gy_redis_unquote(struct gy_slice s, struct gy_buf *out)
{
    if (s.n < 2 || s.p[0] != '"' || s.p[s.n - 1] != '"') {
        return false;
    }
    for (size_t i = 1; i < s.n - 1;) {
        size_t used = 1;
        int c = s.p[i];
        if (c == '"' ||
            (c == '\\' && (c = escape((struct gy_slice){s.p + i, s.n - 1 - i}, &used)) < 0)) {
            return false;
        }
        gy_buf_putc(out, (char)c);
        i += used;
    }
    return true;
}

/* ---- redis-cli's form ---- */

struct level {
    struct gy_tree *t;
    unsigned column; /* at which its elements stand */
};

struct cli {
    struct gy_doc *d;
    struct gy_lines l;
    struct level stack[GY_TREE_DEPTH];
    unsigned depth;
    struct gy_slice key; /* of a map, whose value is next */
    struct gy_mark key_at;
};

static int bad_line(struct cli *c, struct gy_slice at)
{
    return gy_doc_fail(c->d, GYRE_SYNTAX, gy_lines_mark(&c->l, at),
                       "this is not how redis-cli prints a reply: a line was lost or changed");
}

/* "12) " or "12# ": its length, and its last character in *kind; 0 if there is none. */
static size_t marker(struct gy_slice s, char *kind)
{
    size_t i = 0;
    while (i < s.n && i < 9 && s.p[i] >= '0' && s.p[i] <= '9') {
        i++;
    }
    if (i == 0 || i + 1 >= s.n || !memchr(")#~", s.p[i], 3) || s.p[i + 1] != ' ') {
        return 0;
    }
    *kind = (char)s.p[i];
    return i + 2;
}

/* A value where one is due: below the last level, under the key if one was read. */
static struct gy_tree *add(struct cli *c, enum gy_tree_kind kind, struct gy_mark at)
{
    struct gy_tree *parent = c->depth ? c->stack[c->depth - 1].t : NULL;
    struct gy_tree *t = gy_doc_add(c->d, parent, kind, at);
    if (t) {
        t->key = c->key;
        t->key_at = c->key_at;
        c->key = GY_LIT("");
    }
    return t;
}

static int open_level(struct cli *c, char kind, unsigned column, struct gy_slice at)
{
    if (c->depth == GY_TREE_DEPTH) {
        return gy_doc_fail(c->d, GYRE_RANGE, gy_lines_mark(&c->l, at), "nested more than %d deep",
                           GY_TREE_DEPTH);
    }
    struct gy_tree *t = add(c, kind == '#' ? GY_TREE_MAP : GY_TREE_LIST, gy_lines_mark(&c->l, at));
    if (!t) {
        return gy_doc_code(c->d);
    }
    c->stack[c->depth++] = (struct level){t, column};
    return GYRE_OK;
}

/* The first marker of a line goes on in the level of its column, or opens the first one, or that
 * of a key whose value begins on its own line. */
static int find_level(struct cli *c, char kind, unsigned column, struct gy_slice at)
{
    bool awaited = c->key.n || c->depth == 0;
    if (awaited && (c->depth == 0 || column > c->stack[c->depth - 1].column)) {
        return c->depth == 0 && c->d->root ? bad_line(c, at) : open_level(c, kind, column, at);
    }
    while (c->depth && c->stack[c->depth - 1].column != column) {
        c->depth--;
    }
    bool fits = c->depth && (kind == '#') == (c->stack[c->depth - 1].t->kind == GY_TREE_MAP);
    return fits && c->key.n == 0 ? GYRE_OK : bad_line(c, at);
}

/* "key" => value */
static int take_key(struct cli *c, struct gy_slice *rest)
{
    const uint8_t *arrow = rest->n ? memmem(rest->p, rest->n, " =>", 3) : NULL;
    struct gy_slice quoted = {rest->p, arrow ? (size_t)(arrow - rest->p) : 0};
    struct gy_buf key = {0};
    if (!arrow || !gy_redis_unquote(quoted, &key)) {
        gy_buf_fini(&key);
        return bad_line(c, *rest);
    }
    c->key_at = gy_lines_mark(&c->l, quoted);
    c->key = gy_doc_copy(c->d, (struct gy_slice){gy_buf_head(&key), gy_buf_size(&key)});
    bool failed = key.failed || !c->key.p;
    gy_buf_fini(&key);
    *rest = gy_slice_trim((struct gy_slice){arrow + 3, rest->n - quoted.n - 3});
    return failed ? gy_doc_fail(c->d, GYRE_NOMEM, (struct gy_mark){0, 0}, "out of memory")
                  : GYRE_OK;
}

static int add_text(struct cli *c, struct gy_slice at, struct gy_slice text)
{
    struct gy_tree *t = add(c, GY_TREE_TEXT, gy_lines_mark(&c->l, at));
    if (!t) {
        return gy_doc_code(c->d);
    }
    t->plain = at.p[0] != '"';
    t->text = gy_doc_copy(c->d, text);
    return t->text.p ? GYRE_OK : GYRE_NOMEM;
}

static int take_scalar(struct cli *c, struct gy_slice s)
{
    static const char *const numbers[] = {"(integer) ", "(double) "};
    if (gy_slice_starts(s, "(empty ")) {
        return add(c, GY_TREE_LIST, gy_lines_mark(&c->l, s)) ? GYRE_OK : gy_doc_code(c->d);
    }
    if (gy_slice_eq(s, GY_LIT("(nil)"))) {
        return add(c, GY_TREE_NULL, gy_lines_mark(&c->l, s)) ? GYRE_OK : gy_doc_code(c->d);
    }
    if (gy_slice_starts(s, "(error) ")) {
        char q[GY_QUOTE];
        return gy_doc_fail(c->d, GYRE_REFUSED, gy_lines_mark(&c->l, s),
                           "the server answered with an error: %s",
                           gy_utf8_quote(q, (struct gy_slice){s.p + 8, s.n - 8}));
    }
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(numbers[i]);
        if (gy_slice_starts(s, numbers[i])) {
            return add_text(c, s, (struct gy_slice){s.p + n, s.n - n});
        }
    }
    if (s.p[0] != '"') {
        return add_text(c, s, s);
    }
    struct gy_buf text = {0};
    int rc = gy_redis_unquote(s, &text) ? GYRE_OK : bad_line(c, s);
    if (!rc && text.failed) {
        rc = gy_doc_fail(c->d, GYRE_NOMEM, (struct gy_mark){0, 0}, "out of memory");
    }
    rc = rc ? rc : add_text(c, s, (struct gy_slice){gy_buf_head(&text), gy_buf_size(&text)});
    gy_buf_fini(&text);
    return rc;
}

static int take_line(struct cli *c)
{
    struct gy_slice rest = gy_slice_trim(c->l.line);
    char kind = 0;
    int rc = GYRE_OK;
    size_t n;
    for (bool first = true; !rc && (n = marker(rest, &kind)) != 0; first = false) {
        unsigned column = (unsigned)(rest.p - c->l.line.p) + (unsigned)n;
        rc = first ? find_level(c, kind, column, rest) : open_level(c, kind, column, rest);
        rest = gy_slice_trim((struct gy_slice){rest.p + n, rest.n - n});
        if (!rc && kind == '#') {
            rc = take_key(c, &rest);
        }
    }
    if (rc || (rest.n == 0 && c->key.n)) {
        return rc; /* the value of the key begins on the next line */
    }
    if (rest.n == 0 || (kind == 0 && c->d->root)) {
        return bad_line(c, rest);
    }
    return take_scalar(c, rest);
}

static int read_cli(struct gy_doc *d, struct gy_slice text)
{
    struct cli c = {.d = d, .l = gy_lines_of(text), .key = GY_LIT("")};
    int rc = GYRE_OK;
    while (!rc && gy_lines_next(&c.l)) {
        rc = gy_slice_trim(c.l.line).n ? take_line(&c) : GYRE_OK;
    }
    if (!rc && (!d->root || c.key.n)) {
        rc = gy_doc_fail(d, GYRE_SYNTAX, (struct gy_mark){c.l.number, 1}, "the reply is cut off");
    }
    return rc;
}

int gy_doc_reply(struct gy_doc *d, struct gy_slice text, const char *file, gyre_error_t *e)
{
    *d = (struct gy_doc){.file = file, .e = e};
    switch (gy_reply_form(text)) {
    case GY_REPLY_JSON:
        return gy_doc_json(d, text, GY_JSON_PLAIN, file, e);
    case GY_REPLY_WIRE:
        return gy_doc_wire(d, text);
    case GY_REPLY_CLI:
    case GY_REPLY_NONE:
        break;
    }
    return read_cli(d, text);
}
