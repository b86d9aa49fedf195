/*
 * Tests the decision whether a table is the table of a journal.
 * tests/hbase/test_incarnation.py shows what really happens to regions and folders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mem.h"
#include "pipeline/deliver/apply/applying.h"

#define A "0123456789abcdef0123456789abcdef"
#define B "11111111111111111111111111111111"
#define C "22222222222222222222222222222222"

static struct hbase_regions regions_of(struct hbase_region *item, size_t n,
				       const char *const *names)
{
	for (size_t i = 0; i < n; i++)
		item[i] = (struct hbase_region){.name = bytes_str(names[i])};
	return (struct hbase_regions){.item = item, .count = n};
}

static void test_encoded_name(void **state)
{
	(void)state;
	assert_true(bytes_eq(hbase_encoded_name(bytes_str("t,k.,1." A ".")), bytes_str(A)));
	assert_int_equal(hbase_encoded_name(bytes_str("t,,1." A)).len, 0);
	assert_int_equal(hbase_encoded_name(bytes_str(A ".")).len, 0);
	assert_int_equal(hbase_encoded_name(bytes_str("hbase:meta,,1")).len, 0);
	assert_int_equal(hbase_encoded_name((struct bytes){0}).len, 0);
}

static void test_same_and_other(void **state)
{
	static const char *const before[] = {"t,,1." A ".", "t,m,1." B "."};
	static const char *const half[] = {"t,,1." A ".", "t,m,2." C "."};
	static const char *const anew[] = {"t,,9." C "."};
	struct hbase_region item[2];
	struct bytes parents[] = {bytes_str(B)};
	struct incarnation i = {0};
	struct hbase_regions r = regions_of(item, 2, before);

	(void)state;
	incarnation_take(&i, &r, 16468);
	assert_true(i.known && incarnation_has(&i, &r));
	/* one of two recorded regions exists */
	r = regions_of(item, 2, half);
	assert_true(incarnation_has(&i, &r));
	/* none exists, so it is another table, unless hbase:meta records a split of a region */
	r = regions_of(item, 1, anew);
	assert_false(incarnation_has(&i, &r));
	r.parents = parents;
	r.nparents = 1;
	assert_true(incarnation_has(&i, &r));
	/* the folder */
	assert_true(incarnation_in(&i, 16468));
	assert_false(incarnation_in(&i, 16469));
	assert_false(incarnation_in(&i, 0));
	i.folder = 0;
	assert_false(incarnation_in(&i, 0));
	incarnation_release(&i);
}

/* The journal has no folder, and all regions are new. Splits may have replaced them, or another table. */
static void test_no_folder(void **state)
{
	static const char *const before[] = {"t,,1." A "."}, *const now[] = {"t,,9." C "."};
	struct hbase_region item;
	struct hbase_regions r = regions_of(&item, 1, before);
	struct apply_options opt = {.dir = "out"};
	char path[] = "out.saltmill-apply";
	struct applying run = {.opt = &opt, .journal = {.path = path}};
	struct apply_table told = {.name = "t"};
	struct applied t = {.run = &run, .result = &told};
	struct error err;

	(void)state;
	incarnation_take(&t.bound, &r, 0);
	assert_int_equal(bind_check(&t, &r, &err), RC_OK);
	r = regions_of(&item, 1, now);
	assert_int_equal(bind_check(&t, &r, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "split or merged and its folder cannot be read"));
	incarnation_release(&t.bound);
}

static void test_words(void **state)
{
	static const char *const bad[] = {"",	  " ",	       " x",	 " -1",	      " 1 ",
					  " 1 a", " 1 " A "0", " 1  " A, " 1 " A " ", "1 " A};
	static const char *const names[] = {"t,m,1." B ".", "t,,1." A "."};
	struct hbase_region item[2];
	struct hbase_regions r = regions_of(item, 2, names);
	struct incarnation i = {0};
	struct buf b = {0};

	(void)state;
	incarnation_take(&i, &r, 7);
	incarnation_words(&b, &i);
	buf_put(&b, 0);
	assert_string_equal((const char *)b.ptr, " 7 " A " " B);
	assert_true(incarnation_read(&i, (const char *)b.ptr));
	assert_true(i.folder == 7 && i.nregions == 2 && incarnation_has(&i, &r));
	for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
		if (incarnation_read(&i, bad[k]))
			fail_msg("`%s` is taken", bad[k]);
	buf_release(&b);
	incarnation_release(&i);
}

/* For a large table, apply records only some regions, spread from the first to the last region. */
static void test_many(void **state)
{
	enum { N = 3 * INCARNATION_REGIONS + 1 };
	struct hbase_region *item = mem_calloc(N, sizeof *item);
	struct hbase_regions r = {.item = item, .count = N};
	struct arena a = {0};
	struct incarnation i = {0};
	(void)state;
	for (size_t k = 0; k < N; k++) {
		char *name = mem_format("t,%zu,1.%032zx.", k, k);

		item[k].name = bytes_str(arena_strdup(&a, name));
		mem_free(name);
	}
	incarnation_take(&i, &r, 0);
	assert_int_equal(i.nregions, INCARNATION_REGIONS);
	assert_string_equal(i.regions[0], "00000000000000000000000000000000");
	r.item = item + N - 4;
	r.count = 4;
	assert_true(incarnation_has(&i, &r));
	incarnation_release(&i);
	arena_release(&a);
	mem_free(item);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encoded_name), cmocka_unit_test(test_same_and_other),
		cmocka_unit_test(test_no_folder),    cmocka_unit_test(test_words),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
