/*
 * test_lib_sm_writer.c - tests the public functions for HFiles: cells come back as they were, calls in
 * a wrong order and structs of other versions are errors, no file replaces another, allocations fail
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "draw.h"
#include "failing_malloc.h"
#include "pipeline/lib/arrow_stream.h"
#include "pipeline/lib/saltmill.h"
#include "temp_dir.h"

#define CELLS 600

/* Cells with their own bytes, in the order of HBase. */
struct made {
	struct sm_cell cell[CELLS];
	char bytes[CELLS][64];
};

static struct sm_bytes text(const char *s)
{
	return (struct sm_bytes){s, strlen(s)};
}

static const struct sm_bytes none = {NULL, 0};

/* Make rows of three columns: two versions, and a marker of each type in some rows. */
static void make(struct made *m, bool tags)
{
	static const struct {
		const char *qualifier;
		int64_t ts;
		uint32_t type;
	} of_row[] = {
		{"", 9, SM_DELETE_FAMILY}, {"", 9, SM_DELETE_FAMILY_VERSION},
		{"a", 8, SM_PUT},	   {"a", 7, SM_DELETE_COLUMN},
		{"a", 7, SM_DELETE},	   {"b", INT64_MAX - 1, SM_PUT},
	};
	const size_t n = sizeof of_row / sizeof *of_row;

	*m = (struct made){0};
	for (size_t i = 0; i < CELLS; i++) {
		char *row = m->bytes[i], *value = row + 24, *tag = row + 48;
		struct sm_cell *c = &m->cell[i];

		snprintf(row, 24, "row%05zu", i / n);
		snprintf(value, 24, "value %zu", i);
		memcpy(tag, "\0\3\7xy", 5);
		*c = (struct sm_cell){.row = text(row),
				      .family = text("f"),
				      .qualifier = text(of_row[i % n].qualifier),
				      .timestamp = of_row[i % n].ts,
				      .type = of_row[i % n].type};
		if (c->type == SM_PUT)
			c->value = text(value);
		if (tags && i % 3 == 0)
			c->tags = (struct sm_bytes){tag, 5};
	}
}

static void same_bytes(struct sm_bytes a, struct sm_bytes b)
{
	assert_int_equal(a.len, b.len);
	if (a.len)
		assert_memory_equal(a.ptr, b.ptr, a.len);
}

static void same_cell(const struct sm_cell *a, const struct sm_cell *b)
{
	same_bytes(a->row, b->row);
	same_bytes(a->family, b->family);
	same_bytes(a->qualifier, b->qualifier);
	same_bytes(a->value, b->value);
	same_bytes(a->tags, b->tags);
	assert_int_equal(a->timestamp, b->timestamp);
	assert_int_equal(a->type, b->type);
}

static int write_file(const char *path, const struct sm_writer_options *o, const struct made *m,
		      struct sm_counts *counts)
{
	struct sm_writer *w;
	int rc = sm_writer_open(&w, path, o);

	for (size_t i = 0; rc == SM_OK && i < CELLS; i += 100)
		rc = sm_writer_add(w, &m->cell[i], 100);
	if (rc == SM_OK)
		rc = sm_writer_finish(w, counts);
	assert_true(rc == SM_OK || *sm_writer_error(w));
	sm_writer_close(w);
	return rc;
}

