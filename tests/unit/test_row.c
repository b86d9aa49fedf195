/*
 * Events to records and back, judged by oracles written out here: keys laid down by hand, hash
 * vectors of salts.md, timegm, memcmp order against numeric order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hash.h"
#include "row.h"

#define MAX 12

/* One table over up to MAX fields; a test fills what it needs. */
struct rig {
	struct job job;
	struct field fields[MAX];
	struct key_part key[MAX];
	struct cell_spec cells[MAX];
	struct key_part qualifiers[MAX];
	struct family families[2];
	struct job_table table;
	const char *names[MAX];
	const char *nulls[2];
	struct row_plan *plan;
	struct row_encoder *encoder;
	struct record record;
	struct reject why;
	struct error err;
};

static void rig_init(struct rig *r)
{
	memset(r, 0, sizeof(*r));
	r->nulls[0] = "";
	r->nulls[1] = "NULL";
	r->families[0].name = "f";
	r->families[1].name = "gg";
	r->table.schema = (struct table){.name = "t", .families = r->families, .nfamilies = 2};
	r->table.rowkey = r->key;
	r->table.cells = r->cells;
	r->table.timestamp_constant = true;
	r->table.timestamp_ms = 77;
	r->job = (struct job){.path = "job.yml",
			      .fields = r->fields,
			      .tables = &r->table,
			      .ntables = 1};
	r->job.csv.nulls = r->nulls;
	r->job.csv.nnulls = 2;
}

static size_t add_field(struct rig *r, const char *name, enum field_type type)
{
	size_t i = r->job.nfields++;
	r->fields[i] = (struct field){.name = name, .type = type, .unit = TIME_S};
	r->names[i] = name;
	return i;
}

static struct key_part *add_part(struct rig *r, enum part_kind kind)
{
	struct key_part *p = &r->key[r->table.nrowkey++];
	p->kind = kind;
	p->terminator = NO_TERMINATOR;
	return p;
}

static struct key_part *add_key(struct rig *r, size_t field, enum encode_as as)
{
	struct key_part *p = add_part(r, PART_FIELD);
	p->field = field;
	p->as = as;
	return p;
}

static struct key_part *add_const(struct rig *r, const char *text)
{
	struct key_part *p = add_part(r, PART_CONST);
	p->constant = bytes_str(text);
	return p;
}

static struct cell_spec *add_cell(struct rig *r, const char *qualifier, size_t field,
				  enum encode_as as)
{
	size_t i = r->table.ncells++;
	r->qualifiers[i] = (struct key_part){.kind = PART_CONST,
					     .terminator = NO_TERMINATOR,
					     .constant = bytes_str(qualifier)};
	r->cells[i] = (struct cell_spec){.qualifier = &r->qualifiers[i],
					 .nqualifier = 1,
					 .qualifier_constant = true,
					 .kind = VALUE_FIELD,
					 .field = field,
					 .as = as};
	return &r->cells[i];
}

static struct cell_spec *add_wide(struct rig *r, size_t by, enum encode_as by_as, size_t field)
{
	struct cell_spec *c = add_cell(r, "", field, AS_TEXT);
	c->qualifier->kind = PART_FIELD;
	c->qualifier->field = by;
	c->qualifier->as = by_as;
	c->qualifier_constant = false;
	return c;
}

static int rig_plan(struct rig *r)
{
	int rc = row_plan_new(&r->plan, &r->job, r->names, r->job.nfields, &r->err);
	if (!rc)
		r->encoder = row_encoder_new(r->plan);
	return rc;
}

static void rig_start(struct rig *r)
{
	if (rig_plan(r))
		fail_msg("%s", r->err.msg);
}

static void rig_release(struct rig *r)
{
	row_encoder_free(r->encoder);
	row_plan_free(r->plan);
}

static int encode_columns(struct rig *r, const struct column *columns)
{
	struct event ev = {.columns = columns, .ncolumns = r->job.nfields, .seq = 42};
	return row_encode(r->encoder, &ev, &r->record, &r->why);
}

/* Each text in its own heap block of its exact size, so that a sanitizer sees over-reads. */
static int encode(struct rig *r, const char *const *texts)
{
	struct column columns[MAX] = {0};
	void *blocks[MAX];
	for (size_t i = 0; i < r->job.nfields; i++) {
		size_t len = strlen(texts[i]);
		blocks[i] = malloc(len ? len : 1);
		memcpy(blocks[i], texts[i], len);
		columns[i] = (struct column){.ptr = blocks[i], .len = (uint32_t)len};
	}
	int rc = encode_columns(r, columns);
	for (size_t i = 0; i < r->job.nfields; i++)
		free(blocks[i]);
	return rc;
}

#define ENCODE(r, ...) encode(r, (const char *const[]){__VA_ARGS__})

static void encode_ok(struct rig *r, const char *const *texts)
{
	if (encode(r, texts))
		fail_msg("%s: %s", r->why.reason, r->why.detail);
}

#define ENCODE_OK(r, ...) encode_ok(r, (const char *const[]){__VA_ARGS__})

static void assert_bytes(struct bytes v, const void *expect, size_t len)
{
	assert_int_equal(v.len, len);
	assert_memory_equal(v.ptr, expect, len);
}

static void ratings_rig(struct rig *r)
{
	static size_t of[] = {0};
	rig_init(r);
	size_t user = add_field(r, "userId", FIELD_U32), movie = add_field(r, "movieId", FIELD_U32);
	size_t rating = add_field(r, "rating", FIELD_TEXT),
	       ts = add_field(r, "timestamp", FIELD_TIME);
	struct key_part *salt = add_part(r, PART_SALT);
	salt->of = of;
	salt->nof = 1;
	salt->buckets = 16;
	salt->width = 1;
	add_key(r, user, AS_U64);
	add_key(r, ts, AS_REVERSED_MILLIS);
	add_key(r, movie, AS_U32);
	add_cell(r, "r", rating, AS_TEXT);
	add_cell(r, "m", movie, AS_TEXT);
	r->table.timestamp_constant = false;
	r->table.timestamp_field = ts;
	rig_start(r);
}

