#include "readers.h"

#include <stdlib.h>

#include "mem.h"
#include "pool.h"

#define LONG_EVENT (1u << 20) /* an encoder frees its buffers after an event of this size */

/*
 * One reading thread. The structs are 128 bytes apart, so that no two threads write to one cache
 * line.
 */
struct event_reader {
	_Alignas(128) struct pass *pass;
	const struct record_sink *sink;
	unsigned number;
	struct source_worker *source;
	struct row_encoder *encoder;
	struct record *records;	      /* [ntables] */
	struct record_batch *batches; /* [ntables] */
	struct buf *rooms;	      /* [ntables], used if the sink has no `room` */
	uint64_t *filtered;	      /* [ntables] */
	uint64_t filtered_lines;      /* line ends inside events that no table takes */
	uint64_t events_seen;
	struct error fatal; /* code is 0 if there is no error */
};

static int take_record(struct event_reader *r, size_t table, const struct record *rec)
{
	const struct record_sink *sink = r->sink;

	if (rec->key.len == 0) {
		r->filtered[table]++;
		return RC_OK;
	}
	/* the failure is not the event's fault, and r->fatal has the cause */
	return sink->record(sink->ctx, r->number, table, rec, &r->fatal) ? RC_STOPPED : RC_OK;
}

/* Pass the records of one table one by one, from the reader's memory. */
static int take_each(struct event_reader *r, size_t table)
{
	const struct record_batch *b = &r->batches[table];
	size_t secondary_bytes = row_secondary_bytes(r->pass->plan, table);
	int rc = RC_OK;

	for (size_t i = 0; i < b->n && rc == RC_OK; i++) {
		struct record rec = record_of_batch(b, i, secondary_bytes);

		rc = take_record(r, table, &rec);
	}
	return rc;
}

/* Set batches[table].to to free space for the table's records, or to NULL if there is no space. */
static int find_room(struct event_reader *r, size_t table, const struct event_rows *rows)
{
	const struct record_sink *sink = r->sink;
	struct record_batch *b = &r->batches[table];
	size_t bytes = row_batch_bytes(r->encoder, table, rows);

	b->to = NULL;
	if (bytes > 0 && !sink->room) {
		r->rooms[table].len = 0;
		b->to = buf_reserve(&r->rooms[table], bytes + RECORD_SLACK);
	} else if (bytes > 0) {
		/* the failure is not the event's fault, and r->fatal has the cause */
		return sink->room(sink->ctx, r->number, table, bytes, row_seq(rows, 0),
				  row_seq(rows, rows->n - 1), &b->to, &r->fatal)
			       ? RC_STOPPED
			       : RC_OK;
	}
	return RC_OK;
}

static int take_rows(void *ctx, const struct event_rows *rows, bool *taken)
{
	struct event_reader *r = ctx;
	const struct record_sink *sink = r->sink;
	size_t ntables = r->pass->opt.job->ntables;
	int rc = RC_OK;

	*taken = false;
	for (size_t t = 0; t < ntables; t++) {
		rc = find_room(r, t, rows);
		if (rc || !r->batches[t].to)
			return rc;
	}
	*taken = row_encode_batch(r->encoder, rows, r->batches);
	for (size_t t = 0; *taken && t < ntables && rc == RC_OK; t++) {
		if (sink->take)
			sink->take(sink->ctx, r->number, t, &r->batches[t]);
		else
			rc = take_each(r, t);
	}
	return rc;
}

static int take_event(void *ctx, const struct event *ev, struct reject *why)
{
	struct event_reader *r = ctx;
	int rc = row_encode(r->encoder, ev, r->records, why);
	bool taken = false;

	if (rc == RC_LIMIT) {
		error_set(&r->fatal, RC_LIMIT, "%s", why->detail);
		return RC_STOPPED;
	}
	if (rc)
		return rc;
	for (size_t t = 0; t < r->pass->opt.job->ntables && rc == RC_OK; t++) {
		taken |= r->records[t].key.len > 0;
		rc = take_record(r, t, &r->records[t]);
	}
	r->filtered_lines += taken ? 0 : ev->more_lines;
	if (ev->raw.len > LONG_EVENT)
		row_encoder_trim(r->encoder);
	return rc;
}

static int take_reject(void *ctx, const struct rejected *bad, struct error *err)
{
	struct event_reader *r = ctx;
	struct reject_line line = {.file = bad->file,
				   .line = bad->line,
				   .offset = bad->offset,
				   .block = bad->block,
				   .seq = bad->seq,
				   .raw = bad->raw,
				   .message = bad->message,
				   .why = &bad->why};

	return rejects_add(r->pass->rejects, r->number, &line, err);
}

/*
 * Return true if there are more rejects than the limit. Threads take pieces in input order and
 * finish their pieces. So the first bad events of the input are known when reading stops.
 */
static bool over_limit(const struct pass *p)
{
	return !p->opt.limit.is_share && rejects_counted(p->rejects) > p->opt.limit.count;
}

static void show_progress(struct event_reader *r)
{
	struct progress *p = r->pass->opt.progress;
	struct source_counts c;
	uint64_t done, total;

	source_worker_counts(r->source, &c);
	source_progress(r->pass->source, &done, &total);
	p->events += c.events - r->events_seen;
	r->events_seen = c.events;
	p->bytes = p->done = done;
	p->total = total;
}

