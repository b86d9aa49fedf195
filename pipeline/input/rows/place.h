/* place.h - find the file and line of an event from its seq, after the load */
#ifndef SALTMILL_SOURCE_PLACE_H
#define SALTMILL_SOURCE_PLACE_H

#include "bytes.h"

/*
 * Noted starts of rows in rising order. They save a read of the whole file for each line.
 */
struct places {
	struct place {
		uint64_t seq;	       /* seq of the row */
		uint64_t line, offset; /* line ends and decoded bytes before the row */
		size_t file;
	} * item;
	size_t n;
};

/* Note the start of a row if the row is far enough after the last noted one. */
void places_note(struct places *p, const struct place *at);
void places_release(struct places *p);

#endif
