#include "pass.h"

#include "mem.h"
#include "readers.h"

/* --- open and close --- */

int pass_open(struct pass *p, const struct pass_options *opt, struct error *err)
{
	const struct job *job = opt->job;
	const struct memory_need need = {.limit = opt->run->memory_bytes,
					 .threads = opt->run->threads,
					 .tables = job->ntables,
					 .topic = opt->input && opt->input->topic,
					 .even_pieces = opt->even_pieces};

	*p = (struct pass){.opt = *opt,
			   .memory = memory_plan_make(&need),
			   .budget = {.limit = opt->run->memory_bytes},
			   .quota = {.limit = opt->run->temp_quota_bytes}};
	p->tables = mem_calloc(job->ntables, sizeof *p->tables);
	budget_force(&p->budget, p->memory.topic_bytes);
	const struct source_options so = {.job = job,
					  .input = opt->input,
					  .piece_bytes = p->memory.piece_bytes,
					  .row_bytes = p->memory.row_bytes,
					  .budget = &p->budget,
					  .fraction = opt->fraction};
	if (!opt->input)
		return row_plan_new(&p->plan, job, opt->columns, opt->ncolumns, err);
	int rc = source_open(&p->source, &so, err);
	if (rc)
		return rc;
	size_t ncolumns;
	const char *const *columns = source_columns(p->source, &ncolumns);
	return row_plan_new(&p->plan, job, columns, ncolumns, err);
}

int pass_prepare(struct pass *p, const char *temp_dir, struct error *err)
{
	p->temp_dir = temp_dir;
	int rc = rejects_new(&p->rejects, temp_dir, &p->quota, p->memory.threads, err);
	if (rc == RC_OK)
		rejects_tolerate(p->rejects, p->opt.job);
	for (size_t t = 0; rc == RC_OK && t < p->opt.job->ntables; t++) {
		struct pass_table *table = &p->tables[t];

		table->weigher = (struct row_weigher){p->plan, t};
		struct sorter_options so = {.budget = &p->budget,
					    .temp_dir = temp_dir,
					    .threads = p->memory.threads,
					    .secondary_bytes = row_secondary_bytes(p->plan, t),
					    .weigh = row_weigh,
					    .weigh_ctx = &table->weigher,
					    .usual = row_usual_weight(p->plan, t),
					    .run_bytes = p->memory.run_bytes,
					    .large_bytes = p->memory.large_bytes,
					    .quota = &p->quota};
		if (!p->opt.wanted || p->opt.wanted[t])
			table->sorter = sorter_new(&so);
	}
	return rc;
}

void pass_free_sorters(struct pass *p)
{
	for (size_t t = 0; p->tables && t < p->opt.job->ntables; t++) {
		sorter_free(p->tables[t].sorter);
		p->tables[t].sorter = NULL;
	}
}

void pass_close(struct pass *p)
{
	pass_free_sorters(p);
	rejects_free(p->rejects);
	row_plan_free(p->plan);
	source_close(p->source);
	mem_free(p->tables);
	*p = (struct pass){0};
}

/* --- records into sorters --- */

static struct run_builder *builder(struct pass *p, unsigned worker, size_t table)
{
	struct sorter *s = p->tables[table].sorter;

	return s ? sorter_builder(s, worker) : NULL;
}

static int take_record(void *ctx, unsigned worker, size_t table, const struct record *r,
		       struct error *err)
{
	struct run_builder *b = builder(ctx, worker, table);

	return b ? run_builder_add(b, r, err) : RC_OK;
}

/* Return space for a batch in the builder's memory, so that the batch needs no copy. */
static int find_room(void *ctx, unsigned worker, size_t table, size_t bytes, uint64_t first_seq,
		     uint64_t last_seq, uint8_t **to, struct error *err)
{
	struct run_builder *b = builder(ctx, worker, table);

	return run_builder_room(b, bytes, first_seq, last_seq, to, err);
}

static void take_batch(void *ctx, unsigned worker, size_t table, const struct record_batch *r)
{
	run_builder_take(builder(ctx, worker, table), r);
}

static int hand_record(void *ctx, unsigned worker, size_t table, const struct record *r,
		       struct error *err)
{
	struct pass *p = ctx;

	return p->tables[table].sorter ? p->opt.record(p->opt.ctx, worker, table, r, err) : RC_OK;
}

/* Sort between pieces, because at that time no other thread waits for this thread. */
static int end_piece(void *ctx, unsigned worker, uint64_t piece, struct error *err)
{
	struct pass *p = ctx;
	int rc = p->opt.piece_end ? p->opt.piece_end(p->opt.ctx, worker, piece, err) : RC_OK;

	for (size_t t = 0; rc == RC_OK && t < p->opt.job->ntables; t++) {
		struct run_builder *b = builder(p, worker, t);

		if (b && run_builder_full(b))
			rc = run_builder_flush(b, err);
	}
	return rc;
}

int pass_run(struct pass *p, struct error *err)
{
	struct record_sink sink = {.ctx = p, .record = take_record, .piece_end = end_piece};

	if (p->opt.record) {
		sink.record = hand_record;
	} else if (!p->opt.wanted) {
		sink.room = find_room;
		sink.take = take_batch;
	}
	progress_begin(p->opt.progress, "reading", PROGRESS_INPUT, 0);
	budget_force(&p->budget, p->memory.pieces_bytes);
	int rc = readers_run(p, &sink, err);
	budget_give(&p->budget, p->memory.pieces_bytes);
	return rc ? rc : pass_flush(p, err);
}

int pass_flush(struct pass *p, struct error *err)
{
	int rc = RC_OK;

	for (size_t t = 0; rc == RC_OK && t < p->opt.job->ntables; t++)
		if (p->tables[t].sorter)
			rc = sorter_flush(p->tables[t].sorter, err);
	return rc;
}

int pass_sort(struct pass *p, struct error *err)
{
	int rc = RC_OK;

	for (size_t t = 0; rc == RC_OK && t < p->opt.job->ntables; t++)
		if (p->tables[t].sorter)
			rc = sorter_finish(p->tables[t].sorter, err);
	return rc;
}

struct cut_table pass_cut_table(struct pass *p, size_t table)
{
	const struct job_table *t = &p->opt.job->tables[table];

	return (struct cut_table){.plan = p->plan,
				  .index = table,
				  .table = t,
				  .rows = p->tables[table].sorter,
				  .budget = &p->budget,
				  .temp_dir = p->temp_dir,
				  .gather_bytes = p->memory.gather_bytes,
				  .file_buffer_bytes =
					  memory_file_buffer(&p->memory, t->schema.nfamilies),
				  .quota = &p->quota};
}
