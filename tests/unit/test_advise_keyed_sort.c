/* test_advise_keyed_sort.c - the order of row keys, against comparing whole keys */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "pipeline/advise/design/keyed.h"

static uint64_t state;

static uint64_t draw(uint64_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 33) % below;
}

/* A set of random keys. */
struct shape {
	size_t events;
	uint32_t width; /* 0: keys of different lengths */
	size_t prefix;	/* bytes that all keys share */
	uint64_t values;
};

/* Make random keys as keyed_make leaves them before it sorts. */
static void make(struct keyed *k, struct keyed_room *room, struct events *e, const struct shape *s)
{
	struct buf *keys = &room->keys;

	*e = (struct events){.n = s->events};
	*k = (struct keyed){.e = e, .width = s->width, .room = room};
	room->at = mem_alloc((s->events + 1) * sizeof *room->at);
	room->sorted = mem_alloc((s->events + 1) * sizeof *room->sorted);
	room->swap = mem_alloc((s->events + 1) * sizeof *room->swap);
	room->order = mem_alloc((s->events + 1) * sizeof *room->order);
	for (size_t i = 0; i < s->events; i++) {
		size_t len = s->width ? s->width : s->prefix + draw(20);

		room->at[i] = (uint32_t)keys->len;
		room->sorted[i] =
			(struct sorted_key){.event = (uint32_t)i, .bytes = (uint32_t)i + 1};
		for (size_t b = 0; b < len; b++)
			buf_put(keys, b < s->prefix
					      ? 7
					      : (uint8_t)(128 - s->values / 2 + draw(s->values)));
	}
	room->at[s->events] = (uint32_t)keys->len;
	buf_reserve(keys, 8);
	k->keys = keys->ptr;
	k->at = s->width ? NULL : room->at;
	k->sorted = room->sorted;
	k->order = room->order;
}

static void check(const struct shape *s)
{
	struct keyed_room room = {0};
	struct events e;
	struct keyed k;

	make(&k, &room, &e, s);
	keyed_sort(&k);
	for (size_t i = 0; i < e.n; i++) {
		assert_int_equal(k.sorted[i].event, k.order[i]);
		assert_int_equal(k.sorted[i].bytes, k.order[i] + 1);
	}
	for (size_t i = 1; i < e.n; i++) {
		size_t a = k.order[i - 1], b = k.order[i];
		int order = bytes_cmp(keyed_key(&k, a), keyed_key(&k, b));

		assert_true(order < 0 || (order == 0 && a < b));
		if (order == 0)
			assert_true(k.sorted[i - 1].head == k.sorted[i].head);
	}
	keyed_room_close(&room);
}

static void test_order(void **unused)
{
	(void)unused;
	/* wide and narrow values; keys that differ only in zero bytes at their end; long equal prefixes */
	const struct shape shapes[] = {{0, 4, 0, 256},	  {1, 4, 0, 256},    {2000, 3, 0, 4},
				       {3000, 8, 0, 256}, {3000, 13, 0, 2},  {3000, 17, 5, 256},
				       {900, 64, 0, 2},	  {3000, 65, 60, 2}, {600, 100, 70, 256},
				       {3000, 4, 4, 1},	  {70000, 3, 0, 50}, {3000, 24, 0, 3},
				       {2000, 0, 0, 1},	  {3000, 0, 0, 2},   {2000, 0, 9, 256},
				       {1500, 0, 70, 2}};

	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		state = 20261127 + i;
		check(&shapes[i]);
	}
}

static int compare_words(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

static void test_words(void **unused)
{
	uint64_t words[1000], sorted[1000];

	(void)unused;
	for (size_t n = 0; n <= 1000; n += 250) {
		for (size_t i = 0; i < n; i++)
			words[i] = n == 500 ? 3 : draw(1 << 30) << draw(40);
		memcpy(sorted, words, sizeof words);
		qsort(sorted, n, sizeof *sorted, compare_words);
		words_sort(words, n);
		assert_memory_equal(words, sorted, n * sizeof *words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_order),
					   cmocka_unit_test(test_words)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
