/* Tests sizes, times and misspelled names, as users type them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "bytes.h"

static void test_sizes(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t bytes;
	} cases[] = {
		{"0", true, 0},
		{"4096", true, 4096},
		{"64K", true, 65536},
		{"64k", true, 65536},
		{"256M", true, 268435456},
		{"10G", true, UINT64_C(10737418240)},
		{"2T", true, UINT64_C(2199023255552)},
		{"1KB", true, 1024},
		{"1MiB", true, 1048576},
		{"18446744073709551615", true, UINT64_MAX},
		{"18446744073709551616", false, 0},
		{"16777216T", false, 0},
		{"", false, 0},
		{"K", false, 0},
		{"-1", false, 0},
		{"1.5G", false, 0},
		{"10 G", false, 0},
		{"10GG", false, 0},
		{" 1", false, 0},
		{"0x10", false, 0},
		{"10B", false, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint64_t v = 0;

		if (parse_size(cases[i].text, &v) != cases[i].good ||
		    (cases[i].good && v != cases[i].bytes))
			fail_msg("`%s`: %llu", cases[i].text, (unsigned long long)v);
	}
}

static void test_durations(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t seconds;
	} cases[] = {
		{"90s", true, 90},
		{"15m", true, 900},
		{"24h", true, 86400},
		{"30d", true, 2592000},
		{"2w", true, 1209600},
		{"3600", true, 3600},
		{"forever", true, DURATION_FOREVER},
		{"FOREVER", true, DURATION_FOREVER},
		{"", false, 0},
		{"d", false, 0},
		{"1y", false, 0},
		{"1.5h", false, 0},
		{"-3s", false, 0},
		{"5 m", false, 0},
		{"5ms", false, 0},
		{"99999999999999999999", false, 0},
		{"18446744073709551615w", false, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint64_t v = 0;

		if (parse_duration_s(cases[i].text, &v) != cases[i].good ||
		    (cases[i].good && v != cases[i].seconds))
			fail_msg("`%s`: %llu", cases[i].text, (unsigned long long)v);
	}
}

static void test_near_misses(void **state)
{
	static const char *const known[] = {"compression", "bloomfilter", "ttl", "versions", "u64"};

	static const struct {
		const char *name, *near;
	} cases[] = {
		{"compresion", "compression"},
		{"Compression", "compression"},
		{"comrpession", "compression"},
		{"bloom_filter", "bloomfilter"},
		{"bloomfliter", "bloomfilter"},
		{"tll", "ttl"},
		{"u46", "u64"},
		{"u6", "u64"},
		{"version", "versions"},
		{"", NULL},
		{"x", NULL},
		{"tab", NULL},
		{"blocksize", NULL},
		{"compressible_text", NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *near = near_miss(cases[i].name, known, 5);

		if (!!near != !!cases[i].near || (near && strcmp(near, cases[i].near) != 0))
			fail_msg("`%s`: %s", cases[i].name, near ? near : "none");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_near_misses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
