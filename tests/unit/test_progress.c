/*
 * The progress line of each phase: percent, time left, thousands; figures worked out by hand
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "load.h"
#include "progress_text.h"

static void expect(const struct progress *p, double seconds, bool counts, const char *text)
{
	struct buf line = {0};
	progress_text(&line, p, seconds, counts);
	buf_put(&line, 0);
	assert_string_equal((const char *)line.ptr, text);
	buf_release(&line);
}

static void test_reading(void **state)
{
	(void)state;
	struct progress p = {.phase = PHASE_READ,
			     .events = 1234567,
			     .bytes = 25000000,
			     .bytes_total = 100000000};
	/* a quarter in 10 s: three more quarters take 30 */
	expect(&p, 10, true,
	       "reading 25%, 30 s left, 1,234,567 events, 25.0 MB of 100 MB, 123,456 events/s");
	expect(&p, 10000, true,
	       "reading 25%, 8.3 h left, 1,234,567 events, 25.0 MB of 100 MB, 123 events/s");
	expect(&p, 10, false, "reading");
	p.bytes_total = 0; /* a pipe, a topic */
	expect(&p, 10, true, "reading, 1,234,567 events, 25.0 MB, 123,456 events/s");
	p.bytes_total = 10; /* a file that grew */
	expect(&p, 10, true, "reading, 1,234,567 events, 25.0 MB of 10 B, 123,456 events/s");
	p = (struct progress){.phase = PHASE_READ, .bytes_total = 5};
	expect(&p, 0, true, "reading 0%, 0 events, 0 B of 5 B");
	p.bytes = 5;
	expect(&p, 2, true, "reading 100%, 0 events, 5 B of 5 B, 0 events/s");
}

static void test_writing(void **state)
{
	(void)state;
	struct progress p = {.phase = PHASE_WRITE, .regions_total = 2000};
	expect(&p, 3, true, "writing 0%, 0 of 2,000 regions, 0 cells");
	p.regions = 1500;
	p.cells = 9876543;
	expect(&p, 30, true, "writing 75%, 10 s left, 1,500 of 2,000 regions, 9,876,543 cells");
	p.regions = 1999; /* not yet all */
	expect(&p, 1999, true, "writing 99%, 1 s left, 1,999 of 2,000 regions, 9,876,543 cells");
}

static void test_phases_without_a_measure(void **state)
{
	(void)state;
	struct progress p = {.phase = PHASE_OPEN};
	expect(&p, 0.2, true, "opening, 0 s");
	p.phase = PHASE_SPLIT;
	expect(&p, 119, true, "choosing splits, 119 s");
	p.phase = PHASE_PUBLISH;
	expect(&p, 600, true, "publishing, 10 min");
	expect(&p, 600, false, "publishing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_writing),
		cmocka_unit_test(test_phases_without_a_measure),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
