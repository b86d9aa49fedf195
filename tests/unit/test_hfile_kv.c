/*
 * test_hfile_kv.c - hashes, checksums, numbers, codecs and index keys of HFiles against the
 * vectors and rules of hfile/README.md
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "pipeline/hfile/bloom.h"
#include "pipeline/hfile/bloom_bits.h"
#include "pipeline/hfile/compress.h"
#include "pipeline/hfile/index.h"
#include "pipeline/hfile/kv.h"
#include "tests/unit/hex.h"

/* Computes the hash as HBase does, with Java's rules for integers. */
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
		uint32_t h1 = hfile_bloom_murmur2(buf_bytes(&key), 0);

		assert_int_equal(h1, murmur[i].h1);
		assert_int_equal(hfile_bloom_murmur2(buf_bytes(&key), h1), murmur[i].h2);
		buf_release(&key);
	}
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(hfile_bloom_bit(0x225648c5, 0x45432fb5, i, 8 * 32768), bits[i]);
	/* the vectors of Bob Jenkins' lookup3.c, driver5 */
	struct bytes score = bytes_str("Four score and seven years ago");
	assert_int_equal(hfile_bloom_jenkins(score, 0), 0x17770551);
	assert_int_equal(hfile_bloom_jenkins(score, 1), 0xcd628161);
	/* |INT_MIN mod B|, which overflows in 32 signed bits */
	assert_int_equal(hfile_bloom_bit(0x80000000, 0, 0, 1000), 2147483648u % 1000);
}

/* Every kernel computes the hashes of the plain function, whatever bytes follow the keys. */
static void bloom_lanes(void **state)
{
	const struct hbloom_kernel *kernels[] = {hfile_bloom_kernel_portable(),
						 hfile_bloom_kernel_choose()};
	struct hbloom_lanes lanes;

	(void)state;
	srand(11);
	for (size_t bytes = 0; bytes <= HBLOOM_LANE_BYTES; bytes++) {
		for (size_t i = 0; i < sizeof lanes; i++)
			((uint8_t *)&lanes)[i] = (uint8_t)(rand() >> 7);
		for (size_t k = 0; k < 2; k++) {
			struct hbloom_hash found[HBLOOM_LANES + 1] = {[HBLOOM_LANES] = {5, 6}};

			kernels[k]->hash(&lanes, bytes, found);
			for (size_t i = 0; i < HBLOOM_LANES; i++) {
				struct bytes key = {lanes.key[i], bytes};
				uint32_t h1 = hfile_bloom_murmur2(key, 0);

				assert_int_equal(found[i].h1, h1);
				assert_int_equal(found[i].h2, hfile_bloom_murmur2(key, h1));
			}
			assert_int_equal(found[HBLOOM_LANES].h1, 5);
			assert_int_equal(found[HBLOOM_LANES].h2, 6);
		}
	}
}

/* Every kernel sets exactly the bits of hfile_bloom_bit. */
static void bloom_bits(void **state)
{
	static const uint64_t sizes[] = {8, 1024, 1000, 24, 65536, 131072 * 8};
	static uint8_t want[131072], found[131072];
	const struct hbloom_kernel *kernels[] = {hfile_bloom_kernel_portable(),
						 hfile_bloom_kernel_choose()};
	struct hbloom_hash h[21];

	(void)state;
	srand(12);
	for (size_t n = 0; n < 6 * 22; n++) {
		uint64_t bits = sizes[n % 6];
		uint32_t count = (uint32_t)(n / 6), hashes = n % 5 ? 7 + n % 2 : 20;

		memset(want, 0, sizeof want);
		for (uint32_t i = 0; i < count; i++) {
			h[i] = (struct hbloom_hash){(uint32_t)rand() * 3, (uint32_t)rand() * 3};
			if (i == 1)
				h[i] = (struct hbloom_hash){0x80000000, 0}; /* |INT_MIN| */
			for (uint32_t k = 0; k < hashes; k++) {
				uint64_t bit = hfile_bloom_bit(h[i].h1, h[i].h2, k, bits);

				want[bit / 8] |= (uint8_t)(1u << bit % 8);
			}
		}
		for (size_t k = 0; k < 2; k++) {
			memset(found, 0, sizeof found);
			kernels[k]->set(found, bits, hashes, h, count);
			assert_memory_equal(found, want, sizeof want);
		}
	}
}

