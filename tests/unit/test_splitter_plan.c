#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "mem.h"
#include "plan.h"

#define COUNT(a) (sizeof a / sizeof((a)[0]))
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* ten times as slow */
#define REGIONS 100
#else
#define REGIONS 1000
#endif
#define MANY (2000 * REGIONS)

/* salt | entity | time | seq */
#define KEY_BYTES 21
static const struct key_shape salted_shape = {.parts = {{1, -1}, {8, -1}, {8, -1}, {4, -1}},
					      .nparts = 4,
					      .salt_bytes = 1,
					      .buckets = 16};

static uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ x >> 32) * UINT64_C(0xD6E8FEB86659FD93);
	return x ^ x >> 29;
}

struct row {
	uint8_t key[KEY_BYTES];
	uint32_t bytes;
};

struct data {
	struct row *rows;
	size_t count;
	uint64_t bytes;
	struct sample *sample;
};

static struct bytes row_key(const struct row *r)
{
	return bytes_of(r->key, KEY_BYTES);
}

static void set_row(struct row *r, uint8_t salt, uint64_t entity, uint64_t time, uint32_t bytes)
{
	r->key[0] = salt;
	put_be64(r->key + 1, entity);
	put_be64(r->key + 9, time);
	put_be32(r->key + 17, 0);
	r->bytes = bytes;
}

static struct data data_new(size_t count)
{
	return (struct data){.rows = mem_alloc(count * sizeof(struct row)), .count = count};
}

static void take_sample(struct data *d, const struct key_shape *shape)
{
	d->sample = sample_new(SKETCH_K, 1, shape);
	for (size_t i = 0; i < d->count; i++) {
		sample_add(d->sample, row_key(&d->rows[i]), d->rows[i].bytes);
		d->bytes += d->rows[i].bytes;
	}
}

static void data_release(struct data *d)
{
	sample_free(d->sample);
	mem_free(d->rows);
}

/* Counts rows and bytes of each region from the rows themselves. */
static uint64_t *count_regions(const struct data *d, const struct splits *s, uint64_t *nrows)
{
	uint64_t *bytes = mem_calloc(s->count + 1, sizeof *bytes);

	for (size_t i = 0; i < d->count; i++) {
		size_t r = splits_region(s, row_key(&d->rows[i]));

		bytes[r] += d->rows[i].bytes;
		if (nrows)
			nrows[r]++;
	}
	return bytes;
}

/* Checks the largest region / target by the rows, and that predictions stay within their bounds. */
static double check_plan(const struct data *d, const struct plan *p)
{
	uint64_t *nrows = mem_calloc(p->splits.count + 1, sizeof *nrows);
	uint64_t *bytes = count_regions(d, &p->splits, nrows);
	double worst = 0, target = (double)d->bytes / (double)p->wanted;

	for (size_t i = 0; i <= p->splits.count; i++) {
		double error = (double)bytes[i] - (double)p->regions[i].bytes;
		double row_error = (double)nrows[i] - p->regions[i].rows;

		assert_true(error <= p->regions[i].bytes_error + 1);
		assert_true(-error <= p->regions[i].bytes_error + 1);
		assert_true(row_error < 2 * p->regions[i].rows_error + 5);
		assert_true(-row_error < 2 * p->regions[i].rows_error + 5);
		if ((double)bytes[i] > worst)
			worst = (double)bytes[i];
	}
	mem_free(bytes);
	mem_free(nrows);
	return worst / target;
}

static void make(struct plan *p, struct data *d, const struct plan_options *o)
{
	struct error err;

	if (plan_make(p, d->sample, o, &err) != RC_OK)
		fail_msg("%s", err.msg);
}

static bool warned(const struct plan *p, const char *text)
{
	for (size_t i = 0; i < p->nwarnings; i++)
		if (strstr(p->warnings[i], text))
			return true;
	return false;
}

/* The share of entity `r` is about 1 / r, and the entity's times ascend. */
static uint64_t zipf(uint64_t *seed, uint64_t n)
{
	uint64_t below = n;

	for (int i = 0; i < 4; i++)
		below = random_next(seed) % below + 1;
	return below - 1;
}

