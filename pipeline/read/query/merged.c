/*
 * merged.c - the buckets of a salt as one scan: rows in the order of the key after the salt
 *
 * Each bucket's ranges are a separate scan. The heap holds the next cell of each.
 */
#include "mem.h"
#include "scan_state.h"

static struct bytes behind_salt(const struct query_scan *s, const struct cell *c)
{
	size_t n = s->q.salt_bytes < c->row.len ? s->q.salt_bytes : c->row.len;

	return bytes_of(c->row.ptr + n, c->row.len - n);
}

static bool comes_first(const struct query_scan *s, const struct bucket *a, const struct bucket *b)
{
	int c = bytes_cmp(behind_salt(s, &a->cell), behind_salt(s, &b->cell));

	if (c == 0)
		c = bytes_cmp(a->cell.row, b->cell.row);
	return s->q.reversed ? c > 0 : c < 0;
}

static void sift_down(struct query_scan *s, size_t i)
{
	struct bucket **heap = s->merged.heap, *moved = heap[i];

	for (size_t child; (child = 2 * i + 1) < s->merged.nheap; i = child) {
		if (child + 1 < s->merged.nheap && comes_first(s, heap[child + 1], heap[child]))
			child++;
		if (!comes_first(s, heap[child], moved))
			break;
		heap[i] = heap[child];
	}
	heap[i] = moved;
}

/* Do both ranges have the same salt? All rows of a range have one salt. */
static bool same_salt(const struct query_scan *s, const struct query_range *a,
		      const struct query_range *b)
{
	size_t n = s->q.salt_bytes;

	return a->start.len >= n && b->start.len >= n && memcmp(a->start.ptr, b->start.ptr, n) == 0;
}

int merged_open(struct query_scan *s, const struct query_family *families, struct error *err)
{
	struct merged *m = &s->merged;
	size_t n = s->q.nranges;

	m->buckets = mem_try_calloc(n + 1, sizeof *m->buckets);
	m->heap = mem_try_calloc(n + 1, sizeof(struct bucket *));
	if (!m->buckets || !m->heap)
		return error_memory(err, n * sizeof *m->buckets, "a scan");
	for (size_t at = 0, end; at < n; at = end) {
		struct query q = s->q;

		for (end = at + 1; end < n && same_salt(s, &q.ranges[at], &q.ranges[end]);)
			end++;
		q.ranges += at;
		q.nranges = end - at;
		q.salt_bytes = 0;
		int rc = query_open(&m->buckets[m->n].scan, families, s->nfamilies, s->files,
				    s->nfiles, &q, err);
		if (rc)
			return rc;
		m->n++;
	}
	return 0;
}

void merged_release(struct merged *m)
{
	for (size_t i = 0; i < m->n; i++)
		query_close(m->buckets[i].scan);
	mem_free(m->buckets);
	mem_free(m->heap);
}

static int start(struct query_scan *s, struct error *err)
{
	struct merged *m = &s->merged;

	for (size_t i = 0; i < m->n; i++) {
		int rc = query_next(m->buckets[i].scan, &m->buckets[i].cell, err);

		if (rc < 0)
			return rc;
		if (rc == RC_OK)
			m->heap[m->nheap++] = &m->buckets[i];
	}
	for (size_t i = m->nheap / 2; i-- > 0;)
		sift_down(s, i);
	return 0;
}

/* Go past the cell that was returned last. */
static int step(struct query_scan *s, struct error *err)
{
	struct merged *m = &s->merged;
	int rc = query_next(m->heap[0]->scan, &m->heap[0]->cell, err);

	if (rc < 0)
		return rc;
	if (rc == RC_END)
		m->heap[0] = m->heap[--m->nheap];
	if (m->nheap)
		sift_down(s, 0);
	return 0;
}

int merged_next(struct query_scan *s, struct cell *out, struct error *err)
{
	struct merged *m = &s->merged;
	int rc = s->started ? m->nheap ? step(s, err) : 0 : start(s, err);
	bool first = s->rows == 0;

	s->started = true;
	if (rc)
		return rc;
	if (m->nheap == 0)
		return RC_END;
	*out = m->heap[0]->cell;
	s->new_row = false;
	if (!first && bytes_eq(out->row, buf_bytes(&s->row)))
		return 0;
	if (s->q.limit && s->rows == s->q.limit)
		return RC_END;
	s->rows++;
	s->new_row = true;
	s->row.len = 0;
	return buf_try_append(&s->row, out->row.ptr, out->row.len)
		       ? 0
		       : error_memory(err, out->row.len, "a row key");
}

void merged_explain(const struct query_scan *s, size_t i, struct query_why *out)
{
	bool read = false;

	for (size_t k = 0; k < s->merged.n; k++) {
		struct query_why one;

		query_explain(s->merged.buckets[k].scan, i, &one);
		read |= !one.spared;
		/* a file that was read explains more than one that was skipped */
		if (k == 0 || (one.spared && one.reads.of_data))
			out->spared = one.spared;
		out->reads.data += one.reads.data;
		out->reads.index += one.reads.index;
		out->reads.bloom += one.reads.bloom;
		out->reads.opening += one.reads.opening;
		if (one.reads.of_data)
			out->reads.of_data = one.reads.of_data;
	}
	if (read)
		out->spared = NULL;
}