static void ratings_key_by_hand(void **state)
{
	(void)state;
	struct rig r;
	struct cell cells[2];
	ratings_rig(&r);
	assert_int_equal(row_minor_bytes(r.plan, 0), 0);
	assert_true(row_constant_columns(r.plan, 0));
	assert_int_equal(row_max_cells(r.plan, 0), 2);
	for (unsigned user = 0; user < 3000; user += 7) {
		char text[4][16];
		uint8_t key[21];
		unsigned movie = user * 1430000u, ts = 1260759144u + user * 86399u;
		uint64_t ms = (uint64_t)ts * 1000;
		snprintf(text[0], 16, "%u", user);
		snprintf(text[1], 16, "%u", movie);
		snprintf(text[2], 16, "%.1f", user % 10 / 2.0);
		snprintf(text[3], 16, "%u", ts);
		ENCODE_OK(&r, text[0], text[1], text[2], text[3]);
		put_be64(key + 1, user);
		put_be64(key + 9, INT64_MAX - ms);
		put_be32(key + 17, movie);
		key[0] = (uint8_t)(murmur3_32(bytes_of(key + 1, 8), 0) % 16);
		assert_bytes(r.record.key, key, sizeof(key));
		assert_int_equal(row_cells(r.plan, 0, &r.record, cells), 2);
		assert_bytes(cells[0].qualifier, "m", 1);
		assert_bytes(cells[0].value, text[1], strlen(text[1]));
		assert_bytes(cells[1].qualifier, "r", 1);
		assert_bytes(cells[1].value, text[2], strlen(text[2]));
		assert_int_equal(cells[1].column, 0);
		assert_int_equal(cells[0].ts, ms);
		assert_int_equal(cells[0].seq, 42);
		assert_bytes(cells[0].row, key, sizeof(key));
		struct row_weigher w = {r.plan, 0};
		/* 4 + 4 + 2 + row + 1 + family + qualifier + 8 + 1 + value */
		size_t each = 4 + 4 + 2 + 21 + 1 + 1 + 1 + 8 + 1;
		assert_int_equal(row_weigh(&w, &r.record),
				 2 * each + strlen(text[1]) + strlen(text[2]));
	}
	rig_release(&r);
}

/* patterns.md 1 */
static void padded_key(void **state)
{
	(void)state;
	static const char *const rows[][4] = {
		{"1", "20120902", "1", "00000120120902000001"},
		{"1", "20120914", "7", "00000120120914000007"},
		{"2", "20120912", "6", "00000220120912000006"},
		{"3", "20120918", "9", "00000320120918000009"},
		{"4", "20120920", "10", "00000420120920000010"},
	};
	struct rig r;
	rig_init(&r);
	for (size_t i = 0; i < 3; i++) {
		struct key_part *p = add_key(&r,
					     add_field(&r,
						       i == 0	? "owner"
						       : i == 1 ? "day"
								: "id",
						       FIELD_U32),
					     AS_TEXT);
		p->width = i == 1 ? 8 : 6;
		p->pad = '0';
		p->pad_left = true;
	}
	add_cell(&r, "x", 2, AS_TEXT);
	rig_start(&r);
	for (size_t i = 0; i < 5; i++) {
		ENCODE_OK(&r, rows[i][0], rows[i][1], rows[i][2]);
		assert_bytes(r.record.key, rows[i][3], 20);
	}
	assert_int_equal(ENCODE(&r, "1000000", "20120902", "1"), RC_DATA);
	assert_string_equal(r.why.reason, "too_wide");
	assert_string_equal(r.why.field, "owner");
	assert_non_null(strstr(r.why.detail, "`1000000`"));
	rig_release(&r);
}

static void variable_parts(void **state)
{
	(void)state;
	struct rig r;
	rig_init(&r);
	size_t a = add_field(&r, "a", FIELD_TEXT), b = add_field(&r, "b", FIELD_TEXT);
	size_t c = add_field(&r, "c", FIELD_HEX), d = add_field(&r, "d", FIELD_BOOL);
	add_const(&r, "v1:");
	add_key(&r, a, AS_REVERSED)->terminator = '|';
	struct key_part *p = add_key(&r, b, AS_TEXT);
	p->width = 4;
	p->pad = ' ';
	add_key(&r, c, AS_BYTES);
	add_key(&r, d, AS_BOOL);
	add_cell(&r, "h", c, AS_BYTES);
	add_cell(&r, "b", d, AS_BOOL);
	add_cell(&r, "z", a, AS_REVERSED);
	rig_start(&r);
	ENCODE_OK(&r, "13800138000", "ab", "00fF7a", "Yes");
	assert_bytes(r.record.key, "v1:00083100831|ab  \x00\xff\x7a\xff", 23);
	struct cell cells[3];
	assert_int_equal(row_cells(r.plan, 0, &r.record, cells), 3);
	assert_bytes(cells[0].value, "\xff", 1);
	assert_bytes(cells[1].value, "\x00\xff\x7a", 3);
	assert_bytes(cells[2].value, "00083100831", 11);
	rig_release(&r);
}

