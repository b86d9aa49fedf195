/*
 * agree_events.c - turn the rows of the truth table back into events
 *
 * The cells of a row with one timestamp and one computed qualifier belong to one event. A cell with
 * a constant qualifier belongs to the event with its timestamp. If several events have this
 * timestamp, nothing shows whose value it is.
 */
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "pool.h"
#include "read/side.h"

/* A cell of the current row. */
struct truth_cell {
	struct cell cell;
	size_t column; /* index of the job's cell */
	bool computed;
};

/* A cell that decides the time, and the qualifier, of an event. */
struct seed {
	int64_t ts;
	bool computed;
	struct bytes qualifier;
};

struct truth_reader {
	const struct agree_plan *p;
	const struct agree_options *o;
	struct agree_result *out;
	struct run_builder *builder;
	struct row_encoder *encoder;
	struct record *records;
	struct key_piece *key, *parts;
	struct truth_cell *cells; /* of the row, the newest version of each column */
	size_t ncells;
	struct column *columns; /* the event, by field */
	struct buf *texts;	/* by field */
	bool *lost;		/* by field: the truth table has lost the event's value */
	struct field_scratch scratch;
	struct buf payload;
	struct arena row, values; /* of the row; of the event */
	bool qualifiers_alike;	  /* all computed qualifiers have the same parts */
};

/* --- the values of an event --- */

/* Store a decoded value as the text that the derived job reads. */
static void put_value(struct truth_reader *r, size_t field, const struct value *v)
{
	const struct field *f = &r->p->job->fields[field];
	struct buf *to = &r->texts[field];

	to->len = 0;
	if (v->text.len || f->type == FIELD_TEXT || f->type == FIELD_BYTES)
		buf_append(to, v->text.ptr, v->text.len);
	else
		field_text(f, v, to);
	buf_room(to, EVENT_ROOM_BYTES);
	r->columns[field] =
		(struct column){.ptr = to->ptr, .len = (uint32_t)to->len, .quoted = true};
}

static int take_value(struct truth_reader *r, size_t field, const struct layout *l, struct bytes in,
		      struct error *err)
{
	struct value v;
	int rc = stored_take(l, &r->p->stored->forms->form[field], in, &r->values, &r->scratch, &v,
			     err);

	if (rc == RC_OK)
		put_value(r, field, &v);
	return rc;
}

static void forget(struct truth_reader *r, size_t field, bool lost)
{
	r->columns[field] = (struct column){.absent = true};
	r->lost[field] = lost;
}

static bool belongs(const struct truth_cell *c, const struct seed *s)
{
	return c->cell.ts == s->ts &&
	       (!c->computed || (s->computed && bytes_eq(c->cell.qualifier, s->qualifier)));
}

/* Find the event's cell of a column of the job. */
static const struct truth_cell *find_cell(const struct truth_reader *r, size_t column,
					  const struct seed *s)
{
	for (size_t i = 0; i < r->ncells; i++)
		if (r->cells[i].column == column && belongs(&r->cells[i], s))
			return &r->cells[i];
	return NULL;
}

/* Return true if an event without this cell has no value for it, and did not lose the value. */
static bool is_null(const struct truth_reader *r, size_t column, const struct seed *s)
{
	const struct cell_spec *c = &r->p->truth->cells[column];

	if ((!c->optional && !c->when) || cell_has_ttl(c))
		return false;
	if (!c->qualifier_constant)
		return s->computed && r->qualifiers_alike;
	for (size_t i = 0; i < r->ncells; i++)
		if (r->cells[i].column == column && r->cells[i].cell.ts >= s->ts)
			return false;
	return true;
}

static int take_qualifier(struct truth_reader *r, size_t field, const struct field_source *from,
			  const struct truth_cell *c, struct error *err)
{
	const struct stored_column *column = &r->p->stored->columns[from->column];

	key_split(&column->qualifier, c->cell.qualifier, r->parts);
	return take_value(r, field, &column->qualifier.steps[from->part].layout,
			  r->parts[from->part].bytes, err);
}

/* Take a field from a cell. `alone` means that no other event of the row has the timestamp. */
static int take_from_cell(struct truth_reader *r, size_t field, const struct seed *s, bool alone,
			  struct error *err)
{
	const struct field_source *from = &r->p->sources[field];
	const struct truth_cell *c = find_cell(r, from->column, s);

	if (!c || (!c->computed && !alone)) {
		forget(r, field, c || !is_null(r, from->column, s));
		return RC_OK;
	}
	if (from->place == FROM_QUALIFIER)
		return take_qualifier(r, field, from, c, err);
	return take_value(r, field, &from->layout, c->cell.value, err);
}

