/* agree_report.c - prints the comparison of tables that the same events feed */
#include "cli/reports.h"

#include <inttypes.h>

#include "cli/answer.h"

/* Counts of what `agree` could not compare. */
struct left_out {
	uint64_t tables, cells, events;
};

/* Return true if a table was refused, or if every event and cell of it was left out. */
static bool is_untouched(const struct agree_table_report *t)
{
	const struct agree_result *r = &t->result;

	return t->refused || (!r->equal && !r->differing_rows && (r->left_out || r->unplaced));
}

static struct left_out find_left_out(const struct agree_report *r)
{
	struct left_out l = {0};

	for (size_t i = 0; i < r->n; i++) {
		l.tables += is_untouched(&r->tables[i]);
		l.cells += r->tables[i].result.left_out;
		l.events += r->tables[i].result.unplaced;
	}
	return l;
}

static bool differs(const struct agree_report *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->tables[i].result.differing_rows)
			return true;
	return false;
}

bool agree_is_equal(const struct agree_report *r)
{
	return !differs(r) && !find_left_out(r).tables;
}

/* Append a cell as fields of the job, or as bytes if the job does not write it. */
static void put_cell(struct buf *out, const struct stored *stored, const struct cell *c)
{
	const struct answer_decoding how = {.stored = stored, .versions = true};
	struct answer_text decoded = {.format = ANSWER_TABLE}, plain = {.format = ANSWER_TABLE};
	struct error ignored;
	size_t start = out->len;

	answer_decode(&decoded, &how);
	if (answer_cell(&decoded, out, c, true, &ignored)) {
		out->len = start;
		answer_cell(&plain, out, c, true, &ignored);
	}
	answer_release(&decoded);
	answer_release(&plain);
}

static void put_difference(struct buf *out, const struct stored *stored,
			   const struct agree_difference *d)
{
	switch (d->kind) {
	case AGREE_MISSING:
		buf_append_str(out, "missing ");
		put_cell(out, stored, &d->expected);
		break;
	case AGREE_EXTRA:
		buf_append_str(out, "extra   ");
		put_cell(out, stored, &d->found);
		break;
	case AGREE_DIFFERENT:
		buf_append_str(out, "expected");
		put_cell(out, stored, &d->expected);
		buf_append_str(out, "found   ");
		put_cell(out, stored, &d->found);
		break;
	}
}

static void put_counts(struct buf *out, const struct agree_table_report *t)
{
	const struct agree_result *r = &t->result;
	char n[8][28];

	buf_printf(out,
		   "%s: %s rows, %s cells: %s equal, %s missing, %s extra, %s different, %s not "
		   "compared; %s rows differ\n",
		   t->table, format_count(n[0], r->rows), format_count(n[1], r->cells),
		   format_count(n[2], r->equal), format_count(n[3], r->count[AGREE_MISSING]),
		   format_count(n[4], r->count[AGREE_EXTRA]),
		   format_count(n[5], r->count[AGREE_DIFFERENT]), format_count(n[6], r->left_out),
		   format_count(n[7], r->differing_rows));
}

static void put_limits(struct buf *out, const struct agree_report *a,
		       const struct agree_table_report *t)
{
	const struct agree_result *r = &t->result;
	char n[28];

	for (size_t i = 0; i < r->ncolumns; i++)
		buf_printf(out, "not compared: %s, because %s does not store field `%s`\n",
			   r->columns[i].column, a->truth, r->columns[i].field);
	if (r->unplaced)
		buf_printf(out, "not compared: %s events of %s: %s\n", format_count(n, r->unplaced),
			   a->truth, r->unplaced_why);
	if (r->count[AGREE_EXTRA] && (r->extra_kept || r->unplaced))
		buf_printf(out,
			   "note: extra cells may be older events: %s. Without --delete-extra, "
			   "--repair keeps them\n",
			   r->extra_kept ? r->extra_kept : "some events were not compared");
	if (r->hidden)
		buf_printf(
			out,
			"note: delete markers hide %s of the missing cells. Enter `major_compact "
			"'%s'` in the HBase shell before you apply the repair\n",
			format_count(n, r->hidden), t->table);
}

static void put_item(struct buf *out, uint64_t count, const char *one, const char *many)
{
	char n[28];

	if (count)
		buf_printf(out, ", %s %s", format_count(n, count), count == 1 ? one : many);
}

