/*
 * test_hfile_writer.c - the HFile writer compared with golden vectors of HBase's own writer
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "hash.h"
#include "hfile.h"
#include "io.h"
#include "tests/unit/hex.h"
#include "tests/unit/temp_dir.h"

/* Returns the file without its trailer. */
static const char golden_blocks[] =
	"44415441424c4b2a0000005e0000005affffffffffffffff02000040000000007b0000001300000002000472"
	"6f7731026366610000018bcfe5680004763100000014000000020004726f773102636661620000018bcfe568"
	"0004763100000014000000030005726f773232026366610000018bcfe567ff0476333398c3d7ca424c4d4642"
	"4c4b320000000800000004ffffffffffffffff020000400000000025451145102783cf80494458524f4f5432"
	"0000002400000020ffffffffffffffff02000040000000004100000000000000000000007f130004726f7731"
	"026366610000018bcfe56800045de53c6c494458524f4f5432000000040000000000000000000000a8020000"
	"4000000000215228f7cb46494c45494e46320000019800000194ffffffffffffffff0200004000000001b550"
	"4255468e030a180a11424c4f4f4d5f46494c5445525f545950451203524f570a1c0a1442554c4b4c4f41445f"
	"534f555243455f5441534b12047461736b0a1e0a1242554c4b4c4f41445f54494d455354414d501208000001"
	"8bcfe569c80a1f0a1344454c4554455f46414d494c595f434f554e54120800000000000000000a1b0a0f4541"
	"524c494553545f5055545f545312080000018bcfe567ff0a220a1d4558434c5544455f46524f4d5f4d494e4f"
	"525f434f4d50414354494f4e1201000a170a0e4c4153545f424c4f4f4d5f4b45591205726f7732320a190a14"
	"4d414a4f525f434f4d50414354494f4e5f4b45591201ff0a1d0a0954494d4552414e474512100000018bcfe5"
	"67ff0000018bcfe568000a190a116866696c652e4156475f4b45595f4c454e1204000000130a1b0a13686669"
	"6c652e4156475f56414c55455f4c454e1204000000020a200a146866696c652e4352454154455f54494d455f"
	"545312080000018bcfe5687b0a250a0d6866696c652e4c4153544b455912140005726f773232026366610000"
	"018bcfe567ff040496e9e9424c4d464d4554320000003e0000003affffffffffffffff02000040000000005b"
	"0000000300000000000000040000000700000001000000000000000200000000000000030000000100000000"
	"000000007f0000002904726f7731b14b5047";
/* Returns the trailer up to its zeros. */
static const char golden_trailer[] =
	"545241424c4b22244808920210a801182020d125280130003803400148005000"
	"5a2d6f72672e6170616368652e6861646f6f702e68626173652e4b657956616c7565244b56436f6d70617261"
	"746f726002";

#define GOLDEN_BYTES 4906

static struct cell cell_of(const char *row, const char *qualifier, int64_t ts, const char *value)
{
	return (struct cell){.row = bytes_str(row),
			     .qualifier = bytes_str(qualifier),
			     .value = bytes_str(value),
			     .ts = ts,
			     .type = CELL_PUT};
}

static struct hfile_options golden_options(void)
{
	return (struct hfile_options){.family = bytes_str("cf"),
				      .codec = CODEC_NONE,
				      .level = LEVEL_DEFAULT,
				      .bloom = BLOOM_ROW,
				      .create_ms = 1700000000123,
				      .bulkload_ms = 1700000000456,
				      .source_task = bytes_str("task")};
}

static void write_golden(const char *path, const struct hfile_options *opt,
			 struct hfile_summary *sum)
{
	struct hfile_writer *w;
	struct error err;
	struct cell cells[] = {cell_of("row1", "a", 1700000000000, "v1"),
			       cell_of("row1", "ab", 1700000000000, "v1"),
			       cell_of("row22", "a", 1699999999999, "v33")};

