/*
 * test_hfile_ring.c - several threads compress a file into the same bytes as one thread
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "hfile.h"
#include "io.h"
#include "mem.h"
#include "pool.h"
#include "tests/unit/temp_dir.h"

#define ROWS  2500
#define FILES 3 /* written at the same time, each by its own owner */

/* A run of the test, in which owners write one file each and the other threads help. */
struct night {
	struct hfile_options opt;
	unsigned owners, helpers;
	_Atomic unsigned left;
	uint64_t limit;		/* cells after which the writer starts a new file */
	size_t big_row;		/* number of a cell whose value fills many blocks */
	struct buf sums[FILES]; /* digests of all files, in order */
};

static int finish(struct hfile_writer *w, struct buf *digests, struct error *err)
{
	struct hfile_summary sum;
	int rc = hfile_finish(w, &sum, err);

	if (rc == RC_OK)
		buf_append(digests, sum.digest, sizeof sum.digest);
	hfile_summary_release(&sum);
	return rc;
}

static int add_row(struct hfile_writer *w, const struct night *n, uint32_t i, struct error *err)
{
	static const uint8_t big[30000];
	uint8_t row[4 + CELL_ROOM_BYTES] = {0};
	char value[40];

	put_be32(row, i);
	struct bytes v =
		bytes_of(value, (size_t)snprintf(value, sizeof value, "%u", i * i * 7919 % 100003));
	if (i == n->big_row)
		v = bytes_of(big, sizeof big);
	struct cell c[] = {{.row = bytes_of(row, 4),
			    .qualifier = bytes_str("a"),
			    .ts = 1500000000000 + i % 977,
			    .value = v,
			    .type = CELL_PUT},
			   {.qualifier = bytes_str("b"),
			    .ts = 1500000000000,
			    .value = bytes_of(value, i % 3),
			    .type = CELL_PUT}};
	if (n->opt.encoding != ENCODING_DIFF || i % 500 == 0)
		return hfile_add_row(w, c, 2, err);
	const struct cell_value values[] = {{v.ptr, (uint32_t)v.len, 0, false},
					    {(const uint8_t *)value, i % 3, 1, false}};
	return hfile_add_values(w, bytes_of(row, 4), c->ts, values, 2, err);
}

static int write_files(struct night *n, unsigned owner, struct error *err)
{
	struct hfile_options opt = n->opt;
	struct hfile_writer *w = NULL;
	int rc = 0;

	opt.scratch = hfile_scratch_new();
	for (uint32_t i = 0, part = 0; rc == RC_OK && i < ROWS; i++) {
		bool full = false;

		if (!w) {
			char *path = mem_format("%s/%u-%u", dir, owner, part++);

			unlink(path);
			rc = hfile_writer_new(&w, path, &opt, err);
			mem_free(path);
		}
		if (rc == RC_OK)
			rc = add_row(w, n, i, err);
		if (rc == RC_OK && n->limit)
			rc = hfile_reached(w, n->limit, &full, err);
		if (rc == RC_OK && full) {
			rc = finish(w, &n->sums[owner], err);
			w = NULL;
		}
	}
	if (rc == RC_OK && w)
		rc = finish(w, &n->sums[owner], err);
	else
		hfile_abort(w);
	hfile_scratch_free(opt.scratch);
	return rc;
}

static int work(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct night *n = ctx;

	(void)worker;
	if (index >= n->owners) {
		helpers_serve(n->opt.helpers);
		return 0;
	}
	while (n->opt.helpers && helpers_count(n->opt.helpers) < n->helpers)
		usleep(100); /* helpers work from the first block on */
	int rc = write_files(n, (unsigned)index, err);
	if ((rc || --n->left == 0) && n->opt.helpers)
		helpers_close(n->opt.helpers);
	return rc;
}

static int run(struct night *n, unsigned owners, unsigned helpers, struct error *err)
{
	n->owners = owners;
	n->helpers = helpers;
	n->left = owners;
	n->opt.helpers = helpers ? helpers_new() : NULL;
	int rc = pool_run(owners + helpers, owners + helpers, work, n, err);
	helpers_free(n->opt.helpers);
	return rc;
}

static struct hfile_options options(unsigned i)
{
	static const enum codec codecs[] = {CODEC_ZSTD, CODEC_GZ, CODEC_NONE, CODEC_SNAPPY,
					    CODEC_LZ4};
	static const enum block_encoding encodings[] = {ENCODING_NONE, ENCODING_FAST_DIFF,
							ENCODING_ROW_INDEX_V1, ENCODING_DIFF};
	static const enum bloom_type blooms[] = {BLOOM_ROW, BLOOM_ROWCOL, BLOOM_NONE, BLOOM_ROW};
	static const struct bytes qualifiers[] = {{(const uint8_t *)"a", 1},
						  {(const uint8_t *)"b", 1}};

	return (struct hfile_options){.family = bytes_str("f"),
				      .codec = codecs[i % 5],
				      .level = LEVEL_DEFAULT,
				      .min_match = i / 20 ? 4 + i / 20 : 0,
				      .encoding = encodings[i / 5 % 4],
				      .bloom = blooms[i / 5 % 4],
				      .qualifiers = qualifiers,
				      .nqualifiers = 2,
				      .block_bytes = i % 2 ? 1500 : 300,
				      .bloom_block_bytes = 256,
				      .index_block_bytes = 600};
}

static void same_bytes(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 5 * 4 * 4; i++) {
		struct budget budget = {.limit = i % 4 == 3 ? 3u << 20 : 1u << 30};
		struct error err = {0};
		struct night alone = {.opt = options(i),
				      .limit = i % 3 ? 0 : 9000,
				      .big_row = 1000};
		struct night crowd = alone;

		crowd.opt.budget = &budget;
		unsigned owners = 1 + i % FILES;
		if (run(&alone, 1, 0, &err) || run(&crowd, owners, 1 + i / 20, &err))
			fail_msg("%s", err.msg);
		assert_true(alone.sums[0].len >= (i % 3 ? 16 : 64));
		for (unsigned k = 0; k < owners; k++)
			assert_true(bytes_eq(buf_bytes(&alone.sums[0]), buf_bytes(&crowd.sums[k])));
		assert_int_equal(budget.used, 0);
		for (unsigned k = 0; k < FILES; k++) {
			buf_release(&alone.sums[k]);
			buf_release(&crowd.sums[k]);
		}
	}
}

/* An aborted writer with unfinished blocks leaves no file and no task. */
static int give_up(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct night *n = ctx;

	(void)worker;
	if (index) {
		helpers_serve(n->opt.helpers);
		return 0;
	}
	char *path = mem_format("%s/given-up", dir);
	struct hfile_writer *w;
	while (helpers_count(n->opt.helpers) == 0)
		usleep(1000);
	int rc = hfile_writer_new(&w, path, &n->opt, err);
	for (uint32_t i = 0; rc == RC_OK && i < 500; i++)
		rc = add_row(w, n, i, err);
	if (rc == RC_OK)
		hfile_abort(w);
	helpers_close(n->opt.helpers);
	if (rc == RC_OK && access(path, F_OK) == 0)
		rc = error_set(err, RC_DATA, "%s is there", path);
	mem_free(path);
	return rc;
}

static void given_up(void **state)
{
	struct night n = {.opt = options(0), .big_row = SIZE_MAX};
	struct error err = {0};

	(void)state;
	n.opt.helpers = helpers_new();
	assert_int_equal(pool_run(3, 3, give_up, &n, &err), 0);
	helpers_free(n.opt.helpers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(same_bytes),
					   cmocka_unit_test(given_up)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
