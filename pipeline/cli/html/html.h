/* html.h - writes text, figures and drawings of a page */
#ifndef SALTMILL_PAGE_HTML_H
#define SALTMILL_PAGE_HTML_H

#include "bytes.h"

/* Writes the head with the styles, up to <main>. title: plain text. */
void html_begin(struct buf *out, const char *title);
/* Writes the end of the page with the script. */
void html_end(struct buf *out);

/* Appends untrusted text: escapes HTML. Invalid UTF-8 and control bytes become \xHH. */
void html_text(struct buf *out, struct bytes text);
/* Appends the same in <code>. */
void html_code(struct buf *out, const char *text);
/* Appends a row key that is in HBase's \xHH form, cut at max characters; "(begin)" for "". */
void html_key(struct buf *out, const char *key, size_t max);
/* Append "8,000,320", "3.4 GB" and "2013-05-01 12:30:00" (UTC). */
void html_count(struct buf *out, uint64_t n);
void html_bytes(struct buf *out, uint64_t n);
void html_time(struct buf *out, int64_t ms);

/*
 * Opens a table that the script can sort, and filter if it is long. heads: separated by '|'; '#'
 * marks a column of numbers. html_table_end closes it.
 */
void html_table(struct buf *out, const char *caption, const char *heads);
void html_table_end(struct buf *out);
/*
 * Append a cell: a count, a size, a real number with so many decimals and a unit, a text, a time.
 */
void html_count_cell(struct buf *out, uint64_t n);
void html_bytes_cell(struct buf *out, uint64_t n);
void html_real_cell(struct buf *out, int digits, double v, const char *unit);
void html_code_cell(struct buf *out, const char *text);
void html_time_cell(struct buf *out, int64_t ms);

/* Opens an <svg> with its size in drawing units. label: plain text for screen readers. */
void html_svg(struct buf *out, double width, double height, const char *label);
/* class: a style such as bar, target, foreseen, heat. about: the tooltip, or NULL. */
void html_rect(struct buf *out, const char *class, double x, double y, double width, double height,
	       const char *about);
void html_line(struct buf *out, const char *class, double x1, double y1, double x2, double y2);
/* anchor: start, middle or end */
void html_label(struct buf *out, const char *anchor, double x, double y, const char *text);

#endif
