/*
 * query.c - rows over the families of a table
 *
 * The stores stand side by side.  A row is the smallest that any of them comes to; each family's
 * matcher then says which of its cells are the answer, one at a time: nothing of a row is gathered.
 */
#include "query.h"

#include <stdlib.h>

#include "matcher.h"
#include "mem.h"
#include "store.h"

struct query_scan {
	struct query q;
	struct bytes *wanted; /* of all families, one behind the other */
	size_t nfamilies, nfiles;
	struct family_scan {
		struct store store;
		struct matcher *matcher;
		bool left_out; /* not among the columns asked for */
		bool ended;    /* the row */
		uint64_t taken, skipped;
	} * families;
	size_t *place; /* of each file: its cursor in its family's store */
	const struct query_file *files;
	struct buf row; /* being answered, or the last one */
	bool in_row, started, emitted, step;
	size_t family;		/* being answered */
	uint64_t rows, columns; /* of the answer; of the row */
	struct buf column;	/* the last one of the row, for max_columns */
	bool has_column;
	uint8_t *beyond; /* reversed: more than any row */
};

#define BEYOND_BYTES (CELL_ROW_MAX + 1)

int query_open_path(const struct query_file *f, struct hfile_source *out, struct error *err)
{
	return hfile_file_source(out, f->name, err);
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

/* The qualifiers named of a family, sorted, each once, into s->wanted from at on. */
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
	*at += f->store.nwanted;
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

int query_open(struct query_scan **out, const struct query_family *families, size_t nfamilies,
	       const struct query_file *files, size_t nfiles, const struct query *q,
	       struct error *err)
{
	*out = NULL;
	for (size_t i = 0; i < q->ncolumns; i++)
		if (q->raw && !q->columns[i].all)
			return error_set(err, RC_CONFIG,
					 "a raw scan shows all columns of a family; expected "
					 "families without qualifiers");
	struct query_scan *s = mem_try_calloc(1, sizeof *s);
	if (!s)
		return error_memory(err, sizeof *s, "a scan");
	s->q = *q;
	s->nfamilies = nfamilies;
	s->files = files;
	s->nfiles = nfiles;
	int rc = open_all(s, families, err);
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
	mem_free(s->wanted);
	mem_free(s->place);
	mem_free(s->beyond);
	buf_release(&s->row);
	buf_release(&s->column);
	mem_free(s);
}

/* --- which row is next --- */

static int set_row(struct query_scan *s, struct bytes row, struct error *err)
{
	s->row.len = 0;
	if (!buf_try_append(&s->row, row.ptr, row.len))
		return error_memory(err, row.len, "a row key");
	return 0;
}

static bool before_start(const struct query_scan *s, struct bytes row)
{
	return s->q.start_exclusive && s->q.start.len && bytes_eq(row, s->q.start);
}

/* Is the row behind the question's end, in the order of the scan? */
static bool behind_stop(const struct query_scan *s, struct bytes row)
{
	if (s->q.get)
		return !bytes_eq(row, s->q.start);
	if (s->q.stop.len == 0)
		return false;
	int c = bytes_cmp(row, s->q.stop);
	c = s->q.reversed ? -c : c;
	return s->q.stop_inclusive ? c > 0 : c >= 0;
}

static int next_forward(struct query_scan *s, struct error *err)
{
	const struct cell *least = NULL, *c;
	for (size_t i = 0; i < s->nfamilies; i++) {
		struct family_scan *f = &s->families[i];
		if (f->left_out)
			continue;
		if (!s->started)
			store_start(&f->store);
		int rc = store_peek(&f->store, &c, err);
		if (rc < 0)
			return rc;
		if (rc == 0 && (!least || bytes_cmp(c->row, least->row) < 0))
			least = c;
	}
	s->started = true;
	return least ? set_row(s, least->row, err) : RC_END;
}

/* The place that all rows to come are before. */
static struct cell reversed_bound(const struct query_scan *s, struct buf *made, bool *fits)
{
	const struct bytes none = {NULL, 0};
	*fits = true;
	if (s->started)
		return cell_first(buf_bytes(&s->row), none, none);
	if (s->q.start.len == 0)
		return cell_first(bytes_of(s->beyond, BEYOND_BYTES), none, none);
	*fits = buf_try_append(made, s->q.start.ptr, s->q.start.len) &&
		(s->q.start_exclusive || buf_try_append(made, "", 1));
	return cell_first(buf_bytes(made), none, none);
}

static int next_reversed(struct query_scan *s, struct error *err)
{
	struct buf made = {0}, row = {0};
	bool fits;
	struct cell bound = reversed_bound(s, &made, &fits);
	int rc = fits ? 0 : error_memory(err, s->q.start.len, "a row key");
	for (size_t i = 0; rc == 0 && i < s->nfamilies; i++)
		if (!s->families[i].left_out)
			rc = store_row_before(&s->families[i].store, &bound, &row, err);
	s->started = true;
	if (rc == 0 && row.len == 0)
		rc = RC_END;
	if (rc == 0)
		rc = set_row(s, buf_bytes(&row), err);
	for (size_t i = 0; rc == 0 && i < s->nfamilies; i++)
		if (!s->families[i].left_out)
			store_at_row(&s->families[i].store, buf_bytes(&s->row));
	buf_release(&made);
	buf_release(&row);
	return rc;
}

static void enter_row(struct query_scan *s)
{
	s->in_row = true;
	s->emitted = s->has_column = false;
	s->columns = 0;
	s->family = 0;
	for (size_t i = 0; i < s->nfamilies; i++) {
		struct family_scan *f = &s->families[i];
		matcher_row(f->matcher);
		f->taken = f->skipped = 0;
		f->ended = false;
	}
}

static int next_row(struct query_scan *s, struct error *err)
{
	if (s->q.limit && s->rows == s->q.limit)
		return RC_END;
	int rc = s->q.reversed ? next_reversed(s, err) : next_forward(s, err);
	if (rc)
		return rc;
	if (behind_stop(s, buf_bytes(&s->row)))
		return RC_END;
	enter_row(s);
	if (before_start(s, buf_bytes(&s->row)))
		for (size_t i = 0; i < s->nfamilies; i++)
			s->families[i].ended = true;
	return 0;
}

/* --- the cells of a row --- */

static int skip_column(struct query_scan *s, struct store *store, const struct cell *c,
		       struct error *err)
{
	/* markers of the family stand among the cells of the empty column */
	if (c->qualifier.len == 0)
		return store_step(store, err);
	s->column.len = 0;
	s->has_column = false;
	if (!buf_try_append(&s->column, c->qualifier.ptr, c->qualifier.len))
		return error_memory(err, c->qualifier.len, "a qualifier");
	int rc = 0;
	while (rc == 0 && bytes_eq(c->row, buf_bytes(&s->row)) &&
	       bytes_eq(c->qualifier, buf_bytes(&s->column))) {
		rc = store_step(store, err);
		if (rc == 0)
			rc = store_peek(store, &c, err);
	}
	return rc == RC_END ? 0 : rc;
}

/* Limits on what the matcher let through: is the cell of the answer? */
static bool within_limits(struct query_scan *s, struct family_scan *f)
{
	if (f->skipped < s->q.family_offset) {
		f->skipped++;
		return false;
	}
	if (s->q.family_limit && f->taken == s->q.family_limit) {
		f->ended = true;
		return false;
	}
	f->taken++;
	return true;
}

/* The next cell of a family in the row; RC_END: no more. */
static int next_of_family(struct query_scan *s, struct family_scan *f, struct cell *out,
			  struct error *err)
{
	const struct cell *c;
	for (;;) {
		int rc = store_peek(&f->store, &c, err);
		if (rc || !bytes_eq(c->row, buf_bytes(&s->row)))
			return rc ? rc : RC_END;
		enum verdict v = f->ended ? VERDICT_NEXT_ROW : matcher_take(f->matcher, c);
		if (v == VERDICT_TAKE && !within_limits(s, f))
			v = VERDICT_SKIP;
		switch (v) {
		case VERDICT_TAKE:
			*out = *c;
			s->step = true;
			return 0;
		case VERDICT_NO_MEMORY: return error_memory(err, c->qualifier.len, "a scan");
		case VERDICT_NEXT_ROW:
			f->ended = true;
			rc = store_step(&f->store, err);
			break;
		case VERDICT_NEXT_COLUMN: rc = skip_column(s, &f->store, c, err); break;
		case VERDICT_SKIP: rc = store_step(&f->store, err); break;
		}
		if (rc)
			return rc;
	}
}

/* ColumnPaginationFilter: so many columns of a row, over all families, each in one version. */
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
		if (rc == 0)
			rc = next_of_family(s, f, out, err);
		if (rc == 0)
			rc = new_column(s, out, &taken, err);
		if (rc < 0 || (rc == 0 && taken))
			return rc;
		if (rc == RC_END) {
			s->family++;
			s->has_column = false;
		}
	}
	return RC_END;
}

int query_next(struct query_scan *s, struct cell *out, struct error *err)
{
	for (;;) {
		int rc = s->in_row ? 0 : next_row(s, err);
		if (rc)
			return rc;
		rc = next_in_row(s, out, err);
		if (rc == 0) {
			s->rows += !s->emitted;
			s->emitted = true;
		}
		if (rc != RC_END)
			return rc;
		s->in_row = false;
	}
}

void query_explain(const struct query_scan *s, size_t i, struct query_why *out)
{
	const struct query_file *f = &s->files[i];
	const struct family_scan *family = &s->families[f->family];
	const struct cursor *c = &family->store.cursors[s->place[i]];
	*out = (struct query_why){
		.name = f->name,
		.spared = c->spared,
		.blocks = c->hfile ? hfile_blocks_read(c->hfile) : c->blocks,
	};
	if (family->left_out)
		out->spared = "family";
	else if (!c->spared && !c->tried)
		out->spared = "not reached";
}
