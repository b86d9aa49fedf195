/*
 * fuzz_shell.c - reads text that users copy from the HBase shell, such as split files, list_regions
 * and describe
 *
 * The first byte chooses the text, with s for split files, d for describe, and any other byte for
 * regions. The test writes parsed text and reads it back.
 */
#include "memory_file.h"

#include "mem.h"
#include "splits.h"
#include "ddl.h"

static void check_splits(struct bytes text)
{
	struct splits s = {0}, again = {0};
	struct buf out = {0};
	struct error err;
	int rc = splits_parse(&s, "fuzz", text, &err);

	expect_sentence(rc, &err);
	if (rc == RC_OK) {
		splits_format(&s, &out);
		if (splits_parse(&again, "again", buf_bytes(&out), &err) || again.count != s.count)
			abort();
		for (size_t i = 0; i < s.count; i++)
			expect_same(s.keys[i], again.keys[i]);
	}
	splits_release(&s);
	splits_release(&again);
	buf_release(&out);
}

static void check_regions(struct bytes text)
{
	struct existing e = {0};
	struct error err;
	int rc = existing_parse(&e, "fuzz", text, &err);

	expect_sentence(rc, &err);
	for (size_t i = 1; rc == RC_OK && i < e.splits.count; i++)
		if (bytes_cmp(e.splits.keys[i - 1], e.splits.keys[i]) >= 0)
			abort();
	existing_release(&e);
}

static void check_description(struct bytes text)
{
	struct description d = {0};
	struct arena a = {0};
	struct error err;
	int rc = description_parse(&d, &a, "fuzz", text, &err);

	expect_sentence(rc, &err);
	for (size_t i = 0; rc == RC_OK && i < d.nfamilies; i++)
		if (!d.families[i].name)
			abort();
	if (rc == RC_OK && d.nfamilies == 0)
		abort();
	arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	struct bytes text = bytes_of(data + 1, size - 1);
	if (data[0] == 's')
		check_splits(text);
	else if (data[0] == 'd')
		check_description(text);
	else
		check_regions(text);
	return 0;
}
