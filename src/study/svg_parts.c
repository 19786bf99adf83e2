/* SPDX-License-Identifier: Apache-2.0 */
/* svg_parts.c - see svg_parts.h. */
#include "study/svg_parts.h"

#define LOOKS 8

/* Each at least 4.5:1 against its ground, and apart for the colour-blind by dash and shape. */
static const struct {
    const char *light, *dark, *dash, *marker;
} LOOK[LOOKS] = {
    {"#0b62a8", "#6cb8ff", NULL, "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0"},
    {"#b3400d", "#ff9e64", "7 4", "M-4 -4h8v8h-8z"},
    {"#00735a", "#4fd1a5", "2 3", "M0 -5L5 4H-5z"},
    {"#8a3d8f", "#d7a1ff", "10 3 2 3", "M0 -5.5L5.5 0L0 5.5L-5.5 0z"},
    {"#7a5b00", "#e5c558", "14 4", "M0 5L5 -4H-5z"},
    {"#b3124f", "#ff8fb3", "5 2 1 2 1 2", "M-4 -1.5H-1.5V-4H1.5V-1.5H4V1.5H1.5V4H-1.5V1.5H-4z"},
    {"#44525a", "#b0bec5", "6 6", "M-5 -2H5V2H-5z"},
    {"#00707a", "#5fd9e6", "1 4", "M-2 -5H2V5H-2z"},
};

static void escape(struct gy_buf *out, const char *text)
{
    for (const char *p = text ? text : ""; *p; p++) {
        switch (*p) {
        case '&':
            gy_buf_puts(out, "&amp;");
            break;
        case '<':
            gy_buf_puts(out, "&lt;");
            break;
        case '>':
            gy_buf_puts(out, "&gt;");
            break;
        case '"':
            gy_buf_puts(out, "&quot;");
            break;
        default:
            gy_buf_putc(out, *p);
        }
    }
}

/* ---- the document ---- */

static void scheme(struct gy_buf *out, bool dark)
{
    gy_buf_printf(out,
                  ".bg{fill:%s}.bgs{stroke:%s}.ink{fill:%s}.title{fill:%s}.dim{fill:%s}"
                  ".grid{stroke:%s}.axis{stroke:%s}\n",
                  dark ? "#14171a" : "#ffffff", dark ? "#14171a" : "#ffffff",
                  dark ? "#e8eaed" : "#1a1d20", dark ? "#ffffff" : "#000000",
                  dark ? "#b3bac2" : "#555c63", dark ? "#31373d" : "#e1e4e8",
                  dark ? "#8d969f" : "#6b7279");
    for (size_t k = 0; k < LOOKS; k++) {
        const char *colour = dark ? LOOK[k].dark : LOOK[k].light;
        gy_buf_printf(out, ".s%zu{stroke:%s}.f%zu{fill:%s}", k, colour, k, colour);
    }
    gy_buf_putc(out, '\n');
}

static void patterns(struct gy_buf *out)
{
    static const char *const path[] = {"M-1 1L1 -1M0 6L6 0M5 7L7 5", "M0 3H6", "M3 0V6",
                                       "M0 0L6 6M0 6L6 0"};
    gy_buf_puts(out, "<defs>\n");
    for (size_t k = 0; k < sizeof path / sizeof path[0]; k++) {
        gy_buf_printf(out,
                      "<pattern id=\"p%zu\" width=\"6\" height=\"6\" "
                      "patternUnits=\"userSpaceOnUse\"><path class=\"bgs\" d=\"%s\" "
                      "stroke-width=\"1.6\"/></pattern>\n",
                      k + 1, path[k]);
    }
    for (size_t k = 0; k < LOOKS; k++) {
        gy_buf_printf(out, "<path id=\"m%zu\" d=\"%s\"/>\n", k, LOOK[k].marker);
    }
    gy_buf_puts(out, "</defs>\n");
}

