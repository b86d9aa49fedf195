/*
 * Tests keys built from a job alone, with golden bytes worked out by hand. The test decodes every
 * key again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include <math.h>
#include <time.h>

#include "key.h"
#include "plan.h"
#include "tests/unit/draw.h"
#include "tests/unit/hex.h"
#include "tests/unit/row_rig.h"

static void build(struct key_table *k, const struct value *values, struct buf *out)
{
	struct reject why;

	if (key_build(&k->schema, &k->scratch, values, out, &why))
		fail_msg("%s: %s", why.reason, why.detail);
}

static void decode(struct key_table *k, struct bytes key, struct arena *a, struct key_piece *pieces)
{
	struct error err;

	if (key_decode(&k->schema, NULL, key, a, pieces, &err))
		fail_msg("%s", err.msg);
}

/* A part of a key. `u` is its value, unless the case has `text`. */
struct golden {
	enum field_type type;
	enum encode_as as;
	uint32_t width;
	char pad;
	bool pad_left;
	const char *text;
	uint64_t u;
	double f;
	const char *bytes; /* 16, in hex */
	uint64_t part;	   /* a part of a date */
	const char *hex;
};

/* The test computes Long.MAX_VALUE - ms by hand. i32 and i64 have the sign bit flipped. IEEE 754
 * numbers have the sign bit flipped, and negative numbers have all bits flipped. */
