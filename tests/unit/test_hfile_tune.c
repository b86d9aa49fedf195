/*
 * test_hfile_tune.c - compares the settings found by `level: auto` with libzstd and with the bytes
 * that the writer stores
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <zstd.h>

#include "hfile.h"
#include "io.h"
#include "mem.h"

/* Numbers fill few blocks, and all trials see them. Text fills over 16 blocks, and trials see a
 * quarter. */
#define ROWS 12000

struct rig {
	char *dir, *plain, *packed;
};

static int setup(void **state)
{
	char folder[] = "/tmp/test_tune.XXXXXX";
	struct rig *r = mem_calloc(1, sizeof *r);

	r->dir = mem_strdup(mkdtemp(folder));
	r->plain = mem_format("%s/plain", r->dir);
	r->packed = mem_format("%s/packed", r->dir);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;
	struct error err;

	assert_int_equal(io_remove_tree(r->dir, &err), 0);
	mem_free(r->dir);
	mem_free(r->plain);
	mem_free(r->packed);
	mem_free(r);
	return 0;
}

static uint32_t scramble(uint32_t x)
{
	x = (x ^ x >> 16) * 0x7feb352d;
	x = (x ^ x >> 15) * 0x846ca68b;
	return x ^ x >> 16;
}

/* With small numbers, each row resembles the row before. In text, phrases repeat after many other
 * phrases. */
static size_t make_value(char *to, size_t room, bool text, uint32_t row)
{
	if (!text)
		return (size_t)snprintf(to, room, "%u", scramble(row) % 1000);
	size_t n = 0;
	for (uint32_t word = 0, phrase = scramble(row) % 100; word < 12; word++)
		n += (size_t)snprintf(to + n, room - n, "%x ", scramble(100 * word + phrase));
	return n;
}

/* With STEADY, times and values hardly change from row to row. */
enum contents { NUMBERS, TEXT, STEADY };

static void write_file(const char *path, enum contents kind, struct hfile_options opt)
{
	struct hfile_writer *w;
	struct hfile_summary sum;
	struct error err;

	unlink(path);
	opt.family = bytes_str("f");
	opt.source_task = bytes_str("t");
	assert_int_equal(hfile_writer_new(&w, path, &opt, &err), 0);
	for (uint32_t i = 0; i < ROWS; i++) {
		uint8_t row[4];
		char value[128];

		put_be32(row, i * 3);
		size_t n =
			make_value(value, sizeof value, kind == TEXT, kind == STEADY ? i / 50 : i);
		struct cell c = {.row = bytes_of(row, 4),
				 .qualifier = bytes_str("q"),
				 .ts = 1500000000000 + (kind == STEADY ? i : scramble(i) % 1000),
				 .value = bytes_of(value, n),
				 .type = CELL_PUT};
		assert_int_equal(hfile_add(w, &c, &err), 0);
	}
	assert_int_equal(hfile_finish(w, &sum, &err), 0);
	hfile_summary_release(&sum);
}

static int tune(const char *path, struct hfile_tune_request r, unsigned threads,
		struct hfile_tuning *out)
{
	struct hfile *f;
	struct error err;

	assert_int_equal(hfile_open(&f, path, &err), 0);
	int rc = hfile_tune(f, &r, threads, out, &err);
	hfile_close(f);
	return rc;
}

/* Sizes of all data blocks as cells, in the file, and as libzstd compresses them at a level. */
struct sizes {
	uint64_t plain, stored, zstd;
};

static struct sizes measure(const char *path, int level)
{
	struct sizes s = {0};
	struct hfile *f;
	struct hfile_block b;
	struct error err;
	uint64_t at = 0;

	assert_int_equal(hfile_open(&f, path, &err), 0);
	while (hfile_next_block(f, &at, &b, &err) == 0) {
		if (strncmp(b.type, "DATABLK", 7) != 0)
			continue;
		size_t room = ZSTD_compressBound(b.plain_bytes);
		void *out = mem_alloc(room);
		s.plain += b.plain_bytes;
		s.stored += b.disk_bytes - 33 - 4 * ((b.disk_bytes + 16383) / 16384);
		s.zstd += 8 + ZSTD_compress(out, room, b.payload.ptr, b.plain_bytes, level);
		mem_free(out);
	}
	hfile_close(f);
	return s;
}

