/*
 * test_hfile_scan.c - HFiles written from seeded random cells and read back, damaged files, and
 * files made by HBase
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "hfile.h"
#include "io.h"
#include "mem.h"
#include "tests/unit/temp_dir.h"

#define VALUE_MAX 40

/* splitmix64 */
static uint64_t next_random(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

struct cells {
	struct cell *cell;
	size_t count;
	struct arena arena;
};

static struct bytes random_bytes(struct cells *c, uint64_t *seed, size_t min, size_t max,
				 unsigned alphabet)
{
	size_t n = min + next_random(seed) % (max - min + 1);
	uint8_t *p = arena_alloc(&c->arena, n + 1);

	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(next_random(seed) % alphabet + (alphabet < 256 ? 0x7e : 0));
	return bytes_of(p, n);
}

/* Compare cells in the order of hfile/README.md 3.4, for the test. */
static int cell_order(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;
	int c = bytes_cmp(x->row, y->row);

	if (c == 0)
		c = bytes_cmp(x->qualifier, y->qualifier);
	return c ? c : (x->ts < y->ts) - (x->ts > y->ts);
}

/* Rows of few letters share prefixes. Every 40th cell has the key of the cell before. */
static void make_cells(struct cells *c, size_t count, uint64_t seed)
{
	static uint8_t puts_alike[40];

	memset(puts_alike, CELL_PUT, sizeof puts_alike);
	*c = (struct cells){.cell = mem_calloc(count, sizeof *c->cell), .count = count};
	for (size_t i = 0; i < count; i++) {
		struct cell *k = &c->cell[i];

		k->row = random_bytes(c, &seed, 1, i % 100 == 0 ? 300 : 12, 4);
		k->qualifier = random_bytes(c, &seed, 0, 3, 3);
		k->value = random_bytes(c, &seed, 0, i % 200 == 0 ? 5000 : VALUE_MAX, 256);
		if (next_random(&seed) % 3 == 0)
			k->value.len = k->value.len < 2 ? k->value.len : 2;
		else if (i % 4 == 0) /* these bytes look like the time and the type of a Put */
			k->value = bytes_of(puts_alike, sizeof puts_alike);
		k->ts = (int64_t)(next_random(&seed) >> (1 + next_random(&seed) % 60));
		if (k->ts == INT64_MAX)
			k->ts--;
		k->type = CELL_PUT;
		if (i % 40 == 39) {
			k->row = k[-1].row;
			k->qualifier = k[-1].qualifier;
			k->ts = k[-1].ts;
			k->value = k[-1].value;
		}
	}
	qsort(c->cell, count, sizeof *c->cell, cell_order);
}

static void free_cells(struct cells *c)
{
	mem_free(c->cell);
	arena_release(&c->arena);
}

static void write_cells(const char *path, const struct hfile_options *opt, const struct cells *c,
			struct hfile_summary *sum)
{
	struct hfile_writer *w;
	struct error err;

	unlink(path);
	assert_int_equal(hfile_writer_new(&w, path, opt, &err), 0);
	for (size_t i = 0; i < c->count; i++)
		assert_int_equal(hfile_add(w, &c->cell[i], &err), 0);
	assert_int_equal(hfile_finish(w, sum, &err), 0);
}

/* Writes the same cells, at most 20 cells of a row at once. */
static void write_by_rows(const char *path, const struct hfile_options *opt, const struct cells *c,
			  struct hfile_summary *sum)
{
	struct hfile_writer *w;
	struct cell columns[20];
	struct error err;

	unlink(path);
	assert_int_equal(hfile_writer_new(&w, path, opt, &err), 0);
	for (size_t i = 0, n; i < c->count; i += n) {
		const struct cell *k = &c->cell[i];

		for (n = 0; n < 20 && i + n < c->count && bytes_eq(k->row, k[n].row); n++)
			columns[n] = k[n];
		assert_int_equal(hfile_add_row(w, columns, n, &err), 0);
	}
	assert_int_equal(hfile_finish(w, sum, &err), 0);
}

static void assert_bytes(struct bytes a, struct bytes b)
{
	assert_int_equal(a.len, b.len);
	if (a.len)
		assert_memory_equal(a.ptr, b.ptr, a.len);
}

static void assert_cell(const struct cell *found, const struct cell *expected)
{
	assert_bytes(found->row, expected->row);
	assert_bytes(found->family, bytes_str("fam"));
	assert_bytes(found->qualifier, expected->qualifier);
	assert_bytes(found->value, expected->value);
	assert_true(found->ts == expected->ts);
	assert_int_equal(found->type, expected->type);
}

static void check_walk(struct hfile *f, const struct cells *c)
{
	struct cell cell;
	struct error err;

	hfile_rewind(f);
	for (size_t i = 0; i < c->count; i++) {
		assert_int_equal(hfile_next_cell(f, &cell, &err), 0);
		assert_cell(&cell, &c->cell[i]);
	}
	assert_int_equal(hfile_next_cell(f, &cell, &err), RC_END);
	assert_int_equal(hfile_trailer(f)->entry_count, c->count);
}

/* Returns the relation of a cell to the cell before, computed from the written cells. */
static uint8_t step_of(const struct cell *before, const struct cell *c)
{
	if (!bytes_eq(before->row, c->row))
		return HFILE_NEW_ROW;
	return bytes_eq(before->qualifier, c->qualifier) ? HFILE_SAME_COLUMN : HFILE_NEW_COLUMN;
}

/* Reads the same cells, many at a time. */
static void check_batches(struct hfile *f, const struct cells *c)
{
	struct hfile_batch *b = mem_alloc(sizeof *b);
	struct error err;
	size_t at = 0, longest = 0;

	hfile_rewind(f);
	while (at < c->count) {
		assert_int_equal(hfile_next_batch(f, b, &err), 0);
		assert_in_range(b->n, 1, HFILE_BATCH);
		assert_true(b->plain);
		for (size_t i = 0; i < b->n; i++, at++) {
			assert_true(at < c->count);
			assert_cell(&b->cells[i], &c->cell[at]);
			assert_true(b->cells[i].mvcc == 0 && b->cells[i].tags.len == 0);
			if (i)
				assert_int_equal(b->step[i],
						 step_of(&c->cell[at - 1], &c->cell[at]));
		}
		longest = b->n > longest ? b->n : longest;
	}
	assert_int_equal(hfile_next_batch(f, b, &err), RC_END);
	assert_true(longest > 1 || hfile_trailer(f)->entry_count < 2 ||
		    hfile_trailer(f)->data_index_count > 1);
	mem_free(b);
}

static void check_summary(const struct hfile_summary *a, const struct hfile_summary *b,
			  const struct cells *c)
{
	size_t rows = 0;

	for (size_t i = 0; i < c->count; i++)
		rows += i == 0 || !bytes_eq(c->cell[i].row, c->cell[i - 1].row);
	assert_int_equal(a->rows, rows);
	assert_int_equal(b->rows, rows);
	assert_int_equal(a->cells, b->cells);
	assert_int_equal(a->cell_bytes, b->cell_bytes);
	assert_int_equal(a->file_bytes, b->file_bytes);
	assert_int_equal(a->data_blocks, b->data_blocks);
	assert_true(a->min_ts == b->min_ts && a->max_ts == b->max_ts);
	assert_memory_equal(a->digest, b->digest, 16);
	assert_bytes(buf_bytes(&a->first_row), c->cell[0].row);
	assert_bytes(buf_bytes(&b->first_row), c->cell[0].row);
	assert_bytes(buf_bytes(&a->last_row), c->cell[c->count - 1].row);
	assert_bytes(buf_bytes(&b->last_row), c->cell[c->count - 1].row);
}

static void check_file(const char *path, const struct cells *c, const struct hfile_summary *sum)
{
	struct hfile *f;
	struct hfile_summary found;
	struct error err;

	assert_int_equal(hfile_open(&f, path, &err), 0);
	check_walk(f, c);
	check_batches(f, c);
	hfile_close(f);
	if (hfile_verify(path, &found, &err))
		fail_msg("%s", err.msg);
	check_summary(sum, &found, c);
	hfile_summary_release(&found);
}

static const enum block_encoding encodings[] = {ENCODING_NONE, ENCODING_PREFIX, ENCODING_DIFF,
						ENCODING_FAST_DIFF, ENCODING_ROW_INDEX_V1};
static const enum codec codecs[] = {CODEC_NONE, CODEC_GZ, CODEC_SNAPPY, CODEC_LZ4, CODEC_ZSTD};
static const enum bloom_type blooms[] = {BLOOM_NONE, BLOOM_ROW, BLOOM_ROWCOL, BLOOM_ROWPREFIX};
static const uint32_t block_sizes[] = {1, 700, 65536};

static struct hfile_options options(enum block_encoding e, enum codec codec, enum bloom_type bloom,
				    uint32_t block_bytes)
{
	return (struct hfile_options){.family = bytes_str("fam"),
				      .codec = codec,
				      .level = LEVEL_DEFAULT,
				      .framing = block_bytes == 700 ? ZSTD_FRAMING_HADOOP
								    : ZSTD_FRAMING_HBASE,
				      .encoding = e,
				      .bloom = bloom,
				      .bloom_prefix = 3,
				      .block_bytes = block_bytes,
				      .bloom_block_bytes = 256,
				      .index_block_bytes = 600,
				      .source_task = bytes_str("t")};
}

/* The options read from a file, with the same cells, make the same file. */
static void check_options_of(const struct hfile_options *opt, const struct cells *c,
			     const struct hfile_summary *sum)
{
	struct hfile_options told;
	struct hfile_summary again;
	struct hfile *f;
	struct error err;

	assert_int_equal(hfile_open(&f, path_of("a"), &err), 0);
	hfile_options_of(f, &told);
	/* options that a file does not store */
	told.family = opt->family;
	told.block_bytes = opt->block_bytes;
	told.bloom_block_bytes = opt->bloom_block_bytes;
	told.index_block_bytes = opt->index_block_bytes;
	write_cells(path_of("b"), &told, c, &again);
	hfile_close(f);
	assert_memory_equal(again.digest, sum->digest, sizeof sum->digest);
	hfile_summary_release(&again);
}

static void written_then_read(void **state)
{
	struct hfile_scratch *scratch = hfile_scratch_new();
	struct cells c;

	(void)state;
	make_cells(&c, 1500, 1);
	for (unsigned i = 0; i < 5 * 5 * 4 * 3; i++) {
		struct hfile_options opt = options(encodings[i % 5], codecs[i / 5 % 5],
						   blooms[i / 25 % 4], block_sizes[i / 100]);
		struct hfile_summary sum, again;

		opt.tags = i % 7 == 0;
		opt.mvcc = i % 3 == 0;
		opt.create_ms = 1700000000000 + i;
		opt.bulkload_ms = i;
		write_cells(path_of("a"), &opt, &c, &sum);
		check_file(path_of("a"), &c, &sum);
		check_options_of(&opt, &c, &sum);
		/* The same cells give the same bytes, with a shared scratch and when written by
		 * rows. */
		opt.scratch = scratch;
		write_by_rows(path_of("a"), &opt, &c, &again);
		check_summary(&sum, &again, &c);
		hfile_summary_release(&sum);
		hfile_summary_release(&again);
	}
	hfile_scratch_free(scratch);
	free_cells(&c);
}

/* Two writers are open at once on one scratch, with different codecs and levels. */
static void shared_scratch(void **state)
{
	struct hfile_scratch *scratch = hfile_scratch_new();
	struct hfile_options opt[2] = {options(ENCODING_NONE, CODEC_ZSTD, BLOOM_ROW, 700),
				       options(ENCODING_DIFF, CODEC_GZ, BLOOM_ROWCOL, 900)};
	const char *names[] = {"s0", "s1"};
	struct hfile_writer *w[2];
	struct hfile_summary alone, sum;
	struct error err;
	struct cells c;

	(void)state;
	make_cells(&c, 2000, 5);
	for (int i = 0; i < 2; i++) {
		opt[i].scratch = scratch;
		assert_int_equal(hfile_writer_new(&w[i], path_of(names[i]), &opt[i], &err), 0);
	}
	for (size_t i = 0; i < c.count; i++)
		for (int k = 0; k < 2; k++)
			assert_int_equal(hfile_add(w[k], &c.cell[i], &err), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(hfile_finish(w[i], &sum, &err), 0);
		check_file(path_of(names[i]), &c, &sum);
		opt[i].scratch = NULL;
		write_cells(path_of("alone"), &opt[i], &c, &alone);
		check_summary(&alone, &sum, &c);
		hfile_summary_release(&sum);
		hfile_summary_release(&alone);
	}
	hfile_scratch_free(scratch);
	free_cells(&c);
}

/* index block size -> levels of 3000 cells in blocks of one cell each */
static const struct {
	uint32_t index_bytes, min_entries, levels;
} trees[] = {{1u << 20, 16, 1}, {50000, 16, 2}, {1500, 16, 3}, {300, 2, 4}, {150, 2, 0}};

static int seek_row(struct hfile *f, struct bytes row)
{
	struct bytes none = {NULL, 0};
	struct cell first = cell_first(row, none, none);
	struct error err;

	return hfile_seek(f, &first, &err);
}

static void check_seeks(struct hfile *f, const struct cells *c)
{
	struct cell cell;
	struct error err;
	size_t first = 0;

	for (size_t i = 0; i < c->count; i++) {
		if (i && bytes_eq(c->cell[i].row, c->cell[i - 1].row))
			continue;
		/* the row itself, the row's shortest successor, and the key just after the row
		 * before */
		first = i;
		assert_int_equal(seek_row(f, c->cell[i].row), 0);
		assert_int_equal(hfile_next_cell(f, &cell, &err), 0);
		assert_cell(&cell, &c->cell[first]);
		if (i == 0)
			continue;
		struct buf between = {0};
		buf_append(&between, c->cell[i - 1].row.ptr, c->cell[i - 1].row.len);
		buf_put(&between, 0);
		assert_int_equal(seek_row(f, buf_bytes(&between)), 0);
		assert_int_equal(hfile_next_cell(f, &cell, &err), 0);
		assert_cell(&cell, &c->cell[first]);
		buf_release(&between);
	}
	assert_int_equal(seek_row(f, bytes_str("\xff")), 0);
	assert_int_equal(hfile_next_cell(f, &cell, &err), RC_END);
	assert_int_equal(seek_row(f, bytes_str("")), 0);
	assert_int_equal(hfile_next_cell(f, &cell, &err), 0);
	assert_cell(&cell, &c->cell[0]);
}

static void index_trees(void **state)
{
	struct cells c;

	(void)state;
	make_cells(&c, 3000, 2);
	for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
		struct hfile_options opt = options(ENCODING_NONE, CODEC_NONE, BLOOM_NONE, 1);
		struct hfile_summary sum;
		struct hfile *f;
		struct error err;

		opt.index_block_bytes = trees[i].index_bytes;
		opt.index_min_entries = trees[i].min_entries;
		write_cells(path_of("tree"), &opt, &c, &sum);
		check_file(path_of("tree"), &c, &sum);
		assert_int_equal(hfile_open(&f, path_of("tree"), &err), 0);
		if (trees[i].levels)
			assert_int_equal(hfile_trailer(f)->index_levels, trees[i].levels);
		else
			assert_true(hfile_trailer(f)->index_levels > 4);
		struct hfile_index_entry e;
		for (uint32_t k = 0; k < hfile_trailer(f)->data_index_count; k++)
			assert_int_equal(hfile_root_entry(f, k, &e), 0);
		assert_int_equal(hfile_root_entry(f, hfile_trailer(f)->data_index_count, &e),
				 RC_END);
		check_seeks(f, &c);
		hfile_close(f);
		hfile_summary_release(&sum);
	}
	free_cells(&c);
}