	assert_int_equal(hfile_writer_new(&w, path, opt, &err), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(hfile_add(w, &cells[i], &err), 0);
	assert_int_equal(hfile_finish(w, sum, &err), 0);
}

static void golden_file(void **state)
{
	(void)state;
	struct hfile_options opt = golden_options();
	struct hfile_summary sum;
	struct buf file = {0};
	struct error err;
	write_golden(path_of("golden"), &opt, &sum);
	assert_int_equal(io_read_file(path_of("golden"), &file, &err), 0);
	assert_int_equal(file.len, GOLDEN_BYTES);
	assert_hex(bytes_of(file.ptr, 810), golden_blocks);
	size_t n = (sizeof golden_trailer - 1) / 2;
	assert_hex(bytes_of(file.ptr + 810, n), golden_trailer);
	for (size_t i = 810 + n; i < GOLDEN_BYTES - 4; i++)
		assert_int_equal(file.ptr[i], 0);
	assert_hex(bytes_of(file.ptr + GOLDEN_BYTES - 4, 4), "03000003");
	buf_release(&file);

	uint8_t digest[16];
	uint64_t size;
	assert_int_equal(io_digest_file(path_of("golden"), digest, &size, &err), 0);
	assert_memory_equal(sum.digest, digest, 16);
	assert_int_equal(sum.file_bytes, GOLDEN_BYTES);
	assert_int_equal(sum.cells, 3);
	assert_int_equal(sum.rows, 2);
	assert_int_equal(sum.cell_bytes, 90);
	assert_int_equal(sum.data_blocks, 1);
	assert_int_equal(sum.min_ts, 1699999999999);
	assert_int_equal(sum.max_ts, 1700000000000);
	assert_hex(buf_bytes(&sum.first_row), "726f7731");
	assert_hex(buf_bytes(&sum.last_row), "726f773232");
	hfile_summary_release(&sum);
}

/*
 * HBase 2.6.4's StoreFileWriter wrote the same cells with no compression,
 * io.storefile.bloom.block.size 8000 and prefix length 6. The first MD5 covers its file up to the
 * file info block, which differs by version. The second MD5 covers the payload of the bloom meta
 * block.
 */
static const struct {
	enum block_encoding encoding;
	enum bloom_type bloom;
	uint32_t block_bytes, index_bytes;
	bool tails;
	size_t info_at;
	const char *blocks, *bloom_meta;
} hbase_files[] = {
	{ENCODING_NONE, BLOOM_ROW, 0, 0, false, 2463635, "27cd5a5c1ce603fa0b196dc763543b33",
	 "19a2cf3e314f1feab24ab4b24a8f76e8"},
	{ENCODING_FAST_DIFF, BLOOM_ROW, 0, 0, false, 868226, "f4c786fe61697bd0b37d0616844b907a",
	 "bb2eb419d6ebc1aeb5ffb3769bad91ed"},
	{ENCODING_NONE, BLOOM_ROWCOL, 0, 0, false, 2524411, "3a725fd0db59754b2e79015f57c841b2",
	 "fcc3ab1925d7c5c23d153671983b1f98"},
	{ENCODING_NONE, BLOOM_ROW, 200, 2000, false, 3399471, "474acad4a87ac1f342e0db335e630677",
	 "071ed9c38b355acec866a724929cf08e"},
	{ENCODING_PREFIX, BLOOM_ROWPREFIX, 1000, 3000, false, 1564178,
	 "ba01bf7fd5dcfa152dbb8c34aad7398f", "3b1704f8b9e3d3bfe18de8f8720b5822"},
	{ENCODING_DIFF, BLOOM_ROWCOL, 4000, 4000, true, 1102189, "6409a7da0c0c26a9c3a785ea4d5fa4eb",
	 "40053419693f18a7684ce75a4b209801"},
	{ENCODING_FAST_DIFF, BLOOM_ROWPREFIX, 0, 0, true, 964263,
	 "79987eae5fb0e4d8f8ffdd4cd90e356a", "e96f83c8b01ec7a01582ad1ed7a3d3de"},
	{ENCODING_ROW_INDEX_V1, BLOOM_ROW, 8000, 0, true, 2749284,
	 "6c1df82ff986b37e3b3a7c8b7cca5d3c", "7b86f1bc03a450cecbcf7db285d22726"},
};

/* 20,000 rows row0000000, row0000007, ... with three columns each. */
static void write_rows(const char *path, const struct hfile_options *opt)
{
	struct hfile_writer *w;
	struct hfile_summary sum;
	struct error err;

	assert_int_equal(hfile_writer_new(&w, path, opt, &err), 0);
	for (int i = 0; i < 60000; i++) {
		int r = i / 3, q = i % 3;
		char row[16], qualifier[16], value[32];

		snprintf(row, sizeof row, "row%07d", r * 7);
		snprintf(qualifier, sizeof qualifier, "q%d", q * q);
		snprintf(value, sizeof value, "value-%d", r * q % 97);
		struct cell c = cell_of(row, qualifier, 1700000000000 - r * q % 1000, value);
		assert_int_equal(hfile_add(w, &c, &err), 0);
	}
	/* The size estimate that decides when to roll a file is near the real size. */
	double estimate = (double)hfile_bytes_so_far(w);
	assert_int_equal(hfile_finish(w, &sum, &err), 0);
	assert_true(estimate > 0.97 * (double)sum.file_bytes);
	assert_true(estimate < 1.03 * (double)sum.file_bytes);
	hfile_summary_release(&sum);
}

static void assert_md5(struct bytes found, const char *hex)
{
	uint8_t digest[16];

	md5(found, digest);
	assert_hex(bytes_of(digest, sizeof digest), hex);
}

static void same_as_hbase(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof hbase_files / sizeof *hbase_files; i++) {
		struct hfile_options opt = golden_options();
		struct buf file = {0};
		struct error err;

		opt.family = bytes_str("d");
		opt.encoding = hbase_files[i].encoding;
		opt.bloom = hbase_files[i].bloom;
		opt.bloom_prefix = 6;
		opt.bloom_block_bytes = 8000;
		opt.block_bytes = hbase_files[i].block_bytes;
		opt.index_block_bytes = hbase_files[i].index_bytes;
		opt.tags = opt.mvcc = hbase_files[i].tails;
		unlink(path_of("rows"));
		write_rows(path_of("rows"), &opt);
		assert_int_equal(io_read_file(path_of("rows"), &file, &err), 0);
		assert_true(file.len > hbase_files[i].info_at + 4096);
		assert_md5(bytes_of(file.ptr, hbase_files[i].info_at), hbase_files[i].blocks);
		const uint8_t *meta = memmem(file.ptr + hbase_files[i].info_at,
					     file.len - hbase_files[i].info_at, "BLMFMET2", 8);
		assert_non_null(meta);
		assert_md5(bytes_of(meta + 33, get_be32(meta + 12)), hbase_files[i].bloom_meta);
		buf_release(&file);
	}
}

