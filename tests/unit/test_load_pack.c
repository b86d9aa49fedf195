/* Packs events into records and reads them back. Compares keys written by hand, the hash vectors of
 * model/key/README.md, and numeric order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>

#include "hash.h"
#include "hfile.h"
#include "tests/unit/row_rig.h"

/* If `usual`, the test gets the weight without the payload, and both ways give the same
 * weight. */
static void expect_weight(const struct rig *r, bool usual, uint64_t want)
{
	struct row_weigher w = {r->plan, 0};
	struct usual_weight u = row_usual_weight(r->plan, 0);

	assert_int_equal(row_weigh(&w, &r->record), want);
	assert_int_equal(weight_is_usual(&u, &r->record), usual);
	if (usual)
		assert_int_equal(weigh_usual(&u, &r->record), want);
}

static void value_is(const struct cell_value *v, unsigned column, const char *text, size_t len)
{
	assert_int_equal(v->column, column);
	assert_int_equal(v->len, len);
	assert_memory_equal(v->ptr, text, len);
}

static void ratings_key_by_hand(void **state)
{
	(void)state;
	struct rig r;
	struct row_cell cells[2];
	rig_ratings(&r, AS_TEXT);
	assert_int_equal(row_secondary_bytes(r.plan, 0), 0);
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
		assert_bytes(r.record.key, key, sizeof key);
		assert_int_equal(row_cells(r.plan, 0, &r.record, cells), 2);
		assert_bytes(cells[0].cell.qualifier, "m", 1);
		assert_bytes(cells[0].cell.value, text[1], strlen(text[1]));
		assert_bytes(cells[1].cell.qualifier, "r", 1);
		assert_bytes(cells[1].cell.value, text[2], strlen(text[2]));
		assert_int_equal(cells[1].column, 0);
		assert_int_equal(cells[0].cell.ts, ms);
		assert_int_equal(cells[0].seq, 42);
		assert_bytes(cells[0].cell.row, key, sizeof key);
		/* 4 + 4 + 2 + row + 1 + family + qualifier + 8 + 1 + value */
		size_t each = 4 + 4 + 2 + 21 + 1 + 1 + 1 + 8 + 1;
		expect_weight(&r, true, 2 * each + strlen(text[1]) + strlen(text[2]));
	}
	rig_release(&r);
}

/* Some of these payloads contain a slice whose length takes two bytes. Other payloads may contain
 * such a slice.
 */
static void weight_of_long_text(void **state)
{
	(void)state;
	struct rig r;
	char text[301];
	rig_ratings(&r, AS_TEXT);
	for (size_t n = 1; n <= 300; n++) {
		memset(text, 'x', n);
		text[n] = 0;
		ENCODE_OK(&r, "1", "1234567", text, "1260759144");
		/* the payload: 1 + 7, 1 + n */
		expect_weight(&r, n + 9 < 128, 2 * (4 + 4 + 2 + 21 + 1 + 1 + 1 + 8 + 1) + 7 + n);
	}
	rig_release(&r);
}

/* The columns are a (may be absent), b (constant) and c. Their texts are short, long, absent or
 * empty. */
static void values_of_constant_columns(void **state)
{
	(void)state;
	static const size_t lengths[] = {0, 1, 2, 31, 32, 33, 125, 126, 127, 128, 300, 20000};
	enum { N = sizeof lengths / sizeof *lengths };
	static char text[2][20001];
	struct rig r;
	struct cell_value v[3];
	int64_t time;
	rig_init(&r);
	size_t id = add_field(&r, "id", FIELD_TEXT), ts = add_field(&r, "ts", FIELD_TIME);
	size_t one = add_field(&r, "one", FIELD_TEXT), two = add_field(&r, "two", FIELD_TEXT);
	r.fields[ts].unit = TIME_MS;
	add_key(&r, id, AS_TEXT);
	add_cell(&r, "c", two, AS_TEXT)->optional = true;
	add_cell(&r, "a", one, AS_TEXT)->optional = true;
	struct cell_spec *flag = add_cell(&r, "b", two, AS_TEXT);
	flag->kind = VALUE_CONST;
	flag->constant = bytes_str("on");
	r.table.timestamp_constant = false;
	r.table.timestamp_field = ts;
	rig_start(&r);
	assert_true(row_constant_columns(r.plan, 0));
	for (size_t i = 0; i < N * N; i++) {
		size_t len[] = {lengths[i / N], lengths[i % N]}, k = 0;

		for (int c = 0; c < 2; c++) {
			memset(text[c], 'a' + c, len[c]);
			text[c][len[c]] = 0;
		}
		ENCODE_OK(&r, "u1", "1260759144123", text[0], text[1]);
		size_t n = row_values(r.plan, 0, &r.record, &time, v);
		assert_int_equal(n, (len[0] > 0) + 1 + (len[1] > 0));
		assert_int_equal(time, 1260759144123);
		if (len[0])
			value_is(&v[k++], 0, text[0], len[0]);
		assert_true(v[k].roomy);
		value_is(&v[k++], 1, "on", 2);
		if (len[1])
			value_is(&v[k++], 2, text[1], len[1]);
	}
	rig_release(&r);
}

