/*
 * test_hfile_diff_cells.c - random reads and seeks in DIFF files against a sorted list of cells;
 * test_hfile_quick_diff.c compares the cells of blocks with the careful decoder
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "hfile.h"
#include "mem.h"
#include "tests/unit/temp_dir.h"

#define CELLS 4000
#define STEPS 3000

static uint64_t state_of_random = 31;

static uint32_t draw(uint32_t below)
{
	state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state_of_random >> 33) % below;
}

static struct cell list[CELLS];
static char text[CELLS][3][40];

static struct bytes draw_text(char *to, const char *name, int digits, uint32_t below)
{
	snprintf(to, 40, "%s%0*u", name, digits, draw(below));
	return bytes_str(to);
}

static int by_key(const void *a, const void *b)
{
	return cell_key_cmp(a, b);
}

/* Some rows have one length, some rows and columns are prefixes of others, some cells are equal. */
static void make_list(bool deletes)
{
	static const uint8_t types[] = {CELL_DELETE, CELL_DELETE_COLUMN, CELL_PUT};

	for (size_t i = 0; i < CELLS; i++)
		list[i] =
			(struct cell){.row = draw_text(text[i][0], "r", draw(2) ? 5 : 1, 900),
				      .family = bytes_str("f"),
				      .qualifier = draw_text(text[i][1], "q", 1, draw(2) ? 3 : 120),
				      .ts = draw(10) ? 1700000000000 + draw(3) : draw(50),
				      .value = draw_text(text[i][2], "value ", 1, 1u << draw(30)),
				      .type = deletes && draw(30) == 0 ? types[draw(3)] : CELL_PUT};
	qsort(list, CELLS, sizeof *list, by_key);
}

static void write_list(uint32_t block_bytes)
{
	const struct hfile_options opt = {.family = bytes_str("f"),
					  .codec = draw(2) ? CODEC_ZSTD : CODEC_NONE,
					  .level = LEVEL_DEFAULT,
					  .encoding = ENCODING_DIFF,
					  .bloom = BLOOM_ROW,
					  .block_bytes = block_bytes};
	struct hfile_summary sum;
	struct hfile_writer *w;
	struct error err;

	unlink(path_of("a"));
	assert_int_equal(hfile_writer_new(&w, path_of("a"), &opt, &err), 0);
	for (size_t i = 0; i < CELLS; i++)
		assert_int_equal(hfile_add(w, &list[i], &err), 0);
	assert_int_equal(hfile_finish(w, &sum, &err), 0);
	hfile_summary_release(&sum);
}

/* Equal keys may have different values, but the file has the order of the list. */
static void assert_cell(const struct cell *found, size_t at)
{
	assert_in_range(at, 0, CELLS - 1);
	assert_int_equal(cell_key_cmp(found, &list[at]), 0);
	assert_true(bytes_eq(found->family, list[at].family));
	assert_true(bytes_eq(found->value, list[at].value));
	assert_true(found->mvcc == 0 && found->tags.len == 0);
}

static size_t take_batch(struct hfile *f, size_t at)
{
	struct hfile_batch b;
	struct error err;
	bool puts = true;

	int rc = hfile_next_batch(f, &b, &err);
	if (at == CELLS) {
		assert_int_equal(rc, RC_END);
		return at;
	}
	assert_int_equal(rc, 0);
	assert_in_range(b.n, 1, HFILE_BATCH);
	for (size_t i = 0; i < b.n; i++) {
		assert_cell(&b.cells[i], at + i);
		puts &= list[at + i].type == CELL_PUT;
		if (i == 0)
			continue;
		bool row = bytes_eq(list[at + i].row, list[at + i - 1].row);
		bool column = row && bytes_eq(list[at + i].qualifier, list[at + i - 1].qualifier);
		assert_int_equal(b.step[i], !row      ? HFILE_NEW_ROW
					    : !column ? HFILE_NEW_COLUMN
						      : HFILE_SAME_COLUMN);
	}
	assert_int_equal(b.plain, puts);
	return at + b.n;
}

/* Go to a cell of the list, to the start of its row, or to a key that no cell has. */
static size_t seek(struct hfile *f)
{
	const struct bytes none = {NULL, 0};
	struct cell key = list[draw(CELLS)];
	struct error err;
	size_t at = 0;

	if (draw(3) == 0)
		key = cell_first(key.row, none, none);
	else if (draw(3) == 0)
		key.ts += draw(5) - 2;
	assert_int_equal(hfile_seek(f, &key, &err), 0);
	while (at < CELLS && cell_key_cmp(&list[at], &key) < 0)
		at++;
	return at;
}

/* This moves the file, so a seek or a rewind must follow. */
static void find_row_before(struct hfile *f)
{
	const struct bytes none = {NULL, 0};
	const struct cell key = cell_first(list[draw(CELLS)].row, none, none);
	struct buf row = {0};
	struct error err;
	size_t at = 0;

	int rc = hfile_row_before(f, &key, &row, &err);
	while (at < CELLS && cell_key_cmp(&list[at], &key) < 0)
		at++;
	assert_int_equal(rc, at ? 0 : RC_END);
	if (at)
		assert_true(bytes_eq(buf_bytes(&row), list[at - 1].row));
	buf_release(&row);
}

static void random_steps(void **state)
{
	static const uint32_t blocks[] = {1, 700, 5000, 65536};
	struct cell cell;
	struct error err;
	struct hfile *f;

	(void)state;
	for (int round = 0; round < 8; round++) {
		size_t at = 0;

		make_list(round % 2);
		write_list(blocks[round / 2]);
		assert_int_equal(hfile_open(&f, path_of("a"), &err), 0);
		for (int i = 0; i < STEPS / (round < 2 ? 10 : 1); i++) {
			switch (draw(12)) {
			case 0: at = seek(f); break;
			case 1:
				find_row_before(f);
				at = seek(f);
				break;
			case 2: at = take_batch(f, at); break;
			case 3:
				if (draw(20) == 0) {
					hfile_rewind(f);
					at = 0;
				}
				break;
			default:
				assert_int_equal(hfile_next_cell(f, &cell, &err),
						 at < CELLS ? 0 : RC_END);
				if (at < CELLS)
					assert_cell(&cell, at++);
			}
		}
		hfile_rewind(f);
		for (at = 0; at < CELLS;)
			at = take_batch(f, at);
		take_batch(f, at);
		hfile_close(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_steps)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
