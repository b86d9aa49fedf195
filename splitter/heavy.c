/*
 * heavy.c - Misra-Gries with weights (1982; as in DataSketches' frequent items)
 *
 * Each counter holds a key's bytes.  When all are taken the median count d is subtracted from
 * each, and those at zero go: at least half, so d * counters / 2 of all bytes at most are
 * subtracted at once and the sum of all d is below 2 / counters of all bytes.  A count is a lower
 * bound; count + sum of all d an upper one.  Merging keeps both (Agarwal et al., "Mergeable
 * summaries", PODS 2012).
 *
 * File form: a frame with magic "SMheavy ", version 1; content: 4 counters, 8 bytes, 8 subtracted,
 * 4 count, and for each counter 8 bytes, 2 length, key; in the order of the slots.
 */
#include "heavy.h"

#include <stdlib.h>

#include <xxhash.h>

#include "frame.h"
#include "heavy_state.h"
#include "mem.h"

#define MIN_COUNTERS	16
#define MAX_COUNTERS	(1u << 20)
#define MAX_KEY_BYTES	(4u << 20)
#define REUSE_KEY_BYTES 256 /* a freed slot keeps a buffer up to this size */
#define VERSION		1

static const char magic[8] = {'S', 'M', 'h', 'e', 'a', 'v', 'y', ' '};

struct slot {
	uint64_t hash, bytes;
	uint8_t *key;
	uint32_t len, cap;
};

struct heavy {
	uint32_t counters, used;
	uint64_t bytes, subtracted;
	size_t key_bytes;
	struct slot *slots;
	uint32_t *index; /* open addressing: slot number + 1, 0 for empty */
	uint32_t mask;
	uint64_t *scratch;
};

struct heavy *heavy_new(uint32_t counters)
{
	struct heavy *h = mem_calloc(1, sizeof(*h));
	uint32_t size = 32;

	h->counters = counters < MIN_COUNTERS	? MIN_COUNTERS
		      : counters > MAX_COUNTERS ? MAX_COUNTERS
						: counters;
	while (size < 2 * h->counters)
		size *= 2;
	h->mask = size - 1;
	h->slots = mem_calloc(h->counters, sizeof(*h->slots));
	h->index = mem_calloc(size, sizeof(*h->index));
	h->scratch = mem_alloc(h->counters * sizeof(*h->scratch));
	return h;
}

void heavy_free(struct heavy *h)
{
	if (!h)
		return;
	for (uint32_t i = 0; i < h->counters; i++)
		mem_free(h->slots[i].key);
	mem_free(h->slots);
	mem_free(h->index);
	mem_free(h->scratch);
	mem_free(h);
}

/* Where key's slot number stands in the index, or the empty place where it belongs. */
static uint32_t *find(const struct heavy *h, struct bytes key, uint64_t hash)
{
	uint32_t at = (uint32_t)hash & h->mask;

	for (; h->index[at]; at = (at + 1) & h->mask) {
		const struct slot *s = &h->slots[h->index[at] - 1];
		if (s->hash == hash && bytes_eq(bytes_of(s->key, s->len), key))
			break;
	}
	return &h->index[at];
}

static void rebuild_index(struct heavy *h)
{
	memset(h->index, 0, ((size_t)h->mask + 1) * sizeof(*h->index));
	for (uint32_t i = 0; i < h->used; i++) {
		uint32_t at = (uint32_t)h->slots[i].hash & h->mask;
		while (h->index[at])
			at = (at + 1) & h->mask;
		h->index[at] = i + 1;
	}
}

/* The k-th smallest of n numbers, which it reorders (Wirth's form of Hoare's selection). */
static uint64_t select_kth(uint64_t *a, ptrdiff_t n, ptrdiff_t k)
{
	ptrdiff_t low = 0, high = n - 1;

	while (low < high) {
		ptrdiff_t i = low, j = high;
		uint64_t pivot = a[k];
		while (i <= j) {
			while (a[i] < pivot)
				i++;
			while (a[j] > pivot)
				j--;
			if (i <= j) {
				uint64_t t = a[i];
				a[i++] = a[j];
				a[j--] = t;
			}
		}
		if (j < k)
			low = i;
		if (k < i)
			high = j;
	}
	return a[k];
}

/* Slot i is free: the last one in use takes its place, and the key's buffer goes to the end. */
static void drop_slot(struct heavy *h, uint32_t i)
{
	struct slot freed = h->slots[i];

	h->key_bytes -= freed.len;
	freed.len = 0;
	if (freed.cap > REUSE_KEY_BYTES) {
		mem_free(freed.key);
		freed.key = NULL;
		freed.cap = 0;
	}
	h->slots[i] = h->slots[--h->used];
	h->slots[h->used] = freed;
}

static void purge(struct heavy *h)
{
	for (uint32_t i = 0; i < h->used; i++)
		h->scratch[i] = h->slots[i].bytes;
	uint64_t median = select_kth(h->scratch, h->used, h->used / 2);
	h->subtracted += median;
	for (uint32_t i = 0; i < h->used;) {
		if (h->slots[i].bytes > median)
			h->slots[i++].bytes -= median;
		else
			drop_slot(h, i);
	}
	rebuild_index(h);
}

