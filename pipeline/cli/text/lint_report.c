#include "cli/reports.h"

#include "show_json.h"

void lint_report_text(struct buf *out, const struct job *job, const struct lint *l)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct lint_finding *f = &l->findings[i];

		buf_printf(out, "%s:%u:%u: %s: %s: table %s: %s\n  why: %s\n  fix: ", job->path,
			   f->pos.line, f->pos.column, lint_severity_name(f->severity), f->rule,
			   f->table, f->what, f->why);
		for (const char *p = f->fix; *p; p++)
			buf_append_str(out, *p == '\n' ? "\n       " : (char[]){*p, 0});
		buf_put(out, '\n');
	}
}

void lint_report_severe(struct buf *out, const struct job *job, const struct lint *l)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct lint_finding *f = &l->findings[i];

		if (f->severity == LINT_SEVERE)
			buf_printf(out, "warning: %s:%u:%u: %s: table %s: %s\n", job->path,
				   f->pos.line, f->pos.column, f->rule, f->table, f->what);
	}
}

json_t *show_findings(const struct lint *l)
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
	return all;
}

void lint_report_json(struct buf *out, const struct lint *l)
{
	show_json(out, show_findings(l), JSON_INDENT(2));
}
