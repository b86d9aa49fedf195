/* key_points.c - list the single values of an interval of a part of the key */
#include "key_points.h"

#include <string.h>

bool is_open_end(const struct layout *l)
{
	return !l->width && l->terminator == NO_TERMINATOR;
}

bool is_point(struct arena *a, const struct layout *l, struct interval i)
{
	if (is_open_end(l))
		return i.hi.ptr && i.hi.len == i.lo.len + 1 && i.hi.ptr[i.lo.len] == 0 &&
		       memcmp(i.hi.ptr, i.lo.ptr, i.lo.len) == 0;
	struct bytes next = bytes_next(a, i.lo);
	bool same_end = next.ptr ? i.hi.ptr && bytes_eq(next, i.hi) : !i.hi.ptr;
	if (!same_end || i.lo.len == 0)
		return false;
	if (l->width)
		return i.lo.len == l->width;
	return memchr(i.lo.ptr, l->terminator, i.lo.len) == i.lo.ptr + i.lo.len - 1;
}

/* --- numbers --- */

static uint64_t number_of(struct bytes b)
{
	uint64_t v = 0;

	for (size_t i = 0; i < b.len; i++)
		v = v << 8 | b.ptr[i];
	return v;
}

/* Count the values of an interval of a few numbers. Returns 0 for any other interval. */
static size_t count_points(const struct layout *l, struct interval i, size_t most)
{
	if (l->width < 1 || l->width > 8 || i.lo.len != l->width)
		return 0;
	uint64_t lo = number_of(i.lo), last = UINT64_MAX >> (64 - 8 * l->width);
	if (i.hi.ptr && i.hi.len > l->width)
		return 0;
	/* bytes_behind drops bytes at the end */
	uint64_t hi = i.hi.ptr ? number_of(i.hi) << 8 * (l->width - i.hi.len) : last;
	uint64_t n = hi - lo + !i.hi.ptr;
	return n > 0 && n <= most ? n : 0;
}

static struct bytes nth_point(struct arena *a, const struct layout *l, struct interval i, size_t n)
{
	uint8_t *p = arena_alloc(a, 8), all[8];

	put_be64(all, number_of(i.lo) + n);
	memcpy(p, all + 8 - l->width, l->width);
	return bytes_of(p, l->width);
}

/* --- buckets of a date --- */

#define LOCAL_FIRST INT64_C(-86400)	  /* the first local second that has digits */
#define LOCAL_LAST  INT64_C(253402300799) /* the last second of the year 9999 */

/* Return the first local second whose digits are not below `digits`. */
static int64_t first_second(const struct layout *l, struct bytes digits, int64_t from)
{
	int64_t lo = from, hi = LOCAL_LAST + 1;
	uint8_t at[DATE_BYTES];

	while (lo < hi) {
		int64_t mid = lo + (hi - lo) / 2;

		if (date_put(l->date, mid, at) && bytes_cmp(bytes_of(at, l->width), digits) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Return the first second of the bucket after the one that begins at `local_s`. */
static int64_t next_bucket(const struct layout *l, int64_t local_s, struct bytes digits,
			   struct arena *a)
{
	if (l->date & DATE_HOUR)
		return local_s + 3600;
	if (l->date & DATE_DAY)
		return local_s + 86400;
	return first_second(l, bytes_next(a, digits), local_s);
}

/* List the buckets whose digits are in the interval. */
static size_t list_buckets(struct bytes **out, const struct layout *l, struct interval i,
			   size_t most, bool *too_many, struct arena *a)
{
	size_t n = 0;

	*out = NULL;
	if (i.lo.len != l->width || !i.hi.ptr)
		return 0;
	for (int64_t s = first_second(l, i.lo, LOCAL_FIRST); s <= LOCAL_LAST;) {
		uint8_t *digits = arena_alloc(a, DATE_BYTES);
		struct bytes b = bytes_of(digits, l->width);

		if (!date_put(l->date, s, digits) || bytes_cmp(b, i.hi) >= 0)
			break;
		if (n == most) {
			if (too_many)
				*too_many = true;
			return 0;
		}
		*out = arena_grow(a, *out, n, sizeof **out);
		(*out)[n++] = b;
		s = next_bucket(l, s, b, a);
	}
	return n;
}

size_t list_points(struct bytes **out, const struct layout *l, struct interval i, size_t most,
		   bool *too_many, struct arena *a)
{
	if (l->kind == LAY_DATE)
		return list_buckets(out, l, i, most, too_many, a);
	size_t n = count_points(l, i, most);

	*out = arena_alloc(a, (n + 1) * sizeof **out);
	for (size_t k = 0; k < n; k++)
		(*out)[k] = nth_point(a, l, i, k);
	return n;
}
