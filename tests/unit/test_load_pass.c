/* Tests that a pass over files puts each row once into its table's sorter, for any threads and
 * memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pass.h"
#include "tests/unit/temp_dir.h"

enum { ROWS = 100000, BAD_EVERY = 25000 };
#define MIB (UINT64_C(1) << 20)

/* Table a gets every row, and table b gets rows whose `odd` is not empty. */
static const char job_text[] = "source:\n"
			       "  csv: {files: [in.csv]}\n"
			       "fields:\n"
			       "  id: {type: u32}\n"
			       "tables:\n"
			       "  - name: a\n"
			       "    rowkey: [{field: id, as: u32}]\n"
			       "    timestamp: 5\n"
			       "    families: {f: {}}\n"
			       "    cells:\n"
			       "      - {family: f, qualifier: v, value: text}\n"
			       "    regions: {split: none}\n"
			       "  - name: b\n"
			       "    rowkey: [{field: id, as: u32}]\n"
			       "    timestamp: 5\n"
			       "    families: {f: {}}\n"
			       "    cells:\n"
			       "      - {family: f, qualifier: v, value: odd, optional: true}\n"
			       "    regions: {split: none}\n";

struct rig {
	struct job job;
	struct progress progress;
	struct run_options run;
	struct pass_options opt;
	struct input input;
	struct pass pass;
	struct error err;
};

/* Each scattered id occurs once, because 7919 and ROWS have no common divisor. */
static unsigned id_of(unsigned i)
{
	return (unsigned)((uint64_t)i * 7919 % ROWS);
}

static int make_input(void **state)
{
	if (setup(state))
		return -1;
	struct error err;
	struct buf text = {0}, bad = {0};
	int rc = io_write_file(path_of("job.yaml"), bytes_of(job_text, sizeof job_text - 1), &err);
	buf_append_str(&text, "id,text,odd\n");
	buf_append_str(&bad, "id,text,odd\n");
	for (unsigned i = 0; i < ROWS; i++) {
		unsigned id = id_of(i);

		buf_printf(&text, "%u,the text of row %08u,%s\n", id, id, id % 2 ? "x" : "");
		buf_printf(&bad, i % BAD_EVERY == BAD_EVERY - 1 ? "%ux,," : "%u,t,", id);
		buf_put(&bad, '\n');
	}
	rc = rc ? rc : io_write_file(path_of("in.csv"), buf_bytes(&text), &err);
	rc = rc ? rc : io_write_file(path_of("bad.csv"), buf_bytes(&bad), &err);
	buf_release(&text);
	buf_release(&bad);
	return rc;
}

static void rig_open(struct rig *r, unsigned threads, uint64_t memory)
{
	*r = (struct rig){.run = {.threads = threads,
				  .memory_bytes = memory,
				  .temp_quota_bytes = UINT64_MAX}};
	if (job_load(&r->job, path_of("job.yaml"), &r->err))
		fail_msg("%s", r->err.msg);
	r->input = (struct input){0};
	r->opt = (struct pass_options){.job = &r->job,
				       .run = &r->run,
				       .input = &r->input,
				       .progress = &r->progress};
}

static int rig_run(struct rig *r)
{
	int rc = pass_open(&r->pass, &r->opt, &r->err);

	if (rc == RC_OK)
		rc = pass_prepare(&r->pass, dir, &r->err);
	return rc ? rc : pass_run(&r->pass, &r->err);
}

/* The pass returns all memory to the budget. */
static void rig_close(struct rig *r)
{
	pass_free_sorters(&r->pass);
	assert_int_equal(atomic_load(&r->pass.budget.used), 0);
	pass_close(&r->pass);
	job_release(&r->job);
}

static void expect_ids(struct rig *r, size_t table, unsigned first, unsigned step)
{
	struct record_iter rows;
	struct record rec;
	unsigned want = first;
	struct bytes none = {0};
	int rc = sorter_range(r->pass.tables[table].sorter, none, none, &rows, &r->err);

	while (rc == RC_OK && (rc = rows.next(rows.self, &rec, &r->err)) == RC_OK) {
		assert_int_equal(rec.key.len, 4);
		assert_int_equal(get_be32(rec.key.ptr), want);
		want += step;
	}
	assert_int_equal(rc, RC_END);
	assert_int_equal(want, ROWS + first);
	rows.close(rows.self);
}

static void test_each_row_once(void **state)
{
	static const struct {
		unsigned threads;
		uint64_t memory;
		bool spills;
	} cases[] = {{1, 256 * MIB, false}, {3, 256 * MIB, false}, {2, MIB, true}, {5, MIB, true}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct rig r;

		rig_open(&r, cases[i].threads, cases[i].memory);
		assert_int_equal(rig_run(&r), RC_OK);
		assert_int_equal(pass_sort(&r.pass, &r.err), RC_OK);
		assert_int_equal(r.pass.events, ROWS);
		assert_int_equal(r.progress.events, ROWS);
		assert_int_equal(r.pass.rejected, 0);
		assert_int_equal(r.pass.newest_ms, 5);
		assert_int_equal(r.pass.tables[0].filtered, 0);
		assert_int_equal(r.pass.tables[1].filtered, ROWS / 2);
		assert_int_equal(sorter_totals(r.pass.tables[0].sorter).spilled_bytes > 0,
				 cases[i].spills);
		expect_ids(&r, 0, 0, 1);
		expect_ids(&r, 1, 1, 2);
		rig_close(&r);
	}
}

