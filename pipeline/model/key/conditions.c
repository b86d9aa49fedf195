/*
 * conditions.c - find the bytes of a part of the key for which a condition is true
 *
 * If bytes sort as the values do, an interval of values is an interval of bytes. This rule is true
 * for numbers. Texts have an exception. A value can be the beginning of a longer value. Then the
 * padding or terminator of the shorter value may sort after the next byte of the longer one.
 * Therefore the code checks each beginning of a bound separately.
 */
#include "conditions.h"

#include "encoding.h"

#define BEGINNINGS_MOST 1000 /* beginnings of one bound */

struct bounds {
	/* `equal` has the keys of the value, `from` also the keys of all greater values */
	struct key_set equal, from;
};

static struct bytes kept(struct arena *a, const struct buf *b)
{
	uint8_t *p = arena_alloc(a, b->len + 1);

	if (b->len)
		memcpy(p, b->ptr, b->len);
	return bytes_of(p, b->len);
}

/* Encode a value with the part's terminator. Returns false if no key can contain the value. */
static bool laid_down(const struct layout *l, const struct value *v, struct arena *a,
		      struct bytes *out)
{
	struct buf b = {0};
	struct reject why;
	bool fine = layout_put(l, v, &b, &why) == 0;

	if (fine && l->terminator != NO_TERMINATOR)
		buf_put(&b, (uint8_t)l->terminator);
	*out = kept(a, &b);
	buf_release(&b);
	return fine;
}

static struct key_set none(void)
{
	return (struct key_set){0};
}

/* Return the keys that have this value. */
static struct key_set point(struct arena *a, struct bytes laid, bool last)
{
	return set_of(a, laid, last ? bytes_join(a, laid, bytes_of("", 1)) : bytes_next(a, laid));
}

/* --- texts --- */

static struct value text_value(const struct layout *l, struct bytes text)
{
	struct value v = {.text = text};

	if (l->kind == LAY_BYTES)
		v.bytes = text;
	return v;
}

static struct key_set text_equal(const struct layout *l, struct bytes x, bool last, struct arena *a)
{
	struct value v = text_value(l, x);
	struct bytes laid;

	return laid_down(l, &v, a, &laid) ? point(a, laid, last) : none();
}

/* Return the beginning of a bound that fits into the part. */
static struct bytes text_bound(const struct layout *l, struct bytes x)
{
	const uint8_t *end = l->terminator == NO_TERMINATOR || !x.len
				     ? NULL
				     : memchr(x.ptr, l->terminator, x.len);

	if (end)
		x.len = (size_t)(end - x.ptr) + 1;
	if (l->width && x.len > l->width)
		x.len = l->width;
	return x;
}

/*
 * Return true if the padding or terminator after x[0..len) may sort after the other bytes of `x`.
 */
static bool sorts_behind(const struct layout *l, struct bytes x, size_t len)
{
	if (l->terminator != NO_TERMINATOR)
		return l->terminator >= x.ptr[len];
	return l->width && (len == l->width || l->pad >= x.ptr[len]);
}

static size_t count_behind(const struct layout *l, struct bytes x)
{
	size_t n = 0;

	for (size_t len = 0; len < x.len; len++)
		n += sorts_behind(l, x, len);
	return n;
}

/* Return the shorter beginnings of `x` that do not sort before `x`. */
static struct key_set text_beginnings(const struct layout *l, struct bytes x, bool last,
				      struct arena *a)
{
	struct interval *item = arena_alloc(a, (x.len + 1) * sizeof *item);
	size_t n = 0;

	for (size_t len = 0; len < x.len; len++) {
		if (!sorts_behind(l, x, len))
			continue;
		struct key_set s = text_equal(l, bytes_of(x.ptr, len), last, a);
		if (s.n)
			item[n++] = s.item[0];
	}
	return set_tidy(item, n);
}

static struct key_set text_within(const struct layout *l, struct bytes x, struct bytes lo,
				  struct bytes hi, bool last, struct arena *a)
{
	struct key_set shorter = text_beginnings(l, x, last, a);

	return set_and(a, set_of(a, lo, hi), set_not(a, shorter));
}

