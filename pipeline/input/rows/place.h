/*
 * place.h - where an event stands in files, long after it was read
 */
#ifndef SALTMILL_SOURCE_PLACE_H
#define SALTMILL_SOURCE_PLACE_H

#include "bytes.h"

/* Starts of some rows, rising, so that a line is found without reading all that is before it. */
struct places {
	struct place {
		uint64_t seq;	       /* of the row */
		uint64_t line, offset; /* line ends and decoded bytes before it */
		size_t file;
	} * item;
	size_t n, cap;
};

/* Note the start of a row, if the last one noted is far enough behind. */
void places_note(struct places *p, const struct place *at);
void places_release(struct places *p);

#endif
