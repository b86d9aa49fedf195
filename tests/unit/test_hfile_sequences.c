/*
 * test_hfile_sequences.c - tests with libzstd that frames built from known sequences contain the
 * cells and are about as small as libzstd's own frames
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <zstd.h>

#include "hfile.h"
#include "mem.h"
#include "pipeline/hfile/compress.h"
#include "pipeline/hfile/kv.h"

#define ZSTD_BLOCK 131072 /* RFC 8878: the largest block */

static uint64_t random_state = 1;

static uint32_t any(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 20) % below;
}

static void put_cell(struct buf *b, struct bytes row, struct bytes qualifier, int64_t ts,
		     struct bytes value, size_t tail_bytes)
{
	struct cell key = {.row = row,
			   .family = bytes_str("f"),
			   .qualifier = qualifier,
			   .ts = ts,
			   .type = CELL_PUT};

	buf_be32(b, (uint32_t)(KEY_FIXED + row.len + 1 + qualifier.len));
	buf_be32(b, (uint32_t)value.len);
	assert_true(hfile_kv_key_append(b, &key));
	buf_append(b, value.ptr, value.len);
	buf_append(b, "\0\0\0", tail_bytes);
}

/* A table whose rows change little. In each value, `change` of 1000 bytes differ from the last
 * value. */
struct shape {
	const char *name;
	uint32_t rows, cells, row_bytes, qualifier_bytes, value_bytes, change;
	bool varied;   /* random lengths up to these, instead of exactly these */
	bool possible; /* no cell is longer than a zstd block */
};

static uint32_t length(const struct shape *s, uint32_t n)
{
	return s->varied ? any(n + 1) : n;
}

static struct buf make_block(const struct shape *s, size_t tail_bytes)
{
	struct buf b = {0};
	uint8_t *row = mem_calloc(1, s->row_bytes + 5);
	char *qualifier = mem_calloc(1, s->qualifier_bytes + 16);
	uint8_t *value = mem_calloc(1, s->value_bytes + 1);

	for (uint32_t i = 0; i < s->rows; i++) {
		uint32_t row_bytes = 4 + length(s, s->row_bytes);

		put_be32(row + row_bytes - 4, i);
		for (uint32_t k = 0; k < s->cells; k++) {
			uint32_t value_bytes = length(s, s->value_bytes);
			size_t n =
				(size_t)sprintf(qualifier, "%u", k) + length(s, s->qualifier_bytes);

			for (uint32_t j = 0; j < value_bytes; j++)
				if (any(1000) < s->change)
					value[j] = (uint8_t)any(256);
			put_cell(&b, bytes_of(row, row_bytes), bytes_of(qualifier, n),
				 1500000000000 + any(1000), bytes_of(value, value_bytes),
				 tail_bytes);
		}
	}
	mem_free(row);
	mem_free(qualifier);
	mem_free(value);
	return b;
}

/* The portable code for processors without AVX2 writes the same bytes. */
static void prove_portable(struct hcodec *h, struct bytes cells, const struct buf *stored)
{
	struct buf out = {0};
	struct error err;

	h->sequencer.portable = true;
	assert_int_equal(hfile_codec_compress_cells(h, cells, &out, &err), 0);
	h->sequencer.portable = false;
	assert_int_equal(out.len, stored->len);
	assert_memory_equal(out.ptr, stored->ptr, out.len);
	buf_release(&out);
}

