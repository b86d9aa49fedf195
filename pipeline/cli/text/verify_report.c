#include "cli/reports.h"

#include "show_json.h"

void verify_report_text(struct buf *out, const struct verify_result *r, bool quiet)
{
	const struct findings *f = &r->findings;
	char files[28], rows[28], cells[28];

	for (size_t i = 0; i < f->count; i++)
		if (f->item[i].problem || !quiet)
			buf_printf(out, "%-8s %s: %s\n", f->item[i].problem ? "PROBLEM" : "ok",
				   f->item[i].path, f->item[i].text);
	if (f->problems)
		buf_printf(out, "%zu problem%s\n", f->problems, f->problems == 1 ? "" : "s");
	else if (!quiet)
		buf_printf(out, "verified: %s files, %s rows, %s cells\n",
			   format_count(files, r->files), format_count(rows, r->rows),
			   format_count(cells, r->cells));
}

void verify_report_json(struct buf *out, const struct verify_result *r, const char *dir)
{
	const struct findings *f = &r->findings;
	json_t *problems = json_array(), *checks = json_array();

	for (size_t i = 0; i < f->count; i++)
		json_array_append_new(f->item[i].problem ? problems : checks,
				      json_pack("{s:o, s:o}", "path", show_string(f->item[i].path),
						f->item[i].problem ? "problem" : "proved",
						show_string(f->item[i].text)));
	json_t *all = json_pack("{s:o, s:b, s:I, s:I, s:I, s:o, s:o}", "dir", show_string(dir),
				"ok", f->problems == 0, "files", (json_int_t)r->files, "rows",
				(json_int_t)r->rows, "cells", (json_int_t)r->cells, "problems",
				problems, "checks", checks);
	show_json(out, all, JSON_INDENT(2));
}
