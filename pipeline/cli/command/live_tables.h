/*
 * live_tables.h - reads tables of a live HBase for commands without a job (inside this folder only)
 *
 * The functions retry failed calls as hbase_retry decides. They return RC_CONFIG if the cluster has
 * no such table.
 */
#ifndef SALTMILL_CMD_LIVE_TABLES_H
#define SALTMILL_CMD_LIVE_TABLES_H

#include "arguments.h"
#include "hbase.h"

/* Return true if the command line has --hbase. Otherwise, print the error and return false. */
bool live_tables_asked(const struct arguments *a);
/* Connect to the cluster of --hbase as --user. Close *out whatever the result. */
int live_tables_open(struct hbase **out, const struct arguments *a, struct error *err);
/* Call hbase_tables. Returns RC_CONFIG if the master rejects the regular expression. */
int live_tables_read(struct hbase *h, const char *regex, struct hbase_tables *out,
		     struct error *err);
/*
 * Read the attributes of an enabled table. *denied is true if the user may read the table, but not
 * its attributes. *exists is false if there is no such table.
 */
int live_tables_read_one(struct hbase *h, const char *table, struct description *out,
			 struct arena *a, bool *exists, bool *denied, struct error *err);
/* Report that the cluster has no such table. Returns RC_CONFIG. */
int live_tables_missing(const char *table, struct error *err);
/* Read the regions of a table, even if they have a gap. Release *r whatever the result. */
int live_tables_places(struct hbase *h, const char *table, struct hbase_regions *r,
		       struct error *err);
/* Read the attributes and the state of a table. */
int live_tables_describe(struct hbase *h, const char *table, struct description *out,
			 enum hbase_table_state *state, struct arena *a, struct error *err);
/*
 * Read the regions of a table, and the status with their sizes. If the regions still have a gap
 * after some attempts, the result is RC_OK and r->gap is true. Release both whatever the result.
 */
int live_tables_regions(struct hbase *h, const char *table, struct hbase_regions *r,
			struct hbase_status *s, struct error *err);
/*
 * Disable and drop a table. A table that somebody else has dropped meanwhile, or that does not
 * exist, is a success.
 */
int live_tables_drop(struct hbase *h, const char *table, struct error *err);

#endif
