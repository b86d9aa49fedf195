/* test_deliver_hand_steps.c - tests the choice of the files of a batch, --batch */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hbase.h"
#include "pipeline/deliver/apply/hand_steps.h"

enum { FILES = 5 };

/* Files 0 and 1 are in region "", file 2 in region "g", files 3 and 4 in region "p". */
static void check(size_t batch, const enum hand_state *is, const bool *later)
{
	static const char *const first[FILES] = {"a", "b", "g", "q", "r"};
	struct hbase_region regions[] = {{.end = bytes_str("g")},
					 {.start = bytes_str("g"), .end = bytes_str("p")},
					 {.start = bytes_str("p")}};
	const struct hbase_regions r = {.item = regions, .count = 3};
	struct hand_file files[FILES] = {0};
	struct handover h = {.files = files, .nfiles = FILES, .batch = batch};

	for (size_t i = 0; i < FILES; i++) {
		files[i].first = files[i].last = bytes_str(first[i]);
		files[i].state = is[i];
		files[i].later = !later[i];
	}
	hand_batch(&h, &r);
	for (size_t i = 0; i < FILES; i++)
		assert_int_equal(files[i].later, later[i]);
}

static void test_batches(void **state)
{
	static const enum hand_state fresh[FILES] = {HAND_NEW, HAND_READY, HAND_NEW, HAND_READY,
						     HAND_NEW};
	/* apply has loaded the files of the first region, and one file of the last region */
	static const enum hand_state begun[FILES] = {HAND_DONE, HAND_DONE, HAND_NEW, HAND_DONE,
						     HAND_NEW};

	(void)state;
	check(0, fresh, (bool[]){false, false, false, false, false});
	check(1, fresh, (bool[]){false, false, true, true, true});
	check(2, fresh, (bool[]){false, false, false, true, true});
	check(3, fresh, (bool[]){false, false, false, false, false});
	check(1, begun, (bool[]){false, false, false, false, true});
	check(2, begun, (bool[]){false, false, false, false, false});
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_batches)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
