/*
 * Tests heavy keys with their key parts, as a page shows them. We computed the expected names by
 * hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pipeline/cli/html/heavy.h"

static struct manifest_part parts[] = {{.name = "salt", .bytes = 1, .buckets = 4},
				       {.name = "kind", .terminator = {(const uint8_t *)"|", 1}},
				       {.name = "id", .bytes = 2},
				       {.name = "word"}};
static struct manifest_table table = {.name = "t", .parts = parts, .nparts = 4};

static void named(size_t part, const char *key, size_t n, const char *name)
{
	const struct heavy_key k = {.part = part, .key = bytes_of(key, n)};
	struct buf out = {0};

	heavy_key_name(&out, &k, &table);
	buf_put(&out, 0);
	assert_string_equal((const char *)out.ptr, name);
	buf_release(&out);
}

static void test_names(void **state)
{
	(void)state;
	named(0, "\x02", 1, "salt \\x02");
	named(1,
	      "\x02"
	      "ab|",
	      4, "kind ab");
	named(1, "\x02|", 2, "kind ");
	named(2,
	      "\x02"
	      "ab|xy",
	      6, "kind ab, id xy");
	named(HEAVY_ROW,
	      "\x02"
	      "ab|xyz",
	      7, "kind ab, id xy, word z");
	/* a block's key may be shorter than any row, and the name shows the whole key */
	named(HEAVY_ROW,
	      "\x02"
	      "ab",
	      3, "kind ab");
	named(HEAVY_ROW,
	      "\x02"
	      "ab|x",
	      5, "kind ab, id x");
}

static void test_long_names(void **state)
{
	char key[102] = "\x02", name[80] = "kind ";

	(void)state;
	memset(key + 1, 'a', 100);
	memset(name + 5, 'a', 64);
	memcpy(name + 69, "...", 4);
	named(HEAVY_ROW, key, 66, name); /* 65 bytes of the part */
	name[69] = 0;
	named(HEAVY_ROW, key, 65, name);
	key[65] = '|';
	named(1, key, 66, name);
	memcpy(name + 69, ", ...", 6);
	named(2, key, 68, name);
}

static struct extent place(const char *row, uint64_t bytes)
{
	return (struct extent){.row = bytes_of(row, 6), .last = bytes_of(row, 6), .bytes = bytes};
}

/* Returns the number of heavy places when one of four buckets has 60 % of the bytes. Sets *bucket
 * to true if the last place is a bucket. */
static size_t found(uint64_t target, bool *bucket)
{
	struct extent places[] = {place("\0a|01x", 400), place("\0b|01x", 200),
				  place("\1a|01x", 400)};
	const struct extents at = {.item = places, .n = 3, .bytes = 1000};
	struct manifest_table t = table;
	struct heavy_keys h;
	struct arena a = {0};

	t.target_bytes = target;
	heavy_keys_find(&h, &at, &t, &a);
	*bucket = h.n && heavy_key_is_bucket(&h.item[h.n - 1], &t);
	size_t n = h.n;
	arena_release(&a);
	return n;
}

/* A bucket is heavy because of its share, at any target size. If the target size is unknown, no
 * place is heavy. */
static void test_buckets(void **state)
{
	bool bucket;

	(void)state;
	assert_int_equal(found(1000, &bucket), 1);
	assert_true(bucket);
	assert_int_equal(found(500, &bucket), 1);
	assert_true(bucket);
	assert_int_equal(found(300, &bucket), 3); /* two rows beside it */
	assert_true(bucket);
	assert_int_equal(found(0, &bucket), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_buckets),
	};

	return cmocka_run_group_tests_name("heavy", tests, NULL, NULL);
}
