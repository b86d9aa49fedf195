/* Tests rejected values and their messages, nulls, and errors of the job that a plan reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/row_rig.h"

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
		{FIELD_UUID, AS_BYTES, "123e4567-e89b-12d3-a456-4266141740g0", "bad_uuid",
		 "expected a UUID"},
		{FIELD_UUID, AS_BYTES, "123e4567-e89b-12d3-a456-42661417400g", "bad_uuid",
		 "expected a UUID"},
		{FIELD_UUID, AS_BYTES, "123e4567-e89b-12d3-a4567426614174000", "bad_uuid",
		 "expected a UUID"},
		{FIELD_TEXT, AS_TEXT, "abcdefghij\xff", "bad_utf8", "byte 10 (FF)"},
		{FIELD_TEXT, AS_TEXT, "\xc0\x80", "bad_utf8", "found `\\xC0\\x80`"},
		{FIELD_TEXT, AS_TEXT, "a\xed\xa0\x80", "bad_utf8", "byte 1 "},
		{FIELD_TEXT, AS_TEXT, "\xf4\x90\x80\x80", "bad_utf8", "byte 0 "},
		{FIELD_TEXT, AS_TEXT, "12345\xe6\xb5", "bad_utf8", "byte 5 "},
		{FIELD_TEXT, AS_REVERSED, "浙江", "not_ascii", "found `浙江`"},
		{FIELD_TIME, AS_MILLIS, "-1", "out_of_range", "before 1970"},
		{FIELD_TIME, AS_REVERSED_MILLIS, "-5", "out_of_range", "before 1970"},
		{FIELD_TIME, AS_MILLIS, "1260759144,5", "bad_number", "1260759144,5"},
		{FIELD_TIME, AS_MILLIS, "9223372036854776", "out_of_range", "fits 64 bits"},
		{FIELD_U32, AS_U32, "", "null_value", "row key of table t"},
		{FIELD_TEXT, AS_TEXT, "NULL", "null_value", "found `NULL`"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
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
	struct row_cell cell;
	assert_int_equal(row_cells(r.plan, 0, &r.record, &cell), 1);
	assert_bytes(cell.cell.value, text, ROW_KEY_MAX);
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

static void qualifiers_end_at_their_limit(void **state)
{
	(void)state;
	struct rig r;
	char *text = malloc(QUALIFIER_MAX + 1);
	memset(text, 'q', QUALIFIER_MAX + 1);
	rig_init(&r);
	size_t k = add_field(&r, "k", FIELD_TEXT), q = add_field(&r, "q", FIELD_TEXT);
	add_key(&r, k, AS_TEXT);
	add_wide(&r, q, AS_TEXT, k);
	rig_start(&r);
	struct column c[] = {{.ptr = (const uint8_t *)"k", .len = 1},
			     {.ptr = (const uint8_t *)text, .len = QUALIFIER_MAX}};
	assert_int_equal(encode_columns(&r, c), 0);
	struct row_cell cell;
	assert_int_equal(row_cells(r.plan, 0, &r.record, &cell), 1);
	assert_bytes(cell.cell.qualifier, text, QUALIFIER_MAX);
	c[1].len++;
	assert_int_equal(encode_columns(&r, c), RC_DATA);
	assert_string_equal(r.why.reason, "qualifier_too_long");
	free(text);
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
	struct row_cell cells[4];
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
	assert_bytes(cells[0].cell.qualifier, "0", 1);
	assert_bytes(cells[1].cell.value, "\0\0\0\0\0\0\0\5", 8);
	ENCODE_OK(&r, "key", "NULL", "NULL"); /* the field's own list replaces the source's list */
	assert_int_equal(row_cells(r.plan, 0, &r.record, cells), 1);
	assert_bytes(cells[0].cell.value, "NULL", 4);
	assert_int_equal(cells[0].family, 1);
	ENCODE_OK(&r, "key", "5", ""); /* empty text is a value here */
	assert_int_equal(row_cells(r.plan, 0, &r.record, cells), 3);
	assert_int_equal(cells[2].cell.value.len, 0);
	ENCODE_OK(&r, "key", "", "-");
	assert_int_equal(r.record.key.len, 0); /* no cell to store */
	/* the decoder still checks an optional field */
	assert_int_equal(ENCODE(&r, "key", "x", "-"), RC_DATA);
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

static void plan_fault(const char *const *columns, size_t n, const char *message)
{
	struct rig r;

	rig_init(&r);
	add_key(&r, add_field(&r, "userId", FIELD_U32), AS_U32);
	add_field(&r, "rating", FIELD_TEXT); /* declared, but not used */
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
	plan_fault((const char *const[]){"userId", "x", "userId", "rating"}, 4,
		   "found two columns");
	plan_fault((const char *const[]){"userId"}, 1, "no column `rating`");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rejects),
		cmocka_unit_test(key_rejects),
		cmocka_unit_test(qualifiers_end_at_their_limit),
		cmocka_unit_test(details_are_short),
		cmocka_unit_test(nulls_and_optional_cells),
		cmocka_unit_test(quoted_and_absent),
		cmocka_unit_test(plan_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
