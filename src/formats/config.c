/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - see config.h: from a path or a text of gyre's own YAML to a config. What a server
 * stored or was sent is always that; files of any format are format.h's.
 */
#include "formats/config.h"
#include "formats/file.h"
#include "formats/gyreyaml.h"
#include "formats/mark.h"
#include "formats/value.h"

#include <stdlib.h>

void gy_config_free(struct gy_config *c)
{
    if (c) {
        gyre_topology_free(c->topology);
        gy_proxy_conf_fini(&c->proxy);
        free(c);
    }
}

struct gy_config *gy_config_new(void)
{
    struct gy_config *c = calloc(1, sizeof *c);
    if (!c || !(c->topology = gyre_topology_new()) || gy_value_defaults(GY_SEC_PROXY, &c->proxy)) {
        gy_config_free(c);
        return NULL;
    }
    return c;
}

static int parse(const char *text, size_t len, const char *file, bool own, struct gy_config **out,
                 gyre_error_t *e)
{
    *out = NULL;
    struct gy_config *c = gy_config_new();
    if (!c) {
        return gy_format_fail(e, GYRE_NOMEM, file, "out of memory");
    }
    c->stored = own;
    int rc = gy_gyreyaml_read(text, len, file, c, e);
    if (rc) {
        gy_config_free(c);
        return rc;
    }
    *out = c;
    return GYRE_OK;
}

int gy_config_parse(const char *text, size_t len, const char *file, struct gy_config **out,
                    gyre_error_t *e)
{
    return parse(text, len, file, false, out, e);
}

int gy_config_parse_own(const char *text, size_t len, const char *file, struct gy_config **out,
                        gyre_error_t *e)
{
    return parse(text, len, file, true, out, e);
}

int gy_config_load(const char *path, struct gy_config **out, gyre_error_t *e)
{
    *out = NULL;
    struct gy_buf text = {0};
    int rc = gy_file_read(path, "topology", &text, e);
    if (!rc) {
        rc = gy_config_parse(gy_buf_cstr(&text), gy_buf_size(&text), path, out, e);
    }
    gy_buf_fini(&text);
    return rc;
}
