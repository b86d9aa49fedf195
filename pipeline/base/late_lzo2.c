/* late_lzo2.c - the function of liblzo2 that we call; its license forbids linking this library */
#include "late.h"

#define FUNCTIONS(GIVES)                                                                           \
	GIVES(int, lzo1x_decompress_safe,                                                          \
	      (const unsigned char *in, size_t n, unsigned char *out, size_t *size, void *work),   \
	      (in, n, out, size, work))

FUNCTIONS(LATE_GIVES)

const struct late_function late_lzo2[] = {FUNCTIONS(LATE_GIVES_LINE){0}};