static const struct golden goldens[] = {
	{.type = FIELD_TEXT,
	 .as = AS_REVERSED,
	 .text = "13812345678",
	 .hex = "3837363534333231383331"},
	{.type = FIELD_U32,
	 .as = AS_REVERSED,
	 .width = 6,
	 .pad = '0',
	 .pad_left = true,
	 .text = "12",
	 .hex = "323130303030"},
	{.type = FIELD_U32,
	 .as = AS_REVERSED,
	 .width = 6,
	 .pad = '0',
	 .pad_left = true,
	 .text = "120",
	 .hex = "303231303030"},
	{.type = FIELD_U32,
	 .as = AS_REVERSED,
	 .width = 6,
	 .pad = '0',
	 .pad_left = true,
	 .text = "1200",
	 .hex = "303032313030"},
	{.type = FIELD_U32,
	 .as = AS_TEXT,
	 .width = 6,
	 .pad = '0',
	 .pad_left = true,
	 .text = "1",
	 .hex = "303030303031"},
	{.type = FIELD_TEXT,
	 .as = AS_TEXT,
	 .width = 4,
	 .pad = ' ',
	 .text = "ab",
	 .hex = "61622020"},
	{.type = FIELD_TIME,
	 .as = AS_REVERSED_MILLIS,
	 .u = 1346515200000,
	 .hex = "7ffffec67d7097ff"},
	{.type = FIELD_TIME, .as = AS_REVERSED_MILLIS, .u = 0, .hex = "7fffffffffffffff"},
	{.type = FIELD_TIME, .as = AS_REVERSED_MILLIS, .u = INT64_MAX, .hex = "0000000000000000"},
	{.type = FIELD_TIME, .as = AS_MILLIS, .u = 1346515200000, .hex = "00000139828f6800"},
	{.type = FIELD_I64, .as = AS_I32, .u = (uint64_t)-1, .hex = "7fffffff"},
	{.type = FIELD_I64, .as = AS_I32, .u = 0, .hex = "80000000"},
	{.type = FIELD_I64, .as = AS_I32, .u = 1, .hex = "80000001"},
	{.type = FIELD_I64, .as = AS_I64, .u = (uint64_t)INT64_MIN, .hex = "0000000000000000"},
	{.type = FIELD_U32, .as = AS_U8, .u = 200, .hex = "c8"},
	{.type = FIELD_U32, .as = AS_U16, .u = 40000, .hex = "9c40"},
	{.type = FIELD_U32, .as = AS_U64, .u = 4294967295, .hex = "00000000ffffffff"},
	{.type = FIELD_F64, .as = AS_F64, .f = -1.5, .hex = "4007ffffffffffff"},
	{.type = FIELD_F64, .as = AS_F64, .f = -0.0, .hex = "7fffffffffffffff"},
	{.type = FIELD_F64, .as = AS_F64, .f = 0.0, .hex = "8000000000000000"},
	{.type = FIELD_F64, .as = AS_F64, .f = 1.5, .hex = "bff8000000000000"},
	{.type = FIELD_F64, .as = AS_F32, .f = -1.5, .hex = "403fffff"},
	{.type = FIELD_BOOL, .as = AS_BOOL, .u = 0xff, .hex = "ff"},
	/* 2^63 - 1 - 1346515200, and the same with six more zeros */
	{.type = FIELD_TIME,
	 .as = AS_REVERSED_SECONDS,
	 .u = 1346515200000,
	 .hex = "7fffffffafbdceff"},
	{.type = FIELD_TIME, .as = AS_REVERSED_SECONDS, .u = 0, .hex = "7fffffffffffffff"},
	{.type = FIELD_TIME,
	 .as = AS_REVERSED_MICROS,
	 .u = 1346515200000,
	 .hex = "7ffb3759ffd1bfff"},
	{.type = FIELD_TIME, .as = AS_REVERSED_MICROS, .u = 0, .hex = "7fffffffffffffff"},
	/* the ascending bytes XOR FF */
	{.type = FIELD_U32, .as = AS_DESCENDING_U8, .u = 200, .hex = "37"},
	{.type = FIELD_U32, .as = AS_DESCENDING_U16, .u = 40000, .hex = "63bf"},
	{.type = FIELD_U32, .as = AS_DESCENDING_U32, .u = 0, .hex = "ffffffff"},
	{.type = FIELD_U32, .as = AS_DESCENDING_U32, .u = 1, .hex = "fffffffe"},
	{.type = FIELD_U32, .as = AS_DESCENDING_U32, .u = UINT32_MAX, .hex = "00000000"},
	{.type = FIELD_U64, .as = AS_DESCENDING_U64, .u = 256, .hex = "fffffffffffffeff"},
	{.type = FIELD_I64, .as = AS_DESCENDING_I32, .u = (uint64_t)-1, .hex = "80000000"},
	{.type = FIELD_I64, .as = AS_DESCENDING_I32, .u = 0, .hex = "7fffffff"},
	{.type = FIELD_I64, .as = AS_DESCENDING_I32, .u = 1, .hex = "7ffffffe"},
	{.type = FIELD_I64,
	 .as = AS_DESCENDING_I64,
	 .u = (uint64_t)INT64_MIN,
	 .hex = "ffffffffffffffff"},
	{.type = FIELD_TEXT,
	 .as = AS_DESCENDING_TEXT,
	 .width = 4,
	 .pad = ' ',
	 .text = "ab",
	 .hex = "9e9ddfdf"},
	{.type = FIELD_U32,
	 .as = AS_DESCENDING_TEXT,
	 .width = 3,
	 .pad = '0',
	 .pad_left = true,
	 .text = "7",
	 .hex = "cfcfc8"},
	/* the time is 2012-09-01 16:00 UTC, and `take` selects the part */
	{.type = FIELD_TIME, .as = AS_YEAR, .u = 1346515200000, .hex = "32303132", .part = 2012},
	{.type = FIELD_TIME, .as = AS_MONTH, .u = 1346515200000, .hex = "3039", .part = 9},
	{.type = FIELD_TIME, .as = AS_DAY, .u = 1346515200000, .hex = "3031", .part = 1},
	{.type = FIELD_TIME, .as = AS_HOUR, .u = 1346515200000, .hex = "3136", .part = 16},
	/* RFC 4122's own example; RFC 5952 4.2; RFC 4291 2.5.5.2 */
	{.type = FIELD_UUID,
	 .as = AS_UUID,
	 .bytes = "f81d4fae7dec11d0a76500a0c91e6bf6",
	 .hex = "f81d4fae7dec11d0a76500a0c91e6bf6"},
	{.type = FIELD_IP,
	 .as = AS_IPV6,
	 .bytes = "20010db8000000000000000000000001",
	 .hex = "20010db8000000000000000000000001"},
	{.type = FIELD_IP,
	 .as = AS_IPV6,
	 .bytes = "00000000000000000000ffffc0000207",
	 .hex = "00000000000000000000ffffc0000207"},
	{.type = FIELD_IP,
	 .as = AS_IPV4,
	 .bytes = "00000000000000000000ffffc0000207",
	 .hex = "c0000207"},
};

