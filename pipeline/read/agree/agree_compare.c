/* agree_compare.c - compare the cells of the events with the cells of the other table */
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "pool.h"
#include "read/side.h"

/* A list of cells of one row. */
struct row_list {
	struct row_cell *item;
	size_t n;
};

struct comparison {
	const struct agree_plan *p;
	const struct agree_options *o;
	struct agree_result *out;
	const struct stored *stored; /* the other table */
	struct key_piece *pieces;
	struct record_iter events;
	struct record next; /* the next record of an event, if `more` */
	bool more;
	struct side_reader side; /* the other table */
	struct side_reader raw;	 /* all its stored cells, from the first difference on */
	struct query raw_query;
	bool has_raw, has_markers; /* `raw` is open; `markers` has those of the row */
	struct buf row;		   /* the row key */
	struct row_list expected, lost, found, markers;
	struct row_cell *cells; /* of one record */
	bool differs;		/* a cell of the row differs */
	struct arena arena;	/* of the row */
	int64_t *ttl_ms;	/* by family of the other table; 0 means no limit */
	int64_t truth_ttl_ms;
};

static void push(struct row_list *l, struct row_cell c)
{
	l->item = mem_grow(l->item, l->n, sizeof *l->item);
	l->item[l->n++] = c;
}

/* --- the cells that the events give --- */

static int advance_events(struct comparison *c, struct error *err)
{
	int rc = c->events.next(c->events.self, &c->next, err);

	c->more = rc == RC_OK;
	return rc < 0 ? rc : RC_OK;
}

static bool is_expired(int64_t ttl_ms, int64_t ts, int64_t now_ms)
{
	return ttl_ms > 0 && ts < now_ms - ttl_ms;
}

static void copy_row_cell(struct comparison *c, struct row_cell r)
{
	if (is_expired(c->ttl_ms[r.family], r.cell.ts, c->o->now_ms))
		return;
	r.cell = side_copy(&c->arena, &r.cell);
	push(&c->expected, r);
}

/* Add the cells of the next record, and the numbers of cells whose values are lost. */
static void take_record(struct comparison *c)
{
	const struct agree_plan *p = c->p;
	struct record rec = c->next;
	const uint8_t *flags = rec.payload.ptr;

	rec.payload = bytes_of(flags + p->flag_bytes, rec.payload.len - p->flag_bytes);
	int64_t ts = row_timestamp(p->rows, c->o->other, &rec);
	for (uint32_t i = 0; i < p->ncells; i++)
		if (flags[i / 8] >> i % 8 & 1)
			push(&c->lost, (struct row_cell){.column = i, .cell = {.ts = ts}});
	size_t n = row_cells(p->rows, c->o->other, &rec, c->cells);
	for (size_t i = 0; i < n; i++)
		copy_row_cell(c, c->cells[i]);
}

static int by_cell(const void *a, const void *b)
{
	const struct row_cell *x = a, *y = b;
	int order = cell_key_cmp(&x->cell, &y->cell);

	return order ? order : x->seq < y->seq ? 1 : x->seq > y->seq ? -1 : 0;
}

static int take_expected(struct comparison *c, struct error *err)
{
	int rc = RC_OK;

	while (rc == RC_OK && c->more && bytes_eq(c->next.key, buf_bytes(&c->row))) {
		take_record(c);
		rc = advance_events(c, err);
	}
	if (c->expected.n)
		qsort(c->expected.item, c->expected.n, sizeof *c->expected.item, by_cell);
	return rc;
}

/* --- the cells of the other table --- */

/* Take the row of a scan, with all its versions. */
static int take_side(struct comparison *c, struct side_reader *r, struct row_list *to,
		     struct error *err)
{
	int rc = RC_OK;

	while (rc == RC_OK && r->more && bytes_cmp(r->cell.row, buf_bytes(&c->row)) < 0)
		rc = side_next(r, err);
	while (rc == RC_OK && r->more && bytes_eq(r->cell.row, buf_bytes(&c->row))) {
		bool wanted = to == &c->found || r->cell.type != CELL_PUT;

		if (wanted)
			push(to, (struct row_cell){.cell = side_copy(&c->arena, &r->cell)});
		rc = side_next(r, err);
	}
	return rc;
}

