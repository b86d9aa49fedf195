/* continue.c - limits a query to the rows after a row of its answer */
#include "query.h"

/* Returns the bound before a row. If `behind` is true, returns the bound directly after the row. */
static struct bytes bound_at(struct arena *a, struct bytes salt, struct bytes rest, bool behind)
{
	uint8_t *p = arena_alloc(a, salt.len + rest.len + 1);

	if (salt.len)
		memcpy(p, salt.ptr, salt.len);
	if (rest.len)
		memcpy(p + salt.len, rest.ptr, rest.len);
	p[salt.len + rest.len] = 0;
	return bytes_of(p, salt.len + rest.len + behind);
}

/*
 * Find the bound for the rows of `r` that follow `row`. For another bucket, the bound is the same
 * key with that bucket's salt. The order of salts decides whether the bound includes this key.
 */
static struct bytes bound_in(const struct query *q, const struct query_range *r, struct bytes row,
			     bool included, struct arena *a)
{
	size_t n = q->salt_bytes;

	if (n == 0 || row.len < n || r->start.len < n)
		return bound_at(a, (struct bytes){0}, row, q->reversed == included);
	int c = memcmp(r->start.ptr, row.ptr, n);
	bool has_it = c == 0 ? included : q->reversed ? c < 0 : c > 0;
	return bound_at(a, bytes_of(r->start.ptr, n), bytes_of(row.ptr + n, row.len - n),
			q->reversed == has_it);
}

void query_continue(struct query *q, struct bytes row, bool included, struct arena *a)
{
	if (!q->ranges) {
		q->start = row;
		q->start_exclusive = !included;
		return;
	}
	struct query_range *out = arena_alloc(a, (q->nranges + 1) * sizeof *out);
	size_t n = 0;
	for (size_t i = 0; i < q->nranges; i++) {
		struct query_range r = q->ranges[i];
		struct bytes bound = bound_in(q, &r, row, included, a);

		if (!q->reversed && bytes_cmp(bound, r.start) > 0)
			r.start = bound;
		if (q->reversed && (!r.stop.len || bytes_cmp(bound, r.stop) < 0))
			r.stop = bound;
		if (!r.stop.len || bytes_cmp(r.start, r.stop) < 0)
			out[n++] = r;
	}
	q->ranges = out;
	q->nranges = n;
}
