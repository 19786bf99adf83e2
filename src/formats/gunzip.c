/* SPDX-License-Identifier: Apache-2.0 */
/* gunzip.c - see gunzip.h. */
#include "formats/gunzip.h"
#include "formats/mark.h"

#define ZLIB_CONST
#include <zlib.h>

#define STEP        ((size_t)256 << 10)
#define GZIP_WINDOW (15 + 16) /* the largest window; +16: gzip, nothing else */

bool gy_is_gzip(struct gy_slice bytes)
{
    return bytes.n >= 2 && bytes.p[0] == 0x1f && bytes.p[1] == 0x8b;
}

/* One step; *done at the end of the last member. */
static int inflate_some(z_stream *z, struct gy_buf *out, const char *file, bool *done,
                        gyre_error_t *e)
{
    if (!gy_buf_reserve(out, STEP)) {
        return gy_format_fail(e, GYRE_NOMEM, file, "out of memory");
    }
    z->next_out = out->data + out->len;
    z->avail_out = STEP;
    int got = inflate(z, Z_NO_FLUSH);
    out->len += STEP - z->avail_out;
    if (got == Z_MEM_ERROR) {
        return gy_format_fail(e, GYRE_NOMEM, file, "out of memory");
    }
    if (got == Z_STREAM_END) {
        *done = z->avail_in == 0;
        return !*done && inflateReset(z) != Z_OK
                   ? gy_format_fail(e, GYRE_SYNTAX, file, "broken gzip")
                   : GYRE_OK;
    }
    if (got == Z_BUF_ERROR || (got == Z_OK && z->avail_in == 0 && z->avail_out)) {
        return gy_format_fail(e, GYRE_SYNTAX, file, "the gzip ends in the middle: a file cut off?");
    }
    return got == Z_OK ? GYRE_OK
                       : gy_format_fail(e, GYRE_SYNTAX, file, "broken gzip: %s",
                                        z->msg ? z->msg : "not what it claims to be");
}

int gy_gunzip(struct gy_slice bytes, size_t most, struct gy_buf *out, const char *file,
              gyre_error_t *e)
{
    z_stream z = {.next_in = bytes.p, .avail_in = (unsigned)bytes.n};
    if (inflateInit2(&z, GZIP_WINDOW) != Z_OK) {
        return gy_format_fail(e, GYRE_NOMEM, file, "out of memory");
    }
    int rc = GYRE_OK;
    for (bool done = false; !rc && !done;) {
        rc = inflate_some(&z, out, file, &done, e);
        if (!rc && gy_buf_size(out) > most) {
            rc = gy_format_fail(e, GYRE_RANGE, file, "unpacks to more than %zu MB: not a topology",
                                most >> 20);
        }
    }
    inflateEnd(&z);
    return rc;
}
