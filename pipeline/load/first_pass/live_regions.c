#include "live_regions.h"

#include "clock.h"
#include "hbase.h"

/*
 * Return the encoded name in "table,start,id.encoded.", which is between the last two points.
 * Return NULL if the name has no such part.
 */
static char *encoded_name(struct bytes name)
{
	size_t end = name.len;

	if (end < 2 || name.ptr[end - 1] != '.')
		return NULL;
	const uint8_t *dot = memrchr(name.ptr, '.', --end);
	if (!dot)
		return NULL;
	return mem_format("%.*s", (int)(name.ptr + end - dot - 1), (const char *)dot + 1);
}

static int take_regions(struct existing *e, const char *table, const struct hbase_regions *r,
			struct error *err)
{
	int rc = RC_OK;

	e->table = mem_strdup(table);
	e->regions = mem_calloc(r->count, sizeof *e->regions);
	for (size_t i = 0; rc == RC_OK && i < r->count; i++) {
		e->regions[i].encoded = encoded_name(r->item[i].name);
		e->regions[i].size_bytes = EXISTING_UNKNOWN;
		if (i > 0)
			rc = splits_add(&e->splits, r->item[i].start, err);
	}
	return rc;
}

/*
 * Store the loads from the servers' last report to the master. Since that report, a region may have
 * moved, and new regions may exist.
 */
static void take_loads(struct existing_regions *l, size_t table, const struct hbase_regions *r,
		       const struct hbase_status *status)
{
	mem_free(l->requests[table]);
	l->requests[table] = mem_calloc(r->count, sizeof *l->requests[table]);
	for (size_t i = 0; i < r->count; i++) {
		const struct hbase_store_files *f = hbase_status_stores(status, r->item[i].name);

		l->tables[table].regions[i].size_bytes = f ? f->mib << 20 : EXISTING_UNKNOWN;
		l->requests[table][i] = f ? f->reads + f->writes : EXISTING_UNKNOWN;
	}
}

/*
 * Compare the table's attributes with the job's attributes. HBase would accept files with other
 * attributes and rewrite them at a compaction.
 */
static int compare(const struct table *t, const struct description *have, struct arena *a,
		   struct error *err)
{
	struct description want;
	struct table_differences d;
	int rc = description_of_table(&want, a, t, err);

	if (rc)
		return rc;
	description_compare(&d, &want, have, a);
	if (d.count == 0)
		return RC_OK;
	const struct table_difference *one = &d.item[0];
	if (!one->key)
		return error_set(err, RC_CONFIG,
				 "live table %s: found no family %s, expected the job's families",
				 t->name, one->family);
	return error_set(err, RC_CONFIG, "live table %s: %s%s%s is %s, expected %s as in the job",
			 t->name, one->family ? one->family : "", one->family ? ": " : "", one->key,
			 one->have ? one->have : "not set", one->want);
}

/*
 * Take what `codec: auto` leaves open from the table, because HBase would rewrite files of another
 * encoding at a compaction.
 */
static void adopt(struct table *t, const struct description *have)
{
	for (size_t i = 0; i < t->nfamilies; i++) {
		struct family *f = &t->families[i];
		const struct described *d = description_family(have, f->name);
		const char *encoding = d ? attributes_get(&d->items, "DATA_BLOCK_ENCODING") : NULL;
		const char *block = d ? attributes_get(&d->items, "BLOCKSIZE") : NULL;

		if (!d)
			continue;
		if (f->encoding_free && encoding)
			encoding_named(encoding, &f->encoding);
		if (f->block_free && block)
			f->block_bytes = (uint32_t)strtoul(block, NULL, 10);
		f->encoding_free = f->block_free = false;
	}
}

static int read_table(struct existing_regions *l, size_t i, struct table *t, struct hbase *h,
		      struct arena *a, struct hbase_failure *why, struct error *err)
{
	struct description have;
	struct hbase_regions r = {0};
	struct hbase_status status = {0};
	bool exists = false;
	int rc = hbase_describe(h, t->name, &have, a, &exists, why, err);

	if (rc || !exists)
		return rc;
	adopt(t, &have);
	if (!l->any) {
		rc = compare(t, &have, a, err);
		why->trouble = rc ? TROUBLE_REFUSED : why->trouble;
	}
	if (rc == RC_OK && !l->any)
		rc = precheck_enabled(h, t->name, why, err);
	if (rc == RC_OK)
		rc = hbase_regions(h, t->name, &r, why, err);
	if (rc == RC_OK && l->loads)
		rc = hbase_status(h, &status, why, err);
	if (rc == RC_OK) {
		existing_release(&l->tables[i]); /* an earlier attempt may have filled this entry */
		l->tables[i] = (struct existing){0};
		rc = take_regions(&l->tables[i], t->name, &r, err);
		if (rc == RC_OK && l->loads)
			take_loads(l, i, &r, &status);
	}
	l->given[i] = rc == RC_OK;
	hbase_regions_release(&r);
	hbase_status_release(&status);
	return rc;
}

/* Check, before the load reads an event, that the cluster will accept the load. */
static int look_at_cluster(const struct existing_regions *l, const struct job *job, struct hbase *h,
			   struct error *err)
{
	struct hbase_status status;
	int rc = precheck_wait(h, &status, err);
	int64_t now = clock_wall_ms(); /* get the time after the wait, which may last minutes */

	if (rc == RC_OK)
		rc = precheck_cluster(&l->listener, &status, now, err);
	for (size_t i = 0; rc == RC_OK && i < job->ntables; i++)
		precheck_table(&l->listener, &status, job->tables[i].schema.name, now);
	hbase_status_release(&status);
	return rc;
}

int live_regions_read(struct existing_regions *l, struct job *job, struct error *err)
{
	struct hbase *h;
	struct hbase_failure why;
	struct arena a = {0};
	int rc = hbase_open(&h, l->servers, NULL, &why, err);

	if (rc == RC_OK && !l->any)
		rc = look_at_cluster(l, job, h, err);
	for (size_t i = 0; rc == RC_OK && i < job->ntables; i++) {
		struct hbase_attempts attempt = {0};

		do
			rc = read_table(l, i, &job->tables[i].schema, h, &a, &why, err);
		while (rc && hbase_retry(&why, &attempt, err));
	}
	arena_release(&a);
	hbase_close(h);
	return rc;
}
