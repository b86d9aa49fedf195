/* fuzz_direct.c - rows that go straight into DIFF blocks, against the careful encoder */
#include <stdint.h>
#include <stdlib.h>

#include "tests/unit/direct_judge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!direct_judge(data, size))
		abort();
	return 0;
}
