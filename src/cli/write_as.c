/* SPDX-License-Identifier: Apache-2.0 */
/* write_as.c - see write_as.h. */
#include "cli/write_as.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/save.h"
#include "formats/format.h"
#include "formats/lines.h"

static int find(const struct gy_write_as *as, const struct gy_format **out)
{
    gyre_error_t e = {0};
    int rc = gy_format_find(as->to ? as->to : "gyre", out, &e);
    if (!rc && !(*out)->writer) {
        rc = gy_format_not_written(*out, &e);
    }
    return rc ? gy_complain_error(&e) : GY_EXIT_OK;
}

int gy_write_as_check(const struct gy_write_as *as, const char *output)
{
    const struct gy_format *f;
    if (as->force && (!output || strcmp(output, "-") == 0)) {
        gy_complain("--force is for a file: -o FILE");
        return GY_EXIT_USAGE;
    }
    return find(as, &f);
}

static void say(const char *head, const struct gy_buf *lines)
{
    struct gy_lines l = gy_lines_of((struct gy_slice){gy_buf_head(lines), gy_buf_size(lines)});
    while (gy_lines_next(&l)) {
        gy_complain("%s%.*s", head, (int)l.line.n, l.line.p);
    }
}

int gy_write_as(const struct gy_write_as *as, const struct gy_topo *from, const gyre_topology_t *t,
                struct gy_buf *out)
{
    const struct gy_format *f;
    struct gy_written w = {0};
    gyre_error_t e = {0};
    struct gy_to_write what = {
        .topology = t,
        .proxy = from->config->proxy.present ? &from->config->proxy : NULL,
        .from = from->pool,
        .from_format = from->pools->format,
        .slot_sizes = as->slot_sizes,
    };
    int rc = find(as, &f);
    if (rc) {
        return rc;
    }
    e.code = gy_format_write(f, &what, &w, &e);
    if (e.code) {
        rc = gy_complain_error(&e);
    } else if (gy_buf_size(&w.losses) && !as->lossy) {
        gy_complain("%s has no word for this, and nothing is written; --lossy leaves it out:",
                    f->writer->system);
        say("  ", &w.losses);
        rc = GY_EXIT_USAGE;
    } else {
        say("left out: ", &w.losses);
        say("note: ", &w.choices);
        gy_buf_add(out, gy_buf_head(&w.text), gy_buf_size(&w.text));
        rc = gy_buf_failed(out) ? gy_complain_memory() : GY_EXIT_OK;
    }
    gy_written_fini(&w);
    return rc;
}

int gy_write_as_save(const struct gy_write_as *as, const char *path, struct gy_buf *text)
{
    if (!path || strcmp(path, "-") == 0) {
        return gy_out_flush(text);
    }
    return as->force ? gy_save_file(path, text) : gy_save_new(path, text);
}
