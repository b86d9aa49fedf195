/* meta.c - the regions of a table, which are rows of hbase:meta */
#include "decode.h"
#include "encode.h"
#include "session.h"

#define META_NAME "hbase:meta,,1"
#define META_ROWS 1000

void meta_range(const char *table, char **start, char **stop)
{
	static const char space[] = "default:"; /* hbase:meta omits the default namespace */
	size_t n = sizeof space - 1;

	if (strncmp(table, space, n) == 0)
		table += n;
	/*
	 * The comparison of keys goes part by part. The first region has an empty start key. TABLE
	 * plus a space is the next possible table name.
	 */
	*start = mem_format("%s,,", table);
	*stop = mem_format("%s ,,", table);
}

int hbase_meta(struct hbase *h, struct hbase_region *out, struct hbase_failure *why,
	       struct error *err)
{
	*out = (struct hbase_region){.name = bytes_str(META_NAME)};
	return session_find_meta(h, &out->place, why, err);
}

int hbase_regions(struct hbase *h, const char *table, struct hbase_regions *out,
		  struct hbase_failure *why, struct error *err)
{
	struct hbase_region meta;
	struct meta_rows rows = {.out = out};

	*out = (struct hbase_regions){0};
	int rc = hbase_meta(h, &meta, why, err);
	if (rc)
		return rc;
	char *start, *stop;
	meta_range(table, &start, &stop);
	const struct hbase_scan scan = {.family = "info",
					.start = bytes_str(start),
					.stop = bytes_str(stop),
					.rows_a_call = META_ROWS};
	rc = hbase_scan_region(h, &meta, &scan, meta_take, &rows, why, err);
	mem_free(start);
	mem_free(stop);
	if (rc)
		return rc;
	rc = meta_finish(&rows, err);
	if (rc == RC_END) {
		why->trouble = TROUBLE_MISSING;
		return error_set(err, RC_IO,
				 "hbase:meta: found no regions of table %s, expected at least one",
				 table);
	}
	if (rc)
		why->trouble = TROUBLE_BUSY;
	out->gap = rc != RC_OK;
	return rc ? error_prefix(err, "table %s: ", table) : RC_OK;
}
