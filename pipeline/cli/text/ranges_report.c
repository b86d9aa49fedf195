#include "cli/reports.h"

#include <stdio.h>

#include "show_json.h"
#include "bytes.h"

static void put_json_key(struct buf *out, const char *name, struct bytes key)
{
	struct buf text = {0};

	bytes_escape(&text, key);
	buf_printf(out, "\"%s\": ", name);
	show_json_text(out, buf_bytes(&text));
	buf_release(&text);
}

static void put_json_or_null(struct buf *out, const char *text)
{
	if (text)
		show_json_text(out, bytes_str(text));
	else
		buf_append_str(out, "null");
}

static void put_json_filter(struct buf *out, const struct filter *f)
{
	struct buf text = {0};

	if (!f)
		return;
	filter_shell(&text, f);
	buf_append_str(out, ", \"shell_filter\": ");
	show_json_text(out, buf_bytes(&text));
	text.len = 0;
	filter_java(&text, f);
	buf_append_str(out, ", \"java_filter\": ");
	show_json_text(out, buf_bytes(&text));
	buf_release(&text);
}

static void put_json(struct buf *out, const struct ranges_shown *s)
{
	const struct key_ranges *r = s->ranges;

	buf_printf(out, "{\"exact\": %s, \"ranges\": [", r->exact ? "true" : "false");
	for (size_t i = 0; i < r->n; i++) {
		buf_append_str(out, i ? ", {" : "{");
		put_json_key(out, "start", r->range[i].start);
		buf_append_str(out, ", ");
		put_json_key(out, "stop", r->range[i].stop);
		buf_put(out, '}');
	}
	buf_append_str(out, "], \"filter\": ");
	put_json_or_null(out, r->exact ? NULL : s->question);
	buf_append_str(out, ", \"advice\": ");
	put_json_or_null(out, s->advice);
	if (!r->exact)
		buf_printf(out, ", \"filter_exact\": %s", s->checks.exact ? "true" : "false");
	put_json_filter(out, s->checks.filter);
	if (s->cost.known)
		buf_printf(out, ", \"bytes\": %llu, \"table_bytes\": %llu",
			   (unsigned long long)s->cost.touched, (unsigned long long)s->cost.bytes);
	buf_append_str(out, "}\n");
}

/* A key between texts, its backslashes as often as the language wants them; empty: nothing. */
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

static void put_range(struct buf *out, const struct key_range *r, enum ranges_form form,
		      const char *table, bool filter)
{
	const char *comma = r->start.len && r->stop.len ? ", " : "";

	switch (form) {
	case RANGES_SHELL:
		/* double quotes: Ruby reads \xHH in no others */
		buf_printf(out, "scan '%s', {", table);
		put_key(out, "STARTROW => \"", r->start, "\"", false);
		buf_append_str(out, comma);
		put_key(out, "STOPROW => \"", r->stop, "\"", false);
		if (filter)
			buf_printf(out, "%sFILTER => filter",
				   r->start.len || r->stop.len ? ", " : "");
		buf_append_str(out, "}\n");
		return;
	case RANGES_JAVA:
		buf_append_str(out, "new Scan()");
		put_key(out, ".withStartRow(Bytes.toBytesBinary(\"", r->start, "\"))", true);
		put_key(out, ".withStopRow(Bytes.toBytesBinary(\"", r->stop, "\"))", true);
		buf_append_str(out, filter ? ".setFilter(filter)" : "");
		buf_put(out, '\n');
		return;
	case RANGES_PYTHON:
		buf_append_str(out, "table.scan(");
		put_key(out, "row_start=b'", r->start, "'", false);
		buf_append_str(out, comma);
		put_key(out, "row_stop=b'", r->stop, "'", false);
		buf_append_str(out, ")\n");
		return;
	default:
		put_key(out, "from ", r->start, "", false);
		buf_append_str(out, r->start.len ? "" : "from the first row");
		put_key(out, " to before ", r->stop, "\n", false);
		buf_append_str(out, r->stop.len ? "" : " to the last row\n");
		return;
	}
}

/*
 * A sentence of the question's own words in one line: no line end may end the remark.  To Java a
 * backslash and a u are a character in remarks too, unless the backslash is one of two (JLS 3.3).
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

/* What the scans share, in front of them. */
static void put_filter(struct buf *out, const struct filter *f, enum ranges_form form)
{
	if (form == RANGES_SHELL) {
		buf_append_str(out, "filter = ");
		filter_shell(out, f);
		buf_put(out, '\n');
	} else if (form == RANGES_JAVA) {
		filter_java(out, f);
	}
}

static void put_cost(struct buf *out, const struct ranges_cost *c, const char *remark)
{
	char bytes[16], touched[16];

	buf_printf(out, "%sreads at most %s of the table's %s (%s)\n", remark,
		   format_bytes(touched, c->touched), format_bytes(bytes, c->bytes), c->of);
}

void ranges_report(struct buf *out, const struct ranges_shown *s, enum ranges_form form)
{
	static const char *const remarks[] = {[RANGES_TABLE] = "",
					      [RANGES_SHELL] = "# ",
					      [RANGES_JAVA] = "// ",
					      [RANGES_PYTHON] = "# "};
	const struct key_ranges *r = s->ranges;
	bool filter = s->checks.filter && r->n && (form == RANGES_SHELL || form == RANGES_JAVA);

	if (form == RANGES_JSON) {
		put_json(out, s);
		return;
	}
	if (filter)
		put_filter(out, s->checks.filter, form);
	for (size_t i = 0; i < r->n; i++)
		put_range(out, &r->range[i], form, s->table, filter);
	if (r->n == 0)
		buf_printf(out, "%sno row can be what is asked for\n", remarks[form]);
	if (!r->exact && !(filter && s->checks.exact))
		put_remark(out, form, remarks[form],
			   "each row is still to be checked: ", s->question);
	if (s->advice)
		put_remark(out, form, remarks[form], "", s->advice);
	if (s->cost.known)
		put_cost(out, &s->cost, remarks[form]);
}
