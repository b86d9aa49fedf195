/*
 * map.c - turn a slice of the input into sorted rows, region by region
 *
 * The output has the pieces in the order of tables and regions, independent of the threads. A
 * thread that finishes early waits for its turn with one piece in memory.
 */
#include <pthread.h>
#include <string.h>

#include "load/describe_file.h"
#include "load.h"
#include "io.h"
#include "mem.h"
#include "pass.h"
#include "pieces.h"
#include "pool.h"

#define READ_BUFFERS (8 * (17u << 10)) /* the smallest merge */
#define BATCH	     64

struct map_task {
	size_t table, region;
	struct map_region out;
};

struct mapping {
	const struct job *job;
	const struct map_options *opt;
	struct progress *progress;
	struct pass pass;
	struct staging *staging;
	struct out_file runs;
	struct map_task *tasks;
	size_t ntasks;
	unsigned threads;
	struct piece_writer *writers; /* [threads] */
	pthread_mutex_t lock;	      /* guards `turn` and `failed` */
	pthread_cond_t moved;
	size_t turn;   /* index of the task that may write now */
	size_t failed; /* index of the first task that failed, SIZE_MAX if none */
};

/* --- writing --- */

static int wait_for_turn(struct mapping *m, size_t task, struct error *err)
{
	pthread_mutex_lock(&m->lock);
	while (m->turn != task && m->failed > task)
		pthread_cond_wait(&m->moved, &m->lock);
	bool failed = m->failed <= task;
	pthread_mutex_unlock(&m->lock);
	return failed ? error_set(err, RC_STOPPED, "an earlier region failed") : RC_OK;
}

static void end_turn(struct mapping *m, size_t task, bool failed)
{
	pthread_mutex_lock(&m->lock);
	if (!failed)
		m->turn++;
	else if (task < m->failed)
		m->failed = task;
	pthread_cond_broadcast(&m->moved);
	pthread_mutex_unlock(&m->lock);
}

static int write_piece(struct mapping *m, struct piece_writer *w, size_t index, bool last,
		       struct error *err)
{
	struct map_task *task = &m->tasks[index];
	uint64_t records = w->head.records, mark = 0;
	struct bytes piece;
	int rc = piece_end(w, last, &piece, &mark, err);

	if (rc == RC_OK)
		rc = stop_check(err);
	if (rc == RC_OK)
		rc = wait_for_turn(m, index, err);
	if (rc)
		return rc;
	if (task->out.pieces == 0)
		task->out.offset = m->runs.offset;
	out_write(&m->runs, piece.ptr, piece.len);
	task->out.pieces++;
	task->out.records += records;
	task->out.bytes += piece.len;
	task->out.digest = (int64_t)((uint64_t)task->out.digest + mark);
	return RC_OK;
}

static int write_rows(struct mapping *m, struct piece_writer *w, size_t index,
		      struct record_iter *rows, struct error *err)
{
	struct record batch[BATCH];
	size_t n;
	int rc;

	while ((rc = rows->next_many(rows->self, batch, BATCH, &n, err)) == RC_OK) {
		for (size_t i = 0; rc == RC_OK && i < n; i++) {
			if (!piece_fits(w, &batch[i]))
				rc = write_piece(m, w, index, false, err);
			if (rc == RC_OK)
				piece_add(w, &batch[i]);
		}
		if (rc)
			return rc;
	}
	if (rc == RC_END)
		rc = w->head.records ? write_piece(m, w, index, true, err) : RC_OK;
	return rc;
}

static int write_region(struct mapping *m, struct piece_writer *w, size_t index, struct error *err)
{
	const struct map_task *task = &m->tasks[index];
	const struct splits *splits = &m->opt->plan->tables[task->table].splits;
	struct bytes none = {0};
	struct bytes lo = task->region ? splits->keys[task->region - 1] : none;
	struct bytes hi = task->region < splits->count ? splits->keys[task->region] : none;
	struct sorter *sorter = m->pass.tables[task->table].sorter;
	struct run_codec codec = sorter_codec(sorter, w->head.slice);
	struct record_iter rows;
	int rc = sorter_range(sorter, lo, hi, &rows, err);

	if (rc)
		return rc;
	piece_region(w, (uint32_t)task->table, (uint32_t)task->region, &codec);
	rc = write_rows(m, w, index, &rows, err);
	rows.close(rows.self);
	return rc;
}

