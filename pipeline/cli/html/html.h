/* html.h - text, figures and drawings of the page */
#ifndef SALTMILL_PAGE_HTML_H
#define SALTMILL_PAGE_HTML_H

#include "bytes.h"

/* The page's head, with its styles, up to <main>; title: text. */
void html_begin(struct buf *out, const char *title);
/* The end, with the script. */
void html_end(struct buf *out);

/* Text of anybody: bytes that are no UTF-8, or that a terminal would obey, as \xHH. */
void html_text(struct buf *out, struct bytes text);
/* The same in a <code>. */
void html_code(struct buf *out, const char *text);
/* A row key that is in HBase's \xHH form, shortened to max characters; "(begin)" for "". */
void html_key(struct buf *out, const char *key, size_t max);
/* "8,000,320", "3.4 GB", "2013-05-01 12:30:00" (UTC). */
void html_count(struct buf *out, uint64_t n);
void html_bytes(struct buf *out, uint64_t n);
void html_time(struct buf *out, int64_t ms);

/*
 * A table that can be sorted, and filtered where it is long: heads are separated by '|', one that
 * begins with '#' is of numbers.  html_table_end closes it.
 */
void html_table(struct buf *out, const char *caption, const char *heads);
void html_table_end(struct buf *out);
/* Cells: a number, one shown as bytes, one with so many digits behind the point, a text. */
void html_count_cell(struct buf *out, uint64_t n);
void html_bytes_cell(struct buf *out, uint64_t n);
void html_real_cell(struct buf *out, int digits, double v, const char *unit);
void html_code_cell(struct buf *out, const char *text);
void html_time_cell(struct buf *out, int64_t ms);

/* <svg ...> with its size in units of the drawing; label: what a screen reader says, text. */
void html_svg(struct buf *out, double width, double height, const char *label);
/*
 * class is one of the styles: bar, target, foreseen, heat.  about: a text that is shown when it is
 * pointed at, or NULL.
 */
void html_rect(struct buf *out, const char *class, double x, double y, double width, double height,
	       const char *about);
void html_line(struct buf *out, const char *class, double x1, double y1, double x2, double y2);
/* anchor: start, middle, end */
void html_label(struct buf *out, const char *anchor, double x, double y, const char *text);

#endif
