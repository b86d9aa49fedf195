/* table_sample.h - sample the rows of a live table, or of a table without region servers */
#ifndef SALTMILL_CMD_TABLE_SAMPLE_H
#define SALTMILL_CMD_TABLE_SAMPLE_H

#include "first_rows.h"
#include "hbase.h"
#include "query.h"

/*
 * Sample rows at the start of regions and at places inside. The calls, the rows and the memory have
 * limits, whatever the size of the table. Regions that do not answer are left out, and a sentence
 * in `doubts` names them. Returns RC_IO if no region answers, or if HBase refuses the user.
 */
int table_sample_live(struct sampled_table *out, struct buf *doubts, struct hbase *h,
		      const char *table, struct error *err);
/* Sample rows of store files in the same way. */
int table_sample_offline(struct sampled_table *out, const struct published *p, struct error *err);

#endif
