/* keyed.c - build the keys of all events, sort them, and sum their rows and bytes */
#include "keyed.h"

#include <stdlib.h>

/* Mark the fields whose values the key needs. */
static void mark_fields(const struct candidate *c, bool *wanted)
{
	for (size_t i = 0; i < c->table.nrowkey; i++) {
		const struct key_part *p = &c->table.rowkey[i];

		if (p->kind == PART_FIELD)
			wanted[p->field] = true;
		for (size_t f = 0; f < p->nof; f++)
			wanted[p->of[f]] = true;
	}
}

static void build(struct keyed *k, const struct candidate *c)
{
	const struct events *e = k->e;
	bool *wanted = mem_calloc(e->job->nfields + 1, sizeof *wanted);
	struct value *values = mem_calloc(e->job->nfields + 1, sizeof *values);
	struct buf key = {0};
	struct reject why;

	mark_fields(c, wanted);
	k->width = c->width;
	if (!k->width)
		k->at = mem_alloc((e->n + 1) * sizeof *k->at);
	buf_reserve(&k->keys, e->n * (k->width ? k->width : 16) + 16);
	for (size_t i = 0; i < e->n; i++) {
		for (size_t f = 0; f < e->job->nfields; f++)
			if (wanted[f])
				event_value(&e->column[f], i, &values[f]);
		int rc = key_build(&k->table.schema, &k->table.scratch, values, &key, &why);
		k->failed += rc != RC_OK;
		if (rc)
			key.len = 0;
		if (k->at)
			k->at[i] = (uint32_t)k->keys.len;
		uint8_t *to = buf_room(&k->keys, key.len + k->width);
		memset(to, 0, k->width);
		memcpy(to, key.ptr, key.len);
		k->keys.len += k->width ? k->width : key.len;
	}
	if (k->at)
		k->at[e->n] = (uint32_t)k->keys.len;
	buf_release(&key);
	mem_free(values);
	mem_free(wanted);
}

/* Return the stored bytes of an event's row. HBase stores a byte after each KeyValue, its sequence. */
static uint64_t row_size(const struct keyed *k, size_t event)
{
	uint64_t with = keyed_key(k, event).len + UINT64_C(1);

	const struct cell_mean *mean = k->candidate->mean;

	if (mean)
		return (uint64_t)(mean->bytes + mean->count * (double)with + 0.5);
	with += wide_bytes(k->e, k->candidate, event);
	return k->e->bytes[event] + k->e->cells[event] * with;
}

/* Sum rows and bytes. The last one of several events with one key is the row. */
static void sum(struct keyed *k)
{
	const struct events *e = k->e;
	uint64_t bytes = 0;
	uint32_t rows = 0;

	k->rows_below = mem_alloc((e->n + 1) * sizeof *k->rows_below);
	k->bytes_below = mem_alloc((e->n + 1) * sizeof *k->bytes_below);
	for (size_t i = 0; i < e->n; i++) {
		struct bytes key = keyed_key(k, k->order[i]);
		bool last = i + 1 == e->n || !bytes_eq(key, keyed_key(k, k->order[i + 1]));
		size_t event = k->order[i];

		k->rows_below[i] = rows;
		k->bytes_below[i] = bytes;
		if (last || k->candidate->joined)
			bytes += row_size(k, event);
		rows += last;
	}
	k->rows_below[e->n] = rows;
	k->bytes_below[e->n] = bytes;
	k->hidden = k->candidate->joined ? 0 : e->n - rows;
}

void keyed_make(struct keyed *k, const struct events *e, const struct candidate *c)
{
	*k = (struct keyed){.e = e, .candidate = c};
	key_table_open(&k->table, e->job, &c->table);
	build(k, c);
	keyed_sort(k);
	sum(k);
}

void keyed_release(struct keyed *k)
{
	key_table_close(&k->table);
	buf_release(&k->keys);
	mem_free(k->at);
	mem_free(k->order);
	mem_free(k->rows_below);
	mem_free(k->bytes_below);
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

/* --- writes --- */

struct arrived {
	uint64_t time;
	uint32_t event;
};

static int compare_arrived(const void *x, const void *y)
{
	const struct arrived *a = x, *b = y;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->event > b->event) - (a->event < b->event);
}

uint32_t *arrival_order(const struct events *e)
{
	uint32_t *out = mem_alloc((e->n + 1) * sizeof *out);
	const struct event_column *time = NULL;

	for (size_t f = 0; !time && f < e->job->nfields; f++)
		if (e->job->fields[f].type == FIELD_TIME && !e->column[f].nulls)
			time = &e->column[f];
	if (!time) {
		for (size_t i = 0; i < e->n; i++)
			out[i] = (uint32_t)i;
		return out;
	}
	struct arrived *all = mem_alloc((e->n + 1) * sizeof *all);
	for (size_t i = 0; i < e->n; i++)
		all[i] = (struct arrived){time->number[i], (uint32_t)i};
	qsort(all, e->n, sizeof *all, compare_arrived);
	for (size_t i = 0; i < e->n; i++)
		out[i] = all[i].event;
	mem_free(all);
	return out;
}

static int cut(struct written_regions *w, const struct keyed *k, const uint32_t *arrival,
	       size_t old, size_t regions, struct error *err)
{
	const struct plan_options o = {.rule = {.count = (uint32_t)regions}};
	const struct key_shape shape = key_shape(k->table.table);
	struct sample *s = sample_new(4096, 1, &shape);
	struct plan p;

	for (size_t i = 0; i < old; i++)
		sample_add(s, keyed_key(k, arrival[i]), row_size(k, arrival[i]));
	int rc = plan_make(&p, s, &o, err);
	if (rc == RC_OK)
		rc = splits_copy(&w->splits, &p.splits, err);
	plan_release(&p);
	sample_free(s);
	return rc;
}

/* Find the place in the order at which each region starts. */
static void find_places(struct written_regions *w, const struct keyed *k)
{
	size_t count = w->splits.count + 1;

	w->place = mem_calloc(count + 1, sizeof *w->place);
	for (size_t r = 1; r < count; r++)
		w->place[r] = keyed_below(k, w->splits.keys[r - 1]);
	w->place[count] = k->e->n;
}

int written_make(struct written_regions *w, const struct keyed *k, const uint32_t *arrival,
		 size_t regions, size_t servers, uint64_t window, struct error *err)
{
	size_t n = k->e->n, old = n - n / 5;

	*w = (struct written_regions){0};
	int rc = cut(w, k, arrival, old, regions, err);
	if (rc)
		return rc;
	size_t count = w->splits.count + 1;
	uint64_t *before = mem_calloc(count, sizeof *before);
	uint32_t *region = mem_alloc((n + 1) * sizeof *region);
	uint32_t *arrived = mem_alloc((n - old + 1) * sizeof *arrived);
	find_places(w, k);
	for (size_t r = 0; r < count; r++)
		for (size_t i = w->place[r]; i < w->place[r + 1]; i++)
			region[k->order[i]] = (uint32_t)r;
	for (size_t i = 0; i < n; i++) {
		size_t r = region[arrival[i]];

		if (i < old)
			before[r]++;
		else
			arrived[i - old] = (uint32_t)r;
	}
	const struct replay_options o = {.regions = count,
					 .servers = servers,
					 .window = window,
					 .before = before};
	replay_make(&w->replay, arrived, n - old, &o);
	mem_free(before);
	mem_free(region);
	mem_free(arrived);
	return RC_OK;
}

void written_release(struct written_regions *w)
{
	splits_release(&w->splits);
	replay_release(&w->replay);
	mem_free(w->place);
}
