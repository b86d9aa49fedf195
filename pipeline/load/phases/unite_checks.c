/* unite_checks.c - compare the rows of maps and reduces (unite_checks.h) */
#include "unite_checks.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

#define CHANGED_ROWS                                                                               \
	"an input with other rows when its map ran again causes this: load again, and for a "      \
	"DataFrame, use checkpoint() or persist() before the load"

/* --- the totals of the maps --- */

static void add(struct region_total *to, uint64_t records, int64_t digest)
{
	to->found = true;
	to->records += records;
	to->digest = (int64_t)((uint64_t)to->digest + (uint64_t)digest);
}

static void add_table(struct load *l, size_t table, const struct map_table *from)
{
	for (size_t i = 0; i < from->nregions; i++)
		add(&l->totals[table][from->regions[i].region], from->regions[i].records,
		    from->regions[i].digest);
}

/* Check that the file has the tables and regions of the plan, and that no report has regions. */
static int check_file(const struct load *l, const struct map_totals *t, const char *path,
		      struct error *err)
{
	if (t->ntables != l->job->ntables)
		return error_set(err, RC_DATA, "%s: found %zu tables, expected the %zu of the job",
				 path, t->ntables, l->job->ntables);
	for (size_t i = 0; i < t->ntables; i++) {
		const char *name = l->job->tables[i].schema.name;

		if (strcmp(t->tables[i].name, name) != 0)
			return error_set(err, RC_DATA, "%s: found table %s, expected %s", path,
					 t->tables[i].name, name);
		for (size_t k = 0; k < t->tables[i].nregions; k++)
			if (t->tables[i].regions[k].region > l->tables[i].splits.count)
				return error_set(err, RC_DATA,
						 "%s: found region %zu of table %s, which the plan "
						 "lacks",
						 path, t->tables[i].regions[k].region, name);
	}
	for (size_t m = 0; m < l->maps.n; m++)
		for (size_t i = 0; i < l->job->ntables; i++)
			if (l->maps.reports[m].tables[i].nregions)
				return error_set(err, RC_DATA,
						 "%s: found regions in the report of %s, expected "
						 "reports without regions; omit --totals",
						 path, l->maps.reports[m].folder);
	return RC_OK;
}

int unite_find_totals(struct load *l, struct error *err)
{
	const char *path = l->opt->halves->totals;
	struct map_totals t = {0};
	struct arena *a = &l->maps.arena;
	int rc = path ? map_totals_read(&t, path, a, err) : RC_OK;

	if (rc == RC_OK && path)
		rc = check_file(l, &t, path, err);
	if (rc)
		return rc;
	l->totals = arena_alloc(a, (l->job->ntables + 1) * sizeof *l->totals);
	for (size_t i = 0; i < l->job->ntables; i++) {
		l->totals[i] = arena_alloc(a, (l->tables[i].splits.count + 1) * sizeof **l->totals);
		if (path)
			add_table(l, i, &t.tables[i]);
		for (size_t m = 0; !path && m < l->maps.n; m++)
			add_table(l, i, &l->maps.reports[m].tables[i]);
	}
	return RC_OK;
}

/* --- the regions of a reduce --- */

static int by_region(const void *key, const void *item)
{
	size_t region = *(const size_t *)key, other = ((const struct map_region *)item)->region;

	return (region > other) - (region < other);
}

/* Return the region in a map's report, or NULL if the map has no rows for the region. */
static const struct map_region *mapped_region(const struct map_table *t, size_t region)
{
	return t->nregions
		       ? bsearch(&region, t->regions, t->nregions, sizeof *t->regions, by_region)
		       : NULL;
}

/* Check that the records of each slice in the region are those that its map reported. */
static int check_slices(const struct load *l, size_t table, const struct reduce_region *r,
			const char *folder, struct error *err)
{
	const char *name = l->job->tables[table].schema.name;
	const struct map_region no_rows = {0};
	const struct reduce_slice none = {0};
	size_t at = 0;

	for (size_t i = 0; i < l->maps.n; i++) {
		const struct map_report *m = &l->maps.reports[i];
		const struct map_region *found = mapped_region(&m->tables[table], r->region);
		const struct map_region *want = found ? found : &no_rows;
		bool came =
			m->first < m->end && at < r->nslices && r->slices[at].slice == map_slice(m);
		const struct reduce_slice *got = came ? &r->slices[at++] : &none;

		if (want->records != got->records)
			return error_set(
				err, RC_DATA,
				"%s: region %zu of table %s: found %llu rows, expected "
				"the %llu rows of %s; reduce the region again; " CHANGED_ROWS,
				folder, r->region, name, (unsigned long long)got->records,
				(unsigned long long)want->records, m->folder);
		if (want->digest != got->digest)
			return error_set(err, RC_DATA,
					 "%s: region %zu of table %s: found other rows of %s than "
					 "%s reports, expected the same rows; " CHANGED_ROWS,
					 folder, r->region, name, m->path, m->folder);
	}
	if (at < r->nslices)
		return error_set(
			err, RC_DATA,
			"%s: region %zu of table %s: found rows of a slice that is in no map; "
			"reduce the region again",
			folder, r->region, name);
	return RC_OK;
}

/* Check that the records of all slices together in the region are those of the maps. */
static int check_total(const struct load *l, size_t table, const struct reduce_region *r,
		       const char *folder, struct error *err)
{
	const char *name = l->job->tables[table].schema.name;
	const struct region_total *want = &l->totals[table][r->region];
	struct region_total got = r->total;

	for (size_t i = 0; i < r->nslices; i++)
		add(&got, r->slices[i].records, r->slices[i].digest);
	if (want->records != got.records)
		return error_set(err, RC_DATA,
				 "%s: region %zu of table %s: found %llu rows, expected the %llu "
				 "rows of the maps; reduce the region again; " CHANGED_ROWS,
				 folder, r->region, name, (unsigned long long)got.records,
				 (unsigned long long)want->records);
	if (want->digest != got.digest)
		return error_set(err, RC_DATA,
				 "%s: region %zu of table %s: found other rows than the maps "
				 "report, expected the same rows; " CHANGED_ROWS,
				 folder, r->region, name);
	return RC_OK;
}

int unite_check_region(const struct load *l, size_t table, const struct reduce_region *r,
		       const char *folder, struct error *err)
{
	return r->total.found || l->opt->halves->totals ? check_total(l, table, r, folder, err)
							: check_slices(l, table, r, folder, err);
}

int unite_check_seen(const struct load *l, bool *const *seen, struct error *err)
{
	for (size_t t = 0; t < l->job->ntables; t++)
		for (size_t r = 0; r <= l->tables[t].splits.count; r++) {
			const char *name = l->job->tables[t].schema.name;

			if (l->totals[t][r].found && !seen[t][r])
				return error_set(
					err, RC_DATA,
					"found no reduce of region %zu of table %s, which "
					"has rows; run reduce with --table %s --region %zu",
					r, name, name, r);
		}
	return RC_OK;
}
