/*
 * stages.c - measures each stage of a load by itself, on one thread
 *
 *   stages run CSV JOB FOLDER HFILE...   time every stage; a line of JSON each
 *   stages digest SKIP HFILE...          rows, cells and an order-free digest of the cells, without
 *                                        the first SKIP bytes of their row keys
 *   stages blocks HFILE...               time decompressing and decoding all data blocks
 *
 * A stage runs in saltmill's own code ("own"). For comparison, it runs in code for
 * conf/ratings.yaml or in the library alone ("limit"). CSV is a file of ratings, JOB
 * conf/ratings.yaml, the HFILEs the files of a load of CSV, FOLDER a folder for output. The time of
 * a stage excludes the preparation of its input.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <zstd.h>

#include "blocks.h"
#include "digest.h"
#include "hfile.h"
#include "io.h"
#include "limits.h"
#include "mem.h"
#include "pipeline/hfile/block.h"
#include "pipeline/hfile/bloom.h"
#include "pipeline/hfile/compress.h"
#include "source.h"
#include "row.h"
#include "rows.h"
#include "sorter.h"

enum { BATCH = 256, ZSTD_LEVEL = 3, BLOCK_BYTES = 65536, CELLS_MAX = 64, WRITE_BYTES = 1 << 20 };

struct bench {
	const char *csv, *folder;
	char **files;
	size_t nfiles;
	struct job job;
	struct source *source;
	struct row_plan *plan;
	struct row_encoder *encoder;
	bool keep; /* encoded records, in rows */
	struct rows rows;
	struct buf batch;
	struct error err;
};

/* --- time --- */

struct watch {
	double wall, cpu, user; /* `user` is exact to 4 ms, and the others are exact */
};

