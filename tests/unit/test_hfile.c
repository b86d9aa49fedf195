/*
 * test_hfile.c - the HFile writer against the golden vectors of hfile-v3.md 14, which were taken
 * from HBase's own writer
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "hfile.h"
#include "io.h"
#include "pipeline/hfile/bloom.h"
#include "pipeline/hfile/codec.h"
#include "pipeline/hfile/encode.h"
#include "pipeline/hfile/index.h"
#include "pipeline/hfile/kv.h"

/* hfile-v3.md 14.1: the file up to its trailer. */
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
/* The trailer up to its zeros. */
static const char golden_trailer[] =
	"545241424c4b22244808920210a801182020d125280130003803400148005000"
	"5a2d6f72672e6170616368652e6861646f6f702e68626173652e4b657956616c7565244b56436f6d70617261"
	"746f726002";

#define GOLDEN_BYTES 4906

static int digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* Hex digits, blanks between them ignored. */
static struct buf unhex(const char *hex)
{
	struct buf b = {0};
	for (; *hex; hex++) {
		if (*hex == ' ')
			continue;
		buf_put(&b, (uint8_t)(digit(hex[0]) << 4 | digit(hex[1])));
		hex++;
	}
	return b;
}

static void assert_hex(struct bytes found, const char *hex)
{
	struct buf expected = unhex(hex);
	assert_int_equal(found.len, expected.len);
	if (found.len)
		assert_memory_equal(found.ptr, expected.ptr, found.len);
	buf_release(&expected);
}

static char dir[] = "/tmp/saltmill-hfile-XXXXXX";

static int setup(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	struct error err;
	(void)state;
	return io_remove_tree(dir, &err);
}

