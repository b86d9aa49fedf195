/* first_rows.c - process the first rows one by one as a load does, and record every step */
#include "first_rows.h"

#include "event.h"
#include "field.h"
#include "lint.h"
#include "pass.h"
#include "row.h"
#include "source.h"
#include "hash.h"

#define REASONS_MOST 64
#define PATIENCE_S   300 /* seconds to wait for brokers */

struct looker {
	const struct look_options *opt;
	struct look *look;
	const char *const *columns;
	size_t ncolumns;
	struct row_plan *plan;
	struct row_encoder *encoder;
	struct record *records;
	struct buf text;
	const char *place; /* partition that the check reads; NULL for files */
};

static struct bytes kept(struct look *l, struct bytes b)
{
	return bytes_of(arena_strndup(&l->arena, b.len ? (const char *)b.ptr : "", b.len), b.len);
}

static size_t column_of(const struct looker *k, const char *name)
{
	size_t i = 0;

	while (i < k->ncolumns && strcmp(k->columns[i], name) != 0)
		i++;
	return i;
}

/* Return the text of the columns that the field reads. */
static struct bytes source_text(struct looker *k, const struct field *f, const struct event *ev)
{
	struct buf *out = &k->text;

	out->len = 0;
	for (size_t i = 0; i < f->ncolumns; i++) {
		const char *name = f->columns[i];
		size_t at = column_of(k, name);

		if (f->ncolumns > 1)
			buf_printf(out, "%s%s=", i ? ", " : "", name);
		if (at == k->ncolumns)
			origin_text(column_origin(k->opt->job, name), name, ev, out);
		else if (at < ev->ncolumns && !ev->columns[at].absent)
			buf_append(out, ev->columns[at].ptr, ev->columns[at].len);
	}
	return kept(k->look, buf_bytes(out));
}

static struct bytes value_text(struct looker *k, size_t field)
{
	const struct value *v = row_encoder_value(k->encoder, field);

	if (!v || !v->text.ptr)
		return (struct bytes){0};
	k->text.len = 0;
	field_text(&k->opt->job->fields[field], v, &k->text);
	return buf_bytes(&k->text);
}

static struct look_place place_of(struct look *l, const char *file, uint64_t line, uint64_t offset)
{
	return (struct look_place){file ? arena_strdup(&l->arena, file) : "", line, offset};
}

static struct look_place event_place(struct looker *k, const struct event *ev)
{
	return place_of(k->look, k->place ? k->place : ev->file, k->place ? 0 : ev->line,
			ev->offset);
}

static void note_time(struct looker *k, struct look_field *f, const struct value *v,
		      const struct event *ev)
{
	int64_t ms = (int64_t)v->u;

	if (v->finer && !f->finer++)
		f->finer_place = event_place(k, ev);
	f->oldest_ms = ms < f->oldest_ms ? ms : f->oldest_ms;
	f->newest_ms = ms > f->newest_ms ? ms : f->newest_ms;
}

/* Find times whose unit is probably wrong. */
static void judge_times(struct looker *k)
{
	struct lint l = {0};

	for (size_t i = 0; k->look->fields && i < k->opt->job->nfields; i++) {
		const struct field *job_field = &k->opt->job->fields[i];
		struct look_field *f = &k->look->fields[i];
		const char *unit =
			f->used && f->oldest_ms <= f->newest_ms
				? lint_unit(job_field, f->oldest_ms, f->newest_ms, k->look->good)
				: NULL;

		if (unit)
			f->warning = arena_format(&k->look->arena, "%s; write `unit: %s`",
						  lint_unit_text(&l, job_field, unit, f->newest_ms),
						  unit);
	}
	lint_release(&l);
}

static void count_values(struct looker *k, const struct event *ev)
{
	for (size_t i = 0; i < k->opt->job->nfields; i++) {
		struct look_field *f = &k->look->fields[i];
		struct bytes v = value_text(k, i);

		f->used = row_encoder_value(k->encoder, i) != NULL;
		if (!f->used)
			continue;
		if (!v.ptr) {
			f->nulls++;
			continue;
		}
		distinct_add(&f->distinct, XXH3_64bits(v.ptr, v.len));
		if (k->opt->job->fields[i].type == FIELD_TIME)
			note_time(k, f, row_encoder_value(k->encoder, i), ev);
		if (!f->example.ptr)
			f->example = kept(k->look, v);
	}
}

