/*
 * Tests the job file, with each fault at its place, the examples of conf/ as expected structs, and
 * zones with known transitions.
 *
 * A case of job_faults.h edits the valid job. In its replacement '^' marks the place of the fault.
 * The test removes '^' before it writes the job, and computes its line and column.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "job.h"
#include "job_faults.h"
#include "pipeline/model/job/sections.h"

static char folder[] = "/tmp/saltmill-job-XXXXXX";
static char job_file[64];

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(job_file, sizeof job_file, "%s/job.yaml", folder);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(job_file);
	return rmdir(folder);
}

static int load(struct job *job, const char *text, size_t len, struct error *err)
{
	FILE *f = fopen(job_file, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
	*err = (struct error){0};
	return job_load(job, job_file, err);
}

static int load_text(struct job *job, const char *text, struct error *err)
{
	return load(job, text, strlen(text), err);
}

/* Writes the valid job with one edit to `out`. */
static void edit(char *out, size_t size, const char *find, const char *replace)
{
	const char *at = strstr(good, find);

	assert_non_null(at);
	int n = snprintf(out, size, "%.*s%s%s", (int)(at - good), good, replace, at + strlen(find));
	assert_true(n > 0 && (size_t)n < size);
}

static void test_auto_level(void **state)
{
	static const struct {
		const char *family;
		enum codec_aim aim;
		bool encoding_free, block_free;
	} cases[] = {{"{compression: {codec: ZSTD, level: auto}}", AIM_BALANCE, false, false},
		     {"{compression: {aim: speed, level: auto, codec: ZSTD}}", AIM_SPEED, false,
		      false},
		     {"{compression: {codec: ZSTD, level: auto, aim: size}}", AIM_SIZE, false,
		      false},
		     {"{compression: {codec: ZSTD}}", AIM_NONE, false, false},
		     {"{compression: auto}", AIM_BALANCE, true, true},
		     {"{compression: {codec: auto, aim: speed}}", AIM_SPEED, true, true},
		     {"{compression: {codec: auto, aim: balance}}", AIM_BALANCE, true, true},
		     {"{compression: {codec: auto, aim: read}}", AIM_READ, true, true},
		     {"{compression: auto, blocksize: 64K}", AIM_BALANCE, true, false},
		     {"{data_block_encoding: NONE, compression: {codec: auto, aim: size}}",
		      AIM_SIZE, false, true}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char text[4096];
		struct job job;
		struct error err;

		edit(text, sizeof text, "{versions: 2}", cases[i].family);
		assert_int_equal(load_text(&job, text, &err), RC_OK);
		const struct family *f = &job.tables[0].schema.families[0];
		assert_int_equal(f->aim, cases[i].aim);
		assert_int_equal(f->encoding_free, cases[i].encoding_free);
		assert_int_equal(f->block_free, cases[i].block_free);
		assert_int_equal(f->level, LEVEL_DEFAULT);
		job_release(&job);
	}
}

static bool check_fault(const struct fault_case *c)
{
	char text[4096], want[128] = "";
	struct job job;
	struct error err;
	unsigned line = 1, column = 1;

	edit(text, sizeof text, c->find, c->replace);
	char *mark = strchr(text, '^');
	if (mark) {
		for (const char *p = text; p < mark; p++) {
			column = *p == '\n' ? 1 : column + 1;
			line += *p == '\n';
		}
		memmove(mark, mark + 1, strlen(mark));
		snprintf(want, sizeof want, "%s:%u:%u: ", job_file, line, column);
	}
	int rc = load_text(&job, text, &err);
	bool place = strncmp(err.msg, want, strlen(want)) == 0;
	bool good_fault = rc == RC_CONFIG && place && strstr(err.msg, c->message);
	if (!good_fault)
		print_error("`%s`: rc %d\n got: %s\nwant: %s%s\n", c->replace, rc, err.msg, want,
			    c->message);
	job_release(&job);
	return good_fault;
}

static void test_faults(void **state)
{
	size_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
		wrong += !check_fault(&faults[i]);
	assert_int_equal(wrong, 0);
}

