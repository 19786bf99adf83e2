/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_in.c - see yaml_in.h. */
#include "formats/yaml_in.h"

int gy_yaml_fail(struct gy_yaml *y, int code, struct gy_mark at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    gy_format_vfail(y->e, code, y->file, at, fmt, ap);
    va_end(ap);
    return code;
}

int gy_yaml_place(struct gy_yaml *y, int code, struct gy_mark at)
{
    return gy_format_place(y->e, code, y->file, at);
}

static struct gy_mark from_yaml(yaml_mark_t m)
{
    return (struct gy_mark){(unsigned)m.line + 1, (unsigned)m.column + 1};
}

struct gy_mark gy_yaml_mark(const struct gy_yaml *y)
{
    return from_yaml(y->ev.start_mark);
}

struct gy_slice gy_yaml_scalar(const struct gy_yaml *y)
{
    return (struct gy_slice){y->ev.data.scalar.value, y->ev.data.scalar.length};
}

bool gy_yaml_is_null(const struct gy_yaml *y)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    if (y->ev.type != YAML_SCALAR_EVENT || y->ev.data.scalar.style != YAML_PLAIN_SCALAR_STYLE) {
        return false;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (gy_slice_eq(gy_yaml_scalar(y), gy_str(words[i]))) {
            return true;
        }
    }
    return false;
}

const char *gy_yaml_kind(const struct gy_yaml *y)
{
    /* One kind of event or another: the rest never stands where a value is looked for. */
    if (y->ev.type == YAML_SEQUENCE_START_EVENT) {
        return "a list";
    }
    if (y->ev.type == YAML_MAPPING_START_EVENT) {
        return "a mapping";
    }
    return gy_yaml_is_null(y) ? "nothing" : "a single value";
}

/* What libyaml found wrong, in its words, with the mistake people make most explained. */
static int syntax(struct gy_yaml *y)
{
    const yaml_parser_t *p = &y->parser;
    if (p->error == YAML_MEMORY_ERROR) {
        return gy_yaml_fail(y, GYRE_NOMEM, (struct gy_mark){0, 0}, "out of memory");
    }
    const char *problem = p->problem ? p->problem : "not YAML";
    if (p->error == YAML_READER_ERROR) {
        return gy_yaml_fail(y, GYRE_SYNTAX, /* libyaml reads ahead, so where it stands says nothing
                                               of a broken byte. */
                            gy_mark_of(y->text, p->problem_offset),
                            "not a text file: %s (byte %zu of the file)", problem,
                            p->problem_offset + 1);
    }
    /* A tab where indentation is read gives only "cannot start any token". */
    bool tab =
        p->buffer.pointer && p->buffer.pointer < p->buffer.last && *p->buffer.pointer == '\t';
    return gy_yaml_fail(y, GYRE_SYNTAX, from_yaml(p->problem_mark), "%s%s%s%s",
                        p->context ? p->context : "", p->context ? ", " : "", problem,
                        tab ? " (a tab; YAML is indented with spaces)" : "");
}

static void drop(struct gy_yaml *y)
{
    if (y->held) {
        yaml_event_delete(&y->ev);
        y->held = false;
    }
}

/* Anchors and tags of the current event, none of which a topology may have. */
static int refuse_extras(struct gy_yaml *y)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    if (y->ev.type == YAML_ALIAS_EVENT) {
        anchor = y->ev.data.alias.anchor;
    } else if (y->ev.type == YAML_SCALAR_EVENT) {
        anchor = y->ev.data.scalar.anchor;
        tag = y->ev.data.scalar.tag;
    } else if (y->ev.type == YAML_SEQUENCE_START_EVENT) {
        anchor = y->ev.data.sequence_start.anchor;
        tag = y->ev.data.sequence_start.tag;
    } else if (y->ev.type == YAML_MAPPING_START_EVENT) {
        anchor = y->ev.data.mapping_start.anchor;
        tag = y->ev.data.mapping_start.tag;
    }
    if (anchor) {
        return gy_yaml_fail(y, GYRE_UNSUPPORTED, gy_yaml_mark(y),
                            "YAML anchors and aliases are not accepted here: write the value out");
    }
    if (tag) {
        return gy_yaml_fail(y, GYRE_UNSUPPORTED, gy_yaml_mark(y),
                            "YAML tags are not accepted here: leave the '!...' out");
    }
    return GYRE_OK;
}

int gy_yaml_next(struct gy_yaml *y)
{
    drop(y);
    if (!yaml_parser_parse(&y->parser, &y->ev)) {
        return syntax(y);
    }
    y->held = true;
    return refuse_extras(y);
}

int gy_yaml_open(struct gy_yaml *y, const char *text, size_t len, const char *file, gyre_error_t *e)
{
    *y = (struct gy_yaml){.file = file, .e = e, .text = {(const uint8_t *)text, len}};
    if (!yaml_parser_initialize(&y->parser)) {
        return gy_yaml_fail(y, GYRE_NOMEM, (struct gy_mark){0, 0}, "out of memory");
    }
    yaml_parser_set_input_string(&y->parser, (const unsigned char *)text, len);
    int rc = gy_yaml_next(y); /* the start of the stream */
    if (!rc) {
        rc = gy_yaml_next(y); /* of the document */
    }
    if (!rc && y->ev.type == YAML_STREAM_END_EVENT) {
        return gy_yaml_fail(y, GYRE_SYNTAX, (struct gy_mark){1, 1}, "the file is empty");
    }
    return rc ? rc : gy_yaml_next(y);
}

int gy_yaml_end(struct gy_yaml *y)
{
    int rc = gy_yaml_next(y); /* the end of the document */
    if (!rc) {
        rc = gy_yaml_next(y);
    }
    if (!rc && y->ev.type != YAML_STREAM_END_EVENT) {
        return gy_yaml_fail(y, GYRE_SYNTAX, gy_yaml_mark(y),
                            "a second YAML document: one file holds one topology");
    }
    return rc;
}

void gy_yaml_close(struct gy_yaml *y)
{
    drop(y);
    yaml_parser_delete(&y->parser);
}
