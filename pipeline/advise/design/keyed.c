/* keyed.c - build the keys of all events, sort them, and sum their rows and bytes */
#include "keyed.h"

/* The fields whose values the key needs. */
struct needed {
	size_t *field, n;
};

static void add_needed(struct needed *w, size_t field)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->field[i] == field)
			return;
	w->field[w->n++] = field;
}

static struct needed needed_of(const struct candidate *c, size_t nfields)
{
	struct needed w = {mem_calloc(nfields + 1, sizeof *w.field), 0};

	for (size_t i = 0; i < c->table.nrowkey; i++) {
		const struct key_part *p = &c->table.rowkey[i];

		if (p->kind == PART_FIELD)
			add_needed(&w, p->field);
		for (size_t f = 0; f < p->nof; f++)
			add_needed(&w, p->of[f]);
	}
	return w;
}

/* --- memory --- */

static void room_open(struct keyed_room *r, size_t n)
{
	if (r->sorted)
		return;
	r->sorted = mem_alloc((n + 1) * sizeof *r->sorted);
	r->swap = mem_alloc((n + 1) * sizeof *r->swap);
	r->order = mem_alloc((n + 1) * sizeof *r->order);
	r->rows_below = mem_alloc((n + 1) * sizeof *r->rows_below);
	r->bytes_below = mem_alloc((n + 1) * sizeof *r->bytes_below);
	r->old_place = mem_alloc((n + 1) * sizeof *r->old_place);
	r->old_before = mem_alloc((n + 1) * sizeof *r->old_before);
	r->arrived = mem_alloc((n + 1) * sizeof *r->arrived);
}

void keyed_room_close(struct keyed_room *r)
{
	buf_release(&r->keys);
	mem_free(r->at);
	mem_free(r->sorted);
	mem_free(r->swap);
	mem_free(r->order);
	mem_free(r->rows_below);
	mem_free(r->bytes_below);
	mem_free(r->old_place);
	mem_free(r->old_before);
	mem_free(r->arrived);
	*r = (struct keyed_room){0};
}

/* --- keys --- */

/*
 * Return the stored bytes of an event with a key of `len` bytes. HBase stores a byte after each
 * KeyValue, its sequence.
 */
static uint32_t row_size(const struct keyed *k, size_t event, size_t len)
{
	const struct cell_mean *mean = k->candidate->mean;
	uint64_t with = len + UINT64_C(1), all;

	if (mean) {
		all = (uint64_t)(mean->bytes + mean->count * (double)with + 0.5);
	} else {
		with += k->candidate->nqualifier ? wide_bytes(k->e, k->candidate, event) : 0;
		all = k->e->bytes[event] + k->e->cells[event] * with;
	}
	return all < UINT32_MAX ? (uint32_t)all : UINT32_MAX;
}

/* Append the key to the keys of the other events. */
static void take_key(struct keyed *k, size_t event, const struct buf *key)
{
	struct buf *keys = &k->room->keys;
	uint8_t *to = buf_room(keys, key->len + k->width);

	if (k->at)
		k->at[event] = (uint32_t)keys->len;
	if (key->len < k->width)
		memset(to, 0, k->width);
	memcpy(to, key->ptr, key->len);
	keys->len += k->width ? k->width : key->len;
	k->room->sorted[event] =
		(struct sorted_key){.event = (uint32_t)event,
				    .bytes = row_size(k, event, k->width ? k->width : key->len)};
}

static void build(struct keyed *k, const struct candidate *c)
{
	const struct events *e = k->e;
	struct needed needed = needed_of(c, e->job->nfields);
	struct value *values = mem_calloc(e->job->nfields + 1, sizeof *values);
	struct buf *keys = &k->room->keys, key = {0};
	struct reject why;

	k->width = c->width;
	if (!k->width && !k->room->at)
		k->room->at = mem_alloc((e->n + 1) * sizeof *k->at);
	k->at = k->width ? NULL : k->room->at;
	keys->len = 0;
	buf_reserve(keys, e->n * (k->width ? k->width : 16) + 16);
	for (size_t i = 0; i < e->n; i++) {
		for (size_t f = 0; f < needed.n; f++)
			event_value(&e->column[needed.field[f]], i, &values[needed.field[f]]);
		int rc = key_build(&k->table.schema, &k->table.scratch, values, &key, &why);
		k->failed += rc != RC_OK;
		if (rc)
			key.len = 0;
		take_key(k, i, &key);
	}
	if (k->at)
		k->at[e->n] = (uint32_t)keys->len;
	buf_reserve(keys, 8);
	k->keys = keys->ptr;
	k->keys_len = keys->len;
	buf_release(&key);
	mem_free(values);
	mem_free(needed.field);
}

/* Return true if the next event in the order has the same key. */
static bool again(const struct keyed *k, size_t i)
{
	const struct sorted_key *s = &k->sorted[i];

	return i + 1 < k->e->n && s[0].head == s[1].head &&
	       bytes_eq(keyed_key(k, s[0].event), keyed_key(k, s[1].event));
}

/* Sum rows and bytes. The last one of several events with one key is the row. */
static void sum(struct keyed *k)
{
	bool joined = k->candidate->joined;
	size_t n = k->e->n;
	uint64_t bytes = 0;
	uint32_t rows = 0;

	k->rows_below = k->room->rows_below;
	k->bytes_below = k->room->bytes_below;
	for (size_t i = 0; i < n; i++) {
		bool last = !again(k, i);

		k->rows_below[i] = rows;
		k->bytes_below[i] = bytes;
		if (last || joined)
			bytes += k->sorted[i].bytes;
		rows += last;
	}
	k->rows_below[n] = rows;
	k->bytes_below[n] = bytes;
	k->hidden = joined ? 0 : n - rows;
}

void keyed_make(struct keyed *k, const struct events *e, const struct candidate *c,
		struct keyed_room *room)
{
	*k = (struct keyed){.e = e, .candidate = c, .room = room};
	key_table_open(&k->table, e->job, &c->table);
	room_open(room, e->n);
	k->sorted = room->sorted;
	k->order = room->order;
	build(k, c);
	keyed_sort(k);
	sum(k);
}

void keyed_release(struct keyed *k)
{
	key_table_close(&k->table);
}

size_t keyed_below(const struct keyed *k, struct bytes key)
{
	size_t lo = 0, hi = k->e->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (bytes_cmp(keyed_key(k, k->order[mid]), key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