static int read_pieces(struct event_reader *r, struct error *err)
{
	struct pass *all = r->pass;
	struct source_sink sink = {r, take_event, take_reject, take_rows,
				   row_batch_uses(all->plan)};
	int rc;

	while ((rc = stop_check(err)) == RC_OK && !over_limit(all) && !all->failed) {
		rc = source_work(r->source, &sink, err);
		if (r->fatal.code) {
			*err = r->fatal;
			return err->code;
		}
		show_progress(r);
		if (rc == RC_OK) {
			rc = r->sink->piece_end(r->sink->ctx, r->number,
						source_worker_piece(r->source), err);
			if (rc)
				r->fatal = *err;
		}
		if (rc)
			break;
	}
	return rc == RC_END ? RC_OK : rc;
}

static int read_task(void *ctx, unsigned worker, size_t index, struct error *err)
{
	(void)worker;
	struct event_reader *readers = ctx;
	struct pass *all = readers[index].pass;
	int rc = read_pieces(&readers[index], err);
	if (rc)
		all->failed = true;
	if (rc && all->opt.abandon)
		all->opt.abandon(all->opt.ctx);
	return rc;
}

/* Write the message of a run that fails because of bad input. */
static int too_many_rejects(struct pass *p, uint64_t allowed, struct error *err)
{
	struct buf s = {0};
	int rc = rejects_nth(p->rejects, allowed, &s, err);

	if (rc == RC_OK && allowed == 0)
		rc = error_set(err, RC_DATA,
			       "%.*s; saltmill published nothing; to tolerate bad events, add "
			       "--max-rejects N",
			       (int)s.len, (const char *)s.ptr);
	else if (rc == RC_OK)
		rc = error_set(
			err, RC_DATA,
			"found more than %llu bad events, the limit of --max-rejects; the next "
			"bad event is %.*s; saltmill published nothing",
			(unsigned long long)allowed, (int)s.len, (const char *)s.ptr);
	buf_release(&s);
	return rc;
}

int pass_judge(struct pass *p, struct error *err)
{
	uint64_t allowed = event_limit_of(&p->opt.limit, p->events);

	return rejects_counted(p->rejects) > allowed ? too_many_rejects(p, allowed, err) : RC_OK;
}

/* Return the number of reading threads. `unique` needs the events in input order. */
static unsigned threads_of(const struct pass *p)
{
	return job_unique(p->opt.job) ? 1 : p->memory.threads;
}

static struct event_reader *readers_new(struct pass *p, const struct record_sink *sink)
{
	size_t n = p->opt.job->ntables;
	struct event_reader *readers =
		mem_alloc_aligned(_Alignof(struct event_reader), threads_of(p) * sizeof *readers);

	for (unsigned i = 0; i < threads_of(p); i++) {
		struct event_reader *r = &readers[i];

		*r = (struct event_reader){.pass = p, .sink = sink, .number = i};
		r->source = source_worker_new(p->source);
		r->encoder = row_encoder_new(p->plan);
		row_encoder_account(r->encoder, &p->budget);
		r->records = mem_calloc(n, sizeof *r->records);
		r->batches = mem_calloc(n, sizeof *r->batches);
		r->rooms = mem_calloc(n, sizeof *r->rooms);
		r->filtered = mem_calloc(n, sizeof *r->filtered);
	}
	return readers;
}

/* Add up the counts of the threads, and free the threads' memory. */
static void readers_end(struct pass *p, struct event_reader *readers)
{
	for (unsigned i = 0; i < threads_of(p); i++) {
		struct event_reader *r = &readers[i];
		struct source_counts c;

		source_worker_counts(r->source, &c);
		p->events += c.events;
		p->blank_lines += c.blank_lines;
		p->rejected_lines += c.rejected_lines;
		p->filtered_lines += r->filtered_lines + c.filtered_lines;
		int64_t newest_ms = row_encoder_newest(r->encoder);
		if (newest_ms > p->newest_ms)
			p->newest_ms = newest_ms;
		finer_times_add(&p->finer, row_encoder_finer(r->encoder));
		for (size_t t = 0; t < p->opt.job->ntables; t++) {
			p->tables[t].filtered += r->filtered[t] + c.filtered;
			buf_release(&r->rooms[t]);
		}
		source_worker_free(r->source);
		row_encoder_free(r->encoder);
		mem_free(r->records);
		mem_free(r->batches);
		mem_free(r->rooms);
		mem_free(r->filtered);
	}
	p->rejected = rejects_count(p->rejects);
	mem_free(readers);
}

/*
 * Find the cause of a failure. Prefer the sink's error to the errors of threads that the sink
 * stopped.
 */
static void find_cause(const struct pass *p, const struct event_reader *readers, struct error *err)
{
	for (unsigned i = threads_of(p); i-- > 0;)
		if (readers[i].fatal.code)
			*err = readers[i].fatal;
}

int readers_run(struct pass *p, const struct record_sink *sink, struct error *err)
{
	struct event_reader *readers = readers_new(p, sink);
	int rc = pool_run(threads_of(p), threads_of(p), read_task, readers, err);

	if (rc)
		find_cause(p, readers, err);
	readers_end(p, readers);
	return rc ? err->code : pass_judge(p, err);
}
