#include "ranges_report.h"

#include <stdio.h>

#include "show_json.h"

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

static void put_json(struct buf *out, const struct key_ranges *r, const char *left,
		     const char *advice)
{
	buf_printf(out, "{\"exact\": %s, \"ranges\": [", r->exact ? "true" : "false");
	for (size_t i = 0; i < r->n; i++) {
		buf_append_str(out, i ? ", {" : "{");
		put_json_key(out, "start", r->range[i].start);
		buf_append_str(out, ", ");
		put_json_key(out, "stop", r->range[i].stop);
		buf_put(out, '}');
	}
	buf_append_str(out, "], \"filter\": ");
	put_json_or_null(out, left);
	buf_append_str(out, ", \"advice\": ");
	put_json_or_null(out, advice);
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
		      const char *table)
{
	const char *comma = r->start.len && r->stop.len ? ", " : "";
	switch (form) {
	case RANGES_SHELL:
		/* double quotes: Ruby reads \xHH in no others */
		buf_printf(out, "scan '%s', {", table);
		put_key(out, "STARTROW => \"", r->start, "\"", false);
		buf_append_str(out, comma);
		put_key(out, "STOPROW => \"", r->stop, "\"", false);
		buf_append_str(out, "}\n");
		return;
	case RANGES_JAVA:
		buf_append_str(out, "new Scan()");
		put_key(out, ".withStartRow(Bytes.toBytesBinary(\"", r->start, "\"))", true);
		put_key(out, ".withStopRow(Bytes.toBytesBinary(\"", r->stop, "\"))", true);
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

void ranges_report(struct buf *out, const struct key_ranges *r, enum ranges_form form,
		   const char *table, const char *question, const char *advice)
{
	static const char *const remarks[] = {[RANGES_TABLE] = "",
					      [RANGES_SHELL] = "# ",
					      [RANGES_JAVA] = "// ",
					      [RANGES_PYTHON] = "# "};
	const char *left = r->exact ? NULL : question;
	if (form == RANGES_JSON) {
		put_json(out, r, left, advice);
		return;
	}
	for (size_t i = 0; i < r->n; i++)
		put_range(out, &r->range[i], form, table);
	if (r->n == 0)
		buf_printf(out, "%sno row can be what is asked for\n", remarks[form]);
	if (left)
		buf_printf(out, "%seach row is still to be checked: %s\n", remarks[form], left);
	if (advice)
		buf_printf(out, "%s%s\n", remarks[form], advice);
}