static void bloom_sizes(void **state)
{
	uint32_t hashes, keys;
	struct buf made = {0};

	(void)state;
	hfile_bloom_sizes(BLOOM_ROW, 131072, &hashes, &keys);
	assert_int_equal(hashes, 7);
	assert_int_equal(keys, 109306);
	hfile_bloom_sizes(BLOOM_ROWCOL, 131072, &hashes, &keys);
	assert_int_equal(hashes, 8);
	assert_int_equal(keys, 95069);
	struct bytes key;
	assert_true(hfile_bloom_key(BLOOM_ROWCOL, 0, bytes_str("r1"), bytes_str("q"), &made, &key));
	assert_hex(key, "0002 7231 00 71 7fffffffffffffff ff");
	assert_true(hfile_bloom_key(BLOOM_ROWPREFIX, 3, bytes_str("abcd"), bytes_str("q"), &made,
				    &key));
	assert_hex(key, "616263");
	assert_true(hfile_bloom_key(BLOOM_ROWPREFIX, 9, bytes_str("abcd"), bytes_str("q"), &made,
				    &key));
	assert_hex(key, "61626364");
	buf_release(&made);
}

/* hfile/README.md 3.5; the last value is the complement of the magnitude, by Hadoop's rule */
static const struct {
	int64_t value;
	const char *hex;
} vints[] = {
	{0, "00"},
	{127, "7f"},
	{128, "8f80"},
	{255, "8fff"},
	{256, "8e0100"},
	{-1, "ff"},
	{-112, "90"},
	{-113, "8770"},
	{INT64_C(1) << 31, "8c80000000"},
	{INT64_MAX, "887fffffffffffffff"},
	{INT64_MIN, "807fffffffffffffff"},
};

static void vint(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof vints / sizeof *vints; i++) {
		uint8_t p[9];
		int64_t v;
		size_t n = hfile_kv_vint_put(p, vints[i].value);

		assert_hex(bytes_of(p, n), vints[i].hex);
		assert_int_equal(hfile_kv_vint_get(p, p + n, &v), n);
		assert_int_equal(v, vints[i].value);
		assert_int_equal(hfile_kv_vint_get(p, p + n - 1, &v), 0);
	}
}

static void crc(void **state)
{
	(void)state;
	assert_int_equal(hfile_block_crc32c((const uint8_t *)"123456789", 9), 0xe3069283);
	assert_int_equal(hfile_block_crc32c((const uint8_t *)"", 0), 0);
}

/* From HBase's own unit test */
static void zstd_styles(void **state)
{
	struct buf in = unhex("00000010 00000019 28b52ffd20108100004842617365206973"
			      "20617765736f6d65");
	struct hcodec h = {0};
	struct error err;
	uint8_t out[17];

	(void)state;
	assert_int_equal(hfile_codec_decompress(&h, CODEC_ZSTD, buf_bytes(&in), out, 16, &err), 0);
	assert_memory_equal(out, "HBase is awesome", 16);
	/* The frame that Hadoop's codec expects follows the two length fields. */
	struct bytes frame = bytes_of(in.ptr + 8, in.len - 8);
	memset(out, 0, sizeof out);
	assert_int_equal(hfile_codec_decompress(&h, CODEC_ZSTD, frame, out, 16, &err), 0);
	assert_memory_equal(out, "HBase is awesome", 16);
	assert_int_equal(hfile_codec_decompress(&h, CODEC_ZSTD, frame, out, 15, &err), RC_DATA);
	assert_int_equal(hfile_codec_decompress(&h, CODEC_ZSTD, frame, out, 17, &err), RC_DATA);
	hfile_codec_release(&h);
	buf_release(&in);
}

/*
 * The streams of Python's bz2, of XZ for Java (LZMAOutputStream with preset 6) and of brotli 1.0.9 (-q
 * 6). cli/test_codecs.py reads blocks of HBase's writer.
 */
static const struct {
	enum codec codec;
	const char *stored, *empty;
} only_read[] = {
	{CODEC_BZIP2,
	 "425a68393141592653590a39e07f0000019580400010402222888020002203d41a10030eb200d5484ba3c5dc914e"
	 "1424028e781fc0",
	 "425a683917724538509000000000"},
	{CODEC_LZMA,
	 "00000010 00000023 5d000080001000000000000000002410888969dfc993b10e9c276b355287e63feec603",
	 "00000000"},
	{CODEC_BROTLI, "00000010 00000015 213c0004484261736520697320617765736f6d6503", "00000000"}};
#define ONLY_READ (sizeof only_read / sizeof *only_read)

static void only_read_codecs(void **state)
{
	struct hcodec h = {0};
	struct error err;
	uint8_t out[17];

	(void)state;
	for (size_t i = 0; i < ONLY_READ; i++) {
		enum codec codec = only_read[i].codec;
		struct buf in = unhex(only_read[i].stored), empty = unhex(only_read[i].empty);

		memset(out, 0, sizeof out);
		assert_int_equal(hfile_codec_decompress(&h, codec, buf_bytes(&in), out, 16, &err),
				 0);
		assert_memory_equal(out, "HBase is awesome", 16);
		for (size_t wrong = 15; wrong < 18; wrong += 2)
			assert_int_equal(hfile_codec_decompress(&h, codec, buf_bytes(&in), out,
								wrong, &err),
					 RC_DATA);
		assert_int_equal(hfile_codec_decompress(&h, codec, buf_bytes(&empty), out, 0, &err),
				 0);
		assert_false(codec_is_written(codec));
		buf_release(&in);
		buf_release(&empty);
	}
	hfile_codec_release(&h);
}

