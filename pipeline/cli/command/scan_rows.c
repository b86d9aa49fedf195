/* scan_rows.c - reads the cells of an answer from files or from a live table */
#include "scan_desk.h"

static void say_region(void *none, const char *sentence)
{
	(void)none;
	command_say("scan", "%s", sentence);
}

static int open_live(struct scan_rows *r, const struct scan_desk *d, const struct query *q,
		     struct error *err)
{
	const struct live_options o = {.hbase = d->hbase,
				       .table = d->table->schema.name,
				       .families = d->loads.families,
				       .nfamilies = d->loads.nfamilies,
				       .more_families = d->more_families,
				       .query = q,
				       .filter = q->judge ? d->filter : NULL,
				       .no_values = d->no_values,
				       .listener = {say_region, NULL}};

	return live_open(&r->live, &o, err);
}

int scan_rows_open(struct scan_rows *r, const struct scan_desk *d, const struct query *q,
		   struct error *err)
{
	const struct published *p = &d->loads;

	*r = (struct scan_rows){0};
	if (d->hbase)
		return open_live(r, d, q, err);
	return query_open(&r->files, p->families, p->nfamilies, p->files, p->nfiles, q, err);
}

int scan_rows_next(struct scan_rows *r, struct cell *out, struct error *err)
{
	return r->live ? live_next(r->live, out, err) : query_next(r->files, out, err);
}

bool scan_rows_start(const struct scan_rows *r)
{
	return r->live ? live_starts_row(r->live) : query_starts_row(r->files);
}

int scan_rows_count(struct scan_rows *r, uint64_t *rows, uint64_t *cells, struct error *err)
{
	struct cell c;
	int rc;

	if (r->files)
		return query_count(r->files, rows, cells, err);
	*rows = *cells = 0;
	while ((rc = live_next(r->live, &c, err)) == RC_OK) {
		++*cells;
		*rows += live_starts_row(r->live);
	}
	return rc < 0 ? rc : RC_OK;
}

void scan_rows_close(struct scan_rows *r)
{
	query_close(r->files);
	live_close(r->live);
}