/* Returns the number of names in the test's folder. */
static int names(void)
{
	DIR *d = opendir(dir);
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void read_back(struct sm_reader *r, const struct made *m)
{
	const struct sm_cell *list;
	struct sm_cell c;
	size_t n, i = 0;

	for (; i < CELLS / 2; i++) {
		assert_int_equal(sm_reader_next(r, &c), SM_OK);
		same_cell(&c, &m->cell[i]);
	}
	while (sm_reader_next_cells(r, &list, &n) == SM_OK)
		for (size_t k = 0; k < n; k++)
			same_cell(&list[k], &m->cell[i++]);
	assert_int_equal(i, CELLS);
	assert_int_equal(sm_reader_next(r, &c), SM_END);
}

static void test_cells_come_back(void **state)
{
	static const char *const codecs[] = {"NONE", "GZ", "SNAPPY", "LZ4", "ZSTD"};
	static const char *const encodings[] = {"NONE", "PREFIX", "DIFF", "FAST_DIFF",
						"ROW_INDEX_V1"};
	static const char *const blooms[] = {"NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH"};
	static struct made m;
	char *path = path_of("all");

	(void)state;
	for (size_t i = 0; i < 25; i++) {
		bool tags = i % 2;
		struct sm_writer_options o = {.size = sizeof o,
					      .compression = codecs[i % 5],
					      .encoding = encodings[i / 5],
					      .bloom = blooms[i % 4],
					      .bloom_prefix = 4,
					      .block_bytes = 500,
					      .time_ms = 77,
					      .flags = (tags ? SM_TAGS : 0u) |
						       (i % 3 ? SM_MVCC : 0)};
		struct sm_counts n = {.size = sizeof n}, again = {.size = sizeof again};
		struct sm_info info = {.size = sizeof info};
		struct sm_reader *r;

		make(&m, tags);
		assert_int_equal(write_file(path, &o, &m, &n), SM_OK);
		assert_int_equal(n.cells, CELLS);
		assert_int_equal(n.rows, CELLS / 6);
		assert_int_equal(sm_reader_open(&r, path), SM_OK);
		read_back(r, &m);
		assert_int_equal(sm_reader_info(r, &info), SM_OK);
		assert_string_equal(info.compression, o.compression);
		assert_string_equal(info.encoding, o.encoding);
		assert_string_equal(info.bloom, o.bloom);
		assert_int_equal(info.flags, o.flags);
		assert_int_equal(info.time_ms, 77);
		assert_int_equal(info.data_blocks > 1, 1);
		same_bytes(info.first_row, text("row00000"));
		same_bytes(info.last_row, text("row00099"));
		assert_int_equal(sm_reader_verify(r, &again), SM_OK);
		assert_memory_equal(&n, &again, sizeof n);
		sm_reader_close(r);
		assert_int_equal(unlink(path), 0);
	}
}

static void test_ranges_and_seeks(void **state)
{
	static struct made m;
	struct sm_writer_options o = {.size = sizeof o, .bloom = "ROW", .block_bytes = 300};
	struct sm_reads reads = {.size = sizeof reads};
	struct sm_reader *r;
	struct sm_cell c;
	int may;

	(void)state;
	make(&m, false);
	assert_int_equal(write_file(path_of("ranges"), &o, &m, NULL), SM_OK);
	assert_int_equal(sm_reader_open(&r, path_of("ranges")), SM_OK);
	random_state = 7;
	for (int i = 0; i < 200; i++) {
		char start[16], stop[16];
		unsigned from = pick(110), to = pick(110);
		size_t n = 0;

		snprintf(start, sizeof start, "row%05u", from);
		snprintf(stop, sizeof stop, "row%05u", to);
		assert_int_equal(sm_reader_range(r, text(start), i % 5 ? text(stop) : none), SM_OK);
		if (i % 5 == 0 || to > 100)
			to = 100;
		for (size_t k = 6ul * from; sm_reader_next(r, &c) == SM_OK; k++, n++)
			same_cell(&c, &m.cell[k]);
		assert_int_equal(n, to > from ? 6 * (to - from) : 0);
	}
	assert_int_equal(sm_reader_range(r, none, none), SM_OK);
	assert_int_equal(sm_reader_seek(r, text("row00050"), text("f"), text("a")), SM_OK);
	assert_int_equal(sm_reader_next(r, &c), SM_OK);
	same_cell(&c, &m.cell[302]);
	assert_int_equal(sm_reader_may_contain(r, text("row00050"), none, &may), SM_OK);
	assert_int_equal(may, 1);
	assert_int_equal(sm_reader_may_contain(r, text("nothing"), none, &may), SM_OK);
	assert_int_equal(may, 0);
	assert_int_equal(sm_reader_reads(r, &reads), SM_OK);
	assert_true(reads.data > 0 && reads.bloom > 0);
	sm_reader_close(r);
}

/* --- refusals --- */

static void test_cells_out_of_order(void **state)
{
	struct sm_writer *w;
	struct sm_cell c = {.row = text("b"),
			    .family = text("f"),
			    .qualifier = text("q"),
			    .timestamp = 5};

	(void)state;
	assert_int_equal(sm_writer_open(&w, path_of("order"), NULL), SM_OK);
	assert_int_equal(sm_writer_add(w, &c, 1), SM_OK);
	c.timestamp = 6;
	assert_int_equal(sm_writer_add(w, &c, 1), SM_ORDER);
	assert_string_equal(
		sm_writer_error(w),
		"found cell b/q at 6 (Put), which sorts before the previous cell b/q at 5 "
		"(Put), expected cells in order");
	c.row = text("a");
	assert_int_equal(sm_writer_add(w, &c, 1), SM_ORDER);
	c.row = text("c");
	c.type = 5;
	assert_int_equal(sm_writer_add(w, &c, 1), SM_DATA);
	c.type = SM_PUT + 256;
	assert_int_equal(sm_writer_add(w, &c, 1), SM_DATA);
	c.type = SM_PUT;
	c.row = none;
	assert_int_equal(sm_writer_add(w, &c, 1), SM_LIMIT);
	c.row = text("c");
	assert_int_equal(sm_writer_add(w, &c, 1), SM_OK);
	struct sm_counts n = {.size = sizeof n};
	assert_int_equal(sm_writer_finish(w, &n), SM_OK);
	assert_int_equal(n.cells, 2);
	assert_int_equal(sm_writer_add(w, &c, 1), SM_CONFIG);
	assert_int_equal(sm_writer_finish(w, &n), SM_CONFIG);
	sm_writer_close(w);
}

static void test_no_file_replaces_another(void **state)
{
	static struct made m;
	struct sm_writer *w;
	struct stat st;
	char *path = path_of("mine");
	int before = names();

	(void)state;
	make(&m, false);
	assert_int_equal(sm_writer_open(&w, path, NULL), SM_OK);
	assert_int_equal(sm_writer_add(w, m.cell, 10), SM_OK);
	assert_int_equal(names(), before + 1); /* the temporary file */
	assert_int_not_equal(access(path, F_OK), 0);
	FILE *f = fopen(path, "w");
	fputs("other", f);
	fclose(f);
	assert_int_equal(sm_writer_finish(w, NULL), SM_IO);
	assert_int_equal(sm_writer_finish(w, NULL), SM_IO);
	sm_writer_close(w);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 5);
	assert_int_equal(sm_writer_open(&w, path, NULL), SM_IO);
	assert_int_equal(sm_writer_add(w, m.cell, 1), SM_CONFIG);
	sm_writer_close(w);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(sm_writer_open(&w, path, NULL), SM_OK);
	assert_int_equal(sm_writer_finish(w, NULL), SM_DATA); /* no cells */
	sm_writer_close(w);
	assert_int_equal(sm_writer_open(&w, path, NULL), SM_OK);
	sm_writer_close(w);
	assert_int_equal(names(), before);
}