#define CELL_1 "00000013 00000002 0004726f7731026366610000018bcfe5680004 7631"
#define CELL_2 "00000014 00000002 0004726f773102636661620000018bcfe5680004 7631"
#define CELL_3 "00000014 00000003 0005726f773232026366610000018bcfe567ff04 763333"

/* Returns the payload of the only data block. */
static const struct {
	enum block_encoding encoding;
	bool tails;
	const char *payload;
} encodings[] = {
	{ENCODING_FAST_DIFF, false,
	 "0004 0000005a 00 13 02 00 0004726f7731026366610000018bcfe5680004 7631"
	 "77 14 0a 62 00 2e 03 01 05726f773232 61 67ff 763333"},
	{ENCODING_DIFF, false,
	 "0003 0000005a 026366 50 13 02 00 0004726f7731 61 0068e5cf8b01 04 7631"
	 "0e 14 0a 62 00 7631 0d 03 01 05726f773232 61 01 763333"},
	{ENCODING_PREFIX, false,
	 "0002 0000005a 13 02 00 0004726f7731026366610000018bcfe5680004 7631"
	 "0a 02 0a 620000018bcfe5680004 7631 13 03 01 05726f773232026366610000018bcfe567ff04"
	 "763333"},
	{ENCODING_ROW_INDEX_V1, false,
	 "0007" CELL_1 CELL_2 CELL_3 "00000002 00000000 0000003b 0000005a"},
	{ENCODING_NONE, true, CELL_1 "000000" CELL_2 "000000" CELL_3 "000000"},
	/* The block has v7 0 and vlong 0 after each cell (4.2), so it has 99 = 90 + 3 x 3 bytes. */
	{ENCODING_PREFIX, true,
	 "0002 00000063 13 02 00 0004726f7731026366610000018bcfe5680004 7631 0000"
	 "0a 02 0a 620000018bcfe5680004 7631 0000 13 03 01 05726f773232026366610000018bcfe567ff04"
	 "763333 0000"},
};

