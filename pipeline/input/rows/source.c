/*
 * source.c - cut inputs into pieces, which any number of workers parse
 *
 * A worker takes the lock, reads about `piece_bytes` after the rest of the last piece, and cuts
 * after the last row end. A piece always starts at the start of a row. So the cut is exact for any
 * quoting and any malformed row, unlike speculative borders (Ge et al., SIGMOD 2019). Under the
 * lock, a worker reads, decompresses, computes the digest and counts lines, which costs a fraction
 * of parsing. Workers parse and run the sink without the lock.
 */
#include "source.h"

#include <stdio.h>

#include "blocks.h"
#include "cursor.h"
#include "input/messages.h"
#include "pool.h"
#include "worker.h"

#define PIECE_BYTES ((size_t)1 << 20)
/* piece size for a share of the input, small because many pieces make the estimate reliable */
#define SHARE_PIECE_BYTES ((size_t)64 << 10)
#define ALONE_PIECES	  4
#define BLOCK_SHARE	  32 /* a block may have this fraction of a quarter of --memory */
/* a long row exists in the piece, in the bytes read after it, and in the record */
#define ALONE_COPIES 3

static int check_files(struct source *s, struct error *err)
{
	const struct source_feed *feed = s->input->feed;
	size_t nstandard = 0;
	bool known = true;
	int rc;

	if (feed) {
		s->files[0].size = feed->bytes;
		s->bytes_total = feed->bytes == UINT64_MAX ? 0 : feed->bytes;
		return RC_OK;
	}
	for (size_t i = 0; i < s->nfiles; i++) {
		struct source_file *file = &s->files[i];

		rc = input_check(file->path, &s->stamps[i], err);
		if (rc)
			return rc;
		file->size = s->stamps[i].size;
		nstandard += strcmp(file->path, "-") == 0;
		known = known && s->stamps[i].regular;
		s->bytes_total += file->size;
	}
	if (!known)
		s->bytes_total = 0;
	if (nstandard > 1)
		return error_set(err, RC_CONFIG,
				 "found `-` (standard input) %zu times, "
				 "expected it once",
				 nstandard);
	return RC_OK;
}

/* Open and check all files but streams. The first file stays open. */
static int begin(struct source *s, struct error *err)
{
	int rc = cursor_open(s, &s->cursor, 0, err);

	if (rc == RC_OK)
		rc = slice_begin(s, &s->cursor, err);
	if (rc == RC_OK && s->by_name && s->input->slice)
		return error_set(err, RC_CONFIG,
				 "found `columns: by_name` and a slice of a file, expected whole "
				 "files, because the columns depend on all headers");
	for (size_t i = 1; rc == RC_OK && i < s->nfiles; i++) {
		struct cursor look = {0};

		if (s->stamps[i].regular)
			rc = cursor_open(s, &look, i, err);
		cursor_close(&look);
	}
	s->opened = true;
	for (size_t i = 0; rc == RC_OK && s->by_name && i < s->nfiles; i++)
		if (i == 0 || s->stamps[i].regular)
			rc = by_name_check(s, i, err);
	return rc;
}

/*
 * Return the size from which the source handles pieces one at a time. Blocks are longer than rows,
 * and memory is large enough for a block in each thread, so their limit is higher.
 */
static size_t alone_bytes(const struct source *s, const struct source_options *options)
{
	enum source_kind kind = options->job->source;
	size_t bytes = ALONE_PIECES * s->piece_bytes;
	uint64_t share = options->row_bytes ? options->row_bytes / BLOCK_SHARE : SIZE_MAX;

	if (kind != SOURCE_AVRO && kind != SOURCE_ARROW)
		return bytes;
	return share > bytes ? (size_t)share : bytes;
}

static int open_messages(struct source **out, const struct source_options *options,
			 struct error *err)
{
	struct messages *m;
	int rc = messages_open(&m, options, err);

	if (rc)
		return rc;
	*out = mem_calloc(1, sizeof **out);
	(*out)->messages = m;
	return RC_OK;
}