/* The key has the owner and the id padded to six digits, with the day between them, for files by
 * owner and time. */
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
	struct row_cell cells[3];
	assert_int_equal(row_cells(r.plan, 0, &r.record, cells), 3);
	assert_bytes(cells[0].cell.value, "\xff", 1);
	assert_bytes(cells[1].cell.value, "\x00\xff\x7a", 3);
	assert_bytes(cells[2].cell.value, "00083100831", 11);
	rig_release(&r);
}

/* Section 1 of model/key/README.md has these keys. Only the salt differs, in the first byte. */
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
		/* over the rest of the key, then over the same parts by name; 4: opentsdb equals
		 * phoenix 20 */
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
		for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
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

/* Tests salts and hashes over fields in the key (as encoded in it) and outside of the key (natural
 * form). */
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
	digest->hash = HASH_MD5; /* over all later parts */
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

/* A salt over all later parts covers the finished hash, not the bytes reserved for it. */
static void salt_over_a_hash(void **state)
{
	(void)state;
	struct rig r;
	rig_init(&r);
	size_t a = add_field(&r, "a", FIELD_TEXT);
	struct key_part *salt = add_part(&r, PART_SALT), *hash = add_part(&r, PART_HASH);
	salt->hash = HASH_PHOENIX;
	salt->buckets = 251;
	salt->width = 1;
	hash->width = 4;
	add_key(&r, a, AS_TEXT);
	add_cell(&r, "x", a, AS_TEXT);
	rig_start(&r);
	ENCODE_OK(&r, "hello");
	uint8_t behind[] = {0x24, 0x8b, 0xfa, 0x47, 'h', 'e', 'l', 'l', 'o'};
	int32_t h = java31(bytes_of(behind, sizeof behind)) % 251;
	assert_int_equal(r.record.key.ptr[0], abs(h));
	assert_bytes(bytes_of(r.record.key.ptr + 1, r.record.key.len - 1), behind, sizeof behind);
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
		struct row_cell c;
		row_cells(r.plan, 0, &r.record, &c);
		assert_int_equal((int64_t)get_be64(c.cell.value.ptr), b); /* Bytes.toBytes(long) */
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
			struct row_cell c;
			uint64_t bits;
			row_cells(r.plan, 0, &r.record, &c);
			memcpy(&bits, &b, 8);
			assert_int_equal(get_be64(c.cell.value.ptr), bits);
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

		snprintf(text, sizeof text, i % 4 ? "%" PRIu64 : "%022" PRIu64, v);
		ENCODE_OK(&r, text);
		assert_int_equal(get_be64(r.record.key.ptr), v);
		/* the reader finds each wrong character at any place */
		size_t at = (size_t)rand() % strlen(text);
		text[at] = "/:a \x80\xff-.+"[rand() % 9];
		if (ENCODE(&r, text) == 0)
			fail_msg("taken: %s", text);
		/* -123 is a number, but not a valid one here */
		bool minus = at == 0 && text[0] == '-' && text[1];
		assert_string_equal(r.why.reason, minus ? "out_of_range" : "bad_number");
	}
	rig_release(&r);
}

static void wide_rows(void **state)
{
	(void)state;
	struct rig r;
	struct row_cell cells[3];
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
	assert_int_equal(row_secondary_bytes(r.plan, 0), 8);
	assert_false(row_constant_columns(r.plan, 0));
	ENCODE_OK(&r, "u1", "1260759144123", "book", "red");
	uint8_t reversed[8];
	put_be64(reversed, INT64_MAX - 1260759144123u);
	assert_memory_equal(r.record.secondary, reversed, 8);
	assert_int_equal(row_cells(r.plan, 0, &r.record, cells), 3);
	assert_bytes(cells[0].cell.qualifier, "z", 1);
	assert_bytes(cells[1].cell.qualifier, reversed, 8);
	assert_bytes(cells[1].cell.value, "book", 4);
	assert_bytes(cells[2].cell.qualifier, "red", 3);
	assert_bytes(cells[2].cell.value, "on", 2);
	assert_int_equal(cells[2].cell.ts, 1260759144123);
	expect_weight(&r, false, 3 * (20 + 2 + 1) + 1 + 4 + 8 + 4 + 3 + 2);
	ENCODE_OK(&r, "u1", "0", "book", "NULL");
	assert_int_equal(row_cells(r.plan, 0, &r.record, cells), 2);
	expect_weight(&r, false, 2 * (20 + 2 + 1) + 1 + 4 + 8 + 4);
	assert_int_equal(ENCODE(&r, "u1", "9223372036854775807", "book", "red"), RC_DATA);
	assert_string_equal(r.why.reason, "out_of_range");
	assert_non_null(strstr(r.why.detail, "cell timestamp"));
	rig_release(&r);
}

