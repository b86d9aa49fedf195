/*
 * query.c - read rows over the families of a table
 *
 * The next row is the smallest current row of all stores. Each family's matcher then selects the
 * cells to return, one at a time. The query gathers a row in memory only for a filter or a judge.
 */
#include "query.h"

#include <stdlib.h>

#include "mem.h"
#include "publish.h"
#include "scan_state.h"

int query_open_path(const struct query_file *f, struct hfile_source *out, struct error *err)
{
	int rc = load_file_source(out, f->name, err);

	return rc ? rc : hfile_source_watch(out, f->progress, err);
}

bool query_prefix_stop(struct buf *out, struct bytes prefix)
{
	while (prefix.len && prefix.ptr[prefix.len - 1] == 0xff)
		prefix.len--;
	if (!buf_try_append(out, prefix.ptr, prefix.len))
		return false;
	if (prefix.len)
		out->ptr[out->len - 1]++;
	return true;
}

static int by_qualifier(const void *a, const void *b)
{
	return bytes_cmp(*(const struct bytes *)a, *(const struct bytes *)b);
}

/*
 * Put the qualifiers that the query names in a family, sorted and unique, into `s->wanted`, from
 * index `at` on. Returns the number of qualifiers.
 */
static size_t name_columns(struct query_scan *s, size_t family, size_t at)
{
	const struct query *q = &s->q;
	bool any = q->ncolumns == 0, all = any;
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < q->ncolumns; i++) {
		if (q->columns[i].family != family)
			continue;
		any = true;
		all |= q->columns[i].all;
		if (!q->columns[i].all)
			s->wanted[at + n++] = q->columns[i].qualifier;
	}
	s->families[family].left_out = !any;
	if (all || n == 0)
		return 0;
	qsort(s->wanted + at, n, sizeof *s->wanted, by_qualifier);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || !bytes_eq(s->wanted[at + i], s->wanted[at + kept - 1]))
			s->wanted[at + kept++] = s->wanted[at + i];
	return kept;
}

static int open_family(struct query_scan *s, size_t i, const struct query_family *family,
		       size_t *at, struct error *err)
{
	struct family_scan *f = &s->families[i];
	size_t count = 0;

	for (size_t k = 0; k < s->nfiles; k++)
		count += s->files[k].family == i;
	f->store.cursors = mem_try_calloc(count + 1, sizeof *f->store.cursors);
	if (!f->store.cursors)
		return error_memory(err, count * sizeof *f->store.cursors, "a merge");
	for (size_t k = 0; k < s->nfiles; k++) {
		if (s->files[k].family != i)
			continue;
		s->place[k] = f->store.ncursors;
		f->store.cursors[f->store.ncursors++].file = &s->files[k];
	}
	f->store.nwanted = name_columns(s, i, *at);
	f->store.wanted = s->wanted + *at;
	if (s->q.nspans && s->q.span_family == i) {
		f->spans = s->q.spans;
		f->nspans = s->q.nspans;
	}
	if (f->nspans || f->store.nwanted)
		f->store.first_column = f->nspans ? f->spans[0].start : f->store.wanted[0];
	*at += f->store.nwanted;
	f->versions = matcher_versions(family, &s->q);
	f->matcher = matcher_new(family, &s->q, f->store.wanted, f->store.nwanted);
	if (!f->matcher)
		return error_memory(err, 0, "a scan");
	return store_init(&f->store, &s->q, family, err);
}

static int open_all(struct query_scan *s, const struct query_family *families, struct error *err)
{
	size_t at = 0;

	s->families = mem_try_calloc(s->nfamilies + 1, sizeof *s->families);
	s->wanted = mem_try_calloc(s->q.ncolumns + 1, sizeof *s->wanted);
	s->place = mem_try_calloc(s->nfiles + 1, sizeof *s->place);
	s->beyond = s->q.reversed ? mem_try_alloc(BEYOND_BYTES) : NULL;
	if (!s->families || !s->wanted || !s->place || (s->q.reversed && !s->beyond))
		return error_memory(err, sizeof *s, "a scan");
	if (s->q.reversed)
		memset(s->beyond, 0xff, BEYOND_BYTES);
	for (size_t i = 0; i < s->nfamilies; i++) {
		int rc = open_family(s, i, &families[i], &at, err);

		if (rc)
			return rc;
	}
	return 0;
}

/* Append a row or, if `behind` is true, the first possible row after the row. */
static bool put_bound(struct buf *room, struct bytes row, bool behind)
{
	return buf_try_append(room, row.ptr, row.len) &&
	       (!behind || row.len == 0 || buf_try_append(room, "", 1));
}