void gy_svg_begin(struct gy_buf *out, double width, double height, const char *title,
                  const char *heading)
{
    gy_buf_printf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
                  "width=\"%.0f\" height=\"%.0f\" role=\"img\" aria-labelledby=\"t d\">\n"
                  "<title id=\"t\">gyre study ",
                  width, height, width, height);
    escape(out, title);
    gy_buf_puts(out, "</title>\n<desc id=\"d\">");
    escape(out, heading);
    gy_buf_puts(out, "</desc>\n<style>\n"
                     "text{font:13px system-ui,sans-serif}.title{font-size:15px;font-weight:600}"
                     ".line{fill:none;stroke-width:2}.grid,.axis{stroke-width:1}\n");
    scheme(out, false);
    gy_buf_puts(out, "@media (prefers-color-scheme:dark){\n");
    scheme(out, true);
    gy_buf_puts(out, "}\n</style>\n");
    patterns(out);
    gy_buf_printf(out, "<rect class=\"bg\" width=\"%.0f\" height=\"%.0f\"/>\n", width, height);
    gy_buf_puts(out, "<text class=\"dim\" x=\"20\" y=\"28\">gyre study ");
    escape(out, title);
    gy_buf_puts(out, ": ");
    escape(out, heading);
    gy_buf_puts(out, "</text>\n");
}

void gy_svg_end(struct gy_buf *out)
{
    gy_buf_puts(out, "</svg>\n");
}

/* ---- strokes ---- */

void gy_svg_line(struct gy_buf *out, const char *class, double x1, double y1, double x2, double y2)
{
    gy_buf_printf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                  class, x1, y1, x2, y2);
}

void gy_svg_open_text(struct gy_buf *out, const char *class, const char *anchor, double x, double y)
{
    gy_buf_printf(out, "<text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">", class,
                  anchor, x, y);
}

void gy_svg_close_text(struct gy_buf *out)
{
    gy_buf_puts(out, "</text>\n");
}

void gy_svg_text(struct gy_buf *out, const char *class, const char *anchor, double x, double y,
                 const char *text)
{
    gy_svg_open_text(out, class, anchor, x, y);
    escape(out, text);
    gy_svg_close_text(out);
}

void gy_svg_text_up(struct gy_buf *out, const char *class, double x, double y, const char *text)
{
    gy_buf_printf(out,
                  "<text class=\"%s\" text-anchor=\"middle\" "
                  "transform=\"translate(%.1f %.1f) rotate(-90)\">",
                  class, x, y);
    escape(out, text);
    gy_svg_close_text(out);
}

void gy_svg_open_path(struct gy_buf *out, size_t k)
{
    const char *dash = LOOK[k % LOOKS].dash;
    gy_buf_printf(out, "<path class=\"line s%zu\"", k % LOOKS);
    if (dash) {
        gy_buf_printf(out, " stroke-dasharray=\"%s\"", dash);
    }
    gy_buf_puts(out, " d=\"");
}

void gy_svg_close_path(struct gy_buf *out)
{
    gy_buf_puts(out, "\"/>\n");
}

void gy_svg_marker(struct gy_buf *out, size_t k, double x, double y)
{
    gy_buf_printf(out, "<use href=\"#m%zu\" class=\"f%zu\" x=\"%.1f\" y=\"%.1f\"/>\n", k % LOOKS,
                  k % LOOKS, x, y);
}

void gy_svg_bar(struct gy_buf *out, size_t k, double x, double y, double width, double height)
{
    gy_buf_printf(out,
                  "<rect class=\"f%zu\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
                  k % LOOKS, x, y, width, height);
    if (k % LOOKS) {
        gy_buf_printf(out,
                      "<rect fill=\"url(#p%zu)\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                      "height=\"%.1f\"/>\n",
                      (k - 1) % 4 + 1, x, y, width, height);
    }
}

void gy_svg_sample(struct gy_buf *out, size_t k, bool bar, double x, double y)
{
    if (bar) {
        gy_svg_bar(out, k, x, y - 6, 32, 12);
        return;
    }
    gy_svg_open_path(out, k);
    gy_buf_printf(out, "M%.1f %.1f L%.1f %.1f", x, y, x + 34, y);
    gy_svg_close_path(out);
    gy_svg_marker(out, k, x + 17, y);
}