/* Append the outcome, with what it does not cover. */
static void put_outcome(struct buf *out, const struct agree_report *a)
{
	const struct left_out l = find_left_out(a);

	buf_append_str(out, differs(a) ? "different" : "equal");
	if (!(l.tables || l.cells || l.events)) {
		buf_append_str(out, "\n");
		return;
	}
	if (!differs(a))
		buf_append_str(out, " in all that was compared");
	buf_append_str(out, "; not compared");
	size_t comma = out->len;
	put_item(out, l.tables, "table", "tables");
	put_item(out, l.cells, "cell", "cells");
	put_item(out, l.events, "event", "events");
	out->ptr[comma] = ':';
	buf_append_str(out, "\n");
}

void agree_report_text(struct buf *out, const struct agree_report *a)
{
	for (size_t i = 0; i < a->naltered; i++)
		buf_printf(out, "altered: %s: %s\n  fix: %s\n", a->altered[i].table,
			   a->altered[i].change, a->altered[i].fix);
	for (size_t i = 0; i < a->n; i++) {
		const struct agree_table_report *t = &a->tables[i];
		const struct agree_result *r = &t->result;
		uint64_t all =
			r->count[AGREE_MISSING] + r->count[AGREE_EXTRA] + r->count[AGREE_DIFFERENT];
		char n[28];

		if (t->refused) {
			buf_printf(out, "not compared: %s\n", t->refused);
			continue;
		}
		for (size_t k = 0; k < r->nfirst; k++)
			put_difference(out, t->stored, &r->first[k]);
		if (all > r->nfirst)
			buf_printf(out, "... %s more (--show N prints more)\n",
				   format_count(n, all - r->nfirst));
		put_limits(out, a, t);
		put_counts(out, t);
	}
	put_outcome(out, a);
}

/* A difference for JSON. */
struct agree_line {
	const char *difference;
	struct cell key;
	bool is_expected, is_found;
	int64_t expected_ts, found_ts;
	struct bytes expected, found;
};

static const char *const kinds[] = {"missing", "extra", "different", NULL};

static const struct form_member line_members[] = {
	{"difference", FORM_TEXT, IN(agree_line, difference), "how the column differs",
	 .choices = kinds},
	{"row", FORM_KEY, IN(agree_line, key.row), "row key"},
	{"family", FORM_KEY, IN(agree_line, key.family), "column family"},
	{"qualifier", FORM_KEY, IN(agree_line, key.qualifier), "qualifier"},
	{"expected_timestamp", FORM_INT, IN(agree_line, expected_ts),
	 "timestamp of the event's cell, in ms since 1970", FORM_IF, IF(agree_line, is_expected)},
	{"expected_value", FORM_KEY, IN(agree_line, expected), "bytes of the event's value",
	 FORM_IF, IF(agree_line, is_expected)},
	{"found_timestamp", FORM_INT, IN(agree_line, found_ts),
	 "timestamp of the table's newest version", FORM_IF, IF(agree_line, is_found)},
	{"found_value", FORM_KEY, IN(agree_line, found), "bytes of the table's value", FORM_IF,
	 IF(agree_line, is_found)},
};
static const struct form line_form = FORM(agree_line, line_members);

static const struct form_member column_members[] = {
	{"column", FORM_TEXT, IN(agree_column, column), "the column, with its fields in braces"},
	{"field", FORM_TEXT, IN(agree_column, field),
	 "a field that the truth table does not store"},
};
static const struct form column_form = FORM(agree_column, column_members);

struct agree_table_view {
	struct agree_table_report t;
	const char *unplaced_why;
	struct agree_line *lines;
	size_t nlines;
};

#define OF_RESULT(member) IN(agree_table_view, t.result.member)

