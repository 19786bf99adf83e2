/* SPDX-License-Identifier: Apache-2.0 */
/* proxy.c - `gyre proxy TOPOLOGY`: reads the file, opens the admin door, runs the proxy. */
#include "proxy/proxy.h"
#include "admin/admin.h"
#include "base/fail.h"
#include "base/log.h"
#include "cli/cmd.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: gyre proxy [--check] [--log-level LEVEL] TOPOLOGY\n"
    "\n"
    "Serves the topology's Redis nodes as one address. The file needs a proxy section:\n"
    "\n"
    "  proxy:\n"
    "    listen: [\"127.0.0.1:6380\", \"unix:/run/gyre/gyre.sock\"]\n"
    "    state: /var/lib/gyre              # where the current view and a move under way are kept\n"
    "    admin: \"unix:/run/gyre/admin.sock\"  # how `gyre move` finds it\n"
    "\n"
    "The state directory's view wins over the file: editing nodes in the file and restarting moves no\n"
    "key. Change the fleet with `gyre move start`. Logs go to stderr; SIGTERM or Ctrl-C stops it, and\n"
    "a move under way goes on at the next start.\n"
    "\n"
    "  --check             read the file, say what is wrong with it, and stop (0 fine, 2 not)\n"
    "  --sample            print an annotated topology file with every setting\n"
    "  --log-level LEVEL   error, warn, info (default) or debug\n"
    "  --list-failpoints   names for GYRE_FAIL=name:N:kill|stop|error, for tests\n"
    "  --help              this text\n"
    "\n"
    "example: gyre proxy --sample > gyre.yaml; $EDITOR gyre.yaml; gyre proxy gyre.yaml\n";

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

static int complain(const gyre_error_t *e, const char *path)
{
    if (e->file[0] && e->line) {
        fprintf(stderr, "gyre proxy: %s:%u:%u: %s\n", e->file, e->line, e->column, e->message);
    } else {
        fprintf(stderr, "gyre proxy: %s%s%s\n", e->file[0] ? path : "", e->file[0] ? ": " : "",
                e->message[0] ? e->message : gyre_err_text(e->code));
    }
    return GY_EXIT_USAGE;
}

static int print_sample(void)
{
    struct gy_buf b = {0};
    gy_config_sample(&b);
    fputs(gy_buf_cstr(&b), stdout);
    gy_buf_fini(&b);
    return fflush(stdout) == 0 ? GY_EXIT_OK : GY_EXIT_USAGE;
}

static int run(const char *path, bool check)
{
    gyre_error_t e = {0};
    struct gy_config *config = NULL;
    int rc = gy_config_load(path, &config, &e);
    if (!rc) {
        rc = gy_config_check_proxy(config, &e);
    }
    if (!rc && check) {
        printf("%s: fine, %zu nodes\n", path, gyre_topology_count(config->topology));
    } else if (!rc) {
        struct gy_proxy_hooks hooks = {NULL, serving, stopping};
        rc = gy_proxy_run(config, &hooks, &e);
    }
    gy_config_free(config);
    return rc ? complain(&e, path) : GY_EXIT_OK;
}

int gy_cmd_proxy(int argc, char **argv)
{
    static const struct option options[] = {{"check", no_argument, NULL, 'c'},
                                            {"sample", no_argument, NULL, 's'},
                                            {"log-level", required_argument, NULL, 'l'},
                                            {"list-failpoints", no_argument, NULL, 'f'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    bool check = false;
    int c;
    optind = 1;
    while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        switch (c) {
        case 'c':
            check = true;
            break;
        case 's':
            return print_sample();
        case 'l':
            if (!gy_log_level_parse(optarg, &gy_log_max)) {
                fprintf(stderr, "gyre proxy: --log-level '%s': error, warn, info or debug\n",
                        optarg);
                return GY_EXIT_USAGE;
            }
            break;
        case 'f':
            fputs(gy_fail_list(), stdout);
            return GY_EXIT_OK;
        case 'h':
            fputs(help, stdout);
            return GY_EXIT_OK;
        default:
            fputs("try 'gyre proxy --help'\n", stderr);
            return GY_EXIT_USAGE;
        }
    }
    if (argc - optind != 1) {
        fputs("gyre proxy: one TOPOLOGY file is wanted; try 'gyre proxy --help'\n", stderr);
        return GY_EXIT_USAGE;
    }
    return run(argv[optind], check);
}
