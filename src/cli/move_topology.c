/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_topology.c - `gyre move topology`: the topology that serves, to keep in the operator's file.
 * A move changes the proxy's own record, never that file; this brings the file up to date without
 * losing its proxy section, which the proxy does not send.
 */
#include "cli/move.h"

#include "base/utf8.h"
#include "cli/out.h"
#include "cli/save.h"
#include "cli/topo.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What FILE says now; *old NULL when there is nothing in it. What is something else than a topology
 * is not written over: it would be a mistyped name. */
static int load_old(const char *path, struct gy_config **old)
{
    struct stat st;
    gyre_error_t e = {0};
    *old = NULL;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
        return GY_EXIT_OK;
    }
    gy_complain_about(path);
    if (gy_config_load(path, old, &e) == GYRE_OK) {
        return GY_EXIT_OK;
    }
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        gy_complain("move topology: %s was removed while it was read; nothing was written", path);
        return GY_EXIT_USAGE;
    }
    gy_complain_error(&e);
    gy_complain("move topology: %s is no topology file, so it is left as it is; name another",
                path);
    return GY_EXIT_USAGE;
}

static int write_file(const gyre_topology_t *t, const char *path)
{
    struct gy_config *old = NULL;
    struct gy_buf yaml = {0}, said = {0};
    int rc = load_old(path, &old);
    bool kept = old && old->proxy.present;
    if (rc == GY_EXIT_OK) {
        gy_config_dump(t, kept ? &old->proxy : NULL, &yaml);
        rc = gy_save_file(path, &yaml);
    }
    if (rc == GY_EXIT_OK) {
        gy_buf_printf(&said, "version %llu written to %s%s\n",
                      (unsigned long long)gyre_topology_version(t), path,
                      kept ? "; its proxy section is as it was" : "");
        rc = gy_out_flush(&said);
    }
    gy_buf_fini(&said);
    gy_buf_fini(&yaml);
    gy_config_free(old);
    return rc;
}

static int print(const gyre_topology_t *t, bool json)
{
    struct gy_buf out = {0};
    if (json) {
        struct gy_json j;
        gy_json_init(&j, &out);
        gy_topo_json(t, &j);
        gy_buf_putc(&out, '\n');
    } else {
        gy_config_dump(t, NULL, &out);
    }
    return gy_out_end(&out);
}

int gy_move_topology(struct gy_client *c, const struct gy_move_args *a)
{
    gyre_topology_t *now = NULL;
    gyre_error_t e = {0};
    bool to_stdout = !a->output || strcmp(a->output, "-") == 0;
    if (a->json && !to_stdout) {
        gy_complain("move topology: -o writes a topology file, which is YAML; --json does not go "
                    "with it");
        return GY_EXIT_USAGE;
    }
    int rc = gy_move_current(c, &now, &e) == GYRE_OK ? GY_EXIT_OK : gy_move_failed(c, &e);
    if (rc == GY_EXIT_OK) {
        rc = to_stdout ? print(now, a->json) : write_file(now, a->output);
    }
    gyre_topology_free(now);
    return rc;
}

int gy_move_say_topology(const struct gy_move_args *a, uint64_t version)
{
    struct gy_buf out = {0};
    gy_buf_printf(&out, "version %llu serves. Write it to your file: gyre move topology",
                  (unsigned long long)version);
    if (a->admin || a->config) { /* found the same way as now; else GYRE_ADMIN says it again */
        gy_buf_puts(&out, a->admin ? " --admin " : " --config ");
        gy_utf8_shell(&out, a->admin ? a->admin : a->config);
    }
    gy_buf_puts(&out, " -o ");
    gy_utf8_shell(&out, a->config ? a->config : "FILE"); /* which it is, we were not told */
    int rc = gy_out_line(a->json, "%s", gy_buf_cstr(&out));
    gy_buf_fini(&out);
    return rc;
}