enum kind { ZIPF, SEQUENTIAL, SALTED, UNEVEN };

static struct data make_data(enum kind kind, size_t count)
{
	struct data d = data_new(count);
	uint64_t seed = 11;

	for (size_t i = 0; i < count; i++) {
		uint64_t x = random_next(&seed), user = x % 100000;
		uint32_t bytes = (uint32_t)(50 + (x >> 32) % 200);

		switch (kind) {
		case ZIPF: set_row(&d.rows[i], 0, zipf(&seed, 100000), i, bytes); break;
		case SEQUENTIAL: set_row(&d.rows[i], 0, i, 0, 100); break;
		case SALTED:
			set_row(&d.rows[i], (uint8_t)(user * 2654435761u % 16), user, i, bytes);
			break;
		case UNEVEN: /* one percent of the keys is twenty times larger */
			set_row(&d.rows[i], 0, x, i, x < UINT64_MAX / 100 ? 20 * bytes : bytes);
			break;
		}
	}
	return d;
}

static void thousand_regions_are_even(void **state)
{
	static const enum kind kinds[] = {ZIPF, SEQUENTIAL, SALTED, UNEVEN};
	const struct plan_options o = {.rule.count = REGIONS};

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct data d = make_data(kinds[i], MANY);
		struct plan p;

		take_sample(&d, kinds[i] == SALTED ? &salted_shape : NULL);
		make(&p, &d, &o);
		assert_int_equal(p.splits.count, REGIONS - 1);
		double worst = check_plan(&d, &p);
		if (worst > 1.10)
			fail_msg("kind %zu: largest region / target is %.3f", i, worst);
		plan_release(&p);
		data_release(&d);
	}
}

static void equal_keys_make_one_region(void **state)
{
	const struct plan_options o = {.rule.count = 1000};
	struct data d = data_new(50000);
	struct plan p;

	(void)state;
	for (size_t i = 0; i < d.count; i++)
		set_row(&d.rows[i], 3, 42, 7, 100);
	take_sample(&d, &salted_shape);
	make(&p, &d, &o);
	assert_int_equal(p.splits.count, 0);
	assert_int_equal(p.regions[0].bytes, d.bytes);
	assert_int_equal(p.heavy[0].part, SHAPE_ROW);
	assert_true(bytes_eq(p.heavy[0].key, row_key(&d.rows[0])));
	assert_int_equal(p.heavy[0].bytes, d.bytes);
	assert_true(p.heavy[0].rows > 49999 && p.heavy[0].rows < 50001);
	assert_true(p.heavy[0].at_least > d.bytes - d.bytes / 1000);
	assert_int_equal(p.heavy[0].at_most, d.bytes);
	assert_int_equal(p.heavy[0].salts, 1000);
	assert_true(warned(
		&p,
		"has 100.0% of the bytes (5000000, in 50000 events), 1000.0 times a region's share"));
	assert_true(warned(&p, "no split helps"));
	assert_true(warned(&p, "the job requests 1000 regions, but the plan has 1,"));
	plan_release(&p);
	data_release(&d);
}

/* A row with a third of all bytes gets its own region. The other regions stay even. */
static void heavy_row_is_set_apart(void **state)
{
	const struct plan_options o = {.rule.count = 30};
	struct data d = make_data(SALTED, 30000);
	struct plan p;
	struct error err;

	(void)state;
	for (size_t i = 0; i < d.count; i += 3)
		set_row(&d.rows[i], 5, 4242, 99, 150);
	take_sample(&d, NULL);
	make(&p, &d, &o);
	uint64_t *bytes = count_regions(&d, &p.splits, NULL);
	size_t home = splits_region(&p.splits, row_key(&d.rows[0]));
	assert_true(p.splits.count >= 19 && p.splits.count <= 21);
	for (size_t i = 0; i <= p.splits.count; i++)
		assert_true(i == home || (double)bytes[i] < 1.10 * (double)d.bytes / 30);
	assert_true((double)bytes[home] < 1.1 * (double)d.bytes / 30 + 10000 * 150);
	assert_int_equal(p.nheavy, 1);
	assert_true(warned(&p, "row \\x05\\x00\\x00\\x00\\x00\\x00\\x00\\x10\\x92"));
	for (size_t i = 1; i < p.splits.count; i++)
		assert_true(bytes_cmp(p.splits.keys[i - 1], p.splits.keys[i]) < 0);
	mem_free(bytes);
	plan_release(&p);
	assert_int_equal(plan_make(&p, d.sample, &(struct plan_options){.rule.count = 1}, &err), 0);
	assert_int_equal(p.nheavy, 0);
	plan_release(&p);
	data_release(&d);
}

