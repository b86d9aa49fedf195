/* fuzz_arrow.c - reads any bytes as an Arrow IPC stream or file */
#include "block_events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_blocks(SOURCE_ARROW, data, size);
	return 0;
}