/* The filter finds each key of the file. The filter reports less than 2 % of 20,000 absent keys as
 * present.
 */
static void bloom_answers(void **state)
{
	struct cells c;

	(void)state;
	make_cells(&c, 20000, 3);
	for (size_t i = 1; i < 4; i++) {
		struct hfile_options opt = options(ENCODING_NONE, CODEC_NONE, blooms[i], 65536);
		struct hfile_summary sum;
		struct hfile *f;
		struct hfile_bloom bloom;
		struct error err;
		bool found;
		uint64_t seed = 99, wrong = 0;

		opt.bloom_block_bytes = i == 1 ? 0 : 1000;
		write_cells(path_of("bloom"), &opt, &c, &sum);
		assert_int_equal(hfile_open(&f, path_of("bloom"), &err), 0);
		hfile_bloom(f, &bloom);
		assert_true(bloom.present && bloom.type == blooms[i]);
		assert_int_equal(bloom.chunks > 1, i == 2);
		for (size_t k = 0; k < c.count; k++) {
			const struct cell *x = &c.cell[k];

			assert_int_equal(hfile_may_contain(f, x->row, x->qualifier, &found, &err),
					 0);
			assert_true(found);
		}
		for (int k = 0; k < 20000; k++) {
			/* the bytes of no row */
			uint64_t row = next_random(&seed) & ~UINT64_C(0x80);

			assert_int_equal(hfile_may_contain(f, bytes_of(&row, 8), bytes_str("a"),
							   &found, &err),
					 0);
			wrong += found;
		}
		assert_true(wrong < 400);
		hfile_close(f);
		hfile_summary_release(&sum);
	}
	free_cells(&c);
}

