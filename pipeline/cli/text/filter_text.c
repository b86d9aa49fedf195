/*
 * filter_text.c - prints filters as code for the HBase shell (JRuby), Java and Python
 *
 * In the shell and in Java, bytes are arguments of Bytes.toBytesBinary. Ruby's single quotes keep
 * backslashes. For Python, the filter is text in HBase's filter language (ParseFilter).
 */
#include "cli/reports.h"

#define SHELL_FILTER "org.apache.hadoop.hbase.filter."
#define SHELL_BYTES  "org.apache.hadoop.hbase.util.Bytes.toBytesBinary('"

static const char *const operators[] = {[FILTER_LESS] = "LESS",
					[FILTER_LESS_OR_EQUAL] = "LESS_OR_EQUAL",
					[FILTER_EQUAL] = "EQUAL",
					[FILTER_NOT_EQUAL] = "NOT_EQUAL",
					[FILTER_GREATER_OR_EQUAL] = "GREATER_OR_EQUAL",
					[FILTER_GREATER] = "GREATER"};

static bool is_list(const struct filter *f)
{
	return f->type == FILTER_LIST_AND || f->type == FILTER_LIST_OR;
}

/* Returns the name of the list's FilterList.Operator. */
static const char *list_operator(const struct filter *f)
{
	return f->type == FILTER_LIST_AND ? "MUST_PASS_ALL" : "MUST_PASS_ONE";
}

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

static void put_shell_fuzzy(struct buf *out, const struct filter *f)
{
	buf_append_str(out, SHELL_FILTER "FuzzyRowFilter.new([");
	for (size_t i = 0; i < f->nfuzzy; i++) {
		buf_printf(out, "%sorg.apache.hadoop.hbase.util.Pair.new(", i ? ", " : "");
		put_bytes(out, f->fuzzy[i].key, false);
		buf_append_str(out, ", ");
		put_bytes(out, f->fuzzy[i].mask, false);
		buf_put(out, ')');
	}
	buf_append_str(out, "])");
}

static void put_shell_row(struct buf *out, const struct filter *f)
{
	buf_printf(out, SHELL_FILTER "RowFilter.new(org.apache.hadoop.hbase.CompareOperator::%s, ",
		   operators[f->op]);
	buf_append_str(out, SHELL_FILTER "BinaryComponentComparator.new(");
	put_bytes(out, f->with.value, false);
	buf_printf(out, ", %zu))", f->with.at);
}

static void put_shell_column(struct buf *out, const struct filter *f)
{
	buf_append_str(out, SHELL_FILTER "SingleColumnValueFilter.new(");
	put_bytes(out, f->family, false);
	buf_append_str(out, ", ");
	put_bytes(out, f->qualifier, false);
	buf_printf(out, ", org.apache.hadoop.hbase.CompareOperator::%s, ", operators[f->op]);
	put_bytes(out, f->with.value, false);
	buf_append_str(out, ").tap { |f| f.setFilterIfMissing(true) }");
}

static void put_shell_list(struct buf *out, const struct filter *f)
{
	buf_printf(out, SHELL_FILTER "FilterList.new(" SHELL_FILTER "FilterList::Operator::%s, [",
		   list_operator(f));
	for (size_t i = 0; i < f->nof; i++) {
		buf_append_str(out, i ? ", " : "");
		filter_shell(out, f->of[i]);
	}
	buf_append_str(out, "])");
}

/* Writes the arguments of ColumnRangeFilter or ColumnPaginationFilter. */
static void put_columns(struct buf *out, const struct filter *f, bool java)
{
	const char *none = java ? "null" : "nil";

	if (f->type == FILTER_COLUMN_PAGINATION) {
		buf_printf(out, "%llu, 0", (unsigned long long)f->limit);
		return;
	}
	if (f->open_start)
		buf_append_str(out, none);
	else
		put_bytes(out, f->start, java);
	buf_printf(out, ", %s, ", f->start_inclusive ? "true" : "false");
	if (f->open_stop)
		buf_append_str(out, none);
	else
		put_bytes(out, f->stop, java);
	buf_printf(out, ", %s", f->stop_inclusive ? "true" : "false");
}

/* Returns the class of a filter on columns, or NULL for another filter. */
static const char *column_class(const struct filter *f)
{
	return f->type == FILTER_COLUMN_RANGE	     ? "ColumnRangeFilter"
	       : f->type == FILTER_COLUMN_PAGINATION ? "ColumnPaginationFilter"
						     : NULL;
}

void filter_shell(struct buf *out, const struct filter *f)
{
	const char *columns = column_class(f);

	if (columns) {
		buf_printf(out, SHELL_FILTER "%s.new(", columns);
		put_columns(out, f, false);
		buf_put(out, ')');
	} else if (is_list(f))
		put_shell_list(out, f);
	else if (f->type == FILTER_FUZZY_ROW)
		put_shell_fuzzy(out, f);
	else if (f->type == FILTER_ROW)
		put_shell_row(out, f);
	else
		put_shell_column(out, f);
}

/* --- Java --- */

/*
 * Declares each SingleColumnValueFilter as a variable, because setFilterIfMissing needs a separate
 * statement.
 */
