/*
 * avro_json.h - Avro's encoding step by step: single values, skipping, and any value as JSON
 */
#ifndef SALTMILL_SOURCE_AVRO_JSON_H
#define SALTMILL_SOURCE_AVRO_JSON_H

#include "avro_schema.h"

#define AVRO_MOST_NESTED 512
#define AVRO_JSON_MAX	 ((size_t)64 << 20) /* bytes of one value as JSON */

/* All functions: false: fault says what is wrong at p. */
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

/* int and long: zigzag, base 128. */
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

/* Of string and bytes, and of fixed; t NULL: a map's key. */
static inline bool avro_bytes(struct avro_reader *r, const struct avro_type *t, struct bytes *v)
{
	int64_t len;

	if (t && t->kind == AVRO_FIXED)
		len = (int64_t)t->size;
	else if (!avro_long(r, &len))
		return false;
	if (len < 0 || len > r->end - r->p)
		return avro_fault(r, "a length that goes behind the block's end");
	*v = bytes_of(r->p, (size_t)len);
	r->p += len;
	return true;
}

bool avro_boolean(struct avro_reader *r, bool *v);
bool avro_symbol(struct avro_reader *r, const struct avro_type *t, struct bytes *v);
bool avro_branch(struct avro_reader *r, const struct avro_type *t, size_t *branch);
/* How many items of the array or the pairs of the map t follow at once; 0: it is at its end. */
bool avro_items(struct avro_reader *r, const struct avro_type *t, uint64_t *count);
bool avro_skip(struct avro_reader *r, const struct avro_type *t);
/* A number with a logical type as its text, which is not always one of that type's. */
size_t avro_spell(uint8_t *to, const struct avro_type *t, int64_t v);
/*
 * Append the value: records and maps as objects, enums, times and uuids as strings, bytes as
 * strings of \u00XX, NaN and the infinities as null.
 */
bool avro_json(struct avro_reader *r, const struct avro_type *t, struct buf *out);

#endif
