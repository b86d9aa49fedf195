/* Compares time texts with known epoch values and timegm, and with a zone worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "tests/unit/row_rig.h"

static void time_rig(struct rig *r, const char *format, enum time_unit unit,
		     const struct zone *zone)
{
	rig_init(r);
	size_t t = add_field(r, "t", FIELD_TIME);
	r->fields[t].unit = unit;
	r->fields[t].format = format;
	r->fields[t].zone = zone;
	add_const(r, "k");
	add_cell(r, "v", t, AS_MILLIS); /* as a value, times before 1970 are valid */
}

/* Returns the value in ms, or INT64_MIN for a reject. */
static int64_t time_of(struct rig *r, const char *text)
{
	struct row_cell c;

	if (ENCODE(r, text))
		return INT64_MIN;
	row_cells(r->plan, 0, &r->record, &c);
	return (int64_t)get_be64(c.cell.value.ptr);
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
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
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

		snprintf(text, sizeof text, "%04d-%02d-%02d %02d:%02d:%02d", tm.tm_year + 1900,
			 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
		int64_t expect = timegm(&same) * INT64_C(1000);
		if (same.tm_mday != tm.tm_mday) /* timegm turns 31 February into a March date */
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
		{TIME_MS, "x", INT64_MIN},
		/* as JSON and Java print doubles */
		{TIME_S, "1.5", 1500},
		{TIME_S, "5.0", 5000},
		{TIME_MS, "5.0", 5},
		{TIME_MS, "1260759144123.0", 1260759144123},
		{TIME_MS, "1.260759144123E12", 1260759144123},
		{TIME_MS, "12e+2", 1200},
		{TIME_MS, "12E-1", 1},
		{TIME_S, "1260759144.123999", 1260759144123},
		{TIME_S, "-0.0005", -1},
		{TIME_S, "-1.000", -1000},
		{TIME_S, "-0.0", 0},
		{TIME_US, "1999.9", 1},
		{TIME_US, "-1000.0", -1},
		{TIME_US, "-1000.1", -2},
		{TIME_NS, "1260759144123999999.0", 1260759144123},
		{TIME_MS, "9223372036854775807.0", INT64_MAX},
		{TIME_MS, "9223372036854775808.0", INT64_MIN},
		{TIME_S, "9223372036854775.808", INT64_MIN},
		{TIME_MS, "1e99999999999999999999", INT64_MIN},
		{TIME_MS, "0e99999999999999999999", 0},
		{TIME_MS, "1e-99999999999999999999", 0},
		{TIME_MS, "-1e-5000", -1},
		{TIME_S, "5.", INT64_MIN},
		{TIME_S, ".5", INT64_MIN},
		{TIME_S, "5.0x", INT64_MIN},
		{TIME_S, "5e", INT64_MIN},
		{TIME_S, "5e+", INT64_MIN},
		{TIME_S, "-.0", INT64_MIN},
		{TIME_S, "1.2.3", INT64_MIN},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct rig r;

		time_rig(&r, NULL, cases[i].unit, NULL);
		rig_start(&r);
		int64_t ms = time_of(&r, cases[i].text);
		if (ms != cases[i].ms)
			fail_msg("%s: %" PRId64 ", expected %" PRId64, cases[i].text, ms,
				 cases[i].ms);
		rig_release(&r);
	}
}

/* In Central Europe in 2013, summer time was from 31 March 01:00 UTC to 27 October 01:00 UTC. */
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
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int64_t expect = cases[i].s == -1 ? INT64_MIN : cases[i].s * 1000;

		assert_int_equal(time_of(&r, cases[i].text), expect);
		if (cases[i].s == -1) {
			assert_string_equal(r.why.reason, "bad_time");
			assert_non_null(strstr(r.why.detail, "Europe/Berlin"));
		}
	}
	rig_release(&r);
}

static void bad_formats(void **state)
{
	(void)state;
	static const char *const formats[] = {"%Q", "%", "%I:%M", "%H %p"};
	for (size_t i = 0; i < 4; i++) {
		struct rig r;

		time_rig(&r, formats[i], TIME_FORMAT, NULL);
		assert_int_equal(rig_plan(&r), RC_CONFIG);
	}
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
	struct row_cell cell;
	assert_int_equal(row_encode(r.encoder, &ev, &r.record, &r.why), 0);
	assert_int_equal(row_cells(r.plan, 0, &r.record, &cell), 1);
	assert_int_equal(get_be64(cell.cell.value.ptr), 1260759120000);
	c[0].len = 0; /* one null part is enough */
	assert_int_equal(row_encode(r.encoder, &ev, &r.record, &r.why), 0);
	assert_int_equal(r.record.key.len, 0);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_texts),  cmocka_unit_test(time_against_timegm),
		cmocka_unit_test(time_units),  cmocka_unit_test(time_zones),
		cmocka_unit_test(bad_formats), cmocka_unit_test(joined_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