static void declare_columns(struct buf *out, const struct filter *f, unsigned *n)
{
	for (size_t i = 0; i < f->nof; i++)
		declare_columns(out, f->of[i], n);
	if (f->type != FILTER_SINGLE_COLUMN_VALUE)
		return;
	++*n;
	buf_printf(out, "SingleColumnValueFilter column%u = new SingleColumnValueFilter(", *n);
	put_bytes(out, f->family, true);
	buf_append_str(out, ", ");
	put_bytes(out, f->qualifier, true);
	buf_printf(out, ", CompareOperator.%s, ", operators[f->op]);
	put_bytes(out, f->with.value, true);
	buf_printf(out, ");\ncolumn%u.setFilterIfMissing(true);\n", *n);
}

static void put_java_fuzzy(struct buf *out, const struct filter *f)
{
	buf_append_str(out, "new FuzzyRowFilter(Arrays.asList(");
	for (size_t i = 0; i < f->nfuzzy; i++) {
		buf_printf(out, "%snew Pair<>(", i ? ", " : "");
		put_bytes(out, f->fuzzy[i].key, true);
		buf_append_str(out, ", ");
		put_bytes(out, f->fuzzy[i].mask, true);
		buf_put(out, ')');
	}
	buf_append_str(out, "))");
}

static void put_java_row(struct buf *out, const struct filter *f)
{
	buf_printf(out, "new RowFilter(CompareOperator.%s, new BinaryComponentComparator(",
		   operators[f->op]);
	put_bytes(out, f->with.value, true);
	buf_printf(out, ", %zu))", f->with.at);
}

/* Writes a filter as a Java expression. *n is the number of columns that earlier calls declared. */
static void put_java(struct buf *out, const struct filter *f, unsigned *n)
{
	if (f->type == FILTER_FUZZY_ROW) {
		put_java_fuzzy(out, f);
	} else if (f->type == FILTER_ROW) {
		put_java_row(out, f);
	} else if (column_class(f)) {
		buf_printf(out, "new %s(", column_class(f));
		put_columns(out, f, true);
		buf_put(out, ')');
	} else if (is_list(f)) {
		buf_printf(out, "new FilterList(FilterList.Operator.%s", list_operator(f));
		for (size_t i = 0; i < f->nof; i++) {
			buf_append_str(out, ", ");
			put_java(out, f->of[i], n);
		}
		buf_put(out, ')');
	} else {
		buf_printf(out, "column%u", ++*n);
	}
}

void filter_java(struct buf *out, const struct filter *f)
{
	unsigned n = 0;

	declare_columns(out, f, &n);
	n = 0;
	buf_append_str(out, "Filter filter = ");
	put_java(out, f, &n);
	buf_append_str(out, ";\n");
}

/* --- Python --- */

/* Writes an argument of the filter language as a Python literal. The language doubles quotes. */
static void put_argument(struct buf *out, const char *front, struct bytes b)
{
	buf_printf(out, "'%s", front);
	for (size_t i = 0; i < b.len; i++) {
		bytes_escape(out, bytes_of(b.ptr + i, 1));
		if (b.ptr[i] == '\'')
			bytes_escape(out, bytes_of(b.ptr + i, 1));
	}
	buf_append_str(out, "'");
}

static void put_python(struct buf *out, const struct filter *f)
{
	static const char *const signs[] = {
		[FILTER_LESS] = "<",	[FILTER_LESS_OR_EQUAL] = "<=",
		[FILTER_EQUAL] = "=",	[FILTER_NOT_EQUAL] = "!=",
		[FILTER_GREATER] = ">", [FILTER_GREATER_OR_EQUAL] = ">="};

	if (is_list(f)) {
		for (size_t i = 0; i < f->nof; i++) {
			buf_append_str(out, i == 0			 ? "("
					    : f->type == FILTER_LIST_AND ? " AND "
									 : " OR ");
			put_python(out, f->of[i]);
		}
		buf_put(out, ')');
		return;
	}
	if (f->type == FILTER_COLUMN_PAGINATION) {
		buf_printf(out, "ColumnPaginationFilter(%llu, 0)", (unsigned long long)f->limit);
		return;
	}
	if (f->type == FILTER_COLUMN_RANGE) { /* an empty bound is open */
		buf_append_str(out, "ColumnRangeFilter(");
		put_argument(out, "", f->start);
		buf_printf(out, ", %s, ", f->start_inclusive ? "true" : "false");
		put_argument(out, "", f->stop);
		buf_printf(out, ", %s)", f->stop_inclusive ? "true" : "false");
		return;
	}
	buf_append_str(out, "SingleColumnValueFilter(");
	put_argument(out, "", f->family);
	buf_append_str(out, ", ");
	put_argument(out, "", f->qualifier);
	buf_printf(out, ", %s, ", signs[f->op]);
	put_argument(out, "binary:", f->with.value);
	buf_append_str(out, ", true, true)");
}

void filter_python(struct buf *out, const struct filter *f)
{
	buf_append_str(out, "b\"");
	put_python(out, f);
	buf_put(out, '"');
}