static bool is_bucket(struct bytes key)
{
	return key.len == 1;
}

static void aligned_cuts(void **state)
{
	static const size_t counts[] = {4, 16, 17, 40, 100};
	struct data d = data_new(64000);
	uint64_t bucket[16] = {0}, all = 0, seed = 1;

	(void)state;
	for (size_t i = 0; i < d.count; i++) { /* bucket b has b + 1 parts of 136, bucket 9 none */
		size_t b = 0;
		for (uint64_t x = random_next(&seed) % 136; x >= b + 1; b++)
			x -= b + 1;
		b = b == 9 ? 10 : b;
		set_row(&d.rows[i], (uint8_t)b, random_next(&seed), i, 100);
		bucket[b] += 100;
		all += 100;
	}
	take_sample(&d, &salted_shape);
	for (size_t c = 0; c < COUNT(counts); c++) {
		const struct plan_options o = {.rule.count = (uint32_t)counts[c],
					       .rule.align_salt = true};
		size_t regions = counts[c] < 16 ? 16 : counts[c], in_bucket[16] = {0};
		struct plan p;

		make(&p, &d, &o);
		assert_int_equal(p.splits.count + 1, regions);
		for (uint8_t b = 1; b < 16; b++) {
			size_t r = splits_region(&p.splits, bytes_of(&b, 1));

			assert_true(r > 0 && is_bucket(p.splits.keys[r - 1]));
			assert_int_equal(p.splits.keys[r - 1].ptr[0], b);
		}
		for (size_t i = 0; i <= p.splits.count; i++)
			in_bucket[i ? p.splits.keys[i - 1].ptr[0] : 0]++;
		for (size_t b = 0; b < 16;
		     b++) { /* one region for each bucket, the others by share */
			double share = (double)bucket[b] / (double)all * (double)counts[c];
			assert_true(in_bucket[b] >= 1);
			assert_true((double)in_bucket[b] < (share < 1 ? 1 : share) + 1.001);
			double bytes = (double)bucket[b] / (double)in_bucket[b];
			assert_true(counts[c] < 40 ||
				    bytes < 1.7 * (double)all / (double)counts[c]);
		}
		assert_int_equal(warned(&p, "each salt bucket has at least one"), counts[c] < 16);
		plan_release(&p);
	}
	data_release(&d);
}

/* If a region crosses a bucket boundary, each side has at least 2 % of a target. */
static void no_slivers_across_buckets(void **state)
{
	static const size_t counts[] = {5, 8, 15, 17, 33, 50, 111};
	struct data d = make_data(SALTED, 60000);

	(void)state;
	take_sample(&d, &salted_shape);
	for (size_t c = 0; c < COUNT(counts); c++) {
		const struct plan_options o = {.rule.count = (uint32_t)counts[c]};
		struct plan p;

		make(&p, &d, &o);
		assert_true(p.splits.count + 1 <= counts[c] && p.splits.count + 2 >= counts[c]);
		uint64_t(*in)[16] = mem_calloc(p.splits.count + 1, sizeof *in);
		for (size_t i = 0; i < d.count; i++)
			in[splits_region(&p.splits, row_key(&d.rows[i]))][d.rows[i].key[0]] +=
				d.rows[i].bytes;
		double sliver = 0.02 * (double)d.bytes / (double)counts[c];
		for (size_t i = 0; i <= p.splits.count; i++) {
			size_t first = 16, last = 0;

			for (size_t b = 0; b < 16; b++) {
				if (in[i][b] && first == 16)
					first = b;
				last = in[i][b] ? b : last;
			}
			/* with a sample, half of the bound remains for its error */
			assert_true(first == last || (double)in[i][first] > 0.8 * sliver);
			assert_true(first == last || (double)in[i][last] > 0.8 * sliver);
		}
		assert_true(check_plan(&d, &p) < 1.08);
		mem_free(in);
		plan_release(&p);
	}
	data_release(&d);
}

