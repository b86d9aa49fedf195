/* html.h - text, figures and drawings of the page */
#ifndef SALTMILL_PAGE_HTML_H
#define SALTMILL_PAGE_HTML_H

#include "bytes.h"

/* The page's head, with its styles, up to <body>; title: text. */
void html_begin(struct buf *out, const char *title);
void html_end(struct buf *out);

/* Text of anybody: bytes that are no UTF-8, or that a terminal would obey, as \xHH. */
void html_text(struct buf *out, struct bytes text);
/* A row key in HBase's \xHH form, shortened to max characters; "(begin)" for an empty one. */
void html_key(struct buf *out, struct bytes key, size_t max);
/* "8,000,320", "3.4 GB", "1.01". */
void html_count(struct buf *out, uint64_t n);
void html_bytes(struct buf *out, uint64_t n);

/* <svg ...> with its size in units of the drawing; label: what a screen reader says, text. */
void html_svg(struct buf *out, double width, double height, const char *label);
/* class is one of the styles: bar, target, foreseen, heat. */
void html_rect(struct buf *out, const char *class, double x, double y, double width, double height);
/* A rectangle as dark as share (0..1) says. */
void html_heat(struct buf *out, double x, double y, double width, double height, double share);
void html_line(struct buf *out, const char *class, double x1, double y1, double x2, double y2);
/* anchor: start, middle, end */
void html_label(struct buf *out, const char *anchor, double x, double y, const char *text);

#endif