static void golden_encodings(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
		struct hfile_options opt = golden_options();
		struct hfile_summary sum;
		struct hfile *f;
		struct hfile_block b;
		struct error err;
		uint64_t at = 0;

		opt.encoding = encodings[i].encoding;
		opt.tags = opt.mvcc = encodings[i].tails;
		unlink(path_of("encoded"));
		write_golden(path_of("encoded"), &opt, &sum);
		hfile_summary_release(&sum);
		assert_int_equal(hfile_open(&f, path_of("encoded"), &err), 0);
		assert_int_equal(hfile_next_block(f, &at, &b, &err), 0);
		assert_string_equal(b.type, opt.encoding ? "DATABLKE" : "DATABLK*");
		assert_hex(b.payload, encodings[i].payload);
		struct bytes v;
		assert_int_equal(hfile_info_get(f, "hfile.MAX_TAGS_LEN", &v), opt.tags);
		assert_int_equal(hfile_info_get(f, "KEY_VALUE_VERSION", &v), opt.mvcc);
		assert_int_equal(hfile_info_get(f, "DATA_BLOCK_ENCODING", &v), opt.encoding != 0);
		hfile_close(f);
		assert_int_equal(hfile_verify(path_of("encoded"), &sum, &err), 0);
		assert_int_equal(sum.cells, 3);
		assert_int_equal(sum.cell_bytes, 90);
		hfile_summary_release(&sum);
	}
}

/* Invalid cells after the cell r/q/100, with the error codes. */
static const struct {
	const char *row, *qualifier;
	int64_t ts;
	uint8_t type;
	int rc;
} refusals[] = {
	{"q", "q", 100, CELL_PUT, RC_ORDER},
	{"r", "p", 100, CELL_PUT, RC_ORDER},
	{"r", "", 100, CELL_PUT, RC_ORDER},
	{"r", "q", 101, CELL_PUT, RC_ORDER},
	{"", "q", 100, CELL_PUT, RC_LIMIT},
	{"r", "r", -1, CELL_PUT, RC_LIMIT},
	{"r", "r", INT64_MAX, CELL_PUT, RC_LIMIT},
	{"r", "r", 100, 9, RC_DATA},
	{"r", "q", 100, CELL_DELETE, RC_ORDER},
	{"r", "q", 100, CELL_PUT, 0},
	{"r", "q", 99, CELL_PUT, 0},
	{"r", "q2", INT64_MAX - 1, CELL_PUT, 0},
	{"r2", "", 0, CELL_PUT, 0},
};

static void refused_cells(void **state)
{
	struct hfile_options opt = golden_options();
	struct hfile_writer *w;
	struct hfile_summary sum;
	struct error err;
	char *row = calloc(1, 32768);

	(void)state;
	memset(row, 'z', 32768);
	assert_int_equal(hfile_writer_new(&w, path_of("refused"), &opt, &err), 0);
	struct cell c = cell_of("r", "q", 100, "");
	assert_int_equal(hfile_add(w, &c, &err), 0);
	for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
		c = cell_of(refusals[i].row, refusals[i].qualifier, refusals[i].ts, "v");
		c.type = refusals[i].type;
		assert_int_equal(hfile_add(w, &c, &err), refusals[i].rc);
	}
	c.row = bytes_of(row, 32768);
	assert_int_equal(hfile_add(w, &c, &err), RC_LIMIT);
	c.row.len = 32767;
	assert_int_equal(hfile_add(w, &c, &err), 0);
	free(row);
	assert_int_equal(hfile_finish(w, &sum, &err), 0);
	assert_int_equal(sum.cells, 6);
	assert_int_equal(sum.rows, 3);
	hfile_summary_release(&sum);
	assert_int_equal(hfile_verify(path_of("refused"), &sum, &err), 0);
	assert_int_equal(sum.rows, 3);
	hfile_summary_release(&sum);
}

/* Within one row, cells that may not follow q/100 in one call. */
static void refused_in_a_row(void **state)
{
	struct hfile_options opt = golden_options();
	struct hfile_writer *w;
	struct hfile_summary sum;
	struct error err;

	(void)state;
	assert_int_equal(hfile_writer_new(&w, path_of("row"), &opt, &err), 0);
	for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
		char row[] = {(char)('a' + i), 0};
		struct cell c[] = {cell_of(row, "q", 100, "v"),
				   cell_of(row, refusals[i].qualifier, refusals[i].ts, "")};

		if (strcmp(refusals[i].row, "r") == 0 && refusals[i].type == CELL_PUT)
			assert_int_equal(hfile_add_row(w, c, 2, &err), refusals[i].rc);
	}
	assert_int_equal(hfile_finish(w, &sum, &err), 0);
	assert_int_equal(sum.cells, 8 + 3); /* the first of each pair, and three pairs */
	assert_int_equal(sum.rows, 8);
	hfile_summary_release(&sum);
}

/* --- hfile_add_values: the same file as cell by cell --- */

#define SHORT_ROWS 3000