static const struct form_member table_members[] = {
	{"table", FORM_TEXT, IN(agree_table_view, t.table), "the table"},
	{"refused", FORM_TEXT, IN(agree_table_view, t.refused), "why it cannot be compared",
	 FORM_IF_ANY},
	{"events", FORM_COUNT, OF_RESULT(events), "events that the truth table contains"},
	{"events_not_compared", FORM_COUNT, OF_RESULT(unplaced),
	 "events whose row in this table the truth table does not give"},
	{"events_why", FORM_TEXT, IN(agree_table_view, unplaced_why),
	 "the reason for the first one", FORM_IF_ANY},
	{"rows", FORM_COUNT, OF_RESULT(rows), "rows of the table"},
	{"cells", FORM_COUNT, OF_RESULT(cells), "columns of the table, in their newest version"},
	{"differing_rows", FORM_COUNT, OF_RESULT(differing_rows), "rows with a difference"},
	{"equal", FORM_COUNT, OF_RESULT(equal), "columns that are as the events give them"},
	{"missing", FORM_COUNT, OF_RESULT(count[AGREE_MISSING]), "columns that the table lacks"},
	{"extra", FORM_COUNT, OF_RESULT(count[AGREE_EXTRA]), "columns that no event gives"},
	{"different", FORM_COUNT, OF_RESULT(count[AGREE_DIFFERENT]),
	 "columns with another value or timestamp"},
	{"not_compared", FORM_COUNT, OF_RESULT(left_out), "columns that were not compared"},
	{"hidden", FORM_COUNT, OF_RESULT(hidden),
	 "with --repair: columns that delete markers hide until a major compaction"},
	{"extra_kept", FORM_TEXT, OF_RESULT(extra_kept), "why an extra column can be right",
	 FORM_IF_ANY},
	{"columns_not_compared", FORM_LIST, OF_RESULT(columns),
	 "the columns that the truth table does not give",
	 ITEMS(agree_table_view, column_form, t.result.ncolumns)},
	{"first", FORM_LIST, IN(agree_table_view, lines), "the first differences, in key order",
	 ITEMS(agree_table_view, line_form, nlines)},
};
static const struct form table_form = FORM(agree_table_view, table_members);

static const struct form_member change_members[] = {
	{"table", FORM_TEXT, IN(agree_change, table), "the table"},
	{"change", FORM_TEXT, IN(agree_change, change), "how it differs from the job"},
	{"fix", FORM_TEXT, IN(agree_change, fix), "what makes both equal"},
};
static const struct form change_form = FORM(agree_change, change_members);

struct agree_view {
	const char *truth, *repair;
	struct agree_change *altered;
	size_t naltered;
	bool equal, complete;
	uint64_t repair_cells;
	struct agree_table_view *tables;
	size_t n;
};

static const struct form_member agree_members[] = {
	{"truth", FORM_TEXT, IN(agree_view, truth), "the table that is right"},
	{"equal", FORM_FLAG, IN(agree_view, equal),
	 "true if every table was compared, and there is no difference"},
	{"complete", FORM_FLAG, IN(agree_view, complete),
	 "true if every table, cell and event was compared"},
	{"repair", FORM_TEXT, IN(agree_view, repair),
	 "the folder of the load that repairs the tables", FORM_IF_ANY},
	{"repair_cells", FORM_COUNT, IN(agree_view, repair_cells), "cells of that load",
	 FORM_IF_ANY},
	{"altered", FORM_LIST, IN(agree_view, altered),
	 "attributes, families and split points of the tables in HBase that differ from the job",
	 ITEMS(agree_view, change_form, naltered)},
	{"tables", FORM_LIST, IN(agree_view, tables), "the other tables",
	 ITEMS(agree_view, table_form, n)},
};
const struct form agree_form = NAMED_FORM(agree_view, agree_members, "agree", "agree --json");

static struct agree_line line_of(const struct agree_difference *d)
{
	return (struct agree_line){.difference = kinds[d->kind],
				   .key = d->kind == AGREE_EXTRA ? d->found : d->expected,
				   .is_expected = d->kind != AGREE_EXTRA,
				   .is_found = d->kind != AGREE_MISSING,
				   .expected_ts = d->expected.ts,
				   .found_ts = d->found.ts,
				   .expected = d->expected.value,
				   .found = d->found.value};
}

void agree_report_json(struct buf *out, const struct agree_report *r)
{
	const struct left_out l = find_left_out(r);
	struct arena a = {0};
	struct agree_view v = {.truth = r->truth,
			       .equal = agree_is_equal(r),
			       .complete = !(l.tables || l.cells || l.events),
			       .repair = r->repair_cells ? r->repair : NULL,
			       .repair_cells = r->repair_cells,
			       .altered = r->altered,
			       .naltered = r->naltered,
			       .tables = arena_alloc(&a, (r->n + 1) * sizeof *v.tables),
			       .n = r->n};

	for (size_t i = 0; i < r->n; i++) {
		const struct agree_result *t = &r->tables[i].result;
		struct agree_table_view *to = &v.tables[i];

		*to = (struct agree_table_view){.t = r->tables[i],
						.unplaced_why =
							t->unplaced ? t->unplaced_why : NULL,
						.lines = arena_alloc(&a, (t->nfirst + 1) *
										 sizeof *to->lines),
						.nlines = t->nfirst};
		for (size_t k = 0; k < t->nfirst; k++)
			to->lines[k] = line_of(&t->first[k]);
	}
	form_put(out, &agree_form, &v, FORM_REPORT);
	arena_release(&a);
}
