/*
 * fuzz_hfile.c - opens and reads any file without a crash, or gets an error
 *
 * Checksums stop a fuzzer at the first block. So the first byte of the input decides whether the
 * test corrects the checksums. The rest is the file.
 */
#include "memory_file.h"

#include "hfile.h"
#include "mem.h"
#include "pipeline/hfile/block.h"

/* Walks the blocks as a reader would, and writes the correct checksum of each block. */
static void mend_checksums(uint8_t *p, size_t size)
{
	for (size_t at = 0; at + HBLOCK_HEADER <= size;) {
		uint64_t rest = get_be32(p + at + 8), data = get_be32(p + at + 29);
		uint32_t chunk = get_be32(p + at + 25);

		if (data < HBLOCK_HEADER || chunk < 64 || at + HBLOCK_HEADER + rest > size ||
		    data + 4 * ((data + chunk - 1) / chunk) != HBLOCK_HEADER + rest)
			return;
		uint8_t *sum = p + at + data;
		for (uint64_t i = 0; i < data; i += chunk, sum += 4)
			put_be32(sum, hfile_block_crc32c(p + at + i,
							 data - i < chunk ? data - i : chunk));
		at += HBLOCK_HEADER + rest;
	}
}

/* The keys of hbase2/random.zip. */
static const struct hfile_extras *keys(void)
{
	static const char text[] =
		"8d4861bb591141dff1ea2360a68f57cb\nb1a8385d64505d4fc0e302f2a1fb1228\n";
	static struct hfile_extras *x;
	struct error err;

	if (!x && (x = hfile_extras_new()) != NULL)
		hfile_extras_add_keys(x, "keys", bytes_str(text), &err);
	return x;
}

static void walk(const char *path)
{
	struct hfile *f;
	struct hfile_block block;
	struct cell cell;
	struct error err;
	uint64_t at = 0;
	bool found;

	if (hfile_open(&f, path, &err))
		return;
	while (hfile_next_block(f, &at, &block, &err) == 0)
		;
	while (hfile_next_cell(f, &cell, &err) == 0)
		;
	const struct bytes none = {NULL, 0};
	const struct cell m = cell_first(bytes_str("m"), none, none);
	if (hfile_seek(f, &m, &err) == 0)
		hfile_next_cell(f, &cell, &err);
	hfile_may_contain(f, bytes_str("m"), bytes_str("q"), &found, &err);
	hfile_close(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hfile_summary sum;
	struct buf file = {0};
	struct error err;
	char path[64];

	if (size > 1)
		buf_append(&file, data + 1, size - 1);
	if (size && data[0] & 1)
		mend_checksums(file.ptr, file.len);
	hfile_extras_use(keys());
	int fd = memory_file(buf_bytes(&file), path);
	walk(path);
	if (hfile_verify(path, &sum, &err) == 0)
		hfile_summary_release(&sum);
	buf_release(&file);
	close(fd);
	return 0;
}
