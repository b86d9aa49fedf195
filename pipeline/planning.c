/*
 * planning.c - the pass over the events
 *
 * Two runs must plan the same splits, so the rows must not meet in an order that depends on the
 * threads: the pieces of the input are dealt to a fixed number of lanes, each with a sample of its
 * own, and a lane takes its pieces in input order (a thread that is done early waits).  In the end
 * the lanes are merged in order.
 *
 * Compression lives on neighbours, so its ratio is measured on whole neighbourhoods: all rows whose
 * keys begin alike, chosen by a hash of that beginning, ever fewer as the input goes on.
 */
#include "planning.h"

#include <pthread.h>
#include <stdlib.h>
#include <xxhash.h>

#include "mem.h"
#include "regions.h"

#define LANES 4
#define SEED  0x73616c74 /* of the samples; fixed, for the same plan every time */
/* Input bytes whose rows are all kept for the measure of compression. */
#define NEIGHBOUR_BYTES (4u << 20)

/* The rows of one piece for one table. */
struct piece_row {
	uint64_t bytes;
	uint32_t key_len;
};

struct lane {
	uint64_t next;           /* pieces of this lane that are in */
	struct sample **samples; /* [ntables] */
};

struct planner {
	const struct job *job;
	const struct planning_options *opt;
	struct reading reading;
	struct rejects *rejects;
	struct row_weigher *weighers; /* [ntables] */
	struct key_shape *shapes;     /* [ntables] */
	struct sorter **neighbours;   /* [ntables] */
	struct buf *rows;             /* [threads * ntables]: struct piece_row and key, packed */
	struct budget budget;
	struct lane lanes[LANES];
	pthread_mutex_t lock;         /* next of the lanes, abandoned */
	pthread_cond_t turn;
	bool abandoned;
};

static struct key_shape shape_of(const struct row_plan *plan, size_t table, const struct job_table *t)
{
	struct row_key_part parts[SHAPE_MAX_PARTS];
	struct key_shape s = {.nparts = row_key_parts(plan, table, parts, SHAPE_MAX_PARTS)};
	for (size_t i = 0; i < s.nparts; i++) {
		s.parts[i].width = parts[i].width;
		s.parts[i].terminator = parts[i].terminator;
	}
	if (t->rowkey[0].kind == PART_SALT) {
		s.salt_bytes = s.parts[0].width;
		s.buckets = t->rowkey[0].buckets;
	}
	return s;
}

/* The beginning that a row shares with its neighbours: the entity, not the time and what follows. */
static struct bytes neighbourhood(const struct key_shape *shape, struct bytes key)
{
	size_t ends[SHAPE_MAX_PARTS], n = shape_ends(shape, key, ends);
	if (n >= 3)
		return bytes_of(key.ptr, ends[n - 3]);
	if (n == 2)
		return bytes_of(key.ptr, ends[0]);
	return bytes_of(key.ptr, key.len > 2 ? key.len - 2 : 0);
}

static bool is_chosen(const struct key_shape *shape, const struct record *r)
{
	uint64_t share = r->seq / NEIGHBOUR_BYTES;
	if (share == 0)
		return true;
	struct bytes near = neighbourhood(shape, r->key);
	return XXH3_64bits(near.ptr, near.len) < UINT64_MAX / (share + 1);
}

/* --- reading --- */

static int take_record(void *ctx, unsigned worker, size_t table, const struct record *r,
		       struct error *err)
{
	struct planner *p = ctx;
	struct buf *rows = &p->rows[worker * p->job->ntables + table];
	struct piece_row row = {row_weigh(&p->weighers[table], r), (uint32_t)r->key.len};
	buf_append(rows, &row, sizeof row);
	buf_append(rows, r->key.ptr, r->key.len);
	if (!is_chosen(&p->shapes[table], r))
		return RC_OK;
	return run_builder_add(sorter_builder(p->neighbours[table], worker), r, err);
}

