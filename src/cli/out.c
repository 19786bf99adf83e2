/* SPDX-License-Identifier: Apache-2.0 */
/* out.c - see out.h. */
#include "cli/out.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "formats/config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static bool broken; /* stdout failed: say so once, write no more */

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

void gy_complain(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("gyre: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
}

int gy_complain_error(const gyre_error_t *e)
{
    const char *why = *e->message ? e->message : gyre_err_text(e->code);
    char file[GY_QUOTE];
    /* A path of ordinary characters stands bare, so that editors can jump to file:line:column. */
    gy_utf8_quote(file, gy_str(e->file));
    size_t n = strlen(file);
    bool same = n == strlen(e->file) + 2 && memcmp(file + 1, e->file, n - 2) == 0;
    const char *name = same ? e->file : file;
    if (!*e->file) {
        gy_complain("%s", why);
    } else if (e->line) {
        gy_complain("%s:%u:%u: %s", name, e->line, e->column, why);
    } else {
        gy_complain("%s: %s", name, why);
    }
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