/* The tags by hand: i16 9, type 8, i64 ms. */
static void cells_with_a_ttl(void **state)
{
	(void)state;
	static const uint8_t day[] = {0, 9, 8, 0, 0, 0, 0, 5, 0x26, 0x5c, 0};
	static const uint8_t two_hours[] = {0, 9, 8, 0, 0, 0, 0, 0, 0x6d, 0xdd, 0};
	struct rig r;
	struct row_cell cells[3];
	rig_init(&r);
	size_t id = add_field(&r, "id", FIELD_U32), keep = add_field(&r, "keep", FIELD_I64);
	add_key(&r, id, AS_U32);
	add_cell(&r, "a", id, AS_TEXT)->ttl_ms = 86400000;
	struct cell_spec *by_field = add_cell(&r, "b", id, AS_TEXT);
	by_field->ttl_unit_ms = 3600000;
	by_field->ttl_field = keep;
	add_cell(&r, "c", id, AS_TEXT);
	rig_start(&r);
	assert_false(row_constant_columns(r.plan, 0));
	ENCODE_OK(&r, "17", "2");
	assert_int_equal(row_cells(r.plan, 0, &r.record, cells), 3);
	assert_bytes(cells[0].cell.tags, day, sizeof day);
	assert_bytes(cells[1].cell.tags, two_hours, sizeof two_hours);
	assert_bytes(cells[1].cell.value, "17", 2);
	assert_bytes(cells[2].cell.tags, "", 0);
	assert_bytes(cells[2].cell.value, "17", 2);
	expect_weight(&r, false, 3 * (20 + 4 + 1 + 1 + 2));
	ENCODE_OK(&r, "17", "");
	assert_int_equal(row_cells(r.plan, 0, &r.record, cells), 3);
	assert_bytes(cells[1].cell.tags, "", 0);
	static const char *const bad[] = {"0", "-1", "596524", "9223372036854775807"};
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(ENCODE(&r, "17", bad[i]), RC_DATA);
		assert_string_equal(r.why.reason, "out_of_range");
	}
	ENCODE_OK(&r, "17", "596523"); /* at most 2147483647 s */
	assert_int_equal(r.batched, 0);
	rig_release(&r);
}

/* Tests the place of the timestamp, which has a fixed place in the key, or is the secondary. */
static void secondary_bytes(void **state)
{
	(void)state;
	static const struct {
		enum encode_as lead, as;
		uint32_t width;
		size_t secondary;
	} cases[] = {{AS_TEXT, AS_MILLIS, 0, 8},
		     {AS_TEXT, AS_MILLIS, 6, 0},
		     {AS_U32, AS_REVERSED_MILLIS, 0, 0},
		     {AS_U16, AS_TEXT, 0, 8}};
	for (size_t i = 0; i < 4; i++) {
		struct rig r;
		struct row_cell c;

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
		assert_int_equal(row_secondary_bytes(r.plan, 0), cases[i].secondary);
		ENCODE_OK(&r, "17", "1260759144123456");
		assert_int_equal(row_cells(r.plan, 0, &r.record, &c), 1);
		assert_int_equal(c.cell.ts, 1260759144123);
		rig_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ratings_key_by_hand),
		cmocka_unit_test(weight_of_long_text),
		cmocka_unit_test(values_of_constant_columns),
		cmocka_unit_test(padded_key),
		cmocka_unit_test(variable_parts),
		cmocka_unit_test(foreign_salts),
		cmocka_unit_test(hash_inputs),
		cmocka_unit_test(salt_over_a_hash),
		cmocka_unit_test(order_kept_i64),
		cmocka_unit_test(order_kept_reals),
		cmocka_unit_test(numbers_round_trip),
		cmocka_unit_test(wide_rows),
		cmocka_unit_test(cells_with_a_ttl),
		cmocka_unit_test(secondary_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
