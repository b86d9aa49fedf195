#include "key_sets.h"

#include <stdlib.h>

struct bytes bytes_behind(struct arena *a, struct bytes b)
{
	while (b.len && b.ptr[b.len - 1] == 0xff)
		b.len--;
	if (b.len == 0)
		return (struct bytes){0};
	uint8_t *p = arena_alloc(a, b.len);
	memcpy(p, b.ptr, b.len);
	p[b.len - 1]++;
	return bytes_of(p, b.len);
}

struct bytes bytes_next(struct arena *a, struct bytes b)
{
	struct bytes behind = bytes_behind(a, b);

	if (!behind.ptr)
		return behind;
	uint8_t *p = arena_alloc(a, b.len);
	memcpy(p, behind.ptr, behind.len);
	return bytes_of(p, b.len);
}

struct bytes bytes_join(struct arena *a, struct bytes front, struct bytes back)
{
	uint8_t *p = arena_alloc(a, front.len + back.len + 1);

	copy_short(p, front.ptr, front.len);
	copy_short(p + front.len, back.ptr, back.len);
	return bytes_of(p, front.len + back.len);
}

/* Compare upper ends. */
static int cmp_hi(struct bytes a, struct bytes b)
{
	if (!a.ptr || !b.ptr)
		return !a.ptr - !b.ptr;
	return bytes_cmp(a, b);
}

static bool is_empty(struct interval i)
{
	return i.hi.ptr && bytes_cmp(i.lo, i.hi) >= 0;
}

struct key_set set_of(struct arena *a, struct bytes lo, struct bytes hi)
{
	struct key_set s = {.item = arena_alloc(a, sizeof *s.item), .n = 1};

	s.item[0] = (struct interval){lo, hi};
	s.n = !is_empty(s.item[0]);
	return s;
}

struct key_set set_all(struct arena *a)
{
	return set_of(a, bytes_of("", 0), (struct bytes){0});
}

struct key_set set_not(struct arena *a, struct key_set s)
{
	struct key_set out = {.item = arena_alloc(a, (s.n + 1) * sizeof *out.item)};
	struct bytes from = bytes_of("", 0);

	for (size_t i = 0; i < s.n; i++) {
		struct interval gap = {from, s.item[i].lo};

		if (!is_empty(gap))
			out.item[out.n++] = gap;
		from = s.item[i].hi;
		if (!from.ptr)
			return out;
	}
	out.item[out.n++] = (struct interval){from, {0}};
	return out;
}

struct key_set set_and(struct arena *a, struct key_set s, struct key_set t)
{
	struct key_set out = {.item = arena_alloc(a, (s.n + t.n + 1) * sizeof *out.item)};

	for (size_t i = 0, k = 0; i < s.n && k < t.n;) {
		struct interval x = s.item[i], y = t.item[k];
		int first = cmp_hi(x.hi, y.hi);
		struct interval both = {bytes_cmp(x.lo, y.lo) > 0 ? x.lo : y.lo,
					first < 0 ? x.hi : y.hi};

		if (!is_empty(both))
			out.item[out.n++] = both;
		i += first <= 0;
		k += first >= 0;
	}
	return out;
}

static int cmp_interval(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;
	int c = bytes_cmp(x->lo, y->lo);

	return c ? c : cmp_hi(x->hi, y->hi);
}

struct key_set set_tidy(struct interval *item, size_t n)
{
	struct key_set out = {.item = item};

	if (n)
		qsort(item, n, sizeof *item, cmp_interval);
	for (size_t i = 0; i < n; i++) {
		struct interval *last = out.n ? &item[out.n - 1] : NULL;

		if (is_empty(item[i]))
			continue;
		if (last && (!last->hi.ptr || bytes_cmp(item[i].lo, last->hi) <= 0)) {
			if (cmp_hi(item[i].hi, last->hi) > 0)
				last->hi = item[i].hi;
			continue;
		}
		item[out.n++] = item[i];
	}
	return out;
}

struct key_set set_or(struct arena *a, struct key_set s, struct key_set t)
{
	struct interval *item = arena_alloc(a, (s.n + t.n + 1) * sizeof *item);

	if (s.n)
		memcpy(item, s.item, s.n * sizeof *item);
	if (t.n)
		memcpy(item + s.n, t.item, t.n * sizeof *item);
	return set_tidy(item, s.n + t.n);
}