static size_t count_versions(const struct row_list *l, size_t from)
{
	const struct cell *first = &l->item[from].cell;
	size_t n = 1;

	while (from + n < l->n && bytes_eq(l->item[from + n].cell.family, first->family) &&
	       bytes_eq(l->item[from + n].cell.qualifier, first->qualifier))
		n++;
	return n;
}

/* Return the number of the job's cell with this column, or NOT_COMPARED. */
static size_t number_of(struct comparison *c, const struct cell *cell)
{
	const struct stored_column *of =
		stored_find(c->stored, cell->family, cell->qualifier, c->pieces);

	return of ? c->p->number[of->spec - c->p->other->cells] : NOT_COMPARED;
}

/*
 * Return true if an event with a lost value may have written this cell. Several events can write a
 * column with a constant name, so a newer event with a lost value may have overwritten it, too.
 */
static bool may_be_lost(const struct comparison *c, size_t number, const struct row_cell *expected,
			int64_t ts)
{
	bool constant = c->p->derived.tables[c->o->other].cells[number].qualifier_constant;

	for (size_t i = 0; i < c->lost.n; i++) {
		int64_t lost = c->lost.item[i].cell.ts;

		if (c->lost.item[i].column == number && (!expected || lost >= expected->cell.ts) &&
		    (lost == ts || (constant && lost > ts)))
			return true;
	}
	return false;
}

/*
 * Several events can write one cell at one time. The load then keeps the last event, and the truth
 * table does not show which one that was. Return true if the found cell equals one of them. Set
 * *several if the values of these events differ.
 */
static bool equals_event(const struct row_cell *expected, size_t n, const struct cell *found,
			 bool *several)
{
	*several = false;
	for (size_t i = 0; i < n && expected[i].cell.ts == expected->cell.ts; i++) {
		const struct cell *e = &expected[i].cell;

		*several = *several || !bytes_eq(e->value, expected->cell.value);
		if (found && found->ts == e->ts && bytes_eq(found->value, e->value))
			return true;
	}
	return false;
}

/* --- differences --- */

static int repair(struct comparison *c, struct cell cell, uint8_t type, struct error *err)
{
	cell.type = type;
	if (type != CELL_PUT)
		cell.value = bytes_of("", 0);
	cell.tags = bytes_of("", 0);
	return c->o->repair ? c->o->repair(c->o->ctx, &cell, err) : RC_OK;
}

/* Return true if a stored marker hides a Put of this cell. */
static bool is_hidden(const struct comparison *c, const struct cell *put)
{
	for (size_t i = 0; i < c->markers.n; i++) {
		const struct cell *m = &c->markers.item[i].cell;
		bool exact = m->type == CELL_DELETE || m->type == CELL_DELETE_FAMILY_VERSION;

		if (bytes_eq(m->family, put->family) &&
		    (exact ? m->ts == put->ts : m->ts >= put->ts) &&
		    (cell_type_marks_family(m->type) || bytes_eq(m->qualifier, put->qualifier)))
			return true;
	}
	return false;
}

/* Read the markers of the row. The scan for them begins at the first row that needs them. */
static int take_markers(struct comparison *c, struct error *err)
{
	int rc = RC_OK;

	if (c->has_markers)
		return RC_OK;
	if (!c->has_raw) {
		c->has_raw = true;
		c->raw_query.start = arena_bytes(&c->out->arena, buf_bytes(&c->row));
		rc = side_open(&c->raw, &c->o->side[1], &c->o->listener, &c->raw_query, err);
		if (rc == RC_OK)
			rc = side_next(&c->raw, err);
	}
	c->has_markers = true;
	return rc ? rc : take_side(c, &c->raw, &c->markers, err);
}

