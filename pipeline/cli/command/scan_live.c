/* scan_live.c - checks that a live table matches the job */
#include <stdio.h>
#include <string.h>

#include "ddl.h"
#include "mem.h"
#include "hbase.h"
#include "live_tables.h"
#include "scan_desk.h"
#include "bytes.h"

#define REGIONS_MOST 8 /* most regions to sample */
#define ROWS_MOST    4

static bool is_of_job(const struct scan_desk *d, const char *family)
{
	for (size_t i = 0; i < d->loads.nfamilies; i++)
		if (bytes_eq(d->loads.families[i].name, bytes_str(family)))
			return true;
	return false;
}

/* Returns true if the job names the family, and another load fills it. */
static bool is_of_other_load(const struct table *t, const char *family)
{
	const struct family *f = t->families + t->nfamilies;
	size_t i = 0;

	while (i < t->nothers && strcmp(f[i].name, family) != 0)
		i++;
	return i < t->nothers;
}

/*
 * Prints a warning for the live table's families that the job lacks, because the answer does not
 * contain them.
 */
static void say_others(struct scan_desk *d, const struct description *have)
{
	for (size_t i = 0; i < have->nfamilies; i++) {
		char name[200];

		if (is_of_job(d, have->families[i].name))
			continue;
		d->more_families = true;
		if (is_of_other_load(&d->table->schema, have->families[i].name))
			continue;
		text_quote(name, sizeof name - 4, bytes_str(have->families[i].name));
		command_say(d->args->q.get ? "get" : "scan",
			    "ignored family %s of the live table %s, because the job lacks it",
			    name, d->table->schema.name);
	}
}

static int check_families(const struct scan_desk *d, const struct description *have,
			  struct error *err)
{
	const struct table *t = &d->table->schema;

	for (size_t i = 0; i < t->nfamilies; i++)
		if (!description_family(have, t->families[i].name))
			return error_set(
				err, RC_CONFIG,
				"--hbase: found no family %s in the live table %s, expected it "
				"as in the job",
				t->families[i].name, t->name);
	return RC_OK;
}

int scan_live_check(struct scan_desk *d, struct error *err)
{
	const char *table = d->table->schema.name;
	struct arena a = {0};
	struct description have;
	bool exists = false, denied = false;
	int rc = live_tables_read_one(d->hbase, table, &have, &a, &exists, &denied, err);

	if (rc == RC_OK && !exists)
		rc = error_set(err, RC_CONFIG,
			       "--hbase: found no table %s in the cluster; `saltmill apply "
			       "DIR --create` creates it",
			       table);
	d->more_families = denied;
	if (rc == RC_OK && !denied)
		rc = check_families(d, &have, err);
	if (rc == RC_OK && !denied)
		say_others(d, &have);
	arena_release(&a);
	return rc;
}

/* --- rows --- */

struct row_look {
	const struct scan_desk *desk;
	struct key_piece *pieces;
	struct buf row; /* the last row key */
};

/* Checks that the salt of a row key with all parts matches the fields. */
static int look_at_row(void *ctx, const struct cell *c, struct error *err)
{
	struct row_look *l = ctx;
	const struct key_schema *k = &l->desk->keys.schema;
	struct arena a = {0};
	struct buf text = {0};
	struct error wrong;
	int rc = RC_OK;

	if (bytes_eq(c->row, buf_bytes(&l->row)))
		return RC_OK;
	l->row.len = 0;
	buf_append(&l->row, c->row.ptr, c->row.len);
	bool parts = key_split(k, c->row, l->pieces) == k->nsteps &&
		     l->pieces[k->nsteps - 1].end == c->row.len;
	if (parts && key_decode(k, &l->desk->forms, c->row, &a, l->pieces, &wrong)) {
		bytes_escape(&text, c->row);
		rc = error_set(
			err, RC_CONFIG,
			"found row keys in the live table %s that do not have the form of the "
			"job, so a query would miss rows; the row key %.*s: %s",
			l->desk->table->schema.name, (int)(text.len < 100 ? text.len : 100),
			(const char *)text.ptr, wrong.msg);
	}
	buf_release(&text);
	arena_release(&a);
	return rc;
}

int scan_live_check_rows(const struct scan_desk *d, struct error *err)
{
	static const struct filter keys = {.type = FILTER_KEY_ONLY};
	const struct hbase_scan scan = {.filter = &keys, .limit = ROWS_MOST};
	struct row_look l = {.desk = d};
	struct hbase_regions r;
	struct hbase_failure why = {.trouble = TROUBLE_NONE};
	struct error unheard;
	int rc = RC_OK;

	if (d->keys.schema.nderived == 0)
		return RC_OK;
	l.pieces = mem_calloc(d->stored.max_pieces + 1, sizeof *l.pieces);
	/* ignore a failure here, because the scan reports it if it persists */
	bool told = hbase_regions(d->hbase, d->table->schema.name, &r, &why, &unheard) == RC_OK;
	size_t n = told ? r.count : 0, step = n / REGIONS_MOST + 1;
	for (size_t i = 0; i < n && rc != RC_CONFIG && why.trouble != TROUBLE_LOST; i += step)
		rc = hbase_scan_region(d->hbase, &r.item[i], &scan, look_at_row, &l, &why, err);
	hbase_regions_release(&r);
	buf_release(&l.row);
	mem_free(l.pieces);
	return rc == RC_CONFIG || rc == RC_STOPPED ? rc : RC_OK;
}