bool query_bounds(const struct query *q, struct buf *room, struct query_range *out)
{
	bool start_out = q->start_exclusive, stop_in = q->stop_inclusive || q->get;
	struct bytes low = q->start, high = q->get ? q->start : q->stop;

	if (q->reversed) {
		low = q->stop;
		high = q->start;
		start_out = !q->stop_inclusive;
		stop_in = !q->start_exclusive;
	}
	room->len = 0;
	bool fits = put_bound(room, low, start_out);
	size_t at = room->len;
	if (!fits || !put_bound(room, high, stop_in))
		return false;
	*out = (struct query_range){bytes_of(room->ptr, at),
				    bytes_of(room->ptr + at, room->len - at)};
	return true;
}

static int make_range(struct query_scan *s, struct error *err)
{
	const struct query *q = &s->q;

	s->ranges = mem_try_calloc(1, sizeof *s->ranges);
	if (!s->ranges || !query_bounds(q, &s->bound, &s->ranges[0]))
		return error_memory(err, q->start.len + q->stop.len, "a scan");
	s->q.ranges = s->ranges;
	s->q.nranges = q->get && q->start.len == 0 ? 0 : 1;
	return 0;
}

int query_check(const struct query *q, struct error *err)
{
	for (size_t i = 0; i < q->ncolumns; i++)
		if (q->raw && !q->columns[i].all)
			return error_set(err, RC_CONFIG,
					 "found a qualifier in a raw scan, expected families "
					 "only, because a raw scan returns all columns");
	return RC_OK;
}

int query_open(struct query_scan **out, const struct query_family *families, size_t nfamilies,
	       const struct query_file *files, size_t nfiles, const struct query *q,
	       struct error *err)
{
	*out = NULL;
	int rc = query_check(q, err);
	if (rc)
		return rc;
	struct query_scan *s = mem_try_calloc(1, sizeof *s);
	if (!s)
		return error_memory(err, sizeof *s, "a scan");
	s->q = *q;
	s->nfamilies = nfamilies;
	s->files = files;
	s->nfiles = nfiles;
	rc = q->ranges ? 0 : make_range(s, err);
	s->range = s->q.reversed && s->q.nranges ? s->q.nranges - 1 : 0;
	if (q->filter)
		filter_start(q->filter, q->reversed);
	if (rc == RC_OK && q->salt_bytes)
		rc = merged_open(s, families, err);
	else if (rc == RC_OK)
		rc = open_all(s, families, err);
	if (rc == RC_OK && !q->salt_bytes)
		quick_init(s);
	if (rc) {
		query_close(s);
		return rc;
	}
	*out = s;
	return 0;
}

void query_close(struct query_scan *s)
{
	if (!s)
		return;
	for (size_t i = 0; s->families && i < s->nfamilies; i++) {
		store_release(&s->families[i].store);
		matcher_free(s->families[i].matcher);
	}
	mem_free(s->families);
	mem_free(s->ranges);
	buf_release(&s->bound);
	gathered_release(&s->gathered);
	merged_release(&s->merged);
	mob_close(s->mobs);
	mem_free(s->wanted);
	mem_free(s->place);
	mem_free(s->beyond);
	buf_release(&s->row);
	buf_release(&s->column);
	buf_release(&s->behind);
	mem_free(s);
}

/* --- the cells of a row --- */

/* Find the next cell of a family in the row. Return RC_END if there are no more cells. */
static int next_of_family(struct query_scan *s, struct family_scan *f, struct cell *out,
			  struct error *err)
{
	const struct cell *c;

	for (;;) {
		int rc = store_peek(&f->store, &c, err);

		if (rc || !bytes_eq(c->row, buf_bytes(&s->row)))
			return rc ? rc : RC_END;
		bool moved;
		rc = scan_seek_column(s, f, c, &moved, err);
		if (rc)
			return rc;
		if (f->finished)
			return RC_END;
		if (moved)
			continue;
		enum verdict v = f->ended ? VERDICT_NEXT_ROW : matcher_take(f->matcher, c);
		if (v == VERDICT_TAKE && !scan_within_limits(s, f))
			v = VERDICT_SKIP;
		switch (v) {
		case VERDICT_TAKE:
			*out = *c;
			s->step = true;
			return store_resolve(&f->store, &s->mobs, out, err);
		case VERDICT_NO_MEMORY: return error_memory(err, c->qualifier.len, "a scan");
		case VERDICT_NEXT_ROW:
			f->ended = true;
			rc = store_step(&f->store, err);
			break;
		case VERDICT_NEXT_COLUMN: rc = scan_skip_column(s, &f->store, c, err); break;
		case VERDICT_SKIP: rc = store_step(&f->store, err); break;
		}
		if (rc)
			return rc;
	}
}

