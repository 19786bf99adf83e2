/* SPDX-License-Identifier: Apache-2.0 */
/* out.c - see out.h. */
#include "cli/out.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/progress.h"
#include "formats/config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *about; /* the file in work; argv's or as long-lived */
static bool broken;       /* stdout failed: say so once, write no more */

static void failed(int err)
{
    broken = true;
    if (err != EPIPE) {
        gy_complain("cannot write the answer: %s", strerror(err));
    }
}

int gy_out_flush(struct gy_buf *out)
{
    if (gy_buf_failed(out)) {
        return gy_complain_memory();
    }
    while (!broken && gy_buf_size(out)) {
        ssize_t n = write(STDOUT_FILENO, gy_buf_head(out), gy_buf_size(out));
        if (n >= 0) {
            gy_buf_consume(out, (size_t)n);
        } else if (errno != EINTR) {
            failed(errno);
        }
    }
    gy_buf_reset(out);
    return broken ? GY_EXIT_USAGE : GY_EXIT_OK;
}

int gy_out_end(struct gy_buf *out)
{
    int rc = gy_out_flush(out);
    gy_buf_fini(out);
    return rc;
}

int gy_out_line(bool aside, const char *fmt, ...)
{
    struct gy_buf line = {0};
    va_list ap;
    va_start(ap, fmt);
    gy_buf_vprintf(&line, fmt, ap);
    va_end(ap);
    gy_buf_putc(&line, '\n');
    if (!aside || gy_buf_failed(&line)) {
        return gy_out_end(&line);
    }
    fputs(gy_buf_cstr(&line), stderr);
    gy_buf_fini(&line);
    return GY_EXIT_OK;
}

/* Whatever a caller let through: only ends of line and tabs of ours reach the terminal as they are.
 */
static void write_clean(const char *text)
{
    struct gy_buf clean = {0};
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "\n\t");
        gy_utf8_escape(&clean, (struct gy_slice){(const uint8_t *)p, n});
        p += n;
        if (*p) {
            gy_buf_putc(&clean, *p++);
        }
    }
    fputs(gy_buf_failed(&clean) ? "out of memory" : gy_buf_cstr(&clean), stderr);
    gy_buf_fini(&clean);
}

void gy_complain(const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    gy_progress_hush();
    fputs("gyre: ", stderr);
    write_clean(n < 0 ? "out of memory" : text);
    fputc('\n', stderr);
    free(n < 0 ? NULL : text);
}

void gy_complain_about(const char *path)
{
    about = path;
}

/* The name of the file, whole. */
static const char *file_of(const gyre_error_t *e)
{
    size_t kept = sizeof e->file - 1;
    bool cut = about && strlen(e->file) == kept && strncmp(about, e->file, kept) == 0;
    return cut ? about : e->file;
}

int gy_complain_error(const gyre_error_t *e)
{
    const char *why = *e->message ? e->message : gyre_err_text(e->code);
    struct gy_buf file = {0};
    /* Bare and whole, so that editors can jump to file:line:column; an end of line in it is no end
     * of line. */
    gy_utf8_escape(&file, gy_str(file_of(e)));
    const char *name = gy_buf_cstr(&file);
    if (!*e->file || gy_buf_failed(&file)) {
        gy_complain("%s", why);
    } else if (e->line) {
        gy_complain("%s:%u:%u: %s", name, e->line, e->column, why);
    } else {
        gy_complain("%s: %s", name, why);
    }
    gy_buf_fini(&file);
    return GY_EXIT_USAGE;
}

int gy_complain_memory(void)
{
    gy_complain("out of memory");
    return GY_EXIT_USAGE;
}

void gy_complain_secret(const struct gy_config *c)
{
    if (c->secret_exposed) {
        const char *path = gyre_topology_get(c->topology, "secret_file");
        gy_complain("warning: every user of this machine has access to %s; chmod 600 it, and if "
                    "they are not to be trusted, change the secret",
                    path);
    }
}
