/*
 * fuzz_sketch.c - checks that a sketch from a file gives an error, or the same bytes after writing
 */
#include "memory_file.h"

#include "mem.h"
#include "mend_frames.h"
#include "plan.h"
#include "splitter/sketch_state.h"

static void use(struct sketch *s)
{
	struct sketch_view view;
	struct sketch *sum = sketch_new(SKETCH_K_MIN, 1);

	sketch_merge(sum, s);
	sketch_view_open(&view, sum);
	for (size_t i = 1; i < view.count; i++)
		if (bytes_cmp(view.points[i - 1].key, view.points[i].key) >= 0)
			abort();
	sketch_view_close(&view);
	sketch_free(sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sketch *s;
	struct buf file = {0}, again = {0};
	struct error err;

	buf_append(&file, data, size);
	mend_frames(file.ptr, file.len);
	struct bytes rest = buf_bytes(&file);
	int rc = sketch_take(&s, "fuzz", &rest, &err);

	expect_sentence(rc, &err);
	file.len -= rest.len;
	if (rc == RC_OK) {
		sketch_save(s, &again);
		expect_same(buf_bytes(&file), buf_bytes(&again));
		use(s);
		sketch_free(s);
	}
	buf_release(&file);
	buf_release(&again);
	return 0;
}
