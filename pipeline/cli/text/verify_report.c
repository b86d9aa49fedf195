#include "cli/reports.h"

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

struct verify_view {
	const char *dir;
	bool ok;
	uint64_t files, rows, cells;
	struct finding *problems, *checks;
	size_t nproblems, nchecks;
};

static const struct form_member problem_members[] = {
	{"path", FORM_TEXT, IN(finding, path), "file, relative to dir"},
	{"problem", FORM_TEXT, IN(finding, text), "the problem, with found and expected values"},
};
static const struct form problem_form = FORM(finding, problem_members);

static const struct form_member check_members[] = {
	{"path", FORM_TEXT, IN(finding, path), "file, relative to dir"},
	{"proved", FORM_TEXT, IN(finding, text), "the checks that the file passed"},
};
static const struct form check_form = FORM(finding, check_members);

static const struct form_member verify_members[] = {
	{"dir", FORM_TEXT, IN(verify_view, dir), "the verified folder or file"},
	{"ok", FORM_FLAG, IN(verify_view, ok), "true if there is no problem"},
	{"files", FORM_COUNT, IN(verify_view, files), "read HFiles"},
	{"rows", FORM_COUNT, IN(verify_view, rows), "row keys in these HFiles"},
	{"cells", FORM_COUNT, IN(verify_view, cells), "cells in them"},
	{"problems", FORM_LIST, IN(verify_view, problems), "found problems",
	 ITEMS(verify_view, problem_form, nproblems)},
	{"checks", FORM_LIST, IN(verify_view, checks), "checks that passed",
	 ITEMS(verify_view, check_form, nchecks)},
};
const struct form verify_form = NAMED_FORM(verify_view, verify_members, "verify", "verify --json");

void verify_report_json(struct buf *out, const struct verify_result *r, const char *dir)
{
	const struct findings *f = &r->findings;
	struct arena a = {0};
	struct verify_view v = {.dir = dir,
				.ok = f->problems == 0,
				.files = r->files,
				.rows = r->rows,
				.cells = r->cells,
				.problems = arena_alloc(&a, f->count * sizeof *f->item),
				.checks = arena_alloc(&a, f->count * sizeof *f->item)};

	for (size_t i = 0; i < f->count; i++)
		if (f->item[i].problem)
			v.problems[v.nproblems++] = f->item[i];
		else
			v.checks[v.nchecks++] = f->item[i];
	form_put(out, &verify_form, &v, FORM_REPORT);
	arena_release(&a);
}
