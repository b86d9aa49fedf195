/*
 * test_hfile_hfile_open.c - tests HFiles in memory with options of zeros, failing sources and
 * sinks, and failing allocations
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_malloc.h"
#include "hfile.h"
#include "mem.h"

/* --- a file in memory --- */

#define MEMORY_BYTES (4u << 20)

struct memory {
	uint8_t bytes[MEMORY_BYTES];
	size_t len;
	unsigned finished, aborted, closed;
	long calls_left; /* calls until one fails; negative if none fails */
};

static bool call_fails(struct memory *m)
{
	return m->calls_left >= 0 && m->calls_left-- == 0;
}

static int append(void *self, const void *ptr, size_t len, struct error *err)
{
	struct memory *m = self;

	if (call_fails(m) || m->len + len > MEMORY_BYTES)
		return error_set(err, RC_IO, "memory: full");
	memcpy(m->bytes + m->len, ptr, len);
	m->len += len;
	return 0;
}

static int finish(void *self, uint8_t digest[16], struct error *err)
{
	struct memory *m = self;

	(void)digest;
	m->finished++;
	return call_fails(m) ? error_set(err, RC_IO, "memory: not kept") : 0;
}

static void give_up(void *self)
{
	struct memory *m = self;

	m->aborted++;
}

static int read_at(void *self, uint64_t offset, void *to, size_t len, struct error *err)
{
	struct memory *m = self;

	if (call_fails(m))
		return error_set(err, RC_IO, "memory: gone");
	assert_true(offset <= m->len && len <= m->len - offset);
	memcpy(to, m->bytes + offset, len);
	return 0;
}

static void close_it(void *self)
{
	struct memory *m = self;

	m->closed++;
}

static struct hfile_sink sink_of(struct memory *m)
{
	m->len = 0;
	m->finished = m->aborted = m->closed = 0;
	m->calls_left = -1;
	return (struct hfile_sink){"memory", append, finish, give_up, m};
}

static struct hfile_source source_of(struct memory *m)
{
	m->closed = 0;
	m->calls_left = -1;
	return (struct hfile_source){"memory", m->len, read_at, close_it, m};
}

/* --- cells of all kinds --- */

#define CELLS_MOST 4000

struct cells {
	struct cell cell[CELLS_MOST];
	size_t count;
	uint8_t bytes[CELLS_MOST][64];
};

/* Rows have delete markers of all types before their Puts, in HBase's order. Some cells have tags.
 */
static void make_cells(struct cells *c, size_t rows, bool tags)
{
	static const struct {
		const char *qualifier;
		int64_t ts;
		uint8_t type;
	} row[] = {{"", 900, CELL_DELETE_FAMILY},  {"", 800, CELL_DELETE_FAMILY_VERSION},
		   {"a", 700, CELL_DELETE_COLUMN}, {"a", 700, CELL_DELETE},
		   {"a", 700, CELL_PUT},	   {"a", 600, CELL_PUT},
		   {"b", 1000, CELL_PUT},	   {"b", 400, CELL_PUT}};
	size_t each = sizeof row / sizeof *row;
	assert_true(rows * each <= CELLS_MOST);
	c->count = 0;
	for (size_t i = 0; i < rows * each; i++) {
		uint8_t *b = c->bytes[c->count];
		size_t k = i % each;
		int key = snprintf((char *)b, 16, "row%06zu", i / each);
		int value = row[k].type == CELL_PUT
				    ? snprintf((char *)b + 16, 24, "%zu", i * i % 977)
				    : 0;

		c->cell[c->count] = (struct cell){.row = bytes_of(b, (size_t)key),
						  .family = bytes_str("fam"),
						  .qualifier = bytes_str(row[k].qualifier),
						  .ts = row[k].ts,
						  .value = bytes_of(b + 16, (size_t)value),
						  .type = row[k].type};
		if (tags && i % 3) { /* type 8, TTL, and perhaps type 9 */
			memcpy(b + 40, "\0\x05\x08ttl1\0\x03\x09xy", 12);
			c->cell[c->count].tags = bytes_of(b + 40, i % 3 == 1 ? 7 : 12);
		}
		c->count++;
	}
}