/* Returns the stored bytes. The codec's own reader and libzstd both decode them to the block. */
static size_t prove(struct hcodec *h, const struct buf *block)
{
	/* an allocation of exact size, so that sanitizers see reads past its end */
	uint8_t *cells = mem_alloc(block->len), *back = mem_alloc(block->len);
	struct buf out = {0};
	struct error err;

	memcpy(cells, block->ptr, block->len);
	if (hfile_codec_compress_cells(h, bytes_of(cells, block->len), &out, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(hfile_codec_decompress(h, CODEC_ZSTD, buf_bytes(&out), back, block->len,
						&err),
			 0);
	assert_memory_equal(back, block->ptr, block->len);
	if (h->sequenced) {
		size_t head = h->framing == ZSTD_FRAMING_HADOOP ? 0 : 8;

		memset(back, 0, block->len);
		assert_int_equal(ZSTD_getFrameContentSize(out.ptr + head, out.len - head),
				 block->len);
		assert_int_equal(ZSTD_decompress(back, block->len, out.ptr + head, out.len - head),
				 block->len);
		assert_memory_equal(back, block->ptr, block->len);
	}
	prove_portable(h, bytes_of(cells, block->len), &out);
	size_t stored = out.len;
	buf_release(&out);
	mem_free(cells);
	mem_free(back);
	return stored;
}

static void prepare(struct hcodec *h, unsigned min_match, size_t tail_bytes)
{
	struct error err;
	enum zstd_framing framing = min_match % 2 ? ZSTD_FRAMING_HADOOP : ZSTD_FRAMING_HBASE;

	assert_int_equal(hfile_codec_setup(h, CODEC_ZSTD, 2, framing, &err), 0);
	assert_int_equal(hfile_codec_tune(h, 8, &err), 0);
	assert_int_equal(hfile_codec_sequence(h, min_match, tail_bytes, &err), 0);
}

static void nasty(void **state)
{
	static const struct shape shapes[] = {
		{"one cell", 1, 1, 3, 1, 5, 1000, false, true},
		{"one byte", 3000, 1, 4, 1, 1, 500, false, true},
		{"no value", 3000, 2, 4, 1, 0, 0, false, true},
		{"the same values", 500, 3, 4, 1, 40, 0, false, true},
		{"nothing in common", 100, 2, 4, 0, 500, 1000, false, true},
		{"1000 cells a row", 3, 1000, 20, 0, 3, 300, false, true},
		{"2500 cells a row", 2, 2500, 0, 0, 1, 300, true, true},
		{"long keys", 30, 4, 1500, 3, 8, 100, false, true},
		{"long keys of any length", 30, 4, 1500, 30, 8, 100, true, true},
		{"long qualifiers", 60, 5, 2, 700, 8, 100, true, true},
		{"cells of 63 and 64 bytes", 900, 2, 4, 0, 30, 50, true, true},
		{"a value of 100 KB", 2, 1, 4, 0, 100000, 1, false, true},
		{"nearly a zstd block each", 2, 1, 4, 0, ZSTD_BLOCK - 60, 1, true, true},
		{"over a zstd block", 1, 1, 4, 0, ZSTD_BLOCK, 1, false, false},
		{"a value of 1 MB", 2, 1, 4, 0, 1 << 20, 1, false, false},
		{"a block of 1 MB", 9000, 2, 4, 0, 20, 50, true, false},
	};
	struct hcodec h = {0};

	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		for (unsigned min = SEQUENCE_MIN; min <= SEQUENCE_MAX; min++) {
			size_t tail_bytes = min % 4;
			struct buf b = make_block(&shapes[i], tail_bytes);

			prepare(&h, min, tail_bytes);
			prove(&h, &b);
			if (h.sequenced != shapes[i].possible)
				fail_msg("%s, %zu bytes: sequenced %d", shapes[i].name, b.len,
					 h.sequenced);
			buf_release(&b);
		}
	hfile_codec_release(&h);
}

static void random_tables(void **state)
{
	struct hcodec h = {0};
	unsigned made = 0;

	(void)state;
	for (unsigned i = 0; i < 1500; i++) {
		struct shape s = {.cells = 1 + any(1 + any(40)),
				  .row_bytes = any(1 + any(200)),
				  .qualifier_bytes = any(30),
				  .value_bytes = any(1 + any(300)),
				  .change = any(3) ? any(60) : any(1001),
				  .varied = any(2)};
		uint32_t cell = 60 + s.row_bytes + s.qualifier_bytes + s.value_bytes;

		s.rows = 1 + any(1 + 65536 / (cell * s.cells));
		size_t tail_bytes = any(4);
		struct buf b = make_block(&s, tail_bytes);
		prepare(&h, SEQUENCE_MIN + any(SEQUENCE_MAX - SEQUENCE_MIN + 1), tail_bytes);
		prove(&h, &b);
		made += h.sequenced;
		buf_release(&b);
	}
	assert_int_equal(made, 1500);
	hfile_codec_release(&h);
}

/* The writer also compresses bytes that are not whole cells. */
static void no_cells(void **state)
{
	static const struct shape shape = {"", 200, 2, 4, 1, 9, 300, false, true};
	struct hcodec h = {0};

	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		struct buf b = make_block(&shape, 0);
		bool cut = i % 2;

		if (cut)
			b.len -= 1 + any(30); /* less than a cell */
		else
			memset(b.ptr, 0xff, 2 + any(8)); /* the lengths of the first cell */
		prepare(&h, SEQUENCE_MIN, 0);
		prove(&h, &b);
		assert_false(h.sequenced);
		buf_release(&b);
	}
	hfile_codec_release(&h);
}

/*
 * Counts by hand the bytes of a row outside all matches. Each row has new bytes, which are the last
 * byte of the key, two bytes of the time, and the values without their ends. The type between time
 * and value is too short for a match. The second cell's qualifier differs from the first one's.
 */
static void literals(void **state)
{
	enum { VALUE = 10, END = 5, LENGTHS = 8 };
	static const struct {
		unsigned cells, same_end; /* bytes that end each value */
		bool shorter;		  /* every other row begins with a cell that lacks a byte */
		double most;
	} cases[] = {
		{1, 0, false, 1 + 2 + 1 + VALUE},
		{1, END, false, 1 + 2 + 1 + VALUE - END},
		{2, END, false, 1 + 2 + 1 + VALUE - END + 1 + VALUE - END},
		/*
		 * Every other time, the first cell has lengths that the row before lacks. The other
		 * times the lengths are new, and the match at their end is lost. The rest of the
		 * second cell's key (3) is too short. Then one more byte of an end differs.
		 */
		{2, END, true,
		 1 + 2 + 1 + VALUE - END + 1 + VALUE - END + (LENGTHS + END + 4) / 2.0},
	};
	struct hcodec h = {.sequencer = {.counts = true}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf b = {0};
		uint32_t rows = 0;

		for (; b.len < 60000; rows++) {
			uint8_t row[8] = {0}, value[VALUE];

			put_be32(row + 4, rows);
			memset(value, 'x', sizeof value);
			for (unsigned k = 0; k < cases[i].cells; k++) {
				bool cut = cases[i].shorter && k == 0 && rows % 2;

				for (unsigned j = 0; j < VALUE - cases[i].same_end; j++)
					value[j] = (uint8_t)any(256);
				put_cell(&b, bytes_of(row, 8), bytes_str(k ? "b" : "a"),
					 1500000000000 + (rows % 2 ? 999 : 555),
					 bytes_of(value, VALUE - cut), 0);
			}
		}
		prepare(&h, SEQUENCE_MAX, 0);
		h.sequencer.literals = 0;
		prove(&h, &b); /* the second time with the portable functions */
		double a_row = (double)h.sequencer.literals / 2 / rows;
		if (a_row > cases[i].most + 0.1)
			fail_msg("case %zu: %.2f literals a row, expected %.2f", i, a_row,
				 cases[i].most);
		buf_release(&b);
	}
	hfile_codec_release(&h);
}

/* Film ratings as conf/ratings.yaml stores them. */
static struct buf make_ratings(uint32_t *user, uint32_t *left)
{
	struct buf b = {0};
	uint64_t at = 0x7ffffef911000000;

	while (b.len < 65536) {
		uint8_t row[21] = {13};
		char film[12], stars[4];

		if (*left == 0) {
			*user += 16;
			*left = 20 + any(200);
		}
		--*left;
		uint32_t movie = any(3) ? any(9000) : any(130000);
		at += any(20) ? 1000 * any(60) : 1000 * any(100000);
		put_be64(row + 1, *user);
		put_be64(row + 9, at);
		put_be32(row + 17, movie);
		int64_t ts = (int64_t)(INT64_MAX - at);
		size_t n = (size_t)snprintf(film, sizeof film, "%u", movie);
		snprintf(stars, sizeof stars, "%u.%u", any(5), 5 * any(2));
		put_cell(&b, bytes_of(row, 21), bytes_str("m"), ts, bytes_of(film, n), 0);
		put_cell(&b, bytes_of(row, 21), bytes_str("r"), ts, bytes_str(stars), 0);
	}
	return b;
}

static void small(void **state)
{
	struct hcodec h = {0};
	uint32_t user = 1, left = 0;
	size_t plain = 0, stored[SEQUENCE_MAX + 1] = {0}, level3 = 0;

	(void)state;
	for (int i = 0; i < 20; i++) {
		struct buf b = make_ratings(&user, &left);

		for (unsigned min = SEQUENCE_MIN; min <= SEQUENCE_MAX; min++) {
			prepare(&h, min, 0);
			stored[min] += prove(&h, &b);
			assert_true(h.sequenced);
		}
		size_t room = ZSTD_compressBound(b.len);
		void *out = mem_alloc(room);
		level3 += 8 + ZSTD_compress(out, room, b.ptr, b.len, 3);
		plain += b.len;
		mem_free(out);
		buf_release(&b);
	}
	assert_true(level3 < plain / 3);
	assert_in_range(stored[SEQUENCE_MIN], 1, level3 + level3 / 20);
	assert_in_range(stored[SEQUENCE_MAX], 1, level3 + level3 / 20);
	hfile_codec_release(&h);
}

/* Writes files with every tail and encoding. hfile_verify reads all their cells. */
static void in_files(void **state)
{
	char path[] = "/tmp/test_sequences.XXXXXX";

	(void)state;
	close(mkstemp(path));
	for (unsigned i = 0; i < 5 * 4; i++) {
		static const enum block_encoding encodings[] = {ENCODING_NONE, ENCODING_PREFIX,
								ENCODING_DIFF, ENCODING_FAST_DIFF,
								ENCODING_ROW_INDEX_V1};
		struct hfile_options opt = {.family = bytes_str("f"),
					    .codec = CODEC_ZSTD,
					    .level = 2,
					    .hash_log = 8,
					    .min_match = 4 + i % 5,
					    .encoding = encodings[i % 5],
					    .mvcc = i / 5 % 2,
					    .tags = i / 10,
					    .source_task = bytes_str("t")};
		struct hfile_writer *w;
		struct hfile_summary sum, read;
		struct error err;

		unlink(path);
		assert_int_equal(hfile_writer_new(&w, path, &opt, &err), 0);
		for (uint32_t k = 0; k < 9000; k++) {
			uint8_t row[4];
			char value[16];

			put_be32(row, k);
			size_t n = (size_t)snprintf(value, sizeof value, "%u", any(1000));
			struct cell c = {.row = bytes_of(row, 4),
					 .qualifier = bytes_str("q"),
					 .ts = 1500000000000,
					 .value = bytes_of(value, n),
					 .type = CELL_PUT};
			assert_int_equal(hfile_add(w, &c, &err), 0);
		}
		assert_int_equal(hfile_finish(w, &sum, &err), 0);
		if (hfile_verify(path, &read, &err))
			fail_msg("%s", err.msg);
		assert_int_equal(read.cells, 9000);
		hfile_summary_release(&sum);
		hfile_summary_release(&read);
	}
	unlink(path);
}

/*
 * Read a zstd frame (RFC 8878 3.1.1). Returns the number of its compressed blocks, all of which
 * have literals of Huffman codes and no sequences.
 */
static unsigned blocks_without_sequences(struct bytes frame)
{
	static const uint8_t size_bytes[] = {0, 2, 4, 8};
	const uint8_t *p = frame.ptr + 4, *end = frame.ptr + frame.len;
	uint8_t descriptor = *p++;
	bool single = descriptor & 0x20, last = false;
	unsigned n = 0;

	assert_memory_equal(frame.ptr, "\x28\xb5\x2f\xfd", 4);
	assert_int_equal(descriptor & 0x1f, 0); /* no checksum and no dictionary */
	p += single ? 0 : 1;
	p += descriptor >> 6 || !single ? size_bytes[descriptor >> 6] : 1;
	while (!last) {
		uint32_t header = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
		uint32_t bytes = (header >> 1 & 3) == 1 ? 1 : header >> 3;

		last = header & 1;
		p += 3;
		if ((header >> 1 & 3) == 2) {
			uint64_t literals = 0;
			unsigned format = p[0] >> 2 & 3, bits = format < 2 ? 10 : 6 + 4 * format;
			unsigned head = format < 2 ? 3 : 2 + format;

			assert_true((p[0] & 3) >= 2); /* Compressed_ or Treeless_Literals_Block */
			for (unsigned i = 0; i < head; i++)
				literals |= (uint64_t)p[i] << 8 * i;
			literals = literals >> (4 + bits) & ((1u << bits) - 1);
			assert_int_equal(head + literals + 1, bytes);
			assert_int_equal(p[bytes - 1], 0); /* Number_of_Sequences */
			n++;
		}
		p += bytes;
	}
	assert_ptr_equal(p, end);
	return n;
}

static void compress(struct hcodec *h, int level, struct bytes in, struct buf *out)
{
	struct error err;

	out->len = 0;
	assert_int_equal(hfile_codec_setup(h, CODEC_ZSTD, level, ZSTD_FRAMING_HADOOP, &err), 0);
	assert_int_equal(hfile_codec_compress(h, in, out, &err), 0);
}

/* Each zstd block has Huffman codes only. Afterwards, the same context finds matches again. */
static void without_matches(void **state)
{
	static const uint32_t sizes[] = {1, 5, 300, 16384, 65536, 131072, 131073, 218422, 500000};

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct hcodec used = {0}, fresh = {0};
		struct buf out = {0}, usual = {0};
		uint8_t *bytes = mem_alloc(sizes[i]), *back = mem_alloc(sizes[i]);
		struct bytes in = bytes_of(bytes, sizes[i]);

		for (uint32_t k = 0; k < sizes[i]; k++)
			bytes[k] = (uint8_t)('a' + any(8));
		for (uint32_t k = 64; k + 64 < sizes[i]; k += 128)
			memcpy(bytes + k, bytes, 64); /* matches at any distance */
		compress(&used, LEVEL_HUFFMAN, in, &out);
		unsigned blocks = blocks_without_sequences(buf_bytes(&out));
		if (sizes[i] > 1000) {
			assert_int_equal(blocks, (sizes[i] + (128u << 10) - 2) / (128u << 10));
			/* eight letters take about three bits each */
			assert_in_range(out.len, sizes[i] / 100 * 36, sizes[i] / 100 * 40);
		}
		assert_int_equal(ZSTD_decompress(back, sizes[i], out.ptr, out.len), sizes[i]);
		assert_memory_equal(back, bytes, sizes[i]);
		compress(&used, 1, in, &out);
		compress(&fresh, 1, in, &usual);
		assert_int_equal(out.len, usual.len);
		assert_memory_equal(out.ptr, usual.ptr, usual.len);
		hfile_codec_release(&used);
		hfile_codec_release(&fresh);
		buf_release(&out);
		buf_release(&usual);
		mem_free(bytes);
		mem_free(back);
	}
}

static void refused(void **state)
{
	struct hcodec h = {0};
	struct error err;

	(void)state;
	assert_int_equal(hfile_codec_setup(&h, CODEC_ZSTD, 2, ZSTD_FRAMING_HBASE, &err), 0);
	assert_int_equal(hfile_codec_sequence(&h, 3, 0, &err), RC_CONFIG);
	assert_int_equal(hfile_codec_sequence(&h, 9, 0, &err), RC_CONFIG);
	assert_int_equal(hfile_codec_sequence(&h, 0, 0, &err), 0);
	hfile_codec_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nasty),	   cmocka_unit_test(random_tables),
		cmocka_unit_test(no_cells),	   cmocka_unit_test(small),
		cmocka_unit_test(literals),	   cmocka_unit_test(in_files),
		cmocka_unit_test(without_matches), cmocka_unit_test(refused)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
