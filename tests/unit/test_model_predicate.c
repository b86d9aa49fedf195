/* Tests conditions over typed fields with the answers that SQL gives for the same values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "field.h"

enum { U32, U64, I64, REAL, BOOL, TEXT, BYTES, HEX, TIME, DECIMAL, FIELDS };

static struct field fields[FIELDS] = {
	[U32] = {.name = "u32", .type = FIELD_U32},
	[U64] = {.name = "u64", .type = FIELD_U64},
	[I64] = {.name = "i64", .type = FIELD_I64},
	[REAL] = {.name = "real", .type = FIELD_F64},
	[BOOL] = {.name = "bool", .type = FIELD_BOOL},
	[TEXT] = {.name = "text", .type = FIELD_TEXT},
	[BYTES] = {.name = "bytes", .type = FIELD_BYTES},
	[HEX] = {.name = "hex", .type = FIELD_HEX},
	[TIME] = {.name = "time", .type = FIELD_TIME, .unit = TIME_S},
	[DECIMAL] = {.name = "decimal", .type = FIELD_DECIMAL, .scale = 2},
};

struct desk {
	struct job job;
	struct field_forms forms;
	struct arena arena;
	struct question question;
	size_t indexes[32];
	struct value values[FIELDS];
	const struct predicate *predicate;
	struct error err;
	unsigned asked; /* bit: field */
	size_t broken;	/* a field with an invalid value */
};

static void desk_open(struct desk *d)
{
	*d = (struct desk){.broken = FIELDS,
			   .job = {.path = "job.yaml", .fields = fields, .nfields = FIELDS}};
	assert_int_equal(field_forms_open(&d->forms, &d->job, &d->err), RC_OK);
}

static void desk_close(struct desk *d)
{
	field_forms_close(&d->forms);
	arena_release(&d->arena);
}

static void give(struct desk *d, size_t field, const char *text)
{
	struct reject why;

	d->values[field] = (struct value){.text = text ? bytes_str(text) : (struct bytes){0}};
	if (text && field_read_kept(&d->forms.form[field], &d->values[field], &d->arena, &why))
		fail_msg("%s", why.detail);
}

static int compile(struct desk *d, const char *text)
{
	if (question_parse(&d->question, "where", text, &d->arena, &d->err))
		fail_msg("%s", d->err.msg);
	for (size_t i = 0; i < d->question.nconditions; i++)
		assert_int_equal(field_find(&d->job, bytes_str(d->question.conditions[i].name),
					    &d->indexes[i], &d->err),
				 RC_OK);
	struct job_condition c = {&d->question, d->indexes};
	return predicate_new(&d->predicate, &c, &d->forms, &d->arena, &d->err);
}

static const struct value *value_of(void *ctx, size_t field)
{
	struct desk *d = ctx;

	d->asked |= 1u << field;
	return field == d->broken ? NULL : &d->values[field];
}

static void expect(struct desk *d, const char *text, enum answer want)
{
	d->asked = 0;
	if (compile(d, text))
		fail_msg("%s", d->err.msg);
	if (predicate_ask(d->predicate, value_of, d) != want)
		fail_msg("%s: expected %d", text, want);
}

#define YES(text) expect(&d, text, ANSWER_YES)
#define NO(text)  expect(&d, text, ANSWER_NO)

static void numbers_compare_by_size(void **state)
{
	struct desk d;

	(void)state;
	desk_open(&d);
	give(&d, U32, "10");
	give(&d, U64, "18446744073709551615");
	give(&d, I64, "-5");
	give(&d, REAL, "-0.0");
	give(&d, DECIMAL, "-10.50");
	YES("u32 > 9");
	YES("u32 >= 10 and u32 <= 10 and u32 = 010");
	NO("u32 < 9");
	NO("u32 != 10");
	YES("u64 > 9223372036854775807");
	YES("i64 < 0");
	YES("i64 > -6");
	YES("i64 between -5 and -5");
	NO("i64 between -4 and 100");
	YES("i64 not between -4 and 100");
	YES("real = 0");
	YES("real >= -1e-300");
	YES("decimal < -10.49");
	YES("decimal = -10.5");
	NO("decimal > -10.50");
	YES("u32 in (30, 7, 10, 2)");
	YES("i64 in (3, -5)");
	NO("i64 in (3, 5, -6, 0)");
	YES("u32 not in (3)");
	desk_close(&d);
}