static char *path_of(const char *name)
{
	static char path[200];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static struct hfile_cell cell_of(const char *row, const char *qualifier, int64_t ts,
				 const char *value)
{
	return (struct hfile_cell){.row = bytes_str(row),
				   .qualifier = bytes_str(qualifier),
				   .value = bytes_str(value),
				   .ts = ts,
				   .type = HFILE_PUT};
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
	struct hfile_cell cells[] = {cell_of("row1", "a", 1700000000000, "v1"),
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

#define CELL_1 "00000013 00000002 0004726f7731026366610000018bcfe5680004 7631"
#define CELL_2 "00000014 00000002 0004726f773102636661620000018bcfe5680004 7631"
#define CELL_3 "00000014 00000003 0005726f773232026366610000018bcfe567ff04 763333"

/* hfile-v3.md 14.2: the payload of the only data block. */
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
	/* The same with v7 0 and vlong 0 behind each cell (4.2); 99 = 90 + 3 x 3 bytes. */
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

/* hfile-v3.md 14.3 */
static const struct {
	const char *key;
	uint32_t h1, h2;
} murmur[] = {
	{"", 0, 0},
	{"61", 0x92685f5e, 0x5b2b9c66},
	{"616161", 0x225648c5, 0x45432fb5},
	{"7a7a7a", 0x1ac73698, 0x9d4722f1},
	{"726f7730303031", 0x2d009a18, 0x55596ee5},
	{"ff", 0x992c0759, 0x20aeb023},
	{"fffe", 0xf745d97a, 0x8b74df4f},
	{"fffefd", 0xe3203b2b, 0xdab8e3be},
	{"00112233445566778899aabbccddeeff80", 0x0a7ce1c0, 0x3221992a},
};

static void bloom_hash(void **state)
{
	static const uint64_t bits[] = {149701, 96378, 219089, 10268, 198553, 145230, 170237};
	(void)state;
	for (size_t i = 0; i < sizeof murmur / sizeof *murmur; i++) {
		struct buf key = unhex(murmur[i].key);
		uint32_t h1 = hbloom_murmur2(buf_bytes(&key), 0);
		assert_int_equal(h1, murmur[i].h1);
		assert_int_equal(hbloom_murmur2(buf_bytes(&key), h1), murmur[i].h2);
		buf_release(&key);
	}
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(hbloom_bit(0x225648c5, 0x45432fb5, i, 8 * 32768), bits[i]);
	/* |INT_MIN mod B|, which overflows in 32 signed bits */
	assert_int_equal(hbloom_bit(0x80000000, 0, 0, 1000), 2147483648u % 1000);
}

static void bloom_sizes(void **state)
{
	uint32_t hashes, keys;
	struct buf made = {0};
	(void)state;
	hbloom_sizes(BLOOM_ROW, 131072, &hashes, &keys);
	assert_int_equal(hashes, 7);
	assert_int_equal(keys, 109306);
	hbloom_sizes(BLOOM_ROWCOL, 131072, &hashes, &keys);
	assert_int_equal(hashes, 8);
	assert_int_equal(keys, 95069);
	assert_hex(hbloom_key(BLOOM_ROWCOL, 0, bytes_str("r1"), bytes_str("q"), &made),
		   "0002 7231 00 71 7fffffffffffffff ff");
	assert_hex(hbloom_key(BLOOM_ROWPREFIX, 3, bytes_str("abcd"), bytes_str("q"), &made),
		   "616263");
	assert_hex(hbloom_key(BLOOM_ROWPREFIX, 9, bytes_str("abcd"), bytes_str("q"), &made),
		   "61626364");
	buf_release(&made);
}

/* hfile-v3.md 3.5; the last from Hadoop's rule: complement of the magnitude */
static const struct {
	int64_t value;
	const char *hex;
} vints[] = {
	{0, "00"},         {127, "7f"},          {128, "8f80"},
	{255, "8fff"},     {256, "8e0100"},      {-1, "ff"},
	{-112, "90"},      {-113, "8770"},       {INT64_C(1) << 31, "8c80000000"},
	{INT64_MAX, "887fffffffffffffff"},       {INT64_MIN, "807fffffffffffffff"},
};

static void vint(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof vints / sizeof *vints; i++) {
		uint8_t p[9];
		int64_t v;
		size_t n = kv_vint_put(p, vints[i].value);
		assert_hex(bytes_of(p, n), vints[i].hex);
		assert_int_equal(kv_vint_get(p, p + n, &v), n);
		assert_int_equal(v, vints[i].value);
		assert_int_equal(kv_vint_get(p, p + n - 1, &v), 0);
	}
}

static void crc(void **state)
{
	(void)state;
	assert_int_equal(hblock_crc32c((const uint8_t *)"123456789", 9), 0xe3069283);
	assert_int_equal(hblock_crc32c((const uint8_t *)"", 0), 0);
}

/* hfile-v3.md 14.5, from HBase's own unit test */
static void zstd_styles(void **state)
{
	struct buf in = unhex("00000010 00000019 28b52ffd20108100004842617365206973"
			      "20617765736f6d65");
	struct hcodec h = {0};
	struct error err;
	uint8_t out[17];
	(void)state;
	assert_int_equal(hcodec_decompress(&h, CODEC_ZSTD, buf_bytes(&in), out, 16, &err), 0);
	assert_memory_equal(out, "HBase is awesome", 16);
	/* Behind both length fields lies the frame that Hadoop's codec wants. */
	struct bytes frame = bytes_of(in.ptr + 8, in.len - 8);
	memset(out, 0, sizeof out);
	assert_int_equal(hcodec_decompress(&h, CODEC_ZSTD, frame, out, 16, &err), 0);
	assert_memory_equal(out, "HBase is awesome", 16);
	assert_int_equal(hcodec_decompress(&h, CODEC_ZSTD, frame, out, 15, &err), RC_DATA);
	assert_int_equal(hcodec_decompress(&h, CODEC_ZSTD, frame, out, 17, &err), RC_DATA);
	hcodec_release(&h);
	buf_release(&in);
}

static const struct {
	enum codec codec;
	enum zstd_framing framing;
} containers[] = {{CODEC_GZ, 0},
		  {CODEC_SNAPPY, 0},
		  {CODEC_LZ4, 0},
		  {CODEC_ZSTD, ZSTD_FRAMING_HBASE},
		  {CODEC_ZSTD, ZSTD_FRAMING_HADOOP}};

/* Style B as 9.1 and 9.3 say: total, chunks of 218422 bytes of input, zero behind several. */
static void check_chunks(struct bytes stored, size_t plain_bytes)
{
	size_t chunks = (plain_bytes + 218421) / 218422, at = 4;
	assert_int_equal(get_be32(stored.ptr), plain_bytes);
	for (size_t i = 0; i < chunks; i++) {
		uint32_t n = get_be32(stored.ptr + at);
		assert_true(n <= 262144);
		at += 4 + n;
		assert_true(at <= stored.len);
	}
	if (chunks > 1) {
		assert_int_equal(get_be32(stored.ptr + at), 0);
		at += 4;
	}
	assert_int_equal(at, stored.len);
}

static void codec_containers(void **state)
{
	static const size_t sizes[] = {0, 1, 65536, 218422, 218423, 700000};
	uint8_t *plain = malloc(700000), *back = malloc(700000);
	struct hcodec h = {0};
	struct error err;
	(void)state;
	/* Half of it does not compress: stored chunks grow. */
	srand(7);
	for (size_t i = 0; i < 700000; i++)
		plain[i] = i % 100000 < 50000 ? (uint8_t)rand() : (uint8_t)(i / 1000);
	for (size_t c = 0; c < sizeof containers / sizeof *containers; c++) {
		enum codec codec = containers[c].codec;
		assert_int_equal(
			hcodec_setup(&h, codec, LEVEL_DEFAULT, containers[c].framing, &err), 0);
		for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
			struct buf out = {0};
			struct bytes in = {plain, sizes[s]};
			assert_int_equal(hcodec_compress(&h, in, &out, &err), 0);
			if (codec == CODEC_GZ)
				assert_int_equal(get_be16(out.ptr), 0x1f8b);
			else if (codec == CODEC_ZSTD && containers[c].framing)
				assert_int_equal(get_be32(out.ptr), 0x28b52ffd);
			else
				check_chunks(buf_bytes(&out), sizes[s]);
			assert_int_equal(hcodec_decompress(&h, codec, buf_bytes(&out), back,
							   sizes[s], &err),
					 0);
			if (sizes[s])
				assert_memory_equal(plain, back, sizes[s]);
			else
				assert_int_equal(out.len, codec == CODEC_GZ ? 20
							  : containers[c].framing ? 9 : 4);
			buf_release(&out);
		}
		assert_int_equal(hcodec_setup(&h, CODEC_LZO, LEVEL_DEFAULT, 0, &err), RC_CONFIG);
	}
	hcodec_release(&h);
	free(plain);
	free(back);
}

static struct buf flat_key(const char *row, const char *qualifier, int64_t ts)
{
	struct buf b = {0};
	struct kv_key k = {bytes_str(row), bytes_str("f"), bytes_str(qualifier), ts, HFILE_PUT};
	kv_key_put(&b, &k);
	return b;
}

/* hfile-v3.md 5.6: last key before, first key of the block, what the index has */
static const struct {
	const char *last_row, *last_qualifier, *row, *qualifier, *expected;
} shortened[] = {
	/* differ by more than one at the first difference; one more than last's byte */
	{"axx", "q", "cyy", "q", "0001 62 00 7fffffffffffffff ff"},
	/* differ by one: last's byte plus one is the row's own byte */
	{"axx", "q", "byy", "q", "0001 62 00 7fffffffffffffff ff"},
	/* a proper prefix: last and a zero byte */
	{"ab", "q", "abc", "q", "0003 616200 00 7fffffffffffffff ff"},
	/* one row: the qualifiers' middle under row and family */
	{"r", "qa", "r", "qcc", "0001 72 01 66 7162 7fffffffffffffff ff"},
	{"r", "q", "r", "qq", "0001 72 01 66 7100 7fffffffffffffff ff"},
	/* one row and qualifier: the block's own key */
	{"r", "q", "r", "q", "0001 72 01 66 71 0000000000000005 04"},
};

static void index_keys(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof shortened / sizeof *shortened; i++) {
		struct buf last = flat_key(shortened[i].last_row, shortened[i].last_qualifier, 9);
		struct buf first = flat_key(shortened[i].row, shortened[i].qualifier, 5);
		struct buf out = {0};
		hindex_key(&out, buf_bytes(&last), buf_bytes(&first));
		assert_hex(buf_bytes(&out), shortened[i].expected);
		out.len = 0;
		hindex_key(&out, (struct bytes){NULL, 0}, buf_bytes(&first));
		assert_true(bytes_eq(buf_bytes(&out), buf_bytes(&first)));
		buf_release(&last);
		buf_release(&first);
		buf_release(&out);
	}
}

