/* diff_report.c - prints the differences between two tables */
#include "cli/reports.h"

#include <inttypes.h>

#define VALUE_SHOWN 100 /* bytes of a value in the text; JSON has the whole value */

bool diff_is_equal(const struct diff_result *r)
{
	return r->differing_rows == 0;
}

static void put_value(struct buf *out, struct bytes value)
{
	bool cut = value.len > VALUE_SHOWN;

	bytes_escape(out, cut ? bytes_of(value.ptr, VALUE_SHOWN) : value);
	if (cut)
		buf_printf(out, "... (%zu bytes)", value.len);
}

/* Appends a line such as `only in A  row1  f:q  1364846400000  Put  value`. */
static void put_line(struct buf *out, const char *what, const struct cell *c, struct bytes value)
{
	buf_printf(out, "%-9s  ", what);
	bytes_escape(out, c->row);
	buf_append_str(out, "  ");
	bytes_escape(out, c->family);
	buf_put(out, ':');
	bytes_escape(out, c->qualifier);
	buf_printf(out, "  %" PRId64 "  %s  ", c->ts, cell_type_name(c->type));
	put_value(out, value);
	while (out->ptr[out->len - 1] == ' ')
		out->len--;
	buf_put(out, '\n');
}

static void put_difference(struct buf *out, const struct differing_cell *d)
{
	switch (d->kind) {
	case DIFF_ONLY_A: put_line(out, "only in A", &d->a, d->a.value); break;
	case DIFF_ONLY_B: put_line(out, "only in B", &d->b, d->b.value); break;
	case DIFF_VALUE:
		put_line(out, "A has", &d->a, d->a.value);
		put_line(out, "B has", &d->b, d->b.value);
		break;
	case DIFF_TAGS:
		put_line(out, "tags in A", &d->a, d->a.tags);
		put_line(out, "tags in B", &d->b, d->b.tags);
		break;
	}
}

void diff_report_text(struct buf *out, const struct diff_result *r)
{
	uint64_t all = 0;
	char rows[28], cells[28], n[4][28];

	for (size_t i = 0; i < r->nfirst; i++)
		put_difference(out, &r->first[i]);
	for (size_t k = 0; k <= DIFF_TAGS; k++)
		all += r->count[k];
	if (all > r->nfirst)
		buf_printf(out, "... %s more (--show N prints more)\n",
			   format_count(n[0], all - r->nfirst));
	for (unsigned s = 0; s < 2; s++)
		buf_printf(out, "%c: %s rows, %s cells\n", 'A' + (int)s,
			   format_count(rows, r->rows[s]), format_count(cells, r->cells[s]));
	if (diff_is_equal(r))
		buf_append_str(out, "equal\n");
	else
		buf_printf(out,
			   "different: %s rows; %s cells only in A, %s only in B, %s with another "
			   "value, %s with other tags\n",
			   format_count(rows, r->differing_rows),
			   format_count(n[0], r->count[DIFF_ONLY_A]),
			   format_count(n[1], r->count[DIFF_ONLY_B]),
			   format_count(n[2], r->count[DIFF_VALUE]),
			   format_count(n[3], r->count[DIFF_TAGS]));
}

/* A differing cell for JSON. `key` is the cell of the side that has it. */
struct diff_line {
	const char *difference;
	struct cell key;
	bool in_a, in_b, tags;
	struct bytes value_a, value_b, tags_a, tags_b;
};

static const char *const kinds[] = {"only_in_a", "only_in_b", "value", "tags", NULL};

