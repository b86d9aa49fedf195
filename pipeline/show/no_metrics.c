/* no_metrics.c - in place of metrics.c where libmicrohttpd is left out */
#include "metrics.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

bool metrics_are_here(void)
{
	return false;
}

int metrics_start(struct metrics **out, const char *address, const struct metrics_of *shown,
		  struct error *err)
{
	return error_set(err, RC_CONFIG,
			 "this saltmill was built without --metrics (make worker): use one that "
			 "was built with it (make)");
}

void metrics_stop(struct metrics *m)
{
}