/*
 * Change each bit, and cut at each byte. The contents never exceed the room, and a damaged size never
 * makes a library ask for memory that it does not need.
 */
static void only_read_damaged(void **state)
{
	struct hcodec h = {0};
	struct error err;
	size_t refused = 0, all = 0;

	(void)state;
	for (size_t i = 0; i < ONLY_READ; i++) {
		struct buf in = unhex(only_read[i].stored);

		for (size_t bit = 0; bit < 8 * in.len; bit++) {
			uint8_t *out = malloc(16);

			in.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
			refused += hfile_codec_decompress(&h, only_read[i].codec, buf_bytes(&in),
							  out, 16, &err) == RC_DATA;
			in.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
			all++;
			free(out);
		}
		for (size_t n = 0; n < in.len; n++) {
			uint8_t *out = malloc(16), *cut = malloc(n + 1);

			memcpy(cut + 1, in.ptr, n);
			assert_int_equal(hfile_codec_decompress(&h, only_read[i].codec,
								bytes_of(cut + 1, n), out, 16,
								&err),
					 RC_DATA);
			free(out);
			free(cut);
		}
		buf_release(&in);
	}
	/* only bits of literals and of the LZMA dictionary's size go unnoticed; a block has checksums */
	assert_in_range(refused, all / 2, all - 1);
	/* no test links liblzo2 */
	assert_int_equal(hfile_codec_decompress(&h, CODEC_LZO, bytes_of("", 0), NULL, 0, &err),
			 RC_CONFIG);
	assert_non_null(strstr(err.msg, "this build has no liblzo2"));
	hfile_codec_release(&h);
}

static const struct {
	enum codec codec;
	enum zstd_framing framing;
} containers[] = {{CODEC_GZ, 0},
		  {CODEC_SNAPPY, 0},
		  {CODEC_LZ4, 0},
		  {CODEC_ZSTD, ZSTD_FRAMING_HBASE},
		  {CODEC_ZSTD, ZSTD_FRAMING_HADOOP}};

/* Tests framing of style B by 9.1 and 9.3, with a total, chunks of 218422 bytes of input, and a
 * zero after several chunks. */
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
	/* Half of the input is incompressible, and stored chunks are larger than their input. */
	srand(7);
	for (size_t i = 0; i < 700000; i++)
		plain[i] = i % 100000 < 50000 ? (uint8_t)rand() : (uint8_t)(i / 1000);
	for (size_t c = 0; c < sizeof containers / sizeof *containers; c++) {
		enum codec codec = containers[c].codec;

		assert_int_equal(hfile_codec_setup(&h, codec, LEVEL_DEFAULT, containers[c].framing,
						   &err),
				 0);
		for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
			struct buf out = {0};
			struct bytes in = {plain, sizes[s]};

			assert_int_equal(hfile_codec_compress(&h, in, &out, &err), 0);
			if (codec == CODEC_GZ)
				assert_int_equal(get_be16(out.ptr), 0x1f8b);
			else if (codec == CODEC_ZSTD && containers[c].framing)
				assert_int_equal(get_be32(out.ptr), 0x28b52ffd);
			else
				check_chunks(buf_bytes(&out), sizes[s]);
			assert_int_equal(hfile_codec_decompress(&h, codec, buf_bytes(&out), back,
								sizes[s], &err),
					 0);
			if (sizes[s])
				assert_memory_equal(plain, back, sizes[s]);
			else
				assert_int_equal(out.len, codec == CODEC_GZ	  ? 20
							  : containers[c].framing ? 9
										  : 4);
			buf_release(&out);
		}
		assert_int_equal(hfile_codec_setup(&h, CODEC_LZO, LEVEL_DEFAULT, 0, &err),
				 RC_CONFIG);
	}
	hfile_codec_release(&h);
	free(plain);
	free(back);
}

static struct buf flat_key(const char *row, const char *qualifier, int64_t ts)
{
	struct buf b = {0};
	struct cell k = {.row = bytes_str(row),
			 .family = bytes_str("f"),
			 .qualifier = bytes_str(qualifier),
			 .ts = ts,
			 .type = CELL_PUT};

	assert_true(hfile_kv_key_append(&b, &k));
	return b;
}

