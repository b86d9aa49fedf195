/*
 * test_input_source_files.c - reads delimited text from compressed input, several files and streams
 *
 * The test compares the results with the text before compression, and with xxhash over the file on
 * disk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#include "tests/unit/source_rig.h"

static void gz_append(struct buf *out, const void *data, size_t len)
{
	z_stream z = {0};

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.avail_out = (uInt)deflateBound(&z, len);
	z.next_out = buf_reserve(out, z.avail_out);
	z.next_in = (Bytef *)(uintptr_t)data;
	z.avail_in = (uInt)len;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	out->len += z.total_out;
	deflateEnd(&z);
}

static void zstd_append(struct buf *out, const void *data, size_t len)
{
	size_t room = ZSTD_compressBound(len);
	size_t n = ZSTD_compress(buf_reserve(out, room), room, data, len, 3);

	assert_false(ZSTD_isError(n));
	out->len += n;
}

static void check_same(struct setup setup, struct bytes content, const char *log, bool compressed)
{
	XXH128_canonical_t digest;

	setup.files[0] = put_file("packed", content.ptr, content.len);
	struct outcome o = run(&setup);
	assert_int_equal(o.rc, 0);
	assert_string_equal(LOG(o), log);
	assert_int_equal(o.file[0].compressed, compressed);
	assert_int_equal(o.file[0].size, content.len);
	assert_int_equal(o.file[0].rows, o.counts.events);
	assert_int_equal(o.done, content.len);
	XXH128_canonicalFromHash(&digest, XXH3_128bits(content.ptr, content.len));
	assert_memory_equal(o.file[0].digest, digest.digest, 16);
	drop(&o);
}

static void test_compressed(void **state)
{
	static const size_t pieces[] = {64, 4096, 0};
	struct buf plain = many_rows(40000), gz = {0}, zst = {0};
	size_t half = plain.len / 2;
	struct outcome o = run_text((struct setup){.ncolumns = 2}, plain.ptr, 0);

	(void)state;
	drop(&o);
	struct setup setup = {.ncolumns = 2, .nfiles = 1};
	setup.files[0] = put_file("plain", plain.ptr, plain.len);
	o = run(&setup);
	assert_int_equal(o.counts.events, 40000);
	gz_append(&gz, plain.ptr, half);
	gz_append(&gz, "", 0);
	gz_append(&gz, plain.ptr + half, plain.len - half);
	zstd_append(&zst, plain.ptr, half);
	zstd_append(&zst, "", 0);
	zstd_append(&zst, plain.ptr + half, plain.len - half);
	for (size_t i = 0; i < 3; i++) {
		setup.piece_bytes = pieces[i];
		setup.threads = (unsigned)i + 1;
		check_same(setup, buf_bytes(&plain), LOG(o), false);
		check_same(setup, buf_bytes(&gz), LOG(o), true);
		check_same(setup, buf_bytes(&zst), LOG(o), true);
	}
	for (int i = 0; i < 700; i++)
		buf_put(&gz, 0);
	check_same(setup, buf_bytes(&gz), LOG(o), true);
	drop(&o);
	buf_release(&plain);
	buf_release(&gz);
	buf_release(&zst);
}

/*
 * The reader refuses a compressed file that ends early or has a changed byte. It never gives
 * different rows.
 */
static void test_damaged(void **state)
{
	struct buf plain = many_rows(300);
	struct setup setup = {.ncolumns = 2, .nfiles = 1};

	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		struct buf packed = {0};

		if (kind)
			zstd_append(&packed, plain.ptr, plain.len);
		else
			gz_append(&packed, plain.ptr, plain.len);
		for (size_t cut = 4; cut < packed.len; cut += cut < 40 ? 1 : 97) {
			setup.files[0] = put_file("packed", packed.ptr, cut);
			expect_failure(&setup, RC_DATA, "packed: truncated", NULL);
		}
		setup.files[0] = put_file("packed", packed.ptr, packed.len - 1);
		expect_failure(&setup, RC_DATA, "packed: truncated", NULL);
		buf_append_str(&packed, "garbage, not a frame");
		setup.files[0] = put_file("packed", packed.ptr, packed.len);
		expect_failure(&setup, RC_DATA, "packed: damaged", NULL);
		packed.len -= 20;
		if (!kind) {
			packed.ptr[packed.len - 6] ^= 1; /* CRC-32 */
			setup.files[0] = put_file("packed", packed.ptr, packed.len);
			expect_failure(&setup, RC_DATA, "damaged gzip data near byte", NULL);
		}
		buf_release(&packed);
	}
	buf_release(&plain);
}