static void take_files(struct source *s, size_t n)
{
	s->nfiles = n;
	s->files = arena_alloc(&s->arena, (n + 1) * sizeof *s->files);
	s->stamps = arena_alloc(&s->arena, (n + 1) * sizeof *s->stamps);
	s->rows = arena_alloc(&s->arena, (n + 1) * sizeof *s->rows);
}

static int name_files(struct source *s, const char *const *names, size_t n, struct error *err)
{
	const struct source_feed *feed = s->input->feed;
	const char **paths;
	size_t npaths;
	int rc = paths_expand(&s->arena, names, n, &paths, &npaths, err);

	if (rc)
		return rc;
	if (feed && (npaths != 1 || strcmp(paths[0], "-") != 0))
		return error_set(
			err, RC_CONFIG,
			"--name, --bytes, --offset and --size describe standard input; expected "
			"`-` as the only input");
	take_files(s, npaths);
	for (size_t i = 0; i < npaths; i++)
		s->files[i].path = feed ? feed->name : paths[i];
	return RC_OK;
}

/* Use the known names and sizes of files that this process does not open. */
static void name_known(struct source *s)
{
	const struct source_inputs *k = s->input->known;

	take_files(s, k->ninputs);
	for (size_t i = 0; i < s->nfiles; i++) {
		s->files[i].path = k->inputs[i].path;
		s->files[i].size = k->inputs[i].size;
	}
	s->columns = arena_alloc(&s->arena, (k->ncolumns + 1) * sizeof *s->columns);
	for (s->ncolumns = 0; s->ncolumns < k->ncolumns; s->ncolumns++)
		s->columns[s->ncolumns] = arena_strdup(&s->arena, k->columns[s->ncolumns]);
}

static int open_files(struct source *s, const struct job *job, struct error *err)
{
	const struct input *in = s->input;
	int rc = in->nfiles ? name_files(s, in->files, in->nfiles, err)
			    : name_files(s, s->csv->files, s->csv->nfiles, err);

	if (rc == RC_OK && s->csv->by_name)
		s->by_name = arena_alloc(&s->arena, (s->nfiles + 1) * sizeof *s->by_name);
	if (rc == RC_OK && job->source == SOURCE_JSON)
		rc = lines_open(s, job, err);
	if (rc == RC_OK && job->source == SOURCE_AVRO)
		rc = avro_open(s, job, err);
	if (rc == RC_OK && job->source == SOURCE_ARROW)
		rc = arrow_open(s, job, err);
	if (rc == RC_OK)
		rc = check_files(s, err);
	if (rc == RC_OK)
		rc = slice_open(s, job, err);
	if (rc == RC_OK)
		rc = origins_check(s, job, err);
	if (rc == RC_OK)
		rc = begin(s, err);
	s->counts_rows = rc == RC_OK && !s->blocks && job_reads(job, ORIGIN_ROW);
	if (s->counts_rows)
		count_open(s);
	return rc;
}

int source_open(struct source **out, const struct source_options *options, struct error *err)
{
	const struct input *in = options->input;
	bool of_files = in->slice || in->columns_file || in->feed;

	if (options->job->source == SOURCE_KAFKA && of_files)
		return error_set(err, RC_CONFIG,
				 "--slice, --columns and --bytes: found a kafka source, "
				 "expected files");
	if (options->job->source == SOURCE_KAFKA)
		return open_messages(out, options, err);
	const struct csv_source *csv = &options->job->csv;
	if (!in->known && in->nfiles + csv->nfiles == 0)
		return error_set(err, RC_CONFIG, "found no input files, expected at least one");
	struct source *s = mem_calloc(1, sizeof *s);
	pthread_mutex_init(&s->lock, NULL);
	s->input = in;
	s->csv = csv;
	s->job = options->job;
	s->libcsv_only = options->libcsv_only;
	s->fraction = options->fraction > 0 ? options->fraction : 1;
	s->piece_bytes = options->piece_bytes ? options->piece_bytes : PIECE_BYTES;
	if (s->fraction < 1 && s->piece_bytes > SHARE_PIECE_BYTES)
		s->piece_bytes = SHARE_PIECE_BYTES;
	s->alone_bytes = alone_bytes(s, options);
	s->budget = options->budget;
	/* lengths in struct column have 32 bits */
	s->max_row_bytes = csv->max_row_bytes < UINT32_MAX ? csv->max_row_bytes : UINT32_MAX;
	if (options->row_bytes && options->row_bytes < s->max_row_bytes) {
		s->max_row_bytes = options->row_bytes;
		s->row_by_memory = true;
	}
	csv_open(&s->cutter, csv, s->libcsv_only);
	csv_skip(&s->cutter, csv->skip_matching);
	if (!csv->header || csv->replace) {
		s->ncolumns = csv->ncolumns;
		s->columns = csv->columns;
	}
	int rc = RC_OK;
	if (in->known)
		name_known(s);
	else
		rc = open_files(s, options->job, err);
	if (rc) {
		source_close(s);
		return rc;
	}
	*out = s;
	return RC_OK;
}

