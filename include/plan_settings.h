/*
 * plan_settings.h - settings.json of a plan: what runs that keep to it take from there, besides the
 * split keys
 */
#ifndef SALTMILL_PLAN_SETTINGS_H
#define SALTMILL_PLAN_SETTINGS_H

#include "publish.h"

struct settings_column {
	struct bytes name;
};
struct settings_table {
	const char *name;
	double disk_per_byte;	       /* bytes on disk for one of cells; 0: no row was seen */
	uint8_t splits_digest[16];     /* XXH3-128 of splits.txt */
	struct manifest_tuning *tuned; /* of families with `level: auto` */
	size_t ntuned;
};
struct plan_settings {
	uint8_t job_digest[16];
	bool tuned;			 /* `level: auto` was looked for */
	struct settings_column *columns; /* of the input, in order */
	size_t ncolumns;
	struct settings_table *tables; /* in the order of the job */
	size_t ntables;
};

int settings_write(const struct plan_settings *s, const char *path, struct error *err);
/* All is in *a.  RC_DATA when it is no such file. */
int settings_read(struct plan_settings *s, const char *path, struct arena *a, struct error *err);

#endif