static void feed(struct sample *s, struct buf *rows)
{
	const uint8_t *at = rows->ptr, *end = rows->ptr + rows->len;
	while (at < end) {
		struct piece_row row;
		memcpy(&row, at, sizeof row);
		at += sizeof row;
		sample_add(s, bytes_of(at, row.key_len), row.bytes);
		at += row.key_len;
	}
	rows->len = 0;
}

/* False: another thread failed, and the piece before this one may never come. */
static bool wait_for_turn(struct planner *p, struct lane *lane, uint64_t turn)
{
	pthread_mutex_lock(&p->lock);
	while (lane->next != turn && !p->abandoned)
		pthread_cond_wait(&p->turn, &p->lock);
	bool mine = !p->abandoned;
	pthread_mutex_unlock(&p->lock);
	return mine;
}

static void end_turn(struct planner *p, struct lane *lane)
{
	pthread_mutex_lock(&p->lock);
	lane->next++;
	pthread_cond_broadcast(&p->turn);
	pthread_mutex_unlock(&p->lock);
}

static void feed_all(struct planner *p, struct lane *lane, unsigned worker)
{
	for (size_t t = 0; t < p->job->ntables; t++)
		feed(lane->samples[t], &p->rows[worker * p->job->ntables + t]);
}

static int take_piece(void *ctx, unsigned worker, uint64_t piece, struct error *err)
{
	(void)err;
	struct planner *p = ctx;
	struct lane *lane = &p->lanes[piece % LANES];
	if (p->job->source == SOURCE_KAFKA) { /* its pieces have no order: any must do */
		pthread_mutex_lock(&p->lock);
		feed_all(p, lane, worker);
		pthread_mutex_unlock(&p->lock);
		return RC_OK;
	}
	if (wait_for_turn(p, lane, piece / LANES))
		feed_all(p, lane, worker);
	end_turn(p, lane);
	return RC_OK;
}

static void abandon(void *ctx)
{
	struct planner *p = ctx;
	pthread_mutex_lock(&p->lock);
	p->abandoned = true;
	pthread_cond_broadcast(&p->turn);
	pthread_mutex_unlock(&p->lock);
}

static int open_planner(struct planner *p, struct error *err)
{
	unsigned threads = p->opt->common->threads;
	size_t n = p->job->ntables;
	p->weighers = mem_calloc(n, sizeof *p->weighers);
	p->shapes = mem_calloc(n, sizeof *p->shapes);
	p->neighbours = mem_calloc(n, sizeof(void *));
	p->rows = mem_calloc(threads * n, sizeof *p->rows);
	int rc = reading_open(&p->reading, p->job, threads, p->opt->files, p->opt->nfiles, err);
	if (rc == RC_OK)
		rc = rejects_new(&p->rejects, p->opt->work_dir, threads, err);
	for (size_t t = 0; rc == RC_OK && t < n; t++) {
		p->weighers[t] = (struct row_weigher){p->reading.plan, t};
		p->shapes[t] = shape_of(p->reading.plan, t, &p->job->tables[t]);
		struct sorter_options so = {.budget = &p->budget, .temp_dir = p->opt->work_dir,
					    .threads = threads, .weigh = row_weigh,
					    .minor_bytes = row_minor_bytes(p->reading.plan, t),
					    .weigh_ctx = &p->weighers[t], .run_bytes = 1 << 20};
		p->neighbours[t] = sorter_new(&so);
	}
	for (size_t i = 0; rc == RC_OK && i < LANES; i++) {
		p->lanes[i].samples = mem_calloc(n, sizeof(void *));
		for (size_t t = 0; t < n; t++)
			p->lanes[i].samples[t] = sample_new(SKETCH_K, SEED + i, &p->shapes[t]);
	}
	return rc;
}

/* The first lane's sample takes in the others and goes to the caller. */
static int merge_lanes(struct planner *p, size_t table, struct table_sample *out, struct error *err)
{
	for (size_t i = 1; i < LANES; i++) {
		int rc = sample_merge(p->lanes[0].samples[table], p->lanes[i].samples[table], err);
		if (rc)
			return rc;
	}
	out->sample = p->lanes[0].samples[table];
	p->lanes[0].samples[table] = NULL;
	return RC_OK;
}

