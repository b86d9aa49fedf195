/*
 * kept_plan.h - a plan that runs keep to: `--plan DIR` of load, map, reduce and unite
 *
 * DIR is what `plan -o DIR` made.  Who keeps to one plan cuts the same regions with the same
 * settings, so that parts of a load that were made apart fit together, and are those of one load.
 */
#ifndef SALTMILL_KEPT_PLAN_H
#define SALTMILL_KEPT_PLAN_H

#include "hfile.h"
#include "job.h"
#include "splits.h"

struct kept_table {
	struct splits splits;
	double disk_per_byte;	    /* 0: no rows were seen */
	struct hfile_tuning *tuned; /* [families]; NULL: none asks for it */
};

struct kept_plan {
	const char **columns; /* of the input */
	size_t ncolumns;
	struct kept_table *tables; /* [ntables of the job] */
	size_t ntables;
	uint8_t identity[16]; /* digest of the program's version, the job, and all of this */
	struct arena arena;
};

/* RC_CONFIG: the plan is of another job, or not tuned for one that asks for `level: auto`. */
int kept_plan_read(struct kept_plan *k, const char *dir, const struct job *job, struct error *err);
/* RC_DATA: the input's columns are others than the plan's. */
int kept_plan_columns(const struct kept_plan *k, const char *const *columns, size_t n,
		      const char *input, struct error *err);
void kept_plan_release(struct kept_plan *k);

#endif