static int write_task(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct mapping *m = ctx;
	int rc = write_region(m, &m->writers[worker], index, err);

	if (rc == RC_OK)
		rc = wait_for_turn(m, index, err);
	end_turn(m, index, rc != RC_OK);
	m->progress->regions++;
	progress_add(m->progress, 1);
	return rc;
}

static void list_tasks(struct mapping *m)
{
	size_t n = 0;

	for (size_t t = 0; t < m->job->ntables; t++)
		m->ntasks += m->opt->plan->tables[t].splits.count + 1;
	m->tasks = mem_calloc(m->ntasks, sizeof *m->tasks);
	for (size_t t = 0; t < m->job->ntables; t++)
		for (size_t r = 0; r <= m->opt->plan->tables[t].splits.count; r++, n++)
			m->tasks[n] = (struct map_task){t, r, {.region = r}};
	m->progress->regions_total = m->ntasks;
	progress_begin(m->progress, "writing", PROGRESS_REGIONS, m->ntasks);
}

/*
 * Reserve twice the memory of a plain and a compressed piece, because buffers grow by half of their
 * size.
 */
static void begin_writers(struct mapping *m)
{
	struct source_part part;
	uint64_t each = 4 * PIECE_BYTES + READ_BUFFERS;

	m->threads = memory_writers(&m->pass.memory, each);
	budget_force(&m->pass.budget, each * m->threads);
	m->writers = mem_calloc(m->threads, sizeof *m->writers);
	source_part(m->pass.source, &part);
	for (unsigned i = 0; i < m->threads; i++) {
		struct piece_head *h = &m->writers[i].head;

		h->slice = SOURCE_FILE_SEQ(part.number) + part.first;
		h->packing = m->opt->pack ? PIECE_ZSTD : PIECE_PLAIN;
		h->unordered = m->opt->unordered;
		memcpy(h->plan, m->opt->plan->identity, sizeof h->plan);
	}
}

static int write_runs(struct mapping *m, struct error *err)
{
	char *path = mem_format("%s/runs", staging_path(m->staging));

	begin_writers(m);
	int rc = pass_sort(&m->pass, err);
	if (rc == RC_OK)
		rc = out_open(&m->runs, path, 0, err);
	mem_free(path);
	if (rc)
		return rc;
	list_tasks(m);
	rc = pool_run(m->threads, m->ntasks, write_task, m, err);
	if (rc == RC_OK)
		return out_finish(&m->runs, err);
	out_abort(&m->runs);
	return rc;
}

/* --- the report --- */

static void describe_input(const struct mapping *m, struct map_report *r, struct arena *a)
{
	struct source_part p;
	size_t n;

	source_part(m->pass.source, &p);
	r->path = arena_strdup(a, source_files(m->pass.source, &n)->path);
	r->columns = schema_columns(a, m->pass.source, &r->ncolumns);
	r->number = p.number;
	r->size = p.size;
	r->head = p.head;
	r->head_lines = p.head_lines;
	r->head_read = p.head_read;
	r->from = p.from;
	r->to = p.to;
	r->first = p.first;
	r->end = p.end;
	r->lines = p.lines;
	r->seqs = p.seqs;
	r->line_base = p.line_base;
	r->whole = p.whole;
	r->last = p.last;
	if (m->job->source == SOURCE_CSV)
		r->quote = arena_format(a, "%c", m->job->csv.quote);
	r->summed = p.summed;
	memcpy(r->digest, p.digest, sizeof r->digest);
	memcpy(r->sum, p.sum, sizeof r->sum);
	memcpy(r->before, p.before, sizeof r->before);
	memcpy(r->after, p.after, sizeof r->after);
}

static void describe_tables(const struct mapping *m, struct map_report *r, struct arena *a)
{
	r->ntables = m->job->ntables;
	r->tables = arena_alloc(a, r->ntables * sizeof *r->tables);
	for (size_t t = 0; t < r->ntables; t++) {
		r->tables[t].name = arena_strdup(a, m->job->tables[t].schema.name);
		r->tables[t].filtered = m->pass.tables[t].filtered;
		r->tables[t].regions = arena_alloc(a, (m->opt->plan->tables[t].splits.count + 1) *
							      sizeof *r->tables[t].regions);
	}
	for (size_t i = 0; i < m->ntasks; i++) {
		struct map_table *t = &r->tables[m->tasks[i].table];

		if (m->tasks[i].out.records)
			t->regions[t->nregions++] = m->tasks[i].out;
	}
}