static void write_damaged(const struct buf *file, size_t at, uint8_t flip)
{
	struct error err;

	file->ptr[at] ^= flip;
	unlink(path_of("damaged"));
	assert_int_equal(io_write_file(path_of("damaged"), buf_bytes(file), &err), 0);
	file->ptr[at] ^= flip;
}

/* The scan detects each changed byte. */
static void damage_noticed(void **state)
{
	struct cells c;
	uint64_t seed = 4;

	(void)state;
	make_cells(&c, 300, 6);
	for (size_t i = 0; i < 25; i++) {
		struct hfile_options opt = options(encodings[i % 5], codecs[i / 5], BLOOM_ROW, 700);
		struct hfile_summary sum;
		struct buf file = {0};
		struct error err;

		write_cells(path_of("whole"), &opt, &c, &sum);
		hfile_summary_release(&sum);
		assert_int_equal(io_read_file(path_of("whole"), &file, &err), 0);
		for (int k = 0; k < 60; k++) {
			/* also in the trailer's message and its last bytes */
			size_t at = (size_t)(next_random(&seed) % file.len);

			if (k % 3 == 0)
				at = file.len - 4096 + next_random(&seed) % 85;
			if (k % 15 == 0)
				at = file.len - 1 - next_random(&seed) % 4;
			write_damaged(&file, at, (uint8_t)(1 + next_random(&seed) % 255));
			if (hfile_verify(path_of("damaged"), &sum, &err) == 0)
				fail_msg("byte %zu of %zu", at, file.len);
			assert_non_null(strstr(err.msg, "damaged"));
		}
		buf_release(&file);
	}
	free_cells(&c);
}