/*
 * Count a column as ColumnPaginationFilter does. The filter limits the columns of a row over all
 * families, and takes one version of each column.
 */
static int new_column(struct query_scan *s, const struct cell *c, bool *taken, struct error *err)
{
	*taken = true;
	if (s->q.max_columns == 0)
		return 0;
	if (s->has_column && bytes_eq(c->qualifier, buf_bytes(&s->column))) {
		*taken = false;
		return 0;
	}
	*taken = s->columns++ < s->q.max_columns;
	s->has_column = true;
	s->column.len = 0;
	if (!buf_try_append(&s->column, c->qualifier.ptr, c->qualifier.len))
		return error_memory(err, c->qualifier.len, "a qualifier");
	return 0;
}

static int next_in_row(struct query_scan *s, struct cell *out, struct error *err)
{
	while (s->family < s->nfamilies) {
		struct family_scan *f = &s->families[s->family];
		bool taken = true;
		int rc = RC_END;

		if (!f->left_out && s->step)
			rc = store_step(&f->store, err);
		else if (!f->left_out)
			rc = 0;
		s->step = false;
		if (rc == RC_OK)
			rc = next_of_family(s, f, out, err);
		if (rc == RC_OK)
			rc = new_column(s, out, &taken, err);
		if (rc < 0 || (rc == RC_OK && taken))
			return rc;
		if (rc == RC_END) {
			s->family++;
			s->has_column = false;
		}
	}
	return RC_END;
}

/* Return the next cell of the gathered row. */
static int next_gathered(struct query_scan *s, struct cell *out, struct error *err)
{
	struct scan_gathered *g = &s->gathered;

	while (g->at < g->n) {
		bool taken, same_family = g->at && g->cells[g->at - 1].family.ptr ==
							   g->cells[g->at].family.ptr;

		*out = g->cells[g->at++];
		s->has_column = s->has_column && same_family;
		int rc = new_column(s, out, &taken, err);
		if (rc || taken)
			return rc;
	}
	return RC_END;
}

/* Return the next cell of the current row. Return RC_END if there are no more cells. */
static int next_here(struct query_scan *s, struct cell *out, struct error *err)
{
	int rc = s->q.filter || s->q.judge ? next_gathered(s, out, err) : next_in_row(s, out, err);

	if (rc == RC_OK) {
		s->rows += !s->emitted;
		s->new_row = !s->emitted;
		s->emitted = true;
	}
	return rc;
}

int query_next(struct query_scan *s, struct cell *out, struct error *err)
{
	bool gathers = s->q.filter || s->q.judge;

	if (s->q.salt_bytes)
		return merged_next(s, out, err);
	for (;;) {
		int rc = 0;

		if (s->quick.open) {
			rc = quick_next(s, out, err);
			if (rc != RC_END || s->quick.open)
				return rc;
			rc = 0;
		}
		if (!s->in_row) {
			rc = scan_next_row(s, err);
			if (rc == RC_OK && quick_enter(s)) {
				s->in_row = false;
				continue;
			}
			if (rc == RC_OK && gathers)
				rc = scan_gather_row(s, err);
		}
		if (rc)
			return rc;
		rc = next_here(s, out, err);
		if (rc != RC_END)
			return rc;
		s->in_row = false;
	}
}

int query_count(struct query_scan *s, uint64_t *rows, uint64_t *cells, struct error *err)
{
	struct cell c;
	int rc = 0;

	*rows = *cells = 0;
	while (rc == RC_OK) {
		if (s->quick.open && s->q.limit == 0)
			quick_count(s, rows, cells);
		rc = query_next(s, &c, err);
		*cells += rc == RC_OK;
		*rows += rc == RC_OK && s->new_row;
	}
	return rc == RC_END ? 0 : rc;
}

bool query_starts_row(const struct query_scan *s)
{
	return s->new_row;
}

void query_explain(const struct query_scan *s, size_t i, struct query_why *out)
{
	const struct query_file *f = &s->files[i];

	if (s->q.salt_bytes) {
		*out = (struct query_why){.name = f->name, .spared = "row keys"};
		merged_explain(s, i, out);
		return;
	}
	const struct family_scan *family = &s->families[f->family];
	const struct store_cursor *c = &family->store.cursors[s->place[i]];
	*out = (struct query_why){
		.name = f->name,
		.spared = c->spared,
		.reads = c->hfile ? hfile_reads(c->hfile) : c->reads,
	};
	if (family->left_out)
		out->spared = "family";
	else if (!c->spared && !c->tried)
		out->spared = "not reached";
}
