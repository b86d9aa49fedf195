/* answer.c - see answer.h; by hand, as answers may be long */
#include "answer.h"

#include <inttypes.h>

#include "inspect.h"

/* \xHH text as a JSON string: of what it holds only the backslash needs another. */
static void put_json(struct buf *out, struct bytes v)
{
	struct buf text = {0};
	bytes_escape(&text, v);
	buf_put(out, '"');
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] == '\\')
			buf_put(out, '\\');
		buf_put(out, text.ptr[i]);
	}
	buf_put(out, '"');
	buf_release(&text);
}

static void put_jsonl(struct answer_text *a, struct buf *out, const struct cell *c, bool new_row)
{
	if (new_row && a->begun)
		buf_append_str(out, "]}\n");
	if (new_row) {
		buf_append_str(out, "{\"row\": ");
		put_json(out, c->row);
		buf_append_str(out, ", \"cells\": [");
	} else {
		buf_append_str(out, ", ");
	}
	buf_append_str(out, "{\"family\": ");
	put_json(out, c->family);
	buf_append_str(out, ", \"qualifier\": ");
	put_json(out, c->qualifier);
	buf_printf(out, ", \"timestamp\": %" PRId64 ", \"type\": \"%s\", \"value\": ", c->ts,
		   cell_type_name(c->type));
	put_json(out, c->value);
	buf_put(out, '}');
}

/* The escaped text holds neither comma nor quote. */
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

/* Is the cell of another row than the one before it? */
static bool next_row(struct answer_text *a, const struct cell *c)
{
	if (a->begun && bytes_eq(c->row, buf_bytes(&a->row)))
		return false;
	a->row.len = 0;
	buf_append(&a->row, c->row.ptr, c->row.len);
	a->rows++;
	return true;
}

void answer_count(struct answer_text *a, const struct cell *c)
{
	next_row(a, c);
	a->begun = true;
	a->cells++;
}

void answer_cell(struct answer_text *a, struct buf *out, const struct cell *c)
{
	bool new_row = next_row(a, c);
	switch (a->format) {
	case ANSWER_TABLE: inspect_cell_text(out, c, a->widths); break;
	case ANSWER_CSV: put_csv(a, out, c); break;
	case ANSWER_JSONL: put_jsonl(a, out, c, new_row); break;
	}
	a->begun = true;
	a->cells++;
}

void answer_end(struct answer_text *a, struct buf *out)
{
	if (a->format == ANSWER_JSONL && a->begun)
		buf_append_str(out, "]}\n");
}

void answer_explain(struct buf *out, const struct query_scan *s, size_t nfiles)
{
	for (size_t i = 0; i < nfiles; i++) {
		struct query_why w;
		query_explain(s, i, &w);
		if (w.spared)
			buf_printf(out, "spared  %s: %s", w.name, w.spared);
		else
			buf_printf(out, "read    %s", w.name);
		if (w.blocks)
			buf_printf(out, ", %" PRIu64 " blocks", w.blocks);
		buf_put(out, '\n');
	}
}

void answer_release(struct answer_text *a)
{
	buf_release(&a->row);
}