static void keep_cells(struct looker *k, size_t table, struct look_cells *to)
{
	struct arena *a = &k->look->arena;
	const struct record *r = &k->records[table];
	struct row_cell *cells = mem_calloc(row_max_cells(k->plan, table) + 1, sizeof *cells);

	to->key = kept(k->look, r->key);
	to->ncells = r->key.len ? row_cells(k->plan, table, r, cells) : 0;
	to->cell = arena_alloc(a, (to->ncells + 1) * sizeof *to->cell);
	for (size_t i = 0; i < to->ncells; i++) {
		to->cell[i] = cells[i].cell;
		to->cell[i].row = to->key;
		to->cell[i].family = kept(k->look, cells[i].cell.family);
		to->cell[i].qualifier = kept(k->look, cells[i].cell.qualifier);
		to->cell[i].value = kept(k->look, cells[i].cell.value);
		to->cell[i].tags = kept(k->look, cells[i].cell.tags);
	}
	mem_free(cells);
}

static void keep_row(struct looker *k, const struct event *ev)
{
	const struct job *job = k->opt->job;
	struct look *l = k->look;
	struct look_row *row = &l->shown[l->nshown++];

	row->place = event_place(k, ev);
	row->text = arena_alloc(&l->arena, (job->nfields + 1) * sizeof *row->text);
	row->value = arena_alloc(&l->arena, (job->nfields + 1) * sizeof *row->value);
	row->tables = arena_alloc(&l->arena, (job->ntables + 1) * sizeof *row->tables);
	for (size_t i = 0; i < job->nfields; i++) {
		row->text[i] = source_text(k, &job->fields[i], ev);
		struct bytes v = value_text(k, i);
		row->value[i] = v.ptr ? kept(l, v) : v;
	}
	for (size_t t = 0; t < job->ntables; t++)
		keep_cells(k, t, &row->tables[t]);
}

static int take_event(void *ctx, const struct event *ev, struct reject *why)
{
	struct looker *k = ctx;
	struct look *l = k->look;
	bool stored = false;

	if (l->rows == k->opt->rows) {
		l->whole = false;
		return RC_END;
	}
	l->rows++;
	if (row_encode(k->encoder, ev, k->records, why))
		return RC_DATA;
	l->good++;
	for (size_t t = 0; t < k->opt->job->ntables; t++)
		stored = stored || k->records[t].key.len;
	l->filtered += !stored;
	count_values(k, ev);
	if (stored && l->nshown < k->opt->shown)
		keep_row(k, ev);
	return RC_OK;
}

static void count_reason(struct look *l, const char *reason)
{
	size_t i = 0;

	while (i < l->nreasons && strcmp(l->reasons[i].reason, reason) != 0)
		i++;
	if (i == REASONS_MOST)
		return;
	if (i == l->nreasons)
		l->reasons[l->nreasons++].reason = arena_strdup(&l->arena, reason);
	l->reasons[i].count++;
}

/* Count the rule of `expect` that the row breaks, if it breaks one. */
static void count_rule(struct looker *k, const struct reject *why)
{
	const struct job *job = k->opt->job;

	for (size_t i = 0; i < job->nexpects && why->field; i++) {
		const struct expectation *x = &job->expects[i];

		k->look->broken[i] += strcmp(x->reason, why->reason) == 0 &&
				      strcmp(job->fields[x->field].name, why->field) == 0;
	}
}

/* Store a reject that the source reports. */
static int take_reject(void *ctx, const struct rejected *r, struct error *err)
{
	struct looker *k = ctx;
	struct look *l = k->look;

	(void)err;
	if (l->rows == l->good + l->rejected) {
		if (l->rows == k->opt->rows) {
			l->whole = false;
			return RC_END;
		}
		l->rows++;
	}
	l->rejected++;
	count_reason(l, r->why.reason);
	count_rule(k, &r->why);
	if (l->nrejects == LOOK_REJECTS)
		return RC_OK;
	l->rejects[l->nrejects++] = (struct look_reject){
		.place = place_of(l, r->file, k->place ? 0 : r->line, r->offset),
		.reason = arena_strdup(&l->arena, r->why.reason),
		.field = r->why.field ? arena_strdup(&l->arena, r->why.field) : NULL,
		.detail = arena_strdup(&l->arena, r->why.detail)};
	return RC_OK;
}

static int read_rows(struct looker *k, struct source *source, struct error *err)
{
	const struct source_sink sink = {.ctx = k, .event = take_event, .reject = take_reject};

	k->look->whole = true;
	return source_read_through(source, &sink, err);
}

static void note_unused(struct looker *k)
{
	const struct job *job = k->opt->job;
	struct look *l = k->look;

	struct name_index taken = {0};

	l->unused = arena_alloc(&l->arena, (k->ncolumns + 1) * sizeof *l->unused);
	for (size_t i = 0; i < job->nfields; i++)
		for (size_t j = 0; j < job->fields[i].ncolumns; j++)
			names_add(&taken, job->fields[i].columns[j]);
	for (size_t c = 0; c < k->ncolumns; c++)
		if (!names_find(&taken, k->columns[c]))
			l->unused[l->nunused++] = arena_strdup(&l->arena, k->columns[c]);
	names_release(&taken);
}