static void test_options_and_versions(void **state)
{
	struct {
		struct sm_writer_options now;
		uint64_t later;
	} o = {.now = {.size = sizeof o}};
	struct sm_writer_options old = {.size = sizeof old - 1};
	static const struct sm_writer_options bad[] = {
		{.size = sizeof *bad, .compression = "zstd"},
		{.size = sizeof *bad, .compression = "LZO"},
		{.size = sizeof *bad, .encoding = "PREFIX_TREE"},
		{.size = sizeof *bad, .bloom = "rows"},
		{.size = sizeof *bad, .bloom = "ROWPREFIX_FIXED_LENGTH"},
		{.size = sizeof *bad, .flags = 64},
		{.size = sizeof *bad, .time_ms = -1},
	};
	struct sm_writer *w;

	(void)state;
	assert_int_equal(sm_writer_open(&w, path_of("later"), &o.now), SM_OK);
	sm_writer_close(w);
	o.later = 1;
	assert_int_equal(sm_writer_open(&w, path_of("later"), &o.now), SM_CONFIG);
	assert_non_null(strstr(sm_writer_error(w), "update libsaltmill"));
	sm_writer_close(w);
	assert_int_equal(sm_writer_open(&w, path_of("later"), &old), SM_CONFIG);
	sm_writer_close(w);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(sm_writer_open(&w, path_of("later"), &bad[i]), SM_CONFIG);
		assert_true(*sm_writer_error(w));
		sm_writer_close(w);
	}
}

