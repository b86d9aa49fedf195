/* guess_values.c - describe the values of a column */
#include "infer.h"

#define VALUES_LEAST 3 /* fewest values that show a type of 1 or 2 bytes */

static void set(struct guess *g, enum field_type type, enum encode_as as, const char *what,
		unsigned confidence)
{
	*g = (struct guess){.type = type,
			    .as = as,
			    .terminator = NO_TERMINATOR,
			    .what = what,
			    .confidence = confidence};
}

static void set_opaque(struct guess *g, const char *what)
{
	set(g, FIELD_BYTES, AS_BYTES, what, 50);
	g->opaque = true;
}

struct value_set {
	const struct bytes *value;
	size_t n, width;
};

static bool are_between(const struct value_set *v, uint64_t flip, uint64_t least, uint64_t most)
{
	for (size_t i = 0; i < v->n; i++) {
		uint64_t u = guess_number(v->value[i].ptr, v->width) ^ flip;

		if (u < least || u > most)
			return false;
	}
	return true;
}

/* Return the share of values that are real numbers with few digits. */
static double reals(const struct value_set *v)
{
	size_t good = 0, zeros = 0;

	for (size_t i = 0; i < v->n; i++) {
		uint64_t bits = guess_number(v->value[i].ptr, v->width);
		uint32_t half = (uint32_t)bits;
		double d;
		float f;

		memcpy(&d, &bits, 8);
		memcpy(&f, &half, 4);
		good += guess_short_real(v->width == 4 ? (double)f : d, v->width == 4 ? 6 : 12);
		zeros += bits == 0;
	}
	return zeros == v->n ? 0 : (double)good / (double)v->n;
}

/* Return true if the whole numbers are small for their width, and may be negative. */
static bool are_small(const struct value_set *v)
{
	const unsigned spare = 64 - 8 * (unsigned)v->width;
	const int64_t most = v->width == 8 ? (int64_t)1 << 48 : (int64_t)1 << 29;

	for (size_t i = 0; i < v->n; i++) {
		int64_t s = (int64_t)(guess_number(v->value[i].ptr, v->width) << spare) >> spare;

		if (s > most || s < -most)
			return false;
	}
	return true;
}

/* Return true if all floats have the size of usual measurements. */
static bool are_floats(const struct value_set *v)
{
	for (size_t i = 0; i < v->n; i++) {
		uint32_t bits = get_be32(v->value[i].ptr) & INT32_MAX;

		/* 1e-6 to 1e9 */
		if (bits && (bits < 0x358637bd || bits > 0x4e6e6b28))
			return false;
	}
	return true;
}

static bool are_uuids(const struct value_set *v)
{
	for (size_t i = 0; i < v->n; i++) {
		const uint8_t *p = v->value[i].ptr;

		if (p[6] >> 4 < 1 || p[6] >> 4 > 8 || p[8] >> 6 != 2)
			return false;
	}
	return v->n >= VALUES_LEAST;
}

static void describe_long(struct guess *g, const struct value_set *v)
{
	if (are_between(v, 0, TIME_FIRST, TIME_LAST))
		set(g, FIELD_TIME, AS_MILLIS, "milliseconds since 1970", 95);
	else if (are_between(v, INT64_MAX, TIME_FIRST, TIME_LAST))
		set(g, FIELD_TIME, AS_REVERSED_MILLIS, "Long.MAX_VALUE - milliseconds", 98);
	else if (are_small(v))
		set(g, FIELD_I64, AS_I64, "long, as of Bytes.toBytes", 90);
	else if (reals(v) > 0.9)
		set(g, FIELD_F64, AS_F64, "double, as of Bytes.toBytes", 95);
	else if (are_between(v, 0, (uint64_t)1 << 63 | 0, UINT64_MAX) &&
		 are_between(v, (uint64_t)1 << 63, 0, (uint64_t)1 << 48))
		set_opaque(g, "8 bytes with a flipped sign bit, as of Phoenix's BIGINT, DATE or "
			      "OrderedBytes; a job has no such value");
	else if (are_between(v, 0, (uint64_t)0x3e << 56, (uint64_t)0xc2 << 56))
		set(g, FIELD_F64, AS_F64, "double, by its exponents", 60);
	else
		set_opaque(g, "8 bytes of unknown form");
	if (g->type == FIELD_TIME)
		g->unit = "ms";
}

