/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c - see source.h. What is included is bounded as a whole, so that files that include each
 * other, or a pattern that matches a whole disk, end in an error.
 */
#include "cli/source.h"
#include "cli/cmd.h"
#include "cli/live.h"
#include "cli/out.h"
#include "formats/file.h"
#include "formats/format.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#define FILES_MAX 4096
#define NAME_ROOM 4200 /* a path, as long as the system takes it */

struct included {
    size_t files, bytes;
};

/* A path as it stands, or relative to the folder of the file it is named in. */
static void resolve(const char *from, const char *pattern, struct gy_buf *out)
{
    const char *slash = strrchr(from, '/');
    if (*pattern != '/' && slash) {
        gy_buf_add(out, from, (size_t)(slash - from) + 1);
    }
    gy_buf_puts(out, pattern);
}

static int include_file(struct included *in, const char *path, gy_included_fn *each, void *arg,
                        gyre_error_t *e)
{
    struct gy_buf text = {0};
    if (++in->files > FILES_MAX) {
        return gy_format_fail(e, GYRE_RANGE, path, "more than %d files are included", FILES_MAX);
    }
    int rc = gy_file_read(path, "topology", &text, e);
    in->bytes += gy_buf_size(&text);
    if (!rc && in->bytes > GY_TEXT_MAX) {
        rc = gy_format_fail(e, GYRE_RANGE, path, "with all it includes larger than %zu MB",
                            GY_TEXT_MAX >> 20);
    }
    if (!rc) {
        rc = each(arg, path, (struct gy_slice){gy_buf_head(&text), gy_buf_size(&text)});
    }
    gy_buf_fini(&text);
    return rc;
}

/* Sorted, as the systems that have patterns read them. A pattern that matches nothing is none. */
static int include_all(struct included *in, const char *pattern, gy_included_fn *each, void *arg,
                       gyre_error_t *e)
{
    glob_t found = {0};
    int got = glob(pattern, 0, NULL, &found);
    int rc = GYRE_OK;
    if (got == GLOB_NOSPACE) {
        rc = gy_format_fail(e, GYRE_NOMEM, pattern, "out of memory");
    } else if (got == GLOB_ABORTED) {
        rc = gy_format_fail(e, GYRE_IO, pattern, "cannot be searched for");
    } else if (got == GLOB_NOMATCH && !strpbrk(pattern, "*?[")) {
        rc = include_file(in, pattern, each, arg, e); /* says why it cannot be read */
    }
    for (size_t i = 0; !rc && got == 0 && i < found.gl_pathc; i++) {
        rc = include_file(in, found.gl_pathv[i], each, arg, e);
    }
    globfree(&found);
    return rc;
}

static int include(void *self, const char *from, const char *pattern, gy_included_fn *each,
                   void *arg, gyre_error_t *e)
{
    struct gy_buf path = {0};
    resolve(from, pattern, &path);
    int rc = path.failed ? gy_format_fail(e, GYRE_NOMEM, from, "out of memory")
                         : include_all(self, gy_buf_cstr(&path), each, arg, e);
    gy_buf_fini(&path);
    return rc;
}

int gy_source_read(const char *path, const char *format, struct gy_pools **out, gyre_error_t *e)
{
    struct gy_buf bytes = {0};
    struct included in = {0};
    char name[NAME_ROOM];
    bool is_stdin = strcmp(path, "-") == 0;
    gy_complain_about(path);
    const char *known = format;
    int rc;
    snprintf(name, sizeof name, "%s", is_stdin ? "stdin" : path);
    *out = NULL;
    if (gy_live_is(path)) {
        gy_live_name(path, name, sizeof name);
        rc = gy_live_read(path, &bytes, &known, e);
    } else {
        rc = gy_file_read(is_stdin ? "/dev/stdin" : path, "topology", &bytes, e);
    }
    struct gy_source from = {
        .file = name, .format = known, .include = include, .include_self = &in};
    if (!rc) {
        rc = gy_pools_parse((struct gy_slice){gy_buf_head(&bytes), gy_buf_size(&bytes)}, &from, out,
                            e);
    }
    gy_buf_fini(&bytes);
    return rc;
}

int gy_source_complain(const char *path, const gyre_error_t *e)
{
    bool unreachable = gy_live_is(path) &&
                       (e->code == GYRE_IO || e->code == GYRE_TIMEOUT || e->code == GYRE_REFUSED);
    int rc = gy_complain_error(e);
    return unreachable ? GY_EXIT_UNREACHABLE : rc;
}
