/* row_faults.c - describe the fault of a row of delimited text */
#include <stdio.h>

#include "worker.h"

/* Return the name of a column of the file, counted from 0, or NULL if the row is too long. */
static const char *column_name(const struct source *s, size_t file, size_t column)
{
	size_t c = 0;

	if (!s->by_name)
		return column < s->ncolumns ? s->columns[column] : NULL;
	while (c < s->by_name[file].nat && s->by_name[file].at[c] != column)
		c++;
	return c < s->by_name[file].nat ? s->columns[c] : NULL;
}

static void why_bad_quote(const struct source *s, size_t file, const struct csv_row *row,
			  struct reject *why)
{
	char found[8];
	uint8_t c = row->bad_byte;

	snprintf(found, sizeof found, c >= 0x20 && c < 0x7f ? "'%c'" : "\\x%02X", c);
	why->reason = "bad_quote";
	why->field = column_name(s, file, row->bad_column - 1);
	if (row->bad_in_quotes)
		snprintf(
			why->detail, sizeof why->detail,
			"column %zu: found %s after the closing quote, expected a delimiter or the line's end",
			row->bad_column, found);
	else
		snprintf(why->detail, sizeof why->detail,
			 "column %zu: found a quote inside an unquoted value, expected the whole "
			 "value in quotes and the quote doubled",
			 row->bad_column);
}

static void why_open(const struct source *s, size_t file, const struct csv_row *row,
		     struct reject *why)
{
	why->reason = "open_quote";
	why->field = column_name(s, file, row->bad_column - 1);
	snprintf(why->detail, sizeof why->detail,
		 "column %zu: found a quote without an end, expected a closing quote before the "
		 "input's end and within max_row, %llu bytes",
		 row->bad_column, (unsigned long long)s->max_row_bytes);
}

static void why_field_count(const struct source *s, size_t file, const struct csv_row *row,
			    struct reject *why)
{
	why->reason = "field_count";
	why->field = NULL;
	snprintf(why->detail, sizeof why->detail, "found %zu field%s, expected %zu", row->ncolumns,
		 row->ncolumns == 1 ? "" : "s", source_width(s, file));
}

void row_fault(const struct source *s, size_t file, const struct csv_row *row, struct reject *why)
{
	if (row->kind == CSV_BAD_QUOTE)
		why_bad_quote(s, file, row, why);
	else if (row->kind == CSV_OPEN)
		why_open(s, file, row, why);
	else
		why_field_count(s, file, row, why);
}