/* Compress what was chosen. */
static int measure(struct planner *p, size_t table, struct table_sample *out, struct error *err)
{
	struct sorter *s = p->neighbours[table];
	int rc = sorter_finish(s, err);
	if (rc || sorter_totals(s).records == 0)
		return rc;
	struct cut_table t = {.plan = p->reading.plan, .index = table, .table = out->table, .rows = s,
			      .budget = &p->budget, .temp_dir = p->opt->work_dir};
	char *dir = mem_format("%s/samples", p->opt->work_dir);
	rc = regions_disk_ratio(&t, s, p->opt->common->threads, dir, &out->disk_per_byte, err);
	out->measured_bytes = (double)sorter_totals(s).weight;
	mem_free(dir);
	return rc;
}

static void close_planner(struct planner *p)
{
	size_t n = p->job->ntables;
	for (size_t i = 0; i < LANES; i++) {
		for (size_t t = 0; p->lanes[i].samples && t < n; t++)
			sample_free(p->lanes[i].samples[t]);
		mem_free(p->lanes[i].samples);
	}
	for (size_t t = 0; t < n; t++)
		sorter_free(p->neighbours[t]);
	for (size_t i = 0; i < p->opt->common->threads * n; i++)
		buf_release(&p->rows[i]);
	mem_free(p->rows);
	mem_free(p->neighbours);
	mem_free(p->shapes);
	mem_free(p->weighers);
	rejects_free(p->rejects);
	reading_close(&p->reading);
	pthread_cond_destroy(&p->turn);
	pthread_mutex_destroy(&p->lock);
}

int planning_read(const struct job *job, const struct planning_options *o, struct progress *progress,
		  struct table_sample *samples, struct planning_counts *counts, struct error *err)
{
	struct planner p = {.job = job, .opt = o, .budget = {.limit = o->common->memory_bytes},
			    .lock = PTHREAD_MUTEX_INITIALIZER, .turn = PTHREAD_COND_INITIALIZER};
	p.reading.fraction = o->fraction;
	int rc = open_planner(&p, err);
	if (rc == RC_OK) {
		p.reading.rejects = p.rejects;
		p.reading.limit = o->limit;
		p.reading.progress = progress;
		p.reading.sink = (struct record_sink){&p, take_record, take_piece, abandon};
		rc = reading_run(&p.reading, err);
	}
	for (size_t t = 0; rc == RC_OK && t < job->ntables; t++) {
		samples[t].table = &job->tables[t];
		rc = merge_lanes(&p, t, &samples[t], err);
		if (rc == RC_OK)
			rc = measure(&p, t, &samples[t], err);
	}
	*counts = (struct planning_counts){p.reading.events, p.reading.rejected, p.reading.newest_ms};
	close_planner(&p);
	return rc;
}

void table_sample_release(struct table_sample *s)
{
	sample_free(s->sample);
	*s = (struct table_sample){0};
}

static uint64_t max_filesize(const struct table *t)
{
	for (size_t i = 0; i < t->attributes.count; i++)
		if (!strcmp(t->attributes.item[i].key, "MAX_FILESIZE"))
			return strtoull(t->attributes.item[i].value, NULL, 10);
	return 0;
}

int planning_make(struct plan *p, struct table_sample *s, struct error *err)
{
	const struct regions *r = &s->table->regions;
	struct plan_options o = {
		.count = r->count,
		.size_bytes = r->size_bytes,
		.servers = r->servers,
		.per_server = r->per_server,
		.min = r->min,
		.max = r->max,
		.headroom = r->headroom,
		.align_salt = r->align_salt,
		.disk_per_byte = s->disk_per_byte,
		.max_filesize = max_filesize(&s->table->schema),
		.max_hfile_bytes = s->table->max_hfile_bytes,
	};
	return plan_make(p, s->sample, &o, err);
}
