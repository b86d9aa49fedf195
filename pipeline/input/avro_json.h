/*
 * avro_json.h - read single values of Avro's encoding, skip them, or write any value as JSON
 */
#ifndef SALTMILL_SOURCE_AVRO_JSON_H
#define SALTMILL_SOURCE_AVRO_JSON_H

#include "avro.h"

#define AVRO_MOST_NESTED 512
#define AVRO_JSON_MAX	 ((size_t)64 << 20) /* bytes of the JSON of one value */
/*
 * The limit of steps of an event. Each visited field or item is a step. Each byte of the event
 * raises the limit.
 */
#define AVRO_STEPS	   (UINT64_C(10) << 20)
#define AVRO_STEPS_OF_BYTE 16

/* A reader of one block. A function that returns false sets `fault` to the problem at `p`. */
struct avro_reader {
	const uint8_t *p, *end;
	const char *fault;
	unsigned depth;
	const uint8_t *start; /* of the event */
	uint64_t steps, look; /* steps so far, and the number at which to check the limits */
};

static inline bool avro_fault(struct avro_reader *r, const char *fault)
{
	r->fault = fault;
	return false;
}

bool avro_may_go_on(struct avro_reader *r);
/*
 * Count the visit of `n` fields or items. Return false if there were too many, or if a signal came.
 */
static inline bool avro_visit(struct avro_reader *r, uint64_t n)
{
	r->steps += n;
	return r->steps < r->look || avro_may_go_on(r);
}

/* Read an int or a long, which is a zigzag number in base 128. */
static inline bool avro_long(struct avro_reader *r, int64_t *v)
{
	uint64_t u;

	if (r->p < r->end && *r->p < 0x80) {
		u = *r->p++;
	} else {
		size_t n = get_varint(r->p, r->end, &u);

		if (n == 0)
			return avro_fault(r, "a number of more than 10 bytes");
		r->p += n;
	}
	*v = (int64_t)(u >> 1) ^ -(int64_t)(u & 1);
	return true;
}

static inline bool avro_raw(struct avro_reader *r, void *to, size_t n)
{
	if ((size_t)(r->end - r->p) < n)
		return avro_fault(r, "a truncated number");
	memcpy(to, r->p, n);
	r->p += n;
	return true;
}

/* Read a string, bytes or a fixed. A NULL `t` means a map key. */
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
/*
 * Read the number of items of the array `t`, or of pairs of the map `t`, in the next part. The
 * number 0 means that no part follows.
 */
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
