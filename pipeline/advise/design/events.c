/* events.c - read the events of a job into columns */
#include "events.h"

#include "row.h"

#define MIXER UINT64_C(0x9E3779B97F4A7C15)

struct text_table {
	uint32_t *slot; /* number + 1; 0 means empty */
	size_t room;
};

struct column_reader {
	struct events *e;
	const struct job *job; /* the job with a further table that reads all fields */
	struct row_plan *plan;
	struct row_encoder *encoder;
	struct record *records;
	struct row_cell *cells;
	struct text_table *tables; /* by field */
	uint64_t bytes, memory;
};

static uint64_t text_hash(struct bytes t)
{
	return XXH3_64bits(t.ptr, t.len);
}

static void table_grow(struct text_table *t, const struct event_column *c)
{
	t->room = t->room ? 2 * t->room : 64;
	mem_free(t->slot);
	t->slot = mem_calloc(t->room, sizeof *t->slot);
	for (size_t i = 0; i < c->ntexts; i++) {
		size_t at = text_hash(c->texts[i].text) & (t->room - 1);

		while (t->slot[at])
			at = (at + 1) & (t->room - 1);
		t->slot[at] = (uint32_t)i + 1;
	}
}

/* Return the number of the text, and keep a new text. */
static uint32_t text_number(struct column_reader *r, struct event_column *c, struct text_table *t,
			    const struct value *v)
{
	if (2 * (c->ntexts + 1) > t->room)
		table_grow(t, c);
	size_t at = text_hash(v->text) & (t->room - 1);
	for (; t->slot[at]; at = (at + 1) & (t->room - 1))
		if (bytes_eq(c->texts[t->slot[at] - 1].text, v->text))
			return t->slot[at] - 1;
	c->texts = mem_grow(c->texts, c->ntexts, sizeof *c->texts);
	struct value *kept = &c->texts[c->ntexts];
	*kept = *v;
	kept->text = arena_bytes(&r->e->arena, v->text);
	if (field_has_bytes(c->field->type))
		kept->bytes = arena_bytes(&r->e->arena, v->bytes);
	r->bytes += sizeof *kept + v->text.len + 48;
	t->slot[at] = (uint32_t)++c->ntexts;
	return (uint32_t)c->ntexts - 1;
}

static void column_take(struct column_reader *r, size_t field, const struct value *v)
{
	struct event_column *c = &r->e->column[field];
	enum field_type type = c->field->type;
	bool texts = type == FIELD_TEXT || type == FIELD_BYTES || field_has_bytes(type);
	size_t n = r->e->n;

	c->null = mem_grow(c->null, n, sizeof *c->null);
	c->null[n] = !v->text.ptr;
	c->nulls += c->null[n];
	if (texts || r->e->key_text[field]) {
		c->text = mem_grow(c->text, n, sizeof *c->text);
		c->text[n] = v->text.ptr ? text_number(r, c, &r->tables[field], v) : 0;
		r->bytes += sizeof *c->text;
	}
	if (!texts) {
		c->number = mem_grow(c->number, n, sizeof *c->number);
		c->number[n] = v->text.ptr ? v->u : 0;
		r->bytes += sizeof *c->number;
	}
}

/* Add the bytes of a cell without its row key (hfile/README.md 3.1). */
static void add_cell(struct cell_mean *m, const struct cell *c)
{
	m->bytes +=
		(double)(4 + 4 + 2 + 1 + c->family.len + c->qualifier.len + 8 + 1 + c->value.len);
	m->count++;
}

static void add_means(struct column_reader *r, size_t cells)
{
	struct events *e = r->e;

	for (size_t i = 0; i < cells; i++)
		add_cell(&e->cell_mean[r->cells[i].column], &r->cells[i].cell);
	for (size_t t = 1; t < e->job->ntables; t++) {
		if (!r->records[t].key.len)
			continue;
		size_t n = row_cells(r->plan, t, &r->records[t], r->cells);

		for (size_t i = 0; i < n; i++)
			add_cell(&e->table_mean[t], &r->cells[i].cell);
	}
}

static void divide_means(struct cell_mean *m, size_t count, size_t events)
{
	for (size_t i = 0; events && i < count; i++) {
		m[i].bytes /= (double)events;
		m[i].count /= (double)events;
	}
}

