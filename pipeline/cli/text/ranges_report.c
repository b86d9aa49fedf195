#include "cli/reports.h"

#include <stdio.h>

#include "bytes.h"

/* --- JSON --- */

struct range_view {
	struct key_range r;
	bool is_row;
};
struct column_view {
	struct bytes family;
	struct key_range r;
	bool is_column;
};
struct ranges_view {
	struct column_view *columns;
	size_t ncolumns;
	bool exact, must_check, has_cost;
	struct range_view *ranges;
	size_t nranges;
	const char *filter, *advice;
	bool filter_exact;
	struct bytes shell, java;
	uint64_t bytes, table_bytes;
};

static const struct form_member range_members[] = {
	{"start", FORM_KEY, IN(range_view, r.start), "first row key; empty if there is no bound"},
	{"stop", FORM_KEY, IN(range_view, r.stop),
	 "first row key after the range; empty if there "
	 "is no bound"},
	{"row", FORM_KEY, IN(range_view, r.start), "the only row key of the range", FORM_IF,
	 IF(range_view, is_row)},
};
static const struct form range_form = FORM(range_view, range_members);

static const struct form_member column_members[] = {
	{"family", FORM_KEY, IN(column_view, family), "column family"},
	{"start", FORM_KEY, IN(column_view, r.start),
	 "first qualifier; empty if there is no "
	 "bound"},
	{"stop", FORM_KEY, IN(column_view, r.stop),
	 "first qualifier after the range; empty if "
	 "there is no bound"},
	{"qualifier", FORM_KEY, IN(column_view, r.start), "the only qualifier", FORM_IF,
	 IF(column_view, is_column)},
};
static const struct form column_form = FORM(column_view, column_members);

static const struct form_member ranges_members[] = {
	{"exact", FORM_FLAG, IN(ranges_view, exact), "true if every row in the ranges matches"},
	{"ranges", FORM_LIST, IN(ranges_view, ranges), "ranges, in the order of the row keys",
	 ITEMS(ranges_view, range_form, nranges)},
	{"columns", FORM_LIST, IN(ranges_view, columns),
	 "columns that the query selects; absent if it selects all columns", FORM_IF_ANY,
	 ITEMS(ranges_view, column_form, ncolumns)},
	{"filter", FORM_TEXT, IN(ranges_view, filter),
	 "condition to check on each row; null if "
	 "there is none",
	 FORM_OR_NULL},
	{"advice", FORM_TEXT, IN(ranges_view, advice),
	 "how to make the query read less; null if there is no advice", FORM_OR_NULL},
	{"filter_exact", FORM_FLAG, IN(ranges_view, filter_exact),
	 "true if the columns and HBase filters check the whole condition", FORM_IF,
	 IF(ranges_view, must_check)},
	{"shell_filter", FORM_BYTES, IN(ranges_view, shell), "the filter for `hbase shell`",
	 FORM_IF_ANY},
	{"java_filter", FORM_BYTES, IN(ranges_view, java), "the filter for HBase's Java client",
	 FORM_IF_ANY},
	{"bytes", FORM_COUNT, IN(ranges_view, bytes),
	 "bytes that a scan reads, computed from the load or plan", FORM_IF,
	 IF(ranges_view, has_cost)},
	{"table_bytes", FORM_COUNT, IN(ranges_view, table_bytes), "bytes of the whole table",
	 FORM_IF, IF(ranges_view, has_cost)},
};
const struct form ranges_form_json =
	NAMED_FORM(ranges_view, ranges_members, "key-ranges", "key ranges --json");