static void chosen(void **state)
{
	const struct rig *r = *state;

	static const struct {
		bool text;
		enum codec_aim aim;
		bool small_table, sequences;
		enum block_encoding encoding;
	} cases[] = {{false, AIM_BALANCE, true, true, ENCODING_NONE},
		     {true, AIM_BALANCE, false, false, ENCODING_NONE},
		     {false, AIM_SPEED, true, true, ENCODING_NONE},
		     {false, AIM_SIZE, true, false, ENCODING_NONE},
		     {true, AIM_SIZE, false, false, ENCODING_NONE},
		     {false, AIM_BALANCE, true, false, ENCODING_ROW_INDEX_V1},
		     {false, AIM_SPEED, false, false, ENCODING_ROW_INDEX_V1}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct hfile_options plain = {.codec = CODEC_NONE, .encoding = cases[i].encoding};
		struct hfile_tune_request request = {.aim = cases[i].aim};
		struct hfile_tuning t, again;

		write_file(r->plain, cases[i].text ? TEXT : NUMBERS, plain);
		assert_int_equal(tune(r->plain, request, 1, &t), 0);
		assert_int_equal(tune(r->plain, request, 3, &again), 0);
		assert_true(t.level == again.level && t.hash_log == again.hash_log &&
			    t.min_match == again.min_match);
		assert_int_equal(t.min_match != 0, cases[i].sequences);
		assert_int_equal(t.hash_log == 8, cases[i].small_table);
		/* the writer stores as few bytes as the tuner predicts */
		struct hfile_options opt = {.codec = CODEC_ZSTD,
					    .level = t.level,
					    .hash_log = t.hash_log,
					    .min_match = t.min_match,
					    .encoding = cases[i].encoding};
		write_file(r->packed, cases[i].text ? TEXT : NUMBERS, opt);
		struct sizes s = measure(r->packed, t.level);
		assert_int_equal(t.plain_bytes, s.plain);
		assert_int_equal(t.stored_bytes, s.stored);
		/* hash_log 0 means libzstd's own level; no level of libzstd is smaller */
		if (t.hash_log == 0)
			assert_int_equal(s.stored, s.zstd);
		for (int level = 2; cases[i].aim == AIM_SIZE && level <= 9; level += 5)
			assert_in_range(s.stored, 1, measure(r->plain, level).zstd);
	}
}

/*
 * With a free encoding, the sizes are those of the writer's file, and `usual_bytes` is the size of
 * the plain blocks from libzstd.
 */
static void encoding_chosen(void **state)
{
	const struct rig *r = *state;
	static const enum codec_aim aims[] = {AIM_BALANCE, AIM_SPEED, AIM_SIZE};

	for (size_t i = 0; i < sizeof aims / sizeof *aims; i++) {
		struct hfile_options plain = {.codec = CODEC_NONE};
		struct hfile_tune_request request = {aims[i], true, true};
		struct hfile_tuning t, again;

		write_file(r->plain, STEADY, plain);
		assert_int_equal(tune(r->plain, request, 1, &t), 0);
		assert_int_equal(tune(r->plain, request, 3, &again), 0);
		assert_memory_equal(&t, &again, sizeof t);
		struct hfile_options opt = {.codec = CODEC_ZSTD,
					    .level = t.level,
					    .hash_log = t.hash_log,
					    .min_match = t.min_match,
					    .encoding = t.encoding,
					    .block_bytes = t.block_bytes};
		write_file(r->packed, STEADY, opt);
		uint64_t usual = measure(r->plain, 3).zstd, stored = measure(r->packed, 1).stored;
		/* blocks of another size have other borders than in the sample */
		uint64_t off = t.block_bytes ? stored / 20 : 0;
		assert_in_range(t.stored_bytes, stored - off, stored + off);
		assert_in_range(t.usual_bytes, usual - usual / 50, usual + usual / 50);
		assert_true(t.chosen);
	}
}

/* A table without cells gets settings only if its encoding is free. */
static void blind(void **state)
{
	const struct hfile_tune_request level = {.aim = AIM_SIZE}, read = {AIM_READ, true, true};
	struct hfile_tuning t = hfile_tune_blind(&read);

	(void)state;
	assert_int_equal(hfile_tune_blind(&level).level, 0);
	assert_true(t.level && t.encoding == ENCODING_DIFF && t.block_bytes == 16384);
}

static void refused(void **state)
{
	const struct rig *r = *state;
	struct hfile_options opt = {.family = bytes_str("f"),
				    .codec = CODEC_ZSTD,
				    .level = 3,
				    .hash_log = 99};
	struct hfile_writer *w;
	struct error err;

	assert_int_equal(hfile_writer_new(&w, r->packed, &opt, &err), RC_CONFIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(chosen, setup, teardown),
		cmocka_unit_test_setup_teardown(encoding_chosen, setup, teardown),
		cmocka_unit_test(blind), cmocka_unit_test_setup_teardown(refused, setup, teardown)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