void source_close(struct source *s)
{
	if (!s)
		return;
	if (s->messages) {
		messages_close(s->messages);
		mem_free(s);
		return;
	}
	cursor_close(&s->cursor);
	csv_close(&s->cutter);
	if (s->counts_rows)
		csv_close(&s->counter);
	if (s->blocks)
		s->blocks->close(s);
	json_walk_close(&s->walk);
	decoding_free(s->json);
	pthread_mutex_destroy(&s->lock);
	places_release(&s->places);
	slice_release(&s->slice);
	arena_release(&s->arena);
	mem_free(s);
}

const char *const *source_columns(const struct source *s, size_t *n)
{
	if (s->messages)
		return messages_columns(s->messages, n);
	*n = s->ncolumns;
	return s->columns;
}

const struct source_file *source_files(struct source *s, size_t *n)
{
	if (s->messages)
		return messages_files(s->messages, n);
	for (size_t i = 0; i < s->nfiles; i++)
		s->files[i].rows = atomic_load(&s->rows[i]);
	*n = s->nfiles;
	return s->files;
}

const struct offset_range *source_ranges(struct source *s, size_t *n)
{
	*n = 0;
	return s->messages ? messages_ranges(s->messages, n) : NULL;
}

double source_share(struct source *s)
{
	if (s->messages)
		return messages_share(s->messages);
	pthread_mutex_lock(&s->lock);
	double share = s->cut_bytes ? (double)s->taken_bytes / (double)s->cut_bytes : 1;
	pthread_mutex_unlock(&s->lock);
	return share;
}

void source_progress(const struct source *s, uint64_t *bytes_done, uint64_t *bytes_total)
{
	*bytes_total = 0;
	if (s->messages) {
		messages_progress(s->messages, bytes_done);
		return;
	}
	*bytes_done = atomic_load_explicit(&s->bytes_done, memory_order_relaxed);
	*bytes_total = s->bytes_total;
}

static void open_reader(struct source_worker *w)
{
	const struct source *s = w->source;

	csv_open(&w->reader, s->csv, s->libcsv_only);
	csv_expect(&w->reader, s->ncolumns, s->max_row_bytes);
	csv_skip(&w->reader, s->csv->skip_matching);
}

size_t source_schema_values(struct source *s, const struct schema_value **found, size_t *left_out)
{
	struct schema_values v = {.arena = &s->arena};

	if (s->blocks)
		s->blocks->values(s, &v);
	buf_release(&v.path);
	*found = v.item;
	*left_out = v.left_out;
	return v.n;
}

struct source_worker *source_worker_new(struct source *s)
{
	struct source_worker *w = mem_calloc(1, sizeof *w);

	if (s->messages) {
		w->messages = messages_worker_new(s->messages);
		return w;
	}
	w->source = s;
	if (s->blocks)
		w->own = s->blocks->worker_new(s);
	else if (s->json)
		w->json = decoder_new(s->json);
	if (s->json)
		w->made = made_rows_new(s->ncolumns, !s->blocks);
	documents_worker_open(w);
	open_reader(w);
	if (s->by_name)
		w->ordered = mem_calloc(s->ncolumns + 1, sizeof *w->ordered);
	return w;
}

