/* heavy.c - finds keys that are larger than a whole region (heavy.h) */
#include "heavy.h"

#include <stdlib.h>

#include "splits.h"

#define MOST_OF_A_PART 20
#define UNEVEN_BUCKET  2  /* a bucket is uneven if it exceeds the equal share this many times */
#define NEARLY_ALL     .9 /* share of a prefix's bytes that one longer prefix has */
#define NAME_BYTES     64

/* Returns the key up to the end of a part; empty if the key is shorter. */
static struct bytes through(const struct manifest_table *t, struct bytes key, size_t part)
{
	size_t at = 0;

	if (part == HEAVY_ROW)
		return key;
	for (size_t i = 0; i <= part; i++) {
		const struct manifest_part *p = &t->parts[i];
		int end = p->terminator.len ? p->terminator.ptr[0] : -1;

		at = shape_part_end((uint32_t)p->bytes, end, key, at);
		if (at == SIZE_MAX)
			return bytes_of(key.ptr, 0);
	}
	return bytes_of(key.ptr, at);
}

static bool begins(struct bytes row, struct bytes key, bool whole)
{
	return whole ? bytes_eq(row, key)
		     : row.len >= key.len && bytes_eq(bytes_of(row.ptr, key.len), key);
}

/*
 * Sums the blocks that contain only `k` (at_least) and all blocks that may contain `k` (at_most).
 */
static void weigh(struct heavy_key *k, const struct extents *p)
{
	bool whole = k->part == HEAVY_ROW;

	k->at_least = k->at_most = 0;
	for (size_t i = 0; i < p->n; i++) {
		const struct extent *e = &p->item[i];
		bool first = begins(e->row, k->key, whole), last = begins(e->last, k->key, whole);
		bool around = bytes_cmp(e->row, k->key) < 0 && bytes_cmp(k->key, e->last) <= 0;

		k->at_least += first && last ? e->bytes : 0;
		k->at_most += first || last || around ? e->bytes : 0;
	}
}

static int larger_first(const void *a, const void *b)
{
	const struct heavy_key *x = a, *y = b;

	if (x->at_least != y->at_least)
		return x->at_least < y->at_least ? 1 : -1;
	return bytes_cmp(x->key, y->key);
}

/* Returns true if a longer key in `h` has nearly all bytes of `k`. */
static bool is_told(const struct heavy_keys *h, const struct heavy_key *k)
{
	for (size_t i = 0; i < h->n; i++)
		if (begins(h->item[i].key, k->key, false) &&
		    (double)h->item[i].at_least >= NEARLY_ALL * (double)k->at_least)
			return true;
	return false;
}

/* Adds the heavy keys of one part. Places are sorted by row, so equal prefixes are adjacent. */
static void find(struct heavy_keys *h, const struct extents *p, const struct manifest_table *t,
		 size_t part, double threshold, struct arena *a)
{
	struct heavy_key *found = arena_alloc(a, (p->n + 1) * sizeof *found);
	struct heavy_key k = {.part = part};
	size_t n = 0;

	for (size_t i = 0; i <= p->n; i++) {
		struct bytes key = i < p->n ? through(t, p->item[i].row, part) : bytes_of(NULL, 0);

		if (i == p->n || !bytes_eq(key, k.key)) {
			if (k.key.len && (double)k.at_least > threshold)
				found[n++] = k;
			k = (struct heavy_key){.part = part, .key = key};
		}
		if (i < p->n && key.len && begins(p->item[i].last, key, part == HEAVY_ROW))
			k.at_least += p->item[i].bytes;
	}
	if (n)
		qsort(found, n, sizeof *found, larger_first);
	for (size_t i = 0; i < n && i < MOST_OF_A_PART; i++) {
		weigh(&found[i], p);
		if (!is_told(h, &found[i]))
			h->item[h->n++] = found[i];
	}
}

void heavy_keys_find(struct heavy_keys *h, const struct extents *p, const struct manifest_table *t,
		     struct arena *a)
{
	double all = (double)p->bytes, region = (double)t->target_bytes * 1.0001;

	/* if the job requests one region, every key would be heavy */
	if (2 * (double)t->target_bytes > 1.5 * all)
		region = 2 * all;
	*h = (struct heavy_keys){0};
	if (!t->target_bytes)
		return;
	h->item = arena_alloc(a, (t->nparts + 1) * MOST_OF_A_PART * sizeof *h->item);
	find(h, p, t, HEAVY_ROW, region, a);
	/* the prefix up to the last part is the row key */
	for (size_t i = t->nparts ? t->nparts - 1 : 0; i-- > 0;) {
		size_t buckets = i == 0 ? t->parts[0].buckets : 0;

		find(h, p, t, i, buckets > 1 ? UNEVEN_BUCKET * all / (double)buckets : region, a);
	}
}

bool heavy_key_is_bucket(const struct heavy_key *k, const struct manifest_table *t)
{
	return k->part == 0 && t->parts[0].buckets > 1;
}

static void escape(struct buf *out, struct bytes b)
{
	bool cut = b.len > NAME_BYTES;

	bytes_escape(out, bytes_of(b.ptr, cut ? NAME_BYTES : b.len));
	buf_append_str(out, cut ? "..." : "");
}

void heavy_key_name(struct buf *out, const struct heavy_key *k, const struct manifest_table *t)
{
	size_t at = 0;
	bool first = true;

	for (size_t i = 0; i < t->nparts && at < k->key.len && at < NAME_BYTES; i++) {
		const struct manifest_part *p = &t->parts[i];
		size_t end = through(t, k->key, i).len;
		/* bytes of the terminator after the value */
		size_t behind = end ? p->terminator.len : 0;

		end = end ? end : k->key.len;
		if (!p->buckets || end == k->key.len) {
			buf_printf(out, "%s%s ", first ? "" : ", ", p->name);
			escape(out, bytes_of(k->key.ptr + at, end - at - behind));
			first = false;
		}
		at = end;
	}
	if (first)
		escape(out, k->key);
	else
		buf_append_str(out, at < k->key.len ? ", ..." : "");
}
