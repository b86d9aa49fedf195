/*
 * planning.c - read the events for `plan`
 *
 * Two runs must plan the same splits, so the order of rows must not depend on the threads. Each
 * piece of the input picks its rows by windows that depend on its place in the input. The sketch
 * takes the pieces in input order, so a thread that finishes early waits. The sample contains all
 * of the first tens of megabytes. After them, the rate is so low that the sketch costs much less
 * than parsing. The rate is lower for few regions. After some gigabytes, the windows widen with the
 * square root of the place.
 *
 * Compression depends on neighbours, so the sample measures the ratio on whole neighbourhoods. A
 * neighbourhood is all rows whose keys begin alike. A hash of this common beginning chooses
 * neighbourhoods. The share of chosen neighbourhoods falls as the input grows. At the end, the
 * sample omits neighbourhoods that it chose only while the input was short, if enough others
 * remain.
 */
#include "planning.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "key.h"
#include "pass.h"
#include "mem.h"
#include "near.h"
#include "spread.h"
#include "ddl.h"

/* seed of the samples, which is constant so that two plans are equal */
#define SEED	     0x73616c74
#define PIECE_LOG2   20
#define WHOLE_PIECES 64u   /* number of pieces that the reader passes row by row */
#define WHOLE_LEAST  2u	   /* the number of whole pieces for few regions */
#define START_LOG2   7	   /* log2 of the smallest window; later windows are larger */
#define LARGE_PIECES 4096u /* windows widen from this piece on */
#define WINDOW_LOG2  8	   /* log2 of the KeyValue bytes of a window */
#define FULL_REGIONS 1000  /* number of regions for which the widths are right */
/* upper bound of the bytes on disk for each byte of input, even if the input is compressed */
#define DISK_PER_INPUT 16
#define SAMPLE_BYTES   (4u << 20) /* KeyValue bytes to compress */
/* To measure compression, the sample keeps all rows of the first bytes, then fewer and fewer. */
#define KEPT_BYTES	(4u << 20)
#define NEIGHBOUR_BYTES (1u << 20) /* after so many more bytes, the sample keeps half of the rows */
#define MEASURED_LEAST	(192u << 10) /* smallest number of KeyValue bytes to compress */
#define EXCESS_MOST	0.3	     /* share of the measured bytes on disk */
#define LINT_WHOLE	(4u << 20)   /* input bytes in which lint examines the cells of each row */
#define LINT_EVERY	16	     /* after these bytes, it examines one row in so many */
#define NEIGHBOUR_MOST	8 /* times the expected bytes of a piece; one neighbourhood may fill it */

/* A picked row and its weight. */
struct picked_row {
	uint64_t share;
	double rows;
	uint32_t key_len;
};

/* A thread's piece, for one table. */
struct piece {
	bool open;
	uint64_t place, last; /* place of the first row in the input, and seq of the last row */
	struct picker picker;
	struct buf rows;       /* struct picked_row and key, packed */
	uint64_t chosen_below; /* limit of the hashes of kept neighbourhoods */
	uint64_t chosen_left;  /* bytes of key and payload */
};

struct planner {
	const struct job *job;
	const struct planning_options *opt;
	struct pass pass;	  /* the pass, whose sorters contain the neighbourhoods */
	struct key_shape *shapes; /* [ntables] */
	struct near *near;	  /* [ntables] */
	unsigned *spare;	  /* [ntables] */
	struct sample **samples;  /* [ntables] */
	struct spread *spreads;	  /* [ntables] */
	struct piece *pieces;	  /* [threads * ntables] */
	uint64_t next;		  /* number of pieces fed */
	uint64_t input_bytes;	  /* bytes of input up to the start of the last piece */
	struct lint_watch *watch; /* NULL without lint */
	pthread_mutex_t lock;	  /* guards samples, next, input_bytes, abandoned */
	pthread_cond_t turn;
	bool abandoned;
};

/* Return the largest hash that the sample keeps after this much input. */
static uint64_t chosen_below(uint64_t input_bytes)
{
	uint64_t more = input_bytes > KEPT_BYTES ? input_bytes - KEPT_BYTES : 0;

	return UINT64_MAX / (more / NEIGHBOUR_BYTES + 1);
}

/* Return the largest number of regions that the sample must support; 0 means no limit. */
static uint64_t regions_at_most(const struct planner *p, const struct regions *regions)
{
	const struct region_rule *r = &regions->rule;
	uint64_t done, total;

	if (regions->split == SPLIT_FILE || regions->split == SPLIT_NONE)
		return 0;
	if (region_rule_stated(r))
		return region_rule_stated(r);
	source_progress(p->pass.source, &done, &total);
	return total ? region_rule_count(r, (double)total * DISK_PER_INPUT) : 0;
}