int source_read_through(struct source *s, const struct source_sink *sink, struct error *err)
{
	struct source_worker *w = source_worker_new(s);
	int rc;

	do
		rc = source_work(w, sink, err);
	while (rc == RC_OK);
	source_worker_free(w);
	return rc == RC_END ? RC_OK : rc;
}

int source_read_once(const struct source_options *options, const struct source_sink *sink,
		     struct error *err)
{
	struct source *s;
	int rc = source_open(&s, options, err);

	if (rc)
		return rc;
	rc = source_read_through(s, sink, err);
	source_close(s);
	return rc;
}

void source_worker_free(struct source_worker *w)
{
	if (!w)
		return;
	messages_worker_free(w->messages);
	if (w->own)
		w->source->blocks->worker_free(w->own);
	decoder_free(w->json);
	decoder_free(w->meta);
	mem_free(w->pair);
	buf_release(&w->name);
	made_rows_free(w->made);
	pattern_scratch_release(&w->skip);
	csv_close(&w->reader);
	mem_free(w->ordered);
	buf_release(&w->piece);
	mem_free(w);
}

/* Close the current file after all of its rows have gone to workers. */
static void next_file(struct source *s)
{
	struct source_file *file = &s->files[s->current];
	struct cursor *c = &s->cursor;

	file->size = c->in.raw_read;
	input_digest(&c->in, file->digest);
	if (s->current == 0)
		slice_end(s, c);
	s->bytes_before += file->size;
	atomic_store_explicit(&s->bytes_done, s->bytes_before, memory_order_relaxed);
	s->seq_base += s->blocks ? c->ranks : c->offset;
	cursor_close(c);
	s->current++;
}

/*
 * Fill `w->piece` with the next whole rows of the current file. The piece stays empty at the end of
 * the file.
 */
static int cut_piece(struct source *s, struct source_worker *w, struct error *err)
{
	struct cursor *c = &s->cursor;
	struct buf *piece = &w->piece;
	bool limit = false;
	size_t cut = 0;

	piece->len = 0;
	if (c->rest.len >
	    /* after a long row, swap the buffers to avoid a copy and a second large buffer */
	    s->piece_bytes) {
		struct buf swap = *piece;
		*piece = c->rest;
		c->rest = swap;
	} else {
		buf_append(piece, c->rest.ptr, c->rest.len);
		c->rest.len = 0;
	}
	do {
		size_t want = source_more_bytes(s, piece->len);
		int rc = cursor_more(c, piece, want, err);

		if (rc)
			return rc;
		atomic_store_explicit(&s->bytes_done, s->bytes_before + c->in.raw_read,
				      memory_order_relaxed);
		cut = cursor_whole(s, &s->cutter, c, piece, &limit);
		if (limit)
			return source_long_row(s, s->current, c->line, c->offset, err);
	} while (cut == 0 && !c->eof);
	cut = slice_cut(s, c, piece->ptr, cut);
	buf_append(&c->rest, piece->ptr + cut, piece->len - cut);
	piece->len = cut;
	w->file = s->current;
	w->line = c->line;
	w->offset = c->offset;
	w->seq = s->seq_base + c->offset;
	places_note(&s->places, &(struct place){w->seq, w->line, w->offset, w->file});
	w->row = c->rows;
	c->rows += s->counts_rows ? count_rows(s, piece) : 0;
	c->line += csv_lines(piece->ptr, cut);
	c->offset += cut;
	return RC_OK;
}

