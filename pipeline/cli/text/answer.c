/*
 * answer.c - writes the answers of get and scan (answer.h)
 *
 * The functions write each cell at once, because a row may be long.
 */
#include "cli/answer.h"

#include <inttypes.h>

#include "cell_form.h"
#include "decoded.h"
#include "cli/inspect.h"
#include "bytes.h"

static const struct form_member cell_members[] = {
	{"family", FORM_KEY, IN(cell, family), "column family"},
	{"qualifier", FORM_KEY, IN(cell, qualifier), "qualifier"},
	{"timestamp", FORM_INT, IN(cell, ts), "timestamp of the cell, in ms since 1970"},
	{"type", FORM_CELL_TYPE, IN(cell, type),
	 "type of the cell: Put, and with --raw also "
	 "Delete, DeleteColumn..."},
	{"value", FORM_KEY, IN(cell, value), "bytes of the value"},
};
const struct form cell_form = FORM(cell, cell_members);

struct row_view {
	struct bytes row;
	const struct cell *cells;
	size_t ncells;
};

static const struct form_member row_members[] = {
	{"row", FORM_KEY, IN(row_view, row), "row key"},
	{"cells", FORM_LIST, IN(row_view, cells), "in HBase's order",
	 ITEMS(row_view, cell_form, ncells)},
};
const struct form rows_form =
	NAMED_FORM(row_view, row_members, "rows", "a line of `get --json` and `scan --json`");

static void put_jsonl(struct answer_text *a, struct buf *out, const struct cell *c, bool new_row)
{
	struct row_view row = {.row = c->row};

	if (new_row && a->begun)
		buf_append_str(out, "]}\n");
	if (new_row)
		form_open(out, &rows_form, &row, FORM_SPACED);
	else
		buf_append_str(out, ", ");
	form_put(out, &cell_form, c, FORM_SPACED);
}

/* Writes a cell as a CSV line. Escaped text contains neither commas nor quotes. */
static void put_csv(struct answer_text *a, struct buf *out, const struct cell *c)
{
	if (!a->begun)
		buf_append_str(out, "row,family,qualifier,timestamp,type,value\n");
	bytes_escape(out, c->row);
	buf_put(out, ',');
	bytes_escape(out, c->family);
	buf_put(out, ',');
	bytes_escape(out, c->qualifier);
	buf_printf(out, ",%" PRId64 ",%s,", c->ts, cell_type_name(c->type));
	bytes_escape(out, c->value);
	buf_put(out, '\n');
}

void answer_decode(struct answer_text *a, const struct answer_decoding *how)
{
	a->decoded = decoded_new(how, a->format);
}

int answer_cell(struct answer_text *a, struct buf *out, const struct cell *c, bool new_row,
		struct error *err)
{
	int rc = RC_OK;

	if (a->decoded)
		rc = decoded_cell(a->decoded, out, c, new_row, err);
	else if (a->format == ANSWER_TABLE)
		inspect_cell_text(out, c, a->widths);
	else if (a->format == ANSWER_CSV)
		put_csv(a, out, c);
	else
		put_jsonl(a, out, c, new_row);
	a->begun = true;
	return rc;
}

void answer_end(struct answer_text *a, struct buf *out)
{
	if (a->decoded)
		decoded_end(a->decoded, out);
	else if (a->format == ANSWER_JSONL && a->begun)
		buf_append_str(out, "]}\n");
}

static void explain_reads(struct buf *out, const struct hfile_reads *r)
{
	buf_printf(out,
		   "%" PRIu64 " of %" PRIu64 " data blocks, %" PRIu64 " index, %" PRIu64
		   " bloom (%" PRIu64 " to open it)",
		   r->data, r->of_data, r->index, r->bloom, r->opening);
}

static void add_reads(struct hfile_reads *sum, const struct hfile_reads *r)
{
	sum->data += r->data;
	sum->index += r->index;
	sum->bloom += r->bloom;
	sum->opening += r->opening;
	sum->of_data += r->of_data;
}

void answer_explain(struct buf *out, const struct query_scan *s, size_t nfiles)
{
	struct hfile_reads sum = {0};
	size_t nread = 0;

	for (size_t i = 0; i < nfiles; i++) {
		struct query_why w;

		query_explain(s, i, &w);
		if (w.spared)
			buf_printf(out, "spared  %s: %s", w.name, w.spared);
		else
			buf_printf(out, "read    %s", w.name);
		if (w.reads.of_data) {
			buf_append_str(out, ", ");
			explain_reads(out, &w.reads);
			add_reads(&sum, &w.reads);
		}
		nread += !w.spared;
		buf_put(out, '\n');
	}
	buf_printf(out, "in all  %zu of %zu files, ", nread, nfiles);
	explain_reads(out, &sum);
	buf_put(out, '\n');
}

void answer_release(struct answer_text *a)
{
	decoded_free(a->decoded);
}
