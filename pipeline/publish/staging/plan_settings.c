/* plan_settings.c - read and write the settings.json of a plan (plan_settings.h) */
#include "publish.h"

#include "shared_forms.h"

static const struct form_member column_members[] = {
	{"name", FORM_KEY, IN(settings_column, name), "name from the header or the job"},
};
static const struct form column_form = FORM(settings_column, column_members);

static const struct form_member table_members[] = {
	{"name", FORM_TEXT, IN(settings_table, name),
	 "name of the table, with the namespace if it has one"},
	{"disk_per_byte", FORM_RATIO, IN(settings_table, disk_per_byte),
	 "size of the files divided by the size of the cells; 0 means no row"},
	{"splits_digest", FORM_DIGEST, IN(settings_table, splits_digest), "XXH3-128 of splits.txt"},
	{"tuned", FORM_LIST, IN(settings_table, tuned), "settings that `auto` found", FORM_IF_ANY,
	 ITEMS(settings_table, manifest_tuning_form, ntuned)},
};
static const struct form table_form = FORM(settings_table, table_members);

static const struct form_member settings_members[] = {
	{"job_digest", FORM_DIGEST, IN(plan_settings, job_digest), "digest of the job file"},
	{"tuned", FORM_FLAG, IN(plan_settings, tuned),
	 "true if the plan tried settings for `level: auto`"},
	{"columns", FORM_LIST, IN(plan_settings, columns), "columns of the input, in order",
	 ITEMS(plan_settings, column_form, ncolumns)},
	{"tables", FORM_LIST, IN(plan_settings, tables), "tables in the order of the job",
	 ITEMS(plan_settings, table_form, ntables)},
};
const struct form settings_form =
	NAMED_FORM(plan_settings, settings_members, "settings", "settings.json of a plan");

int settings_write(const struct plan_settings *s, const char *path, struct error *err)
{
	return form_write(&settings_form, s, path, err);
}

int settings_read(struct plan_settings *s, const char *path, struct arena *a, struct error *err)
{
	*s = (struct plan_settings){0};
	return form_read(&settings_form, s, path, "the settings of a plan", a, err);
}