static int take_event(void *ctx, const struct event *ev, struct reject *why)
{
	struct column_reader *r = ctx;
	struct events *e = r->e;

	if (r->bytes > r->memory)
		return RC_END;
	if (row_encode(r->encoder, ev, r->records, why))
		return RC_DATA;
	const struct record *first = &r->records[0];
	if (!first->key.len)
		return RC_OK;
	struct row_weigher w = {r->plan, 0};
	size_t cells = row_cells(r->plan, 0, first, r->cells);
	e->cells = mem_grow(e->cells, e->n, sizeof *e->cells);
	e->bytes = mem_grow(e->bytes, e->n, sizeof *e->bytes);
	e->cells[e->n] = (uint16_t)cells;
	e->bytes[e->n] = (uint32_t)(row_weigh(&w, first) - cells * first->key.len);
	add_means(r, cells);
	for (size_t i = 0; i < r->job->nfields; i++)
		column_take(r, i, row_encoder_value(r->encoder, i));
	r->bytes += sizeof *e->bytes + sizeof *e->cells;
	e->n++;
	return RC_OK;
}

static int take_reject(void *ctx, const struct rejected *rejected, struct error *err)
{
	struct column_reader *r = ctx;

	(void)rejected, (void)err;
	r->e->rejected++;
	return RC_OK;
}

/* Make a table with a cell for each field, so that the encoder reads every field. */
static struct job_table table_of_all(const struct job *job, struct arena *a)
{
	static const struct job_table none;
	struct job_table t = none;
	struct family *family = arena_alloc(a, sizeof *family);

	*family = job->tables[0].schema.families[0];
	t.schema = job->tables[0].schema;
	t.schema.families = family;
	t.schema.nfamilies = 1;
	t.rowkey = arena_alloc(a, sizeof *t.rowkey);
	*t.rowkey = (struct key_part){.kind = PART_CONST,
				      .constant = bytes_str("x"),
				      .terminator = NO_TERMINATOR};
	t.nrowkey = 1;
	t.timestamp_constant = true;
	t.timestamp_ms = 1;
	t.cells = arena_alloc(a, job->nfields * sizeof *t.cells);
	t.ncells = job->nfields;
	for (size_t i = 0; i < job->nfields; i++) {
		struct key_part *q = arena_alloc(a, sizeof *q);

		*q = (struct key_part){.kind = PART_CONST,
				       .constant = bytes_str(job->fields[i].name),
				       .terminator = NO_TERMINATOR};
		t.cells[i] = (struct cell_spec){.qualifier = q,
						.nqualifier = 1,
						.qualifier_constant = true,
						.kind = VALUE_FIELD,
						.field = i,
						.as = AS_TEXT,
						.optional = true};
	}
	return t;
}

static struct job job_of_all(const struct job *job, struct arena *a)
{
	struct job all = *job;

	all.tables = arena_alloc(a, (job->ntables + 1) * sizeof *all.tables);
	for (size_t i = 0; i < job->ntables; i++)
		all.tables[i] = job->tables[i];
	all.tables[all.ntables++] = table_of_all(job, a);
	return all;
}

/* Find the fields whose text is in a row key, and computed qualifiers. */
static void look_at_tables(struct events *e)
{
	const struct job *job = e->job;

	for (size_t t = 0; t < job->ntables; t++) {
		const struct job_table *table = &job->tables[t];

		for (size_t i = 0; i < table->nrowkey; i++) {
			const struct key_part *p = &table->rowkey[i];
			bool text = p->kind == PART_FIELD &&
				    (p->as == AS_TEXT || p->as == AS_REVERSED ||
				     p->as == AS_DESCENDING_TEXT);

			if (text)
				e->key_text[p->field] = true;
		}
	}
	for (size_t i = 0; i < job->tables[0].ncells; i++)
		e->computed = e->computed || !job->tables[0].cells[i].qualifier_constant;
}

static int read_with(struct column_reader *r, struct source *source, struct error *err)
{
	const struct source_sink sink = {.ctx = r, .event = take_event, .reject = take_reject};
	size_t ncolumns;
	const char *const *columns = source_columns(source, &ncolumns);
	int rc = row_plan_new(&r->plan, r->job, columns, ncolumns, err);

	if (rc)
		return rc;
	r->encoder = row_encoder_new(r->plan);
	r->records = mem_calloc(r->job->ntables, sizeof *r->records);
	size_t most = 0;
	for (size_t t = 0; t < r->e->job->ntables; t++)
		most = row_max_cells(r->plan, t) > most ? row_max_cells(r->plan, t) : most;
	r->cells = mem_calloc(most + 1, sizeof *r->cells);
	rc = source_read_through(source, &sink, err);
	if (rc == RC_OK && r->bytes > r->memory)
		rc = error_set(err, RC_LIMIT,
			       "found events of more than %llu MB in memory, expected at most half "
			       "of --memory; add --sample 5%% or more --memory",
			       (unsigned long long)(r->memory >> 20));
	mem_free(r->cells);
	mem_free(r->records);
	row_encoder_free(r->encoder);
	row_plan_free(r->plan);
	return rc;
}