static const struct form_member line_members[] = {
	{"difference", FORM_TEXT, IN(diff_line, difference), "how the cell differs",
	 .choices = kinds},
	{"row", FORM_KEY, IN(diff_line, key.row), "row key"},
	{"family", FORM_KEY, IN(diff_line, key.family), "column family"},
	{"qualifier", FORM_KEY, IN(diff_line, key.qualifier), "qualifier"},
	{"timestamp", FORM_INT, IN(diff_line, key.ts), "timestamp of the cell, in ms since 1970"},
	{"type", FORM_CELL_TYPE, IN(diff_line, key.type), "type of the cell, such as Put"},
	{"value_a", FORM_KEY, IN(diff_line, value_a), "bytes of the value in A", FORM_IF,
	 IF(diff_line, in_a)},
	{"value_b", FORM_KEY, IN(diff_line, value_b), "bytes of the value in B", FORM_IF,
	 IF(diff_line, in_b)},
	{"tags_a", FORM_KEY, IN(diff_line, tags_a), "bytes of the tags in A", FORM_IF,
	 IF(diff_line, tags)},
	{"tags_b", FORM_KEY, IN(diff_line, tags_b), "bytes of the tags in B", FORM_IF,
	 IF(diff_line, tags)},
};
static const struct form line_form = FORM(diff_line, line_members);

struct diff_view {
	const char *place[2];
	bool equal;
	struct diff_result r;
	struct diff_line *lines;
	size_t nlines;
};

static const struct form_member diff_members[] = {
	{"a", FORM_TEXT, IN(diff_view, place[0]), "the first table, as the command line names it"},
	{"b", FORM_TEXT, IN(diff_view, place[1]), "the second table"},
	{"equal", FORM_FLAG, IN(diff_view, equal), "true if there is no difference"},
	{"rows_a", FORM_COUNT, IN(diff_view, r.rows[0]), "compared rows of A"},
	{"cells_a", FORM_COUNT, IN(diff_view, r.cells[0]), "compared cells of A"},
	{"rows_b", FORM_COUNT, IN(diff_view, r.rows[1]), "compared rows of B"},
	{"cells_b", FORM_COUNT, IN(diff_view, r.cells[1]), "compared cells of B"},
	{"differing_rows", FORM_COUNT, IN(diff_view, r.differing_rows),
	 "rows with a differing cell"},
	{"only_in_a", FORM_COUNT, IN(diff_view, r.count[DIFF_ONLY_A]),
	 "cells whose row, column, timestamp and type only A has"},
	{"only_in_b", FORM_COUNT, IN(diff_view, r.count[DIFF_ONLY_B]),
	 "cells whose row, column, timestamp and type only B has"},
	{"other_value", FORM_COUNT, IN(diff_view, r.count[DIFF_VALUE]),
	 "cells of both with different values"},
	{"other_tags", FORM_COUNT, IN(diff_view, r.count[DIFF_TAGS]),
	 "cells of both with the same value and different tags"},
	{"first", FORM_LIST, IN(diff_view, lines), "the first differing cells, in key order",
	 ITEMS(diff_view, line_form, nlines)},
};
const struct form diff_form = NAMED_FORM(diff_view, diff_members, "diff", "diff --json");

void diff_report_json(struct buf *out, const struct diff_result *r, const char *const place[2])
{
	struct arena a = {0};
	struct diff_view v = {.place = {place[0], place[1]},
			      .equal = diff_is_equal(r),
			      .r = *r,
			      .lines = arena_alloc(&a, (r->nfirst + 1) * sizeof *v.lines),
			      .nlines = r->nfirst};

	for (size_t i = 0; i < r->nfirst; i++) {
		const struct differing_cell *d = &r->first[i];

		v.lines[i] = (struct diff_line){.difference = kinds[d->kind],
						.key = d->kind == DIFF_ONLY_B ? d->b : d->a,
						.in_a = d->kind != DIFF_ONLY_B,
						.in_b = d->kind != DIFF_ONLY_A,
						.tags = d->kind == DIFF_TAGS,
						.value_a = d->a.value,
						.value_b = d->b.value,
						.tags_a = d->a.tags,
						.tags_b = d->b.tags};
	}
	form_put(out, &diff_form, &v, FORM_REPORT);
	arena_release(&a);
}