/* Counts the blocks and their errors. Returns the offset of the third block. */
static uint64_t walk_blocks(const char *path, unsigned *blocks, unsigned *errors)
{
	struct hfile *f;
	struct hfile_block b;
	struct error err;
	uint64_t at = 0, third = 0;

	*blocks = *errors = 0;
	assert_int_equal(hfile_open(&f, path, &err), 0);
	for (int rc; (rc = hfile_next_block(f, &at, &b, &err)) != RC_END; ++*blocks) {
		*errors += rc == RC_DATA;
		third = *blocks == 2 ? b.offset : third;
		assert_true(*blocks < 1000);
	}
	hfile_close(f);
	return third;
}

/* After a damaged block, the walk goes on, and its end does not report the number of blocks again. */
static void walk_after_damage(void **state)
{
	const struct hfile_options opt = options(ENCODING_NONE, CODEC_NONE, BLOOM_ROW, 700);
	struct cells c;
	struct hfile_summary sum;
	struct buf file = {0};
	struct error err;
	unsigned blocks, errors, after;

	(void)state;
	make_cells(&c, 300, 6);
	write_cells(path_of("whole"), &opt, &c, &sum);
	hfile_summary_release(&sum);
	uint64_t third = walk_blocks(path_of("whole"), &blocks, &errors);
	assert_true(blocks > 10 && errors == 0);
	assert_int_equal(io_read_file(path_of("whole"), &file, &err), 0);
	write_damaged(&file, third + 50, 1);
	walk_blocks(path_of("damaged"), &after, &errors);
	assert_int_equal(after, blocks);
	assert_int_equal(errors, 1);
	buf_release(&file);
	free_cells(&c);
}