/* --- facts --- */

static bool is_signed(const struct event_column *c)
{
	return c->field->type == FIELD_I64 || c->field->type == FIELD_DECIMAL ||
	       c->field->type == FIELD_F64;
}

static void facts_of_numbers(struct event_column *c, size_t n)
{
	size_t room = 64;
	struct seen {
		uint64_t word, count;
	} * seen;

	while (room < 2 * n)
		room *= 2;
	seen = mem_calloc(room, sizeof *seen);
	c->least = UINT64_MAX;
	for (size_t i = 0; i < n; i++) {
		if (c->null && c->null[i])
			continue;
		uint64_t word = c->number[i];
		size_t at = (word * MIXER >> 20) & (room - 1);

		while (seen[at].count && seen[at].word != word)
			at = (at + 1) & (room - 1);
		c->distinct += !seen[at].count;
		seen[at].word = word;
		if (++seen[at].count > c->heaviest) {
			c->heaviest = seen[at].count;
			c->heaviest_event = i;
		}
		c->least = !is_signed(c) && word < c->least ? word : c->least;
		c->most = !is_signed(c) && word > c->most ? word : c->most;
	}
	mem_free(seen);
}

static void facts_of_texts(struct event_column *c, struct arena *a, size_t n)
{
	c->distinct = c->ntexts;
	c->shortest = UINT32_MAX;
	c->uses = arena_alloc(a, (c->ntexts + 1) * sizeof *c->uses);
	for (size_t i = 0; i < n; i++) {
		if (c->null && c->null[i])
			continue;
		if (++c->uses[c->text[i]] > c->heaviest) {
			c->heaviest = c->uses[c->text[i]];
			c->heaviest_event = i;
		}
	}
	for (size_t i = 0; i < c->ntexts; i++) {
		uint32_t len = (uint32_t)c->texts[i].text.len;

		c->longest = len > c->longest ? len : c->longest;
		c->shortest = len < c->shortest ? len : c->shortest;
	}
}

int events_read(struct events *e, const struct job *job, const struct input *input, double fraction,
		uint64_t memory, struct error *err)
{
	struct source *source;
	const struct source_options so = {.job = job, .input = input, .fraction = fraction};

	*e = (struct events){.job = job};
	e->column = arena_alloc(&e->arena, (job->nfields + 1) * sizeof *e->column);
	e->key_text = arena_alloc(&e->arena, job->nfields + 1);
	for (size_t i = 0; i < job->nfields; i++)
		e->column[i].field = &job->fields[i];
	look_at_tables(e);
	e->cell_mean = arena_alloc(&e->arena, (job->tables[0].ncells + 1) * sizeof *e->cell_mean);
	e->table_mean = arena_alloc(&e->arena, (job->ntables + 1) * sizeof *e->table_mean);
	int rc = source_open(&source, &so, err);
	if (rc)
		return rc;
	const struct job all = job_of_all(job, &e->arena);
	struct column_reader r = {.e = e, .job = &all, .memory = memory};
	r.tables = mem_calloc(job->nfields + 1, sizeof *r.tables);
	rc = read_with(&r, source, err);
	source_close(source);
	divide_means(e->cell_mean, job->tables[0].ncells, e->n);
	divide_means(e->table_mean, job->ntables, e->n);
	for (size_t i = 0; i < job->nfields; i++) {
		struct event_column *c = &e->column[i];

		mem_free(r.tables[i].slot);
		if (!c->nulls) {
			mem_free(c->null);
			c->null = NULL;
		}
		if (rc == RC_OK && c->number)
			facts_of_numbers(c, e->n);
		else if (rc == RC_OK && c->text)
			facts_of_texts(c, &e->arena, e->n);
	}
	mem_free(r.tables);
	return rc;
}

void events_release(struct events *e)
{
	for (size_t i = 0; e->column && i < e->job->nfields; i++) {
		mem_free(e->column[i].number);
		mem_free(e->column[i].text);
		mem_free(e->column[i].texts);
		mem_free(e->column[i].null);
	}
	mem_free(e->bytes);
	mem_free(e->cells);
	arena_release(&e->arena);
}
