/* number_forms.c - parts of a key with a fixed number of bytes: times, UUIDs, numbers */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "infer.h"

#define SECONDS_FIRST UINT64_C(1000000000) /* 2001 */

/* --- times --- */

/* A form of binary times: value = (bytes ^ flip) / scale, or sub - bytes. */
static const struct time_form {
	uint8_t width;
	uint64_t flip;
	uint64_t per_second;
	double points;
	enum field_type type;
	enum encode_as as;
	const char *unit, *what;
} time_forms[] = {
	{8, 0, 1000, 10, FIELD_TIME, AS_MILLIS, "ms", "milliseconds since 1970"},
	{8, INT64_MAX, 1000, 10, FIELD_TIME, AS_REVERSED_MILLIS, "ms",
	 "Long.MAX_VALUE - milliseconds, newest first"},
	{8, INT64_MAX, 1, 10, FIELD_TIME, AS_REVERSED_SECONDS, "s",
	 "Long.MAX_VALUE - seconds, newest first"},
	{8, INT64_MAX, 1000000, 10, FIELD_TIME, AS_REVERSED_MICROS, "us",
	 "Long.MAX_VALUE - microseconds, newest first"},
	{8, (uint64_t)1 << 63, 1000, 10, FIELD_I64, AS_I64, NULL,
	 "milliseconds since 1970, sign bit flipped, as Phoenix writes DATE and TIME"},
	{8, UINT64_MAX, 1000, 10, FIELD_U64, AS_DESCENDING_U64, NULL,
	 "milliseconds since 1970 with inverted bytes, newest first"},
	{8, 0, 1, 10, FIELD_U64, AS_U64, NULL, "seconds since 1970"},
	{8, 0, 1000000, 10, FIELD_U64, AS_U64, NULL, "microseconds since 1970"},
	{8, 0, 1000000000, 10, FIELD_U64, AS_U64, NULL, "nanoseconds since 1970"},
	{8, (uint64_t)1 << 63, 1, 10, FIELD_I64, AS_I64, NULL,
	 "seconds since 1970, sign bit flipped"},
	{4, 0, 1, 7.5, FIELD_U32, AS_U32, NULL, "seconds since 1970"},
	{4, UINT32_MAX, 1, 7, FIELD_U32, AS_DESCENDING_U32, NULL,
	 "seconds since 1970 with inverted bytes, newest first"},
	{4, (uint64_t)1 << 31, 1, 7, FIELD_I64, AS_I32, NULL,
	 "seconds since 1970, sign bit flipped"},
	{4, INT32_MAX, 1, 6.5, FIELD_U32, AS_U32, NULL,
	 "Integer.MAX_VALUE - seconds since 1970, newest first"},
};

static bool is_time(const struct key_anchor *a, size_t column, const struct time_form *f)
{
	const struct key_column *c = &a->column[column];
	bool wide = f->width == 8;
	uint64_t first = wide ? (uint64_t)TIME_FIRST / 1000 * f->per_second : SECONDS_FIRST;
	uint64_t last = wide ? (uint64_t)TIME_LAST / 1000 * f->per_second : SECONDS_LAST;

	for (size_t k = 0; k < a->n; k++) {
		uint64_t v = guess_number(anchor_ptr(a, k, column), f->width) ^ f->flip;

		if (v < first || v > last)
			return false;
	}
	/* the last byte of a time varies first */
	bool varies = false;
	for (size_t i = 0; i < f->width; i++)
		varies |= !c[i].same;
	if (a->n >= DRAWN_LEAST && varies && c[f->width - 1].same)
		return false;
	/* 4 bytes may be a text, or a random number, whose first bytes differ */
	bool text = c[0].print && c[1].print && c[2].print && c[3].print;
	return wide || (!text && c->high - c->low <= (f->flip ? 2 : 8));
}

/* Return true if all times are whole hours, as in OpenTSDB's rows. */
static bool is_hourly(const struct key_anchor *a, size_t column)
{
	for (size_t k = 0; k < a->n; k++)
		if (guess_number(anchor_ptr(a, k, column), 4) % 3600)
			return false;
	return true;
}