static void put_json(struct buf *out, const struct ranges_shown *s)
{
	const struct key_ranges *r = s->ranges;
	struct buf shell = {0}, java = {0};
	struct arena a = {0};
	struct ranges_view v = {.exact = r->exact,
				.must_check = !r->exact,
				.has_cost = s->cost.known,
				.ranges = arena_alloc(&a, r->n * sizeof *v.ranges),
				.nranges = r->n,
				.filter = r->exact ? NULL : s->question,
				.advice = s->advice,
				.filter_exact = s->checks.exact,
				.bytes = s->cost.touched,
				.table_bytes = s->cost.bytes};

	for (size_t i = 0; i < r->n; i++)
		v.ranges[i] = (struct range_view){r->range[i], key_range_is_row(&r->range[i])};
	v.columns = arena_alloc(&a, (s->ncolumns + 1) * sizeof *v.columns);
	v.ncolumns = s->ncolumns;
	for (size_t i = 0; i < s->ncolumns; i++)
		v.columns[i] = (struct column_view){s->columns[i].family, s->columns[i].qualifiers,
						    key_range_is_row(&s->columns[i].qualifiers)};
	if (s->checks.filter) {
		filter_shell(&shell, s->checks.filter);
		filter_java(&java, s->checks.filter);
		v.shell = buf_bytes(&shell);
		v.java = buf_bytes(&java);
	}
	form_put(out, &ranges_form_json, &v, FORM_SPACED);
	buf_put(out, '\n');
	buf_release(&shell);
	buf_release(&java);
	arena_release(&a);
}

/*
 * Writes a key between two texts. If `doubled` is true, doubles its backslashes for the language.
 * Writes nothing for an empty key.
 */
static void put_key(struct buf *out, const char *front, struct bytes key, const char *back,
		    bool doubled)
{
	struct buf text = {0};

	if (key.len == 0)
		return;
	bytes_escape(&text, key);
	buf_append_str(out, front);
	for (size_t i = 0; i < text.len; i++) {
		if (doubled && text.ptr[i] == '\\')
			buf_put(out, '\\');
		buf_put(out, text.ptr[i]);
	}
	buf_append_str(out, back);
	buf_release(&text);
}

/* Options of each scan, except its rows. */
struct scan_extras {
	const char *table;
	bool filter;
	uint64_t limit, caching; /* 0 if not set */
	const struct ranges_column *named;
	size_t nnamed;
};

/* Writes the name "f" or "f:\\xHH" of a column, without its quotes. */
static void put_column(struct buf *out, const struct ranges_column *c)
{
	bytes_escape(out, c->family);
	if (!key_range_is_row(&c->qualifiers))
		return;
	buf_put(out, ':');
	bytes_escape(out, c->qualifiers.start);
}

/* Writes a list of columns for the shell or Python. Writes nothing if the scan names no columns. */
static void put_named(struct buf *out, const struct scan_extras *x, const char *front,
		      const char *quote, const char *end)
{
	for (size_t i = 0; i < x->nnamed; i++) {
		buf_append_str(out, i ? ", " : front);
		buf_append_str(out, quote);
		put_column(out, &x->named[i]);
		buf_put(out, (uint8_t)quote[strlen(quote) - 1]);
	}
	buf_append_str(out, x->nnamed ? end : "");
}

/* Writes calls of addColumn and addFamily. */
static void put_java_columns(struct buf *out, const struct scan_extras *x)
{
	for (size_t i = 0; i < x->nnamed; i++) {
		const struct ranges_column *c = &x->named[i];
		bool one = key_range_is_row(&c->qualifiers);

		put_key(out,
			one ? ".addColumn(Bytes.toBytesBinary(\""
			    : ".addFamily(Bytes.toBytesBinary(\"",
			c->family, one ? "\"), " : "\"))", true);
		if (one)
			put_key(out, "Bytes.toBytesBinary(\"", c->qualifiers.start, "\"))", true);
	}
}

/* Writes a comma and an option for Python or the shell, if the value is not 0. */
static void put_number(struct buf *out, const char *name, uint64_t value)
{
	if (value)
		buf_printf(out, ", %s%llu", name, (unsigned long long)value);
}

