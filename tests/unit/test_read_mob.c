/* test_read_mob.c - replaces MOB references by their values, over files in memory */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mem.h"
#include "query.h"

#define MOBS	    40 /* more than the reader keeps open */
#define VALUE_BYTES 500

static struct buf store, mob[MOBS];
static unsigned opened;

static int append(void *self, const void *ptr, size_t len, struct error *err)
{
	(void)err;
	buf_append(self, ptr, len);
	return RC_OK;
}

static int finish(void *self, uint8_t digest[16], struct error *err)
{
	(void)self;
	(void)err;
	memset(digest, 0, 16);
	return RC_OK;
}

static void give_up(void *self)
{
	(void)self;
}

static int read_at(void *self, uint64_t offset, void *to, size_t len, struct error *err)
{
	(void)err;
	memcpy(to, ((const struct buf *)self)->ptr + offset, len);
	return RC_OK;
}

static struct hfile_writer *new_writer(struct buf *to)
{
	const struct hfile_sink sink = {"memory", append, finish, give_up, to};
	const struct hfile_options opt = {.family = bytes_str("f"), .tags = true};
	struct hfile_writer *w;
	struct error err;

	to->len = 0;
	assert_int_equal(hfile_writer_new_to(&w, &sink, &opt, &err), RC_OK);
	return w;
}

static void add(struct hfile_writer *w, unsigned row, struct bytes value, struct bytes tags)
{
	char key[16];
	struct error err;
	const struct cell c = {.row = bytes_of(key,
					       (size_t)snprintf(key, sizeof key, "r%03u", row)),
			       .family = bytes_str("f"),
			       .qualifier = bytes_str("q"),
			       .ts = 7,
			       .type = CELL_PUT,
			       .value = value,
			       .tags = tags};

	assert_int_equal(hfile_add(w, &c, &err), RC_OK);
}

static void end(struct hfile_writer *w)
{
	struct hfile_summary sum;
	struct error err;

	assert_int_equal(hfile_finish(w, &sum, &err), RC_OK);
	hfile_summary_release(&sum);
}

static int open_store(const struct query_file *f, struct hfile_source *out, struct error *err)
{
	(void)err;
	*out = (struct hfile_source){f->name, store.len, read_at, NULL, &store};
	return RC_OK;
}

/* Open "table t", family f, file "mobN". */
static int open_mob(const struct query_mobs *m, const struct mob_reference *r, struct arena *a,
		    struct hfile_source *out, struct error *err)
{
	const char *name = arena_strndup(a, r->file.ptr, r->file.len);

	(void)m;
	assert_true(bytes_eq(r->table, bytes_str("ns:t")) && bytes_eq(r->family, bytes_str("f")));
	if (strncmp(name, "mob", 3) != 0)
		return error_set(err, RC_DATA, "no file %s", name);
	opened++;
	struct buf *b = &mob[atoi(name + 3)];
	*out = (struct hfile_source){name, b->len, read_at, NULL, b};
	return RC_OK;
}

static const struct query_mobs mobs = {open_mob};

/* The tags of a reference (MobConstants.MOB_REF_TAG, and the table's name). */
static const uint8_t reference[] = {0, 1, 5, 0, 5, 6, 'n', 's', ':', 't'};
/* A reference without a table. */
static const uint8_t no_table[] = {0, 1, 5};

static void put_reference(struct buf *b, uint32_t bytes, unsigned file)
{
	uint8_t size[4];

	put_be32(size, bytes);
	b->len = 0;
	buf_append(b, size, sizeof size);
	buf_printf(b, "mob%u", file);
}

/* Write the value of row `row`: its number in each byte. */
static void value_of(uint8_t v[VALUE_BYTES], unsigned row)
{
	memset(v, (int)row, VALUE_BYTES);
}

/* Row i refers to file i % MOBS. Every third row has its value in the store file. */
static void write_files(unsigned rows)
{
	struct hfile_writer *w = new_writer(&store), *m[MOBS];
	uint8_t v[VALUE_BYTES];
	struct buf value = {0};

	for (unsigned i = 0; i < MOBS; i++)
		m[i] = new_writer(&mob[i]);
	for (unsigned i = 0; i < rows; i++) {
		value_of(v, i);
		if (i % 3 == 0) {
			add(w, i, bytes_of(v, VALUE_BYTES), (struct bytes){0});
			continue;
		}
		put_reference(&value, VALUE_BYTES, i % MOBS);
		add(w, i, buf_bytes(&value), bytes_of(reference, sizeof reference));
		add(m[i % MOBS], i, bytes_of(v, VALUE_BYTES), (struct bytes){0});
	}
	end(w);
	for (unsigned i = 0; i < MOBS; i++)
		end(m[i]);
	buf_release(&value);
}

static const struct query_family family = {.name = {(const uint8_t *)"f", 1}};

static struct query_scan *scan(const struct query_file *f, const struct query *q)
{
	struct query_scan *s;
	struct error err;

	assert_int_equal(query_open(&s, &family, 1, f, 1, q, &err), RC_OK);
	return s;
}

static int take_all(void *ctx, struct cell *cells, size_t *n, struct error *err)
{
	(void)ctx;
	(void)cells;
	(void)n;
	(void)err;
	return RC_OK;
}

static bool take_row(void *ctx, struct bytes row)
{
	(void)ctx;
	(void)row;
	return true;
}

