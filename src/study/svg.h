/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg.h - the charts of a result as one SVG document, one below the other. It follows the reader's
 * light or dark scheme, and tells lines apart by dash and marker, bars by pattern, never by colour
 * alone. Threads: any.
 */
#ifndef GY_STUDY_SVG_H
#define GY_STUDY_SVG_H

#include "study/study.h"

void gy_svg_write(struct gy_buf *out, const struct gy_study *s, const struct gy_result *r);

#endif
