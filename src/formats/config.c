/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - see config.h: from a path or a text to a config. A file is read whole, at most
 * FILE_MAX bytes of it, whatever it claims to be: a pipe, or a device without end, is bounded too.
 */
#include "formats/config.h"
#include "formats/gyreyaml.h"
#include "formats/value.h"
#include "formats/yaml_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX ((size_t)64 << 20) /* about 600 000 nodes */

typedef int read_fn(const char *text, size_t len, const char *file, struct gy_config *c,
                    gyre_error_t *e);

/* A format says by content whether a text is its own; the last row takes what nobody claimed. */
struct format {
    const char *name;
    bool (*claims)(const char *text, size_t len); /* NULL: always */
    read_fn *read;
};

static const struct format FORMATS[] = {
    {"gyre", NULL, gy_gyreyaml_read},
};

static read_fn *recognise(const char *text, size_t len)
{
    size_t i = 0;
    while (FORMATS[i].claims && !FORMATS[i].claims(text, len)) {
        i++;
    }
    return FORMATS[i].read;
}

void gy_config_free(struct gy_config *c)
{
    if (c) {
        gyre_topology_free(c->topology);
        gy_proxy_conf_fini(&c->proxy);
        free(c);
    }
}

int gy_config_parse(const char *text, size_t len, const char *file, struct gy_config **out,
                    gyre_error_t *e)
{
    *out = NULL;
    struct gy_config *c = calloc(1, sizeof *c);
    if (!c || !(c->topology = gyre_topology_new()) || gy_value_defaults(GY_SEC_PROXY, &c->proxy)) {
        gy_config_free(c);
        return gy_format_fail(e, GYRE_NOMEM, file, "out of memory");
    }
    int rc = recognise(text, len)(text, len, file, c, e);
    if (rc) {
        gy_config_free(c);
        return rc;
    }
    *out = c;
    return GYRE_OK;
}

static int read_all(int fd, const char *path, struct gy_buf *text, gyre_error_t *e)
{
    for (;;) {
        if (!gy_buf_reserve(text, (size_t)64 << 10)) {
            return gy_format_fail(e, GYRE_NOMEM, path, "out of memory");
        }
        ssize_t n = read(fd, text->data + text->len, text->cap - text->len);
        if (n == 0) {
            return GYRE_OK;
        }
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return gy_format_fail(e, GYRE_IO, path, "cannot be read: %s", strerror(errno));
        }
        text->len += (size_t)n;
        if (text->len > FILE_MAX) {
            return gy_format_fail(e, GYRE_RANGE, path, "larger than %zu MB: not a topology",
                                  FILE_MAX >> 20);
        }
    }
}

int gy_config_load(const char *path, struct gy_config **out, gyre_error_t *e)
{
    *out = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return gy_format_fail(e, GYRE_IO, path, "cannot be opened: %s", strerror(errno));
    }
    struct gy_buf text = {0};
    struct stat st;
    int rc;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        rc = gy_format_fail(e, GYRE_IO, path, "is a directory, not a topology file");
    } else {
        rc = read_all(fd, path, &text, e);
    }
    if (!rc) {
        rc = gy_config_parse(gy_buf_cstr(&text), gy_buf_size(&text), path, out, e);
    }
    gy_buf_fini(&text);
    close(fd);
    return rc;
}
