/* Tests the layout of Kafka's protocol guide for the Metadata response, version 10. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "pipeline/input/kafka/topic_ids.h"

#define ID_1 "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"
#define ID_2 "\xff\xef\xdf\xcf\xbf\xaf\x9f\x8f\x7f\x6f\x5f\x4f\x3f\x2f\x1f\x0f"
#define NONE "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define OPS  "\x80\0\0\0"
/* error, number, leader, epoch; replicas 1 and 2, in sync 1, offline none; no tags */
#define PARTITION                                                                                  \
	"\0\0\0\0\0\0\0\0\0\1\0\0\0\7\3\0\0\0\1\0\0\0\2\2\0\0\0\1\1"                               \
	"\0"

static const char answer[] = "\0"		      /* tags of the header */
			     "\0\0\0\0"		      /* throttle time */
			     "\2\0\0\0\1\5host"	      /* a broker: number, host */
			     "\0\0\x23\x84\0\1\5\2ab" /* port, no rack, a tag of 2 bytes */
			     "\3me\0\0\0\1"	      /* cluster, controller */
			     "\5"		      /* four topics */
			     "\0\0\5gone" ID_2 "\0\1" OPS "\0"
			     "\0\0\7clicks" ID_1 "\0\3" PARTITION PARTITION OPS "\0"
			     "\0\3\5lost" NONE "\0\1" OPS "\0"
			     "\0\0\4old" NONE "\0\2" PARTITION OPS "\0" OPS "\0";

static void test_read(void **state)
{
	struct topic_id t[4] = {{.name = "clicks"},
				{.name = "lost"},
				{.name = "old"},
				{.name = "gone"}};

	(void)state;
	assert_true(topic_ids_read(bytes_of(answer, sizeof answer - 1), t, 4));
	assert_string_equal(t[0].id, "AAECAwQFBgcICQoLDA0ODw");
	assert_string_equal(t[1].id, ""); /* the broker does not know the topic */
	assert_string_equal(t[2].id, ""); /* has no id */
	assert_string_equal(t[3].id, "_-_fz7-vn49_b19PPy8fDw");
}

/* The parser reports each shorter answer as damaged, and reads no byte past its end (make asan). */
static void test_cut(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof answer - 6; n++) {
		struct topic_id t = {.name = "clicks"};
		uint8_t *copy = malloc(n ? n : 1);

		memcpy(copy, answer, n);
		assert_false(topic_ids_read(bytes_of(copy, n), &t, 1));
		free(copy);
	}
}

/* A count of billions stops at the end of the answer. */
static void test_huge_count(void **state)
{
	static const char huge[] = "\0\0\0\0\0\xff\xff\xff\xff\x0f";
	struct topic_id t = {.name = "clicks"};

	(void)state;
	assert_false(topic_ids_read(bytes_of(huge, sizeof huge - 1), &t, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_huge_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
