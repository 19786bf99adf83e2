/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_config.c - any bytes as a topology file. Whatever is accepted must survive being written and
 * read again; whatever is refused must say why.
 */
#include "formats/config.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gy_config *c, *again;
    gyre_error_t e = {0};
    int rc = gy_config_parse((const char *)data, size, "fuzz", &c, &e);
    if (rc) {
        must(rc < 0 && !c && *e.message && e.code == rc);
        return 0;
    }
    struct gy_buf once = {0}, twice = {0};
    gy_config_dump(c->topology, &c->proxy, &once);
    must(gy_config_parse(gy_buf_cstr(&once), gy_buf_size(&once), "again", &again, &e) == GYRE_OK);
    gy_config_dump(again->topology, &again->proxy, &twice);
    must(gy_buf_size(&once) == gy_buf_size(&twice) &&
         memcmp(gy_buf_head(&once), gy_buf_head(&twice), gy_buf_size(&once)) == 0);
    gy_buf_fini(&once);
    gy_buf_fini(&twice);
    gy_config_free(again);
    gy_config_free(c);
    return 0;
}