static uint32_t random_below(uint32_t n)
{
	static uint32_t random_state = 5;

	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % n;
}

/* Rows of a number and at most 60 more bytes. Each column may be missing, and its value is short or
 * long. */
struct made_row {
	size_t len, count;
	uint8_t key[80 + CELL_ROOM_BYTES];
	struct cell_value values[4];
};

static void make_row(struct made_row *m, uint32_t number)
{
	static uint8_t text[70000];

	if (!text[0])
		memset(text, 'v', sizeof text);
	memset(m, 0, sizeof *m);
	put_be32(m->key, number / 3 * 3); /* adjacent keys are prefixes of one another */
	m->len = number % 3 == 0   ? 4
		 : number % 3 == 1 ? 5 + random_below(9)
				   : 15 + random_below(50);
	for (uint16_t c = 0; c < 4; c++) {
		uint32_t len = random_below(1000) ? random_below(40) : 60000 + random_below(10000);

		if (random_below(4) || (c == 3 && m->count == 0))
			m->values[m->count++] = (struct cell_value){.ptr = text,
								    .len = len,
								    .column = c,
								    .roomy = len % 2};
	}
}

static void write_made(const char *path, const struct hfile_options *opt, bool quick,
		       const struct made_row *rows, struct hfile_summary *sum)
{
	struct hfile_writer *w;
	struct error err;

	assert_int_equal(hfile_writer_new(&w, path, opt, &err), 0);
	for (const struct made_row *m = rows; m < rows + SHORT_ROWS; m++) {
		int64_t ts = 1700000000000 + (m - rows) * 7919 % 1000;
		struct bytes row = {m->key, m->len};

		if (quick)
			assert_int_equal(hfile_add_values(w, row, ts, m->values, m->count, &err),
					 0);
		for (size_t i = 0; !quick && i < m->count; i++) {
			struct cell c = {.row = row,
					 .qualifier = opt->qualifiers[m->values[i].column],
					 .value = bytes_of(m->values[i].ptr, m->values[i].len),
					 .ts = ts,
					 .type = CELL_PUT};

			assert_int_equal(hfile_add(w, &c, &err), 0);
		}
	}
	assert_int_equal(hfile_finish(w, sum, &err), 0);
	unlink(path);
}

static void values_as_cells(void **state)
{
	static struct made_row rows[SHORT_ROWS];
	static const char *const families[] = {"d", "a family of 20 bytes",
					       "another that has more than 32 bytes"};
	const struct bytes qualifiers[] = {bytes_str(""), bytes_str("a"),
					   bytes_str("a longer one, 23 bytes."), bytes_str("b")};

	(void)state;
	for (uint32_t i = 0; i < SHORT_ROWS; i++)
		make_row(&rows[i], i);
	for (size_t i = 0; i < sizeof hbase_files / sizeof *hbase_files; i++) {
		struct hfile_options opt = golden_options();
		struct hfile_summary cells, values;

		opt.family = bytes_str(families[i % 3]);
		opt.encoding = hbase_files[i].encoding;
		opt.bloom = hbase_files[i].bloom;
		opt.bloom_prefix = 6;
		opt.bloom_block_bytes = 2000;
		opt.block_bytes = hbase_files[i].block_bytes;
		opt.tags = opt.mvcc = hbase_files[i].tails;
		opt.qualifiers = qualifiers;
		opt.nqualifiers = 4;
		write_made(path_of("made"), &opt, false, rows, &cells);
		write_made(path_of("made"), &opt, true, rows, &values);
		assert_memory_equal(cells.digest, values.digest, sizeof cells.digest);
		assert_int_equal(cells.file_bytes, values.file_bytes);
		assert_int_equal(cells.cells, values.cells);
		assert_int_equal(cells.rows, values.rows);
		assert_int_equal(cells.cell_bytes, values.cell_bytes);
		assert_int_equal(cells.min_ts, values.min_ts);
		assert_int_equal(cells.max_ts, values.max_ts);
		hfile_summary_release(&cells);
		hfile_summary_release(&values);
	}
}