static void check_value(const struct cell *c, unsigned row)
{
	uint8_t v[VALUE_BYTES];

	value_of(v, row);
	assert_int_equal(c->value.len, VALUE_BYTES);
	assert_memory_equal(c->value.ptr, v, VALUE_BYTES);
	assert_int_equal(c->tags.len, 0);
}

/* Scans with and without a judge, and compactions, return the values. */
static void values_instead_of_references(void **state)
{
	enum { ROWS = 120 };
	const struct query_file f = {.open = open_store, .name = "store", .mobs = &mobs};
	const struct query_judge judge = {take_row, take_all, NULL};
	const struct query queries[] = {{.limit = 0},
					{.judge = &judge},
					{.raw = true, .versions = 9}};
	struct compaction *c;
	struct cell cell;
	struct error err;

	(void)state;
	write_files(ROWS);
	for (size_t k = 0; k < sizeof queries / sizeof *queries; k++) {
		struct query_scan *s = scan(&f, &queries[k]);

		for (unsigned i = 0; i < ROWS; i++) {
			assert_int_equal(query_next(s, &cell, &err), RC_OK);
			check_value(&cell, i);
		}
		assert_int_equal(query_next(s, &cell, &err), RC_END);
		query_close(s);
	}
	const struct compaction_options o = {.keep_all = true};
	assert_int_equal(compaction_open(&c, &family, &f, 1, &o, &err), RC_OK);
	for (unsigned i = 0; i < ROWS; i++) {
		assert_int_equal(compaction_next(c, &cell, &err), RC_OK);
		check_value(&cell, i);
	}
	assert_int_equal(compaction_next(c, &cell, &err), RC_END);
	compaction_close(c);
}

/* Two rows of one file open it once. */
static void a_file_stays_open(void **state)
{
	const struct query_file f = {.open = open_store, .name = "store", .mobs = &mobs};
	const struct query q = {.raw = true};
	struct hfile_writer *w = new_writer(&store), *m = new_writer(&mob[0]);
	struct buf value = {0};
	uint64_t rows, cells;
	struct error err;

	(void)state;
	put_reference(&value, 1, 0);
	for (unsigned i = 0; i < 50; i++) {
		add(w, i, buf_bytes(&value), bytes_of(reference, sizeof reference));
		add(m, i, bytes_str("v"), (struct bytes){0});
	}
	end(w);
	end(m);
	buf_release(&value);
	opened = 0;
	struct query_scan *s = scan(&f, &q);
	assert_int_equal(query_count(s, &rows, &cells, &err), RC_OK);
	query_close(s);
	assert_int_equal(cells, 50);
	assert_int_equal(opened, 1);
}

/* Write one reference, with the cell `row` of one byte in its file. Return the result of a scan. */
static int scan_one(struct bytes value, struct bytes tags, unsigned row,
		    const struct query_mobs *with, struct error *err)
{
	const struct query_file f = {.open = open_store, .name = "store", .mobs = with};
	const struct query q = {0};
	struct hfile_writer *w = new_writer(&store), *m = new_writer(&mob[0]);
	struct cell c;

	add(w, 5, value, tags);
	add(m, row, bytes_str("v"), (struct bytes){0});
	end(w);
	end(m);
	struct query_scan *s = scan(&f, &q);
	int rc = query_next(s, &c, err);
	query_close(s);
	return rc;
}

/* A reference whose value is not there is an error, never a value. */
static void references_without_a_value(void **state)
{
	const struct bytes tags = bytes_of(reference, sizeof reference);
	struct buf value = {0};
	struct error err;

	(void)state;
	put_reference(&value, 1, 0);
	assert_int_equal(scan_one(buf_bytes(&value), tags, 5, &mobs, &err), RC_OK);
	assert_int_equal(scan_one(buf_bytes(&value), tags, 5, NULL, &err), RC_DATA);
	assert_non_null(strstr(err.msg, "store: row r005: found a reference to a MOB file"));
	for (unsigned row = 4; row <= 6; row += 2) {
		assert_int_equal(scan_one(buf_bytes(&value), tags, row, &mobs, &err), RC_DATA);
		assert_non_null(strstr(err.msg, "found no value of the reference's size"));
	}
	assert_int_equal(scan_one(buf_bytes(&value), bytes_of(no_table, sizeof no_table), 5, &mobs,
				  &err),
			 RC_DATA);
	assert_non_null(strstr(err.msg, "damaged reference"));
	assert_int_equal(scan_one(bytes_of("\0\0\0\1", 4), tags, 5, &mobs, &err), RC_DATA);
	assert_int_equal(scan_one(bytes_of("\0\0\0\1other", 9), tags, 5, &mobs, &err), RC_DATA);
	assert_string_equal(err.msg, "no file other");
	put_reference(&value, 2, 0);
	assert_int_equal(scan_one(buf_bytes(&value), tags, 5, &mobs, &err), RC_DATA);
	buf_release(&value);
}

static int release(void **state)
{
	(void)state;
	buf_release(&store);
	for (unsigned i = 0; i < MOBS; i++)
		buf_release(&mob[i]);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(values_instead_of_references),
					   cmocka_unit_test(a_file_stays_open),
					   cmocka_unit_test(references_without_a_value)};

	return cmocka_run_group_tests_name("mob", tests, NULL, release);
}