static void test_only_wanted_tables(void **state)
{
	static const bool wanted[] = {false, true};
	struct rig r;

	(void)state;
	rig_open(&r, 2, 64 * MIB);
	r.opt.wanted = wanted;
	assert_int_equal(rig_run(&r), RC_OK);
	assert_int_equal(pass_sort(&r.pass, &r.err), RC_OK);
	assert_null(r.pass.tables[0].sorter);
	expect_ids(&r, 1, 1, 2);
	rig_close(&r);
}

/* Line 25001 has the first bad row, and line 50001 the second. */
static void test_rejects(void **state)
{
	static const struct {
		struct event_limit limit;
		int rc;
		const char *says;
	} cases[] = {
		{{.count = 0}, RC_DATA, "bad.csv:25001 "},
		{{.count = 1}, RC_DATA, "bad.csv:50001 "},
		{{.count = 3}, RC_DATA, "bad.csv:100001 "},
		{{.count = 4}, RC_OK, ""},
		{{.share = 0.00002, .is_share = true}, RC_DATA, "bad.csv:75001 "},
		{{.share = 0.00004, .is_share = true}, RC_OK, ""},
	};
	char *file = mem_strdup(path_of("bad.csv"));
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (unsigned threads = 1; threads <= 4; threads += 3) {
			struct rig r;

			rig_open(&r, threads, 64 * MIB);
			r.input.files = (const char *const *)&file;
			r.input.nfiles = 1;
			r.opt.limit = cases[i].limit;
			int rc = rig_run(&r);
			if (rc != cases[i].rc || (rc && !strstr(r.err.msg, cases[i].says)))
				fail_msg("case %zu: %d, %s", i, rc, r.err.msg);
			if (rc == RC_OK)
				assert_int_equal(r.pass.rejected, ROWS / BAD_EVERY);
			rig_close(&r);
		}
	mem_free(file);
}

struct taken {
	struct rig *rig;
	_Atomic uint64_t records, ids, pieces, piece_numbers, abandoned;
	uint64_t fail_at; /* the record that fails, or 0 for none */
};

static int count_record(void *ctx, unsigned worker, size_t table, const struct record *r,
			struct error *err)
{
	struct taken *t = ctx;

	assert_true(worker < t->rig->pass.memory.threads && table < 2);
	t->ids += table == 0 ? get_be32(r->key.ptr) : 0;
	return ++t->records == t->fail_at ? error_set(err, RC_IO, "as was asked") : RC_OK;
}

static int count_piece(void *ctx, unsigned worker, uint64_t piece, struct error *err)
{
	struct taken *t = ctx;

	(void)worker;
	(void)err;
	t->pieces++;
	t->piece_numbers += piece;
	return RC_OK;
}

static void count_abandoned(void *ctx)
{
	((struct taken *)ctx)->abandoned++;
}

static int run_counting(struct rig *r, struct taken *t)
{
	t->rig = r;
	r->opt.ctx = t;
	r->opt.record = count_record;
	r->opt.piece_end = count_piece;
	r->opt.abandon = count_abandoned;
	return rig_run(r);
}

static void test_records_for_the_caller(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 3; threads += 2) {
		struct rig r;
		struct taken t = {0};

		rig_open(&r, threads, 16 * MIB);
		assert_int_equal(run_counting(&r, &t), RC_OK);
		assert_int_equal(t.records, ROWS + ROWS / 2);
		assert_int_equal(t.ids, (uint64_t)ROWS * (ROWS - 1) / 2);
		assert_true(t.pieces > 2);
		assert_int_equal(t.piece_numbers, t.pieces * (t.pieces - 1) / 2);
		assert_int_equal(t.abandoned, 0);
		assert_int_equal(sorter_totals(r.pass.tables[0].sorter).records, 0);
		rig_close(&r);
	}
}

/* All threads stop, and the error is the error that the caller set. */
static void test_caller_fails(void **state)
{
	struct rig r;
	struct taken t = {.fail_at = 1000};

	(void)state;
	rig_open(&r, 3, 16 * MIB);
	assert_int_equal(run_counting(&r, &t), RC_IO);
	assert_string_equal(r.err.msg, "as was asked");
	assert_true(t.abandoned >= 1 && t.records < ROWS);
	rig_close(&r);
}

/* A pass reads a fraction of the pieces, which is the same for any threads and memory. */
static void test_fraction(void **state)
{
	uint64_t ids = 0;

	(void)state;
	for (unsigned threads = 1; threads <= 4; threads++) {
		struct rig r;
		struct taken t = {0};

		rig_open(&r, threads, threads * 16 * MIB);
		r.opt.fraction = 0.5;
		r.opt.even_pieces = true;
		assert_int_equal(run_counting(&r, &t), RC_OK);
		assert_true(r.pass.events > ROWS / 4 && r.pass.events < ROWS / 4 * 3);
		assert_true(t.records >= r.pass.events);
		assert_true(threads == 1 || t.ids == ids);
		ids = t.ids;
		rig_close(&r);
	}
}

/* After a failure to open a source, no memory and no file remains. */
static void test_refused(void **state)
{
	static const char *const files[] = {"/nowhere/in.csv"};
	struct rig r;

	(void)state;
	rig_open(&r, 2, 16 * MIB);
	r.input.files = files;
	r.input.nfiles = 1;
	assert_int_equal(rig_run(&r), RC_IO);
	assert_non_null(strstr(r.err.msg, "/nowhere/in.csv"));
	rig_close(&r);
	pass_close(&(struct pass){0});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_row_once), cmocka_unit_test(test_only_wanted_tables),
		cmocka_unit_test(test_rejects),	      cmocka_unit_test(test_records_for_the_caller),
		cmocka_unit_test(test_caller_fails),  cmocka_unit_test(test_fraction),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, make_input, teardown);
}