/* Return log2 of a factor. For fewer regions, this many times fewer rows give the same balance. */
static unsigned spare_log2(const struct planner *p, const struct regions *r)
{
	unsigned log2 = 0;
	uint64_t n = p->opt->keep ? 0 : regions_at_most(p, r);

	while (n && n << (log2 + 1) <= FULL_REGIONS)
		log2++;
	return log2;
}

/* Return log2 of a piece's window size (see the top of this file). */
static unsigned window_log2(uint64_t piece, unsigned spare)
{
	unsigned start = START_LOG2, most = WINDOW_LOG2 + (spare ? spare - 1 : 0);
	uint64_t whole = WHOLE_PIECES >> spare;

	if (piece < whole || piece < WHOLE_LEAST)
		return 0;
	most += piece >= 4 * WHOLE_PIECES ? 2 : piece >= 2 * WHOLE_PIECES;
	for (uint64_t p = piece; p >= LARGE_PIECES; p /= 4)
		most++;
	for (; piece > 1 && start < most; piece /= 2)
		start++;
	return start;
}

static void see_piece(struct spread *s, const struct planner *p, const struct piece *piece)
{
	double rows = (double)piece->picker.rows, bytes = (double)piece->picker.bytes, x = rows;

	/* the end of the last row is unknown here */
	if (p->job->source != SOURCE_KAFKA && rows > 1)
		x = (double)(piece->last - piece->place) * rows / (rows - 1);
	spread_add(s, x, bytes, rows);
}

/* --- reading --- */

static void start_piece(struct piece *p, uint64_t place, unsigned spare)
{
	p->open = true;
	p->place = place;
	picker_start(&p->picker, SEED ^ place, window_log2(place >> PIECE_LOG2, spare));
	p->chosen_below = chosen_below(place);
	double share = (double)p->chosen_below / (double)UINT64_MAX;
	p->chosen_left = (uint64_t)(share * NEIGHBOUR_MOST * (1 << PIECE_LOG2));
}

static void pick(struct piece *p, struct bytes key, uint64_t bytes)
{
	uint64_t share = picker_share(&p->picker, bytes);
	struct picked_row row = {share, (double)share / (double)bytes, (uint32_t)key.len};
	uint8_t *to = buf_reserve(&p->rows, sizeof row + key.len);

	memcpy(to, &row, sizeof row);
	memcpy(to + sizeof row, key.ptr, key.len);
	p->rows.len += sizeof row + key.len;
}

static int choose(struct planner *p, struct piece *piece, unsigned worker, size_t table,
		  const struct record *r, struct error *err)
{
	size_t bytes = r->key.len + r->payload.len;

	if (bytes > piece->chosen_left)
		return RC_OK;
	piece->chosen_left -= bytes;
	return run_builder_add(sorter_builder(p->pass.tables[table].sorter, worker), r, err);
}

/*
 * Return the number of input bytes before the piece that begins with `r`. In a topic, seq counts
 * offsets, of which compaction may have left few. So a topic counts the bytes read. Two threads may
 * see the same number, so the lowest byte is the number of the thread.
 */
static uint64_t place_of(const struct planner *p, unsigned worker, const struct record *r)
{
	uint64_t done, total;

	if (p->job->source != SOURCE_KAFKA)
		return r->seq;
	source_progress(p->pass.source, &done, &total);
	return (done & ~UINT64_C(255)) | (worker & 255);
}

static int take_record(void *ctx, unsigned worker, size_t table, const struct record *r,
		       struct error *err)
{
	struct planner *p = ctx;
	struct piece *piece = &p->pieces[worker * p->job->ntables + table];

	if (!piece->open)
		start_piece(piece, place_of(p, worker, r), p->spare[table]);
	piece->last = r->seq;
	if (p->watch)
		lint_watch_row(p->watch, worker, table, r);
	if (p->opt->hot_keys)
		hot_keys_add(p->opt->hot_keys, worker, table, r);
	uint64_t bytes = row_weigh(&p->pass.tables[table].weigher, r);
	if (picker_wants(&piece->picker, bytes))
		pick(piece, r->key, bytes);
	if (near_hash(&p->near[table], r->key) > piece->chosen_below)
		return RC_OK;
	return choose(p, piece, worker, table, r, err);
}

