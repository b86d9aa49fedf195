/*
 * under_header.c - find lines of units, types or other names below the header
 *
 * Such a line has texts where all rows below it have numbers or times, and no value that a row has.
 */
#include "sniff_parts.h"

#define UNDER_MOST 3 /* such lines */
#define ROWS_LEAST 4 /* rows without which no line is unusual */

/*
 * Return true if the line is none of the rows below it. A row of data may have one word, such as
 * `unknown`, in place of all its numbers, so the last such line needs two.
 */
static bool is_under_header(const struct sniffed_shape *s, const struct lines *l, size_t line,
			    size_t rows, bool last)
{
	struct sniffed_row r = {0};
	struct header_evidence e = evidence_between(s, l, line, rows);

	row_split(s, l, line, s->end, &r);
	bool under = r.n == s->ncolumns && e.names > 1 && !e.values && !e.numbered &&
		     2 * e.names >= e.typed && (e.differ || !last);
	row_release(&r);
	return under;
}

/* Return the number of rows from this line on, up to ROWS_LEAST. */
static size_t count_rows(const struct sniffed_shape *s, const struct lines *l, size_t line)
{
	struct sniffed_row r = {0};
	size_t n = 0;

	for (; line < s->end && n < ROWS_LEAST; n++)
		line = next_row(s, l, row_split(s, l, line, s->end, &r));
	row_release(&r);
	return n;
}

void under_header_find(struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_row r = {0};
	size_t line[UNDER_MOST + 2] = {s->first}, n = 0;

	if (!s->header || s->widest || s->own_names || s->row_names)
		return;
	row_split(s, l, s->first, s->end, &r);
	if (row_count_values(&r) + 1 < s->ncolumns) { /* a title */
		row_release(&r);
		return;
	}
	for (; n <= UNDER_MOST && line[n] < s->end; n++)
		line[n + 1] = next_row(s, l, row_split(s, l, line[n], s->end, &r));
	row_release(&r);
	for (size_t under = n ? n - 1 : 0; under > 0 && !s->under; under--) {
		size_t rows = line[under + 1];
		bool all = count_rows(s, l, rows) == ROWS_LEAST;

		for (size_t i = 1; i <= under && all; i++)
			all = is_under_header(s, l, line[i], rows, i == under);
		if (!all)
			continue;
		s->under = under;
		s->header = false;
		s->header_line = s->first;
		s->first = rows;
	}
}
