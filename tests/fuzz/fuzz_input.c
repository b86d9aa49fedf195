/*
 * fuzz_input.c - a file (plain, gzip, zstd, xz, bzip2 or zip) gives the same bytes for any read
 * sizes, or an error
 *
 * The first byte chooses the size of each read.
 */
#include "memory_file.h"

#include "mem.h"
#include "pipeline/input/input.h"

enum { LARGEST = 4 << 20 }; /* a few bytes can expand to gigabytes */

/* Returns RC_END if the file had more bytes. */
static int read_all(const char *path, size_t piece, struct buf *out, struct error *err)
{
	struct input_stream in;
	size_t got = piece;
	int rc = input_open(&in, path, err);

	while (rc == RC_OK && got == piece && out->len <= LARGEST) {
		uint8_t *to = buf_reserve(out, piece);

		rc = input_read(&in, to, piece, &got, err);
		out->len += rc ? 0 : got;
	}
	input_close(&in);
	return rc == RC_OK && got == piece ? RC_END : rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = {0}, pieces = {0};
	struct error err, other;
	char path[64];

	if (size == 0)
		return 0;
	int fd = memory_file(bytes_of(data + 1, size - 1), path);
	int rc = read_all(path, 1 << 16, &whole, &err);
	int again = read_all(path, 1 + data[0] * 16u, &pieces, &other);
	expect_sentence(rc, &err);
	expect_sentence(again, &other);
	if (rc != again)
		abort();
	if (rc == RC_OK)
		expect_same(buf_bytes(&whole), buf_bytes(&pieces));
	buf_release(&whole);
	buf_release(&pieces);
	close(fd);
	return 0;
}