static double clock_now(clockid_t which)
{
	struct timespec t;

	clock_gettime(which, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct watch now(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return (struct watch){clock_now(CLOCK_MONOTONIC), clock_now(CLOCK_THREAD_CPUTIME_ID),
			      (double)u.ru_utime.tv_sec + (double)u.ru_utime.tv_usec / 1e6};
}

static void since(struct watch *sum, struct watch start)
{
	struct watch end = now();

	sum->wall += end.wall - start.wall;
	sum->cpu += end.cpu - start.cpu;
	sum->user += end.user - start.user;
}

static void report(const char *stage, const char *form, struct watch w, uint64_t bytes)
{
	printf("{\"stage\": \"%s\", \"form\": \"%s\", \"wall\": %.4f, \"cpu\": %.4f, "
	       "\"bytes\": %llu}\n",
	       stage, form, w.wall, w.cpu, (unsigned long long)bytes);
	fflush(stdout);
}

static int fail(const struct bench *b)
{
	fprintf(stderr, "stages: %s\n", b->err.msg);
	return 1;
}

/* --- read, parse, encode --- */

static int encode_event(void *ctx, const struct event *ev, struct reject *why)
{
	struct bench *b = ctx;
	struct record r;
	int rc = row_encode(b->encoder, ev, &r, why);

	if (rc == RC_OK && b->keep)
		keep_record(&b->rows, &r, row_secondary_bytes(b->plan, 0));
	return rc;
}

/* Reads and parses as the load does. */
static int encode_rows(void *ctx, const struct event_rows *rows, bool *taken)
{
	struct bench *b = ctx;
	struct record_batch out = {0};
	size_t bytes = row_batch_bytes(b->encoder, 0, rows),
	       secondary_bytes = row_secondary_bytes(b->plan, 0);

	if (bytes == 0)
		return RC_OK;
	out.to = buf_reserve(&b->batch, bytes + RECORD_SLACK);
	*taken = row_encode_batch(b->encoder, rows, &out);
	for (size_t i = 0; *taken && b->keep && i < rows->n; i++) {
		struct record r = record_of_batch(&out, i, secondary_bytes);

		keep_record(&b->rows, &r, secondary_bytes);
	}
	return RC_OK;
}

static int read_csv(struct bench *b, bool encode, struct watch *w)
{
	const char *files[] = {b->csv};
	const struct input input = {.files = files, .nfiles = 1};
	struct source_options so = {.job = &b->job, .input = &input};
	struct source_sink sink = {.ctx = b,
				   .event = encode ? encode_event : NULL,
				   .rows = encode ? encode_rows : NULL};
	size_t ncolumns;
	struct watch start = now();
	int rc = source_open(&b->source, &so, &b->err);

	if (rc)
		return rc;
	const char *const *columns = source_columns(b->source, &ncolumns);
	if (!b->plan) {
		rc = row_plan_new(&b->plan, &b->job, columns, ncolumns, &b->err);
		b->encoder = rc ? NULL : row_encoder_new(b->plan);
	}
	struct source_worker *worker = source_worker_new(b->source);
	while (rc == RC_OK)
		rc = source_work(worker, &sink, &b->err);
	source_worker_free(worker);
	source_close(b->source);
	since(w, start);
	return rc == RC_END ? RC_OK : rc;
}

static int stage_read(struct bench *b)
{
	struct watch tokens = {0}, encode = {0}, kept = {0};
	int rc = read_csv(b, false, &tokens);

	if (rc == RC_OK)
		rc = read_csv(b, true, &encode);
	b->keep = true;
	if (rc == RC_OK)
		rc = read_csv(b, true, &kept);
	report("read and split into fields", "part", tokens, 0);
	report("parse and encode", "own", encode, 0);
	return rc;
}

/* --- sort --- */

/* Cost of reading the kept records. In a load they come from the parser and are still in the cache.
 */
static uint64_t touch_records(const struct rows *rows, struct watch *w)
{
	struct watch start = now();
	uint64_t sum = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct record *r = &rows->record[i];

		sum += r->key.ptr[0] + (r->payload.len ? r->payload.ptr[r->payload.len - 1] : 0u);
	}
	__asm__ volatile("" : : "r"(sum)); /* the compiler would remove an unused sum */
	since(w, start);
	return sum;
}

static struct watch less(struct watch a, struct watch b)
{
	return (struct watch){a.wall - b.wall, a.cpu - b.cpu, a.user - b.user};
}

static int stage_sort(struct bench *b, struct rows *sorted)
{
	struct budget budget = {.limit = UINT64_MAX / 2};
	struct sorter_options so = {.budget = &budget,
				    .temp_dir = b->folder,
				    .threads = 1,
				    .secondary_bytes = row_secondary_bytes(b->plan, 0)};
	struct sorter *s = sorter_new(&so);
	struct watch runs = {0}, merge = {0}, touch = {0}, start;
	struct record_iter it;
	struct record r;
	uint64_t order = touch_records(&b->rows, &touch);
	int rc = RC_OK;

	start = now();
	for (size_t i = 0; rc == RC_OK && i < b->rows.count; i += EVENT_BATCH) {
		size_t left = b->rows.count - i, n = left < EVENT_BATCH ? left : EVENT_BATCH;

		rc = add_records(sorter_builder(s, 0), &b->rows.record[i], n, so.secondary_bytes,
				 &b->err);
	}
	if (rc == RC_OK)
		rc = sorter_finish(s, &b->err);
	since(&runs, start);
	runs = less(runs, touch);
	uint64_t bytes = sorter_totals(s).run_bytes;
	struct bytes all = {0};
	for (int copy = 0; rc == RC_OK && copy < 2; copy++) {
		start = now();
		rc = sorter_range(s, all, all, &it, &b->err);
		while (rc == RC_OK && (rc = it.next(it.self, &r, &b->err)) == RC_OK) {
			order += r.seq;
			if (copy)
				keep_record(sorted, &r, so.secondary_bytes);
		}
		rc = rc == RC_END ? RC_OK : rc;
		if (rc == RC_OK)
			it.close(it.self);
		if (!copy)
			since(&merge, start);
	}
	sorter_free(s);
	report("sort into runs", "part", runs, bytes);
	report("merge runs", "part", merge, order ? bytes : 0);
	report("sort", "own", (struct watch){runs.wall + merge.wall, runs.cpu + merge.cpu, 0},
	       bytes);
	return rc;
}

/* --- expand: rows to blocks, without compression and hashes for the bloom filter --- */

/* Find the qualifiers of the table's one family, and the place of each column among them. */
static int know_columns(struct bench *b, struct bytes *qualifiers, uint16_t *place, size_t *count)
{
	struct row_cell cells[CELLS_MAX];

	*count = 0;
	if (row_max_cells(b->plan, 0) > CELLS_MAX || b->job.tables[0].ncells > CELLS_MAX ||
	    b->job.tables[0].schema.nfamilies > 1 || !row_constant_columns(b->plan, 0))
		return error_set(&b->err, RC_LIMIT,
				 "expected one family and at most %d cells a row, of known columns",
				 CELLS_MAX);
	*count = row_columns(b->plan, 0, cells);
	for (size_t i = 0; i < *count; i++) {
		qualifiers[i] = cells[i].cell.qualifier;
		place[cells[i].column] = (uint16_t)i;
	}
	return RC_OK;
}

static int write_cells(struct bench *b, const struct rows *rows, const char *path,
		       const struct hfile_options *opt, const uint16_t *place, struct watch *w,
		       uint64_t *bytes)
{
	struct row_cell cells[CELLS_MAX];
	struct cell_value values[CELLS_MAX];
	struct hfile_writer *out;
	struct hfile_summary sum = {0};
	struct watch start = now();
	int rc = hfile_writer_new(&out, path, opt, &b->err);

	if (rc)
		return rc;
	for (size_t i = 0; rc == RC_OK && i < rows->count; i++) {
		size_t n = row_cells(b->plan, 0, &rows->record[i], cells);

		for (size_t k = 0; k < n; k++)
			values[k] = (struct cell_value){.ptr = cells[k].cell.value.ptr,
							.len = (uint32_t)cells[k].cell.value.len,
							.column = place[cells[k].column],
							.roomy = true};
		rc = hfile_add_values(out, cells->cell.row, cells->cell.ts, values, n, &b->err);
	}
	since(w, start);
	rc = rc ? rc : hfile_finish(out, &sum, &b->err);
	*bytes = sum.cell_bytes;
	hfile_summary_release(&sum);
	unlink(path);
	return rc;
}

static int append(void *self, const void *ptr, size_t len, struct error *err)
{
	(void)err; /* out_finish reports the error */
	out_write(self, ptr, len);
	return RC_OK;
}

/* Writes the same bytes from finished blocks, which is the writer's work without the expansion. */
static int write_blocks(struct bench *b, const char *path, uint64_t bytes, struct watch *w)
{
	struct hcodec codec = {0};
	struct hblock_out out;
	struct hblock_place place;
	struct out_file file;
	struct buf disk = {0}, block = {0};
	int rc = out_open(&file, path, 0, &b->err);

	if (rc)
		return rc;
	rc = hfile_codec_setup(&codec, CODEC_NONE, LEVEL_DEFAULT, ZSTD_FRAMING_HBASE, &b->err);
	const struct hfile_sink sink = {.name = path, .append = append, .self = &file};
	hfile_block_out_init(&out, &sink, &codec, &disk);
	struct watch start = now();
	for (uint64_t done = 0; rc == RC_OK && done < bytes; done += BLOCK_BYTES) {
		rc = hfile_block_begin(&block, BLOCK_BYTES, &b->err);
		if (rc)
			break;
		block.len += BLOCK_BYTES;
		rc = hfile_block_write(&out, HBLOCK_DATA, &block, &place, &b->err);
	}
	since(w, start);
	out_abort(&file);
	hfile_codec_release(&codec);
	buf_release(&disk);
	buf_release(&block);
	return rc;
}

static int stage_expand(struct bench *b, const struct rows *sorted)
{
	struct bytes qualifiers[CELLS_MAX];
	uint16_t place[CELLS_MAX];
	struct hfile_options opt = {.family = bytes_str("f"),
				    .codec = CODEC_NONE,
				    .bloom = BLOOM_NONE,
				    .qualifiers = qualifiers};
	struct watch all = {0}, blocks = {0}, touch = {0};
	uint64_t bytes = 0;
	char *path = mem_format("%s/plain", b->folder);
	int rc = know_columns(b, qualifiers, place, &opt.nqualifiers);

	if (rc == RC_OK)
		rc = write_cells(b, sorted, path, &opt, place, &all, &bytes);
	if (rc == RC_OK)
		rc = write_blocks(b, path, bytes, &blocks);
	mem_free(path);
	touch_records(sorted, &touch);
	/* only user time, because the kernel handles 4 times the bytes of a real load */
	double user = all.user - blocks.user - touch.user;
	report("expand", "own", (struct watch){user, user, user}, bytes);
	return rc;
}

/* --- zstd: the blocks of the load, again --- */

static void compress_batch(struct hcodec *own, ZSTD_CCtx *ctx, const struct buf *blocks, size_t n,
			   struct buf *out, struct watch w[2])
{
	struct error err;
	struct watch start = now();

	for (size_t i = 0; i < n; i++) {
		out->len = 0;
		hfile_codec_compress(own, buf_bytes(&blocks[i]), out, &err);
	}
	since(&w[0], start);
	start = now();
	for (size_t i = 0; i < n; i++) {
		out->len = 0;
		uint8_t *to = buf_reserve(out, ZSTD_compressBound(blocks[i].len));
		ZSTD_compressCCtx(ctx, to, out->cap, blocks[i].ptr, blocks[i].len, ZSTD_LEVEL);
	}
	since(&w[1], start);
}

static int stage_compress(struct bench *b)
{
	struct hcodec own = {0};

	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	struct buf blocks[BATCH] = {0}, out = {0};
	struct watch w[2] = {0};
	struct hfile_block block;
	uint64_t bytes = 0;
	int rc = hfile_codec_setup(&own, CODEC_ZSTD, LEVEL_DEFAULT, ZSTD_FRAMING_HBASE, &b->err);
	for (size_t f = 0; rc == RC_OK && f < b->nfiles; f++) {
		struct hfile *in;
		uint64_t at = 0;

		rc = hfile_open(&in, b->files[f], &b->err);
		if (rc)
			break;
		while (rc == RC_OK) {
			size_t n = 0;

			while (n < BATCH &&
			       (rc = hfile_next_block(in, &at, &block, &b->err)) == RC_OK) {
				blocks[n].len = 0;
				buf_append(&blocks[n++], block.payload.ptr, block.payload.len);
				bytes += block.payload.len;
			}
			compress_batch(&own, ctx, blocks, n, &out, w);
		}
		hfile_close(in);
		rc = rc == RC_END ? RC_OK : rc;
	}
	for (size_t i = 0; i < BATCH; i++)
		buf_release(&blocks[i]);
	buf_release(&out);
	hfile_codec_release(&own);
	ZSTD_freeCCtx(ctx);
	report("zstd", "own", w[0], bytes);
	report("zstd", "limit", w[1], bytes);
	return rc;
}

/* --- bloom: keys to chunks --- */

static int bloom_chunks(struct hbloom *bloom, const struct rows *sorted, struct hblock_out *out,
			struct error *err)
{
	struct bytes none = {0};
	struct buf chunk = {0};
	struct hblock_place place;
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < sorted->count; i++) {
		if (!hfile_bloom_add(bloom, sorted->record[i].key, none))
			rc = error_memory(err, sorted->record[i].key.len, "a bloom filter");
		else if (hfile_bloom_due(bloom, 0, false))
			rc = hfile_bloom_write_chunk(bloom, out, &chunk, &place, err);
	}
	while (rc == RC_OK && hfile_bloom_due(bloom, 0, true))
		rc = hfile_bloom_write_chunk(bloom, out, &chunk, &place, err);
	buf_release(&chunk);
	return rc;
}

