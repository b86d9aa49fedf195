/*
 * row_fit.c - find rows of a job that do not look like the other rows
 *
 * A heading of a page, a repeated header or a total may be a valid row of texts. It shows in the
 * kinds of its values: texts where other rows have numbers or times, and no value where other rows
 * have one. The values are those that the load reads, so the check is independent of how init
 * splits lines.
 */
#include <ctype.h>

#include "event.h"
#include "mem.h"
#include "sniff_parts.h"

#define USUAL	      0.9   /* share of the values that gives a column its kind */
#define RARE	      10    /* unusual rows are at most one of this many */
#define MANY	      20    /* among so many numbers or times, a single text is unusual */
#define FIRST_KIND    0x40  /* no byte of a pattern is 0 */
#define PATTERNS_MOST 65536 /* further patterns are not judged, which limits the memory */
#define LEAST	      4	    /* rows without which no row is usual */

/* bits of a value beside its kind, and of a row */
enum { IS_NAME = 0x10 };
enum {
	ROW_LONE = 1,
	ROW_TOTAL = 2,
	ROW_BEGINS_TOTAL = 4,
	ROW_MARK = 8,
	ROW_SHORT = 16,
	ROW_NAMES = 32 /* each value may be a name, as in the header of a second table */
};

/* Rows whose values have the same kinds. They are all like the others, or none of them is. */
struct fit_row {
	uint64_t line, n; /* the line of the first row, and the number of rows */
	unsigned is;
	const char *kinds; /* FIRST_KIND + the kind of each value */
};

struct row_fit {
	struct bytes *names;
	bool *words; /* by column: a text has no digit, so it may be a name, and not a code as 2A */
	size_t ncolumns;
	struct bytes delimiter;
	struct fit_row *row;
	size_t n;
	uint64_t rows;
	struct name_index patterns; /* by kinds: index in `row` + 1 */
	struct buf kinds;	    /* of the row that row_fit_see sees */
	uint64_t since;		    /* rows after the last that may be a total */
	struct amounts {
		double last, before; /* of the last two rows; -1 if they are no plain numbers */
	} * amounts;		     /* by column */
	struct arena arena;
};

struct row_fit *row_fit_new(const char *const *names, size_t n, const struct csv_source *csv)
{
	struct row_fit *f = mem_calloc(1, sizeof *f);

	f->names = mem_calloc(n + 1, sizeof *f->names);
	f->words = mem_calloc(n + 1, sizeof *f->words);
	f->amounts = mem_calloc(n + 1, sizeof *f->amounts);
	for (size_t i = 0; i < n; i++)
		f->names[i] = bytes_str(names[i]);
	f->ncolumns = n;
	bool marks = !csv->nwidths && !csv->blanks && csv->extra != EXTRA_LAST;
	f->delimiter = !marks			 ? bytes_of("", 0)
		       : csv->long_delimiter.len ? csv->long_delimiter
						 : bytes_of(&csv->delimiter, 1);
	return f;
}

