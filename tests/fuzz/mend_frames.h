/*
 * mend_frames.h - gives splitter's frames correct checksums
 *
 * Otherwise the checksums stop a fuzzer at the first byte that it changes.
 */
#ifndef SALTMILL_FUZZ_MEND_FRAMES_H
#define SALTMILL_FUZZ_MEND_FRAMES_H

#include <xxhash.h>

#include "bytes.h"

/* Treats all bytes that begin like a frame as a frame (splitter/frame.h). */
static inline void mend_frames(uint8_t *p, size_t size)
{
	enum { HEAD = 20, SUM = 8 };
	for (size_t at = 0; at + HEAD + SUM <= size; at++) {
		if (memcmp(p + at, "SMs", 3) != 0)
			continue;
		uint64_t len = get_be64(p + at + 12);
		if (len <= size - at - HEAD - SUM)
			put_be64(p + at + HEAD + len, XXH3_64bits(p + at, HEAD + len));
	}
}

#endif
