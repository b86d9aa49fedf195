/*
 * row_fit.c - find rows of a job that do not look like the other rows
 *
 * A heading of a page, a repeated header or a total may be a valid row of texts. It shows in the
 * kinds of its values: texts where other rows have numbers or times, and no value where other rows
 * have one. The values are those that the load reads, so the check is independent of how init
 * splits lines.
 */
#include "event.h"
#include "mem.h"
#include "sniff_parts.h"

#define USUAL 0.9 /* share of the values that gives a column its kind */
#define RARE  10  /* unusual rows are at most one of this many */
#define MANY  20  /* among so many numbers or times, a single text is unusual */
#define LEAST 4	  /* rows without which no row is usual */

/* bits of a value beside its kind, and of a row */
enum { IS_NAME = 0x10 };
enum { ROW_LONE = 1, ROW_TOTAL = 2, ROW_BEGINS_TOTAL = 4, ROW_MARK = 8, ROW_SHORT = 16 };

struct fit_row {
	uint64_t line;
	unsigned is;
};

struct row_fit {
	const char *const *names;
	size_t ncolumns;
	struct bytes delimiter;
	struct fit_row *row;
	size_t n;
	struct buf kinds; /* a byte for each value of each row */
};

struct row_fit *row_fit_new(const char *const *names, size_t n, const struct csv_source *csv)
{
	struct row_fit *f = mem_calloc(1, sizeof *f);

	f->names = names;
	f->ncolumns = n;
	f->delimiter = csv->nwidths		 ? bytes_of("", 0)
		       : csv->long_delimiter.len ? csv->long_delimiter
						 : bytes_of(&csv->delimiter, 1);
	return f;
}

void row_fit_free(struct row_fit *f)
{
	mem_free(f->row);
	buf_release(&f->kinds);
	mem_free(f);
}

static size_t count_delimiters(const struct row_fit *f, struct bytes raw)
{
	const uint8_t *end = raw.ptr + raw.len, *p = raw.ptr;
	size_t n = 0;

	while (p && p < end) {
		p = memmem(p, (size_t)(end - p), f->delimiter.ptr, f->delimiter.len);
		if (p) {
			p += f->delimiter.len;
			n++;
		}
	}
	return n;
}

/* Return ROW_LONE for a row without a delimiter, and ROW_SHORT for a row with too few. */
static unsigned length_of(const struct row_fit *f, struct bytes raw)
{
	size_t n = f->delimiter.len && raw.len ? count_delimiters(f, raw) : f->ncolumns;

	return n + 1 >= f->ncolumns ? 0 : n ? ROW_SHORT : ROW_LONE;
}

void row_fit_see(struct row_fit *f, const struct event *ev)
{
	struct fit_row row = {.line = ev->line};
	bool first = true;

	f->row = mem_grow(f->row, f->n, sizeof *f->row);
	for (size_t k = 0; k < f->ncolumns; k++) {
		const struct column *c = k < ev->ncolumns ? &ev->columns[k] : NULL;
		struct bytes t = c && !c->absent ? bytes_of(c->ptr, c->len) : bytes_of("", 0);
		uint8_t kind = (uint8_t)kind_of_text(t);
		bool name = kind != KIND_EMPTY && bytes_eq(t, bytes_str(f->names[k]));

		if (kind != KIND_EMPTY && first) {
			first = false;
			enum total_word word = total_word(t);
			row.is |= word == TOTAL_WORD ? ROW_TOTAL : 0;
			row.is |= word == TOTAL_FIRST ? ROW_BEGINS_TOTAL : 0;
			row.is |= t.ptr[0] == '#' ? ROW_MARK : 0;
		}
		buf_put(&f->kinds, name ? kind | IS_NAME : kind);
	}
	row.is |= length_of(f, ev->raw);
	f->row[f->n++] = row;
}

struct fit_column {
	size_t n, kinds[KINDS];
	enum text_kind usual; /* KIND_TEXT if the values have several kinds */
	bool full;	      /* few rows have no value */
};

static void see_columns(const struct row_fit *f, struct fit_column *c)
{
	for (size_t i = 0; i < f->n; i++)
		for (size_t k = 0; k < f->ncolumns; k++) {
			unsigned kind = f->kinds.ptr[i * f->ncolumns + k] & 0xf;

			c[k].kinds[kind]++;
			c[k].n += kind > KIND_NULL;
		}
	for (size_t k = 0; k < f->ncolumns; k++) {
		c[k].usual = KIND_TEXT;
		c[k].full = c[k].kinds[KIND_EMPTY] * RARE <= f->n;
		for (int kind = KIND_NUMBER; kind <= KIND_TIME; kind++)
			if ((double)c[k].kinds[kind] >= USUAL * (double)c[k].n && c[k].n >= LEAST)
				c[k].usual = (enum text_kind)kind;
	}
}

/* Return true if row `i` does not look like the others. */
static bool is_odd(const struct row_fit *f, const struct fit_column *c, size_t i, bool ragged)
{
	size_t filled = 0, names = 0, breaks = 0, gaps = 0, only = 0;
	unsigned is = f->row[i].is;

	for (size_t k = 0; k < f->ncolumns; k++) {
		uint8_t v = f->kinds.ptr[i * f->ncolumns + k];
		unsigned kind = v & 0xf;

		filled += kind != KIND_EMPTY;
		names += (v & IS_NAME) != 0;
		breaks += c[k].usual != KIND_TEXT && kind == KIND_TEXT;
		only += c[k].usual != KIND_TEXT && kind == KIND_TEXT && c[k].n >= MANY &&
			c[k].kinds[KIND_TEXT] == 1;
		gaps += c[k].full && kind == KIND_EMPTY;
	}
	bool fits = ragged && f->kinds.ptr[i * f->ncolumns] == c->usual && c->usual != KIND_TEXT;
	if ((is & ROW_LONE) && !fits)
		return true;
	if (names > 1 || (names && names == filled))
		return true;
	if ((is & ROW_TOTAL) && (filled < f->ncolumns || breaks || f->ncolumns == 2))
		return true;
	return only || breaks > 1 || (breaks && (gaps || (is & ROW_MARK))) ||
	       ((is & ROW_BEGINS_TOTAL) && gaps) || (filled <= 1 && gaps > 1);
}

uint64_t row_fit_judge(const struct row_fit *f, uint64_t *line)
{
	struct fit_column *c = mem_calloc(f->ncolumns + 1, sizeof *c);
	uint64_t odd = 0;
	size_t lone = 0, others = 0;

	see_columns(f, c);
	for (size_t i = 0; i < f->n; i++) {
		lone += (f->row[i].is & ROW_LONE) != 0;
		others += (f->row[i].is & ROW_SHORT) != 0;
	}
	for (size_t i = 0; i < f->n && f->n >= LEAST; i++)
		if (is_odd(f, c, i, others || lone * RARE > f->n) && !odd++)
			*line = f->row[i].line;
	mem_free(c);
	return odd;
}
