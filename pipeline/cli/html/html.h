/* html.h - writes text, figures and drawings of a page */
#ifndef SALTMILL_PAGE_HTML_H
#define SALTMILL_PAGE_HTML_H

#include "bytes.h"

/* Writes the head of the page, with the styles, up to <main>. `title` is plain text. */
void html_begin(struct buf *out, const char *title);
/* Writes the end of the page, which contains the script. */
void html_end(struct buf *out);

/* Appends untrusted text. HTML is escaped. Invalid UTF-8 and control bytes become \xHH. */
void html_text(struct buf *out, struct bytes text);
/* Appends text as html_text does, inside <code>. */
void html_code(struct buf *out, const char *text);
/*
 * Appends a row key in HBase's \xHH form, cut after `max` characters. Appends "(begin)" for an
 * empty key.
 */
void html_key(struct buf *out, struct bytes key, size_t max);
/* Append "8,000,320", "3.4 GB" or "2013-05-01 12:30:00" (UTC). */
void html_count(struct buf *out, uint64_t n);
void html_bytes(struct buf *out, uint64_t n);
void html_time(struct buf *out, int64_t ms);

/*
 * Opens a table that the script can sort. If the table is long, the script can also filter it.
 * `heads` is a list separated by '|'. A '#' marks a column of numbers. html_table_end closes the
 * table.
 */
void html_table(struct buf *out, const char *caption, const char *heads);
void html_table_end(struct buf *out);
/*
 * Append a cell with a count, a size, a real number (with decimals and a unit), a text, or a time.
 */
void html_count_cell(struct buf *out, uint64_t n);
void html_bytes_cell(struct buf *out, uint64_t n);
void html_real_cell(struct buf *out, int digits, double v, const char *unit);
void html_code_cell(struct buf *out, const char *text);
void html_time_cell(struct buf *out, int64_t ms);

/* Opens an <svg> with its size in drawing units. `label` is plain text for screen readers. */
void html_svg(struct buf *out, double width, double height, const char *label);
/*
 * Draws a rectangle. `class` is a style such as bar, target, foreseen or heat. `about` is the
 * tooltip, or NULL.
 */
void html_rect(struct buf *out, const char *class, double x, double y, double width, double height,
	       const char *about);
void html_line(struct buf *out, const char *class, double x1, double y1, double x2, double y2);
/* Draws a text. `anchor` is start, middle or end. */
void html_label(struct buf *out, const char *anchor, double x, double y, const char *text);

#endif