/* There are 400 entities with a quarter of a percent each, so that most cuts can lie between two
 * entities. */
static void cuts_between_entities_where_cheap(void **state)
{
	const struct plan_options o = {.rule.count = 8};
	struct key_shape plain = salted_shape;
	size_t inside[2] = {0, 0};

	(void)state;
	plain.salt_bytes = 0;
	for (int with = 0; with < 2; with++) {
		struct data d = data_new(40000);
		struct plan p;
		uint64_t seed = 3;

		for (size_t i = 0; i < d.count; i++)
			set_row(&d.rows[i], 0, random_next(&seed) % 400, i, 100);
		take_sample(&d, with ? &plain : NULL);
		make(&p, &d, &o);
		assert_int_equal(p.splits.count, 7);
		for (size_t i = 0; i < 7; i++) {
			inside[with] += p.splits.keys[i].len > 9;
			assert_true(p.splits.keys[i].len <= 17);
		}
		assert_true(check_plan(&d, &p) < 1.05);
		plan_release(&p);
		data_release(&d);
	}
	assert_true(inside[0] >= 5);
	assert_int_equal(inside[1], 0);
}

static void number_of_regions(void **state)
{
	static const struct {
		struct plan_options o;
		size_t regions;
	} cases[] = {
		{{.rule.count = 7}, 7},
		{{.rule.count = 7, .rule.size_bytes = 1, .rule.servers = 3}, 7},
		{{.rule.size_bytes = 100000}, 10},
		{{.rule.size_bytes = 99999}, 11},
		{{.rule.size_bytes = 100000, .rule.headroom = 0.5}, 15},
		{{.rule.size_bytes = 100000, .disk_per_byte = 0.25}, 3},
		{{.rule.size_bytes = 100000, .rule.max = 4}, 4},
		{{.rule.size_bytes = 100000, .rule.min = 20}, 20},
		{{.rule.count = 9, .rule.max = 4}, 4},
		{{.rule.servers = 3}, 30},
		{{.rule.servers = 3, .rule.per_server = 4}, 12},
		{{.rule.servers = 3, .rule.per_server = 4, .rule.max = 10}, 10},
		{{.rule.headroom = 0}, 1}, /* 1 MB is not 10 GiB */
	};
	struct data d = data_new(10000);
	(void)state;
	for (size_t i = 0; i < d.count; i++)
		set_row(&d.rows[i], 0, i, 0, 100);
	take_sample(&d, NULL);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct plan p;

		make(&p, &d, &cases[i].o);
		assert_int_equal(p.wanted, cases[i].regions);
		assert_int_equal(p.splits.count + 1, cases[i].regions);
		assert_true(check_plan(&d, &p) < 1.01);
		plan_release(&p);
	}
	data_release(&d);
}