static struct key_set text_starts(const struct layout *l, struct bytes x, bool last,
				  struct arena *a)
{
	if (text_bound(l, x).len < x.len ||
	    (l->terminator != NO_TERMINATOR && x.len && memchr(x.ptr, l->terminator, x.len)))
		return none();
	return text_within(l, x, x, bytes_behind(a, x), last, a);
}

static struct bounds text_bounds(const struct layout *l, struct bytes x, bool last, struct arena *a)
{
	return (struct bounds){.equal = text_equal(l, x, last, a),
			       .from = text_within(l, x, text_bound(l, x), (struct bytes){0}, last,
						   a)};
}

/* --- numbers --- */

static bool is_below(const struct layout *l, const struct value *v)
{
	static const uint8_t first_ipv4[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

	if (l->from == FIELD_F64)
		return v->f < 0;
	if (l->from == FIELD_IP)
		return memcmp(v->bytes.ptr, first_ipv4, sizeof first_ipv4) < 0;
	return (l->from == FIELD_I64 || l->from == FIELD_TIME) && (int64_t)v->u < 0;
}

/*
 * Make the bounds of a value. Both `lo` and `hi` encode the value. They differ for a real zero,
 * which has two forms.
 */
static struct bounds laid_bounds(const struct layout *l, struct bytes lo, struct bytes hi,
				 struct arena *a)
{
	struct bytes behind = bytes_next(a, hi);
	bool falls = encodings[l->as].order == ORDER_FALLING;

	return (struct bounds){.equal = set_of(a, lo, behind),
			       .from = falls ? set_of(a, bytes_of("", 0), behind)
					     : set_of(a, lo, (struct bytes){0})};
}

static struct bounds number_bounds(const struct layout *l, const struct value *v, struct arena *a)
{
	struct value low = *v, high = *v;
	struct bytes lo, hi;

	if (l->from == FIELD_F64 && v->f == 0) {
		low.f = -0.0;
		high.f = 0.0;
	}
	if (!laid_down(l, &low, a, &lo) || !laid_down(l, &high, a, &hi))
		return (struct bounds){.from = is_below(l, v) ? set_all(a) : none()};
	return laid_bounds(l, lo, hi, a);
}

/* Make the bounds of digits with leading zeros, such as 000042, which sort as numbers. */
static struct bounds digits_bounds(const struct layout *l, const struct value *v, struct arena *a)
{
	struct buf digits = {0};
	struct bytes laid;

	buf_printf(&digits, "%llu", (unsigned long long)v->u);
	struct value text = {.text = buf_bytes(&digits)};
	bool fine = laid_down(l, &text, a, &laid);
	buf_release(&digits);
	return fine ? laid_bounds(l, laid, laid, a) : (struct bounds){.from = none()};
}

/* --- the bytes of any condition --- */

/*
 * Find the bytes of a comparison if several values can have the same bytes. The set then always
 * contains the bytes of the value.
 */
static struct laid loosely(const struct bounds *b, enum filter_op op, struct arena *a)
{
	switch (op) {
	case FILTER_EQUAL: return (struct laid){b->equal, false};
	case FILTER_GREATER:
	case FILTER_GREATER_OR_EQUAL: return (struct laid){set_or(a, b->from, b->equal), false};
	case FILTER_LESS:
	case FILTER_LESS_OR_EQUAL:
		return (struct laid){set_or(a, set_not(a, b->from), b->equal), false};
	case FILTER_NOT_EQUAL: break;
	}
	return (struct laid){set_all(a), false};
}

static struct laid strictly(const struct bounds *b, enum filter_op op, struct arena *a)
{
	struct key_set above = set_and(a, b->from, set_not(a, b->equal));

	switch (op) {
	case FILTER_EQUAL: return (struct laid){b->equal, true};
	case FILTER_NOT_EQUAL: return (struct laid){set_not(a, b->equal), true};
	case FILTER_GREATER_OR_EQUAL: return (struct laid){b->from, true};
	case FILTER_LESS: return (struct laid){set_not(a, b->from), true};
	case FILTER_GREATER: return (struct laid){above, true};
	case FILTER_LESS_OR_EQUAL: break;
	}
	return (struct laid){set_not(a, above), true};
}

static bool is_equality(const struct asked *q)
{
	return asked_is_compare(q, FILTER_EQUAL) || asked_is_compare(q, FILTER_NOT_EQUAL);
}

/*
 * Find the bytes of a comparison if bytes do not sort as the values do. The part is reversed, has
 * padding on the left, or has a number or time as the source's text. Such a text may have several
 * spellings.
 */
static struct laid unordered(const struct layout *l, const struct asked *q, bool last,
			     struct arena *a)
{
	bool is_text = l->from == FIELD_TEXT || l->from == FIELD_BYTES || l->kind == LAY_BYTES;
	bool one_spelling = is_text || (l->width && l->pad == '0' && l->pad_left &&
					(l->from == FIELD_U32 || l->from == FIELD_U64));

	if (!one_spelling || !is_equality(q))
		return (struct laid){set_all(a), false};
	struct buf digits = {0};
	struct bytes x = l->kind == LAY_BYTES ? q->value.bytes : q->value.text;
	if (!is_text) {
		buf_printf(&digits, "%llu", (unsigned long long)q->value.u);
		x = buf_bytes(&digits);
	}
	struct key_set s = text_equal(l, x, last, a);
	buf_release(&digits);
	return (struct laid){q->op == FILTER_EQUAL ? s : set_not(a, s), true};
}

static struct laid text_laid(const struct layout *l, const struct asked *q, bool last,
			     struct arena *a)
{
	bool starts = q->kind == ASKED_STARTS;
	struct bytes x = l->kind == LAY_BYTES && !starts ? q->value.bytes : q->value.text;

	if (!is_equality(q) && count_behind(l, x) > BEGINNINGS_MOST)
		return (struct laid){set_all(a), false};
	if (starts) {
		struct key_set s = text_starts(l, x, last, a);

		return (struct laid){q->negate ? set_not(a, s) : s, true};
	}
	struct bounds b = text_bounds(l, x, last, a);
	return strictly(&b, q->op, a);
}

static struct bytes inverted(struct arena *a, struct bytes b)
{
	uint8_t *to = arena_alloc(a, b.len + 1);

	for (size_t i = 0; i < b.len; i++)
		to[i] = b.ptr[i] ^ 0xff;
	return bytes_of(to, b.len);
}

/* Return the strings whose inverted bytes are in `s`. The part has a width or a terminator. */
static struct key_set set_inverted(struct arena *a, struct key_set s)
{
	struct interval *item = arena_alloc(a, (s.n + 1) * sizeof *item);
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		struct interval one = {bytes_of("", 0), {0}};

		if (s.item[i].hi.ptr)
			one.lo = bytes_next(a, inverted(a, s.item[i].hi));
		if (s.item[i].lo.len)
			one.hi = bytes_next(a, inverted(a, s.item[i].lo));
		if (one.lo.ptr)
			item[n++] = one;
	}
	return set_tidy(item, n);
}