/* salts.md 4.1 and 5.2; the salt alone is the byte in front. */
static void foreign_salts(void **state)
{
	(void)state;
	static const struct {
		const char *key;
		int phoenix3, phoenix20, phoenix256, wd20;
	} cases[] = {
		{"", 1, 1, 1, 1},
		{"a", 2, 8, 128, 8},
		{"abc", 1, 5, 193, 5},
		{"user0001", 2, 7, 179, 7},
		{"2024-01-01T00:00:00Z", 0, 1, 121, 1},
		{"device-42", 0, 4, 140, 4},
		{"ykgomr/o", 2, 8, 0, 0xf8},
	};
	static const struct {
		enum hash_kind hash;
		uint32_t buckets;
	} kinds[] = {{HASH_PHOENIX, 3},
		     {HASH_PHOENIX, 20},
		     {HASH_PHOENIX, 256},
		     {HASH_HBASEWD, 20}};
	static size_t of[] = {0};
	for (size_t k = 0; k < 5 * 2; k++) {
		/* over the rest of the key, then the same by name; 4: opentsdb as phoenix 20 */
		struct rig r;
		rig_init(&r);
		size_t a = add_field(&r, "a", FIELD_BYTES);
		struct key_part *salt = add_part(&r, PART_SALT);
		salt->hash = k % 5 == 4 ? HASH_OPENTSDB : kinds[k % 5].hash;
		salt->buckets = k % 5 == 4 ? 20 : kinds[k % 5].buckets;
		salt->width = k % 5 == 4 ? 3 : 1;
		salt->of = of;
		salt->nof = k >= 5;
		add_key(&r, a, AS_TEXT);
		add_cell(&r, "x", a, AS_TEXT);
		r.job.csv.nnulls = 0;
		rig_start(&r);
		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
			int expect[] = {cases[i].phoenix3, cases[i].phoenix20, cases[i].phoenix256,
					cases[i].wd20, cases[i].phoenix20};
			ENCODE_OK(&r, cases[i].key);
			assert_int_equal(r.record.key.len, salt->width + strlen(cases[i].key));
			assert_int_equal(r.record.key.ptr[salt->width - 1], expect[k % 5]);
			assert_true(salt->width == 1 || r.record.key.ptr[0] == 0);
		}
		rig_release(&r);
	}
}

/* Salts and hashes over fields in the key (as laid down) and not in the key (natural). */
static void hash_inputs(void **state)
{
	(void)state;
	static size_t of[] = {1, 2, 0}, time_only[] = {3};
	struct rig r;
	rig_init(&r);
	size_t a = add_field(&r, "a", FIELD_TEXT), b = add_field(&r, "b", FIELD_U32);
	add_field(&r, "c", FIELD_I64);
	add_field(&r, "d", FIELD_TIME);
	struct key_part *salt = add_part(&r, PART_SALT), *hash = add_part(&r, PART_HASH);
	struct key_part *digest = add_part(&r, PART_HASH);
	*salt = (struct key_part){.kind = PART_SALT,
				  .of = of,
				  .nof = 3,
				  .buckets = 1000,
				  .width = 2,
				  .terminator = NO_TERMINATOR};
	hash->of = time_only;
	hash->nof = 1;
	hash->width = 3;
	digest->hash = HASH_MD5; /* over all behind it */
	digest->width = 5;
	add_key(&r, b, AS_U16);
	add_key(&r, a, AS_TEXT)->terminator = 0;
	add_cell(&r, "x", a, AS_TEXT);
	rig_start(&r);
	ENCODE_OK(&r, "héllo", "513", "-2", "1");
	uint8_t in[2 + 8 + 6] = {2, 1}, behind[2 + 6 + 1] = {2, 1}, ms[8], four[4], md[16];
	put_be64(in + 2, (uint64_t)-2 ^ (uint64_t)1 << 63);
	memcpy(in + 10, "héllo", 6);
	memcpy(behind + 2, "héllo", 7);
	put_be64(ms, 1000);
	put_be32(four, murmur3_32(bytes_of(ms, 8), 0));
	md5(bytes_of(behind, 9), md);
	assert_int_equal(get_be16(r.record.key.ptr), murmur3_32(bytes_of(in, 16), 0) % 1000);
	assert_memory_equal(r.record.key.ptr + 2, four, 3);
	assert_memory_equal(r.record.key.ptr + 5, md, 5);
	assert_bytes(bytes_of(r.record.key.ptr + 10, r.record.key.len - 10), behind, 9);
	rig_release(&r);
}

static uint64_t random64(void)
{
	uint64_t v = 0;
	for (int i = 0; i < 5; i++)
		v = v << 15 ^ (uint64_t)rand();
	return v >> rand() % 60;
}

static int sign(int c)
{
	return (c > 0) - (c < 0);
}

static int compare_keys(struct rig *r, const char *a, const char *b)
{
	uint8_t first[64];
	ENCODE_OK(r, a);
	size_t len = r->record.key.len;
	memcpy(first, r->record.key.ptr, len);
	ENCODE_OK(r, b);
	return sign(bytes_cmp(bytes_of(first, len), r->record.key));
}

static void order_kept_i64(void **state)
{
	(void)state;
	struct rig r;
	rig_init(&r);
	add_key(&r, add_field(&r, "n", FIELD_I64), AS_I64);
	add_cell(&r, "v", 0, AS_I64);
	rig_start(&r);
	srand(1);
	for (int i = 0; i < 4000; i++) {
		int64_t a = (int64_t)random64(), b = i % 3 ? (int64_t)random64() : a + 1;
		char text[2][24];
		if (i % 2)
			a = -a;
		snprintf(text[0], 24, "%" PRId64, a);
		snprintf(text[1], 24, "%" PRId64, b);
		assert_int_equal(compare_keys(&r, text[0], text[1]), (a > b) - (a < b));
		struct cell c;
		row_cells(r.plan, 0, &r.record, &c);
		assert_int_equal((int64_t)get_be64(c.value.ptr), b); /* Bytes.toBytes(long) */
	}
	rig_release(&r);
}