static void test_several_files(void **state)
{
	struct setup setup = {.header = true, .nfiles = 4};
	struct buf gz = {0};

	(void)state;
	gz_append(&gz, "k,v\r\n5,6", 8);
	for (size_t k = 0; k < 24; k++) {
		setup.piece_bytes = piece_sizes[k / 4];
		setup.libcsv_only = k % 2;
		setup.threads = k % 4 < 2 ? 1 : 3;
		setup.files[0] = put_file("1", "k,v\n1,2\nbad,4", 13);
		setup.files[1] = put_file("2", "k,v\n", 4);
		setup.files[2] = put_file("3", gz.ptr, gz.len);
		setup.files[3] = put_file("4", "\"k\",\"v\"\n7,8\n\n9\n", 15);
		struct outcome o = run(&setup);
		assert_int_equal(o.rc, 0);
		assert_string_equal(LOG(o),
				    "2:4 [1] [2]\n3:8 sink (no) <bad,4>\n2:5 [5] [6]\n2:8 [7] [8]\n"
				    "4:13 field_count (found 1 field, expected 2) <9>\n");
		assert_int_equal(o.file[0].rows, 2);
		assert_int_equal(o.file[1].rows, 0);
		assert_int_equal(o.file[2].rows, 1);
		assert_int_equal(o.file[3].rows, 2);
		assert_true(o.file[2].compressed && !o.file[3].compressed);
		assert_int_equal(o.counts.events, 5);
		assert_int_equal(o.counts.rejects, 2);
		assert_int_equal(o.counts.blank_lines, 1);
		assert_int_equal(o.total, 13 + 4 + gz.len + 15);
		assert_int_equal(o.done, o.total);
		drop(&o);
	}
	buf_release(&gz);
}

struct feed {
	int fd;
	struct bytes data;
};

static void *feed_main(void *arg)
{
	struct feed *f = arg;

	/* First single bytes, so that the magic number arrives in pieces. */
	for (size_t i = 0; i < f->data.len; i += i < 8 ? 1 : 1000) {
		size_t n = i < 8 ? 1 : f->data.len - i < 1000 ? f->data.len - i : 1000;

		assert_int_equal(write(f->fd, f->data.ptr + i, n), n);
	}
	close(f->fd);
	return NULL;
}

static void test_standard_input(void **state)
{
	struct buf plain = many_rows(3000), gz = {0};
	struct setup setup = {.ncolumns = 2, .nfiles = 1};
	int saved = dup(STDIN_FILENO);

	(void)state;
	gz_append(&gz, plain.ptr, plain.len);
	setup.files[0] = put_file("plain", plain.ptr, plain.len);
	struct outcome want = run(&setup);
	for (int k = 0; k < 2; k++) {
		int ends[2];
		pthread_t thread;

		assert_int_equal(pipe(ends), 0);
		struct feed feed = {ends[1], buf_bytes(k ? &gz : &plain)};
		assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
		close(ends[0]);
		pthread_create(&thread, NULL, feed_main, &feed);
		setup.files[0] = "-";
		struct outcome o = run(&setup);
		pthread_join(thread, NULL);
		assert_int_equal(o.rc, 0);
		assert_string_equal(LOG(o), LOG(want));
		assert_int_equal(o.total, 0);
		assert_int_equal(o.file[0].size, feed.data.len);
		drop(&o);
	}
	drop(&want);
	dup2(saved, STDIN_FILENO);
	close(saved);
	buf_release(&plain);
	buf_release(&gz);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_several_files),
		cmocka_unit_test(test_standard_input),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