static int take_field(struct truth_reader *r, size_t field, const struct seed *s, bool alone,
		      struct error *err)
{
	const struct field_source *from = &r->p->sources[field];
	const struct key_schema *key = &r->p->stored->keys->schema;
	struct value v = {.u = (uint64_t)s->ts};

	r->lost[field] = false;
	switch (from->place) {
	case FROM_KEY:
		return take_value(r, field, &key->steps[from->part].layout,
				  r->key[from->part].bytes, err);
	case FROM_TIMESTAMP: put_value(r, field, &v); return RC_OK;
	case FROM_QUALIFIER:
	case FROM_VALUE: return take_from_cell(r, field, s, alone, err);
	case FROM_NOWHERE: forget(r, field, false); break;
	}
	return RC_OK;
}

/* --- the event's row in the other table --- */

static bool depends_on_lost(const struct truth_reader *r, const bool *needs)
{
	for (size_t i = 0; i < r->p->job->nfields; i++)
		if (needs[i] && r->lost[i])
			return true;
	return false;
}

static void note_unplaced(struct truth_reader *r, const char *why)
{
	if (r->out->unplaced++ == 0)
		snprintf(r->out->unplaced_why, sizeof r->out->unplaced_why, "%s", why);
}

/* Add the record with its flags. A record without a cell matters only if a flag is set. */
static int add_record(struct truth_reader *r, struct record rec, struct error *err)
{
	const struct agree_plan *p = r->p;

	r->payload.len = 0;
	memset(buf_room(&r->payload, p->flag_bytes), 0, p->flag_bytes);
	r->payload.len = p->flag_bytes;
	for (size_t i = 0; i < p->ncells; i++)
		if (depends_on_lost(r, p->cell_needs[i]))
			r->payload.ptr[i / 8] |= (uint8_t)(1u << i % 8);
	buf_append(&r->payload, rec.payload.ptr, rec.payload.len);
	rec.payload = buf_bytes(&r->payload);
	return run_builder_add(r->builder, &rec, err);
}

static int write_event(struct truth_reader *r, struct error *err)
{
	const struct agree_plan *p = r->p;
	const struct event ev = {.columns = r->columns,
				 .ncolumns = p->job->nfields,
				 .roomy = false,
				 .seq = r->out->events++};
	struct reject why;

	if (depends_on_lost(r, p->row_needs)) {
		note_unplaced(r, "a later event has overwritten a value that its row key needs");
		return RC_OK;
	}
	if (row_encode(r->encoder, &ev, r->records, &why)) {
		note_unplaced(r, why.detail);
		return RC_OK;
	}
	struct record rec = r->records[r->o->other];
	return rec.key.len ? add_record(r, rec, err) : RC_OK;
}

static int take_event(struct truth_reader *r, const struct seed *s, bool alone, struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < r->p->job->nfields; i++)
		rc = take_field(r, i, s, alone, err);
	if (rc == RC_OK)
		rc = write_event(r, err);
	arena_release(&r->values);
	return rc;
}

/* --- a row --- */

/* Order by time. At one time, computed qualifiers come first, in their order. */
static int by_seed(const void *a, const void *b)
{
	const struct truth_cell *x = a, *y = b;

	if (x->cell.ts != y->cell.ts)
		return x->cell.ts < y->cell.ts ? -1 : 1;
	if (x->computed != y->computed)
		return x->computed ? -1 : 1;
	return x->computed ? bytes_cmp(x->cell.qualifier, y->cell.qualifier) : 0;
}

static struct seed seed_of(const struct truth_cell *c)
{
	return (struct seed){.ts = c->cell.ts,
			     .computed = c->computed,
			     .qualifier = c->computed ? c->cell.qualifier : bytes_of("", 0)};
}

/* Return true if the cell begins an event after the event of the cell before it. */
static bool is_new(const struct truth_cell *last, const struct truth_cell *c)
{
	if (last->cell.ts != c->cell.ts)
		return true;
	return c->computed && !bytes_eq(last->cell.qualifier, c->cell.qualifier);
}

static int split_key(struct truth_reader *r, struct bytes row, struct error *err)
{
	const struct key_schema *k = &r->p->stored->keys->schema;
	struct buf text = {0};
	int rc = key_decode(k, NULL, row, &r->row, r->key, err);

	if (rc) {
		bytes_escape(&text, row);
		rc = error_prefix(err, "%s: row %.*s: ", r->p->truth->schema.name, (int)text.len,
				  (const char *)text.ptr);
		buf_release(&text);
	}
	return rc;
}

