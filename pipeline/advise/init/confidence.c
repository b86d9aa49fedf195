/*
 * confidence.c - measure how sure the decisions about delimited text are, and write the figures
 *
 * All figures are shares of the rows, columns or values of the sample. `saltmill init --help`
 * explains them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "sniff_parts.h"

#define LOOK_ROWS 20000
#define LEAST	  0.5 /* a smaller share of rows with the usual number of values is a doubt */

static size_t count_byte(struct bytes t, uint8_t byte)
{
	size_t n = 0;

	for (size_t i = 0; i < t.len; i++)
		n += t.ptr[i] == byte;
	return n;
}

/* Return the share of the rows that have as many of these bytes as the first row. */
static double share_of(const struct sniffed_shape *s, const struct lines *l, uint8_t byte)
{
	size_t first = next_row(s, l, s->first), rows = 0, equal = 0;
	size_t want = first < s->end ? count_byte(line_text(l, first), byte) : 0;

	for (size_t i = first; i < s->end && want && rows < LOOK_ROWS; rows++) {
		equal += count_byte(line_text(l, i), byte) == want;
		i = next_row(s, l, i + 1);
	}
	return rows ? (double)equal / (double)rows : 0;
}

void confidence_measure(struct sniffed_shape *s, const struct lines *l)
{
	struct confidence *found = &s->confidence;
	struct sniffed_row r = {0};
	size_t rows = 0, equal = 0;

	*found = (struct confidence){0};
	if (s->one || s->special || s->by_name || s->delimiter == ' ')
		return;
	for (size_t i = next_row(s, l, s->first); i < s->end && rows < LOOK_ROWS; rows++) {
		i = next_row(s, l, row_split(s, l, i, s->end, &r));
		equal += r.n == s->ncolumns;
	}
	row_release(&r);
	found->share = rows ? (double)equal / (double)rows : 0;
	for (const char *d = ",;\t|^~"; *d; d++) {
		double share = (uint8_t)*d == s->delimiter ? 0 : share_of(s, l, (uint8_t)*d);

		if (share > found->next_share) {
			found->next = (uint8_t)*d;
			found->next_share = share;
		}
	}
	bool ragged = s->header && s->missing && !s->extra && !s->widest && s->evidence.names &&
		      !s->evidence.values;
	if (found->share < LEAST && !ragged && !s->doubt)
		s->doubt = "most rows have another number of values than the first one; see "
			   "`delimiter`";
}

static void put_byte(uint8_t byte, struct buf *out)
{
	buf_printf(out, byte == '\t' ? "'\\t'" : byte == HIVE_DELIMITER ? "'\\x01'" : "'%c'", byte);
}

void confidence_put(const struct sniffed_shape *s, struct buf *out)
{
	const struct confidence *c = &s->confidence;
	const struct header_evidence *e = &s->evidence;
	size_t all = e->names + e->values;
	bool header = s->header || s->under;

	if (c->share > 0) {
		buf_append_str(out, "    # delimiter ");
		put_byte(s->delimiter, out);
		buf_printf(out, ": %.0f %% of the rows have %zu values", 100 * c->share,
			   s->ncolumns);
		if (c->next) {
			buf_append_str(out, "; next: ");
			put_byte(c->next, out);
			buf_printf(out, " %.0f %%", 100 * c->next_share);
		}
		buf_append_str(out, "\n");
	}
	if (c->share > 0 && all)
		buf_printf(out, "    # %s: %.0f %%, as %zu of %zu columns show\n",
			   header ? "header" : "no header",
			   100.0 * (double)(header ? e->names : e->values) / (double)all,
			   header ? e->names : e->values, all);
}

void confidence_put_signs(const struct columns *c, struct buf *out)
{
	const struct signs *next = &sign_pairs[c->signs_next];

	buf_printf(out, "   # %zu columns of numbers; next: decimal: '%s' ", c->signs_typed,
		   next->decimal ? next->decimal : ".");
	if (next->thousands)
		buf_printf(out, "with thousands: '%s' ", next->thousands);
	buf_printf(out, "%zu\n", c->signs_next_typed);
}

/* Append a day as YYYY-MM-DD. */
static void put_day(uint64_t seconds, struct buf *out)
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (gmtime_r(&t, &tm))
		buf_printf(out, "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

void confidence_put_time(const struct columns *c, const struct sniffed *s, struct buf *out)
{
	static const struct {
		const char *unit;
		uint64_t in_s;
	} units[] = {{"s", 1}, {"ms", 1000}, {"us", 1000000}, {"ns", 1000000000}};
	const struct numbers *n = &s->numbers[c->signs];

	for (size_t i = 0; i < 4 && s->unit; i++) {
		if (strcmp(units[i].unit, s->unit) != 0)
			continue;
		buf_append_str(out, "; 100 % are from ");
		put_day(n->least / units[i].in_s, out);
		buf_append_str(out, " to ");
		put_day(n->most / units[i].in_s, out);
	}
	if (s->format && s->ordered && (s->format[1] == 'd' || s->format[1] == 'm'))
		buf_printf(out, "; day and month: 100 %%; next: the other order %.0f %%",
			   100.0 * (double)s->swappable / (double)s->ordered);
}