/* Write the right version. Count it if a stored marker hides it. */
static int put_right(struct comparison *c, const struct cell *expected, struct error *err)
{
	int rc = c->o->repair ? take_markers(c, err) : RC_OK;

	if (rc)
		return rc;
	c->out->hidden += is_hidden(c, expected);
	return repair(c, *expected, CELL_PUT, err);
}

static void note(struct comparison *c, enum agree_kind kind, const struct cell *expected,
		 const struct cell *found)
{
	struct agree_result *out = c->out;

	c->differs = true;
	out->count[kind]++;
	if (out->nfirst >= c->o->shown)
		return;
	out->first = arena_grow(&out->arena, out->first, out->nfirst, sizeof *out->first);
	struct agree_difference *d = &out->first[out->nfirst++];
	*d = (struct agree_difference){.kind = kind};
	if (expected)
		d->expected = side_copy(&out->arena, expected);
	if (found)
		d->found = side_copy(&out->arena, found);
}

static int add_missing(struct comparison *c, const struct cell *expected, struct error *err)
{
	note(c, AGREE_MISSING, expected, NULL);
	return put_right(c, expected, err);
}

static int add_extra(struct comparison *c, const struct cell *found, struct error *err)
{
	note(c, AGREE_EXTRA, NULL, found);
	bool wrong = c->o->delete_extra || (!c->out->extra_kept && !c->out->unplaced);
	return wrong ? repair(c, *found, CELL_DELETE_COLUMN, err) : RC_OK;
}

/*
 * Put the right version. A newer version, which no event has written, needs a marker of its own,
 * because a marker of the column would hide the right version, too.
 */
static int add_different(struct comparison *c, const struct cell *expected,
			 const struct row_cell *found, size_t versions, struct error *err)
{
	int rc = RC_OK;

	note(c, AGREE_DIFFERENT, expected, &found->cell);
	for (size_t i = 0; rc == RC_OK && i < versions && found[i].cell.ts > expected->ts; i++)
		rc = repair(c, found[i].cell, CELL_DELETE, err);
	return rc ? rc : put_right(c, expected, err);
}

/* Compare a column. `expected` is NULL if no event gives it, and `found` if the table lacks it. */
static int compare_column(struct comparison *c, const struct row_cell *expected, size_t events,
			  const struct row_cell *found, size_t versions, struct error *err)
{
	bool several;
	const struct cell *any = found ? &found->cell : &expected->cell;
	size_t number = expected ? expected->column : number_of(c, any);
	int64_t expires = c->o->now_ms - c->truth_ttl_ms;

	c->out->cells += found != NULL;
	bool equal = equals_event(expected, events, found ? any : NULL, &several);
	if (number == NOT_COMPARED || may_be_lost(c, number, expected, any->ts) ||
	    (several && !equal) || (!expected && c->truth_ttl_ms && any->ts < expires)) {
		c->out->left_out++;
		return RC_OK;
	}
	if (!expected)
		return add_extra(c, any, err);
	if (!found)
		return add_missing(c, any, err);
	if (equal) {
		c->out->equal++;
		return RC_OK;
	}
	return add_different(c, &expected->cell, found, versions, err);
}

static int column_order(const struct row_cell *a, const struct row_cell *b)
{
	int order = !b ? -1 : !a ? 1 : bytes_cmp(a->cell.family, b->cell.family);

	return order ? order : bytes_cmp(a->cell.qualifier, b->cell.qualifier);
}

static int compare_columns(struct comparison *c, struct error *err)
{
	const struct row_list *e = &c->expected, *f = &c->found;
	int rc = RC_OK;

	for (size_t i = 0, j = 0; rc == RC_OK && (i < e->n || j < f->n);) {
		const struct row_cell *a = i < e->n ? &e->item[i] : NULL;
		const struct row_cell *b = j < f->n ? &f->item[j] : NULL;
		int order = column_order(a, b);
		size_t events = order <= 0 ? count_versions(e, i) : 0;
		size_t versions = order >= 0 ? count_versions(f, j) : 0;

		rc = compare_column(c, events ? a : NULL, events, versions ? b : NULL, versions,
				    err);
		i += events;
		j += versions;
	}
	return rc;
}

