/* agree_tables.h - regions and attributes of the tables that `saltmill agree` reads (inside this folder only) */
#ifndef SALTMILL_CMD_AGREE_TABLES_H
#define SALTMILL_CMD_AGREE_TABLES_H

#include "cli/reports.h"
#include "ddl.h"
#include "hbase.h"
#include "load_dirs.h"
#include "query.h"

/*
 * Append the split points of all loads that have the table to *out, in key order. Each region of a
 * repair is then within one region of each load. The listener, unless it is NULL, gets the name of
 * a load whose regions differ from those of the newest one. Returns RC_DATA if a load is no load.
 */
int agree_split_points(struct splits *out, const struct load_dirs *dirs, const char *table,
		       const struct listener *say, struct error *err);

/*
 * Compare a table of HBase with the job: the attributes that decide which cells a reader gets, and
 * the families. Append what differs, with its fix, to `out`, in the arena. Returns RC_CONFIG if the
 * table lacks a family or, with `strict`, if an attribute differs, because HBase would not take a load
 * of the job.
 */
int agree_find_altered(struct agree_report *out, const struct job_table *t,
		       const struct description *have, bool strict, struct arena *a,
		       struct error *err);
/*
 * Append the split points of the job that the live regions lack. Jobs whose split points come from
 * the data have none.
 */
void agree_find_merged(struct agree_report *out, const struct job *job, const struct job_table *t,
		       const struct hbase_regions *live, struct arena *a);

#endif
