/*
 * flat.h - read FlatBuffers from untrusted bytes
 *
 * https://flatbuffers.dev/internals/ describes the binary format. Each access checks that it is
 * inside the buffer. If an offset is outside the buffer, the function marks the buffer as bad, and
 * the value is absent.
 */
#ifndef SALTMILL_SOURCE_FLAT_H
#define SALTMILL_SOURCE_FLAT_H

#include "bytes.h"

struct flat {
	struct bytes data;
	bool bad; /* an offset pointed outside `data` */
};

struct flat_table {
	struct flat *flat; /* NULL if the table is absent; its fields are then absent too */
	size_t at, vtable;
	uint16_t vtable_bytes, bytes;
};

struct flat_vector {
	const uint8_t *ptr; /* n items of the requested width */
	size_t n;
};

static inline uint16_t get_le16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t get_le32(const uint8_t *p)
{
	return (uint32_t)get_le16(p) | (uint32_t)get_le16(p + 2) << 16;
}

static inline uint64_t get_le64(const uint8_t *p)
{
	return (uint64_t)get_le32(p) | (uint64_t)get_le32(p + 4) << 32;
}

struct flat_table flat_root(struct flat *f);
/*
 * Return field `id` of the table. Ids count from 0. If the field is absent, return `otherwise`, the
 * schema's default.
 */
int64_t flat_number(const struct flat_table *t, unsigned id, size_t bytes, int64_t otherwise);
struct flat_table flat_sub(const struct flat_table *t, unsigned id);
/* Return a vector of items of `width` bytes. For tables use width 4, then flat_item. */
struct flat_vector flat_vector(const struct flat_table *t, unsigned id, size_t width);
struct flat_table flat_item(struct flat *f, const struct flat_vector *v, size_t i);
struct bytes flat_text(const struct flat_table *t, unsigned id);

#endif