static void feed(struct sample *s, struct piece *p)
{
	const uint8_t *at = p->rows.ptr, *end = p->rows.ptr + p->rows.len;

	while (at < end) {
		struct picked_row row;

		memcpy(&row, at, sizeof row);
		at += sizeof row;
		sketch_add_share(sample_sketch(s), bytes_of(at, row.key_len), row.share, row.rows);
		at += row.key_len;
	}
	sketch_count(sample_sketch(s), &p->picker);
	p->rows.len = 0;
	p->open = false;
}

static void feed_all(struct planner *p, unsigned worker)
{
	for (size_t t = 0; t < p->job->ntables; t++) {
		struct piece *piece = &p->pieces[worker * p->job->ntables + t];

		p->spreads[t].empty += !piece->open;
		if (!piece->open)
			continue;
		if (piece->place > p->input_bytes)
			p->input_bytes = piece->place;
		see_piece(&p->spreads[t], p, piece);
		feed(p->samples[t], piece);
	}
}

/*
 * Add the picked rows of a piece. Pieces of a topic have no order, so the sample adds them as they
 * arrive.
 */
static int take_piece(void *ctx, unsigned worker, uint64_t number, struct error *err)
{
	(void)err;
	struct planner *p = ctx;
	bool ordered = p->job->source != SOURCE_KAFKA;
	if (p->watch)
		lint_watch_piece_end(p->watch, worker);
	pthread_mutex_lock(&p->lock);
	while (ordered && p->next != number && !p->abandoned)
		pthread_cond_wait(&p->turn, &p->lock);
	if (!p->abandoned)
		feed_all(p, worker);
	p->next++;
	pthread_cond_broadcast(&p->turn);
	pthread_mutex_unlock(&p->lock);
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

static unsigned lint_every(const struct planner *p)
{
	uint64_t done, total;

	source_progress(p->pass.source, &done, &total);
	return total && total <= LINT_WHOLE ? 1 : LINT_EVERY;
}

static int open_planner(struct planner *p, struct progress *progress, struct error *err)
{
	size_t n = p->job->ntables;
	const struct pass_options po = {.job = p->job,
					.run = p->opt->common,
					.input = p->opt->input,
					.fraction = p->opt->fraction,
					.even_pieces = true,
					.limit = p->opt->limit,
					.progress = progress,
					.ctx = p,
					.record = take_record,
					.piece_end = take_piece,
					.abandon = abandon};
	int rc = pass_open(&p->pass, &po, err);

	if (rc == RC_OK)
		rc = pass_prepare(&p->pass, p->opt->work_dir, err);
	if (rc == RC_OK && p->opt->lint)
		p->watch =
			lint_watch_new(p->job, p->pass.plan, p->pass.memory.threads, lint_every(p));
	if (rc == RC_OK && p->opt->hot_keys)
		hot_keys_open(p->opt->hot_keys, p->job, p->pass.plan, p->pass.memory.threads);
	p->shapes = mem_calloc(n, sizeof *p->shapes);
	p->near = mem_calloc(n, sizeof *p->near);
	p->spare = mem_calloc(n, sizeof *p->spare);
	p->samples = mem_calloc(n, sizeof(void *));
	p->spreads = mem_calloc(n, sizeof *p->spreads);
	p->pieces = mem_calloc(p->pass.memory.threads * n, sizeof *p->pieces);
	for (size_t t = 0; rc == RC_OK && t < n; t++) {
		p->shapes[t] = key_shape(&p->job->tables[t]);
		p->spare[t] = spare_log2(p, &p->job->tables[t].regions);
		p->near[t] = near_of(&p->shapes[t]);
		p->samples[t] = sample_new(SKETCH_K, SEED, &p->shapes[t]);
	}
	return rc;
}

struct measured {
	const struct near *near;
	uint64_t chosen_below;
	uint64_t neighbourhoods, weight; /* number and weight of the measured neighbourhoods */
	uint64_t events, rows;
};

/* Return true if the sample has kept the neighbourhood to the end, not only at the start. */
static bool is_kept(const void *ctx, struct bytes key)
{
	const struct measured *m = ctx;

	return near_hash(m->near, key) <= m->chosen_below;
}

/* The kept rows of one neighbourhood, or of several neighbourhoods with the same hash. */
struct kept {
	uint64_t hash, weight;
	uint64_t events, rows; /* `rows` is the number of distinct keys */
};

static int compare_kept(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	return (x->hash > y->hash) - (x->hash < y->hash);
}

static int list_kept(struct planner *p, size_t table, struct kept **list, size_t *n,
		     struct error *err)
{
	const struct bytes none = {0};
	struct record_iter rows;
	struct record r;
	struct buf last = {0};
	int rc = sorter_range(p->pass.tables[table].sorter, none, none, &rows, err);

	if (rc)
		return rc;
	while ((rc = rows.next(rows.self, &r, err)) == RC_OK) {
		uint64_t hash = near_hash(&p->near[table], r.key);

		if (*n == 0 || (*list)[*n - 1].hash != hash) {
			*list = mem_grow(*list, *n, sizeof **list);
			(*list)[(*n)++] = (struct kept){.hash = hash};
		}
		struct kept *k = &(*list)[*n - 1];
		k->weight += row_weigh(&p->pass.tables[table].weigher, &r);
		k->events++;
		if (k->events > 1 && bytes_eq(buf_bytes(&last), r.key))
			continue;
		k->rows++;
		last.len = 0;
		buf_append(&last, r.key.ptr, r.key.len);
	}
	buf_release(&last);
	rows.close(rows.self);
	return rc == RC_END ? RC_OK : rc;
}

/*
 * Choose the hashes to measure, which are those that the sample has kept to the end. If they
 * contain too few rows, add the hashes that the sample has kept longest.
 */
static int choose_measured(struct planner *p, size_t table, struct measured *m, struct error *err)
{
	struct kept *list = NULL;
	size_t n = 0;
	uint64_t weight = 0;
	int rc = list_kept(p, table, &list, &n, err);

	*m = (struct measured){.near = &p->near[table],
			       .chosen_below = chosen_below(p->input_bytes)};
	if (n)
		qsort(list, n, sizeof *list, compare_kept);
	for (size_t i = 0; i < n && weight < MEASURED_LEAST; i++) {
		if (list[i].hash > m->chosen_below)
			m->chosen_below = list[i].hash;
		weight += list[i].weight;
	}
	for (size_t i = 0; i < n && list[i].hash <= m->chosen_below; i++) {
		m->neighbourhoods += i == 0 || list[i].hash != list[i - 1].hash;
		m->weight += list[i].weight;
		m->events += list[i].events;
		m->rows += list[i].rows;
	}
	mem_free(list);
	return rc;
}

/*
 * Return the excess bytes on disk of the measured rows, for each byte of weight. If the sample has
 * one neighbourhood in 2^n, the keys of neighbours share n bits less than in the whole table. The
 * excess occurs in each family whose files use such shared bits.
 */
static double excess(const struct planner *p, size_t table, const struct measured *m)
{
	const struct table *t = &p->job->tables[table].schema;
	double share =
		source_share(p->pass.source) * ((double)m->chosen_below / (double)UINT64_MAX);
	double bits = share < 1 ? -log2(share) : 0;
	unsigned families = 0;

	for (size_t i = 0; i < t->nfamilies; i++)
		families += t->families[i].codec != CODEC_NONE ||
			    t->families[i].encoding != ENCODING_NONE;
	return m->weight ? families * bits / 8 * (double)m->neighbourhoods / (double)m->weight : 0;
}

/* Compress the chosen rows. */
static int measure(struct planner *p, size_t table, struct table_sample *out, struct error *err)
{
	struct sorter *s = p->pass.tables[table].sorter;

	struct cut_table t = pass_cut_table(&p->pass, table);
	struct arena *a = p->opt->arena;
	struct measured m;
	if (sorter_totals(s).records == 0)
		return p->opt->tune ? tuning_decide(&t, s, 1, "", 0, a, &out->tuned, err) : RC_OK;
	char *dir = mem_format("%s/samples", p->opt->work_dir);
	unsigned threads = p->pass.memory.threads;
	uint64_t weight = 0;
	struct cell_sample d = {.bytes = SAMPLE_BYTES,
				.wanted = is_kept,
				.ctx = &m,
				.weight = &weight};
	int rc = choose_measured(p, table, &m, err);
	if (rc == RC_OK && p->opt->tune)
		rc = tuning_decide(&t, s, threads, dir, UINT64_MAX, a, &out->tuned, err);
	if (rc == RC_OK)
		rc = measure_disk_ratio(&t, s, threads, &d, dir, &out->disk_per_byte, err);
	if (rc == RC_OK)
		out->disk_per_byte -= fmin(excess(p, table, &m), out->disk_per_byte * EXCESS_MOST);
	if (rc == RC_OK && m.events)
		out->rows_per_event = (double)m.rows / (double)m.events;
	mem_free(dir);
	out->measured_bytes = (double)sorter_totals(s).weight;
	return rc;
}

static void close_planner(struct planner *p)
{
	size_t n = p->job->ntables;

	for (size_t t = 0; t < n; t++)
		sample_free(p->samples[t]);
	mem_free(p->samples);
	mem_free(p->spreads);
	for (size_t i = 0; i < p->pass.memory.threads * n; i++)
		buf_release(&p->pieces[i].rows);
	mem_free(p->pieces);
	mem_free(p->near);
	mem_free(p->spare);
	mem_free(p->shapes);
	lint_watch_free(p->watch);
	pass_close(&p->pass);
	pthread_cond_destroy(&p->turn);
	pthread_mutex_destroy(&p->lock);
}

static void keep_columns(const struct planner *p, struct planning_counts *counts)
{
	struct arena *a = p->opt->arena;

	const char *const *columns = source_columns(p->pass.source, &counts->ncolumns);
	if (!a)
		return;
	counts->columns = arena_alloc(a, (counts->ncolumns + 1) * sizeof *counts->columns);
	for (size_t i = 0; i < counts->ncolumns; i++)
		counts->columns[i] = arena_strdup(a, columns[i]);
}

int planning_read(const struct job *job, const struct planning_options *o,
		  struct progress *progress, struct table_sample *samples,
		  struct planning_counts *counts, struct error *err)
{
	struct planner p = {.job = job,
			    .opt = o,
			    .lock = PTHREAD_MUTEX_INITIALIZER,
			    .turn = PTHREAD_COND_INITIALIZER};
	int rc = open_planner(&p, progress, err);

	if (rc == RC_OK)
		rc = pass_run(&p.pass, err);
	if (rc == RC_OK)
		rc = pass_sort(&p.pass, err);
	if (rc == RC_OK && p.watch)
		lint_watch_judge(p.watch, o->lint, p.pass.source, o->now_ms);
	double share = rc == RC_OK ? source_share(p.pass.source) : 1;
	for (size_t t = 0; rc == RC_OK && t < job->ntables; t++) {
		samples[t].table = &job->tables[t];
		samples[t].scale = 1 / share;
		samples[t].scale_error = spread_error(&p.spreads[t], share);
		samples[t].sample = p.samples[t];
		p.samples[t] = NULL;
		rc = measure(&p, t, &samples[t], err);
	}
	*counts = (struct planning_counts){.events = p.pass.events,
					   .rejected = p.pass.rejected,
					   .newest_ms = p.pass.newest_ms,
					   .share = share};
	if (rc == RC_OK)
		keep_columns(&p, counts);
	close_planner(&p);
	return rc;
}

void table_sample_release(struct table_sample *s)
{
	sample_free(s->sample);
	*s = (struct table_sample){0};
}

/*
 * Return split points that do not depend on the data. If the input is empty, the plan chooses them.
 */
static int given_splits(const struct job *job, const struct table_sample *s, struct splits *out,
			bool *given, struct error *err)
{
	const struct regions *r = &s->table->regions;
	double disk = (double)sketch_bytes(sample_sketch(s->sample)) *
		      (s->disk_per_byte > 0 ? s->disk_per_byte : 1) * (s->scale > 0 ? s->scale : 1);
	int rc = regions_without_data(job, s->table, out, NULL, err);

	if (rc == RC_END)
		rc = regions_computed(job, s->table, region_rule_count(&r->rule, disk), out, NULL,
				      err);
	*given = rc == RC_OK;
	return rc == RC_END ? RC_OK : rc;
}

/* Estimate the number of rows. The sketch counts events, and several events can be one row. */
static void count_rows(struct plan *p, double rows_per_event)
{
	p->rows *= rows_per_event;
	for (size_t i = 0; i <= p->splits.count; i++) {
		p->regions[i].rows *= rows_per_event;
		p->regions[i].rows_error *= rows_per_event;
	}
}

int planning_make(struct plan *p, const struct job *job, struct table_sample *s,
		  const struct splits *live, struct error *err)
{
	struct key_table keys;
	struct splits splits = {0};
	bool given = false;
	struct plan_options o = {
		.rule = s->table->regions.rule,
		.disk_per_byte = s->disk_per_byte,
		.scale = s->scale,
		.scale_error = s->scale_error,
		.disk_per_region = s->table->schema.nfamilies * HFILE_TRAILER_BYTES,
		.max_filesize = table_max_filesize(&s->table->schema),
		.max_hfile_bytes = s->table->max_hfile_bytes,
		.name_key = key_name,
		.name_ctx = &keys,
	};

	*p = (struct plan){0};
	int rc = live ? RC_OK : given_splits(job, s, &splits, &given, err);
	if (live || given)
		o.given = live ? live : &splits;
	key_table_open(&keys, job, s->table);
	if (rc == RC_OK)
		rc = plan_make(p, s->sample, &o, err);
	if (rc == RC_OK && s->rows_per_event > 0)
		count_rows(p, s->rows_per_event);
	key_table_close(&keys);
	splits_release(&splits);
	return rc;
}
