/*
 * test_publish_manifest.c - compares manifest.json with explicit text and with jansson, and reads
 * it back
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"
#include "publish.h"
#include "tests/unit/a_folder.h"
#include "tests/unit/this_machine.h"

static struct manifest sample(void)
{
	static struct manifest_input inputs[] = {
		{"ratings.csv",
		 2438266,
		 100004,
		 {0xab, 0xcd},
		 {true, 21, 2438287, 100005, true, false, 2438300}}};
	static struct reject_reason reasons[] = {{"bad_number", 3}, {"bad_time", 1}};
	static struct manifest_family families[] = {{"f"}, {"g"}};
	static struct manifest_part parts[2];
	static struct manifest_region regions[2];
	static struct manifest_file files[1];
	static struct manifest_table tables[2];
	static struct manifest_tuning tuned[] = {{"f", "size", 7, 10, 6, NULL, 0, 200, 50, 0}};

	regions[0] = (struct manifest_region){.end = bytes_of("\x08", 1),
					      .rows = 7,
					      .cells = 14,
					      .bytes = 5000,
					      .cell_bytes = 700,
					      .predicted_bytes = 4900};
	regions[1] = (struct manifest_region){.start = bytes_of("\x08", 1)};
	files[0] = (struct manifest_file){.path = "n-r/hfiles/f/00ff",
					  .family = "f",
					  .region = 1,
					  .rows = 7,
					  .cells = 14,
					  .bytes = 5000,
					  .cell_bytes = 700,
					  .first_row = bytes_of("\x00z", 2),
					  .last_row = bytes_of("\x07\xff", 2),
					  .min_ts = -5,
					  .max_ts = INT64_MAX - 1,
					  .digest = {0x01, [15] = 0xfe}};
	parts[0] = (struct manifest_part){.name = "kind", .terminator = bytes_of("z", 1)};
	parts[1] = (struct manifest_part){.name = "at", .bytes = 8};
	tables[0] = (struct manifest_table){.name = "n:r",
					    .dir = "n-r",
					    .families = families,
					    .nfamilies = 2,
					    .parts = parts,
					    .nparts = 2,
					    .loaded = 99998,
					    .filtered = 1,
					    .deduplicated = 2,
					    .rows = 7,
					    .cells = 14,
					    .cells_deduplicated = 4,
					    .predicted_bytes = 4900,
					    .target_bytes = 2500,
					    .largest_over_target = 1.0123456789,
					    .tuned = tuned,
					    .ntuned = 1,
					    .regions = regions,
					    .nregions = 2,
					    .files = files,
					    .nfiles = 1,
					    .splits_digest = {0x11},
					    .create_digest = {0x22}};
	tables[1] = (struct manifest_table){.name = "ns:empty"};
	return (struct manifest){.job_path = "conf/\"x\".yaml",
				 .job_digest = {0x77},
				 .inputs = inputs,
				 .ninputs = 1,
				 .read = 100005,
				 .rejected = 4,
				 .created_ms = 1476640644000,
				 .reasons = reasons,
				 .nreasons = 2,
				 .tables = tables,
				 .ntables = 2};
}

static void test_manifest_format(void **state)
{
	(void)state;
	static const char *const fragments[] = {
		"{\n  \"job\": \"conf/\\\"x\\\".yaml\",\n  \"job_digest\": "
		"\"77000000000000000000000000000000\",\n"
		"  \"created_ms\": 1476640644000,\n  \"inputs\": [\n    {\n      \"path\": "
		"\"ratings.csv\",\n"
		"      \"bytes\": 2438266,\n      \"rows\": 100004,\n"
		"      \"digest\": \"abcd0000000000000000000000000000\",\n"
		"      \"slice\": {\n        \"first\": 21,\n        \"end\": 2438287,\n"
		"        \"lines\": 100005,\n        \"begins\": true,\n"
		"        \"ends\": false,\n        \"size\": 2438300\n      }\n    }\n  "
		"],\n",
		"\n  \"read\": 100005,\n  \"rejected\": 4,\n  \"reasons\": [",
		"          \"start\": \"\",\n          \"end\": \"\\\\x08\",\n          \"rows\": "
		"7,\n",
		"          \"first_row\": \"\\\\x00z\",\n          \"last_row\": "
		"\"\\\\x07\\\\xFF\",\n"
		"          \"min_ts\": -5,\n          \"max_ts\": 9223372036854775806,\n"
		"          \"digest\": \"010000000000000000000000000000fe\"\n",
		"      \"tuned\": [\n        {\n          \"family\": \"f\",\n"
		"          \"aim\": \"size\",\n          \"level\": 7,\n          \"hash_log\": "
		"10,\n"
		"          \"min_match\": 6,\n"
		"          \"plain_bytes\": 200,\n          \"stored_bytes\": 50\n        }\n      "
		"],\n",
		"          \"cell_bytes\": 700,\n          \"predicted_bytes\": 4900\n",
		"      \"predicted_bytes\": 4900,\n      \"target_bytes\": 2500,\n      "
		"\"largest_over_target\": 1.01235,\n",
		"      \"name\": \"ns:empty\",\n      \"dir\": \"ns/empty\",\n",
		"      \"regions\": [],\n      \"files\": []\n    }\n  ]\n}\n",
	};
	struct manifest m = sample();
	struct buf text = {0};
	manifest_format(&m, &text);
	buf_put(&text, 0);
	for (size_t i = 0; i < sizeof fragments / sizeof *fragments; i++)
		assert_non_null(strstr((char *)text.ptr, fragments[i]));
	json_t *json = json_loads((char *)text.ptr, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(json);
	json_t *table = json_array_get(json_object_get(json, "tables"), 0);
	assert_int_equal(json_integer_value(json_object_get(table, "loaded")), 99998);
	assert_int_equal(json_integer_value(json_object_get(table, "cells_deduplicated")), 4);
	assert_int_equal(json_array_size(json_object_get(table, "regions")), 2);
	json_decref(json);
	buf_release(&text);
}

static void test_manifest_round_trip(void **state)
{
	const char *root = *state;
	struct error err = {0};
	struct arena a = {0};
	struct manifest m = sample(), back;
	struct offset_range offsets[] = {{.partition = 3,
					  .start = 1,
					  .end = 9,
					  .events = 7,
					  .last = {true, 8, -1, {0x33, [15] = 0x44}}},
					 {.partition = 4}};

	m.topic = m.cluster = "t";
	m.load = "00000002";
	m.previous = (struct manifest_link){true, "00000001", {0x55, [15] = 0x66}};
	m.offsets = offsets;
	m.noffsets = 2;
	m.digests = (struct manifest_digests){.known = true, .rejects = {0x5a}};
	char *path = mem_format("%s/manifest.json", root);
	assert_int_equal(manifest_write(&m, here, path, &err), RC_OK);
	assert_int_equal(manifest_read(&back, path, &a, &err), RC_OK);
	assert_string_equal(back.job_path, m.job_path);
	assert_int_equal(back.ninputs, 1);
	assert_true(back.inputs->slice.given && back.inputs->slice.first == 21);
	assert_int_equal(back.inputs->slice.size, 2438300);
	assert_int_equal(back.nreasons, 2);
	assert_int_equal(back.noffsets, 2);
	assert_true(back.offsets[0].end == 9 && back.offsets[0].last.offset == 8);
	assert_memory_equal(back.offsets[0].last.digest, offsets[0].last.digest, 16);
	assert_false(back.offsets[1].last.known);
	assert_string_equal(back.previous.load, "00000001");
	assert_memory_equal(back.previous.digest, m.previous.digest, 16);
	assert_int_equal(back.reasons[0].count, 3);
	assert_int_equal(back.ntables, 2);
	assert_int_equal(back.tables[0].nfamilies, 2);
	assert_string_equal(back.tables[0].families[1].name, "g");
	assert_int_equal(back.tables[1].nfamilies, 0);
	assert_true(back.digests.known && back.digests.rejects[0] == 0x5a);
	assert_string_equal(back.tables[0].dir, "n-r");
	assert_string_equal(back.tables[1].dir, "ns/empty");
	assert_int_equal(back.tables[0].target_bytes, 2500);
	assert_true(back.tables[0].largest_over_target > 1.0123 &&
		    back.tables[0].largest_over_target < 1.0124);
	assert_int_equal(back.tables[0].splits_digest[0], 0x11);
	assert_int_equal(back.tables[0].create_digest[0], 0x22);
	const struct manifest_file *x = m.tables[0].files, *y = back.tables[0].files;
	assert_true(bytes_eq(x->first_row, y->first_row) && bytes_eq(x->last_row, y->last_row));
	assert_memory_equal(x->digest, y->digest, 16);
	assert_true(x->region == y->region);
	assert_true(x->min_ts == y->min_ts && x->max_ts == y->max_ts);
	assert_true(bytes_eq(m.tables[0].regions[1].start, back.tables[0].regions[1].start));
	/* all other members have the same text again */
	struct buf one = {0}, two = {0};
	manifest_format(&m, &one);
	manifest_format(&back, &two);
	assert_true(bytes_eq(buf_bytes(&one), buf_bytes(&two)));
	buf_release(&one);
	buf_release(&two);
	arena_release(&a);
	mem_free(path);
}

