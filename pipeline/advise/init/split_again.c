/*
 * split_again.c - split a row of delimited text a second time, for a proof
 *
 * A few lines for each form, without libcsv and without a fast path.
 */
#include <ctype.h>
#include <stdlib.h>

#include "mem.h"
#include "sniff_parts.h"
#include "value_proof.h"

void split_release(struct split_row *r)
{
	mem_free(r->value);
	buf_release(&r->text);
}

static void add_value(struct split_row *r, size_t at, bool quoted)
{
	r->value = mem_grow(r->value, r->n, sizeof *r->value);
	r->value[r->n++] = (struct split_value){at, r->text.len - at, quoted};
}

static void split_widths(struct split_row *r, const struct csv_source *csv, struct bytes row)
{
	const uint8_t *p = row.ptr, *end = p + row.len;

	for (size_t k = 0; k < csv->nwidths; k++) {
		size_t at = r->text.len;
		bool last = k + 1 == csv->nwidths;

		for (uint32_t n = 0; p < end && (last || n < csv->widths[k]); n++) {
			size_t len = utf8_char(p, end);

			len = len ? len : 1;
			buf_append(&r->text, p, len);
			p += len;
		}
		add_value(r, at, false);
	}
}

/* Append the byte that the letter after a backslash means. Return the bytes used. */
static size_t put_escape(struct buf *out, enum escapes escapes, const uint8_t *p, size_t left)
{
	static const char both[] = "b\bn\nr\rt\t", mysql[] = "0\0Z\x1a", postgres[] = "f\fv\v";
	const char *letters[] = {both, escapes == ESCAPES_MYSQL ? mysql : postgres};
	const size_t lengths[] = {8, 4};
	unsigned code = 0;
	size_t n = 0;

	for (size_t k = 0; k < 2 && escapes != ESCAPES_PLAIN; k++)
		for (size_t i = 0; i < lengths[k]; i += 2)
			if (*p == (uint8_t)letters[k][i]) {
				buf_put(out, (uint8_t)letters[k][i + 1]);
				return 1;
			}
	if (escapes == ESCAPES_POSTGRES && *p == 'x' && left > 1 && isxdigit(p[1])) {
		char hex[3] = {(char)p[1], (char)(left > 2 && isxdigit(p[2]) ? p[2] : 0), 0};

		buf_put(out, (uint8_t)strtoul(hex, NULL, 16));
		return 1 + strlen(hex);
	}
	while (escapes == ESCAPES_POSTGRES && n < 3 && n < left && p[n] >= '0' && p[n] <= '7')
		code = code * 8 + (unsigned)(p[n++] - '0');
	buf_put(out, n ? (uint8_t)code : *p);
	return n ? n : 1;
}

struct row_marks {
	struct bytes delimiter;
	bool one;    /* the delimiter is one byte */
	bool blanks; /* it is a run of blanks */
	bool last;   /* the value has the rest of the row */
};

/* Return the length of the delimiter at `p` < `end`, or 0. */
static inline size_t mark_at(const struct row_marks *m, const uint8_t *p, const uint8_t *end)
{
	size_t n = 0;

	if (m->one)
		return *p == *m->delimiter.ptr;
	while (m->blanks && !m->last && p + n < end && (p[n] == ' ' || p[n] == '\t'))
		n++;
	if (m->blanks || m->last)
		return n;
	return (size_t)(end - p) >= m->delimiter.len &&
			       memcmp(p, m->delimiter.ptr, m->delimiter.len) == 0
		       ? m->delimiter.len
		       : 0;
}

static void begin_value(struct row_marks *m, const struct csv_source *csv, bool last)
{
	m->delimiter = csv->long_delimiter.len ? csv->long_delimiter : bytes_of(&csv->delimiter, 1);
	m->blanks = csv->blanks;
	m->last = csv->extra == EXTRA_LAST && last;
	m->one = m->delimiter.len == 1 && !m->blanks && !m->last;
}

/* Return the quote that ends a value, which a delimiter or the end of the row follows, or NULL. */
static const uint8_t *end_of_quotes(const struct row_marks *m, const struct csv_source *csv,
				    const uint8_t *p, const uint8_t *end)
{
	for (; p < end; p++) {
		const uint8_t *next = p + 1;

		if (*p != csv->quote)
			continue;
		if (next < end && *next == csv->quote) {
			p = next;
			continue;
		}
		while (csv->trim && next < end && (*next == ' ' || *next == '\t') &&
		       !mark_at(m, next, end))
			next++;
		if (next == end || mark_at(m, next, end))
			return p;
	}
	return NULL;
}

/* Append the text, in which two quotes are one. */
static void put_inside(struct buf *out, uint8_t quote, const uint8_t *p, const uint8_t *end)
{
	for (; p < end; p++) {
		p += *p == quote && p + 1 < end && p[1] == quote;
		buf_put(out, *p);
	}
}

void split_again(struct split_row *r, const struct csv_source *csv, size_t ncolumns,
		 struct bytes row)
{
	row = csv->blanks ? without_blanks(row) : row;
	const uint8_t *p = row.ptr, *end = p + row.len;
	struct row_marks m;

	r->n = r->text.len = 0;
	if (csv->nwidths) {
		split_widths(r, csv, row);
		return;
	}
	for (;;) {
		size_t at = r->text.len;
		const uint8_t *q = p;
		bool quoted = false;

		begin_value(&m, csv, r->n + 1 == ncolumns);
		while (csv->trim && q < end && (*q == ' ' || *q == '\t') && *q != csv->delimiter)
			q++;
		if (csv->quotes != QUOTES_NONE && q < end && *q == csv->quote) {
			quoted = true;
			p = q + 1;
		}
		if (quoted && csv->quotes == QUOTES_LENIENT) {
			q = end_of_quotes(&m, csv, p, end);
			quoted = q != NULL;
			if (quoted)
				put_inside(&r->text, csv->quote, p, q);
			p = quoted ? q + 1 : p - 1;
			while (quoted && p < end && !mark_at(&m, p, end))
				p++;
		}
		bool inside = quoted && csv->quotes != QUOTES_LENIENT;
		while (p < end && (inside || !mark_at(&m, p, end))) {
			if (csv->escapes && *p == '\\' && p + 1 < end) {
				if (p[1] == 'N')
					buf_put(&r->text, *p++);
				else
					p++;
				p += put_escape(&r->text, csv->escapes, p, (size_t)(end - p));
			} else if (quoted && *p == csv->quote) {
				bool twice = inside && p + 1 < end && p[1] == csv->quote;

				if (twice)
					buf_put(&r->text, *p);
				inside = twice;
				p += twice ? 2 : 1;
			} else {
				if (inside || !quoted)
					buf_put(&r->text, *p);
				p++;
			}
		}
		add_value(r, at, quoted);
		if (p >= end)
			return;
		p += mark_at(&m, p, end);
	}
}