static void insert(struct heavy *h, struct bytes key, uint64_t hash, uint64_t bytes)
{
	struct slot *s = &h->slots[h->used];

	if (s->cap < key.len) {
		s->cap = (uint32_t)key.len;
		s->key = mem_realloc(s->key, s->cap);
	}
	if (key.len)
		memcpy(s->key, key.ptr, key.len);
	s->len = (uint32_t)key.len;
	s->hash = hash;
	s->bytes = bytes;
	h->key_bytes += key.len;
	*find(h, key, hash) = ++h->used;
}

static void count(struct heavy *h, struct bytes key, uint64_t hash, uint64_t bytes)
{
	uint32_t number = *find(h, key, hash);

	if (number) {
		h->slots[number - 1].bytes += bytes;
		return;
	}
	while (h->used && (h->used == h->counters || h->key_bytes + key.len > MAX_KEY_BYTES))
		purge(h);
	insert(h, key, hash, bytes);
}

void heavy_add(struct heavy *h, struct bytes key, uint64_t bytes)
{
	h->bytes += bytes;
	count(h, key, XXH3_64bits(key.ptr, key.len), bytes);
}

void heavy_merge(struct heavy *into, const struct heavy *from)
{
	into->bytes += from->bytes;
	into->subtracted += from->subtracted;
	for (uint32_t i = 0; i < from->used; i++) {
		const struct slot *s = &from->slots[i];
		count(into, bytes_of(s->key, s->len), s->hash, s->bytes);
	}
}

uint64_t heavy_bytes(const struct heavy *h)
{
	return h->bytes;
}

uint64_t heavy_error(const struct heavy *h)
{
	return h->subtracted;
}

static int compare_heavy(const void *a, const void *b)
{
	const struct heavy_key *x = a, *y = b;
	if (x->at_least != y->at_least)
		return x->at_least < y->at_least ? 1 : -1;
	return bytes_cmp(x->key, y->key);
}

size_t heavy_list(const struct heavy *h, uint64_t min_bytes, struct heavy_key **out)
{
	size_t n = 0;

	*out = mem_alloc((h->used + 1) * sizeof(**out));
	for (uint32_t i = 0; i < h->used; i++) {
		const struct slot *s = &h->slots[i];
		if (s->bytes < min_bytes)
			continue;
		uint64_t most = s->bytes + h->subtracted;
		(*out)[n++] = (struct heavy_key){.key = bytes_of(s->key, s->len),
						 .at_least = s->bytes,
						 .at_most = most < h->bytes ? most : h->bytes};
	}
	qsort(*out, n, sizeof(**out), compare_heavy);
	return n;
}

void heavy_save(const struct heavy *h, struct buf *out)
{
	size_t start = frame_begin(out, magic, VERSION);

	buf_be32(out, h->counters);
	buf_be64(out, h->bytes);
	buf_be64(out, h->subtracted);
	buf_be32(out, h->used);
	for (uint32_t i = 0; i < h->used; i++) {
		buf_be64(out, h->slots[i].bytes);
		put_be16(buf_reserve(out, 2), (uint16_t)h->slots[i].len);
		out->len += 2;
		buf_append(out, h->slots[i].key, h->slots[i].len);
	}
	frame_end(out, start);
}

static bool read_slots(struct heavy *h, struct cursor *c, uint32_t used)
{
	for (uint32_t i = 0; i < used && !c->bad; i++) {
		uint64_t bytes = cursor_be64(c);
		struct bytes key = cursor_bytes(c, cursor_be16(c));
		uint64_t hash = XXH3_64bits(key.ptr, key.len);
		if (c->bad || bytes == 0 || *find(h, key, hash))
			return false; /* a key twice would make its lower bound wrong */
		insert(h, key, hash, bytes);
	}
	return !c->bad && c->rest.len == 0;
}

int heavy_take(struct heavy **out, const char *name, struct bytes *file, struct error *err)
{
	struct cursor c = {0};

	*out = NULL;
	int rc = frame_take(file, magic, VERSION, name, &c.rest, err);
	if (rc)
		return rc;
	uint32_t counters = cursor_be32(&c);
	uint64_t bytes = cursor_be64(&c), subtracted = cursor_be64(&c);
	uint32_t used = cursor_be32(&c);
	bool good =
		!c.bad && counters >= MIN_COUNTERS && counters <= MAX_COUNTERS && used <= counters;
	struct heavy *h = heavy_new(good ? counters : MIN_COUNTERS);
	h->bytes = bytes;
	h->subtracted = subtracted;
	if (!good || !read_slots(h, &c, used)) {
		heavy_free(h);
		return error_set(err, RC_DATA, "%s: the counters inside do not hold together",
				 name);
	}
	*out = h;
	return RC_OK;
}

int heavy_load(struct heavy **out, const char *name, struct bytes file, struct error *err)
{
	int rc = heavy_take(out, name, &file, err);
	if (rc == RC_OK && file.len) {
		heavy_free(*out);
		*out = NULL;
		rc = error_set(err, RC_DATA, "%s: %zu bytes too many at the end", name, file.len);
	}
	return rc;
}
