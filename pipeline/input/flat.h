/*
 * flat.h - FlatBuffers, read without believing them
 *
 * The binary format's internals: https://flatbuffers.dev/internals/.  Every access is held against
 * the buffer; what points out of it marks the buffer as bad and reads as absent.
 */
#ifndef SALTMILL_SOURCE_FLAT_H
#define SALTMILL_SOURCE_FLAT_H

#include "bytes.h"

struct flat {
	struct bytes data;
	bool bad; /* something pointed out of data */
};

struct flat_table {
	struct flat *flat; /* NULL: absent, and all of its fields */
	size_t at, vtable;
	uint16_t vtable_bytes, bytes;
};

struct flat_vector {
	const uint8_t *ptr; /* n items, each of the width that was asked for */
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
/* Field number `id` of the schema's table, from 0; otherwise is its default. */
int64_t flat_number(const struct flat_table *t, unsigned id, size_t bytes, int64_t otherwise);
struct flat_table flat_sub(const struct flat_table *t, unsigned id);
/* Items of so many bytes; of tables: 4, for flat_item. */
struct flat_vector flat_vector(const struct flat_table *t, unsigned id, size_t width);
struct flat_table flat_item(struct flat *f, const struct flat_vector *v, size_t i);
struct bytes flat_text(const struct flat_table *t, unsigned id);

#endif
