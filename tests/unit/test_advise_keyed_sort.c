/* test_advise_keyed_sort.c - the order of row keys, against comparing whole keys */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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

static void make(struct keyed *k, struct events *e, const struct shape *s)
{
	*e = (struct events){.n = s->events};
	*k = (struct keyed){.e = e, .width = s->width};
	k->at = s->width ? NULL : mem_alloc((s->events + 1) * sizeof *k->at);
	for (size_t i = 0; i < s->events; i++) {
		size_t len = s->width ? s->width : s->prefix + draw(20);

		if (k->at)
			k->at[i] = (uint32_t)k->keys.len;
		for (size_t b = 0; b < len; b++)
			buf_put(&k->keys, b < s->prefix ? 7 : (uint8_t)draw(s->values));
	}
	if (k->at)
		k->at[s->events] = (uint32_t)k->keys.len;
}

static void check(const struct shape *s)
{
	struct events e;
	struct keyed k;

	make(&k, &e, s);
	keyed_sort(&k);
	for (size_t i = 1; i < e.n; i++) {
		size_t a = k.order[i - 1], b = k.order[i];
		int order = bytes_cmp(keyed_key(&k, a), keyed_key(&k, b));

		assert_true(order < 0 || (order == 0 && a < b));
	}
	buf_release(&k.keys);
	mem_free(k.at);
	mem_free(k.order);
}

static void test_order(void **unused)
{
	(void)unused;
	/* wide and narrow values; keys that differ only in zero bytes at their end; long equal prefixes */
	const struct shape shapes[] = {{1, 4, 0, 256},	 {2000, 3, 0, 4},    {3000, 8, 0, 256},
				       {3000, 13, 0, 2}, {3000, 17, 5, 256}, {600, 100, 70, 256},
				       {2000, 0, 0, 1},	 {3000, 0, 0, 2},    {2000, 0, 9, 256},
				       {1500, 0, 70, 2}};

	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		state = 20261127 + i;
		check(&shapes[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_order)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
