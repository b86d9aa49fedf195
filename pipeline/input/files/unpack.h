/*
 * unpack.h - bzip2, xz and zip, in pieces of any size
 */
#ifndef SALTMILL_SOURCE_UNPACK_H
#define SALTMILL_SOURCE_UNPACK_H

#include "bytes.h"

enum packing { PACKED_BZIP2, PACKED_XZ, PACKED_ZIP };

struct unpacker;
struct unpacker *unpacker_new(enum packing packing);
void unpacker_free(struct unpacker *u);
/*
 * One step: takes `took` of the n bytes at src (n may be 0, if the last step filled its dst) and
 * gives `got` of the most that dst takes.  *whole: the data may end here.  NULL, or what is wrong.
 *
 * bzip2 and xz streams may follow each other, with zeros behind those of xz.  Of a zip archive it
 * is the one member; folders, and what macOS puts beside a file (__MACOSX/), are none.
 */
const char *unpack(struct unpacker *u, const uint8_t *src, size_t n, size_t *took, uint8_t *dst,
		   size_t cap, size_t *got, bool *whole);

#endif
