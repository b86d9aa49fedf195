/*
 * filter_text.c - HBase's filters as the shell (JRuby) and Java make them
 *
 * Bytes are written for Bytes.toBytesBinary, in Ruby between single quotes, where a backslash stays
 * one.
 */
#include "ranges_report.h"

#define SHELL_FILTER "org.apache.hadoop.hbase.filter."
#define SHELL_BYTES  "org.apache.hadoop.hbase.util.Bytes.toBytesBinary('"

static const char *const operators[] = {[KEY_FILTER_LESS] = "LESS",
					[KEY_FILTER_LESS_OR_EQUAL] = "LESS_OR_EQUAL",
					[KEY_FILTER_EQUAL] = "EQUAL",
					[KEY_FILTER_NOT_EQUAL] = "NOT_EQUAL",
					[KEY_FILTER_GREATER_OR_EQUAL] = "GREATER_OR_EQUAL",
					[KEY_FILTER_GREATER] = "GREATER"};

static void put_bytes(struct buf *out, struct bytes b, bool java)
{
	struct buf text = {0};
	bytes_escape(&text, b);
	buf_append_str(out, java ? "Bytes.toBytesBinary(\"" : SHELL_BYTES);
	for (size_t i = 0; i < text.len; i++) {
		if (java && text.ptr[i] == '\\')
			buf_put(out, '\\');
		if (text.ptr[i] == (java ? '"' : '\''))
			buf_printf(out, java ? "\\\\x%02X" : "\\x%02X", text.ptr[i]);
		else
			buf_put(out, text.ptr[i]);
	}
	buf_append_str(out, java ? "\")" : "')");
	buf_release(&text);
}

/* --- the shell --- */

static void put_shell_fuzzy(struct buf *out, const struct key_filter *f)
{
	buf_append_str(out, SHELL_FILTER "FuzzyRowFilter.new([");
	for (size_t i = 0; i < f->n; i++) {
		buf_printf(out, "%sorg.apache.hadoop.hbase.util.Pair.new(", i ? ", " : "");
		put_bytes(out, f->patterns[i].key, false);
		buf_append_str(out, ", ");
		put_bytes(out, f->patterns[i].mask, false);
		buf_put(out, ')');
	}
	buf_append_str(out, "])");
}

static void put_shell_leaf(struct buf *out, const struct key_filter *f)
{
	const char *op = operators[f->op];
	if (f->kind == KEY_FILTER_ROW) {
		buf_printf(
			out,
			SHELL_FILTER
			"RowFilter.new(org.apache.hadoop.hbase.CompareOperator::%s, " SHELL_FILTER
			"BinaryComponentComparator.new(",
			op);
		put_bytes(out, f->value, false);
		buf_printf(out, ", %zu))", f->at);
		return;
	}
	buf_append_str(out, SHELL_FILTER "SingleColumnValueFilter.new(");
	put_bytes(out, f->family, false);
	buf_append_str(out, ", ");
	put_bytes(out, f->qualifier, false);
	buf_printf(out, ", org.apache.hadoop.hbase.CompareOperator::%s, ", op);
	put_bytes(out, f->value, false);
	buf_append_str(out, ").tap { |f| f.setFilterIfMissing(true) }");
}

void filter_shell(struct buf *out, const struct key_filter *f)
{
	if (f->kind == KEY_FILTER_FUZZY) {
		put_shell_fuzzy(out, f);
		return;
	}
	if (f->kind != KEY_FILTER_ALL && f->kind != KEY_FILTER_ONE) {
		put_shell_leaf(out, f);
		return;
	}
	buf_printf(out,
		   SHELL_FILTER "FilterList.new(" SHELL_FILTER
				"FilterList::Operator::MUST_PASS_%s, [",
		   f->kind == KEY_FILTER_ALL ? "ALL" : "ONE");
	for (size_t i = 0; i < f->n; i++) {
		buf_append_str(out, i ? ", " : "");
		filter_shell(out, f->of[i]);
	}
	buf_append_str(out, "])");
}

/* --- Java --- */

/* A SingleColumnValueFilter is told in a statement of its own what to do with a missing column. */
static void declare_columns(struct buf *out, const struct key_filter *f, unsigned *n)
{
	for (size_t i = 0; (f->kind == KEY_FILTER_ALL || f->kind == KEY_FILTER_ONE) && i < f->n;
	     i++)
		declare_columns(out, f->of[i], n);
	if (f->kind != KEY_FILTER_COLUMN)
		return;
	++*n;
	buf_printf(out, "SingleColumnValueFilter column%u = new SingleColumnValueFilter(", *n);
	put_bytes(out, f->family, true);
	buf_append_str(out, ", ");
	put_bytes(out, f->qualifier, true);
	buf_printf(out, ", CompareOperator.%s, ", operators[f->op]);
	put_bytes(out, f->value, true);
	buf_printf(out, ");\ncolumn%u.setFilterIfMissing(true);\n", *n);
}

static void put_java_fuzzy(struct buf *out, const struct key_filter *f)
{
	buf_append_str(out, "new FuzzyRowFilter(Arrays.asList(");
	for (size_t i = 0; i < f->n; i++) {
		buf_printf(out, "%snew Pair<>(", i ? ", " : "");
		put_bytes(out, f->patterns[i].key, true);
		buf_append_str(out, ", ");
		put_bytes(out, f->patterns[i].mask, true);
		buf_put(out, ')');
	}
	buf_append_str(out, "))");
}

static void put_java(struct buf *out, const struct key_filter *f, unsigned *n)
{
	switch (f->kind) {
	case KEY_FILTER_FUZZY: put_java_fuzzy(out, f); return;
	case KEY_FILTER_COLUMN: buf_printf(out, "column%u", ++*n); return;
	case KEY_FILTER_ROW:
		buf_printf(out, "new RowFilter(CompareOperator.%s, new BinaryComponentComparator(",
			   operators[f->op]);
		put_bytes(out, f->value, true);
		buf_printf(out, ", %zu))", f->at);
		return;
	case KEY_FILTER_ALL:
	case KEY_FILTER_ONE: break;
	}
	buf_printf(out, "new FilterList(FilterList.Operator.MUST_PASS_%s",
		   f->kind == KEY_FILTER_ALL ? "ALL" : "ONE");
	for (size_t i = 0; i < f->n; i++) {
		buf_append_str(out, ", ");
		put_java(out, f->of[i], n);
	}
	buf_put(out, ')');
}

void filter_java(struct buf *out, const struct key_filter *f)
{
	unsigned n = 0;
	declare_columns(out, f, &n);
	n = 0;
	buf_append_str(out, "Filter filter = ");
	put_java(out, f, &n);
	buf_append_str(out, ";\n");
}