static void texts_compare_by_bytes(void **state)
{
	struct desk d;

	(void)state;
	desk_open(&d);
	give(&d, TEXT, "b\xC3\xA9");
	give(&d, BYTES, "10");
	give(&d, HEX, "FF00");
	give(&d, BOOL, "yes");
	YES("text > b and text < c");
	YES("text starts with b");
	YES("text starts with ''");
	YES("text starts with 'b\xC3\xA9'");
	NO("text starts with bb");
	NO("text starts with 'b\xC3\xA9!'");
	NO("text = B");
	YES("bytes < '9'");
	YES("hex = ff00");
	YES("hex > ff");
	YES("hex in (00, ff00)");
	YES("bool = t");
	YES("bool != 0");
	desk_close(&d);
}

static void times_compare_as_the_source_or_iso_spells_them(void **state)
{
	struct desk d;

	(void)state;
	desk_open(&d);
	give(&d, TIME, "1346515200");
	YES("time = 1346515200");
	YES("time = '2012-09-01T16:00:00Z'");
	YES("time >= 2012-09-01 and time < 2012-09-02");
	NO("time > '2012-09-02T00:00+08:00'");
	desk_close(&d);
}

static void nulls_are_unknown(void **state)
{
	struct desk d;

	(void)state;
	desk_open(&d);
	give(&d, U32, NULL);
	give(&d, TEXT, "x");
	expect(&d, "u32 = 1", ANSWER_UNKNOWN);
	expect(&d, "not u32 = 1", ANSWER_UNKNOWN);
	expect(&d, "u32 != 1", ANSWER_UNKNOWN);
	expect(&d, "u32 in (1, 2) or text = y", ANSWER_UNKNOWN);
	expect(&d, "u32 > 1 and text = x", ANSWER_UNKNOWN);
	NO("u32 > 1 and text = y");
	YES("u32 > 1 or text = x");
	YES("u32 is null");
	NO("u32 is not null");
	NO("text is null");
	desk_close(&d);
}

/*
 * An invalid value of a field ends the evaluation with an error. The evaluation does not decode
 * fields that cannot change the answer.
 */
static void only_what_matters_is_read(void **state)
{
	struct desk d;

	(void)state;
	desk_open(&d);
	give(&d, TEXT, "H");
	d.broken = U32;
	NO("text = D and u32 > 1");
	assert_int_equal(d.asked, 1u << TEXT);
	YES("text = H or u32 > 1");
	assert_int_equal(d.asked, 1u << TEXT);
	expect(&d, "text = H and u32 > 1", ANSWER_UNKNOWN);
	expect(&d, "u32 > 1 or text = H", ANSWER_UNKNOWN);
	assert_int_equal(d.asked, 1u << U32);
	expect(&d, "not u32 > 1 or u32 is null", ANSWER_UNKNOWN);
	desk_close(&d);
}

static void refuse(struct desk *d, const char *text, const char *words)
{
	assert_int_equal(compile(d, text), RC_CONFIG);
	if (!strstr(d->err.msg, words))
		fail_msg("%s: %s", text, d->err.msg);
}

static void what_is_no_value_is_named(void **state)
{
	struct desk d;

	(void)state;
	desk_open(&d);
	refuse(&d, "text = x and u32 > -1", "where: character 20: u32: found `-1`");
	refuse(&d, "decimal = 1.005", "where: character 11: decimal: ");
	refuse(&d, "time > soon", "character 8: time: found `soon`");
	refuse(&d, "u32 starts with 1", "character 1: found `starts with` for `u32` of type u32");
	refuse(&d, "text between 1 and 9",
	       "character 14: found the number 1 for `text` of type text");
	assert_int_equal(compile(&d, "text > '1' and text = 1"), RC_OK);
	desk_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_compare_by_size),
		cmocka_unit_test(texts_compare_by_bytes),
		cmocka_unit_test(times_compare_as_the_source_or_iso_spells_them),
		cmocka_unit_test(nulls_are_unknown),
		cmocka_unit_test(only_what_matters_is_read),
		cmocka_unit_test(what_is_no_value_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
