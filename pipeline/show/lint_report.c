#include "lint_report.h"

#include "show_json.h"

void lint_report_text(struct buf *out, const struct job *job, const struct lint *l)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct lint_finding *f = &l->findings[i];
		buf_printf(out, "%s:%u:%u: %s: %s: table %s: %s\n  why: %s\n  fix: %s\n", job->path,
			   f->pos.line, f->pos.column, lint_severity_name(f->severity), f->rule,
			   f->table, f->what, f->why, f->fix);
	}
}

void lint_report_json(struct buf *out, const struct lint *l)
{
	json_t *all = json_array();
	for (size_t i = 0; i < l->count; i++) {
		const struct lint_finding *f = &l->findings[i];
		json_array_append_new(all,
				      json_pack("{s:s, s:s, s:s, s:i, s:i, s:s, s:s, s:s, s:f}",
						"rule", f->rule, "severity",
						lint_severity_name(f->severity), "table", f->table,
						"line", (int)f->pos.line, "column",
						(int)f->pos.column, "what", f->what, "why", f->why,
						"fix", f->fix, "figure", f->figure));
	}
	show_json(out, all, JSON_INDENT(2));
}
