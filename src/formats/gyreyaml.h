/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyreyaml.h - gyre's own YAML into a config. Other systems' files are format.h's. Threads: any.
 */
#ifndef GY_FORMATS_GYREYAML_H
#define GY_FORMATS_GYREYAML_H

#include "formats/config.h"

/* Fills *c (its topology and defaults already made); on failure *c is half filled. */
GYRE_NODISCARD int gy_gyreyaml_read(const char *text, size_t len, const char *file,
                                    struct gy_config *c, gyre_error_t *e);

#endif