static void golden_parts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++) {
		const struct golden *g = &goldens[i];
		struct rig r;

		rig_init(&r);
		struct key_part *p = add_key(&r, add_field(&r, "a", g->type), g->as);
		p->width = g->width;
		p->pad = (uint8_t)g->pad;
		p->pad_left = g->pad_left;
		struct value v = {.u = g->u};
		if (g->type == FIELD_F64)
			v.f = g->f;
		if (g->text)
			v.text = bytes_str(g->text);
		uint8_t inside[16];
		if (g->bytes && bytes_unhex(inside, 16, g->bytes))
			v.bytes = bytes_of(inside, 16);
		struct key_table k;
		struct key_piece piece;
		struct buf key = {0};
		key_table_open(&k, &r.job, &r.table);
		build(&k, &v, &key);
		assert_hex(buf_bytes(&key), g->hex);
		decode(&k, buf_bytes(&key), &k.arena, &piece);
		if (g->text)
			assert_true(bytes_eq(piece.value.text, v.text));
		else if (g->part)
			assert_int_equal(piece.value.u, g->part);
		else if (g->bytes)
			assert_true(bytes_eq(piece.value.bytes, v.bytes));
		else
			assert_memory_equal(&piece.value.u, &v.u, 8);
		buf_release(&key);
		key_table_close(&k);
	}
}

/* userId u64, time reversed, movieId u32 after a salt, as in conf/ratings.yaml. The salt is
 * murmur3_32 of the 8 bytes of user 7, 0x7c1450ca (computed in Python), modulo 16. */
static void ratings_rig(struct rig *r)
{
	static size_t of[] = {0};

	rig_init(r);
	struct key_part *salt = add_part(r, PART_SALT);
	*salt = (struct key_part){.kind = PART_SALT,
				  .of = of,
				  .nof = 1,
				  .buckets = 16,
				  .width = 1,
				  .terminator = NO_TERMINATOR};
	add_key(r, add_field(r, "userId", FIELD_U32), AS_U64);
	add_key(r, add_field(r, "timestamp", FIELD_TIME), AS_REVERSED_MILLIS);
	add_key(r, add_field(r, "movieId", FIELD_U32), AS_U32);
}

static void names_and_shape(void **state)
{
	(void)state;
	struct rig r;
	struct key_table k;
	struct buf key = {0}, name = {0};
	ratings_rig(&r);
	key_table_open(&k, &r.job, &r.table);
	build(&k, (struct value[]){{.u = 7}, {.u = 1346515200000}, {.u = 42}}, &key);
	assert_hex(bytes_of(key.ptr + 1, key.len - 1),
		   "0000000000000007 7ffffec67d7097ff 0000002a");
	assert_int_equal(key.ptr[0], 10);
	struct key_shape s = key_shape(&r.table);
	size_t ends[SHAPE_MAX_PARTS];
	assert_int_equal(s.nparts, 4);
	assert_int_equal(s.salt_bytes, 1);
	assert_int_equal(s.buckets, 16);
	assert_int_equal(shape_ends(&s, buf_bytes(&key), ends), 4);
	assert_int_equal(ends[1], 9);
	assert_int_equal(ends[3], 21);
	key_name(&k, buf_bytes(&key), SHAPE_ROW, &name);
	buf_put(&name, 0);
	assert_string_equal((char *)name.ptr,
			    "userId 7, timestamp 2012-09-01T16:00:00.000Z, movieId 42");
	name.len = 0;
	key_name(&k, bytes_of(key.ptr, 9), 1, &name);
	buf_put(&name, 0);
	assert_string_equal((char *)name.ptr, "userId 7");
	buf_release(&name);
	buf_release(&key);
	key_table_close(&k);
}