static void describe_int(struct guess *g, const struct value_set *v)
{
	if (are_small(v))
		set(g, FIELD_I64, AS_I32, "int, as of Bytes.toBytes", 90);
	else if (are_floats(v))
		set(g, FIELD_F64, AS_F32, "float, as of Bytes.toBytes", reals(v) > 0.9 ? 90 : 75);
	else if (are_between(v, 0, TIME_FIRST / 1000, SECONDS_LAST))
		set(g, FIELD_U32, AS_U32, "seconds since 1970", 70);
	else if (are_between(v, (uint64_t)1 << 31, 0, 1 << 29))
		set_opaque(g, "4 bytes with a flipped sign bit, as of Phoenix's INTEGER; a job "
			      "has no such value");
	else
		set_opaque(g, "4 bytes of unknown form");
}

static void describe_byte(struct guess *g, const struct value_set *v)
{
	bool flags = true;

	for (size_t i = 0; i < v->n; i++)
		flags &= v->value[i].ptr[0] == 0 || v->value[i].ptr[0] == 0xff;
	if (flags && v->n >= VALUES_LEAST)
		set(g, FIELD_BOOL, AS_BOOL, "boolean, as of Bytes.toBytes", 90);
	else
		set(g, FIELD_U32, AS_U8, "one byte", 60);
}

static bool begin_with(const struct value_set *v, struct bytes start)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->value[i].len < start.len ||
		    memcmp(v->value[i].ptr, start.ptr, start.len) != 0)
			return false;
	return true;
}

/* Recognize values that name their format or their schema. */
static bool describe_magic(struct guess *g, const struct value_set *v)
{
	const uint8_t *p = v->value[0].ptr;

	if (begin_with(v, bytes_of("Obj\x01", 4)))
		set(g, FIELD_BYTES, AS_BYTES, "Avro object container", 99);
	else if (begin_with(v, bytes_of("\xc3\x01", 2)) && v->value[0].len > 10)
		set(g, FIELD_BYTES, AS_BYTES, "Avro single object", 95);
	else if (v->value[0].len > 5 && p[0] == 0 && p[1] == 0 && v->n >= VALUES_LEAST &&
		 v->width == 0 && begin_with(v, bytes_of(p, 5)))
		set(g, FIELD_BYTES, AS_BYTES,
		    "a schema's number and a value, as of Avro with "
		    "Confluent's registry",
		    85);
	else
		return false;
	return true;
}

static void describe_binary(struct guess *g, const struct value_set *v)
{
	if (describe_magic(g, v))
		return;
	switch (v->width) {
	case 1: describe_byte(g, v); return;
	case 2: set(g, FIELD_U32, AS_U16, "2 bytes, big-endian", 70); return;
	case 4: describe_int(g, v); return;
	case 8: describe_long(g, v); return;
	case 16:
		if (are_uuids(v)) {
			set(g, FIELD_UUID, AS_UUID, "UUID, by its version and variant bits", 98);
			return;
		}
		break;
	}
	set_opaque(g, v->width ? "bytes of unknown form" : "bytes of different lengths");
}

void guess_values(struct guess *g, const struct bytes *values, size_t n)
{
	struct value_set v = {.value = values, .n = n, .width = n ? values[0].len : 0};
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++) {
		bytes += values[i].len;
		if (values[i].len != v.width)
			v.width = 0;
	}
	if (bytes == 0)
		set(g, FIELD_TEXT, AS_TEXT, n ? "always empty" : "no value was sampled", 50);
	else if (guess_texts(values, n, g))
		g->as = AS_TEXT;
	else
		describe_binary(g, &v);
	for (size_t i = 0; g->text && g->padded && i < n; i++)
		if (values[i].ptr[0] == '0')
			g->type = FIELD_TEXT; /* a number would lose its zeros */
	g->padded = false;
}
