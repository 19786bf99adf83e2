/* SPDX-License-Identifier: Apache-2.0 */
/* write_back.h - the law of write.h: a text is read back and must say what was to be said. Threads:
 * one an object. */
#ifndef GY_FORMATS_WRITE_BACK_H
#define GY_FORMATS_WRITE_BACK_H

#include "formats/write.h"

/* MISMATCH, or the parser's own reason, told to w->e. */
GYRE_NODISCARD int gy_write_back(const struct gy_writing *w);

#endif