static void not_of_this_job(void **state)
{
	(void)state;
	struct rig r;
	struct key_table k;
	struct buf key = {0};
	struct key_piece pieces[MAX];
	struct error err;
	ratings_rig(&r);
	key_table_open(&k, &r.job, &r.table);
	build(&k, (struct value[]){{.u = 7}, {.u = 1346515200000}, {.u = 42}}, &key);
	uint8_t right = key.ptr[0], wrong[22];
	memcpy(wrong, key.ptr, 21);
	wrong[21] = 0;
	static const struct {
		size_t at, len;
		int byte;
		const char *sentence;
	} cases[] = {
		{0, 21, 200, "part 1 (the salt): found 200, expected "},
		{0, 20, -1,
		 "part 4 (movieId): found 3 bytes before the end of the key, expected 4"},
		{0, 0, -1,
		 "part 1 (the salt): found 0 bytes before the end of the key, expected 1"},
		{0, 22, -1, "found 1 bytes after the last part"},
		{1, 21, 1, "part 2: userId: found the bytes 0100000000000007, expected a number"},
		{9, 21, 0x80,
		 "part 3: timestamp: found the bytes 80fffec67d7097ff, expected a time "
		 "from 1970 on"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint8_t kept = wrong[cases[i].at];

		if (cases[i].byte >= 0)
			wrong[cases[i].at] = (uint8_t)cases[i].byte;
		assert_int_equal(key_decode(&k.schema, NULL, bytes_of(wrong, cases[i].len),
					    &k.arena, pieces, &err),
				 RC_DATA);
		if (!strstr(err.msg, cases[i].sentence))
			fail_msg("%s has no %s", err.msg, cases[i].sentence);
		wrong[cases[i].at] = kept;
	}
	wrong[0] = (uint8_t)((right + 1) % 16);
	assert_int_equal(key_decode(&k.schema, NULL, bytes_of(wrong, 21), &k.arena, pieces, &err),
			 RC_DATA);
	buf_release(&key);
	key_table_close(&k);
}

/* --- random schemas --- */

static double draw_real(void)
{
	double d;

	do {
		uint64_t bits = draw();

		memcpy(&d, &bits, 8);
	} while (!isfinite(d));
	return d;
}

static uint64_t draw_number(const struct layout *l)
{
	static const uint64_t edges[] = {0, 1, 0x7f, 0x80, 0xff, 0xffff, INT32_MAX, UINT32_MAX};

	for (;;) {
		uint64_t u = pick(3) ? draw() >> pick(64) : edges[pick(8)];

		u = l->from == FIELD_I64 && pick(2) ? 0 - u : u;
		u = l->from == FIELD_BOOL ? (pick(2) ? 0xff : 0) : u;
		if (u - l->bias <= l->span &&
		    ((l->from != FIELD_U32 && l->from != FIELD_CODE) || u <= UINT32_MAX))
			return u;
	}
}

/* Texts have only letters, so that they contain no terminator or pad. Numbers have no leading
 * zeros. */
static struct bytes draw_text(const struct layout *l, uint8_t *to)
{
	bool digits = l->from >= FIELD_U32 && l->from <= FIELD_F64;
	size_t len = digits + pick(l->width ? l->width : 9);

	for (size_t i = 0; i < len; i++)
		to[i] = (uint8_t)(digits ? '1' + pick(9) : 'a' + pick(26));
	return bytes_of(to, len);
}

static struct value draw_value(const struct layout *l, uint8_t *to)
{
	struct value v = {0};
	bool exact = l->kind == LAY_F32 || l->kind == LAY_F64;

	if (l->kind == LAY_NUMBER) {
		v.u = draw_number(l);
	} else if (l->kind == LAY_TIME) {
		v.u = (draw() >> 24) / 1000 * 1000;
		v.micros = l->as == AS_REVERSED_MICROS ? pick(1000) : 0;
	} else if (l->kind == LAY_DATE) {
		v.u = draw() >> 24;
	} else if (l->kind == LAY_FIXED) {
		for (size_t i = 0; i < 16; i++)
			to[i] = l->as != AS_IPV4 || i >= 12 ? (uint8_t)draw() : i < 10 ? 0 : 0xff;
		v.bytes = bytes_of(to, 16);
	} else if (exact && l->from == FIELD_F64) {
		v.f = l->kind == LAY_F32 ? (double)(float)(int32_t)draw() / 8 : draw_real();
	} else if (exact) {
		v.u = draw() >> 44; /* a float has 24 bits */
	} else if (l->kind == LAY_BYTES) {
		v.bytes = draw_text(l, to);
		v.text = bytes_str("");
	} else {
		v.text = draw_text(l, to);
	}
	return v;
}

static bool same_value(const struct layout *l, const struct value *a, const struct value *b)
{
	if (l->kind == LAY_BYTES || l->kind == LAY_FIXED)
		return bytes_eq(a->bytes, b->bytes);
	if (l->kind == LAY_DATE) /* not the whole key; see golden_parts */
		return true;
	if (l->kind == LAY_TIME && a->micros != b->micros)
		return false;
	if (l->kind == LAY_TEXT || l->kind == LAY_REVERSED)
		return bytes_eq(a->text, b->text);
	return a->u == b->u;
}

static void draw_field(struct rig *r, size_t i)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "g", "h", "i"};
	enum field_type type = (enum field_type)pick(FIELD_TYPES);
	enum encode_as as;

	do
		as = (enum encode_as)pick(ENCODINGS);
	while (!encoding_fits(as, type));
	struct key_part *p = add_key(r, add_field(r, names[i], type), as);
	if (encodings[as].width)
		return;
	bool number = type == FIELD_U32 || type == FIELD_U64;
	if (pick(2)) {
		p->width = 1 + pick(12);
		p->pad = number ? '0' : ' ';
		p->pad_left = number;
	} else {
		p->terminator = pick(2) ? 0 : '|';
	}
}