/* Whole job texts, with the place of each fault given. */
static void test_places(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", ":1:1: found an empty file"},
		{"# nothing\n", ":1:1: found an empty file"},
		{"[]", ":1:1: found no job, expected a YAML file with the keys source, fields"},
		{"word", ":1:1: found no job, expected a YAML file with the keys source, fields"},
		{"{\"a\": 1, \"b\": 2}", "to make a job for a data file, run `saltmill init "},
		{"source: {csv: {}}\n", ":1:1: the job lacks the key `tables`"},
		{"source: {csv: {}}\ntables: []\n", ":2:9: tables: found an empty list"},
		{"source: {}\ntables: []\n", ":1:9: source lacks the key `csv`"},
		{"a: {b: [1, 2}\n", ":1:13: not YAML"},
		{"source: {csv: {null: &n [NA], \xe4\xb8\xad: 1}}\n", ":1:31: unknown key"},
		{"a: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]", "found more than 32 levels"},
	};
	struct job job;
	struct error err;
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(load_text(&job, cases[i].text, &err), RC_CONFIG);
		if (!strstr(err.msg, cases[i].message))
			fail_msg("`%s`: %s", cases[i].text, err.msg);
		job_release(&job);
	}
	assert_int_equal(job_load(&job, "/nowhere/job.yaml", &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "/nowhere/job.yaml"));
	job_release(&job);
}

static void test_columns_checked(void **state)
{
	char text[4096];
	struct job job;
	struct error err;

	(void)state;
	edit(text, sizeof text, FILES, "columns: [user, big, neg, real, time, nama]");
	assert_int_equal(load_text(&job, text, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, ":15:17: unknown column `name`; did you mean `nama`?"));
	job_release(&job);
	edit(text, sizeof text, FILES, "columns: [user, big, neg, real, time, name]");
	assert_int_equal(load_text(&job, text, &err), 0);
	assert_false(job.csv.header);
	assert_int_equal(job.csv.ncolumns, 6);
	job_release(&job);
}

static void test_defaults(void **state)
{
	struct job job;
	struct error err;
	char want[96];

	(void)state;
	if (load_text(&job, good, &err))
		fail_msg("%s", err.msg);
	snprintf(want, sizeof want, "%s/a.csv", folder);
	assert_string_equal(job.csv.files[0], want);
	assert_string_equal(job.csv.files[1], "/b.csv");
	assert_string_equal(job.csv.files[2], "-");
	assert_string_equal(job_path(&job, "hdfs://ns/in.csv"), "hdfs://ns/in.csv");
	assert_string_equal(job_path(&job, "webhdfs://h:1/in.csv"), "webhdfs://h:1/in.csv");
	snprintf(want, sizeof want, "%s/Q://x", folder); /* no scheme has capitals here */
	assert_string_equal(job_path(&job, "Q://x"), want);
	assert_true(job.csv.header);
	assert_int_equal(job.csv.delimiter, ',');
	assert_int_equal(job.csv.quote, '"');
	assert_int_equal(job.csv.nnulls, 1);
	assert_string_equal(job.csv.nulls[0], "");
	assert_int_equal(job.csv.max_row_bytes, 16777216);
	assert_int_equal(job.nfields, 6);
	assert_string_equal(job.fields[5].name, "name");
	assert_int_equal(job.fields[5].type, FIELD_TEXT);
	assert_string_equal(job.fields[5].columns[0], "name");
	assert_null(job.fields[5].glue); /* a blank */
	const struct job_table *t = &job.tables[0];
	assert_int_equal(t->nrowkey, 3);
	assert_int_equal(t->rowkey[0].buckets, 16);
	assert_int_equal(t->rowkey[0].width, 1);
	assert_int_equal(t->rowkey[0].of[0], 0);
	assert_int_equal(t->rowkey[1].as, AS_U32);
	assert_int_equal(t->rowkey[2].as, AS_TEXT);
	assert_int_equal(t->rowkey[2].terminator, NO_TERMINATOR);
	assert_int_equal(t->timestamp_field, 4);
	const struct family *f = &t->schema.families[0];
	assert_int_equal(f->versions, 2);
	assert_int_equal(f->bloom, BLOOM_ROW);
	assert_int_equal(f->codec, CODEC_NONE);
	assert_int_equal(f->ttl_s, TTL_FOREVER);
	assert_int_equal(f->block_bytes, 65536);
	assert_int_equal(f->level, LEVEL_DEFAULT);
	assert_int_equal(f->pos.line, 18);
	assert_int_equal(f->pos.column, 7);
	assert_int_equal(t->duplicates, DUPLICATES_LAST);
	assert_int_equal(t->max_hfile_bytes, 0);
	assert_int_equal(t->regions.rule.count, 4);
	assert_int_equal(t->regions.rule.size_bytes, 0);
	job_release(&job);
}

