/* late_snappy.c - the functions of libsnappy that we call; libsnappy needs the C++ library */
#include <snappy-c.h>

#include "late.h"

#define FUNCTIONS(GIVES)                                                                           \
	GIVES(snappy_status, snappy_compress, (const char *in, size_t n, char *out, size_t *size), \
	      (in, n, out, size))                                                                  \
	GIVES(snappy_status, snappy_uncompress,                                                    \
	      (const char *in, size_t n, char *out, size_t *size), (in, n, out, size))             \
	GIVES(size_t, snappy_max_compressed_length, (size_t n), (n))                               \
	GIVES(snappy_status, snappy_uncompressed_length, (const char *in, size_t n, size_t *size), \
	      (in, n, size))

FUNCTIONS(LATE_GIVES)

const struct late_function late_snappy[] = {FUNCTIONS(LATE_GIVES_LINE){0}};
