/*
 * test_advise_watch.c - tests the counts and verdicts of `watch`, with a table whose regions split,
 * merge, move and restart
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hbase.h"
#include "key.h"
#include "planning.h"

#define MOST 64

/* A region whose keys are one byte. An empty border is 0 or 256. */
struct toy_region {
	unsigned start, end, id, server;
	uint64_t reads, writes;
	bool silent;
};
struct toy {
	struct toy_region r[MOST];
	size_t n;
	unsigned next_id, starts[3]; /* start codes of the servers */
	uint64_t sent[WATCH_KINDS];
};

static struct bytes border(struct arena *a, unsigned key)
{
	const uint8_t byte = (uint8_t)key;

	return key == 0 || key == 256 ? (struct bytes){0} : arena_bytes(a, bytes_of(&byte, 1));
}

static struct hbase_place place_of(unsigned server)
{
	struct hbase_place p = {.port = (uint16_t)(100 + server)};

	snprintf(p.host, sizeof p.host, "server%u", server);
	return p;
}

static int by_name(const void *a, const void *b)
{
	return bytes_cmp(((const struct hbase_store_files *)a)->region,
			 ((const struct hbase_store_files *)b)->region);
}

static void take(struct watch *w, const struct toy *t, int64_t now_ms)
{
	struct hbase_region regions[MOST];
	struct hbase_store_files stores[MOST];
	struct hbase_server servers[3];
	struct hbase_regions r = {.item = regions, .count = t->n};
	struct hbase_status s = {.servers = servers, .nservers = 3, .stores = stores};
	struct arena a = {0};

	for (unsigned i = 0; i < 3; i++)
		servers[i] =
			(struct hbase_server){.place = place_of(i), .start_code = t->starts[i]};
	for (size_t i = 0; i < t->n; i++) {
		const struct toy_region *one = &t->r[i];
		struct bytes name =
			bytes_str(arena_format(&a, "t,%u,%u.%032u.", one->start, one->id, one->id));

		regions[i] = (struct hbase_region){border(&a, one->start), border(&a, one->end),
						   name, place_of(one->server)};
		if (!one->silent)
			stores[s.nstores++] = (struct hbase_store_files){.region = name,
									 .reads = one->reads,
									 .writes = one->writes,
									 .server = one->server};
	}
	qsort(stores, s.nstores, sizeof *stores, by_name);
	watch_take(w, &r, &s, now_ms);
	watch_judge(w);
	arena_release(&a);
}

static struct toy_region opened(struct toy *t, unsigned start, unsigned end, unsigned server)
{
	return (struct toy_region){.start = start,
				   .end = end,
				   .id = ++t->next_id,
				   .server = server};
}

static struct toy table_of(size_t n)
{
	struct toy t = {.n = n, .starts = {1, 1, 1}};

	for (size_t i = 0; i < n; i++)
		t.r[i] = opened(&t, (unsigned)(i * 256 / n), (unsigned)((i + 1) * 256 / n),
				(unsigned)(i % 3));
	return t;
}

static void send(struct toy *t, size_t region, uint64_t reads, uint64_t writes)
{
	t->r[region].reads += reads;
	t->r[region].writes += writes;
	t->sent[WATCH_READS] += reads;
	t->sent[WATCH_WRITES] += writes;
}

static void split(struct toy *t, size_t i)
{
	struct toy_region old = t->r[i];
	unsigned middle = (old.start + old.end) / 2;

	if (t->n == MOST || middle == old.start)
		return;
	memmove(&t->r[i + 1], &t->r[i], (t->n - i) * sizeof *t->r);
	t->n++;
	t->r[i] = opened(t, old.start, middle, old.server);
	t->r[i + 1] = opened(t, middle, old.end, old.server);
	t->r[i].silent = rand() % 2; /* its server has not reported it yet */
}

static void merge(struct toy *t, size_t i)
{
	if (i + 1 >= t->n)
		return;
	t->r[i] = opened(t, t->r[i].start, t->r[i + 1].end, t->r[i].server);
	memmove(&t->r[i + 1], &t->r[i + 2], (t->n - i - 2) * sizeof *t->r);
	t->n--;
}

static void move(struct toy *t, size_t i)
{
	t->r[i].server = (t->r[i].server + 1) % 3;
	t->r[i].reads = t->r[i].writes = 0;
}

static void restart(struct toy *t, unsigned server)
{
	t->starts[server]++;
	for (size_t i = 0; i < t->n; i++)
		if (t->r[i].server == server)
			t->r[i].reads = t->r[i].writes = 0;
}

static void change(struct toy *t)
{
	size_t i = (size_t)rand() % t->n;

	switch (rand() % 8) {
	case 0: split(t, i); break;
	case 1: merge(t, i); break;
	case 2: move(t, i); break;
	case 3: restart(t, (unsigned)rand() % 3); break;
	case 4: t->r[i].silent = true; break;
	default: break;
	}
}

static void speak(struct toy *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->r[i].silent = false;
}

static void check_sums(const struct watch *w, const struct toy *t)
{
	for (int k = 0; k < WATCH_KINDS; k++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < w->nwindows * w->nregions; i++)
			sum += w->counts[k][i];
		assert_int_equal(w->all[k], t->sent[k]);
		assert_int_equal(sum, t->sent[k]);
	}
	assert_int_equal(w->nregions, t->n);
	assert_in_range(w->nwindows, 0, WATCH_WINDOWS);
}

