/* late_brotlidec.c - the functions of libbrotlidec that we call; few HFiles need it */
#include <brotli/decode.h>

#include "late.h"

#define FUNCTIONS(GIVES, DOES)                                                                     \
	GIVES(BrotliDecoderState *, BrotliDecoderCreateInstance,                                   \
	      (brotli_alloc_func alloc, brotli_free_func release, void *opaque),                   \
	      (alloc, release, opaque))                                                            \
	DOES(BrotliDecoderDestroyInstance, (BrotliDecoderState * state), (state))                  \
	GIVES(BrotliDecoderResult, BrotliDecoderDecompressStream,                                  \
	      (BrotliDecoderState * state, size_t * stored, const uint8_t **in, size_t *room,      \
	       uint8_t **out, size_t *total),                                                      \
	      (state, stored, in, room, out, total))                                               \
	GIVES(BrotliDecoderErrorCode, BrotliDecoderGetErrorCode,                                   \
	      (const BrotliDecoderState *state), (state))

FUNCTIONS(LATE_GIVES, LATE_DOES)

const struct late_function late_brotlidec[] = {FUNCTIONS(LATE_GIVES_LINE, LATE_DOES_LINE){0}};