static int write_to(struct memory *m, const struct hfile_options *opt, const struct cells *c,
		    struct hfile_summary *sum, struct error *err)
{
	struct hfile_sink sink = sink_of(m);
	struct hfile_writer *w;

	*sum = (struct hfile_summary){0};
	int rc = hfile_writer_new_to(&w, &sink, opt, err);
	for (size_t i = 0; rc == RC_OK && i < c->count; i++)
		rc = hfile_add(w, &c->cell[i], err);
	if (rc) {
		hfile_abort(w);
		return rc;
	}
	return hfile_finish(w, sum, err);
}

static void assert_slice(struct bytes a, struct bytes b)
{
	assert_int_equal(a.len, b.len);
	if (a.len)
		assert_memory_equal(a.ptr, b.ptr, a.len);
}

static void assert_cell(const struct cell *a, const struct cell *b)
{
	assert_slice(a->row, b->row);
	assert_slice(a->family, b->family);
	assert_slice(a->qualifier, b->qualifier);
	assert_slice(a->value, b->value);
	assert_slice(a->tags, b->tags);
	assert_int_equal(a->ts, b->ts);
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->mvcc, 0);
}

static void assert_file(struct memory *m, const struct cells *c)
{
	struct hfile_source source = source_of(m);
	struct hfile_summary sum;
	struct error err;
	struct hfile *f;
	struct cell cell;

	if (hfile_open_source(&f, &source, &err))
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < c->count; i++) {
		if (hfile_next_cell(f, &cell, &err))
			fail_msg("%s", err.msg);
		assert_cell(&cell, &c->cell[i]);
	}
	assert_int_equal(hfile_next_cell(f, &cell, &err), RC_END);
	/* a seek to a cell of any type */
	for (size_t i = 0; i < c->count; i += 7) {
		assert_int_equal(hfile_seek(f, &c->cell[i], &err), 0);
		assert_int_equal(hfile_next_cell(f, &cell, &err), 0);
		assert_cell(&cell, &c->cell[i]);
	}
	if (hfile_verify_open(f, &sum, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(sum.cells, c->count);
	hfile_summary_release(&sum);
	hfile_close(f);
	assert_int_equal(m->closed, 1);
}

static struct memory memory, other;
static struct cells cells;

static void zeroed_options(void **state)
{
	(void)state;
	const struct hfile_options opt = {0};
	struct hfile_summary sum;
	struct error err;
	make_cells(&cells, 400, false);
	if (write_to(&memory, &opt, &cells, &sum, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(memory.finished, 1);
	assert_int_equal(memory.aborted, 0);
	assert_int_equal(sum.cells, cells.count);
	assert_int_equal(sum.rows, 400);
	assert_int_equal(sum.file_bytes, memory.len);
	hfile_summary_release(&sum);
	assert_file(&memory, &cells);
}

static void all_types_and_tags(void **state)
{
	(void)state;
	static const enum block_encoding encodings[] = {ENCODING_NONE, ENCODING_PREFIX,
							ENCODING_DIFF, ENCODING_FAST_DIFF,
							ENCODING_ROW_INDEX_V1};
	static const enum bloom_type blooms[] = {BLOOM_NONE, BLOOM_ROW, BLOOM_ROWCOL};
	make_cells(&cells, 400, true);
	for (unsigned i = 0; i < 30; i++) {
		struct hfile_options opt = {.tags = true,
					    .mvcc = i % 2,
					    .encoding = encodings[i % 5],
					    .bloom = blooms[i % 3],
					    .block_bytes = 1000,
					    .index_block_bytes = 700,
					    .codec = i % 4 ? CODEC_ZSTD : CODEC_NONE};
		struct hfile_summary sum;
		struct error err;

		if (write_to(&memory, &opt, &cells, &sum, &err))
			fail_msg("%s", err.msg);
		hfile_summary_release(&sum);
		assert_file(&memory, &cells);
	}
}

/* Tests the data that HBase needs about deletes (StoreFileWriter, TimeRangeTracker). */
static void info_of_deletes(void **state)
{
	(void)state;
	const struct hfile_options opt = {.bloom = BLOOM_ROW};
	struct hfile_summary sum;
	struct error err;
	struct hfile *f;
	struct bytes v;
	make_cells(&cells, 10, false);
	assert_int_equal(write_to(&memory, &opt, &cells, &sum, &err), 0);
	hfile_summary_release(&sum);
	struct hfile_source source = source_of(&memory);
	assert_int_equal(hfile_open_source(&f, &source, &err), 0);
	assert_true(hfile_info_get(f, "DELETE_FAMILY_COUNT", &v));
	assert_int_equal(get_be64(v.ptr), 20);
	assert_true(hfile_info_get(f, "EARLIEST_PUT_TS", &v));
	assert_int_equal(get_be64(v.ptr), 400);
	assert_true(hfile_info_get(f, "TIMERANGE", &v));
	assert_int_equal(get_be64(v.ptr), 0);
	assert_int_equal(get_be64(v.ptr + 8), 1000);
	hfile_close(f);
}

static void refused(void **state)
{
	(void)state;
	struct hfile_options opt = {0};
	struct hfile_writer *w;
	struct error err;
	make_cells(&cells, 1, true);
	struct hfile_sink sink = sink_of(&memory);
	assert_int_equal(hfile_writer_new_to(&w, &sink, &opt, &err), 0);
	assert_int_equal(hfile_add(w, &cells.cell[1], &err), RC_DATA); /* tags */
	struct cell c = cells.cell[0];
	c.family.len = 0;
	assert_int_equal(hfile_add(w, &c, &err), RC_LIMIT);
	assert_int_equal(hfile_add(w, &cells.cell[0], &err), 0);
	c = cells.cell[0];
	c.row = bytes_str("z");
	c.family = bytes_str("other");
	assert_int_equal(hfile_add(w, &c, &err), RC_DATA);
	assert_non_null(strstr(err.msg, "family other in a file of family fam"));
	hfile_abort(w);
	assert_int_equal(memory.aborted, 1);
	assert_int_equal(memory.finished, 0);
	/* with invalid options, the writer aborts the sink */
	opt.codec = CODEC_LZO;
	sink = sink_of(&memory);
	assert_int_equal(hfile_writer_new_to(&w, &sink, &opt, &err), RC_CONFIG);
	assert_int_equal(memory.aborted, 1);
}

/* Each call of a sink fails in turn, then each call of a source. */
static void failing_calls(void **state)
{
	(void)state;
	const struct hfile_options opt = {.bloom = BLOOM_ROW,
					  .block_bytes = 2000,
					  .index_block_bytes = 300};
	struct hfile_summary sum;
	struct error err;
	int rc = RC_IO;
	make_cells(&cells, 100, false);
	for (long n = 0; rc; n++) {
		struct hfile_sink sink = sink_of(&memory);
		struct hfile_writer *w;

		memory.calls_left = n;
		rc = hfile_writer_new_to(&w, &sink, &opt, &err);
		for (size_t i = 0; rc == RC_OK && i < cells.count; i++)
			rc = hfile_add(w, &cells.cell[i], &err);
		if (rc)
			hfile_abort(w);
		else
			rc = hfile_finish(w, &sum, &err);
		assert_true(rc == RC_OK || rc == RC_IO);
		assert_int_equal(memory.finished + memory.aborted, 1);
		assert_in_range(n, 0, 200);
	}
	hfile_summary_release(&sum);
	rc = RC_IO;
	for (long n = 0; rc; n++) {
		struct hfile_source source = source_of(&memory);
		struct hfile *f;

		memory.calls_left = n;
		rc = hfile_open_source(&f, &source, &err);
		if (rc == RC_OK) {
			rc = hfile_verify_open(f, &sum, &err);
			hfile_close(f);
		}
		assert_true(rc == RC_OK || rc == RC_IO);
		assert_int_equal(memory.closed, 1);
		assert_in_range(n, 0, 400);
	}
	hfile_summary_release(&sum);
}

/* --- no memory --- */

static int read_all(struct memory *m, struct error *err)
{
	struct hfile_source source = source_of(m);
	struct hfile_summary sum;
	struct hfile *f;
	struct cell c;
	bool found;
	int rc = hfile_open_source(&f, &source, err);

	while (rc == RC_OK)
		rc = hfile_next_cell(f, &c, err);
	rc = rc == RC_END ? 0 : rc;
	if (rc == RC_OK)
		rc = hfile_seek(f, &cells.cell[cells.count / 2], err);
	if (rc == RC_OK)
		rc = hfile_may_contain(f, cells.cell[0].row, cells.cell[0].qualifier, &found, err);
	if (rc == RC_OK)
		rc = hfile_verify_open(f, &sum, err);
	if (rc == RC_OK)
		hfile_summary_release(&sum);
	hfile_close(f);
	return rc;
}

static void told(int rc, const struct error *err)
{
	if (rc != RC_MEMORY || !strstr(err->msg, "out of memory"))
		fail_msg("allocation %ld: %d, %s", fail_at, rc, err->msg);
}

/* Each failed allocation gives an error message or the same file as without failures. Returns the
 * number of failures. */
static long fail_each(const struct hfile_options *opt, bool all_behind)
{
	struct hfile_summary sum;
	struct error err;
	long failures = 0;
	int rc = write_to(&other, opt, &cells, &sum, &err);

	hfile_summary_release(&sum);
	assert_int_equal(rc, 0);
	for (long n = 1;; n++) {
		fail_from(n, all_behind);
		rc = write_to(&memory, opt, &cells, &sum, &err);
		long seen = asked;
		fail_at = 0;
		assert_int_equal(memory.finished + memory.aborted, 1);
		if (rc)
			told(rc, &err);
		else
			assert_true(memory.len == other.len &&
				    memcmp(memory.bytes, other.bytes, other.len) == 0);
		hfile_summary_release(&sum);
		if (seen < n)
			break;
		failures++;
	}
	for (long n = 1;; n++) {
		fail_from(n, all_behind);
		rc = read_all(&other, &err);
		long seen = asked;
		fail_at = 0;
		if (rc)
			told(rc, &err);
		if (seen < n)
			break;
		failures++;
	}
	return failures;
}

static void failing_allocations(void **state)
{
	(void)state;
	static const struct hfile_options all[] = {
		{.codec = CODEC_NONE, .encoding = ENCODING_FAST_DIFF, .bloom = BLOOM_ROWCOL},
		{.codec = CODEC_ZSTD, .bloom = BLOOM_ROW},
		{.codec = CODEC_ZSTD, .min_match = 4, .encoding = ENCODING_NONE},
		{.codec = CODEC_GZ, .encoding = ENCODING_DIFF, .bloom = BLOOM_ROW},
		{.codec = CODEC_LZ4, .encoding = ENCODING_ROW_INDEX_V1},
		{.codec = CODEC_ZSTD, .framing = ZSTD_FRAMING_HADOOP, .encoding = ENCODING_PREFIX}};
	if (!OWN_MALLOC) {
		print_message("the sanitizer's allocator is not ours to fail\n");
		skip();
	}
	make_cells(&cells, 300, true);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct hfile_options opt = all[i];

		opt.tags = true;
		opt.mvcc = i % 2;
		opt.block_bytes = 4000;
		opt.index_block_bytes = 900;
		opt.bloom_block_bytes = 256;
		opt.source_task = bytes_str("test");
		assert_true(fail_each(&opt, false) > 20);
		assert_true(fail_each(&opt, true) > 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zeroed_options),  cmocka_unit_test(all_types_and_tags),
		cmocka_unit_test(info_of_deletes), cmocka_unit_test(refused),
		cmocka_unit_test(failing_calls),   cmocka_unit_test(failing_allocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