static void order_kept_reals(void **state)
{
	(void)state;
	srand(2);
	for (int single = 0; single < 2; single++) {
		struct rig r;
		rig_init(&r);
		add_key(&r, add_field(&r, "n", FIELD_F64), single ? AS_F32 : AS_F64);
		add_cell(&r, "v", 0, AS_F64);
		rig_start(&r);
		for (int i = 0; i < 4000; i++) {
			double a = ((double)random64() - 5e8) * (i % 2 ? 1e-9 : 1e5);
			double b = i % 3 ? -a / 3 : a * 1.5 + 1;
			char text[2][40];
			snprintf(text[0], 40, "%.17g", a);
			snprintf(text[1], 40, "%.17g", b);
			assert_int_equal(compare_keys(&r, text[0], text[1]), (a > b) - (a < b));
			struct cell c;
			uint64_t bits;
			row_cells(r.plan, 0, &r.record, &c);
			memcpy(&bits, &b, 8);
			assert_int_equal(get_be64(c.value.ptr), bits);
		}
		rig_release(&r);
	}
}

static void numbers_round_trip(void **state)
{
	(void)state;
	struct rig r;
	rig_init(&r);
	add_key(&r, add_field(&r, "n", FIELD_U64), AS_U64);
	add_cell(&r, "v", 0, AS_TEXT);
	rig_start(&r);
	srand(3);
	for (int i = 0; i < 20000; i++) {
		uint64_t v = random64();
		char text[48];
		snprintf(text, sizeof(text), i % 4 ? "%" PRIu64 : "%022" PRIu64, v);
		ENCODE_OK(&r, text);
		assert_int_equal(get_be64(r.record.key.ptr), v);
		/* one wrong character anywhere is found */
		size_t at = (size_t)rand() % strlen(text);
		text[at] = "/:a \x80\xff-.+"[rand() % 9];
		if (ENCODE(&r, text) == 0)
			fail_msg("taken: %s", text);
		/* -123 is a number, but not one of these */
		bool minus = at == 0 && text[0] == '-' && text[1];
		assert_string_equal(r.why.reason, minus ? "out_of_range" : "bad_number");
	}
	rig_release(&r);
}