static void warnings_at_the_limits(void **state)
{
	static const struct {
		struct plan_options o;
		const char *says; /* NULL: no message */
	} cases[] = {
		{{.rule.count = 10, .rule.servers = 1}, NULL},
		{{.rule.count = 401, .rule.servers = 2},
		 "401 regions on 2 servers are 200 for each server"},
		{{.rule.count = 10, .max_filesize = 90000},
		 "10 regions would be larger than hbase.hregion.max.filesize (90000 bytes"},
		{{.rule.count = 10, .max_filesize = 90000, .disk_per_byte = 0.5}, NULL},
		{{.rule.count = 10, .max_hfile_bytes = 3000},
		 "10 regions may get more than 32 files"},
		{{.rule.count = 10, .max_hfile_bytes = 3500}, NULL},
	};
	struct data d = data_new(10000);
	(void)state;
	for (size_t i = 0; i < d.count; i++)
		set_row(&d.rows[i], 0, i, 0, 100);
	take_sample(&d, NULL);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct plan p;

		make(&p, &d, &cases[i].o);
		if (cases[i].says)
			assert_true(warned(&p, cases[i].says));
		assert_int_equal(p.nwarnings, cases[i].says != NULL);
		plan_release(&p);
	}
	data_release(&d);
}

static void heavy_entity_and_bucket(void **state)
{
	const struct plan_options o = {.rule.count = 50};
	struct data d = make_data(SALTED, 40000);
	struct plan p;

	(void)state;
	/* a quarter of the bytes for one user, spread over its times */
	for (size_t i = 0; i < d.count; i += 4)
		set_row(&d.rows[i], 7, 42, i, 150);
	take_sample(&d, &salted_shape);
	make(&p, &d, &o);
	assert_int_equal(p.splits.count, 49);
	assert_int_equal(p.nheavy, 2);
	assert_int_equal(p.heavy[0].part, 1);
	assert_true(bytes_eq(p.heavy[0].key, bytes_of(d.rows[0].key, 9)));
	assert_true(p.heavy[0].at_least <= 10000 * 150 && p.heavy[0].at_most >= 10000 * 150);
	assert_true(p.heavy[0].rows > 9900 && p.heavy[0].rows < 10500);
	assert_int_equal(p.heavy[1].part, 0);
	assert_true(
		warned(&p, "keys that start with \\x07\\x00\\x00\\x00\\x00\\x00\\x00\\x002A") ||
		warned(&p, "keys that start with \\x07\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x2A"));
	assert_true(warned(&p, "salt bucket \\x07 has"));
	assert_true(check_plan(&d, &p) < 1.10);
	plan_release(&p);
	data_release(&d);
}

/* Compares the regions of the three algorithms with the rows, for text keys user000..user999. */
static void rivals(void **state)
{
	enum { ROWS = 20000 };
	const struct plan_options o = {.rule.count = 20};
	struct sample *s = sample_new(SKETCH_K, 1, NULL);
	char(*keys)[9] = mem_alloc(ROWS * sizeof *keys);
	struct plan p;
	struct error err;
	(void)state;
	for (int i = 0; i < ROWS; i++) {
		snprintf(keys[i], sizeof keys[i], i % 4 ? "%07x" : "Z%06x", i * 13421);
		sample_add(s, bytes_of(keys[i], 7), 10);
	}
	assert_int_equal(plan_make(&p, s, &o, &err), 0);
	assert_int_equal(p.nrivals, 3);
	for (size_t i = 0; i < p.nrivals; i++) {
		struct splits splits = {0};
		size_t counts[20] = {0}, most = 0, empty = 0;

		assert_int_equal(splits_compute(&splits, p.rivals[i].algorithm, 20, NULL, NULL,
						&err),
				 0);
		for (int k = 0; k < ROWS; k++)
			counts[splits_region(&splits, bytes_of(keys[k], 7))]++;
		for (size_t r = 0; r < 20; r++) {
			most = counts[r] > most ? counts[r] : most;
			empty += counts[r] == 0;
		}
		assert_int_equal(p.rivals[i].empty, empty);
		assert_true(p.rivals[i].largest_share == (double)most / ROWS);
		splits_release(&splits);
	}
	plan_release(&p);
	sample_free(s);
	mem_free(keys);
}