static void test_no_handle(void **state)
{
	struct sm_cell c = {0};
	struct sm_reader *r;

	(void)state;
	assert_int_equal(sm_writer_add(NULL, &c, 1), SM_MEMORY);
	assert_int_equal(sm_reader_next(NULL, &c), SM_MEMORY);
	assert_string_equal(sm_reader_error(NULL), "out of memory");
	sm_reader_close(NULL);
	sm_writer_close(NULL);
	assert_int_equal(sm_reader_open(&r, path_of("nowhere")), SM_IO);
	assert_non_null(strstr(sm_reader_error(r), "nowhere"));
	assert_int_equal(sm_reader_next(r, &c), SM_CONFIG);
	sm_reader_close(r);
}

/* A changed byte gives an error, or the same cells. A failure stays. */
static void test_damage(void **state)
{
	static struct made m;
	static uint8_t file[1 << 17];
	struct sm_writer_options o = {.size = sizeof o,
				      .compression = "GZ",
				      .bloom = "ROW",
				      .block_bytes = 2000};
	struct sm_reader *r;
	size_t found = 0, len;

	(void)state;
	make(&m, false);
	assert_int_equal(write_file(path_of("damage"), &o, &m, NULL), SM_OK);
	FILE *f = fopen(path_of("damage"), "rb");
	len = fread(file, 1, sizeof file, f);
	fclose(f);
	assert_int_equal(sm_reader_open_memory(&r, file, len), SM_OK);
	read_back(r, &m);
	sm_reader_close(r);
	for (size_t at = 0; at + 4096 < len; at += 7) {
		struct sm_cell c;
		int rc;

		file[at] ^= 0x40;
		rc = sm_reader_open_memory(&r, file, len);
		while (rc == SM_OK)
			rc = sm_reader_next(r, &c);
		if (rc != SM_END) {
			found++;
			assert_true(rc == SM_DATA && *sm_reader_error(r));
		} else if (sm_reader_verify(r, NULL) != SM_OK) {
			found++;
		}
		sm_reader_close(r);
		file[at] ^= 0x40;
	}
	assert_int_equal(found, (len - 4096 + 6) / 7);
}

/* --- Arrow --- */

static void check_batch(const struct ArrowArray *a, const struct made *m, size_t at)
{
	const int32_t *rows = a->children[0]->buffers[1], *values = a->children[5]->buffers[1];
	const char *row = a->children[0]->buffers[2], *value = a->children[5]->buffers[2];
	const int64_t *ts = a->children[3]->buffers[1];
	const uint8_t *type = a->children[4]->buffers[1];

	for (size_t i = 0; i < (size_t)a->length; i++) {
		const struct sm_cell *c = &m->cell[at + i];

		same_bytes((struct sm_bytes){row + rows[i], (size_t)(rows[i + 1] - rows[i])},
			   c->row);
		same_bytes((struct sm_bytes){value + values[i],
					     (size_t)(values[i + 1] - values[i])},
			   c->value);
		assert_int_equal(ts[i], c->timestamp);
		assert_int_equal(type[i], c->type);
	}
}