static int take_piece_locked(struct source *s, struct source_worker *w, struct error *err)
{
	int rc;

	for (;;) {
		if (s->failure.code != 0) {
			*err = s->failure;
			return err->code;
		}
		if (s->current == s->nfiles)
			return RC_END;
		rc = stop_check(err);
		if (rc == RC_OK && !s->cursor.open)
			rc = cursor_open(s, &s->cursor, s->current, err);
		w->piece.len = 0;
		if (rc == RC_OK && slice_done(s, &s->cursor))
			rc = slice_finish(s, &s->cursor, err);
		else if (rc == RC_OK && (!s->cursor.eof || s->cursor.rest.len > 0))
			rc = s->blocks	    ? blocks_cut(s, w, err)
			     : s->documents ? documents_cut(s, w, err)
					    : cut_piece(s, w, err);
		if (rc == RC_OK && s->blocks && w->piece.len == 0)
			rc = s->blocks->ended(s, &s->cursor, err);
		if (rc == RC_OK && s->documents && w->piece.len == 0)
			rc = documents_ended(s, err);
		if (rc) {
			s->failure = *err;
			return rc;
		}
		if (w->piece.len > 0)
			return RC_OK;
		next_file(s);
	}
}

/*
 * Take the next piece of the wanted share. Take the first piece. After that, take a piece whenever
 * the taken pieces are fewer than the share.
 */
static int take_wanted_locked(struct source *s, struct source_worker *w, struct error *err)
{
	int rc;

	do {
		rc = take_piece_locked(s, w, err);
		s->cut_bytes += rc == RC_OK ? w->piece.len : 0;
	} while (rc == RC_OK && (double)s->taken > (double)s->cut++ * s->fraction);
	s->taken_bytes += rc == RC_OK ? w->piece.len : 0;
	w->number = s->taken++;
	return rc;
}

/* Record the failure, so that the other workers end too. */
static int fail(struct source *s, bool locked, int code, const char *sentence)
{
	if (!locked)
		pthread_mutex_lock(&s->lock);
	if (s->failure.code == 0)
		error_set(&s->failure, code, "%s", sentence);
	if (!locked)
		pthread_mutex_unlock(&s->lock);
	return code;
}

uint64_t source_worker_piece(const struct source_worker *w)
{
	return w->number;
}

/* Parse a piece and pass its events. `locked` is true if the caller holds the source's lock. */
static int work_on_piece(struct source_worker *w, bool locked, const struct source_sink *sink,
			 struct error *err)
{
	struct source *s = w->source;
	uint64_t rows = 0;
	bool fatal = false;
	int rc;

	buf_reserve(&w->piece, CSV_SLACK);
	if (s->blocks)
		rc = s->blocks->work(w, sink, &rows, err);
	else if (s->json)
		rc = work_on_lines(w, sink, &rows, err);
	else
		rc = work_on_rows(w, sink, &rows, &fatal, err);
	if (fatal)
		return fail(s, locked, rc, err->msg);
	w->counts.events += rows;
	atomic_fetch_add(&s->rows[w->file], rows);
	if (rc)
		return fail(s, locked, rc,
			    stop_flag ? "stopped by a signal"
				      : "the load stops because another thread could not process "
					"its rows");
	return RC_OK;
}

/* Free the copies of a long row, which the worker would otherwise keep. */
static void drop_large(struct source_worker *w)
{
	uint64_t blank_lines = w->reader.blank_lines;

	buf_release(&w->piece);
	csv_close(&w->reader);
	open_reader(w);
	w->reader.blank_lines = blank_lines;
}

/*
 * Work on a piece with a long row under the lock, so that memory holds one such row, not one per
 * thread.
 */
static int work_alone(struct source_worker *w, const struct source_sink *sink, struct error *err)
{
	struct source *s = w->source;
	uint64_t held = ALONE_COPIES * (uint64_t)w->piece.len;

	if (s->budget)
		budget_force(s->budget, held);
	int rc = work_on_piece(w, true, sink, err);
	drop_large(w);
	if (s->budget)
		budget_give(s->budget, held);
	return rc;
}

int source_work(struct source_worker *w, const struct source_sink *sink, struct error *err)
{
	struct source *s = w->source;

	if (w->messages)
		return messages_work(w->messages, sink, err);
	pthread_mutex_lock(&s->lock);
	int rc = take_wanted_locked(s, w, err);
	bool alone = rc == RC_OK && w->piece.len > s->alone_bytes;
	if (alone)
		rc = work_alone(w, sink, err);
	pthread_mutex_unlock(&s->lock);
	return rc != RC_OK || alone ? rc : work_on_piece(w, false, sink, err);
}