void row_fit_free(struct row_fit *f)
{
	mem_free(f->names);
	mem_free(f->words);
	mem_free(f->amounts);
	mem_free(f->row);
	names_release(&f->patterns);
	buf_release(&f->kinds);
	arena_release(&f->arena);
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

/* Count the row with those that have the same kinds. */
static void add_row(struct row_fit *f, uint64_t line, unsigned is)
{
	f->rows++;
	buf_put(&f->kinds, (uint8_t)(FIRST_KIND + is));
	buf_put(&f->kinds, 0);
	const struct name_entry *known = names_find(&f->patterns, (const char *)f->kinds.ptr);
	if (known) {
		f->row[known->number - 1].n++;
		return;
	}
	if (f->n == PATTERNS_MOST)
		return;
	const char *kinds = arena_strdup(&f->arena, (const char *)f->kinds.ptr);
	f->row = mem_grow(f->row, f->n, sizeof *f->row);
	f->row[f->n++] = (struct fit_row){.line = line, .n = 1, .is = is, .kinds = kinds};
	names_add(&f->patterns, kinds)->number = f->n;
}

static struct bytes value_at(const struct event *ev, size_t column)
{
	const struct column *c = column < ev->ncolumns ? &ev->columns[column] : NULL;

	return c && !c->absent ? bytes_of(c->ptr, c->len) : bytes_of("", 0);
}

/* Return a number of digits and a point, or -1. */
static double amount_of(struct bytes t)
{
	double whole = 0, unit = 0;

	for (size_t i = 0; i < t.len; i++) {
		if (t.ptr[i] == '.' && unit == 0 && i) {
			unit = 1;
		} else if (!isdigit(t.ptr[i]) || t.len > 15) {
			return -1;
		} else {
			unit /= 10;
			whole = unit > 0 ? whole + unit * (t.ptr[i] - '0')
					 : whole * 10 + (t.ptr[i] - '0');
		}
	}
	return t.len ? whole : -1;
}

/*
 * Return true if the row may be a total or a count of the rows above it. A sum of two rows or more is
 * not below the sum of the last two, unless some numbers are negative. In a list of words with their
 * frequencies, `total` is one of the words.
 */
static bool may_be_total(const struct row_fit *f, const struct event *ev)
{
	bool any = false;

	for (size_t k = 0; k < f->ncolumns; k++) {
		const struct amounts *a = &f->amounts[k];
		double v = amount_of(value_at(ev, k));

		if (v < 0)
			continue;
		any = true;
		if (f->since < 2 || a->last < 0 || a->before < 0 || v >= a->last + a->before ||
		    v == (double)f->since || v == (double)f->rows)
			return true;
	}
	return !any;
}

static void note_amounts(struct row_fit *f, const struct event *ev)
{
	for (size_t k = 0; k < f->ncolumns; k++)
		f->amounts[k] = (struct amounts){.last = amount_of(value_at(ev, k)),
						 .before = f->amounts[k].last};
}

void row_fit_see(struct row_fit *f, const struct event *ev)
{
	unsigned is = 0;
	bool first = true, names = f->ncolumns > 2;

	f->kinds.len = 0;
	for (size_t k = 0; k < f->ncolumns; k++) {
		struct bytes t = value_at(ev, k);
		uint8_t kind = (uint8_t)kind_of_text(t);
		bool name = kind != KIND_EMPTY && bytes_eq(t, f->names[k]);

		if (kind != KIND_EMPTY && first) {
			first = false;
			enum total_word word = total_word(t);
			bool one_word = !memchr(t.ptr, ' ', t.len); /* not Grand total */
			is |= word == TOTAL_WORD && (!one_word || may_be_total(f, ev)) ? ROW_TOTAL
										       : 0;
			is |= word == TOTAL_FIRST ? ROW_BEGINS_TOTAL : 0;
			is |= t.ptr[0] == '#' ? ROW_MARK : 0;
		}
		names = names && kind == KIND_TEXT && !has_digit(t) && is_name(t);
		f->words[k] = f->words[k] || (kind == KIND_TEXT && !has_digit(t));
		buf_put(&f->kinds, (uint8_t)(FIRST_KIND + (name ? kind | IS_NAME : kind)));
	}
	f->since = is & ROW_TOTAL ? 0 : f->since + 1;
	note_amounts(f, ev);
	add_row(f, ev->line, is | length_of(f, ev->raw) | (names ? ROW_NAMES : 0));
}

/* Return the kind of a value, with IS_NAME. */
static unsigned kind_at(const struct fit_row *r, size_t column)
{
	return (uint8_t)r->kinds[column] - FIRST_KIND;
}

struct fit_column {
	uint64_t n, kinds[KINDS];
	enum text_kind usual; /* KIND_TEXT if the values have several kinds */
	bool full;	      /* few rows have no value */
};

static void see_columns(const struct row_fit *f, struct fit_column *c)
{
	for (size_t i = 0; i < f->n; i++)
		for (size_t k = 0; k < f->ncolumns; k++) {
			unsigned kind = kind_at(&f->row[i], k) & 0xf;

			c[k].kinds[kind] += f->row[i].n;
			c[k].n += kind > KIND_NULL ? f->row[i].n : 0;
		}
	for (size_t k = 0; k < f->ncolumns; k++) {
		c[k].usual = KIND_TEXT;
		c[k].full = c[k].kinds[KIND_EMPTY] * RARE <= f->rows;
		for (int kind = KIND_NUMBER; kind <= KIND_TIME; kind++)
			if ((double)c[k].kinds[kind] >= USUAL * (double)c[k].n && c[k].n >= LEAST)
				c[k].usual = (enum text_kind)kind;
	}
}

/* Return true if row `i` does not look like the others. */
static bool is_odd(const struct row_fit *f, const struct fit_column *c, size_t i, bool ragged)
{
	size_t filled = 0, names = 0, breaks = 0, gaps = 0, only = 0, texts = 0;
	unsigned is = f->row[i].is;

	for (size_t k = 0; k < f->ncolumns; k++) {
		unsigned v = kind_at(&f->row[i], k);
		unsigned kind = v & 0xf;

		filled += kind != KIND_EMPTY;
		texts += kind == KIND_TEXT;
		names += (v & IS_NAME) != 0;
		bool word = c[k].usual != KIND_TEXT && kind == KIND_TEXT && f->words[k];

		breaks += word;
		only += word && c[k].n >= MANY && c[k].kinds[KIND_TEXT] == 1;
		gaps += c[k].full && kind == KIND_EMPTY;
	}
	bool fits = ragged && kind_at(&f->row[i], 0) == c->usual && c->usual != KIND_TEXT;
	if ((is & ROW_LONE) && !fits)
		return true;
	if (names > 1 || (names && names == filled) || ((is & ROW_NAMES) && breaks))
		return true;
	bool words_only = texts > 1 && texts == filled; /* no number, so no total */
	if ((is & ROW_TOTAL) && !words_only && (filled < f->ncolumns || breaks || f->ncolumns == 2))
		return true;
	return only || breaks > 1 || (breaks && (gaps || (is & ROW_MARK))) ||
	       ((is & ROW_BEGINS_TOTAL) && (gaps || breaks)) || (filled <= 1 && gaps > 1);
}

uint64_t row_fit_judge(const struct row_fit *f, uint64_t *line)
{
	struct fit_column *c = mem_calloc(f->ncolumns + 1, sizeof *c);
	uint64_t odd = 0;
	uint64_t lone = 0, others = 0;

	see_columns(f, c);
	for (size_t i = 0; i < f->n; i++) {
		lone += f->row[i].is & ROW_LONE ? f->row[i].n : 0;
		others += f->row[i].is & ROW_SHORT ? f->row[i].n : 0;
	}
	for (size_t i = 0; i < f->n && f->rows >= LEAST; i++) {
		if (!is_odd(f, c, i, others || lone * RARE > f->rows))
			continue;
		*line = odd && *line < f->row[i].line ? *line : f->row[i].line;
		odd += f->row[i].n;
	}
	mem_free(c);
	return odd;
}