static void describe(struct mapping *m, struct map_report *r, struct arena *a)
{
	size_t n;
	const struct reject_reason *reasons = rejects_by_reason(m->pass.rejects, &n);

	*r = (struct map_report){.program = SALTMILL_VERSION,
				 .read = m->pass.events,
				 .rejected = m->pass.rejected,
				 .blank_lines = m->pass.blank_lines,
				 .rejected_lines = m->pass.rejected_lines,
				 .filtered_lines = m->pass.filtered_lines,
				 .finer_times = m->pass.finer.times,
				 .finer_seq = m->pass.finer.seq,
				 .finer_field = m->pass.finer.field,
				 .newest_ms = m->pass.newest_ms};
	memcpy(r->plan, m->opt->plan->identity, sizeof r->plan);
	describe_input(m, r, a);
	r->reasons = arena_alloc(a, (n + 1) * sizeof *r->reasons);
	for (r->nreasons = 0; r->nreasons < n; r->nreasons++)
		r->reasons[r->nreasons] =
			(struct reject_reason){arena_strdup(a, reasons[r->nreasons].reason),
					       reasons[r->nreasons].count};
	describe_tables(m, r, a);
}

static int publish(struct mapping *m, struct map_report *r, struct arena *a, struct error *err)
{
	uint8_t digest[16];
	char *path = mem_format("%s/rejects.jsonl", staging_path(m->staging));
	int rc = rejects_write(m->pass.rejects, staging_storage(m->staging), path, digest, err);

	mem_free(path);
	describe(m, r, a);
	if (rc == RC_OK)
		rc = map_report_write(r, staging_path(m->staging), err);
	if (rc == RC_OK)
		rc = staging_publish(m->staging, err);
	if (rc == RC_OK)
		m->staging = NULL;
	return rc;
}

/* --- the whole map --- */

static int open_input(struct mapping *m, struct error *err)
{
	const struct map_options *o = m->opt;
	const struct pass_options po = {.job = m->job,
					.run = o->common,
					.input = o->input,
					.limit = {.share = 1, .is_share = true},
					.progress = m->progress};
	size_t n;
	const struct field *unique = job_unique(m->job);
	int rc = m->job->source == SOURCE_KAFKA
			 ? error_set(err, RC_CONFIG, "map: found a kafka source, expected files")
			 : pass_open(&m->pass, &po, err);

	if (rc)
		return rc;
	if (unique)
		return error_set(
			err, RC_CONFIG,
			"map: found `unique` of field `%.60s`, expected a job without it, "
			"because a map sees only its part of the input; use `saltmill load`",
			unique->name);
	const struct source_file *files = source_files(m->pass.source, &n);
	if (n != 1 || strcmp(files->path, "-") == 0)
		return error_set(
			err, RC_CONFIG, "map: found %zu inputs, expected one file%s", n,
			n == 1 ? "; for standard input, add --name and --bytes, so that map "
				 "knows the file and notices missing bytes"
			       : "; run one map for each file, with --input");
	const char *const *columns = source_columns(m->pass.source, &n);
	return kept_plan_columns(o->plan, columns, n, files->path, err);
}

static void close_all(struct mapping *m)
{
	for (unsigned i = 0; m->writers && i < m->threads; i++)
		piece_writer_release(&m->writers[i]);
	mem_free(m->writers);
	mem_free(m->tasks);
	pass_close(&m->pass);
	staging_abort(m->staging);
	pthread_cond_destroy(&m->moved);
	pthread_mutex_destroy(&m->lock);
}

int map_run(const struct job *job, const struct map_options *o, struct progress *progress,
	    struct map_report *r, struct arena *a, struct error *err)
{
	struct mapping m = {.job = job,
			    .opt = o,
			    .progress = progress,
			    .runs = {.fd = -1},
			    .failed = SIZE_MAX,
			    .lock = PTHREAD_MUTEX_INITIALIZER,
			    .moved = PTHREAD_COND_INITIALIZER};
	bool removed;
	int rc = open_input(&m, err);

	if (rc == RC_OK)
		rc = staging_open(&m.staging, o->output_dir, &removed, err);
	if (rc == RC_OK)
		rc = pass_prepare(&m.pass,
				  o->common->temp_dir ? o->common->temp_dir
						      : staging_path(m.staging),
				  err);
	if (rc == RC_OK)
		rc = pass_run(&m.pass, err);
	if (rc == RC_OK)
		rc = write_runs(&m, err);
	if (rc == RC_OK)
		rc = publish(&m, r, a, err);
	close_all(&m);
	return rc;
}