static void put_shell(struct buf *out, const struct key_range *r, const struct scan_extras *x)
{
	struct buf options = {0};

	/* Ruby reads \xHH only in double quotes */
	if (key_range_is_row(r)) {
		buf_printf(out, "get '%s', ", x->table);
		put_key(out, "\"", r->start, "\"", false);
		put_named(&options, x, ", COLUMNS => [", "\"", "]");
		buf_append_str(&options, x->filter ? ", FILTER => filter" : "");
		if (options.len)
			buf_printf(out, ", {%.*s}", (int)options.len - 2,
				   (const char *)options.ptr + 2);
		buf_put(out, '\n');
		buf_release(&options);
		return;
	}
	put_named(&options, x, ", COLUMNS => [", "\"", "]");
	put_key(&options, ", STARTROW => \"", r->start, "\"", false);
	put_key(&options, ", STOPROW => \"", r->stop, "\"", false);
	buf_append_str(&options, x->filter ? ", FILTER => filter" : "");
	put_number(&options, "LIMIT => ", x->limit);
	put_number(&options, "CACHE => ", x->caching);
	buf_printf(out, "scan '%s', {", x->table);
	if (options.len)
		buf_append(out, options.ptr + 2, options.len - 2);
	buf_append_str(out, "}\n");
	buf_release(&options);
}

/*
 * Writes a scan or a get in Java. HBase treats a scan as a get if start and stop are the same row
 * and both are inclusive.
 */
static void put_java(struct buf *out, const struct key_range *r, const struct scan_extras *x)
{
	bool row = key_range_is_row(r);

	if (row && x->nnamed) {
		put_key(out, "new Get(Bytes.toBytesBinary(\"", r->start, "\"))", true);
		put_java_columns(out, x);
		buf_append_str(out, x->filter ? ".setFilter(filter)\n" : "\n");
		return;
	}
	buf_append_str(out, "new Scan()");
	put_key(out, ".withStartRow(Bytes.toBytesBinary(\"", r->start, "\"))", true);
	put_key(out, ".withStopRow(Bytes.toBytesBinary(\"", row ? r->start : r->stop,
		row ? "\"), true)" : "\"))", true);
	put_java_columns(out, x);
	buf_append_str(out, x->filter ? ".setFilter(filter)" : "");
	if (x->limit && !row)
		buf_printf(out, ".setLimit(%llu)", (unsigned long long)x->limit);
	if (x->caching && !row)
		buf_printf(out, ".setCaching(%llu)", (unsigned long long)x->caching);
	buf_put(out, '\n');
}

/*
 * Writes a scan or a get in Python. A get in happybase accepts no filter, so a row with a filter
 * needs a scan.
 */
static void put_python(struct buf *out, const struct key_range *r, const struct scan_extras *x)
{
	struct buf options = {0};

	if (key_range_is_row(r) && !x->filter) {
		put_key(out, "table.row(b'", r->start, "'", false);
		put_named(out, x, ", columns=[", "b'", "]");
		buf_append_str(out, ")\n");
		return;
	}
	put_key(&options, ", row_start=b'", r->start, "'", false);
	put_key(&options, ", row_stop=b'", r->stop, "'", false);
	put_named(&options, x, ", columns=[", "b'", "]");
	buf_append_str(&options, x->filter ? ", filter=filter" : "");
	put_number(&options, "limit=", x->limit);
	put_number(&options, "batch_size=", x->caching);
	buf_append_str(out, "table.scan(");
	if (options.len)
		buf_append(out, options.ptr + 2, options.len - 2);
	buf_append_str(out, ")\n");
	buf_release(&options);
}

static void put_words(struct buf *out, const struct key_range *r)
{
	if (key_range_is_row(r)) {
		put_key(out, "row ", r->start, "\n", false);
		return;
	}
	put_key(out, "from ", r->start, "", false);
	buf_append_str(out, r->start.len ? "" : "from the first row");
	put_key(out, " to before ", r->stop, "\n", false);
	buf_append_str(out, r->stop.len ? "" : " to the last row\n");
}

static void put_column_words(struct buf *out, const struct ranges_column *c)
{
	const struct key_range *q = &c->qualifiers;

	if (key_range_is_row(q)) {
		buf_append_str(out, "column ");
		put_column(out, c);
		buf_put(out, '\n');
		return;
	}
	buf_append_str(out, "columns of ");
	bytes_escape(out, c->family);
	put_key(out, " from ", q->start, "", false);
	put_key(out, " to before ", q->stop, "", false);
	buf_put(out, '\n');
}

