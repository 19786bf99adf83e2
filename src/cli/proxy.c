/* SPDX-License-Identifier: Apache-2.0 */
/* proxy.c - `gyre proxy TOPOLOGY`: reads the file, opens the admin door, runs the proxy. */
#include "proxy/proxy.h"
#include "admin/admin.h"
#include "admin/door.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"

#include <stdio.h>

struct options {
    bool check, sample, failpoints;
};

static int take_level(void *into, const char *value)
{
    char q[GY_QUOTE];
    if (gy_log_level_parse(value, &gy_log_max)) {
        return 0;
    }
    gy_complain("--log-level is %s; it must be error, warn, info or debug",
                gy_utf8_quote(q, gy_str(value)));
    return GY_EXIT_USAGE;
}

static const struct gy_opt OPTIONS[] = {
    {0, "check", NULL, "check all that needs no network, here and in the files it names, and stop",
     GY_OPT_FLAG, offsetof(struct options, check), 0, 0, NULL},
    {0, "sample", NULL, "print an annotated topology file with every setting", GY_OPT_FLAG,
     offsetof(struct options, sample), 0, 0, NULL},
    {0, "log-level", "error|warn|info|debug", "what is logged (info)", GY_OPT_CALL, 0, 0, 0,
     take_level},
    {0, "list-failpoints", NULL, "names for GYRE_FAIL=name:N:kill|stop|error, for tests",
     GY_OPT_FLAG, offsetof(struct options, failpoints), 0, 0, NULL},
    {0}};

static const char *const EXAMPLES[] = {
    "gyre proxy --sample > gyre.yaml; $EDITOR gyre.yaml; gyre proxy gyre.yaml",
    "gyre proxy --check gyre.yaml",
    NULL,
};

static const struct gy_usage USAGE = {
    "gyre proxy",
    "[OPTIONS] TOPOLOGY",
    "Serves the topology's Redis nodes as one address. The file needs a proxy section:\n"
    "\n"
    "  proxy:\n"
    "    listen: [\"127.0.0.1:6380\", \"unix:/run/gyre/gyre.sock\"]\n"
    "    state: /var/lib/gyre              # where the current view and a move under way are kept\n"
    "    admin: \"unix:/run/gyre/admin.sock\"  # how `gyre move` finds it\n"
    "\n"
    "The state directory's view wins over the file: editing nodes in the file and restarting moves "
    "no\nkey. Change the fleet with `gyre move start`. Logs go to stderr; SIGTERM or Ctrl-C stops "
    "it, and\na move under way goes on at the next start.",
    OPTIONS,
    EXAMPLES,
    0,
    1,
    "0 stopped as asked, or the file is fine (--check); 2 bad input or usage, it could\n"
    "not serve, or the answer cannot be written",
};

static struct gy_admin *admin;

static int serving(void *ctx, struct gy_proxy *p, struct gy_mover *m, gyre_error_t *e)
{
    (void)ctx;
    if (!p->config->proxy.admin) {
        return GYRE_OK;
    }
    struct gy_admin_ops ops = {.ctx = p, .mover = m, .info = gy_proxy_info};
    return gy_admin_start(p->config->proxy.admin, &ops, &admin, e);
}

static void stopping(void *ctx)
{
    (void)ctx;
    gy_admin_stop(admin);
    admin = NULL;
}

static int print_sample(void)
{
    struct gy_buf out = {0};
    gy_config_sample(&out);
    return gy_out_end(&out);
}

static int print_fine(const char *path, const struct gy_config *config)
{
    struct gy_buf out = {0};
    size_t n = gyre_topology_count(config->topology);
    gy_buf_printf(&out, "%s: fine, %zu node%s\n", path, n, n == 1 ? "" : "s");
    return gy_out_end(&out);
}

static int check_start(const struct gy_config *config, gyre_error_t *e)
{
    int rc = gy_proxy_check(config, e);
    return rc || !config->proxy.admin ? rc : gy_door_check(config->proxy.admin, e);
}

static int run(const char *path, bool check)
{
    gy_complain_about(path);
    gyre_error_t e = {0};
    struct gy_config *config = NULL;
    int rc = gy_config_load(path, &config, &e);
    if (!rc && (rc = gy_config_check_proxy(config, &e)) != GYRE_OK) {
        snprintf(e.file, sizeof e.file, "%s", path);
    }
    if (!rc) {
        gy_complain_secret(config);
    }
    if (!rc && config->proxy.admin) {
        rc = gy_admin_prepare(&e);
    }
    if (!rc && check && (rc = check_start(config, &e)) != GYRE_OK) {
        snprintf(e.file, sizeof e.file, "%s", path);
    }
    if (!rc && check) {
        rc = print_fine(path, config);
        gy_config_free(config);
        return rc;
    }
    if (!rc) {
        struct gy_proxy_hooks hooks = {NULL, serving, stopping};
        rc = gy_proxy_run(config, &hooks, &e);
    }
    gy_config_free(config);
    e.code = rc;
    return rc ? gy_complain_error(&e) : GY_EXIT_OK;
}

int gy_cmd_proxy(int argc, char **argv)
{
    struct options o = {0};
    char **words;
    int count;
    int rc = gy_opt_parse(&USAGE, argc, argv, &o, &words, &count);
    if (rc != GY_GO_ON) {
        return rc;
    }
    if (o.sample) {
        return print_sample();
    }
    if (o.failpoints) {
        struct gy_buf out = {0};
        gy_buf_puts(&out, gy_fail_list());
        return gy_out_end(&out);
    }
    if (count == 0) {
        gy_complain("proxy: one TOPOLOGY file is wanted; 'gyre proxy --help' shows how it is used");
        return GY_EXIT_USAGE;
    }
    return run(words[0], o.check);
}
