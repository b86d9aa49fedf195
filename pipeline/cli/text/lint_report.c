#include "cli/reports.h"

void lint_report_text(struct buf *out, const struct job *job, const struct lint *l)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct lint_finding *f = &l->findings[i];

		buf_printf(out, "%s:%u:%u: %s: %s: table %s: %s\n  why: %s\n", job->path,
			   f->pos.line, f->pos.column, lint_severities[f->severity], f->rule,
			   f->table, f->what, f->why);
		if (!f->fix)
			continue;
		buf_append_str(out, "  fix: ");
		for (const char *p = f->fix; *p; p++)
			buf_append_str(out, *p == '\n' ? "\n       " : (char[]){*p, 0});
		buf_put(out, '\n');
	}
}

void lint_report_always(struct buf *out, const struct job *job, const struct lint *l)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct lint_finding *f = &l->findings[i];

		if (f->severity == LINT_SEVERE || f->always)
			buf_printf(out, "warning: %s:%u:%u: %s: table %s: %s%s%s\n", job->path,
				   f->pos.line, f->pos.column, f->rule, f->table, f->what,
				   f->fix ? "" : ". ", f->fix ? "" : f->why);
	}
}

static const struct form_member finding_members[] = {
	{"rule", FORM_TEXT, IN(lint_finding, rule),
	 "name of the rule, see pipeline/advise/lint/README.md"},
	{"severity", FORM_CHOICE, IN(lint_finding, severity), "severity: severe, warning or advice",
	 .choices = lint_severities},
	{"table", FORM_TEXT, IN(lint_finding, table), "table of the job"},
	{"line", FORM_UINT, IN(lint_finding, pos.line), "line of the job file"},
	{"column", FORM_UINT, IN(lint_finding, pos.column), "column of the job file"},
	{"what", FORM_TEXT, IN(lint_finding, what), "the fact that lint found, with a figure"},
	{"why", FORM_TEXT, IN(lint_finding, why), "consequence of the fault"},
	{"fix", FORM_TEXT, IN(lint_finding, fix),
	 "YAML that replaces the lines of the job; absent if no change of "
	 "the job helps",
	 FORM_IF_ANY},
	{"figure", FORM_REAL, IN(lint_finding, figure), "the measured figure"},
};
const struct form lint_form =
	NAMED_FORM(lint_finding, finding_members, "lint", "lint --json", .is_list = true);

void lint_report_json(struct buf *out, const struct lint *l)
{
	form_put_list(out, &lint_form, l->findings, l->count, FORM_REPORT);
}