static void test_digest(void **state)
{
	static const uint8_t want[16] = {0x99, 0xaa, 0x06, 0xd3, 0x01, 0x47, 0x98, 0xd8,
					 0x60, 0x01, 0xc3, 0x24, 0x46, 0x8d, 0x49, 0x7f};
	struct job job;
	struct error err;

	(void)state;
	load_text(&job, "", &err); /* XXH3-128 of empty input, as xxHash publishes it */
	assert_memory_equal(job.digest, want, 16);
	job_release(&job);
}

/* A job with all keys that the valid job lacks. */
static void test_everything(void **state)
{
	static const char text[] =
		"source: {csv: {files: x.csv, delimiter: '\\t', quote: \"'\", null: [NA, ''], "
		"max_row: 1K}}\n"
		"fields:\n"
		"  u: u64\n"
		"  h: {type: hex, null: '-'}\n"
		"  b: {type: bytes}\n"
		"  t: {type: time, from: [d, c], join: T, format: '%Q', zone: '+05:30'}\n"
		"tables:\n"
		"  - name: ns:x\n"
		"    rowkey:\n"
		"      - {salt: 300, of: u, hash: opentsdb}\n"
		"      - {hash: md5, of: [u, name], bytes: 3}\n"
		"      - {const: 'a\\x00\\xfF'}\n"
		"      - {hex: 00fF}\n"
		"      - {field: name, terminator: \"\\x00\"}\n"
		"      - {field: u, width: 12}\n"
		"      - {field: name, width: 5, pad: _, side: left}\n"
		"      - {field: h, width: 4}\n"
		"      - {field: b}\n"
		"    timestamp: 1500000000000\n"
		"    duplicates: error\n"
		"    max_hfile: 5G\n"
		"    attributes: {max_filesize: 10G, readonly: false, priority: -7, coprocessor: "
		"['|a.B||']}\n"
		"    configuration: {a.b: 20}\n"
		"    metadata: {made_by: me}\n"
		"    families:\n"
		"      f: {bloomfilter: ROWPREFIX_FIXED_LENGTH, bloom_prefix: 8, ttl: 36h, "
		"blocksize: 32K,\n"
		"          compression: {codec: ZSTD, level: 9, framing: hadoop}, in_memory: "
		"true,\n"
		"          data_block_encoding: ROW_INDEX_V1, min_versions: 1, keep_deleted_cells: "
		"'TTL',\n"
		"          mob_threshold: 100K, configuration: {k: v}}\n"
		"    cells:\n"
		"      - {family: f, value: {const: ''}}\n"
		"      - {family: f, qualifier: [{const: a}, {hex: '62'}], value: {hex: ff}}\n"
		"      - {family: f, qualifier: [{const: c}, {field: name}], value: {field: u, as: "
		"i64}}\n"
		"      - {family: f, qualifier: {field: t}, value: u, optional: true}\n"
		"    regions: {split: hex, servers: 3, per_server: 10, headroom: 0.5, tolerance: "
		"1.1, first: '00',"
		" last: 7f}\n";
	struct job job;
	struct error err;

	(void)state;
	assert_int_equal(load_text(&job, text, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, ":6:50: format: found `%Q`"));
	job_release(&job);
	char *fixed = strdup(text);
	memcpy(strstr(fixed, "%Q"), "%Y", 2);
	if (load_text(&job, fixed, &err))
		fail_msg("%s", err.msg);
	free(fixed);
	assert_int_equal(job.csv.delimiter, '\t');
	assert_int_equal(job.csv.quote, '\'');
	assert_int_equal(job.csv.nnulls, 2);
	assert_int_equal(job.fields[0].type, FIELD_U64);
	assert_string_equal(job.fields[1].nulls[0], "-");
	assert_int_equal(job.fields[3].ncolumns, 2);
	assert_string_equal(job.fields[3].glue[1], "T");
	assert_int_equal(job.fields[3].zone->spans[0].offset_s, 19800);
	const struct job_table *t = &job.tables[0];
	const struct key_part *k = t->rowkey;
	assert_int_equal(k[0].width, 2);
	assert_int_equal(k[0].hash, HASH_OPENTSDB);
	assert_int_equal(k[1].kind, PART_HASH);
	assert_int_equal(k[1].hash, HASH_MD5);
	assert_int_equal(k[1].width, 3);
	assert_int_equal(k[1].nof, 2);
	assert_true(bytes_eq(k[2].constant, bytes_of("a\0\xff", 3)));
	assert_true(bytes_eq(k[3].constant, bytes_of("\0\xff", 2)));
	assert_int_equal(k[4].terminator, 0);
	assert_int_equal(k[5].as, AS_TEXT);
	assert_int_equal(k[5].pad, '0');
	assert_true(k[5].pad_left);
	assert_int_equal(k[6].pad, '_');
	assert_true(k[6].pad_left);
	assert_int_equal(k[7].as, AS_BYTES);
	assert_int_equal(k[7].pad, 0);
	assert_true(k[7].exact && !k[5].exact && !k[6].exact);
	assert_int_equal(k[8].as, AS_BYTES);
	assert_true(t->timestamp_constant);
	assert_true(t->timestamp_ms == INT64_C(1500000000000));
	assert_int_equal(t->duplicates, DUPLICATES_ERROR);
	assert_true(t->max_hfile_bytes == UINT64_C(5368709120));
	const struct attributes *a = &t->schema.attributes;
	assert_int_equal(a->count, 4);
	assert_string_equal(a->item[0].key, "MAX_FILESIZE");
	assert_string_equal(a->item[0].value, "10737418240");
	assert_string_equal(a->item[3].key, "coprocessor$1");
	assert_string_equal(t->schema.metadata.item[0].value, "me");
	assert_string_equal(t->schema.configuration.item[0].key, "a.b");
	const struct family *f = &t->schema.families[0];
	assert_int_equal(f->bloom_prefix, 8);
	assert_int_equal(f->ttl_s, 129600);
	assert_int_equal(f->block_bytes, 32768);
	assert_int_equal(f->codec, CODEC_ZSTD);
	assert_int_equal(f->level, 9);
	assert_int_equal(f->framing, ZSTD_FRAMING_HADOOP);
	assert_int_equal(f->encoding, ENCODING_ROW_INDEX_V1);
	assert_true(f->in_memory);
	assert_int_equal(f->more.count, 2);
	const struct cell_spec *c = t->cells;
	assert_int_equal(c[0].nqualifier, 0);
	assert_true(c[0].qualifier_constant);
	assert_int_equal(c[0].kind, VALUE_CONST);
	assert_int_equal(c[1].nqualifier, 1);
	assert_true(bytes_eq(c[1].qualifier[0].constant, bytes_str("ab")));
	assert_true(bytes_eq(c[1].constant, bytes_of("\xff", 1)));
	assert_false(c[2].qualifier_constant);
	assert_int_equal(c[2].nqualifier, 2);
	assert_int_equal(c[2].as, AS_I64);
	assert_int_equal(c[3].qualifier[0].as, AS_MILLIS);
	assert_int_equal(c[3].as, AS_TEXT);
	assert_true(c[3].optional);
	assert_int_equal(t->regions.split, SPLIT_HEX);
	assert_int_equal(t->regions.rule.servers, 3);
	assert_true(t->regions.rule.headroom > 0.49 && t->regions.rule.headroom < 0.51);
	assert_string_equal(t->regions.last, "7f");
	job_release(&job);
}

