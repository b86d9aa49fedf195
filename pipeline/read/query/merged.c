/*
 * merged.c - scan the buckets of a salt as one scan, with rows in the order of the key after the
 * salt
 *
 * Each bucket's ranges are a separate scan. The heap contains the next cell of each scan.
 */
#include "mem.h"
#include "scan_state.h"

static struct bytes after_salt(const struct query *q, struct bytes row)
{
	size_t n = q->salt_bytes < row.len ? q->salt_bytes : row.len;

	return bytes_of(row.ptr + n, row.len - n);
}

bool query_row_before(const struct query *q, struct bytes a, struct bytes b)
{
	int c = bytes_cmp(after_salt(q, a), after_salt(q, b));

	if (c == 0)
		c = bytes_cmp(a, b);
	return q->reversed ? c > 0 : c < 0;
}

bool query_same_salt(const struct query *q, const struct query_range *a,
		     const struct query_range *b)
{
	size_t n = q->salt_bytes;

	return a->start.len >= n && b->start.len >= n && memcmp(a->start.ptr, b->start.ptr, n) == 0;
}

static bool bucket_before(const void *q, const void *a, const void *b)
{
	const struct bucket *x = a, *y = b;

	return query_row_before(q, x->cell.row, y->cell.row);
}

int merged_open(struct query_scan *s, const struct query_family *families, struct error *err)
{
	struct merged *m = &s->merged;
	size_t n = s->q.nranges;

	m->buckets = mem_try_calloc(n + 1, sizeof *m->buckets);
	m->heap.items = mem_try_calloc(n + 1, sizeof(struct bucket *));
	if (!m->buckets || !m->heap.items)
		return error_memory(err, n * sizeof *m->buckets, "a scan");
	for (size_t at = 0, end; at < n; at = end) {
		struct query q = s->q;

		for (end = at + 1;
		     end < n && query_same_salt(&s->q, &q.ranges[at], &q.ranges[end]);)
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
	mem_free(m->heap.items);
}

static int start(struct query_scan *s, struct error *err)
{
	struct merged *m = &s->merged;

	for (size_t i = 0; i < m->n; i++) {
		int rc = query_next(m->buckets[i].scan, &m->buckets[i].cell, err);

		if (rc < 0)
			return rc;
		if (rc == RC_OK)
			m->heap.items[m->heap.n++] = &m->buckets[i];
	}
	heap_order(&m->heap, bucket_before, &s->q);
	return 0;
}

/* Advance past the last cell of the caller. */
static int step(struct query_scan *s, struct error *err)
{
	struct heap *heap = &s->merged.heap;
	struct bucket *first = heap->items[0];
	int rc = query_next(first->scan, &first->cell, err);

	if (rc < 0)
		return rc;
	if (rc == RC_END)
		heap_pop(heap, bucket_before, &s->q);
	else
		heap_sift(heap, 0, bucket_before, &s->q);
	return 0;
}

int merged_next(struct query_scan *s, struct cell *out, struct error *err)
{
	struct merged *m = &s->merged;
	int rc = s->started ? m->heap.n ? step(s, err) : 0 : start(s, err);
	bool first = s->rows == 0;

	s->started = true;
	if (rc)
		return rc;
	if (m->heap.n == 0)
		return RC_END;
	*out = ((const struct bucket *)m->heap.items[0])->cell;
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
		/*
		 * prefer the report of a scan that read the file to that of a scan that skipped the
		 * file
		 */
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