static void rejects(void **state)
{
	(void)state;
	static const struct {
		enum field_type type;
		enum encode_as as;
		const char *text, *reason, *detail;
	} cases[] = {
		{FIELD_U32, AS_U32, "12x", "bad_number",
		 "found `12x`, expected a whole number 0..4294967295"},
		{FIELD_U32, AS_U32, "4294967296", "out_of_range",
		 "found `4294967296`, expected a whole number 0..4294967295"},
		{FIELD_U32, AS_U32, "-1", "out_of_range", "0..4294967295"},
		{FIELD_U32, AS_U32, "-", "bad_number", "`-`"},
		{FIELD_U32, AS_U32, "+1", "bad_number", "`+1`"},
		{FIELD_U32, AS_U8, "300", "out_of_range", "found `300`, expected 0..255 (as u8)"},
		{FIELD_U32, AS_U16, "65536", "out_of_range", "0..65535 (as u16)"},
		{FIELD_U32, AS_I32, "2147483648", "out_of_range",
		 "-2147483648..2147483647 (as i32)"},
		{FIELD_U64, AS_I64, "9223372036854775808", "out_of_range", "9223372036854775807"},
		{FIELD_U64, AS_U64, "18446744073709551616", "out_of_range", "18446744073709551615"},
		{FIELD_I64, AS_U64, "-1", "out_of_range", "0..18446744073709551615 (as u64)"},
		{FIELD_I64, AS_I32, "-2147483649", "out_of_range", "(as i32)"},
		{FIELD_I64, AS_I64, "9223372036854775808", "out_of_range", "9223372036854775807"},
		{FIELD_I64, AS_I64, "-9223372036854775809", "out_of_range", "-9223372036854775808"},
		{FIELD_I64, AS_I64, "--1", "bad_number", "`--1`"},
		{FIELD_F64, AS_F64, "nan", "bad_number", "`nan`"},
		{FIELD_F64, AS_F64, "-inf", "bad_number", "`-inf`"},
		{FIELD_F64, AS_F64, "0x10", "bad_number", "`0x10`"},
		{FIELD_F64, AS_F64, "1,5", "bad_number", "`1,5`"},
		{FIELD_F64, AS_F64, ".", "bad_number", "`.`"},
		{FIELD_F64, AS_F64, "1e", "bad_number", "`1e`"},
		{FIELD_F64, AS_F64, "1e999", "out_of_range", "64-bit float"},
		{FIELD_F64, AS_F32, "1e39", "out_of_range", "32-bit float"},
		{FIELD_BOOL, AS_BOOL, "maybe", "bad_bool", "`maybe`"},
		{FIELD_HEX, AS_BYTES, "abc", "bad_hex", "even number"},
		{FIELD_HEX, AS_BYTES, "0g", "bad_hex", "byte 1"},
		{FIELD_TEXT, AS_TEXT, "abcdefghij\xff", "bad_utf8", "byte 10 (FF)"},
		{FIELD_TEXT, AS_TEXT, "\xc0\x80", "bad_utf8", "found `\\xC0\\x80`"},
		{FIELD_TEXT, AS_TEXT, "a\xed\xa0\x80", "bad_utf8", "byte 1 "},
		{FIELD_TEXT, AS_TEXT, "\xf4\x90\x80\x80", "bad_utf8", "byte 0 "},
		{FIELD_TEXT, AS_TEXT, "12345\xe6\xb5", "bad_utf8", "byte 5 "},
		{FIELD_TEXT, AS_REVERSED, "浙江", "not_ascii", "found `浙江`"},
		{FIELD_TIME, AS_MILLIS, "-1", "out_of_range", "before 1970"},
		{FIELD_TIME, AS_REVERSED_MILLIS, "-5", "out_of_range", "before 1970"},
		{FIELD_TIME, AS_MILLIS, "1260759144.5", "bad_number", "1260759144.5"},
		{FIELD_TIME, AS_MILLIS, "9223372036854776", "out_of_range", "fits 64 bits"},
		{FIELD_U32, AS_U32, "", "null_value", "row key of table t"},
		{FIELD_TEXT, AS_TEXT, "NULL", "null_value", "found `NULL`"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rig r;
		rig_init(&r);
		add_key(&r, add_field(&r, "the field", cases[i].type), cases[i].as);
		add_cell(&r, "x", 0, AS_TEXT);
		rig_start(&r);
		if (ENCODE(&r, cases[i].text) != RC_DATA)
			fail_msg("taken: %s", cases[i].text);
		assert_string_equal(r.why.reason, cases[i].reason);
		assert_string_equal(r.why.field, "the field");
		if (!strstr(r.why.detail, cases[i].detail))
			fail_msg("%s has no %s", r.why.detail, cases[i].detail);
		rig_release(&r);
	}
}

static void text_rig(struct rig *r, int terminator)
{
	rig_init(r);
	add_key(r, add_field(r, "a", FIELD_TEXT), AS_TEXT)->terminator = terminator;
	add_cell(r, "x", 0, AS_TEXT);
	rig_start(r);
}

static void key_rejects(void **state)
{
	(void)state;
	struct rig r;
	struct column c = {.ptr = (const uint8_t *)"a\0b", .len = 3};
	text_rig(&r, NO_TERMINATOR);
	assert_int_equal(encode_columns(&r, &c), RC_DATA);
	assert_string_equal(r.why.reason, "nul_byte");
	assert_non_null(strstr(r.why.detail, "`a\\x00b`"));
	c = (struct column){.ptr = (const uint8_t *)"", .len = 0, .quoted = true};
	assert_int_equal(encode_columns(&r, &c), RC_DATA);
	assert_string_equal(r.why.reason, "empty_key");
	char *text = malloc(ROW_KEY_MAX + 2);
	memset(text, 'k', ROW_KEY_MAX + 1);
	c = (struct column){.ptr = (const uint8_t *)text, .len = ROW_KEY_MAX};
	assert_int_equal(encode_columns(&r, &c), 0);
	assert_int_equal(r.record.key.len, ROW_KEY_MAX);
	struct cell cell;
	assert_int_equal(row_cells(r.plan, 0, &r.record, &cell), 1);
	assert_bytes(cell.value, text, ROW_KEY_MAX);
	c.len++;
	assert_int_equal(encode_columns(&r, &c), RC_DATA);
	assert_string_equal(r.why.reason, "key_too_long");
	free(text);
	rig_release(&r);
	text_rig(&r, '|');
	assert_int_equal(ENCODE(&r, "x|y"), RC_DATA);
	assert_string_equal(r.why.reason, "terminator_in_value");
	ENCODE_OK(&r, "xy");
	assert_bytes(r.record.key, "xy|", 3);
	struct event few = {.columns = &c, .ncolumns = 0};
	assert_int_equal(row_encode(r.encoder, &few, &r.record, &r.why), RC_DATA);
	assert_string_equal(r.why.reason, "too_few_columns");
	rig_release(&r);
}

static void details_are_short(void **state)
{
	(void)state;
	struct rig r;
	char text[3001] = {0};
	rig_init(&r);
	add_key(&r, add_field(&r, "n", FIELD_U32), AS_U32);
	add_cell(&r, "x", 0, AS_TEXT);
	rig_start(&r);
	memset(text, '\n', 3000);
	assert_int_equal(ENCODE(&r, text), RC_DATA);
	assert_true(strlen(r.why.detail) < 130);
	assert_non_null(strstr(r.why.detail, "\\x0A...`, expected a whole"));
	rig_release(&r);
}

static void nulls_and_optional_cells(void **state)
{
	(void)state;
	struct rig r;
	struct cell cells[4];
	static const char *own[] = {"-"};
	rig_init(&r);
	size_t k = add_field(&r, "k", FIELD_TEXT), a = add_field(&r, "a", FIELD_U32);
	size_t b = add_field(&r, "b", FIELD_TEXT);
	r.fields[b].nulls = own;
	r.fields[b].nnulls = 1;
	add_key(&r, k, AS_TEXT);
	add_cell(&r, "b", b, AS_TEXT)->optional = true;
	add_cell(&r, "a", a, AS_U64)->optional = true;
	add_cell(&r, "0", a, AS_TEXT)->optional = true;
	r.cells[0].family = 1;
	rig_start(&r);
	ENCODE_OK(&r, "key", "5", "-");
	assert_int_equal(row_cells(r.plan, 0, &r.record, cells), 2);
	assert_bytes(cells[0].qualifier, "0", 1);
	assert_bytes(cells[1].value, "\0\0\0\0\0\0\0\5", 8);
	ENCODE_OK(&r, "key", "NULL", "NULL"); /* its own list replaces the source's */
	assert_int_equal(row_cells(r.plan, 0, &r.record, cells), 1);
	assert_bytes(cells[0].value, "NULL", 4);
	assert_int_equal(cells[0].family, 1);
	ENCODE_OK(&r, "key", "5", ""); /* empty text is a value here */
	assert_int_equal(row_cells(r.plan, 0, &r.record, cells), 3);
	assert_int_equal(cells[2].value.len, 0);
	ENCODE_OK(&r, "key", "", "-");
	assert_int_equal(r.record.key.len, 0);			/* nothing to store */
	assert_int_equal(ENCODE(&r, "key", "x", "-"), RC_DATA); /* optional is not unchecked */
	rig_release(&r);
}

static void quoted_and_absent(void **state)
{
	(void)state;
	struct rig r;
	struct column c = {.ptr = (const uint8_t *)"NULL", .len = 4, .quoted = true};
	text_rig(&r, NO_TERMINATOR);
	assert_int_equal(encode_columns(&r, &c), 0);
	c.absent = true;
	assert_int_equal(encode_columns(&r, &c), RC_DATA);
	assert_string_equal(r.why.reason, "null_value");
	rig_release(&r);
	rig_init(&r);
	r.job.csv.quoted_nulls = true;
	add_const(&r, "k");
	add_cell(&r, "x", add_field(&r, "a", FIELD_TEXT), AS_TEXT);
	rig_start(&r);
	c.absent = false;
	assert_int_equal(encode_columns(&r, &c), RC_DATA);
	assert_string_equal(r.why.reason, "null_value");
	assert_non_null(strstr(r.why.detail, "mark the cell `optional: true`"));
	rig_release(&r);
}

static void wide_rows(void **state)
{
	(void)state;
	struct rig r;
	struct cell cells[3];
	rig_init(&r);
	size_t uid = add_field(&r, "uid", FIELD_TEXT), ts = add_field(&r, "ts", FIELD_TIME);
	size_t item = add_field(&r, "item", FIELD_TEXT), tag = add_field(&r, "tag", FIELD_TEXT);
	r.fields[ts].unit = TIME_MS;
	add_key(&r, uid, AS_TEXT);
	add_wide(&r, ts, AS_REVERSED_MILLIS, item);
	struct cell_spec *flag = add_wide(&r, tag, AS_TEXT, item);
	flag->kind = VALUE_CONST;
	flag->constant = bytes_str("on");
	flag->optional = true;
	add_cell(&r, "z", item, AS_TEXT);
	r.table.timestamp_constant = false;
	r.table.timestamp_field = ts;
	rig_start(&r);
	assert_int_equal(row_minor_bytes(r.plan, 0), 8);
	assert_false(row_constant_columns(r.plan, 0));
	ENCODE_OK(&r, "u1", "1260759144123", "book", "red");
	uint8_t reversed[8];
	put_be64(reversed, INT64_MAX - 1260759144123u);
	assert_memory_equal(r.record.minor, reversed, 8);
	assert_int_equal(row_cells(r.plan, 0, &r.record, cells), 3);
	assert_bytes(cells[0].qualifier, "z", 1);
	assert_bytes(cells[1].qualifier, reversed, 8);
	assert_bytes(cells[1].value, "book", 4);
	assert_bytes(cells[2].qualifier, "red", 3);
	assert_bytes(cells[2].value, "on", 2);
	assert_int_equal(cells[2].ts, 1260759144123);
	struct row_weigher w = {r.plan, 0};
	assert_int_equal(row_weigh(&w, &r.record), 3 * (20 + 2 + 1) + 1 + 4 + 8 + 4 + 3 + 2);
	ENCODE_OK(&r, "u1", "0", "book", "NULL");
	assert_int_equal(row_cells(r.plan, 0, &r.record, cells), 2);
	assert_int_equal(row_weigh(&w, &r.record), 2 * (20 + 2 + 1) + 1 + 4 + 8 + 4);
	assert_int_equal(ENCODE(&r, "u1", "9223372036854775807", "book", "red"), RC_DATA);
	assert_string_equal(r.why.reason, "out_of_range");
	assert_non_null(strstr(r.why.detail, "cell timestamp"));
	rig_release(&r);
}

/* Where the timestamp is stored: in the key at a fixed place, or as minor. */
static void minor_bytes(void **state)
{
	(void)state;
	static const struct {
		enum encode_as lead, as;
		uint32_t width;
		size_t minor;
	} cases[] = {{AS_TEXT, AS_MILLIS, 0, 8},
		     {AS_TEXT, AS_MILLIS, 6, 0},
		     {AS_U32, AS_REVERSED_MILLIS, 0, 0},
		     {AS_U16, AS_TEXT, 0, 8}};
	for (size_t i = 0; i < 4; i++) {
		struct rig r;
		struct cell c;
		rig_init(&r);
		size_t id = add_field(&r, "id", FIELD_U32), ts = add_field(&r, "ts", FIELD_TIME);
		r.fields[ts].unit = TIME_US;
		add_const(&r, "c");
		struct key_part *p = add_key(&r, id, cases[i].lead);
		p->width = cases[i].width;
		p->pad = '0';
		p->pad_left = true;
		add_key(&r, ts, cases[i].as);
		add_cell(&r, "x", id, AS_TEXT);
		r.table.timestamp_constant = false;
		r.table.timestamp_field = ts;
		rig_start(&r);
		assert_int_equal(row_minor_bytes(r.plan, 0), cases[i].minor);
		ENCODE_OK(&r, "17", "1260759144123456");
		assert_int_equal(row_cells(r.plan, 0, &r.record, &c), 1);
		assert_int_equal(c.ts, 1260759144123);
		rig_release(&r);
	}
}

/* -- time ---------------------------------------------------------------------------------- */

static void time_rig(struct rig *r, const char *format, enum time_unit unit,
		     const struct zone *zone)
{
	rig_init(r);
	size_t t = add_field(r, "t", FIELD_TIME);
	r->fields[t].unit = unit;
	r->fields[t].format = format;
	r->fields[t].zone = zone;
	add_const(r, "k");
	add_cell(r, "v", t, AS_MILLIS); /* in a value, times before 1970 are fine */
}

/* The value in ms; INT64_MIN for a reject. */
static int64_t time_of(struct rig *r, const char *text)
{
	struct cell c;
	if (ENCODE(r, text))
		return INT64_MIN;
	row_cells(r->plan, 0, &r->record, &c);
	return (int64_t)get_be64(c.value.ptr);
}

static void time_texts(void **state)
{
	(void)state;
	static const struct {
		const char *format, *text;
		int64_t ms; /* INT64_MIN: reject */
		const char *reason;
	} cases[] = {
		{"%Y-%m-%d %H:%M:%S", "2009-12-14 02:52:24", 1260759144000, NULL},
		{"%Y-%m-%dT%H:%M:%S.%f%z", "2009-12-14T10:52:24.123456789+0800", 1260759144123,
		 NULL},
		{"%Y-%m-%dT%H:%M:%S.%f%z", "2009-12-13T21:52:24.5-05:00", 1260759144500, NULL},
		{"%Y-%m-%dT%H:%M:%S%z", "2009-12-14T02:52:24Z", 1260759144000, NULL},
		{"%Y-%m-%dT%H:%M:%S%z", "2009-12-14T02:52:24", INT64_MIN, "bad_time"},
		{"%Y%m%d%H%M%S", "20091214025224", 1260759144000, NULL},
		{"%Y%m%d", "2009121", INT64_MIN, "bad_time"},
		{"%Y%m%d", "200912140", INT64_MIN, "bad_time"},
		{"%d %b %Y", "14 Dec 2009", 1260748800000, NULL},
		{"%d %B %Y", "14 december 2009", 1260748800000, NULL},
		{"%e %b %y", " 4 Dec 09", 1259884800000, NULL},
		{"%e %b %y", "14 Dec 09", 1260748800000, NULL},
		{"%m/%d/%Y %I:%M:%S %p", "12/14/2009 12:00:01 AM", 1260748801000, NULL},
		{"%m/%d/%Y %I:%M:%S %p", "12/14/2009 12:00:01 pm", 1260792001000, NULL},
		{"%m/%d/%Y %I:%M:%S %p", "12/14/2009 13:00:01 pm", INT64_MIN, "bad_time"},
		{"%Y.%j", "2009.348", 1260748800000, NULL},
		{"%Y.%j", "2009.366", INT64_MIN, "bad_date"},
		{"%Y.%j", "2008.366", 1230681600000, NULL},
		{"%s.%f", "1260759144.25", 1260759144250, NULL},
		{"%s.%f", "-0.0005", -1, NULL},
		{"100%% %Y", "100% 1971", 31536000000, NULL},
		{"%Y-%m-%d", "2013-02-30", INT64_MIN, "bad_date"},
		{"%Y-%m-%d", "2013-02-29", INT64_MIN, "bad_date"},
		{"%Y-%m-%d", "2012-02-29", 1330473600000, NULL},
		{"%Y-%m-%d", "1900-02-29", INT64_MIN, "bad_date"},
		{"%Y-%m-%d", "2013-13-01", INT64_MIN, "bad_date"},
		{"%Y-%m-%d", "2013-00-01", INT64_MIN, "bad_date"},
		{"%Y-%m-%d", "2013-1-2", 1357084800000, NULL},
		{"%Y-%m-%d", "2013-01-02x", INT64_MIN, "bad_time"},
		{"%Y-%m-%d", " 2013-01-02", INT64_MIN, "bad_time"},
		{"%Y-%m-%d %H", "2013-01-02 24", INT64_MIN, "bad_time"},
		{"%H:%M:%S", "00:00:60", INT64_MIN, "bad_time"},
		{"%y", "69", -31536000000, NULL},
		{"%y", "68", 3092601600000, NULL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rig r;
		time_rig(&r, cases[i].format, TIME_FORMAT, NULL);
		rig_start(&r);
		int64_t ms = time_of(&r, cases[i].text);
		if (ms != cases[i].ms)
			fail_msg("%s: %" PRId64 ", expected %" PRId64, cases[i].text, ms,
				 cases[i].ms);
		if (cases[i].reason)
			assert_string_equal(r.why.reason, cases[i].reason);
		rig_release(&r);
	}
}

static void time_against_timegm(void **state)
{
	(void)state;
	struct rig r;
	time_rig(&r, "%Y-%m-%d %H:%M:%S", TIME_FORMAT, NULL);
	rig_start(&r);
	srand(4);
	for (int i = 0; i < 5000; i++) {
		struct tm tm = {.tm_year = rand() % 400 - 170,
				.tm_mon = rand() % 12,
				.tm_mday = 1 + rand() % 31,
				.tm_hour = rand() % 24,
				.tm_min = rand() % 60,
				.tm_sec = rand() % 60};
		struct tm same = tm;
		char text[80];
		snprintf(text, sizeof(text), "%04d-%02d-%02d %02d:%02d:%02d", tm.tm_year + 1900,
			 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
		int64_t expect = timegm(&same) * INT64_C(1000);
		if (same.tm_mday != tm.tm_mday) /* timegm wrapped a 31 February */
			expect = INT64_MIN;
		assert_int_equal(time_of(&r, text), expect);
	}
	rig_release(&r);
}

static void time_units(void **state)
{
	(void)state;
	static const struct {
		enum time_unit unit;
		const char *text;
		int64_t ms;
	} cases[] = {
		{TIME_S, "1260759144", 1260759144000},
		{TIME_S, "-1", -1000},
		{TIME_MS, "1260759144123", 1260759144123},
		{TIME_US, "1999", 1},
		{TIME_US, "-1", -1},
		{TIME_US, "-1000", -1},
		{TIME_NS, "1260759144123999999", 1260759144123},
		{TIME_NS, "-1000001", -2},
		{TIME_S, "1.5", INT64_MIN},
		{TIME_MS, "x", INT64_MIN},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rig r;
		time_rig(&r, NULL, cases[i].unit, NULL);
		rig_start(&r);
		assert_int_equal(time_of(&r, cases[i].text), cases[i].ms);
		rig_release(&r);
	}
}

/* Central Europe 2013 by hand: summer from 31 March 01:00 UTC to 27 October 01:00 UTC. */
static void time_zones(void **state)
{
	(void)state;
	struct zone_span spans[] = {{INT64_MIN, 3600}, {1364691600, 7200}, {1382835600, 3600}};
	struct zone zone = {.name = "Europe/Berlin", .spans = spans, .nspans = 3};
	static const struct {
		const char *text;
		int64_t s;
	} cases[] = {
		{"2013-01-15 12:00:00", 1358247600},  {"2013-07-15 12:00:00", 1373882400},
		{"2013-03-31 01:59:59", 1364691599},  {"2013-03-31 02:00:00", -1},
		{"2013-03-31 02:59:59", -1},	      {"2013-03-31 03:00:00", 1364691600},
		{"2013-10-27 01:59:59", 1382831999},  {"2013-10-27 02:30:00", 1382833800},
		{"2013-10-27 02:59:59", 1382835599},  {"2013-10-27 03:00:00", 1382839200},
		{"1900-01-01 00:00:00", -2208992400},
	};
	struct rig r;
	time_rig(&r, "%Y-%m-%d %H:%M:%S", TIME_FORMAT, &zone);
	rig_start(&r);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t expect = cases[i].s == -1 ? INT64_MIN : cases[i].s * 1000;
		assert_int_equal(time_of(&r, cases[i].text), expect);
		if (cases[i].s == -1) {
			assert_string_equal(r.why.reason, "bad_time");
			assert_non_null(strstr(r.why.detail, "Europe/Berlin"));
		}
	}
	rig_release(&r);
}

static void joined_columns(void **state)
{
	(void)state;
	static const char *columns[] = {"day", "clock"};
	static const char *const source[] = {"clock", "day"};
	struct rig r;
	time_rig(&r, "%Y-%m-%d %H:%M", TIME_FORMAT, NULL);
	r.fields[0].columns = columns;
	r.fields[0].ncolumns = 2;
	r.cells[0].optional = true;
	assert_int_equal(row_plan_new(&r.plan, &r.job, source, 2, &r.err), 0);
	r.encoder = row_encoder_new(r.plan);
	struct column c[2] = {{.ptr = (const uint8_t *)"02:52", .len = 5},
			      {.ptr = (const uint8_t *)"2009-12-14", .len = 10}};
	struct event ev = {.columns = c, .ncolumns = 2};
	struct cell cell;
	assert_int_equal(row_encode(r.encoder, &ev, &r.record, &r.why), 0);
	assert_int_equal(row_cells(r.plan, 0, &r.record, &cell), 1);
	assert_int_equal(get_be64(cell.value.ptr), 1260759120000);
	c[0].len = 0; /* one null is enough */
	assert_int_equal(row_encode(r.encoder, &ev, &r.record, &r.why), 0);
	assert_int_equal(r.record.key.len, 0);
	rig_release(&r);
}

/* -- faults of the job -------------------------------------------------------------------- */

static void plan_fault(const char *const *columns, size_t n, const char *message)
{
	struct rig r;
	rig_init(&r);
	add_key(&r, add_field(&r, "userId", FIELD_U32), AS_U32);
	add_field(&r, "rating", FIELD_TEXT); /* listed, not used */
	add_cell(&r, "x", 0, AS_TEXT);
	r.fields[0].pos = r.fields[1].pos = (struct pos){7, 3};
	assert_int_equal(row_plan_new(&r.plan, &r.job, columns, n, &r.err), RC_CONFIG);
	assert_null(r.plan);
	if (!strstr(r.err.msg, message))
		fail_msg("%s has no %s", r.err.msg, message);
}

static void plan_faults(void **state)
{
	(void)state;
	plan_fault((const char *const[]){"userid", "rating"}, 2, "did you mean `userid`?");
	plan_fault((const char *const[]){"usrId", "rating"}, 2, "job.yml:7:3: ");
	plan_fault((const char *const[]){"xyz", "rating"}, 2, "expected one of xyz, rating");
	plan_fault((const char *const[]){"userId", "x", "userId", "rating"}, 4, "stands twice");
	plan_fault((const char *const[]){"userId"}, 1, "no column `rating`");
}

static void bad_combinations(void **state)
{
	(void)state;
	static const struct {
		enum field_type type;
		enum encode_as as;
	} cases[] = {{FIELD_TEXT, AS_U32},
		     {FIELD_F64, AS_I64},
		     {FIELD_U32, AS_MILLIS},
		     {FIELD_TEXT, AS_BOOL},
		     {FIELD_TIME, AS_F64}};
	for (size_t i = 0; i < 5; i++) {
		struct rig r;
		rig_init(&r);
		add_key(&r, add_field(&r, "a", cases[i].type), cases[i].as);
		assert_int_equal(rig_plan(&r), RC_CONFIG);
	}
	static const char *const formats[] = {"%Q", "%", "%I:%M", "%H %p"};
	for (size_t i = 0; i < 4; i++) {
		struct rig r;
		time_rig(&r, formats[i], TIME_FORMAT, NULL);
		assert_int_equal(rig_plan(&r), RC_CONFIG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ratings_key_by_hand),
		cmocka_unit_test(padded_key),
		cmocka_unit_test(variable_parts),
		cmocka_unit_test(foreign_salts),
		cmocka_unit_test(hash_inputs),
		cmocka_unit_test(order_kept_i64),
		cmocka_unit_test(order_kept_reals),
		cmocka_unit_test(numbers_round_trip),
		cmocka_unit_test(rejects),
		cmocka_unit_test(key_rejects),
		cmocka_unit_test(details_are_short),
		cmocka_unit_test(nulls_and_optional_cells),
		cmocka_unit_test(quoted_and_absent),
		cmocka_unit_test(wide_rows),
		cmocka_unit_test(minor_bytes),
		cmocka_unit_test(time_texts),
		cmocka_unit_test(time_against_timegm),
		cmocka_unit_test(time_units),
		cmocka_unit_test(time_zones),
		cmocka_unit_test(joined_columns),
		cmocka_unit_test(plan_faults),
		cmocka_unit_test(bad_combinations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