static int32_t offset_at(const struct zone *z, int64_t utc_s)
{
	int32_t offset = z->spans[0].offset_s;

	for (size_t i = 0; i < z->nspans && z->spans[i].from_s <= utc_s; i++)
		offset = z->spans[i].offset_s;
	return offset;
}

/* Data of the tz database, as Python's zoneinfo returns them. */
static void test_zones(void **state)
{
	static const struct {
		const char *zone;
		int64_t utc_s;
		int32_t offset_s;
	} facts[] = {
		{"America/New_York", 1362898799, -18000}, /* 2013-03-10T06:59:59Z */
		{"America/New_York", 1362898800, -14400}, /* 07:00:00Z: clocks go forward */
		{"America/New_York", 1383458399, -14400}, /* 2013-11-03T05:59:59Z */
		{"America/New_York", 1383458400, -18000},
		{"America/New_York", 4088016000,
		 -14400}, /* 2099-07-17: by the zone's rule, after the last table entry */
		{"America/New_York", -2000000000, -18000},
		{"America/New_York", -2717650799, -18000},
		{"America/New_York", -2717650801, -17762}, /* local mean time */
		{"Asia/Shanghai", -2300000000, 29143},
		{"Asia/Shanghai", 1356998400, 28800},
		{"Asia/Shanghai", 508000000, 28800}, /* 1986-02-05 */
		{"Asia/Shanghai", 550000000, 32400}, /* 1987-06-06: summer time */
		{"Asia/Kolkata", 0, 19800},
		{"Australia/Lord_Howe", 1380988800, 39600}, /* a shift of half an hour */
		{"Australia/Lord_Howe", 1374000000, 37800},
		{"Europe/London", 0, 3600}, /* summer time all year, 1968 to 1971 */
		{"-03:30", 12345, -12600},
		{"+8", 12345, 28800},
		{"+0545", 12345, 20700},
	};
	char text[4096], change[128];
	struct job job;
	struct error err;
	(void)state;
	setenv("TZ", "Pacific/Auckland", 1);
	for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
		snprintf(change, sizeof change, "{type: time, format: '%%Y', zone: '%s'}",
			 facts[i].zone);
		edit(text, sizeof text, TIME, change);
		if (load_text(&job, text, &err))
			fail_msg("%s", err.msg);
		const struct zone *z = job.fields[4].zone;
		if (offset_at(z, facts[i].utc_s) != facts[i].offset_s)
			fail_msg("%s at %lld: %d", facts[i].zone, (long long)facts[i].utc_s,
				 (int)offset_at(z, facts[i].utc_s));
		for (size_t k = 1; k < z->nspans; k++)
			assert_true(z->spans[k - 1].from_s < z->spans[k].from_s);
		job_release(&job);
	}
	assert_string_equal(getenv("TZ"), "Pacific/Auckland");
	edit(text, sizeof text, TIME, "{type: time, format: '%Y', zone: UTC}");
	assert_int_equal(load_text(&job, text, &err), 0);
	assert_null(job.fields[4].zone);
	job_release(&job);
}