/* These values are invalid after row m, columns 0 and 1, time 100. */
static const struct {
	const char *row;
	int64_t ts;
	uint16_t columns[2];
	int rc;
} refused_rows[] = {
	{"l", 100, {0, 1}, RC_ORDER},
	{"l9", 100, {0, 1}, RC_ORDER},
	{"", 100, {0, 1}, RC_LIMIT},
	{"m", 100, {0, 1}, RC_ORDER},
	{"m", 101, {1, 2}, RC_ORDER},
	{"m", 100, {1, 2}, 0},
	{"n", -1, {0, 1}, RC_LIMIT},
	{"n", INT64_MAX, {0, 1}, RC_LIMIT},
	{"n", 100, {1, 0}, RC_ORDER},
	{"o", 100, {2, 2}, 0},
	{"o", 99, {2, 3}, 0},
	{"o0123456", 1, {0, 3}, 0},
	{"o0123456", 1, {0, 3}, RC_ORDER},
	{"o01234567", 1, {0, 3}, 0},
	{"o01234566", 1, {0, 3}, RC_ORDER},
};

static void refused_values(void **state)
{
	struct hfile_options opt = golden_options();
	const struct bytes qualifiers[] = {bytes_str("a"), bytes_str("b"), bytes_str("c"),
					   bytes_str("d")};
	const struct bytes mixed[] = {bytes_str("b"), bytes_str("a")};
	const struct bytes same[] = {bytes_str("b"), bytes_str("b")};
	struct cell_value v[] = {{.column = 0}, {.column = 1}};
	char row[32 + CELL_ROOM_BYTES] = "m";
	struct hfile_writer *w;
	struct hfile_summary sum;
	struct error err;

	(void)state;
	opt.nqualifiers = 2;
	opt.qualifiers = mixed;
	assert_int_equal(hfile_writer_new(&w, path_of("values"), &opt, &err), RC_ORDER);
	opt.qualifiers = same;
	assert_int_equal(hfile_writer_new(&w, path_of("values"), &opt, &err), RC_ORDER);
	opt.nqualifiers = 4;
	opt.qualifiers = qualifiers;
	assert_int_equal(hfile_writer_new(&w, path_of("values"), &opt, &err), 0);
	assert_int_equal(hfile_add_values(w, bytes_of(row, 1), 100, v, 2, &err), 0);
	for (size_t i = 0; i < sizeof refused_rows / sizeof *refused_rows; i++) {
		memset(row, 0xff, sizeof row); /* any bytes may follow a row */
		memcpy(row, refused_rows[i].row, strlen(refused_rows[i].row));
		v[0].column = refused_rows[i].columns[0];
		v[1].column = refused_rows[i].columns[1];
		assert_int_equal(hfile_add_values(w, bytes_of(row, strlen(refused_rows[i].row)),
						  refused_rows[i].ts, v, 2, &err),
				 refused_rows[i].rc);
	}
	assert_int_equal(hfile_finish(w, &sum, &err), 0);
	assert_int_equal(sum.rows, 5);
	hfile_summary_release(&sum);
	assert_int_equal(hfile_verify(path_of("values"), &sum, &err), 0);
	hfile_summary_release(&sum);
}

static void refused_files(void **state)
{
	struct hfile_options opt = golden_options();
	struct hfile_writer *w;
	struct hfile_summary sum;
	struct error err;
	char family[129];

	(void)state;
	memset(family, 'f', 128);
	family[128] = 0;
	opt.family = bytes_str(family);
	assert_int_equal(hfile_writer_new(&w, path_of("no"), &opt, &err), RC_LIMIT);
	opt = golden_options();
	opt.codec = CODEC_LZO;
	assert_int_equal(hfile_writer_new(&w, path_of("no"), &opt, &err), RC_CONFIG);
	assert_null(w);
	opt = golden_options();
	assert_int_equal(hfile_writer_new(&w, path_of("none/x"), &opt, &err), RC_IO);
	/* without cells there is no file */
	assert_int_equal(hfile_writer_new(&w, path_of("no"), &opt, &err), 0);
	assert_int_equal(hfile_finish(w, &sum, &err), RC_DATA);
	assert_int_equal(access(path_of("no"), F_OK), -1);
	/* abort removes the file; the writer never overwrites an existing file */
	assert_int_equal(hfile_writer_new(&w, path_of("no"), &opt, &err), 0);
	struct hfile_writer *second;
	assert_int_equal(hfile_writer_new(&second, path_of("no"), &opt, &err), RC_IO);
	hfile_abort(w);
	assert_int_equal(access(path_of("no"), F_OK), -1);
	hfile_abort(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_file),	    cmocka_unit_test(golden_encodings),
		cmocka_unit_test(same_as_hbase),    cmocka_unit_test(refused_cells),
		cmocka_unit_test(refused_in_a_row), cmocka_unit_test(refused_files),
		cmocka_unit_test(values_as_cells),  cmocka_unit_test(refused_values),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
