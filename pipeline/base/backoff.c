#include "clock.h"

#include "pool.h"

#define UNIT_MS 100
#define LOOK_MS 50 /* a signal ends a wait within this time */

int64_t backoff_ms(unsigned n)
{
	static const int64_t units[] = {1, 2, 3, 5, 10, 20, 40, 100};

	enum { LAST = sizeof units / sizeof *units - 1 };
	return UNIT_MS * units[n < LAST ? n : LAST];
}

int backoff_wait(unsigned n, double until, struct error *err)
{
	double end = clock_seconds() + (double)backoff_ms(n) / 1e3;
	int rc;

	if (end > until)
		return RC_END;
	while ((rc = stop_check(err)) == RC_OK && clock_seconds() < end)
		clock_sleep_ms(LOOK_MS);
	return rc;
}