static void draw_schema(struct rig *r)
{
	static size_t of[MAX];
	size_t n = 1 + pick(4), salted = pick(3);

	rig_init(r);
	if (salted) {
		struct key_part *p = add_part(r, PART_SALT);

		p->buckets = 1 + pick(salted == 1 ? 256 : 60000);
		p->width = p->buckets > 256 ? 2 : 1;
		p->hash = salted == 1 ? HASH_PHOENIX : HASH_MURMUR3;
		p->of = of;
		p->nof = salted == 1 ? 0 : 1 + pick((unsigned)n);
		for (size_t i = 0; i < p->nof; i++)
			of[i] = i;
	}
	for (size_t i = 0; i < n; i++) {
		draw_field(r, i);
		if (pick(5) == 0)
			add_const(r, "//");
		else if (pick(8) == 0) {
			struct key_part *p = add_part(r, PART_HASH);

			p->hash = pick(2) ? HASH_MD5 : HASH_MURMUR3;
			p->width = 1 + pick(4);
			p->of = of;
			p->nof = 1;
		}
	}
}

static void check_tampered(struct key_table *k, const struct buf *key, struct key_piece *pieces)
{
	struct error err;
	size_t last = k->schema.nsteps - 1;

	assert_int_equal(key_decode(&k->schema, NULL, bytes_of(key->ptr, key->len - 1), &k->arena,
				    pieces, &err),
			 RC_DATA);
	struct buf longer = {0};
	buf_append(&longer, key->ptr, key->len);
	buf_put(&longer, 1);
	assert_int_equal(key_decode(&k->schema, NULL, buf_bytes(&longer), &k->arena, pieces, &err),
			 RC_DATA);
	buf_release(&longer);
	if (k->schema.steps[0].kind != PART_SALT || last == 0 || k->schema.parts[0].buckets == 1)
		return;
	key->ptr[0] ^= 1;
	assert_int_equal(key_decode(&k->schema, NULL, buf_bytes(key), &k->arena, pieces, &err),
			 RC_DATA);
	key->ptr[0] ^= 1;
}