static void load_example(struct job *job, const char *name)
{
	char path[64];
	struct error err = {0};

	snprintf(path, sizeof path, "conf/%s.yaml", name);
	if (job_load(job, path, &err))
		fail_msg("%s", err.msg);
}

static void test_examples(void **state)
{
	struct job job;

	(void)state;
	load_example(&job, "ratings");
	assert_string_equal(job.csv.files[0], "conf/ratings.csv");
	assert_int_equal(job.nfields, 4);
	assert_string_equal(job.fields[3].name, "rating");
	assert_int_equal(job.tables[0].nrowkey, 4);
	assert_int_equal(job.tables[0].rowkey[1].as, AS_U64);
	assert_int_equal(job.tables[0].rowkey[2].as, AS_REVERSED_MILLIS);
	assert_int_equal(job.tables[0].schema.families[0].ttl_s, 20000 * 86400);
	assert_int_equal(job.tables[0].schema.families[0].codec, CODEC_ZSTD);
	assert_int_equal(job.tables[0].regions.rule.count, 16);
	job_release(&job);

	load_example(&job, "flights");
	assert_int_equal(job.csv.nnulls, 2);
	assert_int_equal(job.fields[1].ncolumns, 5);
	assert_int_equal(offset_at(job.fields[1].zone, 1362898800), -14400);
	assert_int_equal(job.tables[0].schema.nfamilies, 2);
	assert_int_equal(job.tables[0].rowkey[0].nof, 2);
	assert_int_equal(job.tables[0].regions.rule.count, 8);
	job_release(&job);

	load_example(&job, "files");
	assert_int_equal(job.ntables, 2);
	assert_int_equal(job.tables[0].rowkey[0].width, 6);
	assert_int_equal(job.tables[0].rowkey[0].pad, '0');
	assert_true(job.tables[0].rowkey[2].pad_left);
	assert_int_equal(job.tables[1].rowkey[0].as, AS_MILLIS);
	job_release(&job);

	load_example(&job, "timeseries_tall");
	assert_int_equal(job.tables[0].cells[0].nqualifier, 0);
	job_release(&job);
	load_example(&job, "timeseries_wide");
	assert_false(job.tables[0].cells[0].qualifier_constant);
	assert_int_equal(job.tables[0].cells[0].qualifier[0].as, AS_REVERSED_MILLIS);
	job_release(&job);
	load_example(&job, "loans");
	assert_string_equal(job.tables[0].schema.name, "student_loans");
	assert_int_equal(job.tables[0].schema.nfamilies, 2);
	job_release(&job);
}

