/* region_rule.c - the number of regions from the job's settings */
#include <math.h>

#include "splits.h"

#define PER_SERVER  10
#define MAX_REGIONS 1000000

static uint32_t within(const struct region_rule *r, double n)
{
	if (r->max && n > r->max)
		n = r->max;
	if (n < r->min)
		n = r->min;
	return n < 1 ? 1 : n > MAX_REGIONS ? MAX_REGIONS : (uint32_t)n;
}

uint32_t region_rule_stated(const struct region_rule *r)
{
	if (r->count)
		return within(r, r->count);
	if (r->size_bytes || !r->servers)
		return 0;
	return within(r, (double)r->servers * (r->per_server ? r->per_server : PER_SERVER));
}

uint32_t region_rule_count(const struct region_rule *r, double disk_bytes)
{
	uint32_t stated = region_rule_stated(r);
	uint64_t size = r->size_bytes ? r->size_bytes : REGION_BYTES;

	return stated ? stated : within(r, ceil(disk_bytes * (1 + r->headroom) / (double)size));
}
