/* marks.h - find the delimiters, quotes and line ends of a text, one window at a time */
#ifndef SALTMILL_SOURCE_MARKS_H
#define SALTMILL_SOURCE_MARKS_H

#include "bytes.h"

enum { MARKS_BLOCK = 64, MARKS_WINDOW = 8192, MARKS_SLACK = 8, MARKS_WAYS = 3 };

/*
 * Write the rising positions of all marks in text[0, len) to `at`, and return the number of marks.
 * `len` is a multiple of 64. `at` has room for `len` + MARKS_SLACK.
 */
typedef size_t scan_marks(uint16_t *at, const uint8_t *text, size_t len, uint8_t delimiter,
			  uint8_t quote);

struct marks {
	/* rising positions in the window, relative to base; at[-1] is writable and unused */
	uint16_t *at;
	size_t next, n;
	const uint8_t *base, *scanned; /* the window */
	uint8_t delimiter, quote;
	scan_marks *scan;
};

void marks_open(struct marks *m, uint8_t delimiter, uint8_t quote);
void marks_close(struct marks *m);
/*
 * List all implementations that this CPU supports. The last implementation is the fastest, and
 * marks_open uses it.
 */
size_t marks_ways(scan_marks *ways[MARKS_WAYS]);
/* Start a window at `from`. The window ends with the block of 64 bytes that contains `last`. */
void marks_scan(struct marks *m, const uint8_t *from, const uint8_t *last);
/* Skip the marks before `p`. */
void marks_pass(struct marks *m, const uint8_t *p);

#endif