static void test_kafka(void **state)
{
	char text[4096];
	struct job job;
	struct error err;
	const struct kafka_source *k = &job.kafka;

	(void)state;
	load_example(&job, "clicks");
	assert_int_equal(job.source, SOURCE_KAFKA);
	assert_string_equal(k->brokers, "127.0.0.1:9092");
	assert_string_equal(k->group, "saltmill-clicks");
	assert_int_equal(k->roll_rows, 5 << 20);
	assert_int_equal(k->roll_s, 300);
	assert_int_equal(k->nproperties, 1);
	assert_string_equal(job.fields[0].columns[0], "user.id");
	assert_int_equal(job.csv.nnulls, 0);
	assert_false(k->share);
	job_release(&job);

	edit(text, sizeof text, CSV,
	     "  kafka:\n    brokers: b\n    topic: t\n    format: csv\n"
	     "    columns: [user, big, neg, real, time]\n    delimiter: '\\t'\n    null: [NA]\n"
	     "    partitions: [5, 0, 2]\n    start: 2016-10-16T18:24:04Z\n    tombstones: reject\n"
	     "    roll: {bytes: 1G}\n    patience: 10m\n"
	     "    properties: {sasl.password: {env: X}, a: {file: s}, b.c: 1}\n");
	char *name = strstr(text, "value: name"), *key = strstr(text, "{field: name}");
	memcpy(name, "value: $key", 11);
	memcpy(key, "{field: big} ", 13);
	if (load_text(&job, text, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(k->format, KAFKA_CSV);
	assert_int_equal(job.csv.delimiter, '\t');
	assert_string_equal(job.csv.nulls[0], "NA");
	assert_int_equal(k->npartitions, 3);
	assert_int_equal(k->partitions[1], 2);
	assert_int_equal(k->start, KAFKA_TIME);
	assert_true(k->start_ms == 1476642244000);
	assert_int_equal(k->tombstones, TOMBSTONES_REJECT);
	assert_true(k->roll_bytes == 1u << 30 && k->roll_rows == 0 && k->roll_s == 0);
	assert_int_equal(k->patience_s, 600);
	assert_string_equal(k->properties[0].env, "X");
	assert_non_null(strstr(k->properties[1].file, "/s"));
	assert_string_equal(k->properties[2].value, "1");
	assert_false(k->share);
	job_release(&job);
	edit(text, sizeof text, CSV,
	     "  kafka: {brokers: b, topic: t, format: csv, columns: [user, big, neg, real, time, "
	     "name], "
	     "group: g, share: true}\n");
	if (load_text(&job, text, &err))
		fail_msg("%s", err.msg);
	assert_true(k->share && k->npartitions == 0);
	job_release(&job);
}

static void test_aliases(void **state)
{
	char text[4096];
	struct job job;
	struct error err;

	(void)state;
	edit(text, sizeof text, FAM "\n    cells:\n",
	     "&like {versions: 7}\n      g: *like\n    cells:\n      - {family: g, value: user}\n");
	if (load_text(&job, text, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(job.tables[0].schema.families[0].versions, 7);
	assert_int_equal(job.tables[0].schema.families[1].versions, 7);
	job_release(&job);
	edit(text, sizeof text, "big: {type: u64}", "big: &n {type: u64}\n  other: *n");
	if (load_text(&job, text, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(job.fields[2].type, FIELD_U64);
	job_release(&job);
}

/* Every job cut at every byte, and with each byte replaced, gives a result and never a crash. */
static void test_damaged(void **state)
{
	char text[4096];
	struct job job;
	struct error err;
	size_t len = strlen(good), bad = 0;

	(void)state;
	for (size_t i = 0; i < len; i++) {
		load(&job, good, i, &err);
		job_release(&job);
		memcpy(text, good, len);
		text[i] = "\0{]:&*\"\x80"[i % 8];
		if (load(&job, text, len, &err)) {
			assert_int_equal(err.code, RC_CONFIG);
			assert_ptr_equal(strstr(err.msg, job_file), err.msg);
			bad++;
		}
		job_release(&job);
	}
	assert_true(bad > len / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_faults),		cmocka_unit_test(test_places),
		cmocka_unit_test(test_columns_checked), cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_digest),		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_zones),		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_aliases),		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_kafka),		cmocka_unit_test(test_auto_level),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