/* Find the bytes of the condition for the ascending text, then invert the bytes. */
static struct laid descending_laid(const struct layout *l, const struct asked *q, bool last,
				   struct arena *a)
{
	struct layout rising = *l;

	rising.invert = 0;
	if (l->terminator != NO_TERMINATOR)
		rising.terminator ^= l->invert;
	struct laid laid = text_laid(&rising, q, last, a);
	return (struct laid){set_inverted(a, laid.set), laid.exact};
}

static bool is_padded_number(const struct layout *l)
{
	return l->kind == LAY_TEXT && (l->from == FIELD_U32 || l->from == FIELD_U64) && l->width &&
	       l->pad == '0' && l->pad_left;
}

static bool is_text(const struct layout *l)
{
	if (l->width && l->pad_left)
		return false;
	return l->kind == LAY_BYTES ||
	       (l->kind == LAY_TEXT && (l->from == FIELD_TEXT || l->from == FIELD_BYTES));
}

/* --- parts of a date --- */

/*
 * Return true if the parts are year, or year and month, and so on. The digits of such parts rise
 * with the time, unless a clock goes back.
 */
static bool rises(unsigned date)
{
	return date & DATE_YEAR && (date & (date + 1)) == 0;
}

static bool digits_of(const struct layout *l, int64_t local_s, struct arena *a, struct bytes *out)
{
	uint8_t *to = arena_alloc(a, DATE_BYTES);

	*out = bytes_of(to, l->width);
	return date_put(l->date, local_s, to);
}

