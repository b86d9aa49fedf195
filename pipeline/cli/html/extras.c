/* extras.c - reads phase times and findings from the JSON that commands printed (extras.h) */
#include "extras.h"

#include <string.h>

#include "cli/report_views.h"
#include "cli/reports.h"
#include "io.h"

/*
 * Returns true if the view can be the output of `load --json` for the load `m`. Compares
 * only names and counts.
 */
static bool is_of_load(const struct load_report_load *v, const struct manifest *m)
{
	bool same = v->ntables == m->ntables && v->read == m->read && v->rejected == m->rejected;

	for (size_t i = 0; same && i < m->ntables; i++)
		same = strcmp(v->tables[i].t.name, m->tables[i].name) == 0 &&
		       v->tables[i].t.cells == m->tables[i].cells;
	return same;
}

static int read_timings(struct extras *e, const char *path, const struct manifest *m,
			struct arena *a, struct error *err)
{
	static const char what[] = "the output of `load --json` of this load";
	struct load_report_load v = {0};

	if (!m)
		return error_set(err, RC_CONFIG,
				 "--timings: found no load in %s, expected the folder of a load",
				 path);
	int rc = form_read(&load_form, &v, path, what, a, err);
	if (rc == RC_OK && !is_of_load(&v, m))
		rc = error_set(err, RC_DATA, "%s: found the output of another load, expected %s",
			       path, what);
	if (rc)
		return rc;
	e->timings[e->ntimings++] = (struct timing){"reading and sorting", v.seconds.read};
	e->timings[e->ntimings++] = (struct timing){"choosing splits", v.seconds.splits};
	e->timings[e->ntimings++] = (struct timing){"writing files", v.seconds.write};
	e->timings[e->ntimings++] = (struct timing){"publishing", v.seconds.publish};
	e->spilled_bytes = v.spilled_bytes;
	return RC_OK;
}

/* Reads the findings from the list of `lint --json` or from the object of `plan --json`. */
static int read_findings(struct extras *e, const char *path, struct arena *a, struct error *err)
{
	static const char what[] = "the output of `lint --json` or `plan --json`";
	struct buf text = {0};
	void *list = NULL;
	struct plan_view plan = {0};
	int rc = io_read_file(path, &text, err);
	size_t at = 0;

	while (at < text.len && strchr(" \t\r\n", text.ptr[at]))
		at++;
	if (rc == RC_OK && at < text.len && text.ptr[at] == '[')
		rc = form_parse_list(&lint_form, &list, &e->nfindings, buf_bytes(&text), path, what,
				     a, err);
	else if (rc == RC_OK)
		rc = form_parse(&plan_form, &plan, buf_bytes(&text), path, what, a, err);
	if (rc == RC_OK && !list && !plan.linted)
		rc = error_set(err, RC_DATA, "%s: found no findings, expected %s", path, what);
	e->linted = true;
	e->findings = list;
	if (rc == RC_OK && plan.linted) {
		e->findings = plan.findings;
		e->nfindings = plan.nfindings;
	}
	buf_release(&text);
	return rc;
}

int extras_read(struct extras *e, const struct page_files *f, const struct manifest *m,
		struct arena *a, struct error *err)
{
	int rc = RC_OK;

	*e = (struct extras){0};
	if (f->timings)
		rc = read_timings(e, f->timings, m, a, err);
	if (rc == RC_OK && f->lint)
		rc = read_findings(e, f->lint, a, err);
	return rc;
}
