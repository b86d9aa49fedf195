/* live_text.c - explains which regions answered, and the work of the servers and of saltmill */
#include <inttypes.h>

#include "cli/answer.h"

static const char *op_text(enum filter_op op)
{
	static const char *const texts[] = {
		[FILTER_LESS] = "<",	[FILTER_LESS_OR_EQUAL] = "<=",
		[FILTER_EQUAL] = "=",	[FILTER_NOT_EQUAL] = "!=",
		[FILTER_GREATER] = ">", [FILTER_GREATER_OR_EQUAL] = ">="};

	return texts[op];
}

static void put_filter_text(struct buf *out, const struct filter *f, bool within);

static void put_list_text(struct buf *out, const struct filter *f, bool within)
{
	const char *joint = f->type == FILTER_LIST_AND ? " and " : " or ";

	buf_append_str(out, within ? "(" : "");
	for (size_t i = 0; i < f->nof; i++) {
		buf_append_str(out, i == 0 ? "" : joint);
		put_filter_text(out, f->of[i], true);
	}
	buf_append_str(out, within ? ")" : "");
}

/* Prints a filter that key_filter made. */
static void put_filter_text(struct buf *out, const struct filter *f, bool within)
{
	if (f->type == FILTER_LIST_AND || f->type == FILTER_LIST_OR) {
		put_list_text(out, f, within);
		return;
	}
	if (f->type == FILTER_FUZZY_ROW) {
		buf_printf(out, "row like %zu pattern%s", f->nfuzzy, f->nfuzzy == 1 ? "" : "s");
		return;
	}
	if (f->type == FILTER_ROW) {
		buf_printf(out, "row[%zu..%zu)", f->with.at, f->with.at + f->with.value.len);
	} else {
		bytes_escape(out, f->family);
		buf_put(out, ':');
		bytes_escape(out, f->qualifier);
	}
	buf_printf(out, " %s ", op_text(f->op));
	bytes_escape(out, f->with.value);
}

static void put_count(struct buf *out, uint64_t n, const char *what)
{
	buf_printf(out, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

static void put_figures(struct buf *out, const struct live_visit *v)
{
	put_count(out, v->rows, "row");
	buf_append_str(out, ", ");
	put_count(out, v->cells, "cell");
	buf_append_str(out, ", ");
	put_count(out, v->bytes, "byte");
	buf_append_str(out, " in ");
	put_count(out, v->calls, "call");
}

static void put_visit(struct buf *out, const struct live_visit *v)
{
	buf_printf(out, "asked   %s at %s:%u", v->region, v->place.host, v->place.port);
	buf_append_str(out, v->start.len ? " from " : "");
	bytes_escape(out, v->start);
	buf_append_str(out, v->stop.len ? " to " : "");
	bytes_escape(out, v->stop);
	if (v->ranges > 1)
		buf_printf(out, " (%zu ranges)", v->ranges);
	buf_append_str(out, ": ");
	put_figures(out, v);
	if (v->broken)
		buf_printf(out, "; continued after a failure: %s", v->broken);
	buf_put(out, '\n');
}

static void begin_item(struct buf *out, size_t start, const char *text)
{
	buf_append_str(out, out->len == start ? "" : ", ");
	buf_append_str(out, text);
}

/* Prints the parts of the query that the servers processed. */
static void put_servers(struct buf *out, const struct live_explained *l, const struct query *q,
			const struct filter *filter)
{
	buf_append_str(out, "servers ");
	size_t start = out->len;
	begin_item(out, start, q->raw ? "all stored cells" : "deletes, TTL and versions");
	if (q->from_ms || q->to_ms)
		begin_item(out, start, "time range");
	if (q->nspans)
		begin_item(out, start, "columns by ranges of qualifiers");
	else if (q->ncolumns)
		begin_item(out, start, "columns");
	if (l->unfiltered) {
		begin_item(out, start, "no filters, because a server refused them or failed\n");
		return;
	}
	if (l->limited)
		begin_item(out, start, "limit");
	if (l->paged)
		begin_item(out, start, "max columns");
	if (l->no_values)
		begin_item(out, start, "keys without values");
	if (filter && q->judge && !q->raw) {
		begin_item(out, start, "filter ");
		put_filter_text(out, filter, false);
	}
	buf_put(out, '\n');
}

/*
 * Prints the parts of the query that saltmill processed. If saltmill checks each row again, the
 * servers' filters only save work.
 */
static void put_here(struct buf *out, const struct live_explained *l, const struct query *q)
{
	buf_append_str(out, "here    ");
	size_t start = out->len;
	if (q->judge)
		begin_item(out, start, "each row checked");
	if (q->salt_bytes)
		begin_item(out, start, "salts merged");
	if (q->limit && !l->limited)
		begin_item(out, start, "limit");
	if (q->max_columns && !l->paged)
		begin_item(out, start, "max columns");
	buf_append_str(out, out->len == start ? "nothing\n" : "\n");
}

void answer_explain_live(struct buf *out, const struct live_explained *l, const struct query *q,
			 const struct filter *filter)
{
	struct live_visit sum = {0};

	for (size_t i = 0; i < l->nvisits; i++) {
		const struct live_visit *v = &l->visits[i];

		put_visit(out, v);
		sum.rows += v->rows;
		sum.cells += v->cells;
		sum.bytes += v->bytes;
		sum.calls += v->calls;
	}
	put_servers(out, l, q, filter);
	put_here(out, l, q);
	buf_printf(out, "in all  %zu region%s, ", l->regions, l->regions == 1 ? "" : "s");
	put_count(out, l->nvisits, "scan");
	buf_append_str(out, ": ");
	put_figures(out, &sum);
	buf_put(out, '\n');
}