static int compare_row(struct comparison *c, struct error *err)
{
	int rc = take_expected(c, err);

	if (rc == RC_OK)
		rc = take_side(c, &c->side, &c->found, err);
	c->differs = c->has_markers = false;
	if (rc == RC_OK)
		rc = compare_columns(c, err);
	c->out->rows += c->found.n > 0;
	c->out->differing_rows += c->differs;
	c->expected.n = c->lost.n = c->found.n = c->markers.n = 0;
	arena_release(&c->arena);
	return rc;
}

static int compare_rows(struct comparison *c, struct error *err)
{
	int rc = advance_events(c, err);

	if (rc == RC_OK)
		rc = side_next(&c->side, err);
	while (rc == RC_OK && (c->more || c->side.more)) {
		bool event =
			c->more && (!c->side.more || bytes_cmp(c->next.key, c->side.cell.row) <= 0);
		struct bytes row = event ? c->next.key : c->side.cell.row;

		c->row.len = 0;
		if (!buf_try_append(&c->row, row.ptr, row.len))
			return error_memory(err, row.len, "a row key");
		rc = compare_row(c, err);
		if (c->o->progress)
			c->o->progress->events++;
		if (rc == RC_OK)
			rc = stop_check(err);
	}
	return rc;
}

/* --- both scans --- */

static int64_t ttl_of(const struct family *f)
{
	return f->ttl_s == TTL_FOREVER ? 0 : (int64_t)f->ttl_s * 1000;
}

static void find_ttls(struct comparison *c)
{
	const struct table *t = &c->p->truth->schema, *o = &c->p->other->schema;

	c->ttl_ms = arena_alloc(&c->out->arena, (o->nfamilies + 1) * sizeof *c->ttl_ms);
	for (size_t i = 0; i < o->nfamilies; i++)
		c->ttl_ms[i] = ttl_of(&o->families[i]);
	for (size_t i = 0; i < t->nfamilies; i++) {
		int64_t ttl = ttl_of(&t->families[i]);

		if (ttl && (!c->truth_ttl_ms || ttl < c->truth_ttl_ms))
			c->truth_ttl_ms = ttl;
	}
}

static int open_scans(struct comparison *c, struct sorter *rows, const struct query *all,
		      struct error *err)
{
	const struct bytes open = {0};
	int rc = sorter_range(rows, open, open, &c->events, err);

	if (rc == RC_OK)
		rc = side_open(&c->side, &c->o->side[1], &c->o->listener, all, err);
	return rc;
}

static void release(struct comparison *c)
{
	side_close(&c->side);
	side_close(&c->raw);
	if (c->events.close)
		c->events.close(c->events.self);
	mem_free(c->expected.item);
	mem_free(c->lost.item);
	mem_free(c->found.item);
	mem_free(c->markers.item);
	mem_free(c->cells);
	mem_free(c->pieces);
	buf_release(&c->row);
	arena_release(&c->arena);
}

int agree_compare(const struct agree_plan *p, const struct agree_options *o, struct sorter *rows,
		  struct agree_result *out, struct error *err)
{
	struct key_table keys;
	struct stored stored;
	struct comparison c = {.p = p,
			       .o = o,
			       .out = out,
			       .stored = &stored,
			       .raw_query = {.versions = INT32_MAX,
					     .raw = true,
					     .now_ms = o->now_ms}};
	const struct query all = {.versions = INT32_MAX, .now_ms = o->now_ms};

	key_table_open(&keys, p->job, p->other);
	stored_open(&stored, &keys, p->stored->forms);
	c.pieces = mem_calloc(stored.max_pieces + 1, sizeof *c.pieces);
	c.cells = mem_calloc(row_max_cells(p->rows, o->other) + 1, sizeof *c.cells);
	find_ttls(&c);
	int rc = open_scans(&c, rows, &all, err);
	if (rc == RC_OK)
		rc = compare_rows(&c, err);
	release(&c);
	stored_release(&stored);
	key_table_close(&keys);
	return rc;
}
