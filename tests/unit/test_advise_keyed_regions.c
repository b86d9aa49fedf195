/* test_advise_keyed_regions.c - the regions of the oldest events, against counting them one by one */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pipeline/advise/design/keyed.h"

#define WIDTH	4
#define SERVERS 3

static uint64_t state;

static uint64_t draw(uint64_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 33) % below;
}

/* Random keys with the members that keyed_make sets. */
struct made {
	struct events e;
	struct candidate c;
	struct job_table table;
	struct key_part part;
	struct keyed_room room;
	struct keyed k;
	uint32_t *rank;
};

static void make(struct made *m, size_t n, uint64_t values)
{
	struct keyed_room *r = &m->room;

	m->part = (struct key_part){.kind = PART_FIELD, .as = AS_U32, .terminator = NO_TERMINATOR};
	m->table = (struct job_table){.rowkey = &m->part, .nrowkey = 1};
	m->e.n = n;
	r->sorted = mem_alloc((n + 1) * sizeof *r->sorted);
	r->swap = mem_alloc((n + 1) * sizeof *r->swap);
	r->order = mem_alloc((n + 1) * sizeof *r->order);
	r->rows_below = mem_alloc((n + 1) * sizeof *r->rows_below);
	r->old_place = mem_alloc((n + 1) * sizeof *r->old_place);
	r->old_before = mem_alloc((n + 1) * sizeof *r->old_before);
	r->arrived = mem_alloc((n + 1) * sizeof *r->arrived);
	m->rank = mem_alloc((n + 1) * sizeof *m->rank);
	for (size_t i = 0; i < n; i++) {
		size_t swap = draw(i + 1);

		buf_be32(&r->keys, (uint32_t)draw(values));
		r->sorted[i] =
			(struct sorted_key){.event = (uint32_t)i, .bytes = (uint32_t)draw(300) + 1};
		m->rank[i] = m->rank[swap];
		m->rank[swap] = (uint32_t)i;
	}
	buf_reserve(&r->keys, 8);
	m->k = (struct keyed){.e = &m->e,
			      .candidate = &m->c,
			      .room = r,
			      .table.table = &m->table,
			      .keys = r->keys.ptr,
			      .width = WIDTH,
			      .sorted = r->sorted,
			      .order = r->order,
			      .rows_below = r->rows_below};
	keyed_sort(&m->k);
	uint32_t rows = 0;
	for (size_t i = 0; i < n; i++) {
		rows += i &&
			!bytes_eq(keyed_key(&m->k, r->order[i - 1]), keyed_key(&m->k, r->order[i]));
		r->rows_below[i] = rows;
	}
}

static void release(struct made *m)
{
	keyed_room_close(&m->room);
	mem_free(m->rank);
}

/* The bytes below each border differ from an even share by less than a row, as exact weights allow. */
static void check_borders(const struct made *m, const struct written_regions *w,
			  const uint32_t *rank, size_t old, size_t regions, uint64_t largest_row)
{
	uint64_t total = 0, below[64] = {0};

	for (size_t i = 0; i < m->e.n; i++) {
		uint32_t event = m->k.sorted[i].event;

		if ((rank ? rank[event] : event) >= old)
			continue;
		total += m->k.sorted[i].bytes;
		for (size_t s = 0; s < w->splits.count; s++)
			if (bytes_cmp(keyed_key(&m->k, event), w->splits.keys[s]) < 0)
				below[s] += m->k.sorted[i].bytes;
	}
	assert_int_equal(w->splits.count, regions - 1);
	for (size_t s = 0; s + 1 < regions; s++) {
		uint64_t even = total * (s + 1) / regions;

		assert_true((below[s] > even ? below[s] - even : even - below[s]) <= largest_row);
	}
}

/* The replay counts the events after the oldest 80 %, by the region of their keys. */
static void check_counts(const struct made *m, const struct written_regions *w,
			 const uint32_t *rank, size_t old)
{
	const struct write_replay *p = &w->replay;
	uint32_t *counts = mem_calloc(p->windows * p->regions, sizeof *counts);

	assert_int_equal(p->events, m->e.n - old);
	for (uint32_t event = 0; event < m->e.n; event++) {
		size_t at = rank ? rank[event] : event, window = (at - old) / p->window;

		if (at >= old)
			counts[(window < p->windows ? window : p->windows - 1) * p->regions +
			       splits_region(&w->splits, keyed_key(&m->k, event))]++;
	}
	assert_memory_equal(counts, p->counts, p->windows * p->regions * sizeof *counts);
	mem_free(counts);
}

static void check(size_t n, uint64_t values, size_t regions, bool ranked)
{
	struct made m = {.rank = NULL};
	struct written_regions w;
	struct error err = {0};
	size_t old = n - n / 5;
	/* rows of few values join several events */
	uint64_t row = values > n ? 600 : 300 * (4 * n / values + 8);

	make(&m, n, values);
	const uint32_t *rank = ranked ? m.rank : NULL;
	assert_int_equal(written_make(&w, &m.k, rank, regions, SERVERS, 500, &err), RC_OK);
	check_borders(&m, &w, rank, old, regions, row);
	check_counts(&m, &w, rank, old);
	written_release(&w);
	release(&m);
}

static void test_regions(void **unused)
{
	(void)unused;
	state = 20261128;
	check(60000, UINT32_MAX, 16, false);
	check(60000, UINT32_MAX, 33, true);
	check(20000, 5000, 7, true);
	check(7, UINT32_MAX, 1, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_regions)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
