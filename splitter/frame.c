#include "frame.h"

#include <inttypes.h>

#include <xxhash.h>

#define HEAD_BYTES 20
#define SUM_BYTES  8

size_t frame_begin(struct buf *out, const char magic[8], uint32_t version)
{
	size_t start = out->len;

	buf_append(out, magic, 8);
	buf_be32(out, version);
	buf_be64(out, 0); /* length, set by frame_end */
	return start;
}

void frame_end(struct buf *out, size_t start)
{
	put_be64(out->ptr + start + 12, out->len - start - HEAD_BYTES);
	buf_be64(out, XXH3_64bits(out->ptr + start, out->len - start));
}

int frame_take(struct bytes *file, const char magic[8], uint32_t version, const char *name,
	       struct bytes *content, struct error *err)
{
	const uint8_t *p = file->ptr;

	if (file->len < 8 || memcmp(p, magic, 8) != 0)
		return error_set(err, RC_DATA,
				 "%s: found a file of another kind, expected %.8s at its start",
				 name, magic);
	if (file->len < HEAD_BYTES + SUM_BYTES)
		return error_set(
			err, RC_DATA,
			"%s: found a file truncated after %zu bytes, expected a whole frame", name,
			file->len);
	if (get_be32(p + 8) != version)
		return error_set(err, RC_DATA, "%s: found version %" PRIu32 ", expected %" PRIu32,
				 name, get_be32(p + 8), version);
	uint64_t len = get_be64(p + 12), room = file->len - HEAD_BYTES - SUM_BYTES;
	if (len > room)
		return error_set(err, RC_DATA,
				 "%s: found %" PRIu64 " bytes, expected %" PRIu64
				 "; the file is truncated",
				 name, room, len);
	const uint8_t *sum = p + HEAD_BYTES + len;
	if (XXH3_64bits(p, HEAD_BYTES + len) != get_be64(sum))
		return error_set(
			err, RC_DATA,
			"%s: found another checksum, expected that of the content; the file is damaged",
			name);
	*content = bytes_of(p + HEAD_BYTES, len);
	*file = bytes_of(sum + SUM_BYTES, room - len);
	return RC_OK;
}

struct bytes frame_bytes(struct frame_reader *c, size_t len)
{
	if (len > c->rest.len) {
		c->bad = true;
		c->rest.len = 0;
		return (struct bytes){0};
	}
	struct bytes out = bytes_of(c->rest.ptr, len);
	c->rest = bytes_of(c->rest.ptr + len, c->rest.len - len);
	return out;
}

uint16_t frame_be16(struct frame_reader *c)
{
	struct bytes b = frame_bytes(c, 2);

	return b.len ? get_be16(b.ptr) : 0;
}

uint32_t frame_be32(struct frame_reader *c)
{
	struct bytes b = frame_bytes(c, 4);

	return b.len ? get_be32(b.ptr) : 0;
}

uint64_t frame_be64(struct frame_reader *c)
{
	struct bytes b = frame_bytes(c, 8);

	return b.len ? get_be64(b.ptr) : 0;
}