static int stage_bloom(struct bench *b, const struct rows *sorted)
{
	struct hbloom bloom;
	struct hcodec codec = {0};
	struct hblock_out out;
	struct out_file file;
	struct buf disk = {0};
	struct watch w = {0};
	char *path = mem_format("%s/bloom", b->folder);
	int rc = out_open(&file, path, 0, &b->err);

	if (rc == RC_OK)
		rc = hfile_codec_setup(&codec, CODEC_NONE, LEVEL_DEFAULT, ZSTD_FRAMING_HBASE,
				       &b->err);
	if (rc == RC_OK) {
		const struct hfile_sink sink = {.name = path, .append = append, .self = &file};

		hfile_block_out_init(&out, &sink, &codec, &disk);
		hfile_bloom_init(&bloom, BLOOM_ROW, 0, 131072, NULL, 0);
		struct watch start = now();
		rc = bloom_chunks(&bloom, sorted, &out, &b->err);
		since(&w, start);
		mem_free(bloom.pending);
		hfile_bloom_release(&bloom);
	}
	out_abort(&file);
	hfile_codec_release(&codec);
	buf_release(&disk);
	mem_free(path);
	report("bloom", "own", w, 0);
	return rc;
}

/* --- write: the bytes of the load to new files, synced --- */

static int write_limit(struct bench *b, const char *path, const struct buf *data)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	size_t at = 0;

	while (fd >= 0 && at < data->len) {
		size_t n = data->len - at < WRITE_BYTES ? data->len - at : WRITE_BYTES;
		ssize_t done = write(fd, data->ptr + at, n);

		if (done < 0)
			break;
		at += (size_t)done;
	}
	if (fd < 0 || at < data->len || fsync(fd) < 0 || close(fd) < 0)
		return error_errno(&b->err, "cannot write %s", path);
	return RC_OK;
}

