/* Compares the number of files that stores would have with the limit of the live table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "mem.h"
#include "pipeline/deliver/apply/applying.h"

#define KEY   "hbase.hstore.blockingStoreFiles"
#define FILES 17

struct settings {
	const char *want_table, *live_table, *live_family, *live_configuration;
};

static void set(struct arena *a, struct attributes *list, const char *value)
{
	if (value)
		attributes_add(a, list, KEY, value);
}

/* Writes the warning for a table of one region that gets `files` files of one family, or "" if
 * there is no warning. */
static void look(struct settings s, size_t files, char *out, size_t room)
{
	struct apply_options opt = {0};
	struct apply_result result = {0};
	struct arena *a = &result.arena;
	struct apply_kept kept = {0};
	struct applying run = {.opt = &opt, .kept = &kept, .result = &result};
	struct apply_table told = {.name = "t"};
	struct described want = {.name = "f"}, live = {.name = "f"};
	struct hand_file list[FILES];
	struct hbase_region region = {.start = bytes_str("")};
	struct hbase_regions r = {.item = &region, .count = 1};
	struct applied t = {.run = &run,
			    .result = &told,
			    .want = {.families = &want, .nfamilies = 1},
			    .live = {.families = &live, .nfamilies = 1},
			    .hand = {.files = list, .nfiles = files}};

	for (size_t i = 0; i < files; i++)
		list[i] = (struct hand_file){.family = "f",
					     .first = bytes_str("a"),
					     .last = bytes_str("b")};
	set(a, &t.want.table.configuration, s.want_table);
	set(a, &t.live.table.items, s.live_table);
	set(a, &live.items, s.live_family);
	set(a, &live.configuration, s.live_configuration);
	look_at_stores(&t, &r);
	assert_true(result.nwarnings <= 1);
	snprintf(out, room, "%s", result.nwarnings ? result.warnings[0] : "");
	arena_release(a);
}

static void test_blocking_files(void **state)
{
	static const struct {
		struct settings said;
		size_t files;
		const char *bound; /* NULL: no warning */
	} cases[] = {
		{{0}, 16, NULL},
		{{0}, 17, "(16 unless hbase-site sets another); "},
		{{.live_table = "100"}, 17, NULL},
		{{.live_table = "16"}, 17, "(16); "},
		{{.live_table = "4"}, 5, "(4); "},
		{{.want_table = "4", .live_table = "100"}, 5, "(4); "}, /* --alter sets it */
		{{.live_table = "4", .live_configuration = "9"}, 9, NULL},
		{{.live_table = "4", .live_configuration = "9"}, 10, "(9); "},
		{{.live_configuration = "4", .live_family = "9"}, 9, NULL},
		{{.want_table = "100", .live_family = "9"}, 10, "(9); "},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[600];

		look(cases[i].said, cases[i].files, text, sizeof text);
		if (cases[i].bound ? !strstr(text, cases[i].bound) : text[0])
			fail_msg("case %zu: `%s`", i, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocking_files)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
