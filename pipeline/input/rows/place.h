/* place.h - the place of an event in its file, found after the load from its seq */
#ifndef SALTMILL_SOURCE_PLACE_H
#define SALTMILL_SOURCE_PLACE_H

#include "bytes.h"

/* Noted starts of rows, rising, so that a line is found without reading the whole file. */
struct places {
	struct place {
		uint64_t seq;	       /* of the row */
		uint64_t line, offset; /* line ends and decoded bytes before it */
		size_t file;
	} * item;
	size_t n;
};

/* Note the start of a row if it is far enough after the last noted one. */
void places_note(struct places *p, const struct place *at);
void places_release(struct places *p);

#endif
