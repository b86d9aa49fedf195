/* fuzz_diff_cells.c - cells straight from a DIFF block, against the careful decoder */
#include <stdint.h>
#include <stdlib.h>

#include "tests/unit/diff_cells_judge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf block = {0};
	bool accepted;

	buf_append(&block, "\0\3", 2);
	buf_append(&block, data, size);
	if (!diff_cells_judge(buf_bytes(&block), &accepted))
		abort();
	buf_release(&block);
	return 0;
}