static void test_arrow(void **state)
{
	static struct made m;
	struct sm_writer_options o = {.size = sizeof o, .flags = SM_TAGS};
	struct ArrowArrayStream s;
	struct ArrowSchema schema;
	struct ArrowArray a, kept;
	struct sm_reader *r;
	size_t at = 0;

	(void)state;
	make(&m, true);
	assert_int_equal(write_file(path_of("arrow"), &o, &m, NULL), SM_OK);
	assert_int_equal(sm_reader_open(&r, path_of("arrow")), SM_OK);
	assert_int_equal(sm_reader_to_arrow(r, &s, 250), SM_OK);
	assert_int_equal(s.get_schema(&s, &schema), 0);
	assert_int_equal(schema.n_children, 7);
	assert_string_equal(schema.children[3]->format, "tsm:UTC");
	schema.release(&schema);
	for (;;) {
		assert_int_equal(s.get_next(&s, &a), 0);
		if (!a.release)
			break;
		check_batch(&a, &m, at);
		at += (size_t)a.length;
		/* a consumer may keep one column longer than the batch */
		kept = *a.children[5];
		a.children[5]->release = NULL;
		a.release(&a);
		assert_int_equal(((const int32_t *)kept.buffers[1])[0], 0);
		kept.release(&kept);
	}
	assert_int_equal(at, CELLS);
	s.release(&s);
}

/* --- allocations that fail --- */

static int use_all(struct made *m)
{
	struct sm_writer_options o = {.size = sizeof o,
				      .compression = "ZSTD",
				      .encoding = "FAST_DIFF",
				      .bloom = "ROW",
				      .block_bytes = 4000};
	struct sm_reader *r;
	struct sm_cell c;
	struct ArrowArrayStream s;
	struct ArrowArray a;
	int rc = write_file(path_of("alloc"), &o, m, NULL);

	if (rc)
		return rc;
	rc = sm_reader_open(&r, path_of("alloc"));
	if (rc == SM_OK)
		rc = sm_reader_verify(r, NULL);
	if (rc == SM_OK)
		rc = sm_reader_range(r, text("row00050"), text("row00060"));
	while (rc == SM_OK)
		rc = sm_reader_next(r, &c);
	if (rc == SM_END)
		rc = sm_reader_range(r, none, none);
	if (rc == SM_OK && (rc = sm_reader_to_arrow(r, &s, 0)) == SM_OK) {
		rc = s.get_next(&s, &a) ? SM_MEMORY : SM_OK;
		if (a.release)
			a.release(&a);
		s.release(&s);
		return rc;
	}
	assert_true(strstr(sm_reader_error(r), "out of memory") != NULL);
	sm_reader_close(r);
	return rc;
}

static void test_failing_allocations(void **state)
{
	static struct made m;
	int before = names();

	(void)state;
#if !OWN_MALLOC
	print_message("the sanitizer's allocator is not ours to fail\n");
	skip();
#endif
	make(&m, false);
	assert_int_equal(use_all(&m), SM_OK);
	unlink(path_of("alloc"));
	for (int all = 0; all < 2; all++)
		for (long n = 1, rc = SM_MEMORY; rc; n++) {
			long had = blocks;

			fail_from(n, all);
			rc = use_all(&m);
			fail_at = 0;
			if (rc && rc != SM_MEMORY)
				fail_msg("allocation %ld: code %ld", n, rc);
			assert_int_equal(blocks, had);
			unlink(path_of("alloc"));
			assert_int_equal(names(), before);
			assert_true(n < 5000);
		}
}

/* --- threads --- */

static void *write_and_read(void *name)
{
	struct made *m = calloc(1, sizeof *m);
	struct sm_writer_options o = {.size = sizeof o, .compression = "SNAPPY", .bloom = "ROWCOL"};
	char path[300];
	struct sm_reader *r;

	make(m, false);
	for (int i = 0; i < 10; i++) {
		snprintf(path, sizeof path, "%s/%s%d", dir, (char *)name, i);
		assert_int_equal(write_file(path, &o, m, NULL), SM_OK);
		assert_int_equal(sm_reader_open(&r, path), SM_OK);
		read_back(r, m);
		sm_reader_close(r);
	}
	free(m);
	return NULL;
}

static void test_threads(void **state)
{
	static char name[4][2] = {"a", "b", "c", "d"};
	pthread_t thread[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, write_and_read, name[i]), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells_come_back),
		cmocka_unit_test(test_ranges_and_seeks),
		cmocka_unit_test(test_cells_out_of_order),
		cmocka_unit_test(test_no_file_replaces_another),
		cmocka_unit_test(test_options_and_versions),
		cmocka_unit_test(test_no_handle),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_arrow),
		cmocka_unit_test(test_failing_allocations),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
