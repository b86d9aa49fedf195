/* plan_settings.c - see plan_settings.h */
#include "publish.h"

#include "shape.h"

/* A ratio is read as it was written. */
enum { REAL_DIGITS = 17 };

static const struct shape_member column_members[] = {
	{.key = "name", ROW_KEY, AT(settings_column, name)},
};
SHAPE(settings_column, column_members);

static const struct shape_member table_members[] = {
	{.key = "name", TEXT, AT(settings_table, name)},
	{.key = "disk_per_byte", RATIO, AT(settings_table, disk_per_byte)},
	{.key = "splits_digest", DIGEST, AT(settings_table, splits_digest)},
	{.key = "tuned",
	 LIST,
	 AT(settings_table, tuned),
	 .items = &manifest_tuning_shape,
	 .count_at = AT(settings_table, ntuned),
	 .optional = true},
};
SHAPE(settings_table, table_members);

static const struct shape_member settings_members[] = {
	{.key = "job_digest", DIGEST, AT(plan_settings, job_digest)},
	{.key = "tuned", FLAG, AT(plan_settings, tuned)},
	{.key = "columns",
	 LIST,
	 AT(plan_settings, columns),
	 .items = &settings_column_shape,
	 .count_at = AT(plan_settings, ncolumns)},
	{.key = "tables",
	 LIST,
	 AT(plan_settings, tables),
	 .items = &settings_table_shape,
	 .count_at = AT(plan_settings, ntables)},
};
SHAPE(plan_settings, settings_members);

int settings_write(const struct plan_settings *s, const char *path, struct error *err)
{
	return shape_write(&plan_settings_shape, s, REAL_DIGITS, path, err);
}

int settings_read(struct plan_settings *s, const char *path, struct arena *a, struct error *err)
{
	*s = (struct plan_settings){0};
	return shape_read(&plan_settings_shape, s, path, "the settings of a plan", a, err);
}