/* No request is lost or counted twice, if each counter was read before its region closed. */
static void test_nothing_is_lost(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 40; seed++) {
		struct toy t = table_of(1 + seed % 9);
		struct watch *w = watch_new("t", NULL);

		srand(seed);
		send(&t, 0, 77, 88);
		t.sent[0] = t.sent[1] = 0; /* requests before the first reading do not count */
		take(w, &t, 1000);
		for (int64_t now = 2; now < 400; now++) {
			for (int i = rand() % 5; i; i--)
				send(&t, (size_t)rand() % t.n, (uint64_t)rand() % 1000,
				     (uint64_t)rand() % 50);
			take(w, &t, now * 1000);
			speak(&t);
			take(w, &t, now * 1000 + 500);
			check_sums(w, &t);
			change(&t);
		}
		watch_free(w);
	}
}

static void test_restarted_counters_that_grew(void **state)
{
	struct toy t = table_of(2);
	struct watch *w = watch_new("t", NULL);

	(void)state;
	send(&t, 0, 10, 0);
	take(w, &t, 1000);
	restart(&t, 0);
	t.sent[0] = 0;
	send(&t, 0, 5000, 0); /* more than before the restart: only the start code shows it */
	take(w, &t, 2000);
	assert_int_equal(w->all[WATCH_READS], 5000);
	assert_int_equal(w->restarted, 1);
	watch_free(w);
}

/* Nobody knows when the counts of a region began that has no report at first. */
static void test_a_late_report(void **state)
{
	struct toy t = table_of(2);
	struct watch *w = watch_new("t", NULL);

	(void)state;
	t.r[0].silent = true;
	send(&t, 0, 900, 900);
	take(w, &t, 1000);
	speak(&t);
	take(w, &t, 2000);
	assert_int_equal(w->all[WATCH_READS], 0);
	send(&t, 0, 5, 6);
	take(w, &t, 3000);
	assert_int_equal(w->all[WATCH_READS], 5);
	assert_int_equal(w->all[WATCH_WRITES], 6);
	assert_int_equal(w->restarted, 0);
	watch_free(w);
}

static void test_history_after_split_and_merge(void **state)
{
	struct toy t = table_of(2);
	struct watch *w = watch_new("t", NULL);
	struct hotspot h;

	(void)state;
	take(w, &t, 1000);
	send(&t, 0, 900, 0);
	send(&t, 1, 100, 0);
	take(w, &t, 2000);
	split(&t, 0);
	take(w, &t, 3000);
	assert_int_equal(w->counts[WATCH_READS][0], 450);
	assert_int_equal(w->counts[WATCH_READS][1], 450);
	assert_int_equal(w->counts[WATCH_READS][2], 100);
	watch_hotspot(w, WATCH_READS, &h);
	assert_int_equal(h.bands, 3);
	assert_int_equal(h.columns, 2);
	assert_int_equal(h.share[0], 4500);
	assert_int_equal(h.server[0], 9000); /* both halves are on one server */
	assert_int_equal(h.server[1], 0);
	hotspot_release(&h);
	merge(&t, 1);
	take(w, &t, 4000);
	assert_int_equal(w->counts[WATCH_READS][0], 450);
	assert_int_equal(w->counts[WATCH_READS][1], 550);
	watch_free(w);
}

/* --- verdicts --- */

static enum hot_kind judge(size_t regions, size_t hot, uint64_t much, uint64_t each, bool writes,
			   struct watch_hot *out)
{
	struct toy t = table_of(regions);
	struct watch *w = watch_new("t", NULL);

	take(w, &t, 1000);
	for (size_t i = 0; i < regions; i++)
		send(&t, i, writes ? 0 : each, writes ? each : 0);
	send(&t, hot, writes ? 0 : much, writes ? much : 0);
	take(w, &t, 31000);
	*out = w->hot;
	watch_free(w);
	return out->kind;
}

static void test_hot_regions(void **state)
{
	struct watch_hot h;

	(void)state;
	assert_int_equal(judge(16, 5, 0, 1000, false, &h), HOT_NONE);
	assert_int_equal(judge(16, 5, 2000, 1000, false, &h),
			 HOT_NONE); /* 3 times the even share */
	assert_int_equal(judge(16, 5, 9000, 1000, false, &h), HOT_RANGE);
	assert_int_equal(h.region, 5);
	assert_true(h.share == .4 && h.of == WATCH_READS);
	assert_int_equal(judge(16, 5, 100, 0, false, &h), HOT_NONE); /* too few requests */
	assert_int_equal(judge(3, 1, 500, 500, true, &h), HOT_NONE);
	assert_int_equal(judge(3, 1, 5000, 500, true, &h), HOT_RANGE);
	assert_int_equal(judge(8, 7, 50000, 100, true, &h), HOT_NEWEST);
	assert_int_equal(judge(8, 7, 50000, 100, false, &h), HOT_RANGE);
	assert_int_equal(judge(1, 0, 500, 0, true, &h), HOT_ONLY_REGION);
	/* regions 0, 3, 6, ... are on server 0 */
	struct toy t = table_of(12);
	struct watch *w = watch_new("t", NULL);
	take(w, &t, 1000);
	for (size_t i = 0; i < 12; i++)
		send(&t, i, i % 3 ? 100 : 1000 + i, 0);
	take(w, &t, 31000);
	assert_int_equal(w->hot.kind, HOT_SERVER);
	assert_int_equal(w->hot.region, 9);
	watch_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_lost),
		cmocka_unit_test(test_restarted_counters_that_grew),
		cmocka_unit_test(test_a_late_report),
		cmocka_unit_test(test_history_after_split_and_merge),
		cmocka_unit_test(test_hot_regions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