/* The scan refuses a file that ends early, or has bytes after its trailer. */
static void cut_files(void **state)
{
	struct hfile_options opt = options(ENCODING_NONE, CODEC_NONE, BLOOM_ROW, 700);
	struct hfile_summary sum;
	struct hfile *f;
	struct buf file = {0};
	struct error err;
	struct cells c;

	(void)state;
	make_cells(&c, 50, 7);
	write_cells(path_of("whole"), &opt, &c, &sum);
	hfile_summary_release(&sum);
	assert_int_equal(io_read_file(path_of("whole"), &file, &err), 0);
	buf_put(&file, 0);
	for (size_t n = 0; n <= file.len; n += n + 1 == file.len - 1 ? 2 : 97) {
		unlink(path_of("cut"));
		assert_int_equal(io_write_file(path_of("cut"), bytes_of(file.ptr, n), &err), 0);
		assert_int_equal(hfile_open(&f, path_of("cut"), &err), RC_DATA);
		assert_null(f);
	}
	assert_int_equal(hfile_open(&f, path_of("absent"), &err), RC_IO);
	assert_int_equal(hfile_open(&f, dir, &err), RC_DATA);
	buf_release(&file);
	free_cells(&c);
}

static const char *data_path(const char *name)
{
	static char path[300];
	const char *root = getenv("SALTMILL_DATA");

	snprintf(path, sizeof path, "%s/hbase/%s", root ? root : "../shared/data", name);
	if (access(path, R_OK) == 0)
		return path;
	if (root)
		fail_msg("SALTMILL_DATA is set, and %s is not there", path);
	print_message("no shared data: %s is not there\n", path);
	return NULL;
}