static void round_trips(void **state)
{
	(void)state;
	random_state = 4711;
	for (size_t n = 0; n < 3000; n++) {
		struct rig r;
		struct key_table k;
		struct value values[MAX];
		uint8_t texts[MAX][16];
		struct key_piece pieces[MAX];
		struct buf key = {0};

		draw_schema(&r);
		key_table_open(&k, &r.job, &r.table);
		for (size_t i = 0; i < k.schema.nsteps; i++) {
			const struct layout *l = &k.schema.steps[i].layout;

			if (k.schema.steps[i].kind == PART_FIELD)
				values[l->slot] = draw_value(l, texts[l->slot]);
		}
		build(&k, values, &key);
		decode(&k, buf_bytes(&key), &k.arena, pieces);
		for (size_t i = 0; i < k.schema.nsteps; i++) {
			const struct layout *l = &k.schema.steps[i].layout;

			if (k.schema.steps[i].kind == PART_FIELD &&
			    !same_value(l, &pieces[i].value, &values[l->slot]))
				fail_msg("case %zu, part %zu, as %s", n, i, encodings[l->as].name);
		}
		check_tampered(&k, &key, pieces);
		buf_release(&key);
		key_table_close(&k);
	}
}

/* Checks that the table's claims about order hold for the bytes. */
static void orders(void **state)
{
	(void)state;
	random_state = 99;
	for (unsigned n = 0; n < 40000; n++) {
		enum encode_as as = (enum encode_as)pick(ENCODINGS);
		enum field_type type = (enum field_type)pick(FIELD_TYPES);

		if (!encoding_fits(as, type) || encodings[as].order == ORDER_NONE ||
		    !encodings[as].width)
			continue;
		struct layout l = layout_of("a", type, as, true);
		uint8_t inside[2][16];
		struct value v[2] = {draw_value(&l, inside[0]), draw_value(&l, inside[1])};
		struct buf b[2] = {{0}, {0}};
		struct reject why;
		for (size_t i = 0; i < 2; i++)
			assert_int_equal(layout_put(&l, &v[i], &b[i], &why), 0);
		int rising = l.kind == LAY_FIXED   ? memcmp(inside[0], inside[1], 16)
			     : l.from == FIELD_F64 ? (v[0].f > v[1].f) - (v[0].f < v[1].f)
			     : l.from == FIELD_I64 ? ((int64_t)v[0].u > (int64_t)v[1].u) -
							     ((int64_t)v[0].u < (int64_t)v[1].u)
						   : (v[0].u > v[1].u) - (v[0].u < v[1].u);
		int found = bytes_cmp(buf_bytes(&b[0]), buf_bytes(&b[1]));
		rising = (rising > 0) - (rising < 0);
		assert_int_equal((found > 0) - (found < 0),
				 encodings[as].order == ORDER_RISING ? rising : -rising);
		buf_release(&b[0]);
		buf_release(&b[1]);
	}
}

/* Compares each day of three leap years, and random times of any year, with the C library's
 * calendar. */
static void times_as_text(void **state)
{
	(void)state;
	struct buf got = {0};
	uint64_t seed = 7;
	for (int64_t i = 0; i < 20000; i++) {
		char want[100];
		struct tm t;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		int64_t s = i < 4000 ? 946684800 + i * 86400 - 1 : (int64_t)(seed % 253402300800);
		int64_t ms = 1000 * s + (int64_t)(seed >> 40) % 1000;
		time_t at = (time_t)s;
		assert_non_null(gmtime_r(&at, &t));
		snprintf(want, sizeof want, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", t.tm_year + 1900,
			 t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, (int)(ms % 1000));
		got.len = 0;
		millis_text(ms, &got);
		buf_put(&got, 0);
		assert_string_equal((char *)got.ptr, want);
	}
	buf_release(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_as_text),   cmocka_unit_test(golden_parts),
		cmocka_unit_test(names_and_shape), cmocka_unit_test(not_of_this_job),
		cmocka_unit_test(round_trips),	   cmocka_unit_test(orders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
