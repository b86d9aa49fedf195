/*
 * Tests the progress line of each phase, with percent, time left and thousands. We computed the
 * expected figures by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/progress_text.h"

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
	struct progress p = {.phase = NULL};
	progress_begin(&p, "reading", PROGRESS_INPUT, 100000000);
	p.events = 1234567;
	p.done = 25000000;
	/* a quarter took 10 s, so three more quarters take 30 s */
	expect(&p, 10, true,
	       "reading 25%, 30 s left, 1,234,567 events, 25.0 MB of 100 MB, 123,456 events/s");
	expect(&p, 10000, true,
	       "reading 25%, 8.3 h left, 1,234,567 events, 25.0 MB of 100 MB, 123 events/s");
	expect(&p, 10, false, "reading");
	p.total = 0; /* a pipe, a topic */
	expect(&p, 10, true, "reading, 1,234,567 events, 25.0 MB, 123,456 events/s");
	p.total = 10; /* a file that grew */
	expect(&p, 10, true, "reading, 1,234,567 events, 25.0 MB of 10 B, 123,456 events/s");
	progress_begin(&p, "reading", PROGRESS_INPUT, 5);
	p.events = 0;
	expect(&p, 0, true, "reading 0%, 0 events, 0 B of 5 B");
	progress_add(&p, 5);
	expect(&p, 2, true, "reading 100%, 0 events, 5 B of 5 B, 0 events/s");
}

/* The percentage counts rows. With few large regions it rises even before the first region is done.
 */
static void test_writing(void **state)
{
	(void)state;
	struct progress p = {.regions_total = 2000};
	progress_begin(&p, "writing", PROGRESS_REGIONS, 40000);
	expect(&p, 3, true, "writing 0%, 0 of 2,000 regions, 0 cells");
	p.done = 30000;
	p.regions = 1499;
	p.cells = 9876543;
	expect(&p, 30, true, "writing 75%, 10 s left, 1,499 of 2,000 regions, 9,876,543 cells");
	p.done = 39999; /* not yet complete */
	expect(&p, 39999, true, "writing 99%, 1 s left, 1,499 of 2,000 regions, 9,876,543 cells");
}

static void test_files_bytes_and_rows(void **state)
{
	(void)state;
	struct progress p = {.phase = NULL};
	progress_begin(&p, "uploading", PROGRESS_FILES, 1200);
	progress_add(&p, 300);
	expect(&p, 60, true, "uploading 25%, 3 min left, 300 of 1,200 files");
	progress_begin(&p, "verifying", PROGRESS_BYTES, 3000000);
	expect(&p, 0, true, "verifying 0%, 0 B of 3.0 MB");
	progress_add(&p, 1500000);
	expect(&p, 7, true, "verifying 50%, 7 s left, 1.5 MB of 3.0 MB");
	progress_begin(&p, "reading", PROGRESS_BYTES, 0);
	progress_add(&p, 1500);
	expect(&p, 7, true, "reading, 1.5 KB");
	progress_begin(&p, "scanning", PROGRESS_ROWS, 200);
	p.events = 5000;
	expect(&p, 0, true, "scanning 0%, 5,000 rows");
	progress_add(&p, 100);
	expect(&p, 5, true, "scanning 50%, 5 s left, 5,000 rows, 1,000 rows/s");
	progress_begin(&p, "scanning", PROGRESS_ROWS, 0); /* a part of a table */
	expect(&p, 5, true, "scanning, 5,000 rows, 1,000 rows/s");
}

static void test_phases_without_a_measure(void **state)
{
	(void)state;
	struct progress p = {.phase = NULL};
	expect(&p, 0.2, true, "opening, 0 s");
	progress_begin(&p, "choosing splits", PROGRESS_SECONDS, 0);
	expect(&p, 119, true, "choosing splits, 119 s");
	progress_begin(&p, "publishing", PROGRESS_SECONDS, 0);
	expect(&p, 600, true, "publishing, 10 min");
	expect(&p, 600, false, "publishing");
	progress_begin(NULL, "nothing", PROGRESS_FILES, 5); /* no reader yet */
	progress_add(NULL, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_writing),
		cmocka_unit_test(test_files_bytes_and_rows),
		cmocka_unit_test(test_phases_without_a_measure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
