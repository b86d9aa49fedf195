/*
 * flat.h - read FlatBuffers from untrusted bytes
 *
 * The binary format: https://flatbuffers.dev/internals/. Every access is checked against the
 * buffer. An offset out of it marks the buffer as bad and reads as absent.
 */
#ifndef SALTMILL_SOURCE_FLAT_H
#define SALTMILL_SOURCE_FLAT_H

#include "bytes.h"

struct flat {
	struct bytes data;
	bool bad; /* an offset pointed out of data */
};

struct flat_table {
	struct flat *flat; /* NULL: the table is absent, and so are its fields */
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
/* Get field number `id` of the schema's table, from 0. otherwise: the field's default. */
int64_t flat_number(const struct flat_table *t, unsigned id, size_t bytes, int64_t otherwise);
struct flat_table flat_sub(const struct flat_table *t, unsigned id);
/* Get a vector of items of `width` bytes. For tables use width 4, then flat_item. */
struct flat_vector flat_vector(const struct flat_table *t, unsigned id, size_t width);
struct flat_table flat_item(struct flat *f, const struct flat_vector *v, size_t i);
struct bytes flat_text(const struct flat_table *t, unsigned id);

#endif
