/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg_parts.h - the strokes of a chart: what has a look, and the look itself. Line or bar k has its
 * own colour, and its own dash and marker, or pattern. Threads: any.
 */
#ifndef GY_STUDY_SVG_PARTS_H
#define GY_STUDY_SVG_PARTS_H

#include "base/buf.h"

/* The document's begin with its styles, its title and heading; and its end. */
void gy_svg_begin(struct gy_buf *out, double width, double height, const char *title,
                  const char *heading);
void gy_svg_end(struct gy_buf *out);

void gy_svg_line(struct gy_buf *out, const char *class, double x1, double y1, double x2, double y2);
void gy_svg_text(struct gy_buf *out, const char *class, const char *anchor, double x, double y,
                 const char *text);
/* The same turned upwards, around its middle. */
void gy_svg_text_up(struct gy_buf *out, const char *class, double x, double y, const char *text);
/* What is written between the two is the text; the caller sees to its being plain. */
void gy_svg_open_text(struct gy_buf *out, const char *class, const char *anchor, double x,
                      double y);
void gy_svg_close_text(struct gy_buf *out);

/* Between the two: "M x y L x y ...". */
void gy_svg_open_path(struct gy_buf *out, size_t k);
void gy_svg_close_path(struct gy_buf *out);
void gy_svg_marker(struct gy_buf *out, size_t k, double x, double y);
void gy_svg_bar(struct gy_buf *out, size_t k, double x, double y, double width, double height);
/* What line or bar k looks like, for the legend. */
void gy_svg_sample(struct gy_buf *out, size_t k, bool bar, double x, double y);

#endif