static int write_own(struct bench *b, const char *path, const struct buf *data)
{
	struct out_file out;
	int rc = out_open(&out, path, 0, &b->err);

	if (rc)
		return rc;
	for (size_t at = 0; at < data->len; at += 1 << 14) /* about a block's compressed size */
		out_write(&out, data->ptr + at,
			  data->len - at < 1 << 14 ? data->len - at : 1 << 14);
	return out_finish(&out, &b->err);
}

static int stage_write(struct bench *b)
{
	struct watch w[2] = {0};
	struct buf data = {0};
	uint64_t bytes = 0;
	char *path = mem_format("%s/copy", b->folder);
	int rc = RC_OK;

	for (size_t f = 0; rc == RC_OK && f < b->nfiles; f++) {
		buf_release(&data);
		rc = io_read_file(b->files[f], &data, &b->err);
		for (int limit = 0; rc == RC_OK && limit < 2; limit++) {
			struct watch start = now();

			rc = limit ? write_limit(b, path, &data) : write_own(b, path, &data);
			since(&w[limit], start);
			unlink(path);
		}
		bytes += data.len;
	}
	buf_release(&data);
	mem_free(path);
	report("write and fsync", "own", w[0], bytes);
	report("write and fsync", "limit", w[1], bytes);
	return rc;
}

