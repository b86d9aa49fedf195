/* unpack.h - decompress bzip2, xz and zip in pieces of any size */
#ifndef SALTMILL_SOURCE_UNPACK_H
#define SALTMILL_SOURCE_UNPACK_H

#include "bytes.h"

enum packing { PACKED_BZIP2, PACKED_XZ, PACKED_ZIP };

struct unpacker;
struct unpacker *unpacker_new(enum packing packing);
void unpacker_free(struct unpacker *u);
/*
 * Run one step, which reads `*took` of the `n` bytes at `src` and writes `*got` of at most `cap`
 * bytes to `dst`. `n` may be 0 if the last step filled its `dst`. Set `*whole` if the data may end
 * here. Return NULL, or the fault.
 *
 * Several bzip2 or xz streams may follow each other. Zeros may separate xz streams. A zip archive
 * must have a single member. Ignore folders and the files of macOS (__MACOSX/).
 */
const char *unpack(struct unpacker *u, const uint8_t *src, size_t n, size_t *took, uint8_t *dst,
		   size_t cap, size_t *got, bool *whole);

#endif
