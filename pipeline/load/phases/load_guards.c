/*
 * load_guards.c - refuse a load that is too small, because an empty or incomplete export must not
 * replace a table
 */
#include "load_state.h"

static int check_table(const struct load *l, const struct manifest_table *t, struct error *err)
{
	const struct load_options *opt = l->opt;
	uint64_t all = t->loaded + t->filtered + t->deduplicated;
	uint64_t allowed = opt->max_filtered ? event_limit_of(opt->max_filtered, all) : UINT64_MAX;

	if (t->rows < opt->min_rows)
		return error_set(err, RC_DATA,
				 "table %s: found %llu rows, expected at least %llu "
				 "(--min-rows); saltmill published nothing",
				 t->name, (unsigned long long)t->rows,
				 (unsigned long long)opt->min_rows);
	if (t->filtered > allowed)
		return error_set(
			err, RC_DATA,
			"table %s: found %llu of %llu events filtered, expected at most %llu "
			"(--max-filtered); saltmill published nothing",
			t->name, (unsigned long long)t->filtered, (unsigned long long)all,
			(unsigned long long)allowed);
	return RC_OK;
}

int load_check_guards(const struct load *l, struct rejects *rejects, struct error *err)
{
	const struct manifest *m = &l->result->manifest;
	int rc = rejects_check_shares(rejects, m->read, err);

	for (size_t i = 0; i < m->ntables && rc == RC_OK; i++)
		rc = check_table(l, &m->tables[i], err);
	return rc;
}
