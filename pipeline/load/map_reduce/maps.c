/* maps.c - read the reports of maps, and check that they cover the input */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "load.h"
#include "mem.h"

static int by_place(const void *a, const void *b)
{
	const struct map_report *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static int check_report(const struct map_report *r, const struct kept_plan *plan,
			const char *folder, struct error *err)
{
	if (strcmp(r->program, SALTMILL_VERSION) != 0)
		return error_set(err, RC_DATA,
				 "%s: found a map of saltmill %s, expected a map of %s; run map "
				 "again",
				 folder, r->program, SALTMILL_VERSION);
	if (memcmp(r->plan, plan->identity, sizeof r->plan) != 0 || r->ntables != plan->ntables)
		return error_set(err, RC_DATA,
				 "%s: found a map of another plan or job; run map again with "
				 "this plan and job",
				 folder);
	if (r->number >= SOURCE_FILES_MOST || r->first > r->end || r->head > r->first)
		return error_set(err, RC_DATA,
				 "%s: found inconsistent numbers in the report, expected the "
				 "numbers of one map; run map again",
				 folder);
	for (size_t t = 0; t < r->ntables; t++)
		for (size_t i = 0; i < r->tables[t].nregions; i++)
			if (r->tables[t].regions[i].region > plan->tables[t].splits.count)
				return error_set(
					err, RC_DATA,
					"%s: found a region in the report that is not in the "
					"plan; run map again with this plan",
					folder);
	return RC_OK;
}

int maps_read(struct maps *m, const struct kept_plan *plan, const char *const *folders, size_t n,
	      struct error *err)
{
	int rc = RC_OK;

	*m = (struct maps){0};
	m->reports = arena_alloc(&m->arena, (n + 1) * sizeof *m->reports);
	for (; rc == RC_OK && m->n < n; m->n++) {
		struct map_report *r = &m->reports[m->n];

		rc = map_report_read(r, folders[m->n], &m->arena, err);
		if (rc == RC_OK)
			rc = check_report(r, plan, folders[m->n], err);
		r->folder = arena_strdup(&m->arena, folders[m->n]);
	}
	if (rc == RC_OK && n > 0)
		qsort(m->reports, n, sizeof *m->reports, by_place);
	return rc;
}

uint64_t map_bytes(const struct map_table *t, size_t first, size_t end)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->nregions; i++)
		if (t->regions[i].region >= first && t->regions[i].region < end)
			n += t->regions[i].bytes;
	return n;
}

void maps_release(struct maps *m)
{
	arena_release(&m->arena);
	*m = (struct maps){0};
}

/* Report that the slice of `r` does not begin at the end of the previous slice. */
static int no_meeting(const struct map_report *r, uint64_t expected, struct error *err)
{
	typedef unsigned long long ull;
	if (r->from > expected)
		return error_set(err, RC_DATA,
				 "%s: bytes %llu to %llu are in no slice; map them with --slice "
				 "=%llu-%llu",
				 r->path, (ull)expected, (ull)r->from, (ull)expected, (ull)r->from);
	return error_set(
		err, RC_DATA,
		"%s: the slice of %s begins at byte %llu, but the previous slice ends at byte "
		"%llu; the cause is a line end in quotes or a repeated slice; map the input "
		"again with --slice =%llu-%llu, and omit this slice",
		r->path, r->folder, (ull)r->first, (ull)expected, (ull)expected, (ull)r->to);
}

static int twice(const struct map_report *a, const struct map_report *b, struct error *err)
{
	return error_set(err, RC_DATA,
			 "found the same slice in %s and %s, expected it once; omit one of the "
			 "two",
			 a->folder, b->folder);
}

/* Check the reports [at, end), which all name the same file. */
static int check_file(const struct maps *m, size_t at, size_t end, struct error *err)
{
	const struct map_report *first = &m->reports[at], *before = NULL;
	uint64_t expected = first->head;
	bool last = false;

	if (!first->head_read)
		return no_meeting(first, 0, err);
	for (; at < end; at++) {
		const struct map_report *r = &m->reports[at];
		bool empty = r->first == r->end;

		if (r->size != first->size || (r->head_read && r->head != first->head))
			return error_set(
				err, RC_DATA,
				"%s and %s come from different files %s; map the slices of one "
				"file again",
				first->folder, r->folder, r->path);
		if (before && !empty && r->first == before->first && r->end == before->end)
			return twice(before, r, err);
		if (empty && (r->first == expected || last)) {
			last |= r->last;
			continue;
		}
		if (r->first != expected)
			return no_meeting(r, expected, err);
		before = r;
		expected = r->end;
		last = r->last;
	}
	if (!last && expected != first->size)
		return error_set(err, RC_DATA,
				 "%s: bytes %llu to %llu are in no slice; map them with --slice "
				 "=%llu-%llu",
				 first->path, (unsigned long long)expected,
				 (unsigned long long)first->size, (unsigned long long)expected,
				 (unsigned long long)first->size);
	return RC_OK;
}

int maps_check(const struct maps *m, size_t nfiles, struct error *err)
{
	size_t number = 0, at = 0;
	int rc = RC_OK;

	for (; rc == RC_OK && at < m->n; number++) {
		size_t end = at;

		while (end < m->n && m->reports[end].number == m->reports[at].number)
			end++;
		if (m->reports[at].number != number)
			break;
		rc = check_file(m, at, end, err);
		at = end;
	}
	if (rc == RC_OK && at < m->n && nfiles && m->reports[at].number >= nfiles)
		return error_set(err, RC_DATA,
				 "%s: found a map of input %llu, counted from 0, expected a "
				 "number below %zu",
				 m->reports[at].folder, (unsigned long long)m->reports[at].number,
				 nfiles);
	if (rc == RC_OK && (at < m->n || number < nfiles))
		return error_set(err, RC_DATA,
				 "found no map of input %zu (counted from 0); run one with "
				 "--input %zu",
				 number, number);
	if (rc == RC_OK && nfiles && number > nfiles)
		return error_set(err, RC_DATA,
				 "%s: found a map of input %zu, counted from 0, expected a "
				 "number below %zu",
				 m->reports[m->n - 1].folder, number - 1, nfiles);
	return rc;
}

int maps_created(const struct maps *m, int64_t *ms, struct error *err)
{
	int64_t newest = 0;
	int rc = source_date_epoch(ms, err);

	for (size_t i = 0; i < m->n; i++)
		if (m->reports[i].newest_ms > newest)
			newest = m->reports[i].newest_ms;
	if (*ms < 0)
		*ms = newest;
	return rc;
}
