/*
 * avro_json.h - Avro's encoding step by step: read single values, skip them, write any value as
 * JSON
 */
#ifndef SALTMILL_SOURCE_AVRO_JSON_H
#define SALTMILL_SOURCE_AVRO_JSON_H

#include "avro_schema.h"

#define AVRO_MOST_NESTED 512
#define AVRO_JSON_MAX	 ((size_t)64 << 20) /* in the JSON of one value */

/* Functions that return false set fault to what is wrong at p. */
struct avro_reader {
	const uint8_t *p, *end;
	const char *fault;
	unsigned depth;
};

static inline bool avro_fault(struct avro_reader *r, const char *fault)
{
	r->fault = fault;
	return false;
}

/* Read an int or a long: zigzag, base 128. */
static inline bool avro_long(struct avro_reader *r, int64_t *v)
{
	uint64_t u;

	if (r->p < r->end && *r->p < 0x80) {
		u = *r->p++;
	} else {
		size_t n = get_varint(r->p, r->end, &u);

		if (n == 0)
			return avro_fault(r, "a number that does not end");
		r->p += n;
	}
	*v = (int64_t)(u >> 1) ^ -(int64_t)(u & 1);
	return true;
}

static inline bool avro_raw(struct avro_reader *r, void *to, size_t n)
{
	if ((size_t)(r->end - r->p) < n)
		return avro_fault(r, "a number that is cut off");
	memcpy(to, r->p, n);
	r->p += n;
	return true;
}

/* Read a string, bytes or a fixed. t NULL: a map key. */
static inline bool avro_bytes(struct avro_reader *r, const struct avro_type *t, struct bytes *v)
{
	int64_t len;

	if (t && t->kind == AVRO_FIXED)
		len = (int64_t)t->size;
	else if (!avro_long(r, &len))
		return false;
	if (len < 0 || len > r->end - r->p)
		return avro_fault(r, "a length that exceeds the block");
	*v = bytes_of(r->p, (size_t)len);
	r->p += len;
	return true;
}

bool avro_boolean(struct avro_reader *r, bool *v);
bool avro_symbol(struct avro_reader *r, const struct avro_type *t, struct bytes *v);
bool avro_branch(struct avro_reader *r, const struct avro_type *t, size_t *branch);
/* Read how many items of the array t, or pairs of the map t, follow directly; 0: it ends. */
bool avro_items(struct avro_reader *r, const struct avro_type *t, uint64_t *count);
bool avro_skip(struct avro_reader *r, const struct avro_type *t);
/* Write a number with a logical type as text. An out-of-range number becomes plain digits. */
size_t avro_spell(uint8_t *to, const struct avro_type *t, int64_t v);
/*
 * Append the value as JSON: records and maps as objects; enums, times and uuids as strings; bytes
 * as strings of \u00XX; NaN and infinities as null.
 */
bool avro_json(struct avro_reader *r, const struct avro_type *t, struct buf *out);

#endif
