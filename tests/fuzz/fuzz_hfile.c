/*
 * fuzz_hfile.c - opens and reads any file without a crash, or gets an error
 *
 * Checksums stop a fuzzer at the first block. So bit 0 of the first byte decides whether the test
 * corrects the checksums. With bit 1, the length of a ZSTD dictionary (2 bytes) and the dictionary
 * follow. The rest is the file.
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

/* Return the keys of hbase2/random.zip, and the dictionary unless it is empty or damaged. */
static struct hfile_extras *extras_of(struct bytes dictionary)
{
	static const char text[] =
		"8d4861bb591141dff1ea2360a68f57cb\nb1a8385d64505d4fc0e302f2a1fb1228\n";
	struct hfile_extras *x = hfile_extras_new();
	struct error err;

	if (x)
		hfile_extras_add_keys(x, "keys", bytes_str(text), &err);
	if (x && dictionary.len)
		hfile_extras_add_dictionary(x, "dictionary", dictionary, &err);
	return x;
}

/* Take the dictionary from the start of the input. */
static struct bytes take_dictionary(const uint8_t **data, size_t *size)
{
	size_t len = *size < 2 ? 0 : get_be16(*data), most = *size < 2 ? 0 : *size - 2;
	struct bytes dictionary = bytes_of(*data + *size - most, len < most ? len : most);

	*data = dictionary.ptr + dictionary.len;
	*size = most - dictionary.len;
	return dictionary;
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
	struct bytes dictionary = {0};
	struct buf file = {0};
	struct error err;
	char path[64];
	uint8_t how = size ? data[0] : 0;

	data += size > 0;
	size -= size > 0;
	if (how & 2)
		dictionary = take_dictionary(&data, &size);
	buf_append(&file, data, size);
	if (how & 1)
		mend_checksums(file.ptr, file.len);
	struct hfile_extras *x = extras_of(dictionary);
	hfile_extras_use(x);
	int fd = memory_file(buf_bytes(&file), path);
	walk(path);
	if (hfile_verify(path, &sum, &err) == 0)
		hfile_summary_release(&sum);
	hfile_extras_use(NULL);
	hfile_extras_free(x);
	buf_release(&file);
	close(fd);
	return 0;
}