static void test_manifest_damaged(void **state)
{
	const char *root = *state;

	static const struct {
		const char *find, *replace, *message;
	} cases[] = {
		{"{", "", "manifest.json:2:"},
		{"\"read\": 100005", "\"read\": \"100005\"", "read is something else"},
		{"\"read\": 100005", "\"read\": -1", "read is something else"},
		{"\"reasons\"", "\"seasons\"", "reasons is missing"},
		{"0000fe\"", "000fe\"", "tables[0].files[0].digest"},
		{"abcd0000", "ABCD0000", "inputs[0].digest"},
		{"\"largest_over_target\": 1", "\"largest_over_target\": -1",
		 "largest_over_target"},
		{"\"files\": []", "\"files\": {}", "tables[1].files"},
		{"\"rejected\"", "\"read\"", "duplicate"},
		{"\"terminator\": \"z\"", "\"terminator\": \"zzz\"",
		 "tables[0].rowkey[0].terminator: found 3 bytes"},
	};
	struct manifest m = sample();
	struct buf good = {0};
	manifest_format(&m, &good);
	buf_put(&good, 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *at = strstr((char *)good.ptr, cases[i].find);

		assert_non_null(at);
		char *bad = mem_format("%.*s%s%s", (int)(at - (char *)good.ptr), (char *)good.ptr,
				       cases[i].replace, at + strlen(cases[i].find));
		char *path = mem_format("%s/%zu.manifest.json", root, i);
		struct error err = {0};
		struct arena a = {0};
		struct manifest back;
		assert_int_equal(io_write_file(path, bytes_str(bad), &err), RC_OK);
		assert_int_equal(manifest_read(&back, path, &a, &err), RC_DATA);
		if (!strstr(err.msg, cases[i].message))
			fail_msg("\"%s\" lacks \"%s\"", err.msg, cases[i].message);
		arena_release(&a);
		mem_free(path);
		mem_free(bad);
	}
	buf_release(&good);
	struct error err;
	struct arena a = {0};
	struct manifest back;
	assert_int_equal(manifest_read(&back, root, &a, &err), RC_IO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manifest_format),
		cmocka_unit_test_setup_teardown(test_manifest_round_trip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_manifest_damaged, setup, teardown),
	};

	return cmocka_run_group_tests_name("manifest", tests, open_here, close_here);
}