/* What is refused behind the cell r/q/100, and with which code. */
static const struct {
	const char *row, *qualifier;
	int64_t ts;
	uint8_t type;
	int rc;
} refusals[] = {
	{"q", "q", 100, HFILE_PUT, RC_ORDER},
	{"r", "p", 100, HFILE_PUT, RC_ORDER},
	{"r", "", 100, HFILE_PUT, RC_ORDER},
	{"r", "q", 101, HFILE_PUT, RC_ORDER},
	{"", "q", 100, HFILE_PUT, RC_LIMIT},
	{"r", "r", -1, HFILE_PUT, RC_LIMIT},
	{"r", "r", INT64_MAX, HFILE_PUT, RC_LIMIT},
	{"r", "r", 100, 8, RC_DATA},
	{"r", "q", 100, HFILE_PUT, 0},
	{"r", "q", 99, HFILE_PUT, 0},
	{"r", "q2", INT64_MAX - 1, HFILE_PUT, 0},
	{"r2", "", 0, HFILE_PUT, 0},
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
	struct hfile_cell c = cell_of("r", "q", 100, "");
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
	opt.family.len = 0;
	assert_int_equal(hfile_writer_new(&w, path_of("no"), &opt, &err), RC_LIMIT);
	opt = golden_options();
	opt.codec = CODEC_LZO;
	assert_int_equal(hfile_writer_new(&w, path_of("no"), &opt, &err), RC_CONFIG);
	assert_null(w);
	opt = golden_options();
	assert_int_equal(hfile_writer_new(&w, path_of("none/x"), &opt, &err), RC_IO);
	/* no cells: no file */
	assert_int_equal(hfile_writer_new(&w, path_of("no"), &opt, &err), 0);
	assert_int_equal(hfile_finish(w, &sum, &err), RC_DATA);
	assert_int_equal(access(path_of("no"), F_OK), -1);
	/* abort removes the file; an existing file is not overwritten */
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
		cmocka_unit_test(golden_file),      cmocka_unit_test(golden_encodings),
		cmocka_unit_test(bloom_hash),       cmocka_unit_test(bloom_sizes),
		cmocka_unit_test(vint),             cmocka_unit_test(crc),
		cmocka_unit_test(zstd_styles),      cmocka_unit_test(codec_containers),
		cmocka_unit_test(index_keys),       cmocka_unit_test(refused_cells),
		cmocka_unit_test(refused_files),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