static void shape_ends_vectors(void **state)
{
	static const struct {
		struct key_shape shape;
		const char *key;
		size_t n, ends[4];
	} cases[] = {
		{{.nparts = 0}, "abc", 0, {0}},
		{{.parts = {{2, -1}, {1, -1}}, .nparts = 2}, "abcd", 2, {2, 3}},
		{{.parts = {{2, -1}, {3, -1}}, .nparts = 2}, "abcd", 1, {2}},
		{{.parts = {{0, '|'}, {0, '|'}, {0, -1}}, .nparts = 3}, "a||bc", 3, {2, 3, 5}},
		{{.parts = {{0, '|'}, {0, '|'}}, .nparts = 2}, "a|bc", 1, {2}},
		{{.parts = {{1, -1}, {0, -1}}, .nparts = 2}, "a", 2, {1, 1}},
		{{.parts = {{0, '|'}}, .nparts = 1}, "", 0, {0}},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t ends[SHAPE_MAX_PARTS];
		size_t n = shape_ends(&cases[i].shape, bytes_str(cases[i].key), ends);

		assert_int_equal(n, cases[i].n);
		for (size_t j = 0; j < n; j++)
			assert_int_equal(ends[j], cases[i].ends[j]);
	}
}

static void samples_merge_and_load(void **state)
{
	const struct plan_options o = {.rule.count = 25};
	struct data d = make_data(SALTED, 20000);
	struct sample *part[3], *back;
	struct buf file = {0};
	struct error err;
	struct plan p, q;

	(void)state;
	take_sample(&d, &salted_shape);
	for (unsigned i = 0; i < 3; i++)
		part[i] = sample_new(SKETCH_K, i, &salted_shape);
	for (size_t i = 0; i < d.count; i++)
		sample_add(part[i % 3], row_key(&d.rows[i]), d.rows[i].bytes);
	assert_int_equal(sample_merge(part[0], part[1], &err), 0);
	assert_int_equal(sample_merge(part[0], part[2], &err), 0);
	sample_save(part[0], &file);
	assert_int_equal(sample_load(&back, "f", buf_bytes(&file), &err), 0);
	sample_free(d.sample);
	d.sample = back;
	make(&p, &d, &o);
	assert_true(check_plan(&d, &p) < 1.05);
	assert_int_equal(plan_make(&q, part[0], &o, &err), 0);
	for (size_t i = 0; i < p.splits.count; i++)
		assert_true(bytes_eq(p.splits.keys[i], q.splits.keys[i]));
	for (size_t i = 0; i < file.len; i += 1 + i / 50)
		assert_int_equal(sample_load(&back, "f", bytes_of(file.ptr, i), &err), RC_DATA);
	back = sample_new(64, 1, NULL);
	assert_int_equal(sample_merge(part[0], back, &err), RC_CONFIG);
	struct plan none;
	assert_int_equal(plan_make(&none, back, &o, &err), 0);
	assert_true(none.splits.count == 0 && none.wanted == 1 && none.bytes == 0);
	assert_true(none.regions[0].bytes == 0 && none.regions[0].disk_bytes == 0);
	plan_release(&none);
	const struct plan_options given = {.given = &p.splits};
	assert_int_equal(plan_make(&none, back, &given, &err), 0);
	assert_true(none.splits.count == p.splits.count && none.wanted == p.splits.count + 1);
	assert_true(bytes_eq(none.splits.keys[0], p.splits.keys[0]));
	plan_release(&none);
	sample_free(back);
	plan_release(&p);
	plan_release(&q);
	for (unsigned i = 0; i < 3; i++)
		sample_free(part[i]);
	buf_release(&file);
	data_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thousand_regions_are_even),
		cmocka_unit_test(equal_keys_make_one_region),
		cmocka_unit_test(heavy_row_is_set_apart),
		cmocka_unit_test(aligned_cuts),
		cmocka_unit_test(no_slivers_across_buckets),
		cmocka_unit_test(cuts_between_entities_where_cheap),
		cmocka_unit_test(number_of_regions),
		cmocka_unit_test(warnings_at_the_limits),
		cmocka_unit_test(heavy_entity_and_bucket),
		cmocka_unit_test(rivals),
		cmocka_unit_test(shape_ends_vectors),
		cmocka_unit_test(samples_merge_and_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
