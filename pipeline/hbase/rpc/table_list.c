/* table_list.c - the tables of a cluster, with their states and numbers of regions */
#include <stdlib.h>

#include "decode.h"
#include "encode.h"
#include "session.h"

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct hbase_table *)a)->name, ((const struct hbase_table *)b)->name);
}

static int read_names(struct hbase *h, const char *regex, struct hbase_tables *out,
		      struct hbase_failure *why, struct error *err)
{
	struct buf b = {0};
	struct rpc_answer answer;

	put_table_query(&b, regex);
	int rc = session_call_master(h, "GetTableDescriptors", &b, &answer, why, err);
	buf_release(&b);
	if (rc)
		return rc;
	rc = decode_table_names(answer.message, out, err);
	if (rc)
		why->trouble = TROUBLE_REFUSED;
	rpc_answer_release(&answer);
	if (out->count)
		qsort(out->item, out->count, sizeof *out->item, by_name);
	return rc;
}

/*
 * Count the table's regions. A new table has none. A gap does not matter here, because a list must
 * also show a table during a split, and a broken table.
 */
static int count_regions(struct hbase *h, struct hbase_table *t, struct hbase_failure *why,
			 struct error *err)
{
	struct hbase_regions r;
	int rc = hbase_regions(h, t->name, &r, why, err);

	if (r.gap || (rc && why->trouble == TROUBLE_MISSING))
		rc = RC_OK;
	t->regions = r.count;
	hbase_regions_release(&r);
	return rc;
}

int hbase_tables(struct hbase *h, const char *regex, struct hbase_tables *out,
		 struct hbase_failure *why, struct error *err)
{
	size_t n = 0;

	*out = (struct hbase_tables){0};
	*why = (struct hbase_failure){.trouble = TROUBLE_NONE};
	int rc = read_names(h, regex, out, why, err);
	for (size_t i = 0; rc == RC_OK && i < out->count; i++) {
		struct hbase_table *t = &out->item[i];

		rc = hbase_table_state(h, t->name, &t->state, why, err);
		if (rc && why->trouble == TROUBLE_MISSING) {
			rc = RC_OK; /* somebody dropped the table after the first call */
			continue;
		}
		if (rc == RC_OK)
			rc = count_regions(h, t, why, err);
		out->item[n++] = *t;
	}
	out->count = rc ? 0 : n;
	return rc;
}

void hbase_tables_release(struct hbase_tables *t)
{
	arena_release(&t->arena);
	*t = (struct hbase_tables){0};
}
