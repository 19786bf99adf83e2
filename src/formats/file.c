/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - see file.h. */
#include "formats/file.h"
#include "formats/format.h"
#include "formats/mark.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_all(int fd, const char *path, const char *what, struct gy_buf *text,
                    gyre_error_t *e)
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
        if (gy_buf_size(text) > GY_TEXT_MAX) {
            return gy_format_fail(e, GYRE_RANGE, path, "larger than %zu MB: not a %s",
                                  GY_TEXT_MAX >> 20, what);
        }
    }
}

int gy_file_read(const char *path, const char *what, struct gy_buf *text, gyre_error_t *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return gy_format_fail(e, GYRE_IO, path, "cannot be opened: %s", strerror(errno));
    }
    struct stat st;
    int rc;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        rc = gy_format_fail(e, GYRE_IO, path, "is a directory, not a %s", what);
    } else {
        rc = read_all(fd, path, what, text, e);
    }
    close(fd);
    return rc;
}
