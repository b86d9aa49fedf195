/*
 * only_read.h - decompress the codecs that saltmill reads, but does not write
 *
 *   BZIP2   a bzip2 stream
 *   LZMA    a file of the .lzma format with the size in its header (class LZMAOutputStream of XZ for Java)
 *   BROTLI  a brotli stream
 *   LZO     a block of LZO1X
 */
#ifndef SALTMILL_ONLY_READ_H
#define SALTMILL_ONLY_READ_H

#include <stdbool.h>

#include "bytes.h"
#include "table.h"

/*
 * Decompress one stream or block. `*out_bytes` is the room, and becomes the number of bytes written.
 * Returns false if `in` is damaged or has more bytes than the room. Sets `*no_memory` if a library
 * has no memory. The caller loads the library (late.h).
 */
bool hfile_read_only_codec(enum codec codec, struct bytes in, uint8_t *out, size_t *out_bytes,
			   bool *no_memory);

#endif
