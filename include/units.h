/*
 * units.h - sizes, times and names as people type them
 *
 * For the job file and for the command line.  No function here keeps or allocates anything.
 */
#ifndef SALTMILL_UNITS_H
#define SALTMILL_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DURATION_FOREVER UINT64_MAX

/*
 * "4096", "64K", "256M", "10G", "2T": powers of 1024, in either case, with or without a B behind
 * ("64KB").  False if the text is anything else or the number does not fit.
 */
bool parse_size(const char *text, uint64_t *bytes);

/* "3.4 GB", "950 KB", "12 B"; powers of 1000.  Returns text, which has room for 16 bytes. */
char *format_bytes(char *text, uint64_t bytes);

/* "3600", "90s", "15m", "24h", "30d", "2w" or "forever" (DURATION_FOREVER), in seconds. */
bool parse_duration_s(const char *text, uint64_t *seconds);

/*
 * The name of the list that was probably meant: the smallest number of single edits (insert,
 * delete, replace, swap neighbours; case does not count), NULL when none is near: 1 edit up to
 * 4 letters, 2 up to 8, else 3.
 */
const char *near_miss(const char *name, const char *const *known, size_t nknown);

#endif