/* Return the digits of the times from `t` on, or of the times before `t`. */
static struct laid date_side(const struct layout *l, int64_t t, bool from, struct arena *a)
{
	struct bytes least, most;

	if (t <= 0) /* keys contain no times before 1970 */
		return (struct laid){from ? set_all(a) : none(), true};
	if (!digits_of(l, zone_local_least(l->zone, t / 1000), a,
		       &least)) /* `t` is after the last time that has digits */
		return (struct laid){from ? none() : set_all(a), true};
	if (!digits_of(l, zone_local_most(l->zone, (t - 1) / 1000), a, &most))
		return (struct laid){set_all(a), false};
	bool border = bytes_cmp(most, least) < 0;
	return (struct laid){from ? set_of(a, least, (struct bytes){0})
				  : set_of(a, bytes_of("", 0), bytes_next(a, most)),
			     border};
}

static struct laid date_laid(const struct layout *l, const struct asked *q, struct arena *a)
{
	int64_t t = (int64_t)q->value.u;
	struct bytes digits;

	if (q->op == FILTER_EQUAL) {
		if (t < 0 || !digits_of(l, zone_local(l->zone, t / 1000), a, &digits))
			return (struct laid){none(), true};
		return (struct laid){point(a, digits, false), false};
	}
	if (!rises(l->date))
		return (struct laid){set_all(a), false};
	int64_t next = t < INT64_MAX ? t + 1 : t;
	switch (q->op) {
	case FILTER_GREATER_OR_EQUAL: return date_side(l, t, true, a);
	case FILTER_LESS: return date_side(l, t, false, a);
	case FILTER_GREATER: return date_side(l, next, true, a);
	case FILTER_LESS_OR_EQUAL: return date_side(l, next, false, a);
	case FILTER_EQUAL:
	case FILTER_NOT_EQUAL: break;
	}
	return (struct laid){set_all(a), false};
}

/*
 * Return true if the condition's value is a whole second. All later values then have later digits.
 */
static bool at_border(const struct layout *l, const struct asked *q)
{
	return l->as == AS_REVERSED_SECONDS && q->value.u % 1000 == 0 && q->value.micros == 0 &&
	       (q->op == FILTER_GREATER_OR_EQUAL || q->op == FILTER_LESS);
}

struct laid condition_laid(const struct layout *l, bool last, const struct asked *q,
			   struct arena *a)
{
	struct bounds b;

	if (q->kind == ASKED_NULL) /* an event without the field has no row */
		return (struct laid){q->negate ? set_all(a) : none(), true};
	if (is_text(l))
		return l->invert ? descending_laid(l, q, last, a) : text_laid(l, q, last, a);
	if (l->kind == LAY_DATE)
		return date_laid(l, q, a);
	if (is_padded_number(l))
		b = digits_bounds(l, &q->value, a);
	else if (l->kind == LAY_TEXT || l->kind == LAY_BYTES || l->kind == LAY_REVERSED)
		return unordered(l, q, last, a);
	else
		b = number_bounds(l, &q->value, a);
	if (encoding_keeps(l->as, l->from) || at_border(l, q))
		return strictly(&b, q->op, a);
	return loosely(&b, q->op, a);
}

struct key_set condition_by_seconds(const struct layout *l, const struct asked *q, struct arena *a)
{
	struct value v = {.text = q->value.text};
	int64_t ms = (int64_t)q->value.u;

	if (q->kind == ASKED_NULL)
		return condition_laid(l, false, q, a).set;
	v.u = (uint64_t)(ms - (ms % 1000 + 1000) % 1000);
	struct bounds b = number_bounds(l, &v, a);

	return strictly(&b, q->op, a).set;
}

struct laid conditions_laid(const struct layout *l, bool last, const struct asked *q,
			    struct arena *a)
{
	if (!asked_is_group(q))
		return condition_laid(l, last, q, a);
	struct laid x = conditions_laid(l, last, q->left, a);
	struct laid y = conditions_laid(l, last, q->right, a);
	return (struct laid){q->kind == ASKED_AND ? set_and(a, x.set, y.set)
						  : set_or(a, x.set, y.set),
			     x.exact && y.exact};
}
