/* test_advise_value_text.c - values and their texts in the file, worked out by hand */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pipeline/advise/init/value_proof.h"

static const struct csv_source plain = {0}, german = {.decimal = ",", .thousands = "."};

static enum proof_result compare(const struct field *f, const struct csv_source *csv,
				 const char *text, struct value v)
{
	struct buf scratch = {0};
	enum proof_result result;

	if (!v.text.ptr)
		v.text = bytes_str(text);
	result = value_compare(f, csv, bytes_str(text), &v, &scratch);
	buf_release(&scratch);
	return result;
}

static void test_numbers(void **state)
{
	const struct field u = {.name = "u", .type = FIELD_U64},
			   i = {.name = "i", .type = FIELD_I64},
			   d = {.name = "d", .type = FIELD_DECIMAL, .scale = 2},
			   f = {.name = "f", .type = FIELD_F64};
	const struct value amount = {.u = 123450, .text = bytes_str("1234.50")};

	(void)state;
	assert_int_equal(compare(&u, &plain, "1234", (struct value){.u = 1234}), PROOF_SAME);
	assert_int_equal(compare(&u, &plain, "1234", (struct value){.u = 1235}), PROOF_DIFFERS);
	assert_int_equal(compare(&i, &plain, "-7", (struct value){.u = (uint64_t)-7}), PROOF_SAME);
	assert_int_equal(compare(&i, &plain, "7", (struct value){.u = (uint64_t)-7}),
			 PROOF_DIFFERS);
	assert_int_equal(compare(&d, &german, "1.234,5", amount), PROOF_SAME);
	/* the same text with a decimal point is another number */
	assert_int_equal(compare(&d, &plain, "1.2345", amount), PROOF_DIFFERS);
	assert_int_equal(compare(&f, &plain, "1.5e3", (struct value){.f = 1500}), PROOF_SAME);
	assert_int_equal(compare(&f, &plain, "1.5e3", (struct value){.f = 1501}), PROOF_DIFFERS);
}

static struct value ms(uint64_t u, uint32_t micros)
{
	struct value v = {.u = u};

	v.micros = micros;
	return v;
}

static void test_times(void **state)
{
	/* date -u -d @1767441600 is 2026-01-03 12:00:00 */
	const uint64_t noon = UINT64_C(1767441600000);
	const struct field iso = {.name = "t", .type = FIELD_TIME, .format = TIME_ISO8601},
			   dmy = {.name = "t", .type = FIELD_TIME, .format = "%d/%m/%Y %H:%M"},
			   s = {.name = "t", .type = FIELD_TIME, .unit = TIME_S},
			   us = {.name = "t", .type = FIELD_TIME, .unit = TIME_US};

	(void)state;
	assert_int_equal(compare(&iso, &plain, "2026-01-03T12:00:00Z", ms(noon, 0)), PROOF_SAME);
	assert_int_equal(compare(&iso, &plain, "2026-01-03 14:00:00+02", ms(noon, 0)), PROOF_SAME);
	assert_int_equal(compare(&iso, &plain, "2026-01-03 06:30:00.25-0530", ms(noon + 250, 0)),
			 PROOF_SAME);
	assert_int_equal(compare(&iso, &plain, "2026-01-03 12:00:00.000007", ms(noon, 7)),
			 PROOF_SAME);
	assert_int_equal(compare(&iso, &plain, "2026-03-01 12:00:00", ms(noon, 0)), PROOF_DIFFERS);
	assert_int_equal(compare(&iso, &plain, "2026-W01", ms(noon, 0)), PROOF_NONE);
	assert_int_equal(compare(&dmy, &plain, "03/01/2026 12:00", ms(noon, 0)), PROOF_SAME);
	assert_int_equal(compare(&dmy, &plain, "01/03/2026 12:00", ms(noon, 0)), PROOF_DIFFERS);
	assert_int_equal(compare(&s, &plain, "1767441600", ms(noon, 0)), PROOF_SAME);
	assert_int_equal(compare(&s, &plain, "1767441600000", ms(noon, 0)), PROOF_DIFFERS);
	assert_int_equal(compare(&us, &plain, "1767441600000000", ms(noon, 0)), PROOF_SAME);
}

static void test_other(void **state)
{
	static const uint8_t local[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
	static const uint8_t id[16] = {0x12, 0x34};
	const struct field b = {.name = "b", .type = FIELD_BOOL}, x = {.name = "x"},
			   ip = {.name = "ip", .type = FIELD_IP},
			   uuid = {.name = "uuid", .type = FIELD_UUID};
	struct value v = {.bytes = bytes_of(local, 16)};

	(void)state;
	assert_int_equal(x.type, FIELD_TEXT);
	assert_int_equal(compare(&b, &plain, "Yes", (struct value){.u = 0xff}), PROOF_SAME);
	assert_int_equal(compare(&b, &plain, "n", (struct value){.u = 0xff}), PROOF_DIFFERS);
	assert_int_equal(compare(&ip, &plain, "127.0.0.1", v), PROOF_SAME);
	assert_int_equal(compare(&ip, &plain, "127.0.0.2", v), PROOF_DIFFERS);
	v = (struct value){.bytes = bytes_of(id, 16)};
	assert_int_equal(compare(&uuid, &plain, "12340000-0000-0000-0000-000000000000", v),
			 PROOF_SAME);
	assert_int_equal(compare(&uuid, &plain, "12350000-0000-0000-0000-000000000000", v),
			 PROOF_DIFFERS);
	v = (struct value){.text = bytes_str("a ")};
	assert_int_equal(compare(&x, &plain, "a ", v), PROOF_SAME);
	assert_int_equal(compare(&x, &plain, "a", v), PROOF_DIFFERS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