/*
 * Prepare the looker for a source. Copies the names of the columns, because they must outlive the
 * source.
 */
static int begin(struct looker *k, struct source *source, struct error *err)
{
	const struct job *job = k->opt->job;
	struct arena *a = &k->look->arena;

	const char *const *names = source_columns(source, &k->ncolumns);
	const char **columns = arena_alloc(a, (k->ncolumns + 1) * sizeof *columns);
	for (size_t i = 0; i < k->ncolumns; i++)
		columns[i] = arena_strdup(a, names[i]);
	k->columns = columns;
	int rc = row_plan_new(&k->plan, job, k->columns, k->ncolumns, err);
	if (rc)
		return rc;
	k->encoder = row_encoder_new(k->plan);
	k->records = mem_calloc(job->ntables + 1, sizeof *k->records);
	k->look->fields = arena_alloc(a, (job->nfields + 1) * sizeof *k->look->fields);
	for (size_t i = 0; i < job->nfields; i++)
		k->look->fields[i] =
			(struct look_field){.oldest_ms = INT64_MAX, .newest_ms = INT64_MIN};
	k->look->shown = arena_alloc(a, (k->opt->shown + 1) * sizeof *k->look->shown);
	k->look->reasons = arena_alloc(a, REASONS_MOST * sizeof *k->look->reasons);
	k->look->broken = arena_alloc(a, (job->nexpects + 1) * sizeof *k->look->broken);
	note_unused(k);
	return RC_OK;
}

static int look_through(struct looker *k, const struct input *input, struct error *err)
{
	const struct source_options so = {.job = k->opt->job, .input = input};
	struct source *source;
	int rc = source_open(&source, &so, err);

	if (rc)
		return rc;
	rc = k->plan ? RC_OK : begin(k, source, err);
	if (rc == RC_OK)
		rc = read_rows(k, source, err);
	source_close(source);
	return rc;
}

/* --- topics --- */

/*
 * Read one partition after another, so that each run reads the same rows. A partition gets an equal
 * share of the remaining rows.
 */
static int look_at_partitions(struct looker *k, struct kafka *client, const struct kafka_topic *t,
			      struct error *err)
{
	uint64_t left = k->opt->rows;
	bool whole = true;
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < t->count; i++) {
		const struct kafka_partition *p = &t->partitions[i];
		uint64_t share = (left + t->count - i - 1) / (t->count - i);
		uint64_t has = (uint64_t)(p->high - p->low), take = has < share ? has : share;
		const char *topic = kafka_topic_of(&k->opt->job->kafka, p->topic);
		struct place_text place = place_text(topic, p->id);
		const struct offset_range r = {.topic = p->topic,
					       .partition = p->id,
					       .start = p->low,
					       .end = p->low + (int64_t)take};

		k->place = place.text;
		const struct source_topic one = {.client = client, .ranges = &r, .nranges = 1};
		rc = look_through(k, &(struct input){.topic = &one}, err);
		left -= take;
		whole = whole && take == has;
	}
	k->look->whole = whole;
	return rc;
}

static int look_at_topics(struct looker *k, struct error *err)
{
	struct kafka *client;
	struct kafka_topic t = {0};
	int rc = kafka_open(&client, k->opt->job, memory_topic_bytes(k->opt->memory_bytes),
			    &k->opt->listener, err);

	if (rc)
		return rc;
	kafka_patience(client, PATIENCE_S);
	rc = kafka_look(client, &t, err);
	if (rc == RC_OK && !t.count)
		rc = error_set(err, RC_CONFIG,
			       "%s: found no partition to read, expected at least one; create the "
			       "topic, or correct `topic` or `partitions` in the job",
			       kafka_name(&k->opt->job->kafka));
	if (rc == RC_OK)
		rc = look_at_partitions(k, client, &t, err);
	kafka_topic_release(&t);
	kafka_close(client);
	return rc;
}

int look_at(struct look *l, const struct look_options *opt, struct error *err)
{
	struct looker k = {.opt = opt, .look = l};

	*l = (struct look){0};
	bool topics = opt->job->source == SOURCE_KAFKA && opt->input->nfiles == 0;
	int rc = topics ? look_at_topics(&k, err) : look_through(&k, opt->input, err);
	judge_times(&k);
	buf_release(&k.text);
	mem_free(k.records);
	if (k.encoder)
		row_encoder_free(k.encoder);
	if (k.plan)
		row_plan_free(k.plan);
	return rc;
}

void look_release(struct look *l, const struct job *job)
{
	for (size_t i = 0; l->fields && i < job->nfields; i++)
		distinct_release(&l->fields[i].distinct);
	arena_release(&l->arena);
}
