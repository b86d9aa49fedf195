/* fuzz_manifest.c - checks that a manifest gives an error, or survives reading and writing */
#include "memory_file.h"
#include "mend_manifest.h"

#include "mem.h"
#include "publish.h"

/* Parses the manifest in text and appends the result of manifest_format. */
static int read_and_format(struct bytes text, struct buf *out, struct error *err)
{
	struct manifest m;
	struct arena a = {0};
	char path[64];
	int fd = memory_file(text, path);
	int rc = manifest_read(&m, path, &a, err);

	if (rc == RC_OK)
		manifest_format(&m, out);
	arena_release(&a);
	close(fd);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf text = {0}, once = {0}, twice = {0};
	struct error err;

	buf_append(&text, data, size);
	mend_manifest(text.ptr, size);
	int rc = read_and_format(buf_bytes(&text), &once, &err);
	expect_sentence(rc, &err);
	if (rc == RC_OK) {
		if (read_and_format(buf_bytes(&once), &twice, &err))
			abort();
		expect_same(buf_bytes(&once), buf_bytes(&twice));
	}
	buf_release(&text);
	buf_release(&once);
	buf_release(&twice);
	return 0;
}