static void put_range(struct buf *out, const struct key_range *r, enum ranges_form form,
		      const struct scan_extras *x)
{
	switch (form) {
	case RANGES_SHELL: put_shell(out, r, x); return;
	case RANGES_JAVA: put_java(out, r, x); return;
	case RANGES_PYTHON: put_python(out, r, x); return;
	case RANGES_TABLE: put_words(out, r); return;
	case RANGES_JSON: return; /* put_json prints this form */
	}
}

/*
 * Writes a one-line comment. The comment quotes the query, so it must not contain line ends. Java
 * also decodes \uXXXX in comments, unless there are two backslashes (JLS 3.3).
 */
static void put_remark(struct buf *out, enum ranges_form form, const char *remark, const char *what,
		       const char *text)
{
	const char *slash = form == RANGES_JAVA ? "\\" : "";

	buf_printf(out, "%s%s", remark, what);
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			buf_printf(out, "%s\\x%02X", slash, (unsigned)*p);
		else if (*p == '\\')
			buf_printf(out, "%s\\", slash);
		else
			buf_put(out, (uint8_t)*p);
	buf_put(out, '\n');
}

/* Prints the filter, which all scans share, before the scans. */
static void put_filter(struct buf *out, const struct filter *f, enum ranges_form form)
{
	if (form == RANGES_JAVA) {
		filter_java(out, f);
		return;
	}
	buf_append_str(out, "filter = ");
	(form == RANGES_SHELL ? filter_shell : filter_python)(out, f);
	buf_put(out, '\n');
}

static void put_cost(struct buf *out, const struct ranges_cost *c, const char *remark)
{
	char bytes[16], touched[16];

	buf_printf(out, "%sreads at most %s of the table's %s (%s)\n", remark,
		   format_bytes(touched, c->touched), format_bytes(bytes, c->bytes), c->of);
}

/* Explains the limit if there are several scans, or if the user must check rows. */
static void put_limit(struct buf *out, const struct ranges_shown *s, const char *remark,
		      bool checked)
{
	unsigned long long limit = s->limit;

	if (!checked)
		buf_printf(out,
			   "%sno scan has the limit, because you must check rows; stop after "
			   "%llu matching rows\n",
			   remark, limit);
	else if (s->ranges->n > 1)
		buf_printf(out, "%seach scan has the limit; stop after %llu rows in all\n", remark,
			   limit);
}

static void put_remarks(struct buf *out, const struct ranges_shown *s, enum ranges_form form,
			const char *remark, bool checked)
{
	for (size_t i = 0; form == RANGES_TABLE && i < s->ncolumns; i++)
		put_column_words(out, &s->columns[i]);
	if (s->ranges->n == 0)
		buf_printf(out, "%sno row can match\n", remark);
	if (!checked)
		put_remark(out, form, remark, "you must still check each row: ", s->question);
	if (s->limit)
		put_limit(out, s, remark, checked);
	if (s->advice)
		put_remark(out, form, remark, "", s->advice);
	if (s->cost.known)
		put_cost(out, &s->cost, remark);
}

#define CACHING_MOST 1000 /* most rows in one answer of a server */

void ranges_report(struct buf *out, const struct ranges_shown *s, enum ranges_form form)
{
	static const char *const remarks[] = {[RANGES_TABLE] = "",
					      [RANGES_SHELL] = "# ",
					      [RANGES_JAVA] = "// ",
					      [RANGES_PYTHON] = "# "};
	const struct key_ranges *r = s->ranges;
	struct scan_extras x = {.table = s->table,
				.filter = s->checks.filter && r->n && form != RANGES_TABLE,
				.named = s->named,
				.nnamed = s->nnamed,
				.caching = s->limit < CACHING_MOST ? s->limit : CACHING_MOST};
	bool checked = r->exact || ((x.filter || s->ncolumns) && s->checks.exact);

	if (form == RANGES_JSON) {
		put_json(out, s);
		return;
	}
	x.limit = checked ? s->limit : 0;
	if (x.filter)
		put_filter(out, s->checks.filter, form);
	for (size_t i = 0; i < r->n; i++)
		put_range(out, &r->range[i], form, &x);
	put_remarks(out, s, form, remarks[form], checked);
}
