/*
 * frame.h - a checksummed envelope for the splitter's files
 *
 *   offset  bytes
 *   0       8      magic, which identifies the kind of content
 *   8       4      version
 *   12      8      n, length of the content
 *   20      n      content
 *   20 + n  8      XXH3-64 of all bytes before
 *
 * Numbers are big-endian. Frames may follow each other.
 */
#ifndef SALTMILL_SPLITTER_FRAME_H
#define SALTMILL_SPLITTER_FRAME_H

#include "bytes.h"
#include "error.h"

/* Begin a frame in `out`. Returns the start of the frame, for frame_end. */
size_t frame_begin(struct buf *out, const char magic[8], uint32_t version);
void frame_end(struct buf *out, size_t start);
/*
 * Take the first frame of *file. *content gets the frame's content, and *file gets the rest.
 * Returns RC_DATA if magic, version or checksum differ, or if the frame is truncated.
 */
int frame_take(struct bytes *file, const char magic[8], uint32_t version, const char *name,
	       struct bytes *content, struct error *err);

/* Reads content piece by piece. After the end, the reader returns 0 and sets `bad`. */
struct frame_reader {
	struct bytes rest;
	bool bad;
};

struct bytes frame_bytes(struct frame_reader *c, size_t len);
uint16_t frame_be16(struct frame_reader *c);
uint32_t frame_be32(struct frame_reader *c);
uint64_t frame_be64(struct frame_reader *c);

#endif
