/* test_model_key_bind.c - tests conditions on the parts of a row key */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "key.h"

/* The first part of the key is "ab", and the second part is the condition's. */
static bool holds(struct key_range *range, size_t n, const char *part)
{
	char key[16] = "ab";
	size_t len = strlen(part);
	const struct key_condition c = {.first = 1, .last = 1, .range = range, .n = n};

	memcpy(key + 2, part, len);
	const struct key_piece pieces[] = {{.end = 2}, {.end = 2 + len}};
	return key_condition_holds(&c, pieces, bytes_of(key, sizeof key));
}

/* A range contains its start, and not its stop. Without a stop, it has no end. */
static void test_ranges(void **state)
{
	struct key_range all[] = {{bytes_str("d"), bytes_str("f")},
				  {bytes_str("k"), bytes_str("m")},
				  {{0}, {0}}};
	struct key_range open = {bytes_str("d"), {0}};
	static const struct {
		const char *part;
		bool first, both, open;
	} cases[] = {
		{"", false, false, false}, {"c", false, false, false}, {"d", true, true, true},
		{"dz", true, true, true},  {"e", true, true, true},    {"f", false, false, true},
		{"k", false, true, true},  {"lz", false, true, true},  {"m", false, false, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		/* a range after the last would hold for all rows */
		assert_false(holds(all + 2, 0, cases[i].part));
		assert_int_equal(holds(all, 1, cases[i].part), cases[i].first);
		assert_int_equal(holds(all, 2, cases[i].part), cases[i].both);
		assert_int_equal(holds(&open, 1, cases[i].part), cases[i].open);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranges)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