/* --- the hard-wired stages --- */

static int stage_limits(struct bench *b)
{
	struct limit_rows rows[LIMIT_SALTS] = {0};
	struct watch encode = {0}, sort = {0}, expand = {0}, bloom = {0}, start = now();
	uint64_t bytes = 0, unsorted = 0;

	if (limit_encode(b->csv, rows))
		return error_set(&b->err, RC_DATA, "%s: not a file of ratings", b->csv);
	since(&encode, start);
	for (int i = 0; i < LIMIT_SALTS; i++) {
		struct limit_row *sorted = mem_alloc((rows[i].count + 1) * sizeof *sorted);

		start = now();
		limit_sort(&rows[i], sorted);
		since(&sort, start);
		for (size_t k = 1; k < rows[i].count; k++)
			if (memcmp(sorted[k - 1].key, sorted[k].key, LIMIT_KEY) > 0)
				unsorted++;
		start = now();
		bytes += limit_expand(sorted, rows[i].count);
		since(&expand, start);
		start = now();
		limit_bloom(sorted, rows[i].count);
		since(&bloom, start);
		mem_free(sorted);
	}
	limit_rows_release(rows);
	if (unsorted)
		return error_set(&b->err, RC_ORDER,
				 "the hard-wired sort left %llu rows out of order",
				 (unsigned long long)unsorted);
	report("parse and encode", "limit", encode, 0);
	report("sort", "limit", sort, 0);
	report("expand", "limit", expand, bytes);
	report("bloom", "limit", bloom, 0);
	return RC_OK;
}

/* --- commands --- */

static int run(struct bench *b, const char *job)
{
	struct rows sorted = {0};
	int rc = job_load(&b->job, job, &b->err);

	if (rc == RC_OK)
		rc = stage_read(b);
	if (rc == RC_OK)
		rc = stage_limits(b);
	if (rc == RC_OK)
		rc = stage_sort(b, &sorted);
	buf_release(&b->batch);
	rows_release(&b->rows);
	if (rc == RC_OK)
		rc = stage_expand(b, &sorted);
	if (rc == RC_OK)
		rc = stage_bloom(b, &sorted);
	rows_release(&sorted);
	if (rc == RC_OK)
		rc = stage_compress(b);
	if (rc == RC_OK)
		rc = stage_write(b);
	row_encoder_free(b->encoder);
	row_plan_free(b->plan);
	job_release(&b->job);
	return rc ? fail(b) : 0;
}

int main(int argc, char **argv)
{
	struct bench b = {0};

	if (argc >= 5 && strcmp(argv[1], "run") == 0) {
		b.csv = argv[2];
		b.folder = argv[4];
		b.files = argv + 5;
		b.nfiles = (size_t)(argc - 5);
		return run(&b, argv[3]);
	}
	if (argc >= 3 && strcmp(argv[1], "digest") == 0) {
		int rc = digest_files(argv + 3, (size_t)(argc - 3), strtoul(argv[2], NULL, 10),
				      &b.err);

		return rc ? fail(&b) : 0;
	}
	if (argc >= 3 && strcmp(argv[1], "blocks") == 0)
		return decode_blocks(argv + 2, (size_t)(argc - 2), &b.err) ? fail(&b) : 0;
	fputs("usage: stages run CSV JOB FOLDER HFILE... | digest SKIP HFILE... | blocks "
	      "HFILE...\n",
	      stderr);
	return 2;
}