static void find_uuids(const struct key_anchor *a, size_t column, guess_found *found, void *ctx)
{
	if (column + 16 > a->columns)
		return;
	for (size_t k = 0; k < a->n; k++) {
		const uint8_t *p = anchor_ptr(a, k, column);

		if (p[6] >> 4 < 1 || p[6] >> 4 > 8 || p[8] >> 6 != 2)
			return;
	}
	if (a->n < 3 || a->column[column + 6].high >> 4 != a->column[column + 6].low >> 4)
		return;
	found(ctx, &(struct guess){.type = FIELD_UUID,
				   .as = AS_UUID,
				   .width = 16,
				   .terminator = NO_TERMINATOR,
				   .what = "UUID, by its version and variant bits",
				   .stem = "uuid",
				   .points = 9 * 16,
				   .confidence = a->n < DRAWN_LEAST ? 80 : 99});
}

void forms_times(const struct key_anchor *a, size_t column, guess_found *found, void *ctx)
{
	for (size_t i = 0; i < sizeof time_forms / sizeof *time_forms; i++) {
		const struct time_form *f = &time_forms[i];

		if (column + f->width > a->columns || !is_time(a, column, f))
			continue;
		struct guess g = {.type = f->type,
				  .as = f->as,
				  .width = f->width,
				  .terminator = NO_TERMINATOR,
				  .unit = f->unit,
				  .what = f->what,
				  .stem = "time",
				  .backwards = f->flip == INT32_MAX || f->flip == UINT32_MAX,
				  .doubt = f->flip == UINT64_MAX
						   ? "may be -milliseconds, which are 1 ms later"
						   : NULL,
				  .points = f->points * f->width,
				  .confidence = f->width == 8 ? 98 : 80};

		/* a time that never changes may be parts of other numbers */
		if (a->n >= DRAWN_LEAST && anchor_same(a, column) >= f->width) {
			g.points /= 2;
			g.confidence = 60;
		} else if (f->as == AS_U32 && f->flip == 0 && is_hourly(a, column)) {
			g.points += 6;
			g.confidence = 97;
			g.what = "seconds since 1970, in whole hours";
		}
		found(ctx, &g);
	}
	find_uuids(a, column, found, ctx);
}

/* --- real numbers --- */

bool guess_short_real(double d, unsigned digits)
{
	char text[40];

	if (d == 0)
		return true;
	if (!isfinite(d) || fabs(d) < 1e-7 || fabs(d) > 1e13)
		return false;
	snprintf(text, sizeof text, "%.*g", (int)digits, d);
	return digits > 7 ? strtod(text, NULL) == d
			  : fabs(strtod(text, NULL) - d) <= fabs(d) * 0x1p-24;
}

static double real_of(const uint8_t *p, size_t width)
{
	uint64_t bits = guess_number(p, width);
	uint32_t half = (uint32_t)bits;
	double d;
	float f;

	if (width == 4) {
		half ^= half >> 31 ? (uint32_t)1 << 31 : UINT32_MAX;
		memcpy(&f, &half, 4);
		return (double)f;
	}
	bits ^= bits >> 63 ? (uint64_t)1 << 63 : UINT64_MAX;
	memcpy(&d, &bits, 8);
	return d;
}

static void find_reals(const struct key_anchor *a, size_t column, guess_found *found, void *ctx)
{
	for (size_t width = 8; width >= 4; width -= 4) {
		size_t good = 0, zeros = 0;

		if (column + width > a->columns || a->column[column].low < 0x38 ||
		    a->column[column].high > 0xc6)
			continue;
		for (size_t k = 0; k < a->n; k++) {
			double d = real_of(anchor_ptr(a, k, column), width);

			good += guess_short_real(d, width == 8 ? 9 : 5);
			zeros += d == 0;
		}
		if (20 * good < 19 * a->n || 2 * zeros > a->n)
			continue;
		found(ctx,
		      &(struct guess){.type = FIELD_F64,
				      .as = width == 8 ? AS_F64 : AS_F32,
				      .width = (uint32_t)width,
				      .terminator = NO_TERMINATOR,
				      .what = "real number with few digits, in the order of keys",
				      .stem = "real",
				      .points = (width == 8 ? 6 : 4) * (double)width,
				      .confidence = width == 8 ? 90 : 70});
	}
}

/* --- whole numbers --- */

/* Return the number of last bits that are 0 in all bytes, as of numbers with a few bits for a kind. */
static unsigned zero_bits(const struct key_anchor *a, size_t column)
{
	unsigned bits = 1u << 8, n = 0;

	for (size_t k = 0; k < a->n; k++)
		bits |= *anchor_ptr(a, k, column);
	while (!(bits >> n & 1))
		n++;
	return n;
}

