/* replay_corpus.c - run a fuzz target over files given as arguments, without libFuzzer */
#include "error.h"
#include "io.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct buf content = {0};
		struct error err;

		if (io_read_file(argv[i], &content, &err)) {
			fprintf(stderr, "%s\n", err.msg);
			return 1;
		}
		LLVMFuzzerTestOneInput(content.ptr, content.len);
		buf_release(&content);
	}
	return 0;
}
