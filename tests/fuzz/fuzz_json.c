/* fuzz_json.c - json_extract and jansson agree on any bytes */
#include <stdint.h>

#include "tests/unit/json_oracle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_paths *p;
	struct json_scratch s = {0};
	struct error err;
	size_t bad;

	if (json_paths_new(&p, oracle_paths, ORACLE_PATHS, NULL, &bad, &err))
		abort();
	const char *differs = oracle_differs(p, &s, bytes_of(data, size));
	if (differs) {
		fprintf(stderr, "%s\n", differs);
		abort();
	}
	json_scratch_release(&s);
	json_paths_free(p);
	return 0;
}
