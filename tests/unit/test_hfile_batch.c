/* Tests that a batch ends before a cell whose lengths do not fit, which only the reader of single cells may report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hfile.h"
#include "mem.h"
#include "pipeline/hfile/reader.h"
#include "tests/unit/temp_dir.h"

enum { CELLS = 4, FAMILY_AT = 4 + 4 + 2 + 1 }; /* after the lengths, and a row of one byte */

static void write_file(const char *path, size_t qualifier_bytes)
{
	const struct hfile_options opt = {.family = bytes_str("f"),
					  .encoding = ENCODING_NONE,
					  .codec = CODEC_NONE,
					  .block_bytes = 65536,
					  .index_block_bytes = 65536,
					  .source_task = bytes_str("t")};
	uint8_t *qualifier = mem_calloc(qualifier_bytes, 1);
	struct hfile_summary sum;
	struct hfile_writer *w;
	struct error err;

	assert_int_equal(hfile_writer_new(&w, path, &opt, &err), 0);
	for (size_t i = 0; i < CELLS; i++) {
		const struct cell c = {.row = bytes_of(&"abcd"[i], 1),
				       .family = bytes_str("f"),
				       .qualifier = bytes_of(qualifier, qualifier_bytes),
				       .ts = 5,
				       .type = CELL_PUT,
				       .value = bytes_str("v")};

		assert_int_equal(hfile_add(w, &c, &err), 0);
	}
	assert_int_equal(hfile_finish(w, &sum, &err), 0);
	hfile_summary_release(&sum);
	mem_free(qualifier);
}

static void test_length_of_a_family(void **state)
{
	static const struct {
		size_t qualifier_bytes;
		uint8_t family_bytes;
		bool sound;
	} cases[] = {{300, 1, true}, {300, 127, true}, {300, 128, false}, {300, 255, false},
		     {10, 11, true}, {10, 12, false},  {10, 100, false}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct hfile *f;
		struct hfile_batch b;
		struct cell first;
		struct error err;

		write_file(path_of("batch"), cases[i].qualifier_bytes);
		assert_int_equal(hfile_open(&f, path_of("batch"), &err), 0);
		hfile_rewind(f);
		assert_int_equal(hfile_next_cell(f, &first, &err), 0);
		/* the third of four cells with equal lengths */
		size_t at = f->cells.len / CELLS * 2 + FAMILY_AT;
		assert_int_equal(f->cells.ptr[at], 1);
		((uint8_t *)(uintptr_t)f->cells.ptr)[at] = cases[i].family_bytes;
		assert_int_equal(hfile_next_batch(f, &b, &err), 0);
		assert_true(cases[i].sound || b.n == 1);
		if (!cases[i].sound)
			assert_int_equal(hfile_next_batch(f, &b, &err), RC_DATA);
		hfile_close(f);
		unlink(path_of("batch"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_length_of_a_family)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
