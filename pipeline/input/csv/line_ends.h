/* line_ends.h - find line ends (inside this room) */
#ifndef SALTMILL_SOURCE_LINE_ENDS_H
#define SALTMILL_SOURCE_LINE_ENDS_H

#include "input/csv.h"

/* Return the start of the line after the line end at `p`. */
static inline const uint8_t *behind_line_end(const uint8_t *p, const uint8_t *end)
{
	return *p == '\r' && p + 1 < end && p[1] == '\n' ? p + 2 : p + 1;
}

static inline const uint8_t *find_line_end(const uint8_t *p, const uint8_t *end)
{
	while (p < end && !csv_is_end(*p))
		p++;
	return p;
}

#endif