/* hfile/README.md 5.6: last key before, first key of the block, expected index key */
static const struct {
	const char *last_row, *last_qualifier, *row, *qualifier, *expected;
} shortened[] = {
	/* if the first difference is greater than one, the last key's byte plus one */
	{"axx", "q", "cyy", "q", "0001 62 00 7fffffffffffffff ff"},
	/* if the difference is one, the last key's byte plus one is the row's own byte */
	{"axx", "q", "byy", "q", "0001 62 00 7fffffffffffffff ff"},
	/* for a proper prefix, the last key and a zero byte */
	{"ab", "q", "abc", "q", "0003 616200 00 7fffffffffffffff ff"},
	/* within one row, the middle of the qualifiers under row and family */
	{"r", "qa", "r", "qcc", "0001 72 01 66 7162 7fffffffffffffff ff"},
	{"r", "q", "r", "qq", "0001 72 01 66 7100 7fffffffffffffff ff"},
	/* within one row and qualifier, the block's own key */
	{"r", "q", "r", "q", "0001 72 01 66 71 0000000000000005 04"},
};

static void index_keys(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof shortened / sizeof *shortened; i++) {
		struct buf last = flat_key(shortened[i].last_row, shortened[i].last_qualifier, 9);
		struct buf first = flat_key(shortened[i].row, shortened[i].qualifier, 5);
		struct buf out = {0};
		struct error err;

		assert_int_equal(hfile_index_key(&out, buf_bytes(&last), buf_bytes(&first), &err),
				 0);
		assert_hex(buf_bytes(&out), shortened[i].expected);
		out.len = 0;
		assert_int_equal(hfile_index_key(&out, (struct bytes){NULL, 0}, buf_bytes(&first),
						 &err),
				 0);
		assert_true(bytes_eq(buf_bytes(&out), buf_bytes(&first)));
		buf_release(&last);
		buf_release(&first);
		buf_release(&out);
	}
}

/* hfile/README.md 5: an index block with three entries, each of 12 bytes and a key */
enum { NODE_ENTRIES = 3 };

static struct buf index_node(uint32_t entry_bytes, const uint32_t *offsets)
{
	struct buf b = {0}, key = flat_key("r", "q", 5);

	buf_be32(&b, NODE_ENTRIES);
	for (size_t i = 0; i <= NODE_ENTRIES; i++)
		buf_be32(&b, offsets[i]);
	for (size_t i = 0; i < NODE_ENTRIES; i++) {
		buf_be64(&b, 100 + i);
		buf_be32(&b, 7);
		buf_append(&b, key.ptr, key.len);
	}
	assert_int_equal(key.len + 12, entry_bytes);
	buf_release(&key);
	return b;
}

/* Each of these lists of offsets breaks one rule of an entry. */
static void index_entries(void **state)
{
	(void)state;
	enum { E = 12 + 2 + 1 + 1 + 1 + 1 + 8 + 1 };
	static const struct {
		uint32_t offsets[NODE_ENTRIES + 1], entry;
		bool good;
	} nodes[] = {
		{{0, E, 2 * E, 3 * E}, 0, true},      {{0, E, 2 * E, 3 * E}, 2, true},
		{{0, 2 * E, E, 3 * E}, 1, false},     /* the end is before the beginning */
		{{0, 4 * E, 2 * E, 3 * E}, 0, false}, /* the end is after the block */
		{{0, E, E + 11, 3 * E}, 1, false},    /* too short for an offset and a size */
		{{E, 2 * E, 2 * E, 3 * E}, 0, false}, /* bytes before the first entry */
	};

	for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
		struct buf b = index_node(E, nodes[i].offsets);
		struct hindex_node n;
		struct hindex_entry e;
		struct bytes key;
		struct error err = {0};

		assert_int_equal(hfile_index_node_open(&n, buf_bytes(&b), &err), RC_OK);
		int rc = hfile_index_node_entry(&n, nodes[i].entry, &e, &key, &err);
		if (nodes[i].good) {
			assert_int_equal(rc, RC_OK);
			assert_int_equal(e.offset, 100 + nodes[i].entry);
			assert_int_equal(e.disk_bytes, 7);
			assert_int_equal(key.len, E - 12);
		} else {
			assert_int_equal(rc, RC_DATA);
			assert_non_null(strstr(err.msg, "expected at least 12 bytes and an end"));
		}
		buf_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bloom_hash),
		cmocka_unit_test(bloom_lanes),
		cmocka_unit_test(bloom_bits),
		cmocka_unit_test(bloom_sizes),
		cmocka_unit_test(vint),
		cmocka_unit_test(crc),
		cmocka_unit_test(zstd_styles),
		cmocka_unit_test(only_read_codecs),
		cmocka_unit_test(only_read_damaged),
		cmocka_unit_test(codec_containers),
		cmocka_unit_test(index_keys),
		cmocka_unit_test(index_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