static void unzip(const char *from, const char *to)
{
	char part[65536];
	struct buf all = {0};
	struct error err;

	gzFile in = gzopen(from, "rb");
	assert_non_null(in);
	for (int n; (n = gzread(in, part, sizeof part)) > 0;)
		buf_append(&all, part, (size_t)n);
	gzclose(in);
	assert_int_equal(io_write_file(to, buf_bytes(&all), &err), 0);
	buf_release(&all);
}

/* Computes the next row of three letters. Returns false after zzz. */
static bool next_row(char row[4])
{
	for (int i = 2; i >= 0; i--) {
		if (row[i]++ != 'z')
			return true;
		row[i] = 'a';
	}
	return false;
}

/*
 * Reads HBase's own fixture, with GZ, mvcc, a ROW bloom filter, and 17,576 rows aaa to zzz. The
 * test damages the first data block, and the other 13 blocks are sound.
 */
static void hbase_fixture(void **state)
{
	const char *path = data_path("TestCompaction_HFileWithCorruptBlock.gz");
	struct hfile *f;
	struct hfile_block b;
	struct hfile_bloom bloom;
	struct hfile_summary sum;
	struct error err;
	uint64_t at = 0;

	(void)state;
	if (!path)
		skip();
	unzip(path, path_of("fixture"));
	assert_int_equal(hfile_verify(path_of("fixture"), &sum, &err), RC_DATA);
	assert_non_null(strstr(err.msg, "block at 0: checksum of chunk 0"));

	if (hfile_open(&f, path_of("fixture"), &err))
		fail_msg("%s", err.msg);
	assert_int_equal(hfile_trailer(f)->entry_count, 17576);
	assert_int_equal(hfile_trailer(f)->codec, CODEC_GZ);
	assert_string_equal(hfile_trailer(f)->comparator,
			    "org.apache.hadoop.hbase.KeyValue$KVComparator");
	unsigned blocks = 0, damaged = 0, data = 0;
	for (int rc; (rc = hfile_next_block(f, &at, &b, &err)) != RC_END; blocks++) {
		damaged += rc != RC_OK;
		data += rc == RC_OK && strcmp(b.type, "DATABLK*") == 0;
	}
	assert_int_equal(blocks, 14);
	assert_int_equal(damaged, 1);
	assert_int_equal(data, 8);

	hfile_bloom(f, &bloom);
	assert_int_equal(bloom.keys, 17576);
	assert_int_equal(bloom.bytes, 32768);
	char row[4] = "aaa";
	bool found;
	do {
		assert_int_equal(hfile_may_contain(f, bytes_str(row), bytes_str(""), &found, &err),
				 0);
		assert_true(found);
	} while (next_row(row));

	/* From the second data block on, the rows reach zzz without a gap. */
	struct hfile_index_entry e;
	struct cell cell;
	assert_int_equal(hfile_root_entry(f, 1, &e), 0);
	assert_int_equal(seek_row(f, bytes_of(e.key.ptr + 2, get_be16(e.key.ptr))), 0);
	unsigned cells = 0, before = 0;
	for (; hfile_next_cell(f, &cell, &err) == 0; cells++) {
		assert_int_equal(cell.row.len, 3);
		if (cells == 0) {
			memcpy(row, cell.row.ptr, 3);
			before = (unsigned)((row[0] - 'a') * 676 + (row[1] - 'a') * 26 + row[2] -
					    'a');
		}
		assert_memory_equal(cell.row.ptr, row, 3);
		next_row(row);
	}
	assert_true(before > 0);
	assert_int_equal(before + cells, 17576);
	hfile_close(f);
}

static void version_1_refused(void **state)
{
	const char *path = data_path("v1-8e8ab58dcf39412da19833fcd8f687ac");
	struct hfile *f;
	struct error err;

	(void)state;
	if (!path)
		skip();
	assert_int_equal(hfile_open(&f, path, &err), RC_DATA);
	assert_non_null(strstr(err.msg, "HFile version 1.0, expected 2.3 or 3.0 to 3.3"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_then_read), cmocka_unit_test(shared_scratch),
		cmocka_unit_test(index_trees),	     cmocka_unit_test(bloom_answers),
		cmocka_unit_test(damage_noticed),    cmocka_unit_test(walk_after_damage),
		cmocka_unit_test(cut_files),	     cmocka_unit_test(hbase_fixture),
		cmocka_unit_test(version_1_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
