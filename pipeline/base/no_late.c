/* no_late.c - in place of late_*.c where the libraries are linked: they came with the program */
#include "late.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

int late_curl(struct error *err)
{
	return RC_OK;
}

int late_microhttpd(struct error *err)
{
	return RC_OK;
}

int late_rdkafka(struct error *err)
{
	return RC_OK;
}

int late_snappy(struct error *err)
{
	return RC_OK;
}
