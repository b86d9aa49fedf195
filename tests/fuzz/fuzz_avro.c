/* fuzz_avro.c - reads any bytes as an Avro object container file */
#include "block_events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_blocks(SOURCE_AVRO, data, size);
	return 0;
}
