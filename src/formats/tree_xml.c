/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_xml.c - XML into a tree by expat: see tree.h. A DOCTYPE ends the reading, so that a text can
 * neither define entities nor name other files. Text between elements is kept with the element it
 * stands in.
 */
#include "formats/tree.h"

#include <expat.h>
#include <stdio.h>

struct walk {
    struct gy_doc *d;
    XML_Parser x;
    struct gy_tree *open[GY_TREE_DEPTH];
    struct gy_buf text[GY_TREE_DEPTH];
    unsigned depth;
    int rc;
};

static struct gy_mark here(struct walk *w)
{
    return (struct gy_mark){(unsigned)XML_GetCurrentLineNumber(w->x),
                            (unsigned)XML_GetCurrentColumnNumber(w->x) + 1};
}

static void stop(struct walk *w, int rc)
{
    w->rc = rc;
    XML_StopParser(w->x, XML_FALSE);
}

static struct gy_tree *add(struct walk *w, struct gy_tree *parent, struct gy_slice key)
{
    struct gy_tree *t = gy_doc_add(w->d, parent, GY_TREE_TEXT, here(w));
    if (!t) {
        stop(w, gy_doc_code(w->d));
        return NULL;
    }
    t->plain = true;
    t->key_at = t->at;
    t->key = gy_doc_copy(w->d, key);
    if (!t->key.p) {
        stop(w, GYRE_NOMEM);
        return NULL;
    }
    return t;
}

static void add_attribute(struct walk *w, struct gy_tree *t, const char *name, const char *value)
{
    struct gy_buf key = {0};
    gy_buf_printf(&key, "@%s", name);
    struct gy_tree *a =
        key.failed ? NULL : add(w, t, (struct gy_slice){gy_buf_head(&key), gy_buf_size(&key)});
    if (a) {
        a->text = gy_doc_copy(w->d, gy_str(value));
    }
    if (!w->rc && (!a || !a->text.p)) {
        stop(w, gy_doc_fail(w->d, GYRE_NOMEM, (struct gy_mark){0, 0}, "out of memory"));
    }
    gy_buf_fini(&key);
}

static void XMLCALL on_start(void *self, const char *name, const char **attributes)
{
    struct walk *w = self;
    if (w->rc) {
        return;
    }
    if (w->depth == GY_TREE_DEPTH) {
        stop(w, gy_doc_fail(w->d, GYRE_RANGE, here(w), "nested more than %d deep", GY_TREE_DEPTH));
        return;
    }
    struct gy_tree *parent = w->depth ? w->open[w->depth - 1] : NULL;
    struct gy_tree *t = add(w, parent, gy_str(name));
    if (!t) {
        return;
    }
    if (parent) {
        parent->kind = GY_TREE_MAP;
    }
    for (size_t i = 0; attributes[i] && !w->rc; i += 2) {
        t->kind = GY_TREE_MAP;
        add_attribute(w, t, attributes[i], attributes[i + 1]);
    }
    w->open[w->depth] = t;
    gy_buf_reset(&w->text[w->depth++]);
}

static void XMLCALL on_text(void *self, const char *text, int len)
{
    struct walk *w = self;
    if (!w->rc && w->depth) {
        gy_buf_add(&w->text[w->depth - 1], text, (size_t)len);
    }
}

static void XMLCALL on_end(void *self, const char *name)
{
    (void)name;
    struct walk *w = self;
    if (w->rc) {
        return;
    }
    struct gy_buf *b = &w->text[--w->depth];
    struct gy_tree *t = w->open[w->depth];
    t->text = gy_doc_copy(w->d, (struct gy_slice){gy_buf_head(b), gy_buf_size(b)});
    if (b->failed || !t->text.p) {
        stop(w, gy_doc_fail(w->d, GYRE_NOMEM, (struct gy_mark){0, 0}, "out of memory"));
    }
}

static void XMLCALL on_doctype(void *self, const char *name, const char *system, const char *public,
                               int internal)
{
    (void)name, (void)system, (void)public, (void)internal;
    struct walk *w = self;
    stop(w,
         gy_doc_fail(w->d, GYRE_UNSUPPORTED, here(w),
                     "a DOCTYPE is not accepted here, for entities can be endless: leave it out"));
}

static int run(struct walk *w, struct gy_slice text)
{
    XML_SetUserData(w->x, w);
    XML_SetElementHandler(w->x, on_start, on_end);
    XML_SetCharacterDataHandler(w->x, on_text);
    XML_SetStartDoctypeDeclHandler(w->x, on_doctype);
    if (XML_Parse(w->x, (const char *)text.p, (int)text.n, 1) == XML_STATUS_OK || w->rc) {
        return w->rc;
    }
    enum XML_Error why = XML_GetErrorCode(w->x);
    if (why == XML_ERROR_NO_MEMORY) {
        return gy_doc_fail(w->d, GYRE_NOMEM, (struct gy_mark){0, 0}, "out of memory");
    }
    return gy_doc_fail(w->d, GYRE_SYNTAX, here(w), "not XML: %s", XML_ErrorString(why));
}

int gy_doc_xml(struct gy_doc *d, struct gy_slice text, const char *file, gyre_error_t *e)
{
    *d = (struct gy_doc){.file = file, .e = e};
    struct walk w = {.d = d, .x = XML_ParserCreate(NULL)};
    if (!w.x) {
        return gy_doc_fail(d, GYRE_NOMEM, (struct gy_mark){0, 0}, "out of memory");
    }
    int rc = run(&w, text);
    for (size_t i = 0; i < GY_TREE_DEPTH; i++) {
        gy_buf_fini(&w.text[i]);
    }
    XML_ParserFree(w.x);
    return rc;
}