/* Make the events of the row whose cells are in r->cells. */
static int take_row(struct truth_reader *r, struct error *err)
{
	if (r->ncells == 0)
		return RC_OK;
	qsort(r->cells, r->ncells, sizeof *r->cells, by_seed);
	int rc = split_key(r, r->cells[0].cell.row, err);
	for (size_t i = 0, next; rc == RC_OK && i < r->ncells; i = next) {
		const struct seed s = seed_of(&r->cells[i]);

		for (next = i + 1;
		     next < r->ncells && !is_new(&r->cells[next - 1], &r->cells[next]); next++)
			;
		bool before = i > 0 && r->cells[i - 1].cell.ts == s.ts;
		bool after = next < r->ncells && r->cells[next].cell.ts == s.ts;
		rc = take_event(r, &s, !before && !after, err);
	}
	r->ncells = 0;
	arena_release(&r->row);
	return rc;
}

static bool is_older_version(const struct truth_reader *r, const struct cell *c)
{
	const struct cell *last = r->ncells ? &r->cells[r->ncells - 1].cell : NULL;

	return last && bytes_eq(last->family, c->family) && bytes_eq(last->qualifier, c->qualifier);
}

static void keep_cell(struct truth_reader *r, const struct cell *c)
{
	const struct stored_column *of =
		stored_find(r->p->stored, c->family, c->qualifier, r->parts);

	if (!of || is_older_version(r, c))
		return;
	r->cells = mem_grow(r->cells, r->ncells, sizeof *r->cells);
	r->cells[r->ncells++] =
		(struct truth_cell){.cell = side_copy(&r->row, c),
				    .column = (size_t)(of->spec - r->p->truth->cells),
				    .computed = !of->spec->qualifier_constant};
}

static int read_all(struct truth_reader *r, struct side_reader *side, struct error *err)
{
	int rc = side_next(side, err);

	while (rc == RC_OK && side->more) {
		if (side_starts_row(side)) {
			rc = take_row(r, err);
			if (r->o->progress)
				r->o->progress->events = side->rows;
			if (rc == RC_OK && side->rows % 1024 == 0)
				rc = stop_check(err);
		}
		if (rc == RC_OK) {
			keep_cell(r, &side->cell);
			rc = side_next(side, err);
		}
	}
	return rc ? rc : take_row(r, err);
}

static bool are_alike(const struct job_table *t)
{
	const struct cell_spec *first = NULL;

	for (size_t i = 0; i < t->ncells; i++) {
		const struct cell_spec *c = &t->cells[i];

		if (c->marker || c->qualifier_constant)
			continue;
		first = first ? first : c;
		if (c->nqualifier != first->nqualifier)
			return false;
		for (size_t k = 0; k < c->nqualifier; k++)
			if (c->qualifier[k].kind != first->qualifier[k].kind ||
			    c->qualifier[k].field != first->qualifier[k].field ||
			    c->qualifier[k].as != first->qualifier[k].as)
				return false;
	}
	return true;
}

static void reader_open(struct truth_reader *r)
{
	const struct agree_plan *p = r->p;
	size_t n = p->job->nfields + 1;

	r->encoder = row_encoder_new(p->rows);
	r->records = mem_calloc(p->job->ntables, sizeof *r->records);
	r->key = mem_calloc(p->stored->max_pieces + 1, sizeof *r->key);
	r->parts = mem_calloc(p->stored->max_pieces + 1, sizeof *r->parts);
	r->columns = mem_calloc(n, sizeof *r->columns);
	r->texts = mem_calloc(n, sizeof *r->texts);
	r->lost = mem_calloc(n, sizeof *r->lost);
	r->qualifiers_alike = are_alike(p->truth);
}

static void reader_close(struct truth_reader *r)
{
	for (size_t i = 0; i < r->p->job->nfields; i++)
		buf_release(&r->texts[i]);
	row_encoder_free(r->encoder);
	mem_free(r->records);
	mem_free(r->key);
	mem_free(r->parts);
	mem_free(r->cells);
	mem_free(r->columns);
	mem_free(r->texts);
	mem_free(r->lost);
	field_scratch_release(&r->scratch);
	buf_release(&r->payload);
	arena_release(&r->row);
	arena_release(&r->values);
}

int agree_events(const struct agree_plan *p, const struct agree_options *o, struct sorter *rows,
		 struct agree_result *out, struct error *err)
{
	struct truth_reader r = {.p = p, .o = o, .out = out, .builder = sorter_builder(rows, 0)};
	struct side_reader side = {0};
	const struct query all = {.now_ms = o->now_ms};

	reader_open(&r);
	int rc = side_open(&side, &o->side[0], &o->listener, &all, err);
	if (rc == RC_OK)
		rc = read_all(&r, &side, err);
	side_close(&side);
	reader_close(&r);
	return rc;
}
