/*
 * test_read_undisturbed.c - compares scans of tables that need no merge with a list of their cells
 *
 * Rows have cells of some of the families, with several versions and expired ones. Small blocks make
 * the lanes of the families end at different rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "draw.h"
#include "mem.h"
#include "memory_files.h"
#include "query.h"

enum { FAMILIES = 6, ROWS = 400, NOW = 1000000 };

static const char *const qualifiers[] = {"", "a", "ab", "b"};

/* A table, and the cells that its query returns. */
struct rig {
	struct arena arena;
	struct query_family families[FAMILIES];
	struct query_file files[FAMILIES];
	struct query q;
	struct buf first[FAMILIES], last[FAMILIES];
	struct hfile_writer *w[FAMILIES];
	size_t nfamilies, ncells, nrows;
	struct cell *cells;
};

static bool is_asked(const struct rig *t, struct bytes row)
{
	return bytes_cmp(row, t->q.start) >= 0 &&
	       (t->q.stop.len == 0 || bytes_cmp(row, t->q.stop) < 0);
}

/* Write the versions of a column. Expect the newest ones, if they are alive and in the range. */
static void add_column(struct rig *t, size_t f, struct cell c, bool *new_row)
{
	struct query_family *family = &t->families[f];
	unsigned n = 1 + pick(4), kept = 0;
	int64_t last = 0; /* of equal cells, the first one counts */
	struct error err;

	c.ts = NOW - (int64_t)pick(20);
	for (unsigned i = 0; i < n; i++, c.ts -= (int64_t)pick(30)) {
		bool alive = !family->ttl_ms || c.ts >= NOW - family->ttl_ms;

		c.value = bytes_of("value", pick(6));
		assert_int_equal(hfile_add(t->w[f], &c, &err), 0);
		if (!is_asked(t, c.row) || !alive || c.ts == last || kept == family->versions ||
		    kept == t->q.versions)
			continue;
		if (*new_row && t->q.limit && t->nrows == t->q.limit)
			return;
		t->nrows += *new_row;
		*new_row = false;
		kept++;
		last = c.ts;
		t->cells = mem_grow(t->cells, t->ncells, sizeof *t->cells);
		t->cells[t->ncells++] = c;
	}
}

static void add_row(struct rig *t, unsigned i)
{
	struct bytes row = bytes_str(arena_format(&t->arena, "r%05u", i));
	bool new_row = true;

	for (size_t f = 0; f < t->nfamilies; f++) {
		struct cell c = {.row = row, .family = t->families[f].name, .type = CELL_PUT};

		if (pick(4) == 0 || (f == 3 && i % 100 < 90))
			continue;
		for (size_t k = 0; k < 4; k++) {
			c.qualifier = bytes_str(qualifiers[k]);
			if (pick(2))
				add_column(t, f, c, &new_row);
		}
	}
}

static void begin_file(struct rig *t, size_t f)
{
	const struct hfile_sink sink = {"memory", append, finish, give_up, &files[f]};
	const struct hfile_options opt = {.family = t->families[f].name,
					  .encoding = pick(2) ? ENCODING_DIFF : ENCODING_NONE,
					  .block_bytes = 60 + pick(2000),
					  .mvcc = pick(2)};
	struct error err;

	files[f].bytes.len = 0;
	assert_int_equal(hfile_writer_new_to(&t->w[f], &sink, &opt, &err), 0);
}

static void end_file(struct rig *t, size_t f)
{
	struct hfile_summary sum;
	struct error err;

	assert_int_equal(hfile_finish(t->w[f], &sum, &err), 0);
	t->first[f] = sum.first_row;
	t->last[f] = sum.last_row;
	t->files[f] = (struct query_file){.open = open_memory,
					  .name = arena_format(&t->arena, "%zu", f),
					  .family = f,
					  .first_row = buf_bytes(&t->first[f]),
					  .last_row = buf_bytes(&t->last[f])};
}

static void make_table(struct rig *t)
{
	*t = (struct rig){.nfamilies = 1 + pick(FAMILIES)};
	t->q = (struct query){.versions = 1 + pick(3), .now_ms = NOW};
	if (pick(2))
		t->q.start = bytes_str(arena_format(&t->arena, "r%05u", pick(ROWS)));
	if (pick(2))
		t->q.stop = bytes_str(arena_format(&t->arena, "r%05u", pick(ROWS)));
	if (pick(3) == 0)
		t->q.limit = 1 + pick(50);
	for (size_t f = 0; f < t->nfamilies; f++) {
		t->families[f] =
			(struct query_family){.name = bytes_str(arena_format(&t->arena, "f%zu", f)),
					      .versions = 1 + pick(3),
					      .ttl_ms = pick(2) ? 0 : 10 + pick(40)};
		begin_file(t, f);
	}
	for (unsigned i = 0; i < ROWS; i++)
		add_row(t, i);
	for (size_t f = 0; f < t->nfamilies; f++)
		end_file(t, f);
}

static void drop_table(struct rig *t)
{
	for (size_t f = 0; f < t->nfamilies; f++) {
		buf_release(&t->first[f]);
		buf_release(&t->last[f]);
	}
	mem_free(t->cells);
	arena_release(&t->arena);
}

static void expect_cell(const struct cell *found, const struct cell *want)
{
	if (!bytes_eq(found->row, want->row) || !bytes_eq(found->family, want->family) ||
	    !bytes_eq(found->qualifier, want->qualifier) || found->ts != want->ts ||
	    !bytes_eq(found->value, want->value))
		fail_msg("found %.*s %.*s:%.*s at %lld, expected %.*s %.*s:%.*s at %lld",
			 (int)found->row.len, found->row.ptr, (int)found->family.len,
			 found->family.ptr, (int)found->qualifier.len, found->qualifier.ptr,
			 (long long)found->ts, (int)want->row.len, want->row.ptr,
			 (int)want->family.len, want->family.ptr, (int)want->qualifier.len,
			 want->qualifier.ptr, (long long)want->ts);
}

/* Read `n` cells one by one, and count the others. */
static void scan(struct rig *t, size_t n)
{
	struct query_scan *s;
	struct error err;
	struct cell c;
	uint64_t rows, cells, begun = 0;

	if (query_open(&s, t->families, t->nfamilies, t->files, t->nfamilies, &t->q, &err))
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(query_next(s, &c, &err), 0);
		expect_cell(&c, &t->cells[i]);
		bool starts = i == 0 || !bytes_eq(t->cells[i - 1].row, t->cells[i].row);
		assert_int_equal(query_starts_row(s), starts);
		begun += starts;
	}
	assert_int_equal(query_count(s, &rows, &cells, &err), 0);
	assert_int_equal(cells, t->ncells - n);
	assert_int_equal(rows, t->nrows - begun);
	query_close(s);
}

static void random_tables(void **state)
{
	(void)state;
	random_state = 29;
	for (int i = 0; i < 300; i++) {
		struct rig t;

		make_table(&t);
		scan(&t, t.ncells);
		scan(&t, 0);
		scan(&t, pick((unsigned)t.ncells + 1));
		drop_table(&t);
	}
	for (size_t f = 0; f < FAMILIES; f++)
		buf_release(&files[f].bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_tables)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