/*
 * Judge whether the columns look like a number. The first bytes of a number vary less than the
 * last bytes, and the bytes before and after it belong to other parts.
 */
static double whole_points(const struct key_anchor *a, size_t column, size_t width, size_t leading)
{
	const struct key_column *c = a->column + column;
	double points = 3.0 * (double)width + (leading ? 1.0 : -2.0 * (double)width);

	for (size_t i = leading; i + 1 < width; i++) {
		double fall = c[i].entropy - c[i + 1].entropy;

		if (i + 2 == width && width == 8)
			fall -= zero_bits(a, column + i + 1);

		points -= fall > 1 ? 4 * fall : 0;
	}
	if (c[width - 1].same) /* a number that never changes is a constant */
		points -= 2.5 * (double)width;
	if (column > 0 && c[-1].entropy > c[0].entropy + 1)
		points += 3;
	if (column + width == a->columns && a->least == a->most)
		points += 3;
	else if (column + width < a->columns && c[width].entropy < c[width - 1].entropy - 1)
		points += 4;
	return points - 4;
}

static bool has_sign_bytes(const struct key_anchor *a, size_t column, size_t width)
{
	for (size_t k = 0; k < a->n; k++) {
		const uint8_t *p = anchor_ptr(a, k, column);

		uint8_t room = width == 4 ? 0x20 : 1;

		if (!(p[0] == 0x80 && p[1] < room) && !(p[0] == 0x7f && p[1] >= 0x100 - room))
			return false;
	}
	return true;
}

static size_t count_leading(const struct key_anchor *a, size_t column, size_t width, uint8_t byte)
{
	size_t n = 0;

	while (n < width && a->column[column + n].low == byte && a->column[column + n].high == byte)
		n++;
	return n;
}

/* Return true if the number has a partition in its first bits, and only zeros in the next bytes. */
static bool has_partition(const struct key_anchor *a, size_t column)
{
	return a->n >= DRAWN_LEAST && a->column[column].different > 2 &&
	       zero_bits(a, column) >= 2 && count_leading(a, column + 1, 3, 0) == 3;
}

static void give_whole(const struct key_anchor *a, size_t column, size_t width, bool sign,
		       guess_found *found, void *ctx)
{
	static const enum encode_as plain[] = {
		[1] = AS_U8, [2] = AS_U16, [4] = AS_U32, [8] = AS_U64};
	size_t leading = sign ? width > 2 ? 2 : 1 : count_leading(a, column, width, 0);
	const struct key_column *c = &a->column[column];
	bool small = c->high < 0x20, print = c->print && (width < 2 || c[1].print);
	bool partition = !sign && width == 8 && has_partition(a, column);

	if (partition)
		leading = 1 + count_leading(a, column + 1, width - 1, 0);

	if (sign && width == 8)
		while (leading < width && a->column[column + leading].different <= 2 &&
		       (a->column[column + leading].low == 0 || a->column[column + leading].same))
			leading++;
	if (!sign && width > 2 && !leading && !small)
		return;
	if (width > 2 && c[width - 1].alpha && c[width - 2].alpha)
		return; /* the end is a text */
	if (width <= 2 && (print || (c->different > 64 && !leading)))
		return;
	found(ctx,
	      &(struct guess){.type = sign	   ? FIELD_I64
				      : width == 8 ? FIELD_U64
						   : FIELD_U32,
			      .as = sign ? width == 8 ? AS_I64 : AS_I32 : plain[width],
			      .width = (uint32_t)width,
			      .terminator = NO_TERMINATOR,
			      .what = sign ? "whole number, sign bit flipped, as Phoenix and "
					     "OrderedBytes write it"
					   : "whole number, big-endian",
			      .stem = "id",
			      .doubt = partition ? "may have a part of its own in its first byte"
						 : NULL,
			      .points = whole_points(a, column, width,
						     leading < width ? leading : width - 1) +
					(sign ? 2 : 0),
			      .confidence = leading && width > 2 ? 85 : 60});
}

void forms_numbers(const struct key_anchor *a, size_t column, guess_found *found, void *ctx)
{
	for (size_t width = 1; width <= 8; width *= 2) {
		if (column + width > a->columns)
			break;
		give_whole(a, column, width, false, found, ctx);
		if (width > 2 && has_sign_bytes(a, column, width))
			give_whole(a, column, width, true, found, ctx);
	}
	find_reals(a, column, found, ctx);
}
