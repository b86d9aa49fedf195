/* unpack.h - unpack bzip2, xz and zip in pieces of any size */
#ifndef SALTMILL_SOURCE_UNPACK_H
#define SALTMILL_SOURCE_UNPACK_H

#include "bytes.h"

enum packing { PACKED_BZIP2, PACKED_XZ, PACKED_ZIP };

struct unpacker;
struct unpacker *unpacker_new(enum packing packing);
void unpacker_free(struct unpacker *u);
/*
 * Unpack one step: takes *took of the n bytes at src and writes *got of at most cap bytes to dst. n
 * may be 0 if the last step filled its dst. *whole: the data may end here. Returns NULL, or what is
 * wrong.
 *
 * Several bzip2 or xz streams may follow each other, those of xz with zeros between them. From a
 * zip archive the single member is taken; folders and the files of macOS (__MACOSX/) are ignored.
 */
const char *unpack(struct unpacker *u, const uint8_t *src, size_t n, size_t *took, uint8_t *dst,
		   size_t cap, size_t *got, bool *whole);

#endif
