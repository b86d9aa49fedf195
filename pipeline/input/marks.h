/*
 * marks.h - where the delimiters, quotes and line ends of some text stand, a window at a time
 */
#ifndef SALTMILL_SOURCE_MARKS_H
#define SALTMILL_SOURCE_MARKS_H

#include "bytes.h"

enum { MARKS_BLOCK = 64, MARKS_WINDOW = 8192, MARKS_SLACK = 8, MARKS_WAYS = 3 };

/*
 * The positions of all marks in text[0, len), len a multiple of 64, rising; returns how many.  at
 * has room for len + MARKS_SLACK.
 */
typedef size_t scan_marks(uint16_t *at, const uint8_t *text, size_t len, uint8_t delimiter,
			  uint8_t quote);

struct marks {
	uint16_t *at; /* of the window, rising, from base; at[-1] is there, and nobody's */
	size_t next, n;
	const uint8_t *base, *scanned; /* the window */
	uint8_t delimiter, quote;
	scan_marks *scan;
};

void marks_open(struct marks *m, uint8_t delimiter, uint8_t quote);
void marks_close(struct marks *m);
/* All ways that this CPU can go, the best last: the one that marks_open takes. */
size_t marks_ways(scan_marks *ways[MARKS_WAYS]);
/* Make a window of the text from `from` on, through the block of 64 bytes that holds `last`. */
void marks_scan(struct marks *m, const uint8_t *from, const uint8_t *last);
/* Pass what stands before p. */
void marks_pass(struct marks *m, const uint8_t *p);

#endif
